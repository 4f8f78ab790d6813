// What is drawn: tables of tensors (columns, not objects) and the plans that place them.

const DATA = JSON.parse(document.getElementById("data").textContent);

/** Columns of a table as typed arrays; `last` is inclusive, and what only a search needs is made late. */
function readTable(raw) {
  let [lower, index] = [null, null];
  const first = Uint32Array.from(raw.first);
  const count = first.length;
  const views = new Map(raw.views);
  return {
    count,
    steps: raw.steps,
    names: raw.names,
    get lower() {
      lower ??= raw.names.map((name) => name.toLowerCase());
      return lower;
    },
    get index() {
      index ??= new Map(raw.names.map((name, i) => [name, i]));
      return index;
    },
    sizes: Float64Array.from(raw.sizes),
    pads: raw.pads ? Float64Array.from(raw.pads) : new Float64Array(count),
    first,
    last: Uint32Array.from(raw.span, (span, i) => first[i] + span),
    classes: raw.classes ? Uint8Array.from(raw.classes) : Uint8Array.from(first, (_, i) => i % 10),
    legend: raw.legend,
    views,
    shape: (i) => (raw.shape ? raw.shapes[raw.shape[i]] : ""),
    stepName: (step) => raw.step_names[step] ?? "",
    stepOp: (step) => (raw.step_ops.length ? raw.ops[raw.step_ops[step]] : ""),
    load: Float64Array.from(raw.load),
  };
}

const TABLES = DATA.tables.map(readTable);

/** Space between two arenas, as a part of all bytes. */
const GAP = 0.012;

/** A plan with its arenas stacked: `base[a]` is where arena `a` starts in the heights of the picture. */
function readPlan(raw) {
  const table = TABLES[raw.table];
  const total = raw.arenas.reduce((sum, bytes) => sum + bytes, 0);
  const gap = raw.arenas.length > 1 ? Math.min(total * GAP, total / raw.arenas.length / 4) : 0;
  let height = 0;
  const base = raw.arenas.map((bytes) => {
    const at = height;
    height += bytes + gap;
    return at;
  });
  const arena = raw.arena ? Uint32Array.from(raw.arena) : new Uint32Array(table.count);
  const offsets = Float64Array.from(raw.offsets);
  return {
    ...raw,
    table,
    base,
    arena,
    offsets,
    bottom: Float64Array.from(offsets, (offset, i) => base[arena[i]] + offset),
    height: Math.max(height - gap, 1),
    /** Height of that many bytes counted through all arenas. */
    stacked(bytes) {
      for (let a = 0; a < raw.arenas.length; a += 1) {
        if (bytes <= raw.arenas[a]) return base[a] + bytes;
        bytes -= raw.arenas[a];
      }
      return height - gap + bytes;
    },
  };
}

const PLANS = DATA.plans.map(readPlan);

/** The topmost tensor at a step and a height; of a tensor and its views the tensor. */
function tensorAt(plan, step, height) {
  const { table, bottom } = plan;
  let view = -1;
  for (let i = table.count - 1; i >= 0; i -= 1) {
    if (table.first[i] > step || table.last[i] < step) continue;
    if (height < bottom[i] || height >= bottom[i] + table.sizes[i]) continue;
    if (!table.views.has(i)) return i;
    if (view < 0) view = i;
  }
  return view;
}

/** Tensors that hold bytes at a step, largest first, views left out. */
function liveAt(table, step) {
  const live = [];
  for (let i = 0; i < table.count; i += 1) {
    if (table.first[i] <= step && step <= table.last[i] && table.sizes[i] > 0 && !table.views.has(i)) {
      live.push(i);
    }
  }
  return live.sort((a, b) => table.sizes[b] - table.sizes[a] || a - b);
}

/** What lies next below and above a tensor at a step, and whose bytes it takes or gives in place. */
function neighbours(plan, tensor, step) {
  const { table, arena, offsets } = plan;
  const [from, to] = [offsets[tensor], offsets[tensor] + table.sizes[tensor]];
  const found = { below: -1, above: -1, takes: -1, gives: -1 };
  const end = (i) => offsets[i] + table.sizes[i];
  for (let i = 0; i < table.count; i += 1) {
    if (i === tensor || arena[i] !== arena[tensor] || !table.sizes[i] || table.views.has(i)) continue;
    if (table.first[i] <= step && step <= table.last[i]) {
      if (end(i) <= from && (found.below < 0 || end(i) > end(found.below))) found.below = i;
      if (offsets[i] >= to && (found.above < 0 || offsets[i] < offsets[found.above])) found.above = i;
    }
    if (offsets[i] < to && from < end(i) && !table.views.has(tensor)) {
      if (table.last[i] === table.first[tensor] && i < tensor) found.takes = i;
      if (table.first[i] === table.last[tensor] && i > tensor) found.gives = i;
    }
  }
  return found;
}

// Beside the maps: the plan in numbers, the tensor, the step, what was found, what differs.

const $ = (id) => document.getElementById(id);

/** At most so many rows in a list; what is left out is said. */
const LISTED = 200;

function showNumbers() {
  const plans = state.maps.map((map) => map.plan);
  const rows = [make("tr", [make("th"), ...plans.map((p) => make("th", p.title, { title: p.title }))])];
  const two = plans.length === 2;
  if (two) rows[0].append(make("th", "difference"));
  const row = (name, read, print) => {
    const values = plans.map(read);
    const cells = values.map((value) => make("td", print(value)));
    if (two && values.every((value) => typeof value === "number")) {
      const by = values[1] - values[0];
      const className = by < 0 ? "less" : by > 0 ? "more" : "";
      cells.push(make("td", by ? `${by > 0 ? "+" : "-"}${print(Math.abs(by))}` : "0", { className }));
    }
    rows.push(make("tr", [make("td", name), ...cells]));
  };
  row("peak", (p) => p.report.peak_bytes, bytes);
  row("max load", (p) => p.report.max_load_bytes, bytes);
  row("gap", (p) => p.report.gap * 100, (gap) => `${gap.toFixed(3)} %`);
  row("proven lowest", (p) => p.report.proof ?? "no", (proof) => proof);
  row("naive total", (p) => p.report.naive_bytes, bytes);
  row("padding", (p) => p.report.padding_bytes, bytes);
  row("tensors", (p) => p.table.count, grouped);
  row("steps", (p) => p.table.steps, grouped);
  row("arenas", (p) => p.arenas.length, String);
  row("strategy", (p) => p.report.strategy, (name) => name);
  for (const name of new Set(plans.flatMap((p) => p.residents.map(([what]) => what)))) {
    row(name, (p) => p.residents.find(([what]) => what === name)?.[1] ?? 0, bytes);
  }
  $("numbers").replaceChildren(...rows);
  const swatch = (name, k) => {
    const mark = make("i");
    mark.style.background = DATA.fills[k % DATA.fills.length];
    return make("span", [mark, name]);
  };
  $("legend").replaceChildren(...plans[0].table.legend.map(swatch));
}

/** A tensor as a row of a list. */
function item(table, i, text, what) {
  const mark = make("i");
  mark.style.background = fillOf(table, i);
  const line = make("li", [mark, make("span", text), make("b", what)]);
  line.classList.toggle("kept", table.names[i] === state.kept);
  line.addEventListener("click", () => keep(table.names[i], true));
  line.addEventListener("pointerenter", () => point(table.names[i]));
  line.addEventListener("pointerleave", () => point(null));
  return line;
}

function list(id, lines, more = 0) {
  if (more > 0) lines.push(make("li", `and ${grouped(more)} more`, { className: "hint" }));
  $(id).replaceChildren(...lines);
}

function showStep() {
  const { step } = state;
  const { table } = state.maps[0].plan;
  if (step === null || step >= table.steps) {
    $("step-title").textContent = "Step";
    $("step-op").textContent = "Click into the map: what is live at that step, largest first.";
    list("live", []);
    return;
  }
  const live = liveAt(table, step);
  const peak = step === state.maps[0].plan.report.peak_step ? " (the peak)" : "";
  const load = bytes(table.load[step]);
  $("step-title").textContent = `Step ${step}${peak}: ${load} live in ${live.length} tensors`;
  const [op, name] = [table.stepOp(step), table.stepName(step)];
  $("step-op").textContent = op ? `${op}: ${name}` : "";
  const lines = live.slice(0, LISTED).map((i) => item(table, i, table.names[i], bytes(table.sizes[i])));
  list("live", lines, live.length - LISTED);
}

/** Names and values of what is known of a tensor. */
function facts(plan, i, step) {
  const { table } = plan;
  const near = neighbours(plan, i, step);
  const name = (k) => (k < 0 ? null : `${table.names[k]} (${bytes(table.sizes[k])})`);
  const stepText = (s) => `${s}${table.stepName(s) ? ` (${table.stepName(s)})` : ""}`;
  const several = plan.arenas.length > 1 ? ` of arena ${plan.arena[i]}` : "";
  const end = plan.offsets[i] + table.sizes[i];
  return [
    ["bytes", `${grouped(table.sizes[i])}${table.sizes[i] < 1024 ? "" : ` (${bytes(table.sizes[i])})`}`],
    ["padding", table.pads[i] ? `${grouped(table.pads[i])} bytes` : null],
    ["shape", table.shape(i) || null],
    ["written by", table.stepOp(table.first[i]) || null],
    ["steps", `${table.first[i]} to ${table.last[i]}`],
    ["from", table.stepName(table.first[i]) ? stepText(table.first[i]) : null],
    ["last used by", table.stepName(table.last[i]) ? stepText(table.last[i]) : null],
    ["lies at", `${grouped(plan.offsets[i])} to ${grouped(end)}${several}`],
    ["view of", table.views.has(i) ? table.names[table.views.get(i)] : null],
    ["below it", name(near.below)],
    ["above it", name(near.above)],
    ["takes the bytes of", name(near.takes)],
    ["gives its bytes to", name(near.gives)],
  ].filter(([, value]) => value !== null);
}

function showTensor() {
  const mine = (p) => state.kept !== null && p.table.index.has(state.kept);
  const plan = state.maps.map((map) => map.plan).find(mine);
  if (!plan) {
    $("tensor-title").textContent = "Tensor";
    $("tensor").replaceChildren(make("dd", "Point at one. Click keeps it here.", { className: "hint" }));
    return;
  }
  const i = plan.table.index.get(state.kept);
  const step = state.step ?? plan.table.first[i];
  $("tensor-title").textContent = state.kept;
  $("tensor").replaceChildren(...facts(plan, i, step).flatMap(([k, v]) => [make("dt", k), make("dd", v)]));
}

function showTip(map, i, event) {
  const tip = $("tip");
  tip.hidden = i < 0;
  if (i < 0) return;
  const step = Math.floor(map.at(...offset(map, event)).step);
  const lines = facts(map.plan, i, step).map(([k, v]) => make("span", `${k} ${v}`));
  tip.replaceChildren(make("strong", map.plan.table.names[i]), ...lines);
  const { width, height } = tip.getBoundingClientRect();
  const x = event.clientX + 16 + width > innerWidth ? event.clientX - 16 - width : event.clientX + 16;
  const y = event.clientY + 16 + height > innerHeight ? event.clientY - 16 - height : event.clientY + 16;
  tip.style.left = `${Math.max(x, 4)}px`;
  tip.style.top = `${Math.max(y, 4)}px`;
}

/** Tensors whose name holds the text, largest first, in every table on show. */
function find(text) {
  const wanted = text.trim().toLowerCase();
  state.found.clear();
  $("found").hidden = $("found-title").hidden = !wanted;
  if (wanted) {
    for (const { plan: { table } } of state.maps) {
      const found = [];
      for (let i = 0; i < table.count; i += 1) if (table.lower[i].includes(wanted)) found.push(i);
      // The name itself first: in a list of numbers '12' is not '4123'.
      const exact = (i) => (table.lower[i] === wanted ? 1 : 0);
      found.sort((a, b) => exact(b) - exact(a) || table.sizes[b] - table.sizes[a] || a - b);
      state.found.set(table, found);
    }
    const { table } = state.maps[0].plan;
    const found = state.found.get(table);
    $("found-title").textContent = `${grouped(found.length)} tensors named so`;
    const lines = found.slice(0, 50).map((i) => item(table, i, table.names[i], bytes(table.sizes[i])));
    list("found", lines, found.length - 50);
  }
  repaint();
}

/** What the second of two plans has other than the first: by tensor, the largest difference first. */
function showChanges() {
  const two = state.maps.length === 2;
  $("changes").hidden = $("changes-title").hidden = !two;
  if (!two) return;
  const [a, b] = state.maps.map((map) => map.plan);
  const changes = [];
  let moved = 0;
  for (let i = 0; i < a.table.count; i += 1) {
    const k = b.table.index.get(a.table.names[i]);
    if (k === undefined) changes.push([-a.table.sizes[i], a.table, i, "only in the first"]);
    else if (b.table.sizes[k] !== a.table.sizes[i]) {
      changes.push([b.table.sizes[k] - a.table.sizes[i], b.table, k, "other size"]);
    } else if (b.offsets[k] !== a.offsets[i] || b.arena[k] !== a.arena[i]) moved += 1;
  }
  for (let k = 0; k < b.table.count; k += 1) {
    if (a.table.index.has(b.table.names[k])) continue;
    changes.push([b.table.sizes[k], b.table, k, "only in the second"]);
  }
  changes.sort((x, y) => Math.abs(y[0]) - Math.abs(x[0]) || x[2] - y[2]);
  $("changes-title").textContent =
    `Differences: ${grouped(moved)} tensors lie elsewhere, ${grouped(changes.length)} are others`;
  const sign = (by) => `${by < 0 ? "-" : "+"}${bytes(Math.abs(by))}`;
  const lines = changes.slice(0, LISTED).map(([by, table, i, why]) => {
    return item(table, i, `${table.names[i]}: ${why}`, sign(by));
  });
  list("changes", lines, changes.length - LISTED);
}

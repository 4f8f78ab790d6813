// Drawing a map: everything that only changes with the view below, what follows the pointer on top.

let linesOn = true;
/** Boxes over this many pixels on both sides get a rim, and a name where it fits. */
const RIM = 4;
const FONT = "11px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";

function paintBase(map) {
  const draw = map.base.getContext("2d");
  draw.setTransform(map.ratio, 0, 0, map.ratio, 0, 0);
  draw.clearRect(0, 0, map.base.width, map.base.height);
  draw.font = FONT;
  const { plan } = map;
  draw.save();
  draw.beginPath();
  draw.rect(MARGIN.left, MARGIN.top, map.width, map.height);
  draw.clip();
  draw.fillStyle = colour("--ground");
  plan.arenas.forEach((size, a) => {
    draw.fillRect(MARGIN.left, map.toY(plan.base[a] + size), map.width, size * map.perByte);
  });
  const large = paintSmall(draw, map);
  paintLarge(draw, map, large);
  paintGrid(draw, map);
  if (linesOn) paintLines(draw, map);
  paintNames(draw, map, large);
  draw.restore();
  paintAxes(draw, map);
}

/** Fills what is in view, class by class, and returns the boxes that are large enough for more. */
function paintSmall(draw, map) {
  const { plan } = map;
  const { table, bottom } = plan;
  const { first, last, sizes, views } = table;
  const [x0, x1] = map.x;
  const [y0, y1] = map.y;
  const { perStep, perByte } = map;
  const [left, floor] = [MARGIN.left, MARGIN.top + map.height];
  const large = [];
  // Two passes over typed arrays, the second by colour, so that the canvas changes its fill ten times.
  const perClass = DATA.fills.map(() => []);
  for (let i = 0; i < table.count; i += 1) {
    if (first[i] >= x1 || last[i] + 1 <= x0 || !sizes[i]) continue;
    if (bottom[i] >= y1 || bottom[i] + sizes[i] <= y0) continue;
    const [w, h] = [(last[i] + 1 - first[i]) * perStep, sizes[i] * perByte];
    if ((w > RIM && h > RIM) || views.has(i)) large.push(i);
    else perClass[table.classes[i]].push(i);
  }
  perClass.forEach((members, k) => {
    draw.fillStyle = DATA.fills[k];
    for (const i of members) {
      const w = Math.max((last[i] + 1 - first[i]) * perStep, 0.7);
      const h = Math.max(sizes[i] * perByte, 0.7);
      draw.fillRect(left + (first[i] - x0) * perStep, floor - (bottom[i] - y0) * perByte - h, w, h);
    }
  });
  return large;
}

function paintLarge(draw, map, large) {
  const { table } = map.plan;
  const [paper, ink] = [colour("--paper"), colour("--ink")];
  const hatch = hatching(draw, ink);
  draw.lineWidth = 0.8;
  for (const i of large) {
    const [x, y, w, h] = map.rectangle(i);
    const isView = table.views.has(i);
    draw.globalAlpha = isView ? 0.55 : 1;
    draw.fillStyle = fillOf(table, i);
    draw.fillRect(x, y, w, h);
    draw.globalAlpha = 1;
    if (w > RIM && h > RIM) {
      draw.strokeStyle = isView ? ink : paper;
      draw.setLineDash(isView ? [3, 2] : []);
      draw.strokeRect(x, y, w, h);
    }
    const padding = table.pads[i] * map.perByte;
    if (padding >= 0.5) {
      draw.fillStyle = hatch;
      draw.fillRect(x, y - padding, w, padding);
    }
  }
  draw.setLineDash([]);
}

function hatching(draw, ink) {
  const tile = make("canvas", [], { width: 6, height: 6 });
  const pen = tile.getContext("2d");
  pen.strokeStyle = ink;
  pen.beginPath();
  for (const at of [-3, 3, 9]) {
    pen.moveTo(at - 3, 6);
    pen.lineTo(at + 3, 0);
  }
  pen.stroke();
  return draw.createPattern(tile, "repeat");
}

/** Of names in boxes the longest part that fits. */
function fitted(draw, name, room) {
  for (const text of [name, name.replace(/\/+$/, "").split("/").pop()]) {
    if (draw.measureText(text).width <= room) return text;
  }
  return "";
}

function paintNames(draw, map, large) {
  const { table } = map.plan;
  draw.fillStyle = colour("--name");
  draw.textAlign = "center";
  draw.textBaseline = "middle";
  draw.lineJoin = "round";
  draw.lineWidth = 3;
  const wide = large.filter((i) => !table.views.has(i));
  for (const i of wide.length > 3000 ? wide.slice(0, 3000) : wide) {
    let [x, y, w, h] = map.rectangle(i);
    // The part in view, so that a name stays when its box is larger than the map.
    const [l, r] = [Math.max(x, MARGIN.left), Math.min(x + w, MARGIN.left + map.width)];
    const [t, b] = [Math.max(y, MARGIN.top), Math.min(y + h, MARGIN.top + map.height)];
    [x, y, w, h] = [(l + r) / 2, (t + b) / 2, r - l, b - t];
    const upright = w < h && w < 60;
    if (Math.min(w, h) < 13) continue;
    const name = fitted(draw, table.names[i], (upright ? h : w) - 6);
    if (!name) continue;
    const size = bytes(table.sizes[i]);
    const two = (upright ? w : h) > 30 && draw.measureText(size).width < (upright ? h : w) - 6;
    draw.save();
    draw.translate(x, y);
    if (upright) draw.rotate(-Math.PI / 2);
    draw.strokeStyle = fillOf(table, i);
    for (const [text, at] of two ? [[name, -7], [size, 7]] : [[name, 0]]) {
      draw.strokeText(text, 0, at);
      draw.fillText(text, 0, at);
    }
    draw.restore();
  }
}

function byteTicks(map) {
  const [name, size] = unitOf(map.plan.report.peak_bytes);
  const visible = (map.y[1] - map.y[0]) / size;
  const step = Math.max(niceStep((visible / map.height) * 60) * size, 1);
  const ticks = [];
  map.plan.arenas.forEach((most, a) => {
    const low = Math.max(map.y[0] - map.plan.base[a], 0);
    const high = Math.min(map.y[1] - map.plan.base[a], most);
    for (let k = Math.ceil(low / step); k * step <= high; k += 1) {
      ticks.push([map.plan.base[a] + k * step, short((k * step) / size), a]);
    }
  });
  return { name, ticks };
}

function paintGrid(draw, map) {
  draw.strokeStyle = colour("--soft");
  draw.globalAlpha = 0.25;
  draw.lineWidth = 0.5;
  draw.beginPath();
  for (const [height] of byteTicks(map).ticks) {
    draw.moveTo(MARGIN.left, map.toY(height));
    draw.lineTo(MARGIN.left + map.width, map.toY(height));
  }
  draw.stroke();
  draw.globalAlpha = 1;
}

function paintAxes(draw, map) {
  const { name, ticks } = byteTicks(map);
  draw.fillStyle = colour("--soft");
  draw.strokeStyle = colour("--soft");
  draw.lineWidth = 1;
  draw.textAlign = "right";
  draw.textBaseline = "middle";
  draw.fillText(name, MARGIN.left - 8, 14);
  for (const [height, text, arena] of ticks) {
    const label = map.plan.arenas.length > 1 && height === map.plan.base[arena] ? `arena ${arena}` : text;
    draw.fillText(label, MARGIN.left - 8, map.toY(height));
  }
  const floor = MARGIN.top + map.height;
  draw.textAlign = "center";
  const step = Math.max(niceStep(((map.x[1] - map.x[0]) / map.width) * 56), 1);
  for (let k = Math.ceil(map.x[0] / step); k * step < map.x[1]; k += 1) {
    const x = map.toX(k * step + 0.5);
    if (x < MARGIN.left || x > MARGIN.left + map.width) continue;
    draw.fillText(String(k * step), x, floor + 14);
    draw.fillRect(x - 0.5, floor, 1, 4);
  }
  draw.textAlign = "right";
  draw.fillText("step", MARGIN.left - 8, floor + 14);
  draw.fillRect(MARGIN.left, floor, map.width, 1);
  const { peak_step: peak } = map.plan.report;
  if (!linesOn || peak === null || peak < map.x[0] || peak + 1 > map.x[1]) return;
  const what = map.plan.table.stepName(peak);
  const text = `peak step ${peak}${what ? `: ${what}` : ""}`;
  const half = draw.measureText(text).width / 2;
  const middle = Math.min(map.toX(peak + 0.5), MARGIN.left + map.width - half);
  draw.fillStyle = colour("--red");
  draw.textAlign = "center";
  draw.fillText(text, Math.max(middle, MARGIN.left + half), 14);
}

/** The peak step, the max load, and the live bytes of every step. */
function paintLines(draw, map) {
  const { plan } = map;
  const { peak_step: peak, max_load_bytes: most } = plan.report;
  const red = colour("--red");
  if (peak !== null) {
    const width = Math.max(map.perStep, 1.5);
    draw.fillStyle = red;
    draw.globalAlpha = 0.12;
    draw.fillRect(map.toX(peak), MARGIN.top, width, map.height);
    draw.globalAlpha = 1;
    draw.strokeStyle = red;
    draw.lineWidth = 1;
    draw.strokeRect(map.toX(peak), MARGIN.top, width, map.height);
  }
  draw.strokeStyle = red;
  draw.lineWidth = 1.4;
  draw.setLineDash([7, 4]);
  const y = Math.max(map.toY(plan.stacked(most)), MARGIN.top + 1);
  draw.strokeRect(MARGIN.left - 5, y, map.width + 10, map.height * 2);
  draw.setLineDash([]);
  draw.beginPath();
  outline(draw, map);
  draw.strokeStyle = colour("--paper");
  draw.globalAlpha = 0.85;
  draw.lineWidth = 4;
  draw.stroke();
  draw.globalAlpha = 1;
  draw.strokeStyle = colour("--ink");
  draw.lineWidth = 1.5;
  draw.stroke();
}

/** Live bytes as stairs; of the steps within half a pixel the highest counts. */
function outline(draw, map) {
  const { load } = map.plan.table;
  const stride = Math.max(Math.ceil(0.5 / map.perStep), 1);
  const from = Math.floor(Math.max(map.x[0], 0) / stride) * stride;
  const to = Math.min(Math.ceil(map.x[1]), load.length);
  for (let step = from; step < to; step += stride) {
    let most = 0;
    for (let k = step; k < Math.min(step + stride, load.length); k += 1) most = Math.max(most, load[k]);
    const y = map.toY(map.plan.stacked(most));
    draw.lineTo(map.toX(step), y);
    draw.lineTo(map.toX(Math.min(step + stride, load.length)), y);
  }
}

/** Matches of the search, the kept tensor and step, what is under the pointer. */
function paintOver(map) {
  const draw = map.over.getContext("2d");
  draw.setTransform(map.ratio, 0, 0, map.ratio, 0, 0);
  draw.clearRect(0, 0, map.over.width, map.over.height);
  draw.save();
  draw.beginPath();
  draw.rect(MARGIN.left, MARGIN.top, map.width, map.height);
  draw.clip();
  const { table } = map.plan;
  const box = (i, width, style) => {
    const [x, y, w, h] = map.rectangle(i);
    draw.strokeStyle = style;
    draw.lineWidth = width;
    draw.strokeRect(x - 1, y - 1, Math.max(w, 1) + 2, Math.max(h, 1) + 2);
  };
  const found = state.found.get(table);
  if (found?.length) {
    draw.fillStyle = colour("--paper");
    draw.globalAlpha = 0.72;
    draw.fillRect(MARGIN.left, MARGIN.top, map.width, map.height);
    draw.globalAlpha = 1;
    for (const i of found) {
      const [x, y, w, h] = map.rectangle(i);
      draw.fillStyle = fillOf(table, i);
      draw.fillRect(x, y, Math.max(w, 2), Math.max(h, 2));
    }
  }
  if (state.step !== null && state.step < table.steps) {
    draw.fillStyle = colour("--hover");
    draw.globalAlpha = 0.16;
    draw.fillRect(map.toX(state.step), MARGIN.top, Math.max(map.perStep, 2), map.height);
    draw.globalAlpha = 1;
  }
  const mine = (name) => (name === null ? undefined : table.index.get(name));
  if (mine(state.kept) !== undefined) box(mine(state.kept), 2.5, colour("--hover"));
  if (mine(state.hover) !== undefined) box(mine(state.hover), 2, colour("--ink"));
  draw.restore();
}

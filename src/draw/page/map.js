// One map: a plan, the part of it in view, and the two canvases that show it.

const MARGIN = { left: 74, right: 16, top: 30, bottom: 34 };

class MapView {
  /** `top` is the height of the map: that of the higher of two plans, so that their boxes compare. */
  constructor(plan, top) {
    this.plan = plan;
    this.top = top;
    this.element = make("div", [], { className: "map" });
    this.base = make("canvas");
    this.over = make("canvas", [], { className: "over", tabIndex: 0 });
    this.over.setAttribute("role", "application");
    this.over.setAttribute("aria-label", `map of ${plan.title}: arrows move, plus and minus zoom`);
    this.element.append(this.base, this.over);
    this.dirty = true;
    this.fit();
  }

  fit() {
    this.x = [0, Math.max(this.plan.table.steps, 1)];
    this.y = [0, this.top];
    this.dirty = true;
  }

  /** Takes over the size of its element; nothing is drawn without one. */
  measure() {
    const { clientWidth: width, clientHeight: height } = this.element;
    const ratio = window.devicePixelRatio || 1;
    for (const canvas of [this.base, this.over]) {
      const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
      if (canvas.width !== w || canvas.height !== h) {
        [canvas.width, canvas.height] = [w, h];
        this.dirty = true;
      }
    }
    this.ratio = ratio;
    this.width = Math.max(width - MARGIN.left - MARGIN.right, 1);
    this.height = Math.max(height - MARGIN.top - MARGIN.bottom, 1);
  }

  get perStep() {
    return this.width / (this.x[1] - this.x[0]);
  }

  get perByte() {
    return this.height / (this.y[1] - this.y[0]);
  }

  toX(step) {
    return MARGIN.left + (step - this.x[0]) * this.perStep;
  }

  toY(height) {
    return MARGIN.top + this.height - (height - this.y[0]) * this.perByte;
  }

  /** Step (with its fraction) and height at a point of the canvas. */
  at(px, py) {
    const step = this.x[0] + (px - MARGIN.left) / this.perStep;
    const height = this.y[0] + (MARGIN.top + this.height - py) / this.perByte;
    return { step, height };
  }

  inside(px, py) {
    const right = px - MARGIN.left <= this.width;
    return px >= MARGIN.left && right && py >= MARGIN.top && py <= MARGIN.top + this.height;
  }

  tensorAt(px, py) {
    if (!this.inside(px, py)) return -1;
    const { step, height } = this.at(px, py);
    return tensorAt(this.plan, Math.floor(step), height);
  }

  /** Where a tensor lies on the canvas: left, top, width, height. */
  rectangle(i) {
    const { table, bottom } = this.plan;
    const x = this.toX(table.first[i]);
    const y = this.toY(bottom[i] + table.sizes[i]);
    return [x, y, (table.last[i] + 1 - table.first[i]) * this.perStep, table.sizes[i] * this.perByte];
  }

  pan(dx, dy) {
    this.x = shifted(this.x, -dx / this.perStep, 0, Math.max(this.plan.table.steps, 1));
    this.y = shifted(this.y, dy / this.perByte, 0, this.top);
    this.dirty = true;
  }

  /** Zooms about a point; factors over 1 show less. */
  zoom(px, py, factorX, factorY) {
    const { step, height } = this.at(px, py);
    this.x = scaled(this.x, step, factorX, 0, Math.max(this.plan.table.steps, 1), 0.5);
    this.y = scaled(this.y, height, factorY, 0, this.top, Math.min(this.top, 4));
    this.dirty = true;
  }

  /** Brings a tensor into view with some room around it. */
  show(i) {
    const { table, bottom } = this.plan;
    const span = (from, to, most, least) => {
      const half = Math.max((to - from) * 1.2, least) / 2 + (to - from) / 2;
      const middle = (from + to) / 2;
      return clamped([middle - half, middle + half], 0, most);
    };
    const steps = Math.max(table.steps, 1);
    this.x = span(table.first[i], table.last[i] + 1, steps, Math.min(steps, 8));
    this.y = span(bottom[i], bottom[i] + table.sizes[i], this.top, this.top / 50);
    this.dirty = true;
  }

  /** Moves a step into view where it is not. */
  showStep(step) {
    if (step < this.x[0] || step + 1 > this.x[1]) {
      const half = (this.x[1] - this.x[0]) / 2;
      this.x = clamped([step + 0.5 - half, step + 0.5 + half], 0, Math.max(this.plan.table.steps, 1));
      this.dirty = true;
    }
  }
}

/** A range of the same length inside the bounds, or the bounds where it is longer. */
function clamped([from, to], low, high) {
  if (to - from >= high - low) return [low, high];
  const by = Math.max(low - from, 0) + Math.min(high - to, 0);
  return [from + by, to + by];
}

function shifted([from, to], by, low, high) {
  return clamped([from + by, to + by], low, high);
}

function scaled([from, to], about, factor, low, high, least) {
  const length = Math.min(Math.max((to - from) / factor, least), high - low);
  const start = about - (about - from) * (length / (to - from));
  return clamped([start, start + length], low, high);
}

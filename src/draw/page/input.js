// Pointer, wheel and keys.

const pointers = new Map();
let pressed = null;

function offset(map, event) {
  const box = map.over.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

/** Maps of the same steps move together, so that two plans are compared at the same place. */
function together(map, change) {
  const steps = map.plan.table.steps;
  for (const other of state.maps) {
    if (other === map || other.plan.table.steps === steps) change(other);
  }
  repaint();
}

function listen(map) {
  const { over } = map;
  over.addEventListener("pointerdown", (event) => {
    // A pointer that is no longer there cannot be captured, and need not be.
    try { over.setPointerCapture(event.pointerId); } catch { /* it moves on its own */ }
    pointers.set(event.pointerId, offset(map, event));
    pressed = { at: offset(map, event), moved: false };
  });
  over.addEventListener("pointermove", (event) => {
    const now = offset(map, event);
    if (pointers.has(event.pointerId) && pressed) return drag(map, event, now);
    const i = map.tensorAt(...now);
    point(i < 0 ? null : map.plan.table.names[i]);
    showTip(map, i, event);
  });
  over.addEventListener("pointerleave", () => {
    point(null);
    $("tip").hidden = true;
  });
  over.addEventListener("pointerup", (event) => {
    pointers.delete(event.pointerId);
    over.classList.remove("held");
    if (pressed && !pressed.moved) click(map, ...pressed.at);
    pressed = null;
  });
  over.addEventListener("pointercancel", (event) => {
    pointers.delete(event.pointerId);
    pressed = null;
  });
  over.addEventListener("dblclick", () => together(map, (m) => m.fit()));
  over.addEventListener("wheel", (event) => {
    event.preventDefault();
    const scale = event.deltaMode === 1 ? 16 : 1;
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY) && !event.shiftKey) {
      return together(map, (m) => m.pan(-event.deltaX * scale, 0));
    }
    // With Shift, browsers tell the wheel as sideways.
    const turned = event.deltaY || event.deltaX;
    const factor = Math.exp(-turned * scale * 0.0015);
    const [x, y] = offset(map, event);
    together(map, (m) => m.zoom(x, y, event.altKey ? 1 : factor, event.shiftKey ? 1 : factor));
  }, { passive: false });
}

function drag(map, event, now) {
  const before = pointers.get(event.pointerId);
  if (Math.hypot(now[0] - pressed.at[0], now[1] - pressed.at[1]) > 4) pressed.moved = true;
  if (!pressed.moved) return;
  $("tip").hidden = true;
  map.over.classList.add("held");
  const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
  pointers.set(event.pointerId, now);
  if (!other) {
    together(map, (m) => m.pan(now[0] - before[0], now[1] - before[1]));
    return;
  }
  // Two fingers: what lies between them grows as they part.
  const apart = (point) => Math.max(Math.hypot(point[0] - other[0], point[1] - other[1]), 1);
  const factor = apart(now) / apart(before);
  together(map, (m) => m.zoom((now[0] + other[0]) / 2, (now[1] + other[1]) / 2, factor, factor));
}

function click(map, x, y) {
  map.over.focus({ preventScroll: true });
  if (!map.inside(x, y)) return;
  const step = Math.min(Math.floor(map.at(x, y).step), map.plan.table.steps - 1);
  const i = map.tensorAt(x, y);
  state.kept = i < 0 ? null : map.plan.table.names[i];
  goTo(Math.max(step, 0));
}

const KEYS = {
  "ArrowLeft": (map) => together(map, (m) => m.pan(m.width / 8, 0)),
  "ArrowRight": (map) => together(map, (m) => m.pan(-m.width / 8, 0)),
  "ArrowUp": (map) => together(map, (m) => m.pan(0, m.height / 8)),
  "ArrowDown": (map) => together(map, (m) => m.pan(0, -m.height / 8)),
  "+": (map, event) => zoomMiddle(map, 1.5, event),
  "=": (map, event) => zoomMiddle(map, 1.5, event),
  "-": (map, event) => zoomMiddle(map, 1 / 1.5, event),
  "_": (map, event) => zoomMiddle(map, 1 / 1.5, event),
  "0": (map) => together(map, (m) => m.fit()),
  "Home": (map) => together(map, (m) => m.fit()),
  "p": () => goToPeak(),
  "[": () => goTo(Math.max((state.step ?? 1) - 1, 0)),
  "]": (map) => goTo(Math.min((state.step ?? -1) + 1, map.plan.table.steps - 1)),
  "/": () => $("search").focus(),
  "n": () => nextPlan(),
  "c": () => toggleOther(),
  "l": () => {
    linesOn = !linesOn;
    repaintAll();
  },
  "t": () => toggleTheme(),
  "?": () => $("help").showModal(),
  "Escape": () => letGo(),
};

function zoomMiddle(map, factor, event) {
  // Shift is how some keyboards type a plus, so Alt alone restricts a zoom by keys.
  const [x, y] = [MARGIN.left + map.width / 2, MARGIN.top + map.height / 2];
  together(map, (m) => m.zoom(x, y, factor, event.altKey ? 1 : factor));
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || $("help").open) return;
  if (event.target.id === "search") {
    if (event.key === "Escape") letGo();
    if (event.key === "Enter") goToFound();
    return;
  }
  if (event.target.tagName === "SELECT") return;
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act(state.maps.find((map) => map.over === document.activeElement) ?? state.maps[0], event);
});

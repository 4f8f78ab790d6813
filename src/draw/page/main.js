// What is shown, and what changes it.

const state = {
  /** One map, or two side by side. */
  maps: [],
  /** Name of the tensor under the pointer, and of the one kept. */
  hover: null,
  kept: null,
  /** The step kept. */
  step: null,
  /** Positions that the search found, by table. */
  found: new Map(),
};

let waiting = false;

/** Paints before the next frame what has changed, however often it is asked. */
function repaint() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(paint);
}

function paint() {
  waiting = false;
  for (const map of state.maps) {
    map.measure();
    if (map.dirty) paintBase(map);
    map.dirty = false;
    paintOver(map);
  }
  if (!performance.getEntriesByName("sublet:drawn").length) performance.mark("sublet:drawn");
}

function repaintAll() {
  for (const map of state.maps) map.dirty = true;
  repaint();
}

function point(name) {
  if (state.hover === name) return;
  state.hover = name;
  repaint();
}

/** Keeps a tensor; with `go` it is brought into view. */
function keep(name, go) {
  state.kept = name;
  for (const map of state.maps) {
    const i = map.plan.table.index.get(name);
    if (go && i !== undefined) map.show(i);
  }
  showTensor();
  showStep();
  repaint();
}

function say(text) {
  $("said").textContent = text;
}

function goTo(step) {
  state.step = step;
  for (const map of state.maps) map.showStep(step);
  showStep();
  showTensor();
  say($("step-title").textContent);
  repaint();
}

function goToPeak() {
  const { peak_step: peak } = state.maps[0].plan.report;
  if (peak !== null) goTo(peak);
}

function goToFound() {
  const { table } = state.maps[0].plan;
  const [best] = state.found.get(table) ?? [];
  if (best !== undefined) keep(table.names[best], true);
}

function letGo() {
  Object.assign(state, { hover: null, kept: null, step: null });
  $("search").value = "";
  $("search").blur();
  $("tip").hidden = true;
  find("");
  showTensor();
  showStep();
}

/** Shows these plans, by position; what is kept stays. */
function show(indices) {
  const top = Math.max(...indices.map((index) => PLANS[index].height));
  state.maps = indices.map((index) => new MapView(PLANS[index], top));
  document.body.classList.toggle("two", indices.length > 1);
  $("maps").replaceChildren(...state.maps.map((map) => map.element));
  state.maps.forEach(listen);
  $("plan").value = String(indices[0]);
  $("other").value = indices.length > 1 ? String(indices[1]) : "";
  const title = state.maps.map((map) => map.plan.title).join("  |  ");
  $("title").textContent = title;
  showNumbers();
  showChanges();
  find($("search").value);
  showTensor();
  showStep();
  say(title);
}

function shown() {
  return state.maps.map((map) => PLANS.indexOf(map.plan));
}

function nextPlan() {
  const [first, ...others] = shown();
  show([(first + 1) % PLANS.length, ...others]);
}

function toggleOther() {
  const [first, ...others] = shown();
  show(others.length || PLANS.length === 1 ? [first] : [first, (first + 1) % PLANS.length]);
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  repaintAll();
}

function toggleTheme() {
  setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
}

function start() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
  dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
  const options = () => PLANS.map((plan, i) => make("option", plan.title, { value: String(i) }));
  $("plan").append(...options());
  $("other").append(make("option", "nothing", { value: "" }), ...options());
  $("plans").hidden = $("others").hidden = PLANS.length === 1;
  const chosen = () => show([$("plan").value, $("other").value].filter((v) => v !== "").map(Number));
  $("plan").addEventListener("change", chosen);
  $("other").addEventListener("change", chosen);
  $("search").addEventListener("input", () => find($("search").value));
  $("fit").addEventListener("click", () => together(state.maps[0], (m) => m.fit()));
  $("peak").addEventListener("click", goToPeak);
  $("theme").addEventListener("click", toggleTheme);
  $("keys").addEventListener("click", () => $("help").showModal());
  new ResizeObserver(repaint).observe($("maps"));
  // Plans of two inputs are there to be compared.
  show(PLANS.length === 2 && PLANS[0].table !== PLANS[1].table ? [0, 1] : [0]);
  repaint();
}

start();

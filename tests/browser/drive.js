// Opens a memory map in a frame, does with it what a reader would (real events on its own elements), and
// posts what it shows. What to do comes from the server: places of tensors as the plan has them.

const MARGIN = { left: 74, right: 16, top: 30, bottom: 34 };
const job = await (await fetch("job.json")).json();
const frame = document.getElementById("frame");
frame.src = job.page;
await new Promise((done) => frame.addEventListener("load", done, { once: true }));
const page = frame.contentDocument;
const inside = frame.contentWindow;

const painted = () => new Promise((done) => inside.requestAnimationFrame(() => inside.setTimeout(done)));

async function drawn() {
  for (let tries = 0; tries < 2000; tries += 1) {
    const [mark] = inside.performance.getEntriesByName("sublet:drawn");
    if (mark) return mark.startTime;
    await painted();
  }
  throw new Error("the page draws nothing");
}

const canvas = (map = 0) => page.querySelectorAll("canvas.over")[map];
const text = (id) => page.getElementById(id).innerText.trim();
const rows = (id) => [...page.querySelectorAll(`#${id} li`)].map((row) => {
  return [row.querySelector("span")?.innerText ?? row.innerText, row.querySelector("b")?.innerText ?? ""];
});

function pointer(type, [clientX, clientY], map = 0) {
  const event = { clientX, clientY, pointerId: 1, bubbles: true, cancelable: true, isPrimary: true };
  canvas(map).dispatchEvent(new inside.PointerEvent(type, event));
}

function wheel([clientX, clientY], deltaY, more = {}) {
  const event = { clientX, clientY, deltaY, bubbles: true, cancelable: true, ...more };
  canvas().dispatchEvent(new inside.WheelEvent("wheel", event));
}

function key(name, target = page.body) {
  target.dispatchEvent(new inside.KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
}

/** Where a step (its middle) and a byte lie while everything is shown. */
function spot({ step, byte }) {
  const box = canvas().getBoundingClientRect();
  const width = box.width - MARGIN.left - MARGIN.right;
  const height = box.height - MARGIN.top - MARGIN.bottom;
  const x = box.left + MARGIN.left + (step / job.steps) * width;
  return [x, box.top + MARGIN.top + height - (byte / job.peak_bytes) * height];
}

async function hover(at, map = 0) {
  pointer("pointermove", at, map);
  await painted();
  const tip = page.getElementById("tip");
  return tip.hidden ? "" : tip.innerText;
}

function click(at) {
  pointer("pointerdown", at);
  pointer("pointerup", at);
}

/** The facts of the tensor that is kept. */
function kept() {
  const names = [...page.querySelectorAll("#tensor dt")].map((e) => e.innerText);
  const values = [...page.querySelectorAll("#tensor dd")].map((e) => e.innerText);
  return { name: text("tensor-title"), ...Object.fromEntries(names.map((name, i) => [name, values[i]])) };
}

/** A digest of the picture, to see whether it changed. */
function pixels() {
  const base = page.querySelector(".map canvas");
  const { data } = base.getContext("2d").getImageData(0, 0, base.width, base.height);
  let digest = 0;
  for (let i = 0; i < data.length; i += 1) digest = (digest * 31 + data[i]) | 0;
  return digest;
}

const numbers = () => [...page.querySelectorAll("#numbers tr")].map((row) => {
  return [...row.children].map((cell) => cell.innerText);
});

/** Looks at every place that the job names, then zooms, searches, clicks, and turns to other plans. */
async function look() {
  const seen = { title: text("title"), numbers: numbers(), tips: [] };
  for (const place of job.places) seen.tips.push(await hover(spot(place)));
  const before = pixels();

  // Zooming about a point leaves that point where it is; another shows what was nearer to it before.
  const [about, toward] = [spot(job.places[0]), spot(job.places[1])];
  wheel(about, -400);
  await painted();
  seen.zoomed = pixels() !== before;
  seen.zoomed_at = await hover(about);
  const factor = Math.exp(400 * 0.0015);
  const nearer = [0, 1].map((k) => about[k] + (toward[k] - about[k]) * factor);
  const box = canvas().getBoundingClientRect();
  const visible = nearer[0] > box.left + MARGIN.left && nearer[0] < box.right - MARGIN.right &&
    nearer[1] > box.top + MARGIN.top && nearer[1] < box.bottom - MARGIN.bottom;
  seen.zoomed_toward = visible ? await hover(nearer) : null;

  // Dragging takes the point along, as far as there is anything to the side of it.
  const grabbed = [about[0], about[1]];
  pointer("pointerdown", grabbed);
  pointer("pointermove", [grabbed[0] + 40, grabbed[1] + 30]);
  pointer("pointerup", [grabbed[0] + 40, grabbed[1] + 30]);
  await painted();
  seen.dragged_keeps_nothing = text("tensor-title") === "Tensor";
  key("0");
  await painted();
  seen.fits_again = pixels() === before;

  // A click keeps the tensor and lists what is live at the step.
  click(spot(job.click));
  await painted();
  seen.step = text("step-title");
  seen.op = text("step-op");
  seen.live = rows("live");
  seen.kept = kept();
  seen.exact = [];
  for (const row of page.querySelectorAll("#live li")) {
    const [name] = [row.querySelector("span").innerText];
    row.dispatchEvent(new inside.MouseEvent("click", { bubbles: true }));
    seen.exact.push([name, kept().bytes]);
    if (seen.exact.length === job.live.length) break;
  }
  key("]");
  seen.next_step = text("step-title");
  key("p");
  seen.peak_step = text("step-title");

  // Searching: what is typed, what is listed, and Enter goes to the first.
  key("/");
  const search = page.getElementById("search");
  seen.search_has_focus = page.activeElement === search;
  search.value = job.search;
  search.dispatchEvent(new inside.Event("input", { bubbles: true }));
  await painted();
  seen.found_title = text("found-title");
  seen.found = rows("found");
  key("Enter", search);
  await painted();
  seen.found_kept = kept();
  key("Escape", search);
  await painted();
  seen.let_go = page.getElementById("found").hidden && text("tensor-title") === "Tensor";

  // Another plan, two plans side by side, the other theme.
  key("0");
  await painted();
  key("n");
  await painted();
  seen.next_title = text("title");
  seen.next_numbers = numbers();
  seen.next_pixels_differ = pixels() !== before;
  key("c");
  await painted();
  seen.maps = page.querySelectorAll(".map").length;
  seen.two_numbers = numbers();
  seen.changes_title = text("changes-title");
  const theme = page.documentElement.dataset.theme;
  key("t");
  seen.theme = [theme, page.documentElement.dataset.theme];
  seen.ignored = (key("F7"), text("title")) === text("title");
  return seen;
}

/** Milliseconds from an event to the next frame, the longest of several. */
async function slowest() {
  let most = 0;
  const box = canvas().getBoundingClientRect();
  const at = (k) => [box.left + box.width * (0.3 + 0.05 * k), box.top + box.height * (0.4 + 0.03 * k)];
  for (let k = 0; k < 8; k += 1) {
    for (const act of [() => pointer("pointermove", at(k)), () => wheel(at(k), -300), () => click(at(k))]) {
      const start = performance.now();
      act();
      await painted();
      most = Math.max(most, performance.now() - start);
    }
  }
  return most;
}

async function run() {
  const drawn_ms = await drawn();
  // The browser tells of a paint only some time after it.
  const first = () => inside.performance.getEntriesByName("first-contentful-paint")[0];
  for (let tries = 0; tries < 200 && !first(); tries += 1) await painted();
  const paint = first();
  const answer = { drawn_ms, paint_ms: paint?.startTime ?? null };
  answer.resources = inside.performance.getEntriesByType("resource").map((entry) => entry.name);
  if (job.places) answer.seen = await look();
  else {
    answer.slowest_ms = await slowest();
    answer.live = rows("live").length;
    answer.numbers = numbers();
  }
  return answer;
}

const answer = await run().catch((error) => ({ error: `${error.stack ?? error}` }));
await fetch("result", { method: "POST", body: JSON.stringify({ adapter: null, error: null, ...answer }) });

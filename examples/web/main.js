// The page: chooses a network and a layout, and shows what the library says. With `?auto` it takes a list of
// jobs from the server instead and posts what came out.

import load, { Gpu, catalogue } from "./pkg/sublet_web.js";

const $ = (id) => document.getElementById(id);

/** Bytes as people read them, 2^20 being a MiB. */
const mib = (bytes) => `${(bytes / 2 ** 20).toFixed(3)} MiB`;

/** The device; one for the page's life. */
let gpu = null;
/** The network on show. */
let network = null;

async function describeAdapter() {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) throw new Error("this browser offers no WebGPU adapter");
  const { vendor, architecture, device, description } = adapter.info;
  return { vendor, architecture, device, description };
}

/** Plans one job: `{network}` is built in, `{url}` or `{name, bytes}` is an ONNX model. */
async function prepare(job) {
  if (job.network) return gpu.built_in(job.network, job.layout);
  const bytes = job.bytes ?? new Uint8Array(await (await fetch(job.url)).arrayBuffer());
  return gpu.onnx(job.name ?? job.url, bytes, job.layout);
}

function row(table, cells, className) {
  const line = table.insertRow();
  for (const cell of cells) line.insertCell().textContent = cell;
  if (className) line.className = className;
}

function showOutputs(summary, outputs) {
  const table = $("outputs");
  table.replaceChildren();
  summary.outputs.forEach(({ name, shape }, i) => {
    const data = outputs[i];
    const best = [...data.keys()].sort((a, b) => data[b] - data[a]).slice(0, 3);
    const largest = best.map((at) => `[${at}] ${data[at].toPrecision(5)}`).join("  ");
    row(table, [name, shape.join(" x "), `largest ${largest}`]);
  });
  row(table, ["arenas", mib(summary.arena_bytes), `weights ${mib(summary.weights_bytes)}`]);
  const [compile, run] = [summary.compile_s * 1e3, summary.run_s * 1e3].map((ms) => ms.toFixed(0));
  row(table, ["dispatches", summary.dispatches, `built in ${compile} ms, first run ${run} ms`]);
}

function showAudit(audit) {
  const table = $("audit");
  table.replaceChildren();
  $("unproven").hidden = audit !== null;
  if (!audit) return;
  const verdict = (ok) => (ok ? "yes" : "NO");
  const say = (what, ok, more = "") => row(table, [what, verdict(ok), more], ok ? "good" : "bad");
  say("same bits as without reuse", audit.reuse_equals_no_reuse, `${audit.tensors_compared} tensors`);
  say("same bits under both poisons", audit.poison_equal);
  say("no stray write", audit.canaries_intact, `${audit.steps_watched} steps watched`);
  const off = audit.cpu_twin.max_abs_diff.toExponential(1);
  say("agrees with the CPU twins", audit.cpu_twin.ok, `differs by ${off}`);
  say("every dispatch is lawful", audit.legal.violations.length === 0, audit.legal.violations[0] ?? "");
  if (audit.first_bad) row(table, ["first bad step", audit.first_bad.step, audit.first_bad.tensor], "bad");
  say("audit", audit.ok);
}

/** Whether all of a canvas has one colour. */
function isBlank(canvas) {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return new Uint32Array(data.buffer).every((word, _, words) => word === words[0]);
}

/** Shows a memory map, a page of its own, in its frame; returns how many tensors are drawn in it. */
async function showMap(page) {
  const frame = $("map");
  const loaded = new Promise((done) => frame.addEventListener("load", done, { once: true }));
  frame.srcdoc = page;
  await loaded;
  const inside = frame.contentWindow;
  for (let tries = 0; !inside.performance.getEntriesByName("sublet:drawn").length; tries += 1) {
    if (tries === 500) throw new Error("the memory map draws nothing");
    await new Promise((done) => setTimeout(done, 20));
  }
  if (isBlank(inside.document.querySelector("canvas"))) throw new Error("the memory map is blank");
  return JSON.parse(inside.document.getElementById("data").textContent).plans[0].offsets.length;
}

/** Plans, draws and runs; returns everything that was shown. */
async function planAndRun(job) {
  network?.free();
  network = null;
  network = await prepare(job);
  $("report").textContent = network.report_text();
  showAudit(null);
  $("result").hidden = false;
  const boxes = await showMap(network.map());
  const summary = JSON.parse(await network.run());
  const outputs = summary.outputs.map((_, i) => network.output(i));
  showOutputs(summary, outputs);
  return { plan: JSON.parse(network.report()), boxes, summary, outputs };
}

async function prove() {
  const audit = JSON.parse(await network.audit());
  showAudit(audit);
  return audit;
}

/** Runs `work` with the buttons off, and says in the page what became of it. */
async function busy(text, work) {
  $("status").className = "";
  $("status").textContent = text;
  for (const id of ["go", "prove"]) $(id).disabled = true;
  try {
    await work();
    $("status").textContent = "";
  } catch (error) {
    $("status").className = "bad";
    $("status").textContent = error.message ?? String(error);
  }
  $("go").disabled = false;
  $("prove").disabled = network === null;
}

async function chosen() {
  const file = $("file").files[0];
  const layout = $("layout").value;
  if (!file) return { network: $("network").value, layout };
  return { name: file.name, bytes: new Uint8Array(await file.arrayBuffer()), layout };
}

function listen() {
  $("choice").addEventListener("submit", (event) => {
    event.preventDefault();
    busy("Planning and running.", async () => planAndRun(await chosen()));
  });
  $("prove").addEventListener("click", () => busy("Auditing.", prove));
  $("network").addEventListener("change", () => { $("file").value = ""; });
  const over = (event) => { event.preventDefault(); $("choice").classList.add("over"); };
  document.addEventListener("dragover", over);
  document.addEventListener("dragleave", () => $("choice").classList.remove("over"));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    $("choice").classList.remove("over");
    if (event.dataTransfer.files.length === 0) return;
    $("file").files = event.dataTransfer.files;
    $("choice").requestSubmit();
  });
}

function fill(select, names) {
  select.replaceChildren(...names.map((name) => new Option(name)));
}

/** Floats as their bits: JSON would round some and cannot say NaN. */
function bits(floats) {
  return Array.from(new Uint32Array(floats.buffer, floats.byteOffset, floats.length));
}

async function post(what) {
  await fetch("result", { method: "POST", body: JSON.stringify(what) });
}

/** Takes the server's jobs one by one, each in every layout; one that fails does not stop the next. */
async function runJobs(adapter, layouts) {
  const jobs = await (await fetch("jobs.json")).json();
  const results = [];
  for (const job of jobs.flatMap((job) => layouts.map((layout) => ({ ...job, layout })))) {
    $("status").textContent = `${job.name ?? job.network}, ${job.layout}`;
    try {
      const { plan, boxes, summary, outputs } = await planAndRun(job);
      const audit = job.audit ? await prove() : null;
      results.push({ job, plan, boxes, summary, outputs: outputs.map(bits), audit });
    } catch (error) {
      results.push({ job, error: error.message ?? String(error) });
    }
  }
  await post({ adapter, limits: JSON.parse(gpu.limits()), layouts, results });
  $("status").textContent = "Posted.";
}

async function main() {
  const auto = new URLSearchParams(location.search).has("auto");
  try {
    const wasm = new URL("pkg/sublet_web_bg.wasm", import.meta.url);
    const [adapter] = await Promise.all([describeAdapter(), load({ module_or_path: wasm })]);
    gpu = await Gpu.open();
    const name = adapter.description || [adapter.vendor, adapter.architecture].filter(Boolean).join(" ");
    const limits = JSON.parse(gpu.limits());
    $("adapter").textContent = `Adapter: ${name || "unnamed"}. Binds at multiples of ` +
      `${limits.storage_alignment_bytes} bytes, ${mib(limits.max_binding_bytes)} at most.`;
    const { networks, layouts } = JSON.parse(catalogue());
    fill($("network"), networks);
    fill($("layout"), layouts);
    $("network").value = networks.at(-1);
    listen();
    $("go").disabled = false;
    if (auto) await runJobs(adapter, layouts);
  } catch (error) {
    const text = error.message ?? String(error);
    $("adapter").textContent = `Nothing runs here: ${text}.`;
    $("adapter").className = "bad";
    if (auto) await post({ error: text });
  }
}

main();

// Compiles shaders, builds described dispatches and copies, and runs kernels with the browser's WebGPU, no
// library between, and posts what the browser says to each: null where it accepts, else its message. The
// described ones are never submitted: rules are judged when a command buffer is finished. Where kernels ran,
// the bytes that they left are posted as well.

const ACCESS = { uniform: "uniform", read: "read-only-storage", read_write: "storage" };

/** Buffers by place and size. Cases share them, since no case writes anything. */
class Buffers {
  constructor(device) {
    this.device = device;
    this.made = new Map();
  }

  get(index, size) {
    const key = `${index}:${size}`;
    if (!this.made.has(key)) {
      const { STORAGE, UNIFORM, COPY_SRC, COPY_DST } = GPUBufferUsage;
      const usage = STORAGE | UNIFORM | COPY_SRC | COPY_DST;
      this.made.set(key, this.device.createBuffer({ label: `b${index}`, size, usage }));
    }
    return this.made.get(key);
  }
}

function recordDispatch(device, encoder, module, buffers, sizes, dispatch) {
  const entries = dispatch.bindings.map(({ access }, binding) => (
    { binding, visibility: GPUShaderStage.COMPUTE, buffer: { type: ACCESS[access] } }));
  const layout = device.createBindGroupLayout({ entries });
  const pipeline = device.createComputePipeline({
    layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
    compute: { module, entryPoint: "main" },
  });
  const group = device.createBindGroup({
    layout,
    entries: dispatch.bindings.map(({ buffer, offset, size }, binding) => (
      { binding, resource: { buffer: buffers.get(buffer, sizes[buffer]), offset, size } })),
  });
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, group);
  pass.dispatchWorkgroups(...dispatch.workgroups);
  pass.end();
}

function record(device, module, buffers, { sizes, dispatch, copy }) {
  const encoder = device.createCommandEncoder();
  if (dispatch) recordDispatch(device, encoder, module, buffers, sizes, dispatch);
  if (copy) {
    const [from, to] = [copy.from, copy.to].map((index) => buffers.get(index, sizes[index]));
    encoder.copyBufferToBuffer(from, copy.from_offset, to, copy.to_offset, copy.size);
  }
  encoder.finish();
}

/** A whole pipeline: some faults of a shader show only there. */
function compile(device, code) {
  const module = device.createShaderModule({ code });
  device.createComputePipeline({ layout: "auto", compute: { module, entryPoint: "main" } });
}

/** The browser's message to what `work` does, or null. */
async function verdict(device, work) {
  device.pushErrorScope("out-of-memory");
  device.pushErrorScope("validation");
  let thrown = null;
  try {
    work();
  } catch (error) {
    thrown = String(error);
  }
  const [refused, memory] = [await device.popErrorScope(), await device.popErrorScope()];
  if (memory) throw new Error(`out of memory: ${memory.message}`);
  return thrown ?? refused?.message ?? null;
}

/** The adapter, which serves one device only. */
async function adapterOrError() {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) throw new Error("this browser offers no WebGPU adapter");
  return adapter;
}

function recordLaunch(device, encoder, buffers, { code, bindings, params, workgroups }) {
  const described = bindings.map(({ binding, access, buffer, offset, size }) => (
    { binding, access, resource: { buffer: buffers[buffer], offset, size } }));
  if (params.length) {
    const usage = GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST;
    const buffer = device.createBuffer({ size: params.length * 4, usage });
    device.queue.writeBuffer(buffer, 0, new Uint32Array(params));
    described.push({ binding: 0, access: "uniform", resource: { buffer } });
  }
  const layout = device.createBindGroupLayout({
    entries: described.map(({ binding, access }) => (
      { binding, visibility: GPUShaderStage.COMPUTE, buffer: { type: ACCESS[access] } })),
  });
  const pipeline = device.createComputePipeline({
    layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
    compute: { module: device.createShaderModule({ code }), entryPoint: "main" },
  });
  const entries = described.map(({ binding, resource }) => ({ binding, resource }));
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, device.createBindGroup({ layout, entries }));
  pass.dispatchWorkgroups(...workgroups);
  pass.end();
}

/** Runs kernels on a device of their own and posts one buffer to `url`, where all were accepted. */
async function run({ limits, contents, launches, target, url }) {
  const device = await (await adapterOrError()).requestDevice({ requiredLimits: limits });
  const { STORAGE, COPY_SRC, COPY_DST, MAP_READ } = GPUBufferUsage;
  const { size } = contents[target];
  let buffers, back, commands;
  const refused = await verdict(device, () => {
    buffers = contents.map(({ size }) => (
      device.createBuffer({ size, usage: STORAGE | COPY_SRC | COPY_DST })));
    back = device.createBuffer({ size, usage: COPY_DST | MAP_READ });
    const encoder = device.createCommandEncoder();
    for (const launch of launches) recordLaunch(device, encoder, buffers, launch);
    encoder.copyBufferToBuffer(buffers[target], 0, back, 0, size);
    commands = encoder.finish();
  });
  if (!refused) {
    for (const [i, buffer] of buffers.entries()) {
      device.queue.writeBuffer(buffer, 0, await (await fetch(contents[i].url)).arrayBuffer());
    }
    device.queue.submit([commands]);
    await back.mapAsync(GPUMapMode.READ);
    await fetch(url, { method: "POST", body: back.getMappedRange().slice(0) });
  }
  device.destroy();
  return refused;
}

async function judge() {
  const adapter = await adapterOrError();
  const { vendor, architecture, device: name, description } = adapter.info;
  // No limit is asked for: what is lawful on every WebGPU device.
  const device = await adapter.requestDevice();
  const wanted = await (await fetch("dispatches.json")).json();
  const limits = Object.fromEntries(wanted.limits.map((key) => [key, device.limits[key]]));
  const module = device.createShaderModule({ code: "@compute @workgroup_size(1) fn main() {}" });
  const buffers = new Buffers(device);
  const verdicts = [];
  for (const one of wanted.cases) {
    verdicts.push(await verdict(device, () => record(device, module, buffers, one)));
  }
  const shaders = [];
  for (const code of wanted.shaders) shaders.push(await verdict(device, () => compile(device, code)));
  const runs = [];
  for (const one of wanted.runs) runs.push(await run(one));
  return { adapter: { vendor, architecture, device: name, description }, limits, verdicts, shaders, runs };
}

let answer;
try {
  answer = await judge();
} catch (error) {
  answer = { error: error.message ?? String(error) };
}
await fetch("result", { method: "POST", body: JSON.stringify(answer) });
document.getElementById("status").textContent = "Done.";

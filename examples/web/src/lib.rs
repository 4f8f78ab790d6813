//! sublet in a browser: what the page calls. Numbers and names go out as JSON, tensors as `Float32Array`.
//!
//! Every function that waits for the device is async; one call at a time, since WebGPU's error scopes are a
//! stack of the device and not of a caller.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod session;

use session::Session;
use sublet::exec::Layout;
use wasm_bindgen::prelude::*;

/// Sends panics to the console with their message, before the instance traps.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|info| report_panic(&info.to_string())));
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn report_panic(text: &str);
}

/// What the page offers: `{"networks": [names], "layouts": [keys]}`.
#[wasm_bindgen]
pub fn catalogue() -> String {
    let layouts: Vec<_> = Layout::ALL.iter().map(|l| l.key()).collect();
    serde_json::json!({ "networks": sublet::model::zoo::names(), "layouts": layouts }).to_string()
}

/// A WebGPU device.
#[wasm_bindgen]
pub struct Gpu {
    device: wgpu::Device,
    queue: wgpu::Queue,
}

#[wasm_bindgen]
impl Gpu {
    /// Opens the browser's adapter with all that it offers.
    ///
    /// # Errors
    /// The browser has no adapter, or does not open it; in words.
    pub async fn open() -> Result<Gpu, JsError> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let adapter = instance.request_adapter(&wgpu::RequestAdapterOptions::default()).await?;
        let (device, queue) = adapter.request_device(&sublet::device::descriptor(&adapter)).await?;
        Ok(Gpu { device, queue })
    }

    /// Limits that planning and binding respect, as JSON; sizes in bytes.
    pub fn limits(&self) -> String {
        let limits = sublet::device::DeviceLimits::new(&self.device.limits());
        serde_json::json!({
            "storage_alignment_bytes": limits.storage_alignment_bytes,
            "max_buffer_bytes": limits.max_buffer_bytes,
            "max_binding_bytes": limits.max_binding_bytes,
            "max_storage_bindings": limits.max_storage_bindings,
            "max_workgroups": limits.max_workgroups,
        })
        .to_string()
    }

    /// Lowers a built-in network and plans it.
    ///
    /// # Errors
    /// No network or layout of that name, or the planner or the device refuses; in words.
    pub async fn built_in(&self, name: &str, layout: &str) -> Result<Network, JsError> {
        let graph = sublet::model::zoo::build(name)
            .ok_or_else(|| JsError::new(&format!("no built-in network is called '{name}'")))?;
        self.prepare(graph, layout).await
    }

    /// Imports an ONNX model from its bytes and plans it.
    ///
    /// # Errors
    /// The model is not understood, or the planner or the device refuses; in words.
    pub async fn onnx(&self, name: &str, bytes: &[u8], layout: &str) -> Result<Network, JsError> {
        let options = sublet::model::onnx::ImportOptions::default();
        self.prepare(sublet::model::onnx::parse(bytes, name, &options)?, layout).await
    }

    async fn prepare(&self, graph: sublet::graph::Graph, layout: &str) -> Result<Network, JsError> {
        let layout: Layout = layout.parse().map_err(|e: String| JsError::new(&e))?;
        let session = Session::new(&self.device, &self.queue, graph, layout).await?;
        Ok(Network { session, outputs: Vec::new() })
    }
}

/// A network with its plan, its weights on the device.
#[wasm_bindgen]
pub struct Network {
    session: Session,
    outputs: Vec<Vec<f32>>,
}

#[wasm_bindgen]
impl Network {
    /// The plan in numbers, with the keys of `sublet plan --json`.
    ///
    /// # Errors
    /// None is expected: every number of a report is finite.
    pub fn report(&self) -> Result<String, JsError> {
        Ok(serde_json::to_string(self.session.report())?)
    }

    /// The plan as it is printed in a terminal.
    pub fn report_text(&self) -> String {
        self.session.report().to_string()
    }

    /// Where every tensor lies, as a page that needs nothing but itself: what `sublet draw -o map.html`
    /// writes.
    ///
    /// # Errors
    /// A schedule of more steps than a picture has.
    pub fn map(&self) -> Result<String, JsError> {
        Ok(sublet::draw::html::write(&[self.session.picture()?]))
    }

    /// Runs the network on the inputs of the library's fixed rule, and says what came out, as JSON:
    /// `{"outputs": [{"name", "shape"}], "arena_bytes", "weights_bytes", "dispatches", "compile_s",
    /// "run_s"}`. The elements are read with [`Network::output`].
    ///
    /// # Errors
    /// The device refuses; in words.
    pub async fn run(&mut self) -> Result<String, JsError> {
        let run = self.session.run().await?;
        self.outputs = run.outputs;
        Ok(run.summary.to_string())
    }

    /// Elements of an output of the last run, row-major; none where there is no such output.
    pub fn output(&self, index: usize) -> Vec<f32> {
        self.outputs.get(index).cloned().unwrap_or_default()
    }

    /// The proof of reuse, with the keys of `sublet audit --json`.
    ///
    /// # Errors
    /// The device refuses; in words. A check that fails is in the result.
    pub async fn audit(&self) -> Result<String, JsError> {
        Ok(self.session.audit().await?.to_string())
    }
}

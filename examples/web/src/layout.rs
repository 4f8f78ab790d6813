//! The layouts that the page offers: one row each, so that a new one of the library is one line here.

use sublet::plan::Planner;
use wasm_bindgen::JsError;

/// How tensors are spread over buffers.
pub struct Layout {
    /// Its key, as `sublet plan --layout` takes it.
    pub key: &'static str,
    /// The planner that makes such plans.
    pub planner: fn() -> Planner,
}

/// Every layout, the usual one first.
pub const LAYOUTS: &[Layout] = &[Layout { key: "shared", planner: Planner::auto }];

/// The layout of that key.
pub fn named(key: &str) -> Result<&'static Layout, JsError> {
    LAYOUTS.iter().find(|l| l.key == key).ok_or_else(|| JsError::new(&format!("no layout is called '{key}'")))
}

//! Windows of signal processing: their size is constant, so they are.

use std::f64::consts::PI;
use std::sync::Arc;

use crate::graph::DType;
use crate::model::onnx::site::{Fault, Site};
use crate::model::onnx::tensor::{Constant, MAX_CONSTANT_LEN, Tensor, checked_len};

/// HannWindow, HammingWindow, BlackmanWindow: sums of cosines.
pub(super) fn window(site: &mut Site) -> Result<(), Fault> {
    let size = match site.ints(0)?[..] {
        [size] => usize::try_from(size).map_err(|_| format!("size {size} is negative"))?,
        ref list => return Err(format!("size is {} integers, one is due", list.len()).into()),
    };
    checked_len(&[size], MAX_CONSTANT_LEN)?;
    let periodic = site.attributes().flag("periodic", true)?;
    let dtype = super::constant::named_dtype(site, "output_datatype")?.unwrap_or(DType::F32);
    if !dtype.is_float() {
        return Err(format!("output_datatype is {dtype}, floats are computed").into());
    }
    let terms: [f64; 3] = match site.op() {
        "HannWindow" => [0.5, -0.5, 0.0],
        // 25/46, as the operator states it.
        "HammingWindow" => [25.0 / 46.0, -21.0 / 46.0, 0.0],
        _ => [0.42, -0.5, 0.08],
    };
    let period = if periodic { size } else { size.saturating_sub(1).max(1) } as f64;
    let element = |n: usize| {
        let angle = 2.0 * PI * n as f64 / period;
        (terms[0] + terms[1] * angle.cos() + terms[2] * (2.0 * angle).cos()) as f32
    };
    let data = Constant::F32(Arc::new((0..size).map(element).collect()));
    site.set(0, Tensor::constant(dtype, vec![size], data));
    Ok(())
}

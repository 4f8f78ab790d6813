//! Folding of Pow, whose operands may differ in type; the result has the type of the base.

use std::sync::Arc;

use super::layout::spread;
use crate::model::onnx::shape;
use crate::model::onnx::tensor::{Constant, Tensor};

/// Pow.
///
/// # Errors
/// The shapes do not broadcast.
pub(in crate::model::onnx) fn power(base: Tensor, exponent: Tensor) -> Result<Tensor, String> {
    let out = shape::broadcast(&base.shape, &exponent.shape)?;
    let exponents: Vec<f64> = match &exponent.data {
        Some(Constant::F32(data)) => data.iter().map(|x| f64::from(*x)).collect(),
        Some(Constant::I64(data)) => data.iter().map(|x| *x as f64).collect(),
        None => return Err("its exponent is not constant".into()),
    };
    let exponents = spread(&exponents, &exponent.shape, &out)?;
    let data = match &base.data {
        Some(Constant::F32(data)) => {
            let data = spread(data, &base.shape, &out)?;
            Constant::F32(Arc::new(data.iter().zip(&exponents).map(|(x, e)| float(*x, *e)).collect()))
        }
        Some(Constant::I64(data)) => {
            let data = spread(data, &base.shape, &out)?;
            let ints = data.iter().zip(&exponents).map(|(x, e)| (*x as f64).powf(*e) as i64);
            Constant::I64(Arc::new(ints.collect()))
        }
        None => return Err("its base is not constant".into()),
    };
    Ok(Tensor::constant(base.dtype, out, data))
}

/// Squares and cubes are products, as runtimes compute them.
fn float(x: f32, exponent: f64) -> f32 {
    match exponent {
        2.0 => x * x,
        3.0 => x * x * x,
        _ => x.powf(exponent as f32),
    }
}

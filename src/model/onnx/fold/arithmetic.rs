//! Element-wise folding.

use std::sync::Arc;

use super::layout::spread;
use crate::graph::DType;
use crate::model::onnx::shape;
use crate::model::onnx::tensor::{Constant, MAX_CONSTANT_LEN, Tensor, checked_len, room};

/// Brings an integer into the range of its type, by wrapping as the processor does.
fn narrow(dtype: DType, x: i64) -> i64 {
    match dtype {
        DType::I32 => i64::from(x as i32),
        DType::I16 => i64::from(x as i16),
        DType::I8 => i64::from(x as i8),
        DType::U32 => i64::from(x as u32),
        DType::U16 => i64::from(x as u16),
        DType::U8 => i64::from(x as u8),
        DType::Bool => i64::from(x != 0),
        _ => x,
    }
}

/// A shape without its leading ones: two shapes equal in this sense hold their elements in the same places.
fn core(shape: &[usize]) -> &[usize] {
    &shape[shape.iter().take_while(|d| **d == 1).count()..]
}

/// One operand: data and shape.
type Operand<'a, T> = (Arc<Vec<T>>, &'a [usize]);

/// Applies `f` under broadcasting; reuses the bytes of an operand that has the output's shape.
fn zip<T: Copy>(
    (a, a_shape): Operand<T>,
    (b, b_shape): Operand<T>,
    f: impl Fn(T, T) -> T,
) -> Result<(Vec<usize>, Arc<Vec<T>>), String> {
    let out = shape::broadcast(a_shape, b_shape)?;
    checked_len(&out, MAX_CONSTANT_LEN)?;
    if core(a_shape) == core(&out) {
        let mut data = Arc::unwrap_or_clone(a);
        match b.as_slice() {
            [y] => data.iter_mut().for_each(|x| *x = f(*x, *y)),
            _ if core(b_shape) == core(&out) => {
                data.iter_mut().zip(b.iter()).for_each(|(x, y)| *x = f(*x, *y))
            }
            _ => data.iter_mut().zip(spread(&b, b_shape, &out)?).for_each(|(x, y)| *x = f(*x, y)),
        }
        return Ok((out, Arc::new(data)));
    }
    let mut data = spread(&b, b_shape, &out)?;
    match a.as_slice() {
        [x] => data.iter_mut().for_each(|y| *y = f(*x, *y)),
        _ => data.iter_mut().zip(spread(&a, a_shape, &out)?).for_each(|(y, x)| *y = f(x, *y)),
    }
    Ok((out, Arc::new(data)))
}

/// The data of two constants of one kind.
enum Pair {
    Floats(Arc<Vec<f32>>, Arc<Vec<f32>>),
    Ints(Arc<Vec<i64>>, Arc<Vec<i64>>),
}

fn pair(a: &mut Tensor, b: &mut Tensor) -> Result<Pair, String> {
    match (a.data.take(), b.data.take()) {
        (Some(Constant::F32(x)), Some(Constant::F32(y))) => Ok(Pair::Floats(x, y)),
        (Some(Constant::I64(x)), Some(Constant::I64(y))) => Ok(Pair::Ints(x, y)),
        _ => Err(format!("its inputs are {} and {}", a.dtype, b.dtype)),
    }
}

/// What [`binary`] has for integers, and for floats.
pub(in crate::model::onnx) fn is_binary(op: &str, floats: bool) -> bool {
    match op {
        "Add" | "Sub" | "Mul" | "Div" => true,
        "And" | "Or" | "Min" | "Max" => !floats,
        _ => false,
    }
}

/// Add, Sub, Mul, Div; Min, Max, And, Or of integers alone. Of floats as the twin computes them.
///
/// # Errors
/// The operands are not of one kind, do not broadcast, or an integer is divided by 0.
pub(in crate::model::onnx) fn binary(op: &str, mut a: Tensor, mut b: Tensor) -> Result<Tensor, String> {
    let dtype = a.dtype;
    let operands = pair(&mut a, &mut b)?;
    let (out, data) = match operands {
        Pair::Floats(x, y) => {
            let (out, data) = match op {
                "Add" => zip((x, &a.shape), (y, &b.shape), |x, y| x + y)?,
                "Sub" => zip((x, &a.shape), (y, &b.shape), |x, y| x - y)?,
                "Mul" => zip((x, &a.shape), (y, &b.shape), |x, y| x * y)?,
                "Div" => zip((x, &a.shape), (y, &b.shape), |x, y| x / y)?,
                _ => return Err(format!("{op} of {dtype} is not folded")),
            };
            (out, Constant::F32(data))
        }
        Pair::Ints(x, y) => {
            if op == "Div" && y.contains(&0) {
                return Err("an integer is divided by 0".into());
            }
            let f: fn(i64, i64) -> i64 = match op {
                "Add" => i64::wrapping_add,
                "Sub" => i64::wrapping_sub,
                "Mul" => i64::wrapping_mul,
                "Div" => i64::wrapping_div,
                "Min" => |x, y| x.min(y),
                "Max" => |x, y| x.max(y),
                "And" => |x, y| x & y,
                "Or" => |x, y| x | y,
                _ => return Err(format!("{op} of {dtype} is not defined")),
            };
            let (out, data) = match op {
                "Add" if dtype == DType::I64 => zip((x, &a.shape), (y, &b.shape), i64::wrapping_add)?,
                "Mul" if dtype == DType::I64 => zip((x, &a.shape), (y, &b.shape), i64::wrapping_mul)?,
                _ => zip((x, &a.shape), (y, &b.shape), |x, y| narrow(dtype, f(x, y)))?,
            };
            (out, Constant::I64(data))
        }
    };
    Ok(Tensor::constant(dtype, out, data))
}

/// Mod; with `fmod` the sign follows the dividend as in C, else the divisor.
///
/// # Errors
/// As [`binary`]; `fmod` is required for floats.
pub(in crate::model::onnx) fn modulo(mut a: Tensor, mut b: Tensor, fmod: bool) -> Result<Tensor, String> {
    let dtype = a.dtype;
    let (out, data) = match pair(&mut a, &mut b)? {
        Pair::Floats(..) => return Err(format!("Mod of {dtype} is not folded")),
        Pair::Ints(_, y) if y.contains(&0) => return Err("an integer is divided by 0".into()),
        Pair::Ints(x, y) if fmod => {
            let (out, data) = zip((x, &a.shape), (y, &b.shape), i64::wrapping_rem)?;
            (out, Constant::I64(data))
        }
        Pair::Ints(x, y) => {
            // The sign follows the divisor.
            let floor = |x: i64, y: i64| {
                let r = x.wrapping_rem(y);
                if r != 0 && (r < 0) != (y < 0) { r + y } else { r }
            };
            let (out, data) = zip((x, &a.shape), (y, &b.shape), floor)?;
            (out, Constant::I64(data))
        }
    };
    Ok(Tensor::constant(dtype, out, data))
}

/// Equal, Less, Greater, LessOrEqual, GreaterOrEqual.
///
/// # Errors
/// The operands are not of one kind or do not broadcast.
pub(in crate::model::onnx) fn compare(op: &str, mut a: Tensor, mut b: Tensor) -> Result<Tensor, String> {
    fn all<T: PartialOrd + Copy>(op: &str, x: &[T], y: &[T]) -> Vec<i64> {
        let test = |x: &T, y: &T| match op {
            "Equal" => x == y,
            "Less" => x < y,
            "Greater" => x > y,
            "LessOrEqual" => x <= y,
            _ => x >= y,
        };
        x.iter().zip(y).map(|(x, y)| i64::from(test(x, y))).collect()
    }
    let out = shape::broadcast(&a.shape, &b.shape)?;
    let data = match pair(&mut a, &mut b)? {
        Pair::Floats(x, y) => all(op, &spread(&x, &a.shape, &out)?, &spread(&y, &b.shape, &out)?),
        Pair::Ints(x, y) => all(op, &spread(&x, &a.shape, &out)?, &spread(&y, &b.shape, &out)?),
    };
    Ok(Tensor::constant(DType::Bool, out, Constant::I64(Arc::new(data))))
}

/// Where.
///
/// # Errors
/// The branches are not of one kind, or the shapes do not broadcast.
pub(in crate::model::onnx) fn select(
    condition: &Tensor,
    mut a: Tensor,
    mut b: Tensor,
) -> Result<Tensor, String> {
    fn pick<T: Copy>(c: &[i64], x: &[T], y: &[T]) -> Arc<Vec<T>> {
        Arc::new(c.iter().zip(x.iter().zip(y)).map(|(c, (x, y))| if *c != 0 { *x } else { *y }).collect())
    }
    let flags = condition.i64_data().ok_or("the condition is not bool")?;
    let out = shape::broadcast(&shape::broadcast(&a.shape, &b.shape)?, &condition.shape)?;
    let c = spread(flags, &condition.shape, &out)?;
    let dtype = a.dtype;
    let data = match pair(&mut a, &mut b)? {
        Pair::Floats(x, y) => {
            Constant::F32(pick(&c, &spread(&x, &a.shape, &out)?, &spread(&y, &b.shape, &out)?))
        }
        Pair::Ints(x, y) => {
            Constant::I64(pick(&c, &spread(&x, &a.shape, &out)?, &spread(&y, &b.shape, &out)?))
        }
    };
    Ok(Tensor::constant(dtype, out, data))
}

/// Neg, Abs, Not of integers.
///
/// # Errors
/// The function is not defined for the element type.
pub(in crate::model::onnx) fn unary(op: &str, x: Tensor) -> Result<Tensor, String> {
    let dtype = x.dtype;
    let Some(Constant::I64(data)) = x.data else { return Err(format!("{op} of {dtype} is not folded")) };
    let f: fn(i64) -> i64 = match op {
        "Neg" => i64::wrapping_neg,
        "Abs" => i64::wrapping_abs,
        "Not" => |x| i64::from(x == 0),
        _ => return Err(format!("{op} of {dtype} is not defined")),
    };
    let mut data = Arc::unwrap_or_clone(data);
    data.iter_mut().for_each(|x| *x = narrow(dtype, f(*x)));
    Ok(Tensor::constant(dtype, x.shape, Constant::I64(Arc::new(data))))
}

/// Cast. Floats of all types are held as float32; a value for those of 16 bits is rounded to what they hold.
///
/// # Errors
/// There is no memory for the result.
pub(in crate::model::onnx) fn cast(x: Tensor, to: DType) -> Result<Tensor, String> {
    let to_float = to.is_float();
    let round = |x: f32| match to {
        DType::F16 => half::f16::from_f32(x).to_f32(),
        DType::BF16 => half::bf16::from_f32(x).to_f32(),
        _ => x,
    };
    let rounded = to == x.dtype || matches!(to, DType::F32 | DType::F64);
    let data = match x.data {
        Some(Constant::F32(data)) if to_float && rounded => Constant::F32(data),
        Some(Constant::F32(data)) if to_float => {
            Constant::F32(Arc::new(data.iter().map(|x| round(*x)).collect()))
        }
        Some(Constant::F32(data)) if to == DType::Bool => {
            Constant::I64(Arc::new(data.iter().map(|x| i64::from(*x != 0.0)).collect()))
        }
        Some(Constant::F32(data)) => {
            Constant::I64(Arc::new(data.iter().map(|x| narrow(to, *x as i64)).collect()))
        }
        Some(Constant::I64(data)) if to_float => {
            let mut floats = room(data.len())?;
            floats.extend(data.iter().map(|x| round(*x as f32)));
            Constant::F32(Arc::new(floats))
        }
        Some(Constant::I64(data)) => {
            let mut data = Arc::unwrap_or_clone(data);
            data.iter_mut().for_each(|x| *x = narrow(to, *x));
            Constant::I64(Arc::new(data))
        }
        None => return Err("its input is not constant".into()),
    };
    Ok(Tensor::constant(to, x.shape, data))
}

/// Range: `start`, `start + delta`, .. before `limit`.
///
/// # Errors
/// `delta` is 0, or there are too many elements.
pub(in crate::model::onnx) fn range(
    start: &Tensor,
    limit: &Tensor,
    delta: &Tensor,
) -> Result<Tensor, String> {
    if let (Some([first]), Some([limit]), Some([delta])) =
        (start.i64_data(), limit.i64_data(), delta.i64_data())
    {
        if *delta == 0 {
            return Err("delta is 0".into());
        }
        let span = i128::from(*limit) - i128::from(*first);
        let len = ceil_div(span, i128::from(*delta)).max(0);
        if len > MAX_CONSTANT_LEN as i128 {
            return Err(format!("{first}..{limit} by {delta} has more than {MAX_CONSTANT_LEN} elements"));
        }
        let len = len as usize;
        let mut data = room(len)?;
        data.extend((0..len as i64).map(|i| first.wrapping_add(i.wrapping_mul(*delta))));
        return Ok(Tensor::constant(start.dtype, vec![len], Constant::I64(Arc::new(data))));
    }
    match (start.f32_data(), limit.f32_data(), delta.f32_data()) {
        (Some([start]), Some([limit]), Some([delta])) => {
            let len = ((f64::from(*limit) - f64::from(*start)) / f64::from(*delta)).ceil().max(0.0);
            if *delta == 0.0 || len > MAX_CONSTANT_LEN as f64 {
                return Err(format!("{start}..{limit} by {delta} has more than {MAX_CONSTANT_LEN} elements"));
            }
            let mut data = room(len as usize)?;
            let mut x = *start;
            for _ in 0..len as usize {
                data.push(x);
                x += delta;
            }
            Ok(Tensor::floats(vec![data.len()], data))
        }
        _ => Err("start, limit and delta must be one constant number each, of one type".into()),
    }
}

fn ceil_div(a: i128, b: i128) -> i128 {
    let q = a / b;
    if a % b != 0 && (a < 0) == (b < 0) { q + 1 } else { q }
}

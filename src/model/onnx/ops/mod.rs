//! The operators, by family: each handler folds, or appends a node with its shape known and attributes
//! resolved.

mod constant;
mod elementwise;
mod layout;
mod linear;
mod norm;
mod resize;
mod transposed;
mod window;

use super::site::{Fault, Site};

/// Imports one node.
pub(super) type Handler = fn(&mut Site) -> Result<(), Fault>;

/// Operator types of the standard domain with their handlers. The names are listed once, here.
const HANDLERS: &[(&str, Handler)] = &[
    ("Abs", elementwise::fold_unary),
    ("Add", elementwise::binary),
    ("And", elementwise::fold_binary),
    ("AveragePool", window::average_pool),
    ("BatchNormalization", norm::batch_normalization),
    ("Cast", constant::cast),
    ("Ceil", elementwise::fold_unary),
    ("Clip", elementwise::clip),
    ("Concat", layout::concat),
    ("Constant", constant::constant),
    ("ConstantOfShape", constant::constant_of_shape),
    ("Conv", window::conv),
    ("ConvTranspose", transposed::conv_transpose),
    ("Div", elementwise::binary),
    ("Dropout", layout::dropout),
    ("Equal", elementwise::fold_compare),
    ("Exp", elementwise::unary),
    ("Expand", layout::expand),
    ("Flatten", layout::flatten),
    ("Floor", elementwise::fold_unary),
    ("Gather", layout::gather),
    ("Gemm", linear::gemm),
    ("GlobalAveragePool", norm::global_average_pool),
    ("Greater", elementwise::fold_compare),
    ("GreaterOrEqual", elementwise::fold_compare),
    ("HardSigmoid", elementwise::unary),
    ("HardSwish", elementwise::unary),
    ("Identity", layout::identity),
    ("LRN", norm::lrn),
    ("LeakyRelu", elementwise::unary),
    ("Less", elementwise::fold_compare),
    ("LessOrEqual", elementwise::fold_compare),
    ("MatMul", linear::matmul),
    ("Max", elementwise::fold_binary),
    ("MaxPool", window::max_pool),
    ("Min", elementwise::fold_binary),
    ("Mod", elementwise::modulo),
    ("Mul", elementwise::binary),
    ("Neg", elementwise::unary),
    ("Not", elementwise::fold_unary),
    ("Or", elementwise::fold_binary),
    ("PRelu", elementwise::prelu),
    ("Pad", layout::pad),
    ("Pow", elementwise::pow),
    ("Range", constant::range),
    ("Reciprocal", elementwise::unary),
    ("ReduceMean", norm::reduce_mean),
    ("ReduceProd", constant::reduce_prod),
    ("Relu", elementwise::unary),
    ("Reshape", layout::reshape),
    ("Resize", resize::resize),
    ("Shape", constant::shape),
    ("Sigmoid", elementwise::unary),
    ("Size", constant::size),
    ("Slice", layout::slice),
    ("Softmax", norm::softmax),
    ("Split", layout::split),
    ("Sqrt", elementwise::unary),
    ("Squeeze", layout::squeeze),
    ("Sub", elementwise::binary),
    ("Sum", elementwise::sum),
    ("Tanh", elementwise::unary),
    ("Transpose", layout::transpose),
    ("Unsqueeze", layout::unsqueeze),
    ("Upsample", resize::upsample),
    ("Where", elementwise::fold_where),
];

/// The handler of an operator type.
pub(super) fn handler(op: &str) -> Option<Handler> {
    HANDLERS.iter().find(|(name, _)| *name == op).map(|(_, handler)| *handler)
}

/// Operators that sublet computes at import only.
fn must_fold(site: &Site) -> Result<(), Fault> {
    match site.all_constant() {
        true => Ok(()),
        false => {
            Err(format!("{} is computed at import only, and an input is not constant", site.op()).into())
        }
    }
}

//! The operators, by family: each handler folds, or appends a node with its shape known and attributes
//! resolved.

mod blocks;
mod branch;
mod cells;
mod compose;
mod constant;
mod einsum;
mod elementwise;
mod index;
mod layout;
mod linear;
mod norm;
mod quantize;
mod recurrent;
mod reduce;
mod resize;
mod rows;
mod transposed;
mod unique;
mod window;
mod windows;

use super::site::{Fault, Site};

/// Imports one node.
pub(super) type Handler = fn(&mut Site) -> Result<(), Fault>;

/// Operator types of the standard domain with their handlers. The names are listed once, here.
const HANDLERS: &[(&str, Handler)] = &[
    ("Abs", elementwise::unary),
    ("Acos", elementwise::unary),
    ("Acosh", elementwise::unary),
    ("Add", elementwise::binary),
    ("And", elementwise::binary),
    ("ArgMax", rows::arg_extreme),
    ("ArgMin", rows::arg_extreme),
    ("Asin", elementwise::unary),
    ("Asinh", elementwise::unary),
    ("Atan", elementwise::unary),
    ("Atanh", elementwise::unary),
    ("AveragePool", window::average_pool),
    ("BatchNormalization", norm::batch_normalization),
    ("BitShift", elementwise::binary),
    ("BitwiseAnd", elementwise::binary),
    ("BitwiseNot", elementwise::unary),
    ("BitwiseOr", elementwise::binary),
    ("BitwiseXor", elementwise::binary),
    ("BlackmanWindow", windows::window),
    ("Cast", constant::cast),
    ("CastLike", constant::cast),
    ("Ceil", elementwise::unary),
    ("Celu", elementwise::unary),
    ("CenterCropPad", blocks::center_crop_pad),
    ("Clip", elementwise::clip),
    ("Compress", index::compress),
    ("Concat", layout::concat),
    ("Constant", constant::constant),
    ("ConstantOfShape", constant::constant_of_shape),
    ("Conv", window::conv),
    ("ConvTranspose", transposed::conv_transpose),
    ("Cos", elementwise::unary),
    ("Cosh", elementwise::unary),
    ("CumSum", rows::cum_sum),
    ("DepthToSpace", blocks::depth_to_space),
    ("DequantizeLinear", quantize::dequantize),
    ("Div", elementwise::binary),
    ("Dropout", layout::dropout),
    ("Einsum", einsum::einsum),
    ("Elu", elementwise::unary),
    ("Equal", elementwise::compare),
    ("Erf", elementwise::unary),
    ("Exp", elementwise::unary),
    ("Expand", layout::expand),
    ("EyeLike", constant::eye_like),
    ("Flatten", layout::flatten),
    ("Floor", elementwise::unary),
    ("GRU", cells::gru),
    ("Gather", index::gather),
    ("GatherElements", index::gather_elements),
    ("GatherND", index::gather_nd),
    ("Gelu", elementwise::unary),
    ("Gemm", linear::gemm),
    ("GlobalAveragePool", reduce::global_average_pool),
    ("GlobalLpPool", reduce::global_lp_pool),
    ("GlobalMaxPool", reduce::global_max_pool),
    ("Greater", elementwise::compare),
    ("GreaterOrEqual", elementwise::compare),
    ("GroupNormalization", norm::group_normalization),
    ("HammingWindow", windows::window),
    ("HannWindow", windows::window),
    ("HardSigmoid", elementwise::unary),
    ("HardSwish", elementwise::unary),
    ("Hardmax", norm::softmax),
    ("Identity", layout::identity),
    ("If", branch::choose_branch),
    ("InstanceNormalization", norm::instance_normalization),
    ("IsInf", elementwise::unary),
    ("IsNaN", elementwise::unary),
    ("LRN", norm::lrn),
    ("LSTM", cells::lstm),
    ("LayerNormalization", norm::layer_normalization),
    ("LeakyRelu", elementwise::unary),
    ("Less", elementwise::compare),
    ("LessOrEqual", elementwise::compare),
    ("Log", elementwise::unary),
    ("LogSoftmax", norm::softmax),
    ("LpNormalization", norm::lp_normalization),
    ("LpPool", window::lp_pool),
    ("MatMul", linear::matmul),
    ("Max", elementwise::extreme),
    ("MaxPool", window::max_pool),
    ("Mean", elementwise::sum),
    ("MeanVarianceNormalization", norm::mean_variance_normalization),
    ("Min", elementwise::extreme),
    ("Mish", elementwise::unary),
    ("Mod", elementwise::modulo),
    ("Loop", branch::unroll),
    ("Mul", elementwise::binary),
    ("Neg", elementwise::unary),
    ("NonZero", index::non_zero),
    ("Not", elementwise::unary),
    ("OneHot", index::one_hot),
    ("Or", elementwise::binary),
    ("PRelu", elementwise::prelu),
    ("Pad", layout::pad),
    ("Pow", elementwise::pow),
    ("QuantizeLinear", quantize::quantize),
    ("RMSNormalization", norm::layer_normalization),
    ("RNN", cells::rnn),
    ("Range", constant::range),
    ("Reciprocal", elementwise::unary),
    ("ReduceL1", reduce::reduce),
    ("ReduceL2", reduce::reduce),
    ("ReduceLogSum", reduce::reduce),
    ("ReduceLogSumExp", reduce::reduce),
    ("ReduceMax", reduce::reduce),
    ("ReduceMean", reduce::reduce),
    ("ReduceMin", reduce::reduce),
    ("ReduceProd", reduce::reduce),
    ("ReduceSum", reduce::reduce),
    ("ReduceSumSquare", reduce::reduce),
    ("Relu", elementwise::unary),
    ("Reshape", layout::reshape),
    ("Resize", resize::resize),
    ("ReverseSequence", rows::reverse_sequence),
    ("Round", elementwise::unary),
    ("Scatter", index::scatter_elements),
    ("ScatterElements", index::scatter_elements),
    ("ScatterND", index::scatter_nd),
    ("Selu", elementwise::unary),
    ("Shape", constant::shape),
    ("Shrink", elementwise::unary),
    ("Sigmoid", elementwise::unary),
    ("Sign", elementwise::unary),
    ("Sin", elementwise::unary),
    ("Sinh", elementwise::unary),
    ("Size", constant::size),
    ("Slice", layout::slice),
    ("Softmax", norm::softmax),
    ("Softplus", elementwise::unary),
    ("Softsign", elementwise::unary),
    ("SpaceToDepth", blocks::space_to_depth),
    ("Split", layout::split),
    ("Sqrt", elementwise::unary),
    ("Squeeze", layout::squeeze),
    ("Sub", elementwise::binary),
    ("Sum", elementwise::sum),
    ("Tan", elementwise::unary),
    ("Tanh", elementwise::unary),
    ("ThresholdedRelu", elementwise::unary),
    ("Tile", blocks::tile),
    ("TopK", rows::top_k),
    ("Transpose", layout::transpose),
    ("Trilu", rows::trilu),
    ("Unique", unique::unique),
    ("Unsqueeze", layout::unsqueeze),
    ("Upsample", resize::upsample),
    ("Where", elementwise::choose),
    ("Xor", elementwise::binary),
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

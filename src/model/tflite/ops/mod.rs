//! The operators, by family: each handler folds, changes what the stored order of a tensor means, or appends
//! a node with its shape known and attributes resolved.

mod blocks;
mod constant;
mod elementwise;
mod linear;
mod moves;
mod parts;
mod reduce;
mod resize;
mod window;

use super::site::Site;
use crate::model::fault::Fault;

/// Imports one operator.
pub(super) type Handler = fn(&mut Site) -> Result<(), Fault>;

/// Built-in operators with their handlers. The names are listed once, here.
const HANDLERS: &[(&str, Handler)] = &[
    ("ABS", elementwise::unary),
    ("ADD", elementwise::binary),
    ("ADD_N", elementwise::add_n),
    ("ARG_MAX", reduce::arg_extreme),
    ("ARG_MIN", reduce::arg_extreme),
    ("AVERAGE_POOL_2D", window::average_pool_2d),
    ("BATCH_MATMUL", linear::batch_matmul),
    ("BATCH_TO_SPACE_ND", blocks::batch_to_space_nd),
    ("BROADCAST_TO", constant::broadcast_to),
    ("CAST", constant::cast),
    ("CEIL", elementwise::unary),
    ("CONCATENATION", parts::concatenation),
    ("CONV_2D", window::conv_2d),
    ("COS", elementwise::unary),
    ("CUMSUM", reduce::cumsum),
    ("DENSIFY", constant::dequantize),
    ("DEPTHWISE_CONV_2D", window::depthwise_conv_2d),
    ("DEPTH_TO_SPACE", blocks::depth_to_space),
    ("DEQUANTIZE", constant::dequantize),
    ("DIV", elementwise::binary),
    ("ELU", elementwise::unary),
    ("EMBEDDING_LOOKUP", parts::embedding_lookup),
    ("EQUAL", elementwise::compare),
    ("EXP", elementwise::unary),
    ("EXPAND_DIMS", moves::expand_dims),
    ("FILL", constant::fill),
    ("FLOOR", elementwise::unary),
    ("FLOOR_DIV", elementwise::floor_div),
    ("FLOOR_MOD", elementwise::floor_mod),
    ("FULLY_CONNECTED", linear::fully_connected),
    ("GATHER", parts::gather),
    ("GELU", elementwise::unary),
    ("GREATER", elementwise::compare),
    ("GREATER_EQUAL", elementwise::compare),
    ("HARD_SWISH", elementwise::unary),
    ("L2_NORMALIZATION", reduce::l2_normalization),
    ("LEAKY_RELU", elementwise::unary),
    ("LESS", elementwise::compare),
    ("LESS_EQUAL", elementwise::compare),
    ("LOCAL_RESPONSE_NORMALIZATION", reduce::local_response_normalization),
    ("LOG", elementwise::unary),
    ("LOGICAL_AND", elementwise::logical),
    ("LOGICAL_NOT", elementwise::unary),
    ("LOGICAL_OR", elementwise::logical),
    ("LOGISTIC", elementwise::unary),
    ("LOG_SOFTMAX", reduce::log_softmax),
    ("MAXIMUM", elementwise::extreme),
    ("MAX_POOL_2D", window::max_pool_2d),
    ("MEAN", reduce::reduce),
    ("MINIMUM", elementwise::extreme),
    ("MIRROR_PAD", moves::mirror_pad),
    ("MUL", elementwise::binary),
    ("NEG", elementwise::unary),
    ("NOT_EQUAL", elementwise::compare),
    ("PACK", parts::pack),
    ("PAD", moves::pad),
    ("PADV2", moves::pad),
    ("POW", elementwise::binary),
    ("PRELU", elementwise::prelu),
    ("RANGE", constant::range),
    ("RANK", constant::rank),
    ("REDUCE_ALL", reduce::reduce),
    ("REDUCE_ANY", reduce::reduce),
    ("REDUCE_MAX", reduce::reduce),
    ("REDUCE_MIN", reduce::reduce),
    ("REDUCE_PROD", reduce::reduce),
    ("RELU", elementwise::unary),
    ("RELU6", elementwise::unary),
    ("RELU_0_TO_1", elementwise::unary),
    ("RELU_N1_TO_1", elementwise::unary),
    ("RESHAPE", moves::reshape),
    ("RESIZE_BILINEAR", resize::bilinear),
    ("RESIZE_NEAREST_NEIGHBOR", resize::nearest_neighbor),
    ("REVERSE_V2", parts::reverse),
    ("ROUND", elementwise::unary),
    ("RSQRT", elementwise::rsqrt),
    ("SELECT", elementwise::select),
    ("SELECT_V2", elementwise::select),
    ("SHAPE", constant::shape),
    ("SIGN", elementwise::unary),
    ("SIN", elementwise::unary),
    ("SLICE", parts::slice),
    ("SOFTMAX", reduce::softmax),
    ("SPACE_TO_BATCH_ND", blocks::space_to_batch_nd),
    ("SPACE_TO_DEPTH", blocks::space_to_depth),
    ("SPLIT", parts::split),
    ("SPLIT_V", parts::split_v),
    ("SQRT", elementwise::unary),
    ("SQUARE", elementwise::square),
    ("SQUARED_DIFFERENCE", elementwise::squared_difference),
    ("SQUEEZE", moves::squeeze),
    ("STRIDED_SLICE", parts::strided_slice),
    ("SUB", elementwise::binary),
    ("SUM", reduce::reduce),
    ("TANH", elementwise::unary),
    ("TILE", constant::tile),
    ("TOPK_V2", reduce::top_k),
    ("TRANSPOSE", moves::transpose),
    ("TRANSPOSE_CONV", window::transpose_conv),
    ("UNPACK", parts::unpack),
    ("ZEROS_LIKE", constant::zeros_like),
];

/// The handler of a built-in operator.
pub(super) fn handler(op: &str) -> Option<Handler> {
    HANDLERS.iter().find(|(name, _)| *name == op).map(|(_, handler)| *handler)
}

//! The part of the TFLite schema that is read: field numbers of tables, numbers of enumerations.

/// The identifier of the file.
pub(super) const IDENTIFIER: [u8; 4] = *b"TFL3";

/// Fields of a model.
pub(super) mod model {
    pub(in crate::model::tflite) const OPERATOR_CODES: usize = 1;
    pub(in crate::model::tflite) const SUBGRAPHS: usize = 2;
    pub(in crate::model::tflite) const BUFFERS: usize = 4;
}

/// Fields of an operator code.
pub(super) mod operator_code {
    pub(in crate::model::tflite) const DEPRECATED_BUILTIN_CODE: usize = 0;
    pub(in crate::model::tflite) const CUSTOM_CODE: usize = 1;
    pub(in crate::model::tflite) const VERSION: usize = 2;
    pub(in crate::model::tflite) const BUILTIN_CODE: usize = 3;
}

/// Fields of a subgraph.
pub(super) mod subgraph {
    pub(in crate::model::tflite) const TENSORS: usize = 0;
    pub(in crate::model::tflite) const INPUTS: usize = 1;
    pub(in crate::model::tflite) const OUTPUTS: usize = 2;
    pub(in crate::model::tflite) const OPERATORS: usize = 3;
}

/// Fields of a tensor.
pub(super) mod tensor {
    pub(in crate::model::tflite) const SHAPE: usize = 0;
    pub(in crate::model::tflite) const TYPE: usize = 1;
    pub(in crate::model::tflite) const BUFFER: usize = 2;
    pub(in crate::model::tflite) const NAME: usize = 3;
    pub(in crate::model::tflite) const QUANTIZATION: usize = 4;
    pub(in crate::model::tflite) const IS_VARIABLE: usize = 5;
    pub(in crate::model::tflite) const SPARSITY: usize = 6;
    pub(in crate::model::tflite) const SHAPE_SIGNATURE: usize = 7;
}

/// Fields of a buffer.
pub(super) mod buffer {
    pub(in crate::model::tflite) const DATA: usize = 0;
    pub(in crate::model::tflite) const OFFSET: usize = 1;
    pub(in crate::model::tflite) const SIZE: usize = 2;
}

/// Fields of an operator.
pub(super) mod operator {
    pub(in crate::model::tflite) const OPCODE_INDEX: usize = 0;
    pub(in crate::model::tflite) const INPUTS: usize = 1;
    pub(in crate::model::tflite) const OUTPUTS: usize = 2;
    pub(in crate::model::tflite) const BUILTIN_OPTIONS: usize = 4;
}

/// Fields of quantisation parameters.
pub(super) mod quantization {
    pub(in crate::model::tflite) const SCALE: usize = 2;
    pub(in crate::model::tflite) const ZERO_POINT: usize = 3;
    pub(in crate::model::tflite) const DIMENSION: usize = 6;
}

/// Fields of sparsity parameters and of the dimensions in them.
pub(super) mod sparsity {
    pub(in crate::model::tflite) const TRAVERSAL_ORDER: usize = 0;
    pub(in crate::model::tflite) const BLOCK_MAP: usize = 1;
    pub(in crate::model::tflite) const DIM_METADATA: usize = 2;
    pub(in crate::model::tflite) const FORMAT: usize = 0;
    pub(in crate::model::tflite) const DENSE_SIZE: usize = 1;
    pub(in crate::model::tflite) const SEGMENTS_TYPE: usize = 2;
    pub(in crate::model::tflite) const SEGMENTS: usize = 3;
    pub(in crate::model::tflite) const INDICES_TYPE: usize = 4;
    pub(in crate::model::tflite) const INDICES: usize = 5;
}

/// Element types by number.
const TYPES: &[&str] = &[
    "float32",
    "float16",
    "int32",
    "uint8",
    "int64",
    "string",
    "bool",
    "int16",
    "complex64",
    "int8",
    "float64",
    "complex128",
    "uint64",
    "resource",
    "variant",
    "uint32",
    "uint16",
    "int4",
    "bfloat16",
];

/// Name of an element type.
pub(super) fn type_name(number: i8) -> String {
    let name = usize::try_from(number).ok().and_then(|n| TYPES.get(n));
    name.map_or_else(|| format!("type {number}"), ToString::to_string)
}

/// Built-in operators by number.
const OPERATORS: &str = "\
    ADD AVERAGE_POOL_2D CONCATENATION CONV_2D DEPTHWISE_CONV_2D DEPTH_TO_SPACE DEQUANTIZE EMBEDDING_LOOKUP \
    FLOOR FULLY_CONNECTED HASHTABLE_LOOKUP L2_NORMALIZATION L2_POOL_2D LOCAL_RESPONSE_NORMALIZATION \
    LOGISTIC LSH_PROJECTION LSTM MAX_POOL_2D MUL RELU RELU_N1_TO_1 RELU6 RESHAPE RESIZE_BILINEAR RNN \
    SOFTMAX SPACE_TO_DEPTH SVDF TANH CONCAT_EMBEDDINGS SKIP_GRAM CALL CUSTOM EMBEDDING_LOOKUP_SPARSE PAD \
    UNIDIRECTIONAL_SEQUENCE_RNN GATHER BATCH_TO_SPACE_ND SPACE_TO_BATCH_ND TRANSPOSE MEAN SUB DIV SQUEEZE \
    UNIDIRECTIONAL_SEQUENCE_LSTM STRIDED_SLICE BIDIRECTIONAL_SEQUENCE_RNN EXP TOPK_V2 SPLIT LOG_SOFTMAX \
    DELEGATE BIDIRECTIONAL_SEQUENCE_LSTM CAST PRELU MAXIMUM ARG_MAX MINIMUM LESS NEG PADV2 GREATER \
    GREATER_EQUAL LESS_EQUAL SELECT SLICE SIN TRANSPOSE_CONV SPARSE_TO_DENSE TILE EXPAND_DIMS EQUAL \
    NOT_EQUAL LOG SUM SQRT RSQRT SHAPE POW ARG_MIN FAKE_QUANT REDUCE_PROD REDUCE_MAX PACK LOGICAL_OR \
    ONE_HOT LOGICAL_AND LOGICAL_NOT UNPACK REDUCE_MIN FLOOR_DIV REDUCE_ANY SQUARE ZEROS_LIKE FILL \
    FLOOR_MOD RANGE RESIZE_NEAREST_NEIGHBOR LEAKY_RELU SQUARED_DIFFERENCE MIRROR_PAD ABS SPLIT_V UNIQUE \
    CEIL REVERSE_V2 ADD_N GATHER_ND COS WHERE RANK ELU REVERSE_SEQUENCE MATRIX_DIAG QUANTIZE \
    MATRIX_SET_DIAG ROUND HARD_SWISH IF WHILE NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5 SCATTER_ND \
    SELECT_V2 DENSIFY SEGMENT_SUM BATCH_MATMUL PLACEHOLDER_FOR_GREATER_OP_CODES CUMSUM CALL_ONCE \
    BROADCAST_TO RFFT2D CONV_3D IMAG REAL COMPLEX_ABS HASHTABLE HASHTABLE_FIND HASHTABLE_IMPORT \
    HASHTABLE_SIZE REDUCE_ALL CONV_3D_TRANSPOSE VAR_HANDLE READ_VARIABLE ASSIGN_VARIABLE BROADCAST_ARGS \
    RANDOM_STANDARD_NORMAL BUCKETIZE RANDOM_UNIFORM MULTINOMIAL GELU DYNAMIC_UPDATE_SLICE RELU_0_TO_1 \
    UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_MAX UNSORTED_SEGMENT_SUM ATAN2 UNSORTED_SEGMENT_MIN SIGN \
    BITCAST BITWISE_XOR RIGHT_SHIFT STABLEHLO_LOGISTIC STABLEHLO_ADD STABLEHLO_DIVIDE STABLEHLO_MULTIPLY \
    STABLEHLO_MAXIMUM STABLEHLO_RESHAPE STABLEHLO_CLAMP STABLEHLO_CONCATENATE STABLEHLO_BROADCAST_IN_DIM \
    STABLEHLO_CONVOLUTION STABLEHLO_SLICE STABLEHLO_CUSTOM_CALL STABLEHLO_REDUCE STABLEHLO_ABS \
    STABLEHLO_AND STABLEHLO_COSINE STABLEHLO_EXPONENTIAL STABLEHLO_FLOOR STABLEHLO_LOG STABLEHLO_MINIMUM \
    STABLEHLO_NEGATE STABLEHLO_OR STABLEHLO_POWER STABLEHLO_REMAINDER STABLEHLO_RSQRT STABLEHLO_SELECT \
    STABLEHLO_SUBTRACT STABLEHLO_TANH STABLEHLO_SCATTER STABLEHLO_COMPARE STABLEHLO_CONVERT \
    STABLEHLO_DYNAMIC_SLICE STABLEHLO_DYNAMIC_UPDATE_SLICE STABLEHLO_PAD STABLEHLO_IOTA \
    STABLEHLO_DOT_GENERAL STABLEHLO_REDUCE_WINDOW STABLEHLO_SORT STABLEHLO_WHILE STABLEHLO_GATHER \
    STABLEHLO_TRANSPOSE DILATE STABLEHLO_RNG_BIT_GENERATOR REDUCE_WINDOW STABLEHLO_COMPOSITE \
    STABLEHLO_SHIFT_LEFT STABLEHLO_CBRT STABLEHLO_CASE";

/// Name of a built-in operator.
pub(super) fn operator_name(number: i32) -> String {
    let name = usize::try_from(number).ok().and_then(|n| OPERATORS.split_whitespace().nth(n));
    name.map_or_else(|| format!("operator {number}"), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::{operator_name, type_name};

    #[test]
    fn numbers_have_their_names() {
        let due =
            [(0, "ADD"), (22, "RESHAPE"), (32, "CUSTOM"), (97, "RESIZE_NEAREST_NEIGHBOR"), (150, "GELU")];
        for (number, name) in due {
            assert_eq!(operator_name(number), name);
        }
        assert_eq!((operator_name(-1), operator_name(9999)), ("operator -1".into(), "operator 9999".into()));
        assert_eq!(
            (type_name(0), type_name(9), type_name(-3)),
            ("float32".into(), "int8".into(), "type -3".into())
        );
    }
}

//! What a file holds: tensors, operators, inputs and outputs of its main subgraph.

use super::flat::{Broken, Table};
use super::schema::{self, buffer, model, operator, operator_code, subgraph, tensor};

/// Most dimensions of a tensor; more is a mistake.
const MAX_RANK: usize = 16;

/// A tensor as the file declares it.
pub(super) struct TensorInfo<'a> {
    pub name: String,
    pub shape: Vec<i32>,
    /// The shape with -1 where a dimension is open; empty where none is.
    pub signature: Vec<i32>,
    /// Number of its element type.
    pub dtype: i8,
    /// Its elements, where it is constant.
    pub data: Option<&'a [u8]>,
    pub quantization: Option<Table<'a>>,
    pub sparsity: Option<Table<'a>>,
    pub is_variable: bool,
}

/// An operator of the file.
pub(super) struct Operator<'a> {
    /// Name of the built-in operator; of a custom one, what the file calls it.
    pub op: String,
    pub is_custom: bool,
    pub version: i32,
    /// Tensors it reads; none where an optional one is left out.
    pub inputs: Vec<Option<usize>>,
    /// Tensors it writes.
    pub outputs: Vec<usize>,
    /// Its attributes; none where all have their defaults.
    pub options: Option<Table<'a>>,
}

/// The main subgraph of a file.
pub(super) struct File<'a> {
    pub tensors: Vec<TensorInfo<'a>>,
    pub operators: Vec<Operator<'a>>,
    pub inputs: Vec<usize>,
    pub outputs: Vec<usize>,
}

/// Names and lists may be shared by many tables; together they must not outgrow the file by much, or a short
/// file would fill the memory.
struct Budget {
    left: usize,
}

impl Budget {
    fn take<T>(&mut self, list: Vec<T>) -> Result<Vec<T>, Broken> {
        let bytes = list.len() * size_of::<T>();
        self.left = self.left.checked_sub(bytes).ok_or("its names and lists hold more than the file")?;
        Ok(list)
    }

    fn text(&mut self, text: String) -> Result<String, Broken> {
        self.left = self.left.checked_sub(text.len()).ok_or("its names and lists hold more than the file")?;
        Ok(text)
    }
}

/// Reads the tables of a file.
///
/// # Errors
/// Says what is broken, and where.
pub(super) fn read(bytes: &[u8]) -> Result<File<'_>, Broken> {
    let model = Table::root(bytes, schema::IDENTIFIER)?;
    let mut budget = Budget { left: bytes.len().saturating_mul(16) };
    let buffers = model.tables(model::BUFFERS)?;
    let codes = model.tables(model::OPERATOR_CODES)?;
    let subgraphs = model.tables(model::SUBGRAPHS)?;
    let main = subgraphs.first().ok_or("it holds no graph")?;
    let tensors = main.tables(subgraph::TENSORS)?;
    let tensors: Vec<TensorInfo<'_>> = tensors
        .iter()
        .enumerate()
        .map(|(i, t)| tensor_info(t, &buffers, &mut budget).map_err(|what| format!("tensor {i}: {what}")))
        .collect::<Result<_, _>>()?;
    let count = tensors.len();
    let operators = main.tables(subgraph::OPERATORS)?;
    let operators = operators
        .iter()
        .enumerate()
        .map(|(i, o)| read_operator(o, &codes, count, &mut budget).map_err(|w| format!("operator {i}: {w}")))
        .collect::<Result<_, _>>()?;
    let inputs = indices(&main.scalars(subgraph::INPUTS)?, count)?;
    let outputs = indices(&main.scalars(subgraph::OUTPUTS)?, count)?;
    Ok(File { tensors, operators, inputs, outputs })
}

fn indices(list: &[i32], count: usize) -> Result<Vec<usize>, Broken> {
    let index = |i: &i32| match usize::try_from(*i) {
        Ok(index) if index < count => Ok(index),
        _ => Err(format!("tensor {i} of {count}")),
    };
    list.iter().map(index).collect()
}

fn tensor_info<'a>(
    table: &Table<'a>,
    buffers: &[Table<'a>],
    budget: &mut Budget,
) -> Result<TensorInfo<'a>, Broken> {
    let shape = budget.take(table.scalars(tensor::SHAPE)?)?;
    if shape.len() > MAX_RANK {
        return Err(format!("{} dimensions, at most {MAX_RANK} are supported", shape.len()));
    }
    let index = table.scalar::<u32>(tensor::BUFFER, 0)?;
    let buffer = buffers.get(index as usize);
    let buffer = buffer.ok_or_else(|| format!("buffer {index} of {}", buffers.len()))?;
    // Files of more than 2 GiB have their data after the tables.
    let offset = buffer.scalar::<u64>(buffer::OFFSET, 0)?;
    let data = match offset {
        0 | 1 => buffer.bytes(buffer::DATA)?,
        offset => table.file_part(offset, buffer.scalar(buffer::SIZE, 0)?)?,
    };
    Ok(TensorInfo {
        name: budget.text(table.string(tensor::NAME)?)?,
        shape,
        signature: budget.take(table.scalars(tensor::SHAPE_SIGNATURE)?)?,
        dtype: table.scalar(tensor::TYPE, 0)?,
        data: (!data.is_empty()).then_some(data),
        quantization: table.table(tensor::QUANTIZATION)?,
        sparsity: table.table(tensor::SPARSITY)?,
        is_variable: table.flag(tensor::IS_VARIABLE)?,
    })
}

fn read_operator<'a>(
    table: &Table<'a>,
    codes: &[Table<'a>],
    tensors: usize,
    budget: &mut Budget,
) -> Result<Operator<'a>, Broken> {
    let index = table.scalar::<u32>(operator::OPCODE_INDEX, 0)?;
    let code = codes.get(index as usize).ok_or_else(|| format!("code {index} of {}", codes.len()))?;
    // Old files have the first, new ones both; operators over 127 are in the second alone.
    let old = i32::from(code.scalar::<i8>(operator_code::DEPRECATED_BUILTIN_CODE, 0)?);
    let number = old.max(code.scalar::<i32>(operator_code::BUILTIN_CODE, 0)?);
    let name = schema::operator_name(number);
    let is_custom = name == "CUSTOM";
    let name = if is_custom { code.string(operator_code::CUSTOM_CODE)? } else { name };
    let input = |i: &i32| match *i {
        -1 => Ok(None),
        i => indices(&[i], tensors).map(|list| list.first().copied()),
    };
    let inputs = table.scalars::<i32>(operator::INPUTS)?.iter().map(input).collect::<Result<_, _>>()?;
    let outputs = indices(&table.scalars(operator::OUTPUTS)?, tensors)?;
    Ok(Operator {
        op: budget.text(name)?,
        is_custom,
        version: code.scalar(operator_code::VERSION, 1)?,
        inputs: budget.take(inputs)?,
        outputs: budget.take(outputs)?,
        options: table.table(operator::BUILTIN_OPTIONS)?,
    })
}

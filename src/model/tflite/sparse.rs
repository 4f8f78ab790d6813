//! Sparse constants: the elements that are not zero, with the way to where each belongs.

use super::flat::{Broken, Table};
use super::schema::sparsity;
use crate::model::size::{MAX_CONSTANT_LEN, checked_len, room};

/// Most levels of the format: dimensions and blocks.
const MAX_LEVELS: usize = 32;

/// How one level of the format is stored.
enum Level {
    /// Every index of the level.
    Dense,
    /// The indices of each parent: `indices[segments[p]..segments[p + 1]]`.
    Sparse { segments: Vec<usize>, indices: Vec<usize> },
}

/// A level: the dimension that it walks, in steps of `stride` elements.
struct Walk {
    level: Level,
    size: usize,
    stride: usize,
}

impl Walk {
    /// Places of the level before that it can be told apart for.
    fn parents(&self) -> usize {
        match &self.level {
            Level::Dense => 0,
            Level::Sparse { segments, .. } => segments.len(),
        }
    }
}

/// All elements of a tensor of this shape, zeros included.
///
/// # Errors
/// The description contradicts itself, the shape, or the number of elements.
pub(super) fn densify<T: Copy + Default>(
    values: &[T],
    shape: &[usize],
    table: &Table<'_>,
) -> Result<Vec<T>, Broken> {
    let len = checked_len(shape, MAX_CONSTANT_LEN)?;
    let levels = levels(table, shape)?;
    // Every place of a level has a segment in the next, or an element in the end.
    let most = levels.iter().map(Walk::parents).fold(values.len(), usize::max);
    // Where each element that the file holds goes, level by level.
    let mut places = vec![0usize];
    for walk in &levels {
        let mut next = Vec::new();
        for (parent, start) in places.iter().enumerate() {
            let mut push = |index: usize| {
                if index >= walk.size || next.len() >= most {
                    return Err(format!("index {index} of a level of {}", walk.size));
                }
                next.push(start + index * walk.stride);
                Ok(())
            };
            match &walk.level {
                Level::Dense => (0..walk.size).try_for_each(&mut push)?,
                Level::Sparse { segments, indices } => {
                    let range = segments.get(parent).zip(segments.get(parent + 1));
                    let part = range.and_then(|(from, to)| indices.get(*from..*to));
                    part.ok_or("a segment lies outside its indices")?
                        .iter()
                        .copied()
                        .try_for_each(&mut push)?;
                }
            }
        }
        places = next;
    }
    if places.len() > values.len() {
        return Err(format!("it describes {} elements, the file holds {}", places.len(), values.len()));
    }
    let mut dense = room(len)?;
    dense.resize(len, T::default());
    for (place, value) in places.iter().zip(values) {
        *dense.get_mut(*place).ok_or("an element lies outside the tensor")? = *value;
    }
    Ok(dense)
}

fn levels(table: &Table<'_>, shape: &[usize]) -> Result<Vec<Walk>, Broken> {
    let unsigned = |list: Vec<i32>| -> Result<Vec<usize>, Broken> {
        list.iter().map(|i| usize::try_from(*i).map_err(|_| format!("{i} in its description"))).collect()
    };
    let order = unsigned(table.scalars(sparsity::TRAVERSAL_ORDER)?)?;
    let blocks = unsigned(table.scalars(sparsity::BLOCK_MAP)?)?;
    let metadata = table.tables(sparsity::DIM_METADATA)?;
    let rank = shape.len();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    let whole = sorted.iter().copied().eq(0..rank + blocks.len()) && metadata.len() == order.len();
    if !whole || order.len() > MAX_LEVELS || blocks.iter().any(|d| *d >= rank) {
        return Err(format!("order {order:?} and blocks {blocks:?} of a tensor of {rank} dimensions"));
    }
    let block_size = |block: usize| -> Result<usize, Broken> {
        let at = order.iter().position(|d| *d == rank + block).unwrap_or(0);
        let size = metadata[at].scalar::<i32>(sparsity::DENSE_SIZE, 0)?;
        usize::try_from(size).ok().filter(|s| *s > 0).ok_or_else(|| format!("blocks of {size}"))
    };
    let strides = crate::model::shape::strides(shape);
    let walk = |(walked, table): (&usize, &Table<'_>)| -> Result<Walk, Broken> {
        let (size, stride) = match walked.checked_sub(rank) {
            Some(block) => (block_size(block)?, strides[blocks[block]]),
            None => {
                let block = blocks.iter().position(|d| d == walked).map_or(Ok(1), block_size)?;
                if !shape[*walked].is_multiple_of(block) {
                    return Err(format!("dimension {walked} of {shape:?} in blocks of {block}"));
                }
                (shape[*walked] / block, strides[*walked] * block)
            }
        };
        Ok(Walk { level: level(table)?, size, stride })
    };
    order.iter().zip(&metadata).map(walk).collect()
}

fn level(table: &Table<'_>) -> Result<Level, Broken> {
    match table.scalar::<i8>(sparsity::FORMAT, 0)? {
        0 => Ok(Level::Dense),
        1 => {
            let segments = index_vector(table, sparsity::SEGMENTS_TYPE, sparsity::SEGMENTS)?;
            let indices = index_vector(table, sparsity::INDICES_TYPE, sparsity::INDICES)?;
            Ok(Level::Sparse { segments, indices })
        }
        other => Err(format!("format {other} of a dimension")),
    }
}

/// One of three kinds of vectors of indices.
fn index_vector(table: &Table<'_>, kind: usize, field: usize) -> Result<Vec<usize>, Broken> {
    let vector = table.table(field)?.ok_or("a sparse dimension without its indices")?;
    match table.scalar::<u8>(kind, 0)? {
        // A negative index becomes one that lies outside.
        1 => {
            Ok(vector.scalars::<i32>(0)?.iter().map(|i| usize::try_from(*i).unwrap_or(usize::MAX)).collect())
        }
        2 => Ok(vector.scalars::<u16>(0)?.into_iter().map(usize::from).collect()),
        3 => Ok(vector.scalars::<u8>(0)?.into_iter().map(usize::from).collect()),
        other => Err(format!("indices of kind {other}")),
    }
}

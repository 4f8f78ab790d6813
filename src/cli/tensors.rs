//! Input and expected tensors from the command line.

use super::error::CliError;
use crate::exec::Program;
use crate::graph::{DType, Graph, Value, ValueId, word_int};
use crate::model::npy::{self, Array};
use std::path::{Path, PathBuf};

/// A `NAME=FILE` argument.
#[derive(Debug, Clone)]
pub struct NamedFile {
    /// Name, or position as a number.
    pub name: String,
    /// The file.
    pub file: PathBuf,
}

impl std::str::FromStr for NamedFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, file) = text.split_once('=').ok_or_else(|| format!("'{text}' is not NAME=FILE"))?;
        Ok(NamedFile { name: name.to_owned(), file: file.into() })
    }
}

/// Finds a graph input or output by name, else by position.
fn find(graph: &Graph, ids: &[ValueId], what: &str, name: &str) -> Result<usize, CliError> {
    let by_name = ids.iter().position(|id| graph.get(*id).name == name);
    let by_position = name.parse::<usize>().ok().filter(|i| *i < ids.len());
    by_name.or(by_position).ok_or_else(|| {
        let names: Vec<_> = ids.iter().map(|id| format!("'{}'", graph.get(*id).name)).collect();
        CliError::input(format!("the network has no {what} '{name}'; it has {}", names.join(", ")))
    })
}

/// A file whose elements are not those of the tensor.
fn misfit(named: &NamedFile, role: &str, value: &Value, what: &str) -> CliError {
    CliError::input(format!("{}: {role} '{}' ({}): {what}", named.file.display(), value.name, value.dtype))
}

/// The inputs of a run: from files where given, else the deterministic test input.
pub fn inputs(program: &Program, files: &[NamedFile]) -> Result<Vec<Vec<f32>>, CliError> {
    let mut inputs = program.default_inputs();
    for named in files {
        let i = find(&program.graph, &program.graph.inputs, "input", &named.name)?;
        let array = npy::read(&named.file)?;
        let value = program.graph.get(program.graph.inputs[i]);
        if array.len() != value.len() {
            return Err(CliError::input(format!(
                "{}: {} elements of shape {:?}, input '{}' has {} of shape {:?}",
                named.file.display(),
                array.len(),
                array.shape,
                value.name,
                value.len(),
                value.shape
            )));
        }
        inputs[i] = array.words(value.dtype).map_err(|what| misfit(named, "input", value, &what))?;
    }
    Ok(inputs)
}

/// Expected data of each graph output, where some was given.
pub fn expected(graph: &Graph, files: &[NamedFile]) -> Result<Vec<Option<Vec<f32>>>, CliError> {
    let mut all = vec![None; graph.outputs.len()];
    for named in files {
        let i = find(graph, &graph.outputs, "output", &named.name)?;
        let array = npy::read(&named.file)?;
        let value = graph.get(graph.outputs[i]);
        let head = array.shape.len() <= 1 && array.len() <= value.len();
        if array.len() != value.len() && !head {
            return Err(CliError::input(format!(
                "{}: {} elements of shape {:?}, output '{}' has {} of shape {:?}",
                named.file.display(),
                array.len(),
                array.shape,
                value.name,
                value.len(),
                value.shape
            )));
        }
        all[i] = Some(array.words(value.dtype).map_err(|what| misfit(named, "output", value, &what))?);
    }
    Ok(all)
}

/// How an output compares with what was expected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// Largest difference; infinite where one side alone is NaN or infinite.
    pub max_abs_diff: f64,
    /// What is allowed: atol + rtol x the largest expected magnitude.
    pub allowed: f64,
    /// Whether every difference is within that.
    pub ok: bool,
}

impl std::fmt::Display for Comparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let verdict = if self.ok { "as expected" } else { "NOT as expected" };
        write!(f, "{verdict} (largest difference {:.3e}, allowed {:.3e})", self.max_abs_diff, self.allowed)
    }
}

/// The words of a tensor as numbers.
pub fn numbers(dtype: DType, words: &[f32]) -> Vec<f64> {
    let number = |word: &f32| if dtype.is_float() { f64::from(*word) } else { f64::from(word_int(*word)) };
    words.iter().map(number).collect()
}

/// Compares an output with expected data (its first elements, where fewer), both as words of `dtype`.
/// Integers must be equal.
pub fn compare_words(dtype: DType, got: &[f32], want: &[f32], rtol: f64, atol: f64) -> Comparison {
    let (rtol, atol) = if dtype.is_float() { (rtol, atol) } else { (0.0, 0.0) };
    compare(&numbers(dtype, got), &numbers(dtype, want), rtol, atol)
}

fn compare(got: &[f64], want: &[f64], rtol: f64, atol: f64) -> Comparison {
    let finite = want.iter().filter(|x| x.is_finite());
    let largest = finite.fold(0.0f64, |m, x| m.max(x.abs()));
    let allowed = atol + rtol * largest;
    let diff = |(g, w): (&f64, &f64)| {
        if g == w || (g.is_nan() && w.is_nan()) {
            return 0.0;
        }
        let diff = (g - w).abs();
        if diff.is_nan() { f64::INFINITY } else { diff }
    };
    let max_abs_diff = got.iter().zip(want).map(diff).fold(0.0, f64::max);
    Comparison { max_abs_diff, allowed, ok: max_abs_diff <= allowed && got.len() >= want.len() }
}

/// Writes every output as `DIR/<position>_<name>.npy`.
pub fn save(dir: &Path, graph: &Graph, outputs: &[Vec<f32>]) -> Result<(), CliError> {
    std::fs::create_dir_all(dir).map_err(|e| CliError::input(format!("{}: {e}", dir.display())))?;
    for (i, (id, data)) in graph.outputs.iter().zip(outputs).enumerate() {
        let value = graph.get(*id);
        let plain: String =
            value.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let array = Array::from_words(value.dtype, value.shape.clone(), data);
        npy::write(&dir.join(format!("{i}_{plain}.npy")), &array)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::compare;

    #[test]
    fn tolerance_scales_with_the_largest_expected_value() {
        let close = compare(&[10.0, 0.0], &[10.0, 0.009], 1e-3, 0.0);
        assert!(close.ok && close.allowed == 0.01, "{close:?}");
        assert!(!compare(&[10.0, 0.0], &[10.0, 0.011], 1e-3, 0.0).ok);
    }

    #[test]
    fn nan_and_infinity_on_one_side_fail_whatever_the_tolerance() {
        assert!(!compare(&[f64::NAN], &[1.0], 1.0, 1e30).ok);
        assert!(!compare(&[1.0], &[f64::INFINITY], 1.0, 1e30).ok);
        assert!(compare(&[f64::NAN, f64::INFINITY], &[f64::NAN, f64::INFINITY], 0.0, 0.0).ok);
    }

    #[test]
    fn fewer_expected_elements_are_the_first_ones() {
        assert!(compare(&[1.0, 2.0, 3.0], &[1.0, 2.0], 0.0, 0.0).ok);
        assert!(!compare(&[1.0], &[1.0, 2.0], 0.0, 0.0).ok);
    }
}

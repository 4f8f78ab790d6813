//! Interpolation by tables.

use super::LowerError;
use super::site::Site;
use crate::graph::Value;
use crate::kernel::{Dispatch, KernelId, ParamWriter};

pub(super) fn lower_resample(
    site: &Site,
    axes: [usize; 2],
    taps: [usize; 2],
    outside: f32,
) -> Result<Vec<Dispatch>, LowerError> {
    let [x, a, b] = site.inputs()?;
    let [first, second] = axes;
    if first > second || second >= x.shape.len() {
        return Err(site.unsupported(format!("axes {axes:?} of a tensor of rank {}", x.shape.len())));
    }
    let (behind_first, behind_second) = (&x.shape[first + 1..], &x.shape[second + 1..]);
    let mut expected = x.shape.clone();
    expected[first] = positions(site, a, taps[0], x.shape[first])?;
    // The second table of a single axis is one position of an axis of one element behind all others.
    let (in_b, between, inner): (usize, usize, usize) = match first == second {
        true => (1, behind_first.iter().product(), 1),
        false => {
            (x.shape[second], x.shape[first + 1..second].iter().product(), behind_second.iter().product())
        }
    };
    let out_b = positions(site, b, taps[1], in_b)?;
    if first != second {
        expected[second] = out_b;
    } else if out_b != 1 {
        return Err(site.unsupported(format!("an unused table of {out_b} positions, 1 is due")));
    }
    site.expect_output(&expected)?;
    let words =
        [site.output.len(), x.shape[first], in_b, expected[first], out_b, between, inner, taps[0], taps[1]];
    let params = words.into_iter().fold(ParamWriter::new(4), |params, word| params.u32(word as u32));
    let inputs = vec![site.operand(0), site.operand(1), site.operand(2)];
    Ok(vec![site.linear(KernelId::Resample, inputs, params.f32(outside), site.output.len())?])
}

/// Positions of a table over an axis of `size` elements, none of which reads past it.
fn positions(site: &Site, table: &Value, taps: usize, size: usize) -> Result<usize, LowerError> {
    let (positions, data) = match (&table.shape[..], table.f32_data()) {
        (&[positions, words], Some(data)) if words == 2 * taps && taps > 0 => (positions, data),
        (shape, _) => {
            let what = format!("table '{}' {shape:?} is no constant of {taps} pairs a position", table.name);
            return Err(site.unsupported(what));
        }
    };
    let past = |pair: &&[f32]| pair[1] != 0.0 && !(pair[0] < size as f32 && pair[0] >= 0.0);
    let inside = |row: &&[f32]| !matches!(row[0].partial_cmp(&0.0), Some(std::cmp::Ordering::Less));
    let read = data.chunks_exact(2 * taps).filter(inside).flat_map(|row| row.chunks_exact(2));
    match read.clone().find(past) {
        Some(pair) => {
            Err(site.unsupported(format!("table '{}' reads element {} of {size}", table.name, pair[0])))
        }
        None => Ok(positions),
    }
}

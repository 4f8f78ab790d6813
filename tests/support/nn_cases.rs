//! One-node networks that between them take every path of the kernels of neural-network layers.

use super::twin::Case;
use sublet::graph::{Op, Window3};

fn window3(kernel: [usize; 3], strides: [usize; 3], pads: [usize; 6], dilations: [usize; 3]) -> Window3 {
    Window3 { kernel, strides, pads, dilations }
}

fn transposed(x: &[usize], channels: usize, groups: usize, window: Window3, extra: usize) -> Case {
    let rank = x.len() - 2;
    let mut case = Case::new(Op::ConvTranspose { window, groups });
    let kernel = &window.kernel[3 - rank..];
    case.input(x).constant(&[&[x[1], channels / groups], kernel].concat());
    if !channels.is_multiple_of(2) {
        case.constant(&[channels]);
    }
    let out = (0..rank).map(|d| {
        let at = 3 - rank + d;
        let covered =
            (x[2 + d] - 1) * window.strides[at] + (window.kernel[at] - 1) * window.dilations[at] + 1;
        covered + extra - window.pads[at] - window.pads[at + 3]
    });
    case.output(&[&[x[0], channels], &out.collect::<Vec<_>>()[..]].concat())
}

/// Transposed convolutions: every attribute uneven somewhere, 1 to 3 dimensions.
pub fn transposed_convolutions() -> Vec<Case> {
    let up2 = window3([1, 2, 2], [1, 2, 2], [0; 6], [1; 3]);
    let overlap = window3([1, 3, 4], [1, 2, 3], [0, 1, 0, 0, 1, 2], [1; 3]);
    let spread = window3([1, 2, 3], [1, 3, 2], [0, 1, 2, 0, 0, 1], [1, 2, 3]);
    let line = window3([1, 1, 3], [1, 1, 2], [0, 0, 1, 0, 0, 0], [1, 1, 2]);
    let solid = window3([2, 3, 2], [2, 1, 2], [1, 0, 0, 0, 1, 0], [1, 1, 1]);
    vec![
        transposed(&[1, 3, 4, 5], 4, 1, up2, 0),
        transposed(&[2, 5, 4, 5], 7, 1, overlap, 0),
        transposed(&[2, 4, 4, 5], 6, 2, overlap, 1),
        transposed(&[1, 6, 5, 4], 9, 3, spread, 1),
        transposed(&[1, 3, 9], 5, 1, line, 0),
        transposed(&[2, 4, 3, 4, 5], 6, 2, solid, 0),
        transposed(&[1, 1, 1, 1], 1, 1, up2, 3),
        transposed(&[1, 40, 12, 13], 34, 2, up2, 0),
    ]
}

/// A table of `taps` pairs for each of `positions`, with weights that are 0 in places.
fn table(positions: usize, taps: usize, size: usize) -> Vec<f32> {
    let pair = |i: usize| [(i * 7 % size) as f32, [0.5, 0.25, 0.0, -1.5][i % 4]];
    (0..positions * taps).flat_map(pair).collect()
}

fn resampled(x: &[usize], axes: [usize; 2], positions: [usize; 2], taps: [usize; 2], marked: bool) -> Case {
    let mut case = Case::new(Op::Resample { axes, taps, outside: 7.5 });
    case.input(x);
    let mut out = x.to_vec();
    let single = axes[0] == axes[1];
    for i in [0, 1] {
        let size = if i == 1 && single { 1 } else { x[axes[i]] };
        let mut data = table(positions[i], taps[i], size);
        if marked && i == 0 {
            data[2 * taps[i]] = -1.0;
        }
        case.constant_of(&[positions[i], 2 * taps[i]], data);
        if i == 0 || !single {
            out[axes[i]] = positions[i];
        }
    }
    case.output(&out)
}

/// Interpolations along one and two axes, wherever these lie.
pub fn interpolations() -> Vec<Case> {
    vec![
        resampled(&[2, 3, 5, 6], [2, 3], [7, 9], [2, 2], false),
        resampled(&[2, 3, 5, 6], [2, 3], [3, 4], [1, 4], true),
        resampled(&[2, 5, 6, 3], [1, 2], [10, 4], [3, 1], true),
        resampled(&[3, 4, 2, 5], [0, 2], [5, 6], [2, 3], false),
        resampled(&[2, 3, 8], [2, 2], [13, 1], [2, 1], true),
        resampled(&[4, 3, 8], [0, 0], [3, 1], [4, 1], false),
        resampled(&[1, 1, 40, 41], [2, 3], [63, 70], [2, 2], false),
    ]
}

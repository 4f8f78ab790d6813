//! ONNX import: layers of neural networks beyond plain convolution, on models written by hand.
#![cfg(feature = "onnx")]

mod support;

use sublet::graph::Op;
use support::onnx_encoder::{Node, floats, ints, node};
use support::single::{fault, import, only, single, x_to_y};

fn transposed(edit: impl Fn(Node) -> Node) -> ([usize; 6], Vec<usize>) {
    let weights = floats("w", &[1, 2, 3, 3], &[0.0; 18]);
    match only(13, &[1, 1, 3, 3], edit(node("ConvTranspose", &["x", "w"], &["y"])), vec![weights]) {
        (Op::ConvTranspose { window, groups: 1 }, shape) => (window.pads, shape),
        other => panic!("{other:?}"),
    }
}

/// Output shapes as in the operator's own examples.
#[test]
fn conv_transpose_resolves_its_output() {
    assert_eq!(transposed(|n| n), ([0; 6], vec![1, 2, 5, 5]));
    let wide = transposed(|n| n.ints("strides", &[3, 2]).ints("output_shape", &[10, 8]));
    assert_eq!(wide, ([0; 6], vec![1, 2, 10, 8]));
    let padded = transposed(|n| n.ints("strides", &[3, 2]).ints("output_padding", &[1, 1]));
    assert_eq!(padded.1, [1, 2, 10, 8]);
    let pads = transposed(|n| n.ints("strides", &[3, 2]).ints("pads", &[1, 2, 1, 2]));
    assert_eq!(pads, ([0, 1, 2, 0, 1, 2], vec![1, 2, 7, 3]));
    let same = transposed(|n| n.ints("strides", &[2, 2]).string("auto_pad", "SAME_UPPER"));
    assert_eq!((same.0[1], same.0[2], same.1), (0, 0, vec![1, 2, 6, 6]));
    let lower = transposed(|n| n.ints("strides", &[2, 2]).string("auto_pad", "SAME_LOWER"));
    assert_eq!((lower.0[1], lower.0[2]), (1, 1));
    let dilated = transposed(|n| n.ints("dilations", &[2, 2]));
    assert_eq!(dilated.1, [1, 2, 7, 7]);
    let weights = || vec![floats("w", &[2, 2, 3, 3], &[0.0; 36])];
    let apart = single(13, &[1, 1, 3, 3], node("ConvTranspose", &["x", "w"], &["y"]), weights());
    assert!(fault(apart).contains("1 channels, the weights read 2"));
    let narrow = node("ConvTranspose", &["x", "w"], &["y"]).ints("pads", &[3, 3, 3, 3]);
    assert!(fault(single(13, &[1, 2, 3, 3], narrow, weights())).contains("leave nothing"));
}

/// What a resize of `[1, 1, 1, input]` to `[1, 1, 1, output]` reads: pairs of index and weight a position.
fn pairs(input: i64, output: i64, edit: impl Fn(Node) -> Node) -> Vec<Vec<(f32, f32)>> {
    let resize = edit(node("Resize", &["x", "", "", "s"], &["y"]));
    let sizes = ints("s", &[4], &[1, 1, 1, output]);
    let graph = import(single(19, &[1, 1, 1, input], resize, vec![sizes])).unwrap();
    assert_eq!(graph.nodes.len(), 1);
    let Op::Resample { axes, taps, .. } = &graph.nodes[0].op else { panic!("{:?}", graph.nodes[0].op) };
    assert_eq!(*axes, [3, 3]);
    let table = graph.get(graph.nodes[0].inputs[1]).f32_data().unwrap();
    let row = |row: &[f32]| row.chunks(2).filter(|p| p[1] != 0.0).map(|p| (p[0], p[1])).collect();
    table.chunks(2 * taps[0]).map(row).collect()
}

fn read(input: i64, output: i64, edit: impl Fn(Node) -> Node) -> Vec<f32> {
    pairs(input, output, edit).iter().map(|row| row[0].0).collect()
}

#[test]
fn nearest_falls_as_each_mode_says() {
    let nearest = |mode: &'static str| move |n: Node| n.string("nearest_mode", mode);
    // Positions -0.25, 0.25, 0.75, 1.25 ..: no ties.
    assert_eq!(read(2, 4, nearest("round_prefer_floor")), [0.0, 0.0, 1.0, 1.0]);
    assert_eq!(read(2, 4, nearest("floor")), [0.0, 0.0, 0.0, 1.0]);
    assert_eq!(read(2, 4, nearest("ceil")), [0.0, 1.0, 1.0, 1.0]);
    // Positions 0.5 and 2.5: ties.
    assert_eq!(read(4, 2, nearest("round_prefer_floor")), [0.0, 2.0]);
    assert_eq!(read(4, 2, nearest("round_prefer_ceil")), [1.0, 3.0]);
    let asymmetric = |n: Node| n.string("coordinate_transformation_mode", "asymmetric");
    assert_eq!(read(4, 2, asymmetric), [0.0, 2.0]);
    assert_eq!(read(2, 5, |n| asymmetric(n).string("nearest_mode", "floor")), [0.0, 0.0, 0.0, 1.0, 1.0]);
}

#[test]
fn linear_weighs_by_distance() {
    let linear = |mode: &'static str| {
        move |n: Node| n.string("mode", "linear").string("coordinate_transformation_mode", mode)
    };
    let half = pairs(2, 4, linear("half_pixel"));
    assert_eq!(half[1], [(0.0, 0.75), (1.0, 0.25)]);
    assert_eq!(half[3].iter().map(|p| p.1).sum::<f32>(), 1.0);
    let aligned = pairs(3, 5, linear("align_corners"));
    assert_eq!(aligned[1], [(0.0, 0.5), (1.0, 0.5)]);
    assert_eq!(aligned[4], [(2.0, 1.0)]);
    let one = pairs(3, 1, linear("pytorch_half_pixel"));
    assert_eq!(one, [[(0.0, 1.0)]]);
    let cubic = |n: Node| n.string("mode", "cubic");
    let row = &pairs(4, 8, cubic)[3];
    assert_eq!(row.iter().map(|p| p.0).collect::<Vec<_>>(), [0.0, 1.0, 2.0, 3.0]);
    // From the weights of the operator's text at a quarter of the way.
    let due = [-0.105_468_75, 0.878_906_25, 0.261_718_75, -0.035_156_25];
    assert!(row.iter().zip(due).all(|(p, due)| (p.1 - due).abs() < 1e-6), "{row:?}");
    let outside = pairs(4, 8, |n| cubic(n).int("exclude_outside", 1));
    assert_eq!(outside[0].len(), 2);
    assert!((outside[0].iter().map(|p| p.1).sum::<f32>() - 1.0).abs() < 1e-6);
}

#[test]
fn antialiased_filters_cover_what_is_skipped() {
    let smooth = |n: Node| n.string("mode", "linear").int("antialias", 1);
    let rows = pairs(8, 2, smooth);
    assert!(rows[0].len() > 4, "{rows:?}");
    assert!(rows.iter().all(|row| (row.iter().map(|p| p.1).sum::<f32>() - 1.0).abs() < 1e-6));
    assert_eq!(pairs(2, 4, smooth), pairs(2, 4, |n| n.string("mode", "linear")));
}

#[test]
fn crops_mark_what_lies_outside() {
    let crop = node("Resize", &["x", "roi", "", "s"], &["y"])
        .string("mode", "linear")
        .string("coordinate_transformation_mode", "tf_crop_and_resize")
        .float("extrapolation_value", 9.0);
    let data = vec![floats("roi", &[4], &[0.0, 0.5, 1.0, 1.5]), ints("s", &[2], &[2, 3])];
    let graph = import(single(13, &[2, 5], crop, data)).unwrap();
    let Op::Resample { axes: [1, 1], outside, .. } = graph.nodes[0].op else { panic!("{:?}", graph.nodes) };
    let table = graph.get(graph.nodes[0].inputs[1]).f32_data().unwrap();
    // Positions 2, 4 and 6 of an axis that ends at 4.
    assert_eq!((outside, table[0], table[4], table[8]), (9.0, 2.0, 4.0, -1.0));
}

#[test]
fn sizes_scales_and_axes_agree() {
    let sizes = |policy: &str| {
        let n = node("Resize", &["x", "", "", "s"], &["y"]).ints("axes", &[3, 2]);
        let n = n.string("keep_aspect_ratio_policy", policy);
        only(18, &[1, 1, 4, 8], n, vec![ints("s", &[2], &[12, 8])]).1
    };
    assert_eq!(sizes("stretch"), [1, 1, 8, 12]);
    assert_eq!(sizes("not_larger"), [1, 1, 6, 12]);
    assert_eq!(sizes("not_smaller"), [1, 1, 8, 16]);
    let scales = node("Resize", &["x", "", "s"], &["y"]);
    let data = floats("s", &[4], &[1.0, 1.0, 0.6, 1.3]);
    assert_eq!(only(13, &[1, 1, 4, 4], scales, vec![data]).1, [1, 1, 2, 5]);
    let none = single(13, &[1, 1, 4, 4], node("Resize", &["x"], &["y"]), vec![]);
    assert!(fault(none).contains("either scales or sizes"));
    let three = node("Resize", &["x", "", "", "s"], &["y"]);
    let graph = import(single(13, &[2, 3, 4], three, vec![ints("s", &[3], &[3, 4, 5])])).unwrap();
    assert_eq!(graph.nodes.len(), 2);
    let upsample = x_to_y("Upsample").string("mode", "nearest").floats("scales", &[1.0, 1.0, 2.0, 3.0]);
    let (op, shape) = only(7, &[1, 1, 2, 2], upsample, vec![]);
    assert!(matches!(op, Op::Resample { axes: [2, 3], taps: [1, 1], .. }), "{op:?}");
    assert_eq!(shape, [1, 1, 4, 6]);
    let kept = node("Upsample", &["x", "s"], &["y"]);
    let ones = floats("s", &[2], &[1.0, 1.0]);
    assert_eq!(only(9, &[2, 2], kept, vec![ones]).0, Op::Copy);
}

//! ConvTranspose.

use super::window::{MAX_ATTRIBUTE, list};
use crate::graph::{Op, Window3};
use crate::model::onnx::site::{Fault, Site};

/// One spatial dimension: padding before it, and elements of the output.
struct Axis {
    before: usize,
    output: usize,
}

/// The attributes over the spatial dimensions.
struct Attributes {
    strides: Vec<usize>,
    dilations: Vec<usize>,
    pads: Vec<usize>,
    output_padding: Vec<usize>,
    output_shape: Option<Vec<usize>>,
    auto_pad: String,
}

impl Attributes {
    fn read(site: &Site, rank: usize) -> Result<Attributes, Fault> {
        let attributes = site.attributes();
        let ones = || vec![1; rank];
        let zeros = || vec![0; rank];
        let auto_pad = attributes.string("auto_pad")?.filter(|a| !a.is_empty()).unwrap_or("NOTSET");
        Ok(Attributes {
            strides: list(&attributes, "strides", rank, 1)?.unwrap_or_else(ones),
            dilations: list(&attributes, "dilations", rank, 1)?.unwrap_or_else(ones),
            pads: list(&attributes, "pads", 2 * rank, 0)?.unwrap_or_else(|| vec![0; 2 * rank]),
            output_padding: list(&attributes, "output_padding", rank, 0)?.unwrap_or_else(zeros),
            output_shape: list(&attributes, "output_shape", rank, 0)?,
            auto_pad: auto_pad.to_string(),
        })
    }

    /// Dimension `d` with `input` elements under a kernel of `kernel` taps.
    fn axis(&self, d: usize, input: usize, kernel: usize) -> Result<Axis, String> {
        let (stride, padding) = (self.strides[d], self.output_padding[d]);
        let (before, after) = (self.pads[d], self.pads[d + self.strides.len()]);
        // Elements that the windows cover, unpadded.
        let covered = (input.max(1) - 1)
            .checked_mul(stride)
            .and_then(|last| last.checked_add(padding)?.checked_add((kernel - 1) * self.dilations[d] + 1));
        let covered = covered.filter(|c| *c < MAX_ATTRIBUTE as usize);
        let covered = covered.ok_or_else(|| format!("dimension {d} becomes 2^31 elements or more"))?;
        let wanted = match (&self.output_shape, self.auto_pad.as_str()) {
            (Some(shape), _) => Some(shape[d]),
            (None, "SAME_UPPER" | "SAME_LOWER") => Some(input * stride),
            (None, "NOTSET") => None,
            (None, "VALID") => return Ok(Axis { before: 0, output: covered }),
            (None, other) => return Err(format!("auto_pad is '{other}'")),
        };
        if let Some(output) = wanted {
            // What the output does not hold is padding; the odd element lies behind with SAME_UPPER.
            let total = covered.saturating_sub(output);
            let small = total / 2;
            let before = if self.auto_pad == "SAME_UPPER" { small } else { total - small };
            return Ok(Axis { before, output });
        }
        match covered.checked_sub(before + after) {
            Some(output) => Ok(Axis { before, output }),
            None => Err(format!("pads {before} and {after} leave nothing of {covered} elements")),
        }
    }
}

pub(super) fn conv_transpose(site: &mut Site) -> Result<(), Fault> {
    let (shape, weights) = (site.shape(0)?, site.shape(1)?);
    let rank = shape.len().saturating_sub(2);
    if !(1..=3).contains(&rank) || weights.len() != shape.len() {
        return Err(
            format!("input {shape:?} and weights {weights:?}; 1 to 3 spatial dimensions are due").into()
        );
    }
    let groups = site.attributes().int("group")?.unwrap_or(1);
    let groups =
        usize::try_from(groups).ok().filter(|g| *g >= 1).ok_or_else(|| format!("group is {groups}"))?;
    let kernel = &weights[2..];
    if weights[0] != shape[1] || !shape[1].is_multiple_of(groups) {
        return Err(format!(
            "the input has {} channels, the weights read {} in {groups} groups",
            shape[1], weights[0]
        )
        .into());
    }
    if let Some(stated) = site.attributes().ints("kernel_shape")?
        && !stated.iter().map(|k| *k as usize).eq(kernel.iter().copied())
    {
        return Err(format!("kernel_shape is {stated:?}, the weights hold {kernel:?}").into());
    }
    if kernel.iter().any(|k| !(1..MAX_ATTRIBUTE as usize).contains(k)) {
        return Err(format!("kernel {kernel:?}; from 1 to 2^31 on a side is supported").into());
    }
    let channels = weights[1].checked_mul(groups).ok_or("too many output channels")?;
    let mut inputs = vec![0, 1];
    if let Some(bias) = site.optional(2) {
        if bias.shape[..] != [channels] {
            return Err(format!("bias {:?} for {channels} output channels", bias.shape).into());
        }
        inputs.push(2);
    }
    let attributes = Attributes::read(site, rank)?;
    let mut window = Window3 { kernel: [1; 3], strides: [1; 3], pads: [0; 6], dilations: [1; 3] };
    let mut out = vec![shape[0], channels];
    for d in 0..rank {
        let axis = attributes.axis(d, shape[2 + d], kernel[d])?;
        // Fewer dimensions are the last of three.
        let at = 3 - rank + d;
        (window.kernel[at], window.strides[at]) = (kernel[d], attributes.strides[d]);
        (window.pads[at], window.dilations[at]) = (axis.before, attributes.dilations[d]);
        window.pads[at + 3] = attributes.pads[d + rank];
        out.push(axis.output);
    }
    site.emit(Op::ConvTranspose { window, groups }, &inputs, out)
}

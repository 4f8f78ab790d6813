//! Steps of recurrent cells.

use super::LowerError;
use super::site::Site;
use crate::graph::{Gate, GruPart, LstmPart, Value};
use crate::kernel::{Dispatch, KernelId, Operand, ParamWriter};

/// Kind and constants of an activation.
fn write(params: ParamWriter, gate: Gate) -> ParamWriter {
    let (kind, a, b) = match gate {
        Gate::Sigmoid => (0, 0.0, 0.0),
        Gate::Tanh => (1, 0.0, 0.0),
        Gate::Relu => (2, 0.0, 0.0),
        Gate::Affine { alpha, beta } => (3, alpha, beta),
        Gate::LeakyRelu { alpha } => (4, alpha, 0.0),
        Gate::ThresholdedRelu { alpha } => (5, alpha, 0.0),
        Gate::ScaledTanh { alpha, beta } => (6, alpha, beta),
        Gate::HardSigmoid { alpha, beta } => (7, alpha, beta),
        Gate::Elu { alpha } => (8, alpha, 0.0),
        Gate::Softsign => (9, 0.0, 0.0),
        Gate::Softplus => (10, 0.0, 0.0),
    };
    params.u32(kind).f32(a).f32(b)
}

pub(super) fn lower_gate(site: &Site, gate: Gate, clip: f32) -> Result<Vec<Dispatch>, LowerError> {
    let [x] = site.inputs()?;
    site.expect_output(&x.shape)?;
    let params = write(ParamWriter::new(2).u32(x.len() as u32).f32(clip), gate);
    Ok(vec![site.linear(KernelId::Gate, vec![site.operand(0)], params, x.len())?])
}

/// Hidden size of the output `[N, H]`.
fn hidden(site: &Site) -> Result<usize, LowerError> {
    match site.output.shape[..] {
        [_, hidden] => Ok(hidden),
        ref shape => Err(site.unsupported(format!("output {shape:?} is no matrix"))),
    }
}

/// That a value holds `times` as much as the output in each row.
fn expect(site: &Site, value: &Value, times: usize) -> Result<(), LowerError> {
    let [rows, hidden] = [site.output.shape[0], site.output.shape[1]];
    match value.shape[..] == [rows, times * hidden] {
        true => Ok(()),
        false => {
            let what = format!("'{}' is {:?}, [{rows}, {}] is due", value.name, value.shape, times * hidden);
            Err(site.unsupported(what))
        }
    }
}

pub(super) fn lower_lstm_cell(
    site: &Site,
    part: LstmPart,
    gates: [Gate; 3],
    clip: f32,
) -> Result<Vec<Dispatch>, LowerError> {
    let hidden = hidden(site)?;
    let (values, peephole) = match site.inputs[..] {
        [x, c] => ([x, c], Operand::Absent),
        [x, c, peephole] if peephole.len() == 3 * hidden => ([x, c], site.operand(2)),
        ref inputs => {
            let shapes: Vec<_> = inputs.iter().map(|v| &v.shape).collect();
            return Err(site.unsupported(format!("inputs {shapes:?} for {hidden} cells")));
        }
    };
    expect(site, values[0], 4)?;
    expect(site, values[1], 1)?;
    let (what, coupled) = match part {
        LstmPart::Cell { coupled } => (0, coupled),
        LstmPart::Output => (1, false),
    };
    let count = site.output.len();
    let params = ParamWriter::new(4).u32(count as u32).u32(hidden as u32).u32(what);
    let params = params.u32(u32::from(coupled)).u32(u32::from(peephole != Operand::Absent)).f32(clip);
    let params = gates.into_iter().fold(params, write);
    let inputs = vec![site.operand(0), site.operand(1), peephole];
    Ok(vec![site.linear(KernelId::LstmCell, inputs, params, count)?])
}

pub(super) fn lower_gru_cell(
    site: &Site,
    part: GruPart,
    gates: [Gate; 2],
    clip: f32,
) -> Result<Vec<Dispatch>, LowerError> {
    let hidden = hidden(site)?;
    let (what, sizes): (u32, &[usize]) = match part {
        GruPart::Reset => (0, &[2, 1]),
        GruPart::Output => (1, &[2, 1, 1]),
        GruPart::LinearBeforeReset => (2, &[3, 3, 1]),
    };
    if site.inputs.len() != sizes.len() {
        return Err(site.unsupported(format!("{} inputs, needs {}", site.inputs.len(), sizes.len())));
    }
    for (value, times) in site.inputs.iter().zip(sizes) {
        expect(site, value, *times)?;
    }
    let count = site.output.len();
    let params = ParamWriter::new(4).u32(count as u32).u32(hidden as u32).u32(what).f32(clip);
    let params = gates.into_iter().fold(params, write);
    let (second, last) = match part {
        GruPart::Reset => (Operand::Absent, site.operand(1)),
        _ => (site.operand(1), site.operand(2)),
    };
    Ok(vec![site.linear(KernelId::GruCell, vec![site.operand(0), second, last], params, count)?])
}

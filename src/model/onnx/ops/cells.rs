//! LSTM, GRU and RNN, unrolled.

use super::compose;
use super::recurrent::{Group, Lane, Sequence, bias, part, product};
use crate::graph::{BinaryOp, Gate, GruPart, LstmPart, Op, ValueId};
use crate::model::onnx::site::{Fault, Site};

/// The biases of the input and of the state at `from .. from + count` of `rows`, added up.
fn biases(
    site: &mut Site,
    direction: usize,
    rows: usize,
    from: usize,
    count: usize,
) -> Result<Option<ValueId>, Fault> {
    let of_input = bias(site, direction, from, count)?;
    let of_state = bias(site, direction, rows + from, count)?;
    match (of_input, of_state) {
        (Some(a), Some(b)) => compose::binary(site, "bias", BinaryOp::Add, a, b).map(Some),
        _ => Ok(None),
    }
}

/// Runs every direction over every group.
fn lanes(
    site: &mut Site,
    sequence: &Sequence,
    mut lane: impl FnMut(&mut Site, usize) -> Result<Vec<Lane>, Fault>,
) -> Result<(), Fault> {
    let lanes = (0..sequence.reversed.len()).map(|d| lane(site, d)).collect::<Result<Vec<_>, _>>()?;
    sequence.finish(site, &lanes)
}

/// Outputs as they come, sorted by their place in the sequence.
fn placed(order: &[usize], outputs: Vec<ValueId>) -> Vec<ValueId> {
    let mut placed: Vec<(usize, ValueId)> = order.iter().copied().zip(outputs).collect();
    placed.sort_by_key(|(t, _)| *t);
    placed.into_iter().map(|(_, value)| value).collect()
}

pub(super) fn rnn(site: &mut Site) -> Result<(), Fault> {
    let sequence = Sequence::read(site, 1, &[Gate::Tanh])?;
    let hidden = sequence.hidden;
    lanes(site, &sequence, |site, d| {
        let (w, r) = (part(site, 1, d, 0, hidden)?, part(site, 2, d, 0, hidden)?);
        let bias = biases(site, d, hidden, 0, hidden)?;
        let from_input = product(site, "inputs", sequence.x, w, bias)?;
        let (gate, clip) = (sequence.gates[d][0], sequence.clip);
        let run = |group: &Group| {
            let mut h = sequence.initial(site, 5, d, *group)?;
            let (order, mut outputs) = (sequence.order(d, *group), Vec::new());
            for t in &order {
                let mut x = sequence.step(site, from_input, *t, *group)?;
                if let Some(h) = h {
                    x = product(site, "gate", h, r, Some(x))?;
                }
                let shape = vec![group.rows, hidden];
                let output = site.emit_before("output", Op::Gate { gate, clip }, vec![x], shape)?;
                outputs.push(output);
                h = Some(output);
            }
            let last = h.unwrap_or_else(|| sequence.zeros(site, group.rows));
            Ok(Lane { outputs: placed(&order, outputs), states: vec![last] })
        };
        sequence.groups.iter().map(run).collect()
    })
}

pub(super) fn lstm(site: &mut Site) -> Result<(), Fault> {
    let sequence = Sequence::read(site, 4, &[Gate::Sigmoid, Gate::Tanh, Gate::Tanh])?;
    let coupled = site.attributes().flag("input_forget", false)?;
    let (hidden, rows, clip) = (sequence.hidden, 4 * sequence.hidden, sequence.clip);
    lanes(site, &sequence, |site, d| {
        let (w, r) = (part(site, 1, d, 0, rows)?, part(site, 2, d, 0, rows)?);
        let bias = biases(site, d, rows, 0, rows)?;
        let from_input = product(site, "inputs", sequence.x, w, bias)?;
        let peephole = match site.optional(7).is_some() {
            true => Some(part(site, 7, d, 0, 3 * hidden)?),
            false => None,
        };
        let gates: [Gate; 3] = std::array::from_fn(|i| sequence.gates[d][i]);
        let run = |group: &Group| {
            let mut h = sequence.initial(site, 5, d, *group)?;
            let c = sequence.initial(site, 6, d, *group)?;
            let mut c = c.unwrap_or_else(|| sequence.zeros(site, group.rows));
            let (order, mut outputs) = (sequence.order(d, *group), Vec::new());
            for t in &order {
                let mut x = sequence.step(site, from_input, *t, *group)?;
                if let Some(h) = h {
                    x = product(site, "gates", h, r, Some(x))?;
                }
                let cell = |site: &mut Site, what: &str, part, c| {
                    let inputs = [x, c].into_iter().chain(peephole).collect();
                    site.emit_before(
                        what,
                        Op::LstmCell { part, gates, clip },
                        inputs,
                        vec![group.rows, hidden],
                    )
                };
                c = cell(site, "cell", LstmPart::Cell { coupled }, c)?;
                let output = cell(site, "output", LstmPart::Output, c)?;
                outputs.push(output);
                h = Some(output);
            }
            let last = h.unwrap_or_else(|| sequence.zeros(site, group.rows));
            Ok(Lane { outputs: placed(&order, outputs), states: vec![last, c] })
        };
        sequence.groups.iter().map(run).collect()
    })
}

/// The weights of one direction of a GRU, and the products of all steps' inputs.
enum Gru {
    /// Update and reset, then the candidate.
    Plain { from_input: [ValueId; 2], recurrent: [ValueId; 2] },
    /// All three, with the state's bias apart.
    LinearBeforeReset { from_input: ValueId, recurrent: ValueId, bias: Option<ValueId> },
}

impl Gru {
    fn read(site: &mut Site, sequence: &Sequence, d: usize) -> Result<Gru, Fault> {
        let hidden = sequence.hidden;
        let rows = 3 * hidden;
        if site.attributes().flag("linear_before_reset", false)? {
            let (w, recurrent) = (part(site, 1, d, 0, rows)?, part(site, 2, d, 0, rows)?);
            let of_input = bias(site, d, 0, rows)?;
            let from_input = product(site, "inputs", sequence.x, w, of_input)?;
            return Ok(Gru::LinearBeforeReset { from_input, recurrent, bias: bias(site, d, rows, rows)? });
        }
        let mut half = |from: usize, count: usize| -> Result<[ValueId; 2], Fault> {
            let (w, recurrent) = (part(site, 1, d, from, count)?, part(site, 2, d, from, count)?);
            let bias = biases(site, d, rows, from, count)?;
            Ok([product(site, "inputs", sequence.x, w, bias)?, recurrent])
        };
        let [gates, r_gates] = half(0, 2 * hidden)?;
        let [candidate, r_candidate] = half(2 * hidden, hidden)?;
        Ok(Gru::Plain { from_input: [gates, candidate], recurrent: [r_gates, r_candidate] })
    }

    /// The output of a step from the last one.
    fn step(
        &self,
        site: &mut Site,
        sequence: &Sequence,
        d: usize,
        t: usize,
        group: Group,
        h: ValueId,
    ) -> Result<ValueId, Fault> {
        let gates = [sequence.gates[d][0], sequence.gates[d][1]];
        let (clip, shape) = (sequence.clip, vec![group.rows, sequence.hidden]);
        let cell = |part| Op::GruCell { part, gates, clip };
        match self {
            Gru::LinearBeforeReset { from_input, recurrent, bias } => {
                let x = sequence.step(site, *from_input, t, group)?;
                let from_state = product(site, "states", h, *recurrent, *bias)?;
                site.emit_before("output", cell(GruPart::LinearBeforeReset), vec![x, from_state, h], shape)
            }
            Gru::Plain { from_input, recurrent } => {
                let x = sequence.step(site, from_input[0], t, group)?;
                let opened = product(site, "gates", h, recurrent[0], Some(x))?;
                let reset =
                    site.emit_before("reset", cell(GruPart::Reset), vec![opened, h], shape.clone())?;
                let x = sequence.step(site, from_input[1], t, group)?;
                let candidate = product(site, "candidate", reset, recurrent[1], Some(x))?;
                site.emit_before("output", cell(GruPart::Output), vec![opened, candidate, h], shape)
            }
        }
    }
}

pub(super) fn gru(site: &mut Site) -> Result<(), Fault> {
    let sequence = Sequence::read(site, 3, &[Gate::Sigmoid, Gate::Tanh])?;
    lanes(site, &sequence, |site, d| {
        let gru = Gru::read(site, &sequence, d)?;
        let run = |group: &Group| {
            let h = sequence.initial(site, 5, d, *group)?;
            let mut h = h.unwrap_or_else(|| sequence.zeros(site, group.rows));
            let (order, mut outputs) = (sequence.order(d, *group), Vec::new());
            for t in &order {
                h = gru.step(site, &sequence, d, *t, *group, h)?;
                outputs.push(h);
            }
            Ok(Lane { outputs: placed(&order, outputs), states: vec![h] })
        };
        sequence.groups.iter().map(run).collect()
    })
}

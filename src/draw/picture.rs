//! The model of the picture: a plan with all that its writers show.

use crate::graph::{Graph, Usage};
use crate::plan::{Plan, PlanError, Problem, Report, Violation, bound};

/// A tensor as it is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record {
    /// Its label.
    pub name: String,
    /// Bytes.
    pub size_bytes: u64,
    /// Bytes up to the next multiple of its alignment; the size itself for a view.
    pub padded_bytes: u64,
    /// First step that uses it.
    pub first: u32,
    /// Last step that it must survive, inclusive.
    pub last: u32,
    /// Where it is a view: of which tensor, by position.
    pub view_of: Option<u32>,
    /// Dimensions, where they are known; empty for records without.
    pub shape: Vec<usize>,
}

/// Where a plan puts a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Which arena.
    pub arena: u32,
    /// First byte in it.
    pub offset_bytes: u64,
}

/// What a step of the schedule does, where that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Name of the node.
    pub name: String,
    /// Name of its operator.
    pub op: String,
}

/// Something that lies in other buffers than the arenas, for the whole run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resident {
    /// What it is: weights, inputs, outputs, state.
    pub name: String,
    /// Bytes.
    pub bytes: u64,
}

/// Steps of the longest schedule that is drawn: the live bytes of each are held.
const MOST_STEPS: u32 = 1 << 24;

/// One plan as a picture.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Picture {
    /// What is shown.
    pub title: String,
    /// The tensors, in the order of the problem.
    pub records: Vec<Record>,
    /// Their places, in the same order.
    pub places: Vec<Place>,
    /// The plan in numbers.
    pub report: Report,
    /// Live bytes at every step.
    pub load: Vec<u64>,
    /// What the steps do; empty where it is not known.
    pub steps: Vec<Step>,
    /// What lies elsewhere.
    pub residents: Vec<Resident>,
}

impl Picture {
    /// The picture of a plan.
    ///
    /// # Errors
    /// [`PlanError::Invalid`] where the plan was made for another problem; whether it is valid otherwise is
    /// the judge's to say, and a picture of an invalid plan is one way to see why.
    /// [`PlanError::TooManySteps`] where there are over 16,777,216.
    pub fn new(title: impl Into<String>, problem: &Problem, plan: &Plan) -> Result<Self, PlanError> {
        let found = problem.fingerprint();
        if plan.fingerprint() != found || plan.len() != problem.len() {
            return Err(Violation::OtherProblem { planned: plan.fingerprint(), found }.into());
        }
        if problem.steps() > MOST_STEPS {
            return Err(PlanError::TooManySteps { steps: problem.steps(), limit: MOST_STEPS });
        }
        let record = |tensor: &crate::plan::Tensor| {
            let align = tensor.alignment().unwrap_or(problem.alignment()).bytes();
            let view_of = tensor.alias().map(|alias| alias.base.index() as u32);
            let size_bytes = tensor.size_bytes();
            let padded_bytes =
                if view_of.is_some() { size_bytes } else { size_bytes.next_multiple_of(align) };
            Record {
                name: tensor.label().to_owned(),
                size_bytes,
                padded_bytes,
                first: tensor.first(),
                last: problem.last(tensor),
                view_of,
                shape: Vec::new(),
            }
        };
        let place = |(arena, offset_bytes): (crate::plan::ArenaId, u64)| Place {
            arena: arena.index() as u32,
            offset_bytes,
        };
        Ok(Picture {
            title: title.into(),
            records: problem.tensors().iter().map(record).collect(),
            places: problem.ids().filter_map(|id| plan.place(id)).map(place).collect(),
            report: plan.report(problem),
            load: bound::breadths(problem),
            steps: Vec::new(),
            residents: Vec::new(),
        })
    }

    /// The same picture with what a graph knows beyond its problem: shapes, what the steps do, and the bytes
    /// that lie in other buffers. A step is a node, so `usage` must be that of this graph.
    pub fn with_graph(mut self, graph: &Graph, usage: &Usage) -> Self {
        for (record, id) in self.records.iter_mut().zip(usage.problem.ids()) {
            record.shape = graph.get(usage.value(id)).shape.clone();
        }
        let step =
            |node: &crate::graph::Node| Step { name: node.name.clone(), op: node.op.name().to_owned() };
        self.steps = graph.nodes.iter().map(step).collect();
        self.residents = residents(graph);
        self
    }

    /// The same picture with the layout that the problem was made for.
    pub fn with_layout(mut self, layout: &str) -> Self {
        self.report.layout = layout.to_owned();
        self
    }

    /// Number of steps.
    pub fn step_count(&self) -> u32 {
        self.report.steps
    }

    /// Bytes of every arena.
    pub fn arenas(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        self.report.arenas.iter().map(|arena| arena.bytes)
    }

    /// Tensors that hold bytes at a step, by position: the largest first, views left out.
    pub fn live(&self, step: u32) -> Vec<usize> {
        let alive =
            |r: &Record| r.size_bytes > 0 && r.view_of.is_none() && (r.first..=r.last).contains(&step);
        let mut live: Vec<usize> = (0..self.records.len()).filter(|i| alive(&self.records[*i])).collect();
        live.sort_by_key(|i| (std::cmp::Reverse(self.records[*i].size_bytes), *i));
        live
    }

    /// The operator of a step.
    pub fn op(&self, step: u32) -> Option<&str> {
        self.steps.get(step as usize).map(|step| step.op.as_str())
    }
}

/// Weights, then inputs, outputs and what of both is a state that goes from run to run.
fn residents(graph: &Graph) -> Vec<Resident> {
    let is_state = |id: &crate::graph::ValueId| graph.get(*id).name.to_ascii_lowercase().contains("state");
    let bytes = |ids: &[crate::graph::ValueId], state: bool| -> u64 {
        ids.iter().filter(|id| is_state(id) == state).map(|id| graph.get(*id).size_bytes()).sum()
    };
    let (inputs, outputs) = (&graph.inputs[..], &graph.outputs[..]);
    let all = [
        ("weights", graph.constant_bytes()),
        ("inputs", bytes(inputs, false)),
        ("outputs", bytes(outputs, false)),
        ("state", bytes(inputs, true) + bytes(outputs, true)),
    ];
    let there = all.into_iter().filter(|(_, bytes)| *bytes > 0);
    there.map(|(name, bytes)| Resident { name: name.to_owned(), bytes }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Alignment, Planner};

    #[test]
    fn a_plan_of_another_problem_is_refused() {
        let mut problem = Problem::new(Alignment::ONE);
        problem.tensor("a", 8, 0..=1).unwrap();
        let plan = Planner::auto().plan(&problem).unwrap();
        problem.tensor("b", 8, 0..=1).unwrap();
        assert!(matches!(Picture::new("", &problem, &plan), Err(PlanError::Invalid(_))));
    }

    #[test]
    fn a_schedule_without_end_is_refused() {
        let mut problem = Problem::new(Alignment::ONE);
        problem.tensor("a", 8, 0..=u32::MAX - 1).unwrap();
        let plan = Planner::auto().plan(&problem).unwrap();
        let error = Picture::new("", &problem, &plan).unwrap_err().to_string();
        assert_eq!(error, "a picture has at most 16777216 steps, this one would have 4294967295");
    }

    #[test]
    fn what_is_live_comes_largest_first_without_views() {
        let mut problem = Problem::new(Alignment::new(256).unwrap());
        let base = problem.tensor("base", 300, 0..=1).unwrap();
        problem.tensor("large", 400, 1..=2).unwrap();
        let view = problem.tensor("view", 100, 1..=2).unwrap();
        problem.alias(view, base, 0).unwrap();
        let plan = Planner::auto().plan(&problem).unwrap();
        let picture = Picture::new("", &problem, &plan).unwrap();
        assert_eq!(picture.live(1), [1, 0]);
        assert_eq!(picture.live(2), [1]);
        assert_eq!((picture.records[0].padded_bytes, picture.records[2].padded_bytes), (512, 100));
        assert_eq!(picture.load, [300, 700, 700]);
    }
}

//! Plans for every shape within bounds.

use std::num::NonZeroU64;

use proptest::prelude::*;
use sublet::plan::{Alignment, Dim, Plan, PlanError, Planner, Shape, ShapedProblem, Size, TensorId};

/// Expressions over two dimensions, as a tree that can be drawn.
#[derive(Debug, Clone)]
enum Tree {
    Constant(u64),
    Dim(usize),
    Sum(Box<Tree>, Box<Tree>),
    Product(Box<Tree>, Box<Tree>),
    CeilDiv(Box<Tree>, u64),
    RoundUp(Box<Tree>, u64),
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![(0u64..300).prop_map(Tree::Constant), (0usize..2).prop_map(Tree::Dim)];
    leaf.prop_recursive(3, 8, 2, |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        prop_oneof![
            (boxed(), boxed()).prop_map(|(a, b)| Tree::Sum(a, b)),
            (boxed(), boxed()).prop_map(|(a, b)| Tree::Product(a, b)),
            (boxed(), 1u64..70).prop_map(|(a, n)| Tree::CeilDiv(a, n)),
            (boxed(), 1u64..70).prop_map(|(a, n)| Tree::RoundUp(a, n)),
        ]
    })
}

fn size(tree: &Tree, dims: &[Dim]) -> Size {
    let divisor = |n: &u64| NonZeroU64::new(*n).unwrap();
    match tree {
        Tree::Constant(value) => Size::from(*value),
        Tree::Dim(i) => Size::from(dims[*i]),
        Tree::Sum(a, b) => size(a, dims) + size(b, dims),
        Tree::Product(a, b) => size(a, dims) * size(b, dims),
        Tree::CeilDiv(a, n) => size(a, dims).ceil_div(divisor(n)),
        Tree::RoundUp(a, n) => size(a, dims).round_up(divisor(n)),
    }
}

/// What a tree means, told apart from [`Size`].
fn value(tree: &Tree, dims: &[u64]) -> u64 {
    match tree {
        Tree::Constant(value) => *value,
        Tree::Dim(i) => dims[*i],
        Tree::Sum(a, b) => value(a, dims) + value(b, dims),
        Tree::Product(a, b) => value(a, dims) * value(b, dims),
        Tree::CeilDiv(a, n) => value(a, dims).div_ceil(*n),
        Tree::RoundUp(a, n) => value(a, dims).div_ceil(*n) * n,
    }
}

/// Tensors that meet in steps and, at their sizes of that shape, in bytes.
fn overlaps(shaped: &ShapedProblem, plan: &Plan, shape: &Shape) -> Vec<(TensorId, TensorId)> {
    let ids: Vec<TensorId> = shaped.bound().ids().collect();
    let steps = |id: &TensorId| {
        let tensor = &shaped.bound().tensors()[id.index()];
        (tensor.first(), shaped.bound().last(tensor))
    };
    let bytes = |id: &TensorId| {
        let start = plan.offset_bytes(*id);
        (start, start + shaped.size_bytes(*id, shape))
    };
    let mut found = Vec::new();
    for (i, a) in ids.iter().enumerate() {
        for b in &ids[i + 1..] {
            let in_steps = steps(a).0 <= steps(b).1 && steps(b).0 <= steps(a).1;
            if in_steps && bytes(a).0.max(bytes(b).0) < bytes(a).1.min(bytes(b).1) {
                found.push((*a, *b));
            }
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// The plan at the bounds holds at every shape, and no size is over its size at the bounds.
    #[test]
    fn a_plan_at_the_bounds_holds_at_every_shape(
        trees in prop::collection::vec((tree(), 0u32..10, 0u32..5), 1..20),
        bounds in (0u64..40, 0u64..40),
        parts in prop::collection::vec((0u64..=100, 0u64..=100), 5),
    ) {
        let mut shaped = ShapedProblem::new(Alignment::new(16).unwrap());
        let dims = [shaped.dim("a", bounds.0).unwrap(), shaped.dim("b", bounds.1).unwrap()];
        for (i, (tree, first, length)) in trees.iter().enumerate() {
            shaped.tensor(format!("t{i}"), size(tree, &dims), *first..=first + length).unwrap();
        }
        let plan = Planner::auto().plan(shaped.bound()).unwrap();
        plan.validate(shaped.bound()).unwrap();
        for (a, b) in parts {
            let values = [bounds.0 * a / 100, bounds.1 * b / 100];
            let shape = shaped.shape(&[(dims[0], values[0]), (dims[1], values[1])]).unwrap();
            prop_assert_eq!(shape.values(), values);
            for (id, (tree, ..)) in shaped.bound().ids().zip(&trees) {
                prop_assert_eq!(shaped.size_bytes(id, &shape), value(tree, &values));
            }
            prop_assert_eq!(overlaps(&shaped, &plan, &shape), vec![]);
            let alone = shaped.at(&shape).unwrap();
            prop_assert!(alone.naive_bytes() <= shaped.bound().naive_bytes());
        }
    }
}

#[test]
fn the_oracle_sees_an_overlap() {
    let mut shaped = ShapedProblem::new(Alignment::ONE);
    let n = shaped.dim("n", 10).unwrap();
    let [a, b] = ["a", "b"].map(|name| shaped.tensor(name, n, 0..=1).unwrap());
    let plan = Planner::auto().plan(shaped.bound()).unwrap();
    let shifted = plan.with_offset(b, plan.arena(b), plan.offset_bytes(a) + 5);
    let shape = |value| shaped.shape(&[(n, value)]).unwrap();
    assert_eq!(overlaps(&shaped, &shifted, &shape(6)), [(a, b)]);
    assert_eq!(overlaps(&shaped, &shifted, &shape(5)), []);
}

#[test]
fn what_is_out_of_bounds_is_named() {
    let mut shaped = ShapedProblem::new(Alignment::ONE);
    let mut other = ShapedProblem::new(Alignment::ONE);
    let n = shaped.dim("tokens", 10).unwrap();
    assert_eq!(
        shaped.shape(&[(n, 11)]).unwrap_err().to_string(),
        "dimension or tensor 'tokens' is 11, its upper bound is 10"
    );
    assert!(matches!(shaped.dim("tokens", 3), Err(PlanError::Dimension { .. })));
    let over = Size::from(u64::MAX) * n;
    assert!(matches!(shaped.tensor("huge", over, 0..=0), Err(PlanError::Dimension { .. })));
    assert!(matches!(other.tensor("foreign", n, 0..=0), Err(PlanError::Dimension { .. })));
    assert!(matches!(other.shape(&[(n, 1)]), Err(PlanError::Dimension { .. })));
}

/// In place at the bounds is in place within them, also where the output is larger than the input there.
#[test]
fn in_place_holds_within_the_bounds() {
    let mut shaped = ShapedProblem::new(Alignment::ONE);
    let n = shaped.dim("n", 100).unwrap();
    let input = shaped.tensor("input", Size::from(n) * 4, 0..=1).unwrap();
    let output = shaped.tensor("output", 200, 1..=2).unwrap();
    shaped.allow_in_place(output, input).unwrap();
    let plan = Planner::auto().plan(shaped.bound()).unwrap();
    assert_eq!((plan.peak_bytes(), plan.offset_bytes(output)), (400, plan.offset_bytes(input)));
    let small = shaped.shape(&[(n, 10)]).unwrap();
    assert!(shaped.at(&small).unwrap().tensors()[output.index()].in_place().is_empty());
}

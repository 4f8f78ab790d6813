//! Separation: who must not share an arena, with everything that could contradict it.

use sublet::plan::{Alignment, ArenaId, PlanError, Planner, Problem, Strategy, TensorId, Violation, file};

fn chain(sizes: &[u64]) -> (Problem, Vec<TensorId>) {
    let mut problem = Problem::new(Alignment::ONE);
    let ids =
        sizes.iter().zip(0u32..).map(|(size, i)| problem.tensor(format!("t{i}"), *size, i..=i + 1).unwrap());
    let ids = ids.collect();
    (problem, ids)
}

#[test]
fn outputs_apart_from_inputs_make_two_arenas_of_a_chain() {
    let (mut problem, ids) = chain(&[100, 80, 60, 90, 20]);
    for pair in ids.windows(2) {
        problem.separate_step_io(&pair[1..], &pair[..1]).unwrap();
    }
    for planner in Strategy::ALL.iter().map(|s| Planner::new(*s)).chain([Planner::auto()]) {
        let plan = planner.plan(&problem).unwrap();
        plan.validate(&problem).unwrap();
        assert_eq!(plan.arenas().len(), 2, "{planner:?}");
        for pair in ids.windows(2) {
            assert_ne!(plan.arena(pair[0]), plan.arena(pair[1]));
        }
    }
    // The larger of the even and of the odd ones.
    let plan = Planner::auto().plan(&problem).unwrap();
    let mut arenas = plan.arenas().to_vec();
    arenas.sort_unstable();
    assert_eq!(arenas, [90, 100]);
}

#[test]
fn three_that_must_all_be_apart_take_three_arenas() {
    let (mut problem, ids) = chain(&[10, 10, 10, 10]);
    for (a, b) in [(0, 1), (1, 2), (0, 2)] {
        problem.separate(ids[a], ids[b]).unwrap();
    }
    let plan = Planner::auto().plan(&problem).unwrap();
    plan.validate(&problem).unwrap();
    assert_eq!((plan.arenas().len(), plan.peak_bytes()), (3, 30));
}

#[test]
fn the_judge_names_both_tensors_and_the_arena() {
    let (mut problem, ids) = chain(&[10, 10, 10]);
    problem.separate(ids[0], ids[2]).unwrap();
    let plan = Planner::auto().plan(&problem).unwrap();
    plan.validate(&problem).unwrap();
    let moved = plan.with_offset(ids[2], plan.arena(ids[0]), plan.offset_bytes(ids[0]));
    let expected =
        Violation::NotSeparated { first: "t0".into(), second: "t2".into(), arena: plan.arena(ids[0]) };
    assert_eq!(moved.validate(&problem), Err(expected));
    assert_eq!(moved.validate(&problem).unwrap_err().tensor(), Some("t2"));
}

#[test]
fn separation_is_symmetric_and_part_of_the_fingerprint_and_of_the_plan_file() {
    let (plain, ids) = chain(&[10, 20, 30]);
    let with = |a: usize, b: usize| {
        let mut problem = plain.clone();
        problem.separate(ids[a], ids[b]).unwrap();
        problem
    };
    assert_eq!(with(0, 2).fingerprint(), with(2, 0).fingerprint());
    assert_ne!(with(0, 2).fingerprint(), plain.fingerprint());
    assert_ne!(with(0, 2).fingerprint(), with(0, 1).fingerprint());
    let mut twice = with(0, 2);
    twice.separate(ids[2], ids[0]).unwrap();
    assert_eq!(twice.separations().len(), 1);

    let plan = Planner::auto().plan(&twice).unwrap();
    let text = file::to_json(&twice, &plan).unwrap();
    let (again, same) = file::from_json(&text, "plan.json").unwrap();
    assert_eq!(again.separations(), twice.separations());
    assert_eq!(same, plan);
    let edited = text.replace("\"left\": [\n          0", "\"left\": [\n          1");
    assert_ne!(edited, text);
    assert!(matches!(file::from_json(&edited, "plan.json"), Err(PlanError::PlanFile { .. })));
}

#[test]
fn contradictions_are_refused_by_name_whichever_comes_first() {
    let (plain, ids) = chain(&[64, 64, 64]);
    let refused = |result: Result<(), PlanError>, part: &str| {
        let text = result.unwrap_err().to_string();
        assert!(text.contains("'t0'") && text.contains("'t1'") && text.contains(part), "{text}");
    };
    let mut problem = plain.clone();
    problem.alias(ids[1], ids[0], 0).unwrap();
    refused(problem.separate(ids[0], ids[1]), "the same bytes by meaning");
    let mut problem = plain.clone();
    problem.separate(ids[1], ids[0]).unwrap();
    refused(problem.alias(ids[1], ids[0], 0), "the same bytes by meaning");
    assert_eq!(problem.get(ids[1]).unwrap().alias(), None, "a refused alias leaves nothing behind");
    refused(problem.allow_in_place(ids[1], ids[0]), "in place");
    problem.pin(ids[0], 0).unwrap();
    refused(problem.pin(ids[1], 64), "both are pinned");
    assert_eq!(problem.get(ids[1]).unwrap().pin(), None, "a refused pin leaves nothing behind");
    let mut problem = plain.clone();
    problem.allow_in_place(ids[1], ids[0]).unwrap();
    refused(problem.separate_step_io(&[ids[2], ids[1]], &[ids[0]]), "in place");
    let mut problem = plain.clone();
    problem.pin(ids[0], 0).unwrap();
    problem.pin(ids[1], 64).unwrap();
    refused(problem.separate(ids[0], ids[1]), "both are pinned");

    let mut problem = plain.clone();
    assert!(problem.separate(ids[0], ids[0]).is_err());
    assert!(matches!(
        problem.separate(ids[0], TensorId::new(9)),
        Err(PlanError::UnknownTensor { id: 9, .. })
    ));
    problem.separate_step_io(&[], &[ids[0]]).unwrap();
    assert_eq!(problem.fingerprint(), plain.fingerprint());
}

#[test]
fn views_separate_their_bases_and_pins_stay_in_the_first_arena() {
    let (mut problem, ids) = chain(&[64, 64, 64, 64]);
    problem.alias(ids[1], ids[0], 0).unwrap();
    problem.separate(ids[1], ids[3]).unwrap();
    problem.pin(ids[3], 128).unwrap();
    let plan = Planner::auto().plan(&problem).unwrap();
    plan.validate(&problem).unwrap();
    assert_eq!(plan.place(ids[3]), Some((ArenaId::new(0), 128)));
    assert_eq!(plan.arena(ids[0]), ArenaId::new(1));
    assert_eq!(plan.place(ids[0]), plan.place(ids[1]));
}

#[test]
fn every_step_of_a_wide_network_is_separated_at_the_cost_of_its_sides() {
    let mut problem = Problem::new(Alignment::new(256).unwrap());
    let width = 300;
    let mut layers: Vec<Vec<TensorId>> = Vec::new();
    for layer in 0..20u32 {
        let id = |i: u32| format!("l{layer}_{i}");
        layers.push((0..width).map(|i| problem.tensor(id(i), 512, layer..=layer + 1).unwrap()).collect());
    }
    for pair in layers.windows(2) {
        problem.separate_step_io(&pair[1], &pair[0]).unwrap();
    }
    let plan = Planner::auto().plan(&problem).unwrap();
    plan.validate(&problem).unwrap();
    assert_eq!(plan.arenas(), [512 * u64::from(width), 512 * u64::from(width)]);
}

//! PyTorch's memory snapshots: what is read out of them, and that damage is an error with its place.

use sublet::plan::snapshot::{Options, is_snapshot, parse};
use sublet::plan::{Alignment, PlanError, Planner, Problem};

const SNAPSHOT: &str = include_str!("data/draw/snapshot.json");

fn read(text: &str) -> Result<Problem, PlanError> {
    parse(text, "s.json", Options::default())
}

fn refused(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

/// A trace of one device.
fn trace(events: &str) -> String {
    format!("{{\"device_traces\": [[{events}]]}}")
}

#[test]
fn blocks_live_from_their_allocation_to_their_free() {
    let problem = read(SNAPSHOT).unwrap();
    let rows: Vec<_> =
        problem.tensors().iter().map(|t| (t.label(), t.size_bytes(), t.first(), t.last())).collect();
    assert_eq!(
        rows,
        [
            // The frame that is not PyTorch's own.
            ("0 forward model.py:42", 2048, 0, 1),
            ("1 forward model.py:43", 1024, 1, 2),
            // Freed in the trace and never allocated in it.
            ("before the trace 0x2400", 512, 0, 1),
            // The address of the first again, without frames.
            ("alloc 2", 1536, 2, 2),
            // Standing in a segment at the end, and in no event.
            ("before the trace load model.py:7", 1000, 0, 2),
        ]
    );
    let plan = Planner::auto().plan(&problem).unwrap();
    plan.validate(&problem).unwrap();
    assert_eq!(plan.peak_bytes(), 2048 + 1024 + 512 + 1000);
}

#[test]
fn a_device_is_chosen_and_alignment_asked_for() {
    assert!(is_snapshot(SNAPSHOT));
    assert!(!is_snapshot("{\"format\": \"sublet plan\"}") && !is_snapshot("id,lower"));
    let options = Options { device: Some(1), ..Options::default() };
    assert!(parse(SNAPSHOT, "s.json", options).unwrap().is_empty());
    let options = Options { device: Some(2), ..Options::default() };
    let error = parse(SNAPSHOT, "s.json", options).unwrap_err().to_string();
    assert_eq!(error, "s.json: device 2 of 2 that have traces");
    let options = Options { alignment: Alignment::new(512).unwrap(), ..Options::default() };
    assert_eq!(parse(SNAPSHOT, "s.json", options).unwrap().alignment().bytes(), 512);
}

#[test]
fn what_contradicts_itself_is_named_by_its_event() {
    let alloc = "{\"action\": \"alloc\", \"addr\": 256, \"size\": 8}";
    let free = "{\"action\": \"free_completed\", \"addr\": 256, \"size\": 8}";
    assert!(refused(&trace(&format!("{alloc}, {alloc}"))).contains("device_traces[0][1]: address 0x100"));
    let twice = refused(&trace(&format!("{alloc}, {free}, {free}")));
    assert_eq!(twice, "s.json: device_traces[0][2]: address 0x100 is freed and holds nothing");
    let bare = refused(&trace("{\"action\": \"alloc\", \"addr\": 256}"));
    assert_eq!(bare, "s.json: device_traces[0][0]: 'alloc' without size");
    assert!(refused(&trace("{\"action\": \"alloc\", \"size\": 1}")).contains("without addr"));
    assert!(refused("{\"device_traces\": [[], []]}").contains("no device has a trace"));
    assert!(refused("[1]").contains("no memory snapshot in JSON"));
    assert!(refused(&trace("{\"action\": \"alloc\", \"addr\": -1, \"size\": 8}")).contains("line 1"));
    let huge = format!("{{\"action\": \"alloc\", \"addr\": 1, \"size\": {}}}", u64::MAX);
    assert!(refused(&trace(&huge)).contains("sum to more than 64 bits"));
}

/// Cut anywhere, and with bytes changed anywhere: an error or a problem, never a panic.
#[test]
fn damaged_snapshots_are_errors() {
    for end in (0..SNAPSHOT.trim_end().len()).filter(|end| SNAPSHOT.is_char_boundary(*end)) {
        assert!(read(&SNAPSHOT[..end]).is_err(), "cut at {end}");
    }
    // A linear congruence is random enough to hit every byte.
    let mut state = 7u64;
    let mut below = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let (mut good, mut bad) = (0, 0);
    for _ in 0..20_000 {
        let mut bytes = SNAPSHOT.as_bytes().to_vec();
        for _ in 0..1 + below(3) {
            let at = below(bytes.len());
            bytes[at] = b" 0189-\"{}[],:aefnx"[below(18)];
        }
        let Ok(text) = String::from_utf8(bytes) else { continue };
        match read(&text) {
            Ok(problem) => {
                let plan = Planner::new(sublet::plan::Strategy::GreedyBySize).plan(&problem).unwrap();
                plan.validate(&problem).unwrap();
                good += 1;
            }
            Err(_) => bad += 1,
        }
    }
    assert!(good > 1_000 && bad > 1_000, "{good} good, {bad} bad");
}

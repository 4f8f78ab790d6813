//! A mutation loop over the CSV and plan-file readers, and over planning what they read.
//!
//! Five seconds as a test; `scripts/fuzz SECONDS` runs it for longer, from another seed each time.
//! Nothing may panic, whatever is read; what is planned must pass the judge.

#[path = "support/random_problem.rs"]
mod random_problem;

use std::time::{Duration, Instant};

use random_problem::{Kinds, Random, draw};
use sublet::plan::{Alignment, Effort, PlanError, Planner, Problem, csv, file};

/// Pieces that readers look for.
const TOKENS: &[&str] = &[
    "\"",
    "\"\"",
    ",",
    "\n",
    "\r\n",
    "-1",
    "0",
    "1",
    "18446744073709551615",
    "18446744073709551616",
    "4294967295",
    "1e3",
    "id,lower,upper,size\n",
    ",alignment",
    ",offset",
    ",arena",
    "65536",
    "3",
    "{",
    "}",
    "[",
    "]",
    "null",
    "true",
    "\"in_place\": [0]",
    "\"pin\": 0,",
    "\"keep\": true,",
    "\"alias\": {\"base\": 0, \"byte_offset\": 0},",
    "\"separate\": [{\"left\": [0], \"right\": [1]}],",
    "\u{feff}",
    "é",
    "\0",
    " ",
];

fn number_from(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

fn mutate(random: &mut Random, text: &str, other: &str) -> String {
    let mut text: Vec<char> = text.chars().collect();
    for _ in 0..1 + random.below(4) {
        let at = random.below(text.len() as u64 + 1) as usize;
        let until = (at + random.below(12) as usize).min(text.len());
        match random.below(6) {
            0 => drop(text.drain(at..until)),
            1 => {
                let token = TOKENS[random.below(TOKENS.len() as u64) as usize];
                drop(text.splice(at..until, token.chars()));
            }
            2 => {
                let token = TOKENS[random.below(TOKENS.len() as u64) as usize];
                drop(text.splice(at..at, token.chars()));
            }
            3 => {
                let copy: Vec<char> = text[at..until].to_vec();
                drop(text.splice(at..at, copy));
            }
            4 => {
                let other: Vec<char> = other.chars().collect();
                let from = random.below(other.len() as u64 + 1) as usize;
                let to = (from + random.below(200) as usize).min(other.len());
                drop(text.splice(at..until, other[from..to].iter().copied()));
            }
            _ => {
                // Digits are where the meaning is.
                let digits: Vec<usize> = (0..text.len()).filter(|i| text[*i].is_ascii_digit()).collect();
                if !digits.is_empty() {
                    let digit = digits[random.below(digits.len() as u64) as usize];
                    text[digit] = char::from(b'0' + random.below(10) as u8);
                }
            }
        }
    }
    text.into_iter().collect()
}

/// What a run came across.
#[derive(Debug, Default)]
struct Seen {
    records: u64,
    plan_files: u64,
    planned: u64,
    refused: u64,
}

fn plan(random: &mut Random, problem: &Problem, seen: &mut Seen) {
    let mut planner = Planner::auto().effort(Effort::Fast).seed(random.next());
    if random.once_in(3) {
        planner = planner.max_buffer_bytes(random.next() >> random.below(64));
    }
    if random.once_in(4) {
        planner = planner.capacity_bytes(problem.naive_bytes() / (1 + random.below(8)));
    }
    match planner.deadline(Duration::from_millis(200)).plan(problem) {
        Ok(plan) => {
            seen.planned += 1;
            plan.validate(problem).unwrap_or_else(|v| panic!("{v}\n{problem:?}"));
            assert!(!plan.report(problem).to_string().is_empty());
            let text = file::to_json(problem, &plan).expect("its own problem");
            let (again, same) = file::from_json(&text, "again").unwrap_or_else(|e| panic!("{e}\n{text}"));
            assert_eq!((again.fingerprint(), &same), (problem.fingerprint(), &plan));
            let records = csv::write(problem, &plan);
            let placed = csv::parse_placed(&records, "again", csv::Options::default());
            assert!(problem.is_empty() || placed.is_ok(), "{placed:?}\n{records}");
        }
        Err(PlanError::OverCapacity(misfit)) => {
            seen.refused += 1;
            misfit.plan.validate(problem).unwrap_or_else(|v| panic!("{v}\n{problem:?}"));
            assert!(!misfit.to_string().is_empty() && !misfit.tensors.is_empty());
        }
        Err(error) => {
            seen.refused += 1;
            assert!(!error.to_string().is_empty());
        }
    }
}

/// Reads a plan file whose digests no longer fit: the reader says what they should be.
fn read_mended(text: &str) -> Result<(Problem, sublet::plan::Plan), PlanError> {
    let mut text = text.to_owned();
    for _ in 0..2 {
        let Err(PlanError::PlanFile { what, .. }) = file::from_json(&text, "fuzz") else { break };
        let quoted: Vec<&str> = what.split('\'').collect();
        let [.., stored, _, found, _] = quoted[..] else { break };
        if stored.is_empty() || !what.contains("were edited") {
            break;
        }
        text = text.replace(stored, found);
    }
    file::from_json(&text, "fuzz")
}

fn read(random: &mut Random, text: &str, seen: &mut Seen) {
    let alignment = Alignment::new(1 << random.below(17)).expect("a power of two");
    let options = csv::Options { inclusive: random.once_in(2), alignment, ignore_offsets: random.once_in(4) };
    if let Ok(problem) = csv::parse(text, "fuzz", options) {
        seen.records += 1;
        if random.once_in(8) {
            plan(random, &problem, seen);
        }
    }
    if let Ok((problem, plan)) = csv::parse_placed(text, "fuzz", options) {
        let _ = plan.validate(&problem);
        assert!(!plan.report(&problem).to_string().is_empty());
    }
    if let Ok((problem, read)) = read_mended(text) {
        seen.plan_files += 1;
        let _ = read.validate(&problem);
        assert!(!read.report(&problem).to_string().is_empty());
        if random.once_in(4) {
            plan(random, &problem, seen);
        }
    }
}

#[test]
fn no_text_makes_a_reader_or_the_planner_panic() {
    let seconds = number_from("SUBLET_FUZZ_SECONDS").unwrap_or(5);
    let seed = number_from("SUBLET_FUZZ_SEED").unwrap_or(1);
    let mut random = Random(seed);
    let mut seen = Seen::default();
    let mut corpus: Vec<String> = Vec::new();
    let started = Instant::now();
    let (mut turns, mut stored) = (0u64, 0);
    while started.elapsed() < Duration::from_secs(seconds) {
        turns += 1;
        // Fresh problems now and then, so that the loop never settles.
        if corpus.len() < 8 || random.once_in(64) {
            let kinds = Kinds { alias: true, in_place: true, separate: true };
            let problem = draw(&mut random, 8, kinds);
            plan(&mut random, &problem, &mut seen);
            if let Ok(plan) = Planner::auto().effort(Effort::Fast).plan(&problem) {
                let texts = [file::to_json(&problem, &plan).expect("its own"), csv::write(&problem, &plan)];
                for text in texts {
                    if corpus.len() < 64 {
                        corpus.push(text);
                    } else {
                        corpus[stored % 64] = text;
                    }
                    stored += 1;
                }
            }
            continue;
        }
        let pick = |random: &mut Random| random.below(corpus.len() as u64) as usize;
        let (one, other) = (pick(&mut random), pick(&mut random));
        let text = mutate(&mut random, &corpus[one], &corpus[other]);
        // A text that is still read is a better start than the one it came from.
        let before = seen.records + seen.plan_files;
        read(&mut random, &text, &mut seen);
        if seen.records + seen.plan_files > before && text.len() < 20_000 && random.once_in(4) {
            corpus[one] = text;
        }
    }
    println!("seed {seed}: {turns} texts and problems in {seconds} s, {seen:?}");
    assert!(seen.records > 50 && seen.plan_files > 10 && seen.planned > 50, "too shallow: {seen:?}");
}

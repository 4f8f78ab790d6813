//! CSV and plan files: what is written is read back, what is wrong is refused with its line or field.

use sublet::plan::{Alignment, PlanError, Planner, Problem, TensorId, Violation, csv, file};

type Record = (u64, u32, u32);

const PAPER_EXAMPLE: &[Record] =
    &[(32, 0, 1), (28, 1, 4), (36, 2, 5), (16, 3, 5), (8, 4, 5), (64, 5, 7), (10, 6, 8), (40, 7, 8)];

fn problem(records: &[Record]) -> Problem {
    let mut problem = Problem::new(Alignment::ONE);
    for (i, (size_bytes, first, last)) in records.iter().enumerate() {
        problem.tensor(format!("t{i}"), *size_bytes, *first..=*last).unwrap();
    }
    problem
}

#[test]
fn a_plan_file_is_judged_on_its_own_and_refused_once_edited() {
    let mut problem = problem(PAPER_EXAMPLE);
    problem.keep(TensorId::new(4)).unwrap();
    let plan = Planner::auto().plan(&problem).unwrap();
    let text = file::to_json(&problem, &plan).unwrap();
    let (again, same) = file::from_json(&text, "plan.json").unwrap();
    assert_eq!((again.fingerprint(), &same), (problem.fingerprint(), &plan));
    same.validate(&again).unwrap();

    let edited = |from: &str, to: &str| {
        assert!(text.contains(from), "{from} is not in {text}");
        file::from_json(&text.replacen(from, to, 1), "plan.json").unwrap_err().to_string()
    };
    let message = edited("\"size_bytes\": 28", "\"size_bytes\": 20");
    assert!(
        message.starts_with("plan.json: the records were edited: field 'problem.fingerprint'"),
        "{message}"
    );
    let message = edited("\"keep\": true", "\"keep\": false");
    assert!(message.contains("the records were edited"), "{message}");
    let message = edited("\"offset_bytes\": 64", "\"offset_bytes\": 65");
    assert!(message.starts_with("plan.json: the places were edited: field 'plan.checksum'"), "{message}");
    let message = edited("\"tensor\": \"t3\"", "\"tensor\": \"t4\"");
    assert!(message.contains("'t4' where the records have 't3'"), "{message}");
    let message = edited("\"version\": 1", "\"version\": 7");
    assert!(message.contains("'version' is 7"), "{message}");
    assert!(file::from_json("{}", "x").unwrap_err().to_string().contains("no plan file"));
    assert!(file::from_json(&text[..text.len() / 2], "x").is_err());
    assert!(file::from_json("", "x").is_err());

    let folder = std::env::temp_dir().join(format!("sublet-plan-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("plan.json");
    file::save(&path, &problem, &plan).unwrap();
    assert_eq!(file::load_for(&path, &problem).unwrap(), plan);
    let other = self::problem(&PAPER_EXAMPLE[1..]);
    let message = file::load_for(&path, &other).unwrap_err().to_string();
    assert!(message.contains("another problem"), "{message}");
    assert!(matches!(plan.validate(&other), Err(Violation::OtherProblem { .. })));
    assert!(matches!(file::save(&path, &other, &plan), Err(PlanError::Invalid(_))));
    assert!(matches!(file::save(&folder, &problem, &plan), Err(PlanError::Io { .. })), "a folder");
    assert!(matches!(file::load(&folder), Err(PlanError::Io { .. })), "a folder");
    let left: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["plan.json"], "nothing half-written is left");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_bad_csv_names_line_and_field() {
    let refused =
        |text: &str| csv::parse(text, "records.csv", csv::Options::default()).unwrap_err().to_string();
    let rows = |rows: &str| refused(&format!("id,lower,upper,size\n{rows}"));
    assert_eq!(rows("0,0,2,-5\n"), "records.csv, line 2, size: '-5' is negative");
    assert_eq!(
        rows("0,0,2,5\n1,3,3,5\n"),
        "records.csv, line 3, upper: lower 3 is not below upper 3 of a half-open interval"
    );
    assert_eq!(rows("0,0,2,five\n"), "records.csv, line 2, size: 'five' is no whole number");
    assert_eq!(rows("0,0.5,2,5\n"), "records.csv, line 2, lower: '0.5' is no whole number");
    assert_eq!(rows("a,0,2,5\nb,0,2,5\na,0,2,5\n"), "records.csv, line 4, id: 'a' occurs twice");
    assert_eq!(rows("0,0,2,\n"), "records.csv, line 2, size: there is no value");
    assert_eq!(
        rows("0,0,4294967297,1\n"),
        "records.csv, line 2, upper: 4294967297 is no step: the highest is 4294967294"
    );
    assert_eq!(
        rows("0,0,1,18446744073709551616\n"),
        "records.csv, line 2, size: '18446744073709551616' does not fit into 64 bits"
    );
    let overflow = rows("0,0,1,9223372036854775807\n1,0,1,9223372036854775807\n");
    assert!(
        overflow.starts_with("records.csv, line 3, size: tensor '1' of 9,223,372,036,854,775,807"),
        "{overflow}"
    );
    assert_eq!(
        refused("id,lower,size\n0,0,2\n"),
        "records.csv, line 1, upper: there is no such column among 'id,lower,size'"
    );
    assert_eq!(refused(""), "records.csv, line 1, header: the file is empty");
    assert_eq!(refused("id,lower,upper,size\n\"0,0,1,5\n"), "records.csv, line 2, quote: it is never closed");
    assert_eq!(
        refused("id,lower,upper,size,alignment\n0,0,1,5,3\n"),
        "records.csv, line 2, alignment: an alignment is a power of two from 1 to 65536 bytes, not 3"
    );
    assert_eq!(
        refused("id,lower,upper,size,alignment,offset\n0,0,1,5,4,6\n"),
        "records.csv, line 2, offset: tensor '0' cannot be pinned at byte 6: its alignment is 4"
    );
    assert!(matches!(
        csv::read(std::path::Path::new("/nowhere/at/all.csv"), csv::Options::default()),
        Err(PlanError::Io { .. })
    ));
}

#[test]
fn a_csv_is_read_by_column_name_and_written_back() {
    let text = "\u{feff}size, upper ,id,alignment,lower,note\r\n10,2,\"a,b\",4,0,x\r\n6,3,c,,1,\r\n\r\n";
    let problem = csv::parse(text, "t.csv", csv::Options::default()).unwrap();
    assert_eq!(problem.len(), 2);
    let tensor = problem.get(problem.lookup("a,b").unwrap()).unwrap();
    assert_eq!((tensor.first(), tensor.last(), tensor.size_bytes()), (0, 1, 10));
    assert_eq!(tensor.alignment(), Some(Alignment::new(4).unwrap()));
    let inclusive = csv::Options { inclusive: true, ..csv::Options::default() };
    assert_eq!(csv::parse(text, "t.csv", inclusive).unwrap().tensors()[0].last(), 2);

    let plan = Planner::auto().plan(&problem).unwrap();
    let written = csv::write(&problem, &plan);
    assert_eq!(written, "id,lower,upper,size,alignment,offset\n\"a,b\",0,2,10,4,0\nc,1,3,6,1,10\n");
    let (again, placed) = csv::parse_placed(&written, "t.csv", csv::Options::default()).unwrap();
    placed.validate(&again).unwrap();
    assert_eq!(placed.peak_bytes(), plan.peak_bytes());
    let broken = written.replace("6,1,10", "6,1,9");
    let (again, placed) = csv::parse_placed(&broken, "t.csv", csv::Options::default()).unwrap();
    assert!(matches!(placed.validate(&again), Err(Violation::Overlap { .. })));
    let pinned = csv::parse(&written, "t.csv", csv::Options::default()).unwrap();
    assert_eq!(pinned.tensors()[1].pin(), Some(10));
}

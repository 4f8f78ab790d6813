//! The commands of the README, as a reader would type them.
#![cfg(all(feature = "cli", unix))]

mod support;

use std::path::Path;
use std::process::Command;

use support::cli::{data, json};
use support::scratch;

const README: &str = include_str!("../README.md");

/// What is added to commands that measure for minutes; the command itself stays as it is written.
const SHORTER: &[(&str, &str)] = &[
    ("sublet bench arena", " --runs 3 --deadline 50ms"),
    ("sublet bench --all", " --quick --runs 1"),
    ("sublet bench layouts", " --runs 1"),
];

/// The commands below "More commands" with what is said about each.
fn commands() -> Vec<(&'static str, &'static str)> {
    let (_, rest) = README.split_once("## More commands").expect("the README has that heading");
    let block = rest.split("```").nth(1).expect("a block of commands follows");
    let lines = block.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| line.split_once("   ").expect("a command, and what it does")).collect()
}

/// The files that the commands name, under those names.
fn folder() -> std::path::PathBuf {
    let folder = scratch("readme");
    let copy = |from: &str, to: &str| {
        std::fs::copy(data(from), folder.join(to)).unwrap();
    };
    copy("rten_mnist.onnx", "model.onnx");
    copy("rten_mnist.out0.npy", "out.npy");
    copy("paper_mobilenet_v2_224.csv", "network.csv");
    std::fs::create_dir_all(folder.join("networks")).unwrap();
    copy("paper_mobilenet_v1_224.csv", "networks/v1.csv");
    copy("paper_mobilenet_v2_224.csv", "networks/v2.csv");
    let plan = folder.join("plan.json").display().to_string();
    let (code, said) = json(&["plan", "builtin:blazeface", "--out", &plan]);
    assert_eq!(code, 0, "{said}");
    folder
}

/// Exit code and all that a shell in that folder prints, the binary being in its path.
fn shell(folder: &Path, command: &str) -> (Option<i32>, String) {
    let program = Path::new(env!("CARGO_BIN_EXE_sublet")).parent().expect("a file in a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh").args(["-c", command]).env("PATH", path).current_dir(folder).output();
    let output = output.expect("there is a shell");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn every_command_of_the_readme_works() {
    let folder = folder();
    let commands = commands();
    assert!(commands.len() > 15, "{commands:?}");
    for (command, _) in commands {
        let more = SHORTER.iter().find(|(start, _)| command.starts_with(start)).map_or("", |(_, more)| more);
        let (code, said) = shell(&folder, &format!("{command}{more}"));
        assert_eq!(code, Some(0), "{command}{more}\n{said}");
        assert!(said.len() > 20, "{command}{more} says '{said}'");
    }
    for written in ["map.html", "benches/record"] {
        assert!(folder.join(written).exists(), "{written} is not there");
    }
    // The control: what is not a command does not pass.
    assert_eq!(shell(&folder, "sublet plan nothing.csv").0, Some(2));
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn the_readme_counts_the_networks_that_are_built_in() {
    let (_, models) = json(&["models"]);
    let count = models["models"].as_array().map_or(0, Vec::len);
    let about =
        commands().into_iter().find(|(command, _)| *command == "sublet models").map(|(_, about)| about);
    let about = about.expect("sublet models is among the commands");
    assert!(about.trim().starts_with(&format!("{count} networks built in")), "{count}: {about}");
}

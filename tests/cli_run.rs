//! `sublet run`, `audit`, `models` on the CPU executor, and what they answer to bad input.
#![cfg(feature = "cli")]

mod support;

use sublet::model::npy::{self, Array};
use support::cli::{data, json, sublet};

#[test]
fn real_models_give_onnx_runtimes_results_on_the_cpu() {
    for model in ["rten_mnist", "tiny_resnet_se_64"] {
        let (file, expect) =
            (data(&format!("{model}.onnx")), format!("0={}", data(&format!("{model}.out0.npy"))));
        let (code, run) = json(&["run", &file, "--cpu", "--expect", &expect]);
        assert_eq!((code, &run["ok"]), (0, &true.into()), "{run}");
        assert_eq!(run["adapter"]["backend"], "cpu");
        assert_eq!(run["memory"]["arena_bytes"], run["plan"]["peak_bytes"]);
        let (code, audit) = json(&["audit", &file, "--cpu", "--mutate", "50"]);
        assert_eq!((code, &audit["ok"]), (0, &true.into()), "{audit}");
        assert_eq!(audit["mutations"]["caught"], 50);
    }
}

/// The negative control: a wrong expectation fails with exit code 1, whoever reads the answer.
#[test]
fn a_wrong_expectation_is_a_failed_check() {
    let dir = support::scratch("wrong_expectation");
    let wrong = dir.join("wrong.npy");
    let array = npy::read(data("rten_mnist.out0.npy").as_ref()).unwrap();
    let shifted = array.numbers().iter().map(|x| *x as f32 + 0.5).collect();
    npy::write(&wrong, &Array::floats(array.shape, shifted)).unwrap();
    let expect = format!("logits={}", wrong.display());
    let args = ["run", &data("rten_mnist.onnx"), "--cpu", "--expect", &expect];
    let (code, run) = json(&args);
    assert_eq!((code, &run["ok"], &run["outputs"][0]["ok"]), (1, &false.into(), &false.into()));
    let (code, out, err) = sublet(&args);
    assert_eq!(code, 1);
    assert!(out.contains("NOT as expected") && err.contains("'logits'"), "{out}{err}");
}

#[test]
fn outputs_are_saved_and_can_be_expected_again() {
    let dir = support::scratch("saved_outputs");
    let folder = dir.join("outputs").display().to_string();
    let model = data("rten_mnist.onnx");
    let (code, _) = json(&["run", &model, "--cpu", "--save", &folder]);
    assert_eq!(code, 0);
    let expect = format!("0={folder}/0_logits.npy");
    let (code, run) = json(&["run", &model, "--cpu", "--expect", &expect, "--rtol", "0", "--atol", "0"]);
    assert_eq!((code, &run["outputs"][0]["max_abs_diff"]), (0, &0.0.into()), "{run}");
}

#[test]
fn built_in_networks_are_listed_with_the_published_numbers() {
    let (code, models) = json(&["models"]);
    assert_eq!(code, 0);
    let of = |name: &str| {
        let all = models["models"].as_array().unwrap();
        all.iter().find(|m| m["name"] == name).unwrap_or_else(|| panic!("{name} is not listed")).clone()
    };
    assert_eq!(models["models"].as_array().unwrap().len(), sublet::model::zoo::names().len());
    let (v1, v2) = (of("mobilenet_v1"), of("mobilenet_v2"));
    assert_eq!((&v1["naive_bytes"], &v1["max_load_bytes"]), (&20_182_856.into(), &4_816_896.into()));
    assert_eq!((&v2["naive_bytes"], &v2["max_load_bytes"]), (&27_591_112.into(), &6_021_120.into()));
    let v3 = of("inception_v3");
    assert_eq!((&v3["naive_bytes"], &v3["max_load_bytes"]), (&56_622_408.into(), &8_297_856.into()));
}

/// Every kind of bad input: exit code 2, one sentence that names the culprit, the same for machines, no
/// file written.
#[test]
fn bad_input_is_one_sentence_and_exit_code_2() {
    let dir = support::scratch("bad_input");
    let truncated = dir.join("truncated.onnx").display().to_string();
    let bytes = std::fs::read(data("rten_mnist.onnx")).unwrap();
    std::fs::write(&truncated, &bytes[..bytes.len() / 2]).unwrap();
    let missing = dir.join("missing.onnx").display().to_string();
    let folder = dir.join("folder.onnx").display().to_string();
    std::fs::create_dir_all(&folder).unwrap();
    let noise = dir.join("noise.npy").display().to_string();
    std::fs::write(&noise, b"not an array").unwrap();
    let mnist = data("rten_mnist.onnx");
    let noise_input = format!("0={noise}");
    let other_shape = format!("0={}", data("tiny_resnet_se_64.out0.npy"));
    let no_input = format!("nonsense={noise}");
    let cases: [(&[&str], &str); 9] = [
        (&["run", &truncated, "--cpu"], "truncated.onnx"),
        (&["run", &missing, "--cpu"], "missing.onnx"),
        (&["run", &folder, "--cpu"], "folder.onnx"),
        (&["run", &mnist, "--cpu", "--input", &noise_input], "noise.npy"),
        (&["run", &mnist, "--cpu", "--input", &other_shape], "784"),
        (&["run", &mnist, "--cpu", "--expect", &no_input], "'nonsense'"),
        (&["audit", "builtin:mobilenet_v3", "--cpu"], "builtin:mobilenet_v"),
        (&["run", &mnist, "--cpu", "--strategy", "greedy-by-sise"], "greedy-by-size"),
        (&["run", &mnist, "--adapter", "no such adapter"], "no such adapter"),
    ];
    let before = std::fs::read_dir(&dir).unwrap().count();
    for (args, culprit) in cases {
        let (code, out, err) = sublet(args);
        assert_eq!(code, 2, "{args:?}\n{out}{err}");
        assert!(err.contains(culprit) && !err.contains("panicked"), "{args:?}: '{culprit}' is not in\n{err}");
        let (code, object) = json(args);
        assert_eq!(code, 2);
        let message = object["error"]["message"].as_str().unwrap();
        assert!(message.contains(culprit) && !message.contains('\n'), "{message}");
    }
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), before, "something was written");
}

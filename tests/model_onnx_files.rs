//! The model files beside the repository (../shared/models); the two copied to tests/data are always there.
#![cfg(feature = "onnx")]

mod support;

use std::path::{Path, PathBuf};

use sublet::graph::{Constant, Graph, Op};
use sublet::model::onnx::{ImportOptions, load};
use sublet::model::{ModelError, npy};
use support::records::{records, summary};

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/models")
}

#[test]
fn dump() {
    for file in
        std::fs::read_dir(models()).unwrap().chain(std::fs::read_dir(models().join("generated")).unwrap())
    {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|e| e != "onnx") {
            continue;
        }
        if std::env::var("ONLY").is_ok_and(|o| !path.display().to_string().contains(&o)) {
            continue;
        }
        let t = std::time::Instant::now();
        match load(&path, &ImportOptions::default()) {
            Ok(g) => {
                println!(
                    "OK {} {:?} nodes {} values {} weights {} {:?}",
                    path.display(),
                    summary(&records(&g)),
                    g.nodes.len(),
                    g.values.len(),
                    g.constant_bytes(),
                    t.elapsed()
                );
                if std::env::var("ONLY").is_ok() {
                    for v in &g.values {
                        println!("SHAPE {} {:?}", v.name, v.shape);
                    }
                }
            }
            Err(e) => {
                println!("ERR {} {}", path.display(), e.to_string().chars().take(300).collect::<String>())
            }
        }
    }
}

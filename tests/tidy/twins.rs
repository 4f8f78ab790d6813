//! One kernel = one shader = one twin of the same name.

use super::source::SourceFile;
use std::collections::BTreeSet;

/// Files of `src/kernel/cpu/` that are no kernel's twin but shared by several.
const HELPERS: &[&str] = &[
    "mod",
    "tests",
    "activation",
    "block",
    "conv_params",
    "gates",
    "matmul_params",
    "parallel",
    "rows",
    "volume_params",
    "words",
];

/// Shaders without a twin and twins without a shader.
pub fn unpaired(files: &[SourceFile]) -> Vec<String> {
    let stems = |folder: &str, ending: &str| -> BTreeSet<String> {
        let names = files.iter().filter_map(|f| f.path.strip_prefix(folder)?.strip_suffix(ending));
        names.map(str::to_owned).collect()
    };
    let shaders = stems("shaders/", ".wgsl");
    let mut twins = stems("src/kernel/cpu/", ".rs");
    twins.retain(|name| !HELPERS.contains(&name.as_str()));
    let no_twin = shaders.difference(&twins).map(|k| format!("shaders/{k}.wgsl:1: no src/kernel/cpu/{k}.rs"));
    let no_shader =
        twins.difference(&shaders).map(|k| format!("src/kernel/cpu/{k}.rs:1: no shaders/{k}.wgsl"));
    no_twin.chain(no_shader).collect()
}

#[test]
fn catches_unpaired_kernels() {
    let tree = ["shaders/matmul.wgsl", "shaders/pad.wgsl", "src/kernel/cpu/pad.rs", "src/kernel/cpu/lrn.rs"];
    let mut files: Vec<_> = tree.iter().map(|path| SourceFile::new(path, "")).collect();
    files.push(SourceFile::new("src/kernel/cpu/mod.rs", ""));
    let expected = [
        "shaders/matmul.wgsl:1: no src/kernel/cpu/matmul.rs",
        "src/kernel/cpu/lrn.rs:1: no shaders/lrn.wgsl",
    ];
    assert_eq!(unpaired(&files), expected);
}

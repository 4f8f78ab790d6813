//! Texts that are held against a file of tests/data.

use std::path::Path;

/// Fails where the text differs from the file. With SUBLET_BLESS=1 it writes the file instead, and fails so
/// that nobody leaves it on.
pub fn snapshot(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    if std::env::var_os("SUBLET_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        panic!("tests/data/{name} is written anew");
    }
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    for (at, (now, before)) in text.lines().zip(before.lines()).enumerate() {
        assert_eq!(now, before, "tests/data/{name}, line {}; if that is right: SUBLET_BLESS=1", at + 1);
    }
    assert_eq!(text.lines().count(), before.lines().count(), "tests/data/{name}: lines");
}

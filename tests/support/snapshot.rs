//! Texts that are held against a file. `SUBLET_SNAPSHOTS=write cargo test ..` writes the files anew.

use std::path::Path;

/// Fails where the text differs from `tests/data/NAME`, and says how to accept it.
pub fn snapshot(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    if std::env::var_os("SUBLET_SNAPSHOTS").is_some_and(|value| value == "write") {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    let line = expected.lines().zip(text.lines()).position(|(a, b)| a != b);
    let line = line.unwrap_or_else(|| expected.lines().count().min(text.lines().count()));
    let nth = |text: &str| text.lines().nth(line).unwrap_or("(ends)").to_owned();
    assert!(
        expected == text,
        "tests/data/{name}, line {}:\n  expected {}\n  found    {}\n\
         if that is right: SUBLET_SNAPSHOTS=write cargo test",
        line + 1,
        nth(&expected),
        nth(text),
    );
}

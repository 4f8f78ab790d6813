//! What the library lets others use, as a text: a change of it is seen in review, and may ask for another
//! version. `SUBLET_BLESS=1 cargo test --test public_surface` writes tests/data/public_surface.txt anew.

mod support;
#[path = "surface/tree.rs"]
mod tree;
#[path = "surface/write.rs"]
mod write;

use std::path::Path;

use support::snapshot::snapshot;

#[test]
fn the_public_surface_is_as_it_was() {
    let tree = tree::Tree::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    snapshot("public_surface.txt", &write::surface(&tree));
}

/// A library of a few files, written for the test.
fn surface_of(files: &[(&str, &str)]) -> String {
    let folder = support::scratch("surface");
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    write::surface(&tree::Tree::read(&folder))
}

#[test]
fn what_can_be_reached_is_listed_and_nothing_else() {
    let found = surface_of(&[
        ("lib.rs", "pub mod a;\nmod b;\npub use b::Shown as Seen;\n#[cfg(test)]\nmod tests;"),
        (
            "a/mod.rs",
            "mod inner;\npub use inner::{Thing, made};\n/// Doc.\npub const LIMIT: u64 = 3;\n\
             pub(crate) fn hidden() {}",
        ),
        (
            "a/inner.rs",
            "#[derive(Debug, Clone)]\n#[non_exhaustive]\n\
             pub enum Thing { One, Two { size: u64 }, Three(u8) }\n\
             impl Thing { pub fn key(&self) -> &'static str { \"\" } fn secret(&self) {} }\n\
             impl std::fmt::Display for Thing { fn fmt(&self) {} }\n\
             pub fn made<'a, T: Clone>(x: &'a T, to: std::ops::RangeInclusive<u32>) -> Option<&'a T> {\n\
             None }\n\
             pub struct Unseen;",
        ),
        ("b.rs", "pub struct Shown { pub bytes: u64, inner: u32 }\npub trait Lost {}"),
    ]);
    let expected = "\
sublet
    struct Seen
        pub bytes: u64
        ..
sublet::a
    const LIMIT: u64
    enum Thing #[derive(Debug, Clone)] #[non_exhaustive]
        One
        Two { size: u64 }
        Three(u8)
        pub fn key(&self) -> &'static str
        impl std::fmt::Display
    fn made<'a, T: Clone>(x: &'a T, to: std::ops::RangeInclusive<u32>) -> Option<&'a T>
";
    assert_eq!(found, expected);
}

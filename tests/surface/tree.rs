//! The modules of a library, parsed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use syn::{Attribute, Item, UseTree, Visibility};

/// A module: its items, and whether its parent lets others see it.
pub struct Module {
    pub items: Vec<Item>,
    pub public: bool,
}

/// A name that a module takes over from another place.
#[derive(Debug, Clone)]
pub struct Import {
    pub path: Vec<String>,
    /// What it is called here; `*` for all names.
    pub name: String,
    pub public: bool,
}

/// Modules by path, the root as the empty one.
pub struct Tree {
    pub modules: BTreeMap<Vec<String>, Module>,
}

impl Tree {
    /// Reads `lib.rs` of a folder and every module below it, tests left out.
    pub fn read(src: &Path) -> Tree {
        let mut tree = Tree { modules: BTreeMap::new() };
        tree.add(Vec::new(), &src.join("lib.rs"), src.to_owned(), true);
        tree
    }

    fn add(&mut self, path: Vec<String>, file: &Path, folder: PathBuf, public: bool) {
        let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        for item in &parsed.items {
            let Item::Mod(module) = item else { continue };
            if module.content.is_some() || only_in_tests(&module.attrs) {
                continue;
            }
            let name = module.ident.to_string();
            let below = folder.join(&name);
            let flat = folder.join(format!("{name}.rs"));
            let file = if flat.exists() { flat } else { below.join("mod.rs") };
            let child = path.iter().cloned().chain([name]).collect();
            self.add(child, &file, below, is_public(&module.vis));
        }
        self.modules.insert(path, Module { items: parsed.items, public });
    }

    /// Whether others can name the module.
    pub fn is_public(&self, path: &[String]) -> bool {
        (0..=path.len()).all(|len| self.modules.get(&path[..len]).is_some_and(|module| module.public))
    }

    /// What a module takes over, in the order in which it stands there.
    pub fn imports(&self, path: &[String]) -> Vec<Import> {
        let mut found = Vec::new();
        for item in &self.modules[path].items {
            if let Item::Use(item) = item {
                flatten(&item.tree, &mut Vec::new(), is_public(&item.vis), &mut found);
            }
        }
        found
    }

    /// The module of a path as it is written in another module; `None` for one of another crate.
    pub fn resolve(&self, from: &[String], path: &[String]) -> Option<Vec<String>> {
        let mut at = from.to_vec();
        for (i, word) in path.iter().enumerate() {
            match word.as_str() {
                "crate" => at.clear(),
                "self" => {}
                "super" => drop(at.pop()),
                _ if i == 0
                    && !self.modules.contains_key(&[&at[..], std::slice::from_ref(word)].concat()) =>
                {
                    return None;
                }
                _ => at.push(word.clone()),
            }
        }
        self.modules.contains_key(&at).then_some(at)
    }
}

pub fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Whether something exists in tests alone.
pub fn only_in_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let text = quote::quote!(#attribute).to_string();
        text.contains("cfg (test)") || text.contains("cfg (doctest)")
    })
}

fn flatten(tree: &UseTree, before: &mut Vec<String>, public: bool, found: &mut Vec<Import>) {
    let mut push = |name: String, last: Option<String>| {
        let path = before.iter().cloned().chain(last).collect();
        found.push(Import { path, name, public });
    };
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            flatten(&path.tree, before, public, found);
            before.pop();
        }
        UseTree::Name(name) => push(name.ident.to_string(), Some(name.ident.to_string())),
        UseTree::Rename(name) => push(name.rename.to_string(), Some(name.ident.to_string())),
        UseTree::Glob(_) => push("*".to_owned(), None),
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, before, public, found)),
    }
}

//! The public items of a tree as text.

use std::collections::BTreeMap;

use quote::{ToTokens, quote};
use syn::{Attribute, Fields, ImplItem, Item, ItemImpl, TraitItem, Type};

use super::tree::{Tree, is_public, only_in_tests};

/// Every public module with its items, sorted by module, items in the order of the sources.
pub fn surface(tree: &Tree) -> String {
    let impls = impls(tree);
    let mut text = String::new();
    for path in tree.modules.keys().filter(|path| tree.is_public(path)) {
        let mut lines = Vec::new();
        for item in &tree.modules[path].items {
            describe(item, None, &impls, &mut lines);
        }
        for import in tree.imports(path).into_iter().filter(|import| import.public) {
            taken_over(tree, path, &import.path, &import.name, &impls, &mut lines);
        }
        let mut blocks = blocks(lines);
        blocks.sort();
        if !blocks.is_empty() {
            let name = ["sublet"].into_iter().chain(path.iter().map(String::as_str)).collect::<Vec<_>>();
            text.push_str(&format!("{}\n{}", name.join("::"), blocks.concat()));
        }
    }
    text
}

/// An item with what belongs to it is one block, so that sorting keeps them together.
fn blocks(lines: Vec<String>) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    for line in lines {
        match blocks.last_mut().filter(|_| line.starts_with("        ")) {
            Some(block) => block.push_str(&format!("{line}\n")),
            None => blocks.push(format!("{line}\n")),
        }
    }
    blocks
}

/// Blocks of `impl` by the name of their type.
type Impls<'a> = BTreeMap<String, Vec<&'a ItemImpl>>;

fn impls(tree: &Tree) -> Impls<'_> {
    let mut found = Impls::new();
    for item in tree.modules.values().flat_map(|module| &module.items) {
        let Item::Impl(item) = item else { continue };
        if let (Type::Path(path), false) = (&*item.self_ty, only_in_tests(&item.attrs)) {
            let name = path.path.segments.last().map(|segment| segment.ident.to_string());
            found.entry(name.unwrap_or_default()).or_default().push(item);
        }
    }
    found
}

/// An item that another module defines, followed through the modules that hand it on.
fn taken_over(
    tree: &Tree,
    from: &[String],
    path: &[String],
    name: &str,
    impls: &Impls,
    lines: &mut Vec<String>,
) {
    let outside = || format!("    use {} as {name}", path.join("::"));
    let Some((last, before)) = path.split_last().filter(|_| name != "*") else {
        lines.push(outside());
        return;
    };
    let Some(module) = tree.resolve(from, before) else {
        lines.push(outside());
        return;
    };
    let defined = tree.modules[&module].items.iter().find(|item| ident(item).as_deref() == Some(last));
    if let Some(item) = defined {
        describe(item, Some(name), impls, lines);
        return;
    }
    match tree.imports(&module).into_iter().find(|import| import.name == *last) {
        Some(import) => taken_over(tree, &module, &import.path, name, impls, lines),
        // Made by a macro.
        None => lines.push(format!("    {name} (by a macro of {})", module.join("::"))),
    }
}

fn ident(item: &Item) -> Option<String> {
    Some(match item {
        Item::Const(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Static(item) => item.ident.to_string(),
        Item::Struct(item) => item.ident.to_string(),
        Item::Trait(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        _ => return None,
    })
}

/// The lines of an item; `name` is what it is called where it is taken over.
fn describe(item: &Item, name: Option<&str>, impls: &Impls, lines: &mut Vec<String>) {
    let named = |own: &syn::Ident| name.map_or_else(|| own.to_string(), str::to_owned);
    match item {
        Item::Const(i) if is_public(&i.vis) => {
            lines.push(format!("    const {}: {}", named(&i.ident), text(&i.ty)));
        }
        Item::Static(i) if is_public(&i.vis) => {
            lines.push(format!("    static {}: {}", named(&i.ident), text(&i.ty)));
        }
        Item::Type(i) if is_public(&i.vis) => {
            lines.push(format!("    type {}{} = {}", named(&i.ident), text(&i.generics), text(&i.ty)));
        }
        Item::Fn(i) if is_public(&i.vis) => {
            let (own, called) = (format!("fn {}", i.sig.ident), format!("fn {}", named(&i.sig.ident)));
            lines.push(format!("    {}", text(&i.sig).replacen(&own, &called, 1)));
        }
        Item::Struct(i) if is_public(&i.vis) => {
            let (generics, marks) = (text(&i.generics), marks(&i.attrs));
            let tuple =
                if matches!(i.fields, Fields::Unnamed(_)) { fields(&i.fields, true) } else { String::new() };
            lines.push(format!("    struct {}{generics}{tuple}{marks}", named(&i.ident)));
            if matches!(i.fields, Fields::Named(_)) {
                let seen = i.fields.iter().filter(|field| is_public(&field.vis));
                let field =
                    |f: &syn::Field| Some(format!("        pub {}: {}", f.ident.as_ref()?, text(&f.ty)));
                lines.extend(seen.filter_map(field));
                if i.fields.iter().any(|field| !is_public(&field.vis)) {
                    lines.push("        ..".to_owned());
                }
            }
            members(&i.ident.to_string(), impls, lines);
        }
        Item::Enum(i) if is_public(&i.vis) => {
            lines.push(format!("    enum {}{}{}", named(&i.ident), text(&i.generics), marks(&i.attrs)));
            let variant = |v: &syn::Variant| format!("        {}{}", v.ident, fields(&v.fields, false));
            lines.extend(i.variants.iter().map(variant));
            members(&i.ident.to_string(), impls, lines);
        }
        Item::Trait(i) if is_public(&i.vis) => {
            let bounds = i.supertraits.iter().map(text).collect::<Vec<_>>().join(" + ");
            let colon = if bounds.is_empty() { "" } else { ": " };
            lines.push(format!("    trait {}{}{colon}{bounds}", named(&i.ident), text(&i.generics)));
            for item in &i.items {
                match item {
                    TraitItem::Fn(f) => lines.push(format!("        {}", text(&f.sig))),
                    TraitItem::Type(t) => lines.push(format!("        type {}", t.ident)),
                    TraitItem::Const(c) => lines.push(format!("        const {}: {}", c.ident, text(&c.ty))),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// What is derived, and whether more may come.
fn marks(attributes: &[Attribute]) -> String {
    let kept =
        attributes.iter().filter(|a| a.path().is_ident("derive") || a.path().is_ident("non_exhaustive"));
    kept.map(|attribute| format!(" {}", text(attribute))).collect()
}

/// Fields that others can see; of a struct with others besides, `..` stands for those.
fn fields(fields: &Fields, of_struct: bool) -> String {
    let seen = |field: &&syn::Field| !of_struct || is_public(&field.vis);
    let hidden = if fields.iter().all(|field| seen(&field)) { None } else { Some("..".to_owned()) };
    let one = |field: &syn::Field| match (&field.ident, of_struct) {
        (Some(name), true) => format!("pub {name}: {}", text(&field.ty)),
        (Some(name), false) => format!("{name}: {}", text(&field.ty)),
        (None, true) => format!("pub {}", text(&field.ty)),
        (None, false) => text(&field.ty),
    };
    let all: Vec<String> = fields.iter().filter(seen).map(one).chain(hidden).collect();
    match fields {
        Fields::Unit => String::new(),
        Fields::Named(_) => format!(" {{ {} }}", all.join(", ")),
        Fields::Unnamed(_) => format!("({})", all.join(", ")),
    }
}

/// Public methods and constants of a type, then the traits written for it.
fn members(name: &str, impls: &Impls, lines: &mut Vec<String>) {
    let found = impls.get(name).map_or(&[][..], Vec::as_slice);
    for item in found.iter().filter(|item| item.trait_.is_none()).flat_map(|item| &item.items) {
        match item {
            ImplItem::Fn(f) if is_public(&f.vis) => lines.push(format!("        pub {}", text(&f.sig))),
            ImplItem::Const(c) if is_public(&c.vis) => {
                lines.push(format!("        pub const {}: {}", c.ident, text(&c.ty)));
            }
            _ => {}
        }
    }
    let traits = found.iter().filter_map(|item| item.trait_.as_ref());
    lines.extend(traits.map(|(_, path, _)| format!("        impl {}", text(path))));
}

/// Tokens as people write them.
fn text(tokens: &impl ToTokens) -> String {
    let spaced = quote!(#tokens).to_string().replace('\n', " ");
    let mut text = spaced;
    for (from, to) in [
        (" :: ", "::"),
        (":: ", "::"),
        ("# [", "#["),
        (" < ", "<"),
        ("< ", "<"),
        (" >", ">"),
        ("& ", "&"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (" , ", ", "),
        (" ,", ","),
        (" : ", ": "),
        (" [", "["),
        (" ..= ", "..="),
        ("->", "-> "),
        ("->  ", "-> "),
        ("-> (", "-> ("),
        (",)", ")"),
        ("(mut self", "(self"),
        ("#[", " #["),
    ] {
        text = text.replace(from, to);
    }
    text.trim().to_owned()
}

//! Figures of the whole house that have a bound: how much of its crates others can name, and how many of
//! its types share a name. A new one that goes past the bound makes room first.

use std::collections::BTreeMap;

use super::repository::rust_files;
use super::rust::{is_for_tests, shipped_code};

/// The most items, imports and modules that are `pub` in what ships. What only its own crate names is
/// `pub(crate)`, and a name has one public path.
const PUBLIC_ITEMS_MAX: usize = 2_100;

/// The most names of types that more than one type of what ships has.
const SHARED_NAMES_MAX: usize = 40;

/// What follows `pub` where an item begins, and no field.
const ITEMS: [&str; 11] = [
    "async ", "const ", "enum ", "fn ", "mod ", "static ", "struct ", "trait ", "type ", "union ",
    "use ",
];

#[test]
fn few_items_are_public() {
    let public: usize = shipped().map(|code| public_items(&code)).sum();
    assert!(
        public <= PUBLIC_ITEMS_MAX,
        "{public} items are `pub`, and {PUBLIC_ITEMS_MAX} may be: make `pub(crate)` what no other crate names"
    );
}

#[test]
fn few_types_share_a_name() {
    let mut homes: BTreeMap<String, usize> = BTreeMap::new();
    for code in shipped() {
        for name in type_names(&code) {
            *homes.entry(name.to_owned()).or_default() += 1;
        }
    }
    let shared: Vec<String> = homes
        .into_iter()
        .filter(|(_, homes)| *homes > 1)
        .map(|(name, _)| name)
        .collect();
    assert!(
        shared.len() <= SHARED_NAMES_MAX,
        "{} names of types are shared, and {SHARED_NAMES_MAX} may be: {}",
        shared.len(),
        shared.join(", ")
    );
}

/// The code of every file that ships.
fn shipped() -> impl Iterator<Item = String> {
    rust_files()
        .into_iter()
        .filter(|file| file.path.split('/').any(|part| part == "src") && !is_for_tests(&file.path))
        .map(|file| shipped_code(&file.text))
}

fn public_items(code: &str) -> usize {
    code.lines()
        .filter_map(|line| line.trim_start().strip_prefix("pub "))
        .filter(|item| ITEMS.iter().any(|begins| item.starts_with(begins)))
        .count()
}

fn type_names(code: &str) -> impl Iterator<Item = &str> {
    code.lines().filter_map(|line| {
        let item = line.trim_start();
        let item = match item.strip_prefix("pub") {
            Some(rest) if rest.starts_with('(') => rest.split_once(')')?.1.trim_start(),
            Some(rest) => rest.trim_start(),
            None => item,
        };
        let is_inner = line.starts_with(' ');
        let name = ["struct ", "enum ", "trait ", "type "]
            .into_iter()
            .filter(|kind| *kind != "type " || !is_inner)
            .find_map(|kind| item.strip_prefix(kind))?;
        name.split(|c: char| !c.is_alphanumeric() && c != '_')
            .next()
            .filter(|name| !name.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_modules_and_imports_count_and_fields_do_not() {
        let code = "pub mod a;\npub use a::B;\npub(crate) fn c() {}\npub struct D {\n    pub e: u8,\n    pub const_: u8,\n}\nimpl D {\n    pub const fn f() {}\n}\n";
        assert_eq!(public_items(code), 4);
    }

    #[test]
    fn a_type_is_known_by_its_name_whatever_sees_it() {
        let code = "pub struct A<T> {\npub(super) enum B {\ntrait C: D {\ntype E = u8;\nimpl X for Y {\n    type F = u8;\n}\n";
        assert_eq!(type_names(code).collect::<Vec<_>>(), ["A", "B", "C", "E"]);
    }
}

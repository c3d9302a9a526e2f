//! The rooms: inside a crate, files import one another in one direction, or in small circles.
//!
//! Counted are `use` declarations of code that ships, followed through re-exports to the file that has the
//! name. A file that exports the names of others imports nothing by that.

use std::collections::{BTreeMap, BTreeSet};

use super::floors::packages;
use super::repository::at;
use super::rust::shipped_code;

/// How many files of a crate may import one another in a circle.
const CIRCLE_FILES_MAX: usize = 6;

/// How many re-exports are followed from a name to its file.
const REEXPORTS_MAX: usize = 8;

/// A module's path from the root of its crate.
type ModulePath = Vec<String>;

/// A name that a file imports, and the path it imports it from.
#[derive(Debug)]
struct Import {
    path: ModulePath,
    name: String,
    is_export: bool,
}

/// One file of a crate.
#[derive(Debug)]
struct Room {
    file: String,
    imports: Vec<Import>,
}

type Rooms = BTreeMap<ModulePath, Room>;

#[test]
fn files_import_one_another_in_small_circles_at_most() {
    let mut wide = Vec::new();
    for package in packages() {
        let folder = package.folder.trim_matches('/');
        let source = if folder.is_empty() {
            "src".to_owned()
        } else {
            format!("{folder}/src")
        };
        let mut rooms = Rooms::new();
        for first in ["lib.rs", "main.rs"] {
            enter(
                &mut rooms,
                &format!("{source}/{first}"),
                &source,
                Vec::new(),
            );
        }
        let circles = circles(&arrows(&rooms));
        for circle in circles
            .iter()
            .filter(|circle| circle.len() > CIRCLE_FILES_MAX)
        {
            let files: Vec<&str> = circle
                .iter()
                .map(|path| rooms[path].file.as_str())
                .collect();
            wide.push(format!("{} files: {}", files.len(), files.join(", ")));
        }
    }
    assert!(
        wide.is_empty(),
        "more than {CIRCLE_FILES_MAX} files import one another in a circle:\n{}",
        wide.join("\n")
    );
}

/// Reads a file and the files of the modules that it declares. `folder` is where those are.
fn enter(rooms: &mut Rooms, file: &str, folder: &str, path: ModulePath) {
    let Ok(text) = std::fs::read_to_string(at(file)) else {
        return;
    };
    let code = shipped_code(&text);
    let (room, children) = read(file, &code, &path);
    rooms.insert(path.clone(), room);
    for child in children {
        let mut inner = path.clone();
        inner.push(child.clone());
        let beside = format!("{folder}/{child}.rs");
        let within = format!("{folder}/{child}");
        let file = if at(&beside).exists() {
            beside
        } else {
            format!("{within}/mod.rs")
        };
        enter(rooms, &file, &within, inner);
    }
}

/// What a file imports, and the modules that it declares in files of their own.
fn read(file: &str, code: &str, path: &[String]) -> (Room, Vec<String>) {
    let mut children = Vec::new();
    let mut trees = Vec::new();
    let mut open: Option<(String, bool)> = None;
    for line in code.lines().map(str::trim) {
        if let Some((tree, _)) = &mut open {
            tree.push_str(line);
        } else {
            let item = without_visibility(line);
            if let Some(name) = item
                .strip_prefix("mod ")
                .and_then(|rest| rest.strip_suffix(';'))
            {
                children.push(name.to_owned());
            } else if let Some(tree) = item.strip_prefix("use ") {
                open = Some((tree.to_owned(), item != line));
            }
        }
        if let Some((tree, is_export)) = open.take_if(|(tree, _)| tree.ends_with(';')) {
            trees.push((tree.trim_end_matches(';').to_owned(), is_export));
        }
    }
    let mut imports = Vec::new();
    for (tree, is_export) in trees {
        flatten("", &tree, &mut |whole, name| {
            if let Some(path) = from_root(&whole, path, &children) {
                imports.push(Import {
                    path,
                    name,
                    is_export,
                });
            }
        });
    }
    let file = file.to_owned();
    (Room { file, imports }, children)
}

fn without_visibility(line: &str) -> &str {
    let Some(rest) = line.strip_prefix("pub") else {
        return line;
    };
    match rest
        .strip_prefix('(')
        .and_then(|inner| inner.split_once(')'))
    {
        Some((_, rest)) => rest.trim_start(),
        None => rest.trim_start(),
    }
}

/// Calls with each path of a tree of imports, and with the name that it has here.
fn flatten(before: &str, tree: &str, each: &mut dyn FnMut(String, String)) {
    if let Some((head, rest)) = tree.split_once('{') {
        let inner = rest.rsplit_once('}').map_or(rest, |(inner, _)| inner);
        for part in parts(inner) {
            flatten(&format!("{before}{}", head.trim()), part, each);
        }
        return;
    }
    let (path, name) = tree.split_once(" as ").unwrap_or((tree, ""));
    let whole = format!("{before}{}", path.trim());
    let whole = whole.trim_end_matches("::self").to_owned();
    let last = whole.rsplit("::").next().unwrap_or_default();
    let name = if name.is_empty() { last } else { name.trim() };
    each(whole.clone(), name.to_owned());
}

/// The parts of a list, between the commas that are in no inner list.
fn parts(list: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let between = |c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    };
    let parts = list.split(between).map(str::trim);
    parts.filter(|part| !part.is_empty()).collect()
}

/// A path of an import from the root of the crate, if it begins in this crate.
fn from_root(whole: &str, own: &[String], children: &[String]) -> Option<ModulePath> {
    let mut segments = whole.split("::").peekable();
    let first = segments.peek().copied()?;
    let mut path = match first {
        "crate" => Vec::new(),
        _ => own.to_vec(),
    };
    if !matches!(first, "crate" | "self" | "super") && !children.iter().any(|child| child == first)
    {
        return None;
    }
    for segment in segments {
        match segment {
            "crate" | "self" | "*" => {}
            "super" => drop(path.pop()),
            _ => path.push(segment.to_owned()),
        }
    }
    Some(path)
}

/// The module whose file has what a path names.
fn home(rooms: &Rooms, path: &[String], left: usize) -> ModulePath {
    let length = (0..=path.len())
        .rev()
        .find(|length| rooms.contains_key(&path[..*length]));
    let (module, rest) = path.split_at(length.unwrap_or_default());
    if let (Some(name), Some(room), 1..) = (rest.first(), rooms.get(module), left)
        && let Some(import) =
            (room.imports.iter()).find(|import| import.is_export && import.name == *name)
    {
        let further: ModulePath = import.path.iter().chain(&rest[1..]).cloned().collect();
        return home(rooms, &further, left - 1);
    }
    module.to_vec()
}

/// Which files each file imports.
fn arrows(rooms: &Rooms) -> BTreeMap<&ModulePath, BTreeSet<ModulePath>> {
    let of = |(path, room): (_, &Room)| {
        let imports = room.imports.iter().filter(|import| !import.is_export);
        let homes = imports.map(|import| home(rooms, &import.path, REEXPORTS_MAX));
        (path, homes.filter(|home| home != path).collect())
    };
    rooms.iter().map(of).collect()
}

/// The groups in which each reaches each, of two and more.
fn circles(arrows: &BTreeMap<&ModulePath, BTreeSet<ModulePath>>) -> Vec<BTreeSet<ModulePath>> {
    let reached = |from: &ModulePath| {
        let mut seen = BTreeSet::new();
        let mut next = vec![from];
        while let Some(path) = next.pop() {
            for to in arrows.get(path).into_iter().flatten() {
                if seen.insert(to.clone()) {
                    next.push(to);
                }
            }
        }
        seen
    };
    let reach: BTreeMap<&ModulePath, BTreeSet<ModulePath>> =
        arrows.keys().map(|path| (*path, reached(path))).collect();
    let circle = |path: &ModulePath| -> BTreeSet<ModulePath> {
        let mutual =
            |other: &&ModulePath| reach.get(*other).is_some_and(|back| back.contains(path));
        reach[path].iter().filter(mutual).cloned().collect()
    };
    let all: BTreeSet<BTreeSet<ModulePath>> = reach.keys().map(|path| circle(path)).collect();
    all.into_iter().filter(|circle| circle.len() > 1).collect()
}

fn room(file: &str, code: &str) -> (ModulePath, Room) {
    let path: ModulePath = file
        .split('/')
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect();
    let (room, _) = read(file, code, &path);
    (path, room)
}

#[test]
fn a_circle_is_found_through_the_names_that_an_index_exports() {
    let mut rooms: Rooms = [
        room("one", "use super::{Two, four::{self, Four as F}};"),
        room("two", "use crate::three::Three;\nfn f() {}"),
        room("three", "use crate::one::One;\nfn f() {}"),
        room("four", "fn f() {}"),
    ]
    .into();
    let (index, _) = read("index", "mod one;\nmod two;\npub use two::Two;", &[]);
    rooms.insert(Vec::new(), index);
    let found = circles(&arrows(&rooms));
    assert_eq!(found.len(), 1, "{found:?}");
    let names: Vec<String> = found[0].iter().map(|path| path.join("::")).collect();
    assert_eq!(names, ["one", "three", "two"]);
}

#[test]
fn what_only_flows_downwards_is_no_circle() {
    let rooms: Rooms = [
        room("one", "use crate::{two::Two, three::Three};\nfn f() {}"),
        room("two", "use crate::three::Three;\nfn f() {}"),
        room("three", "use std::fmt;\nfn f() {}"),
    ]
    .into();
    assert_eq!(circles(&arrows(&rooms)), []);
}

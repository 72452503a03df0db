//! `docs/architecture.md` draws which folders of each crate import which, and the code keeps to it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

type Graph = BTreeMap<String, BTreeSet<String>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package has a parent").to_owned()
}

/// The crates with a table, and at least so many files.
const CRATES: [(&str, usize); 6] = [
    ("core", 250),
    ("service", 80),
    ("server-example", 100),
    ("store-clickhouse", 15),
    ("bindings-python", 15),
    ("bindings-wasm", 10),
];

/// The table of a crate under "Imports": each row names a folder and what it imports.
fn drawn(of: &str) -> Vec<(String, BTreeSet<String>)> {
    let document = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let table = document.split("\n## Imports").nth(1).expect("a chapter \"Imports\"");
    let table = table.split("\n## ").next().unwrap();
    let title = format!("\n### `{of}`\n");
    let table = table.split(&title).nth(1).unwrap_or_else(|| panic!("a table of {of}"));
    let table = table.split("\n### ").next().unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let names = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        (cells[1].trim_matches('`').to_owned(), names(cells[2]))
    })
    .collect()
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn is_test(path: &Path) -> bool {
    let name = path.file_stem().unwrap().to_str().unwrap();
    name.ends_with("_tests") || ["tests", "testing", "conformance"].contains(&name)
}

/// The code of a file without comments and without its tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let lines = text.lines().map(|line| line.split("//").next().unwrap());
    lines.collect::<Vec<_>>().join("\n")
}

/// The paths that follow a prefix, alone or in braces.
fn paths_after(code: &str, prefix: &str) -> BTreeSet<Vec<String>> {
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices(prefix) {
        let before = code[..at].chars().next_back();
        if before.is_none_or(|c| !c.is_alphanumeric() && !"_:$".contains(c)) {
            read_tree(&code[at + prefix.len()..], &[], &mut found);
        }
    }
    found
}

/// Reads `a::b` or `{a, b::{c, d}}` behind what stands before it; returns what is left.
fn read_tree<'a>(text: &'a str, start: &[String], found: &mut BTreeSet<Vec<String>>) -> &'a str {
    let text = text.trim_start();
    if let Some(mut rest) = text.strip_prefix('{') {
        while !rest.is_empty() && !rest.starts_with('}') {
            rest = read_tree(rest, start, found);
            rest = rest.trim_start_matches(|c| c != ',' && c != '}');
            rest = rest.trim_start_matches(',').trim_start();
        }
        return rest.strip_prefix('}').unwrap_or(rest);
    }
    let word = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let mut path = start.to_vec();
    path.push(text[..word].to_owned());
    match text[word..].strip_prefix("::") {
        Some(rest)
            if word > 0 && rest.starts_with(|c: char| c.is_alphabetic() || "_{".contains(c)) =>
        {
            read_tree(rest, &path, found)
        }
        _ => {
            found.insert(path);
            &text[word..]
        }
    }
}

/// The folder, or file, of the sources that a file belongs to.
fn room(path: &Path, src: &Path) -> String {
    let first = path.strip_prefix(src).unwrap().components().next().unwrap();
    Path::new(first.as_os_str()).file_stem().unwrap().to_str().unwrap().to_owned()
}

fn check_folders(of: &str) {
    let src = root().join(of).join("src");
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    let mut imports = Graph::new();
    for path in files.iter().filter(|path| !is_test(path)) {
        let room = room(path, &src);
        if ["lib", "main"].contains(&&*room) {
            continue;
        }
        let of_room = imports.entry(room.clone()).or_default();
        let paths = paths_after(&code(path), "crate::");
        of_room.extend(paths.into_iter().map(|mut path| path.remove(0)).filter(|to| *to != room));
    }
    let drawn = drawn(of);
    let rooms: Vec<&String> = drawn.iter().map(|(room, _)| room).collect();
    assert_eq!(
        rooms.iter().copied().collect::<BTreeSet<_>>(),
        imports.keys().collect::<BTreeSet<_>>(),
        "docs/architecture.md names each folder of {of}/src once"
    );
    for (at, (room, allowed)) in drawn.iter().enumerate() {
        let real = &imports[room];
        assert_eq!(real, allowed, "{of}/{room}: the imports of the code and those of the drawing");
        for to in allowed {
            assert!(rooms[..at].contains(&to), "{of}/{room} imports {to}, which is not above it");
        }
    }
}

#[test]
fn the_folders_of_each_crate_import_what_the_drawing_allows() {
    for (of, _) in CRATES {
        check_folders(of);
    }
}

/// The module of a file.
fn module(path: &Path, src: &Path) -> Vec<String> {
    let path = path.strip_prefix(src).unwrap().with_extension("");
    let mut names: Vec<String> =
        path.iter().map(|name| name.to_str().unwrap().to_owned()).collect();
    names.pop_if(|name| name == "mod");
    names
}

/// Which files and folders import which: a file imports for the folders that it is in, and is
/// imported for those that it is in, up to the one that holds both. Without what a module and its
/// children take from one another.
fn files(src: &Path) -> Graph {
    let mut files = Vec::new();
    rust_files(src, &mut files);
    let modules: BTreeSet<Vec<String>> = files.iter().map(|path| module(path, src)).collect();
    let mut graph = Graph::new();
    for path in files.iter().filter(|path| !is_test(path)) {
        let (code, own) = (code(path), module(path, src));
        let mut paths = paths_after(&code, "crate::");
        for up in 1..=own.len() {
            let above = &own[..own.len() - up];
            let found = paths_after(&code, &"super::".repeat(up));
            paths.extend(found.into_iter().map(|path| [above, &path].concat()));
        }
        let imported = paths.iter().filter_map(|path| {
            (1..=path.len())
                .rev()
                .map(|length| &path[..length])
                .find(|&path| modules.contains(path))
        });
        let apart = |to: &&[String]| !own.starts_with(to) && !to.starts_with(&own);
        graph.entry(own.join("::")).or_default();
        for to in imported.filter(apart) {
            let level = own.iter().zip(to).take_while(|(own, to)| own == to).count();
            let (from, to) = (own[..=level].join("::"), to[..=level].join("::"));
            graph.entry(from).or_default().insert(to);
        }
    }
    graph
}

/// A way from a file or folder back to itself.
fn circle(graph: &Graph) -> Option<Vec<String>> {
    fn walk(graph: &Graph, way: &mut Vec<String>, done: &mut BTreeSet<String>) -> bool {
        let last = way.last().unwrap().clone();
        for next in graph.get(&last).into_iter().flatten() {
            if let Some(start) = way.iter().position(|room| room == next) {
                way.drain(..start);
                return true;
            }
            if !done.contains(next) {
                way.push(next.clone());
                if walk(graph, way, done) {
                    return true;
                }
                way.pop();
            }
        }
        done.insert(last);
        false
    }
    let mut done = BTreeSet::new();
    graph.keys().find_map(|start| {
        let mut way = vec![start.clone()];
        (!done.contains(start) && walk(graph, &mut way, &mut done)).then_some(way)
    })
}

#[test]
fn the_files_and_folders_of_each_crate_import_one_another_in_one_direction() {
    for (of, least) in CRATES {
        let graph = files(&root().join(of).join("src"));
        assert!(graph.len() >= least, "{of}: {} files", graph.len());
        assert_eq!(circle(&graph), None, "a circle of imports in {of}");
    }
}

/// A crate depends on those below it only.
#[test]
fn the_crates_depend_on_one_another_in_one_direction() {
    let floors = [
        ("core", &[][..]),
        ("store-clickhouse", &["core"]),
        ("service", &["core", "store-clickhouse"]),
        ("server-example", &["core", "service"]),
        ("bindings-python", &["core", "service"]),
        ("bindings-wasm", &["core"]),
    ];
    let packages = [
        ("core", "mesonet"),
        ("store-clickhouse", "mesonet-clickhouse"),
        ("service", "mesonet-service"),
        ("server-example", "mesonet-server"),
    ];
    for (of, allowed) in floors {
        let manifest = fs::read_to_string(root().join(of).join("Cargo.toml")).unwrap();
        let needs = manifest.split("[dev-dependencies]").next().unwrap();
        for (folder, package) in packages {
            let named =
                |line: &str| line.split(['.', ' ', '=']).next() == Some(package) && line != package;
            let depends = needs.lines().any(named);
            assert_eq!(depends, allowed.contains(&folder), "{of} and {folder}");
        }
    }
}

/// What a document says of the length of a folder is so within a tenth: "1,700 lines (`FOLDER`)".
#[test]
fn the_lines_that_documents_name_are_there() {
    let mut named = 0;
    for document in ["docs/design.md", "docs/architecture.md"] {
        let text = fs::read_to_string(root().join(document)).unwrap();
        for (before, after) in text.match_indices(" lines (`").map(|(at, _)| text.split_at(at)) {
            let said = before.rsplit(|c: char| c != ',' && !c.is_ascii_digit()).next().unwrap();
            let said: usize = said.replace(',', "").parse().unwrap();
            let folder = after.split('`').nth(1).unwrap();
            let mut files = Vec::new();
            rust_files(&root().join(folder), &mut files);
            let own = files.iter().filter(|path| !is_test(path));
            let lines: usize = own.map(|path| code(path).lines().count()).sum();
            assert!(
                said.abs_diff(lines) * 10 <= lines,
                "{document} says {said} lines of {folder}; there are {lines}"
            );
            named += 1;
        }
    }
    assert!(named >= 3, "{named}");
}

#[test]
fn circles_and_imports_are_found() {
    let code = "use crate::{a, b::{c, d::E}};\nuse crate::e::F;\nlet x = crate::g::<u8>();";
    let found = paths_after(code, "crate::");
    let found: Vec<String> = found.into_iter().map(|path| path.join("::")).collect();
    assert_eq!(found, ["a", "b::c", "b::d::E", "e::F", "g"]);
    let graph = |arrows: &[(&str, &str)]| {
        let mut graph = Graph::new();
        for (from, to) in arrows {
            graph.entry((*from).to_owned()).or_default().insert((*to).to_owned());
        }
        graph
    };
    assert_eq!(circle(&graph(&[("a", "b"), ("b", "c"), ("a", "c")])), None);
    let way = circle(&graph(&[("a", "b"), ("b", "c"), ("c", "b")])).unwrap();
    assert_eq!(way, ["b", "c"]);
}

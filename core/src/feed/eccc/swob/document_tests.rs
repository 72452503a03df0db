//! `docs/swob.md` lists every element of the known files: with its variable, or why it is not
//! stored.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

use super::super::point_observation::read_point_observations;
use super::SCHEMA;
use super::element::meaning;
use super::{peak_wind, sky};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "gz") {
            all.push(path);
        }
    }
}

/// The elements of the files, with how many observations have each.
fn elements() -> BTreeMap<String, u32> {
    let mut paths = Vec::new();
    files(&Path::new(ROOT).join("tests/data/swob"), &mut paths);
    let mut found: BTreeMap<String, u32> = BTreeMap::new();
    for path in &paths {
        let input = BufReader::new(GzDecoder::new(File::open(path).unwrap()));
        read_point_observations(input, SCHEMA, |observation, _| {
            for element in observation.elements() {
                *found.entry(element.name.to_owned()).or_default() += 1;
            }
            Ok(())
        })
        .unwrap();
    }
    let mut paths = Vec::new();
    files(&Path::new(ROOT).join("tests/data/geomet_swob"), &mut paths);
    for path in &paths {
        let input = GzDecoder::new(File::open(path).unwrap());
        let document: serde_json::Value = serde_json::from_reader(input).unwrap();
        let single = [document.clone()];
        for feature in document["features"].as_array().map_or(&single[..], Vec::as_slice) {
            let properties = feature["properties"].as_object().unwrap();
            let names = properties.keys().filter(|name| {
                !name.contains('-') && !super::super::geomet::DESCRIPTIONS.contains(&&***name)
            });
            names.for_each(|name| *found.entry(name.clone()).or_default() += 1);
        }
    }
    found
}

/// The names in the first column of the table under a heading.
fn listed(document: &str, heading: &str) -> BTreeSet<String> {
    let section = &document[document.find(heading).unwrap() + heading.len()..];
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| ")).skip(2);
    rows.flat_map(|row| row.split('|').nth(1).unwrap().split(','))
        .map(|name| name.trim().to_owned())
        .collect()
}

fn is_stored(name: &str) -> bool {
    let apart = name == "wnd_dir_code" || sky::is_base(name) || peak_wind::is_part(name);
    apart || meaning(name).is_some()
}

#[test]
fn every_element_of_the_files_is_stored_or_listed_with_the_reason() {
    let document = fs::read_to_string(format!("{ROOT}/docs/swob.md")).unwrap();
    let not_stored = listed(&document, "## What is not stored");
    let found = elements();
    assert!(found.len() > 140, "{}", found.len());
    let unlisted: Vec<_> =
        found.iter().filter(|(name, _)| !is_stored(name) && !not_stored.contains(*name)).collect();
    assert_eq!(unlisted, [], "neither stored nor in the table of docs/swob.md");
    let stored: Vec<_> = not_stored.iter().filter(|name| is_stored(name)).collect();
    assert_eq!(stored, [""; 0], "stored, but in the table of what is not");
    let unknown: Vec<_> = not_stored.iter().filter(|name| !found.contains_key(*name)).collect();
    assert_eq!(unknown, [""; 0], "in the table, but in no file");
}

#[test]
fn the_elements_in_the_table_of_what_is_stored_have_a_variable() {
    let document = fs::read_to_string(format!("{ROOT}/docs/swob.md")).unwrap();
    let names = listed(&document, "## What is stored");
    assert!(names.len() > 30, "{}", names.len());
    for name in names {
        let mut written = ["", "avg_", "max_"]
            .iter()
            .flat_map(|of| ["", "_pst1hr"].map(|period| format!("{of}{name}{period}")));
        assert!(written.any(|name| is_stored(&name)), "{name}");
    }
}

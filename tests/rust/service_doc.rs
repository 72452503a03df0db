//! `docs/service.md` names a test for each rule that is implemented, and each of them exists.

use std::fs;
use std::path::Path;

#[test]
fn the_tests_that_the_service_document_names_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package has a parent");
    let document = fs::read_to_string(root.join("docs/service.md")).expect("docs/service.md");
    let rows: Vec<&str> = document.lines().filter(|line| line.starts_with("| ")).collect();
    let (mut named, mut missing) = (0, 0);
    for row in rows.iter().filter(|row| !row.starts_with("| Rule ") && !row.starts_with("| ---")) {
        let tests: Vec<&str> = row.split('`').filter(|code| is_test(code)).collect();
        if tests.is_empty() {
            assert!(row.contains("| missing"), "neither a test nor \"missing\": {row}");
            missing += 1;
        }
        for test in tests {
            let (file, function) = test.split_once("::").expect("file::test");
            let source = fs::read_to_string(root.join(file));
            let source = source.unwrap_or_else(|error| panic!("{file}: {error}"));
            let declared = match file.rsplit_once('.').map(|(_, extension)| extension) {
                Some("py") => format!("def {function}("),
                Some("mjs") => format!("test(\"{function}\""),
                _ => format!("fn {function}"),
            };
            assert!(source.contains(&declared), "{test} does not exist");
            named += 1;
        }
    }
    assert!(named >= 100 && missing >= 1, "read {named} tests and {missing} missing rules");
}

/// Returns whether it is `file::test`; items of the core are `Type::function`.
fn is_test(code: &str) -> bool {
    [".rs::", ".py::", ".mjs::"].iter().any(|file| code.contains(file))
}

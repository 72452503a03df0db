use super::*;

/// [`Error`] contains each error enum and struct of the crate: a new one must be added.
#[test]
fn every_error_of_the_crate_is_held() {
    let mut missing = Vec::new();
    let mut found = 0;
    visit(std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), &mut |text| {
        let mut of_error = false;
        for line in text.lines() {
            if line.starts_with("#[derive(") {
                of_error = line.contains("thiserror::Error");
            }
            let item =
                ["pub enum ", "pub struct "].iter().find_map(|start| line.strip_prefix(start));
            if let Some(item) = item.filter(|_| std::mem::take(&mut of_error)) {
                let name: String = item.chars().take_while(|c| c.is_alphanumeric()).collect();
                found += 1;
                let held = format!("::{name})");
                // Contained in an error that [`Error`] contains.
                let inner = ["CursorError", "Error"].contains(&&*name);
                if !inner && !include_str!("error.rs").contains(&held) {
                    missing.push(name);
                }
            }
        }
    });
    assert_eq!(missing, [""; 0]);
    assert!(found > 40, "{found}");
}

fn visit(folder: &std::path::Path, of_file: &mut impl FnMut(&str)) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            visit(&path, of_file);
        } else if path.extension().is_some_and(|end| end == "rs") {
            of_file(&std::fs::read_to_string(path).unwrap());
        }
    }
}

#[cfg(all(
    feature = "raster",
    feature = "grib",
    feature = "model",
    feature = "store",
    feature = "arrow"
))]
#[test]
fn a_failed_write_and_damaged_data_are_not_the_callers_fault() {
    use ErrorKind::{Damaged, Internal, Unavailable, Unsupported};
    let full = || store::StoreError::Full { path: "a".to_owned(), cause: "b".to_owned() };
    let damaged = || model::RunStoreError::Damaged { file: "a".to_owned(), cause: "b".to_owned() };
    let kinds = [
        Error::from(raster::RasterError::Tiff("no space".to_owned())).kind(),
        Error::from(model::DeliveryError::Spool("no space".to_owned())).kind(),
        Error::from(model::DeliveryError::Store(damaged())).kind(),
        Error::from(export::ExportError::Store(full())).kind(),
        Error::from(raster::RasterError::Grib(grib::GribError::Edition(1))).kind(),
    ];
    assert_eq!(kinds, [Internal, Internal, Damaged, Unavailable, Unsupported]);
}

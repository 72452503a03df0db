//! Files, stores, and deliveries of files into stores.

use std::fs;
use std::io::{Cursor, Read};
use std::path::Path;

use flate2::read::GzDecoder;
use mesonet::model;
use mesonet::model::DeliveryLimits;
use tempfile::TempDir;

/// The start of NAM's run.
pub const START_MS: i64 = 1_537_142_400_000;

/// The clock of the deliveries, later than all runs.
pub const NOW_MS: i64 = 2_000_000_000_000;

/// A file of the sample.
pub fn sample(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server-example/sample");
    fs::read(folder.join(name)).unwrap()
}

/// A file of `tests/data/grib`.
pub fn grib(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/grib");
    let packed = fs::File::open(folder.join(format!("{name}.grib2.gz"))).unwrap();
    let mut bytes = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
    bytes
}

/// One delivery of files, so many milliseconds after [`NOW_MS`].
pub fn deliver(
    source: &model::Source,
    store: &model::RunStore,
    files: &[&[u8]],
    after_ms: i64,
) -> model::DeliveryReport {
    let spool = Cursor::new(Vec::new());
    let mut delivery = model::Delivery::new(source, store, spool, DeliveryLimits::default());
    for (number, file) in files.iter().enumerate() {
        delivery.add(&format!("file{number}"), file);
    }
    let (waiting, mut unpacked) = (delivery.fields(), 0);
    let report = delivery.write(NOW_MS + after_ms, || unpacked += 1);
    assert!(unpacked <= waiting);
    report
}

/// A store in a folder of its own.
pub fn new_store() -> (TempDir, model::RunStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = model::RunStore::new(folder.path());
    (folder, store)
}

/// The same, of files with names.
pub fn deliver_named(
    source: &model::Source,
    store: &model::RunStore,
    files: &[(&str, &[u8])],
    after_ms: i64,
) -> model::DeliveryReport {
    let mut delivery = model::Delivery::in_memory(source, store);
    for (name, file) in files {
        delivery.add(name, file);
    }
    delivery.write(NOW_MS + after_ms, || ())
}

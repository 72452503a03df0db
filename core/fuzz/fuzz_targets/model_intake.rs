//! Any bytes as a delivery of each model that ships: no panic, no memory beyond the limits, and the
//! resulting runs are intact.
#![no_main]

use std::fs;
use std::io::Cursor;
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use mesonet::model::DeliveryLimits;
use mesonet::model;

/// A field of this size takes 128 KiB, a product of 256 levels 16 MiB.
const LIMITS: DeliveryLimits = DeliveryLimits { points: 1 << 15, packed_bytes: 1 << 20 };

static CATALOGUE: LazyLock<model::Catalogue> = LazyLock::new(model::Catalogue::default);

/// A folder of this process.
static FOLDER: LazyLock<PathBuf> =
    LazyLock::new(|| std::env::temp_dir().join(format!("mesonet-fuzz-{}", std::process::id())));

fuzz_target!(|bytes: &[u8]| {
    let _ = fs::remove_dir_all(&*FOLDER);
    let store = model::RunStore::new(&*FOLDER);
    for source in CATALOGUE.iter() {
        // The first half is already there when the whole arrives.
        for part in [&bytes[..bytes.len() / 2], bytes] {
            let spool = Cursor::new(Vec::new());
            let mut delivery = model::Delivery::new(source, &store, spool, LIMITS);
            delivery.add("file", part);
            let waiting = delivery.fields();
            let mut unpacked = 0;
            let report = delivery.write(i64::MAX, || unpacked += 1);
            assert!(unpacked <= waiting && report.used <= waiting);
        }
        for run in store.runs(source.name()).unwrap() {
            let run = store.run(source.name(), run).unwrap();
            assert_eq!(run.verify(), []);
            assert!(!run.published().is_empty());
        }
    }
});

//! Any bytes as GRIB2: no panic, no memory beyond the limit, every value finite or missing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mesonet::grib;

/// A field of this size takes 4 MiB.
const MAX_POINTS: usize = 1 << 20;

fuzz_target!(|bytes: &[u8]| {
    for field in grib::fields(bytes).take(8).flatten() {
        let _ = (field.parameter(), field.product());
        if let Ok(values) = field.values(MAX_POINTS) {
            let grid = field.grid().unwrap();
            assert_eq!(values.len(), grid.rows() * grid.columns());
            assert!(values.iter().all(|value| !value.is_infinite()));
        }
    }
});

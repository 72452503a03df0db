//! Any text as a code of an event: what is read is written as it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mesonet::alert::{Hvtec, Vtec};

fuzz_target!(|text: &str| {
    if let Ok(vtec) = text.parse::<Vtec>() {
        assert_eq!(vtec.to_string(), text.trim());
    }
    let _ = text.parse::<Hvtec>();
});

//! Any text as limits: it is read, or refused with a line number that it has.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mesonet::check;

fuzz_target!(|text: &str| {
    if let Err(error) = check::Config::from_toml(text) {
        assert!(error.line >= 1 && error.line <= 1 + text.matches('\n').count());
        assert!(!error.reason.is_empty());
    }
});

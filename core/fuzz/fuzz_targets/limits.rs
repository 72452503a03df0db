//! A text of limits is read or refused with a line that it has.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mesonet::CheckConfig;

fuzz_target!(|text: &str| {
    if let Err(error) = CheckConfig::from_toml(text) {
        assert!(error.line >= 1 && error.line <= 1 + text.matches('\n').count());
        assert!(!error.reason.is_empty());
    }
});

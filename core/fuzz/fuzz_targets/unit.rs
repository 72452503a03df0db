//! The text of a unit is exact, ambiguous or unknown, in every vocabulary and in none.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mesonet::unit::{Resolution, Vocabulary};
use mesonet::Unit;

fuzz_target!(|text: &str| {
    let vocabularies = Vocabulary::ALL.iter().copied().map(Some).chain([None]);
    for vocabulary in vocabularies {
        match Unit::resolve(text, vocabulary) {
            Resolution::Exact(unit) => assert!(Unit::ALL.contains(&unit)),
            Resolution::Ambiguous(units) => assert!(units.len() > 1),
            Resolution::Unknown => {}
        }
    }
});

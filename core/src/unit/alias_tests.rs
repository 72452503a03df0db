use super::*;

#[test]
fn without_a_vocabulary_a_text_is_one_unit_or_listed_as_ambiguous() {
    for (text, units) in INDEX.iter() {
        let mut meanings: Vec<Unit> = units.iter().copied().flatten().collect();
        meanings.extend(WORD_INDEX.get(&*text.to_lowercase()));
        meanings.dedup();
        let listed = AMBIGUOUS.iter().find(|(texts, ..)| texts.contains(text));
        match listed {
            None => assert_eq!(meanings.len(), 1, "{text}: {meanings:?}"),
            Some((.., among)) => {
                assert!(among.len() > 1 && meanings.iter().all(|unit| among.contains(unit)));
            }
        }
    }
}

#[test]
fn every_alias_resolves_to_its_unit_and_no_row_hides_another() {
    let mut seen = std::collections::HashSet::new();
    for &(unit, vocabulary, texts) in TABLE {
        for &text in texts {
            assert!(seen.insert((text, vocabulary)), "{text} twice in {vocabulary:?}");
            assert!(text.len() <= MAX_UNIT_BYTES);
            let got = Unit::resolve(text, Some(vocabulary));
            assert_eq!(got, Resolution::Exact(unit), "{text} in {vocabulary:?}");
        }
    }
    let words: usize = WORDS.iter().map(|(_, words)| words.len()).sum();
    assert_eq!(WORD_INDEX.len(), words, "a word appears twice");
    for (&word, &unit) in WORD_INDEX.iter() {
        assert_eq!(word, word.to_lowercase());
        assert_eq!(Unit::resolve(&word.to_uppercase(), None), Resolution::Exact(unit), "{word}");
    }
}

#[test]
fn symbols_are_distinct_and_resolve_but_for_the_ambiguous() {
    let mut symbols: Vec<_> = Unit::ALL.iter().map(|unit| unit.symbol()).collect();
    symbols.sort_unstable();
    symbols.dedup();
    assert_eq!(symbols.len(), Unit::ALL.len());
    let unresolved: Vec<_> = Unit::ALL
        .iter()
        .filter(|unit| Unit::resolve(unit.symbol(), None) != Resolution::Exact(**unit))
        .collect();
    assert_eq!(unresolved, [&Unit::Nanometre, &Unit::One, &Unit::Coulomb, &Unit::Farad]);
}

#[test]
fn case_counts_in_symbols_and_not_in_words() {
    let exact = |text| matches!(Unit::resolve(text, None), Resolution::Exact(_));
    assert!(exact("mm") && !exact("Mm") && !exact("MM"));
    assert!(exact("Knots") && exact("FAHRENHEIT") && exact("MPH"));
    assert_eq!(Unit::resolve("Knots", Some(Vocabulary::Cf)), Resolution::Unknown);
}

#[test]
fn a_text_that_is_one_unit_to_all_is_that_in_each_vocabulary() {
    for (text, unit) in [
        ("°F", Unit::DegreeFahrenheit),
        ("degF", Unit::DegreeFahrenheit),
        ("Fahrenheit", Unit::DegreeFahrenheit),
        ("kt", Unit::Knot),
        ("knots", Unit::Knot),
        ("mph", Unit::MilePerHour),
        ("MPS", Unit::MetrePerSecond),
        ("mb", Unit::Millibar),
        ("inches", Unit::Inch),
        ("ft", Unit::Foot),
        ("nmi", Unit::NauticalMile),
        ("K", Unit::Kelvin),
    ] {
        for vocabulary in [Vocabulary::Swob, Vocabulary::Wmo, Vocabulary::Metar, Vocabulary::Plain]
        {
            let found = Unit::resolve(text, Some(vocabulary));
            assert_eq!(found, Resolution::Exact(unit), "{text} in {}", vocabulary.name());
        }
    }
    // A text that is ambiguous to some is not guessed.
    for text in ["F", "C", "nm", "deg", "'"] {
        let found = Unit::resolve(text, Some(Vocabulary::Swob));
        assert!(matches!(found, Resolution::Ambiguous(_)), "{text}: {found:?}");
    }
    // Nor is a text that rules may turn into another unit.
    for text in ["mph", "kph", "mb", "nmi"] {
        for vocabulary in [Vocabulary::Cf, Vocabulary::Ucum] {
            assert_eq!(Unit::resolve(text, Some(vocabulary)), Resolution::Unknown, "{text}");
        }
    }
    assert_eq!(Unit::resolve("kt", Some(Vocabulary::Ucum)), Resolution::Unknown);
    assert_eq!(Unit::resolve("wmoUnit:mph", None), Resolution::Unknown, "a prefix is strict");
}

#[test]
fn long_and_empty_texts_are_unknown() {
    for text in ["", " ", &"m".repeat(65), &"°".repeat(1_000_000)] {
        assert_eq!(Unit::resolve(text, None), Resolution::Unknown);
        let message = text.parse::<Unit>().unwrap_err().to_string();
        assert!(message.contains("is not a known unit; allowed are °C, K, "), "{message}");
        assert!(message.len() < 1000);
    }
}

#[test]
fn a_prefix_names_the_vocabulary_and_must_match_the_requested_one() {
    let resolve = |text, vocabulary| Unit::resolve(text, vocabulary);
    let knot = Resolution::Exact(Unit::Knot);
    assert_eq!(resolve("http://codes.wmo.int/common/unit/kt", None), knot);
    assert_eq!(resolve("wmo:kt", Some(Vocabulary::Wmo)), knot);
    assert_eq!(resolve("uc:[kn_i]", None), knot);
    assert_eq!(resolve("uc:kt", None), Resolution::Unknown, "a kilotonne");
    assert_eq!(resolve("wmoUnit:kt", Some(Vocabulary::Cf)), Resolution::Unknown);
    assert_eq!(resolve("nwsUnit:s", None), Resolution::Unknown);
}

#[test]
fn signs_that_stand_in_for_the_degree_sign() {
    for text in ["°C", "˚C", "ºC", " °C "] {
        assert_eq!(Unit::resolve(text, None), Resolution::Exact(Unit::DegreeCelsius));
    }
}

#[test]
fn vocabularies_have_names() {
    for vocabulary in Vocabulary::ALL {
        assert_eq!(vocabulary.name().parse(), Ok(vocabulary));
    }
    assert_eq!(
        "CF".parse::<Vocabulary>().unwrap_err().to_string(),
        "\"CF\" is not a vocabulary; allowed are swob, wmo, ucum, cf, metar, plain",
    );
}

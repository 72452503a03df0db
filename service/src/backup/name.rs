//! The names of backups, and their order.

use std::fmt;

use mesonet::time::parse_instant;

use super::manifest::shown;

/// The name of a backup, in letters that every store allows: `0001-00000042-20240803T190000.123Z-1a2b3c4d`.
///
/// Names are ordered by their number, as backups replace one another. The time does not affect the
/// order: a clock may be wrong or set back.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// Increases from one backup to the next. Backups made at the same time may have the same
    /// number. Less than 10^12.
    pub number: u64,
    /// The time of the backup.
    pub time_ms: i64,
    /// Tells backups of the same moment apart.
    pub random: u32,
}

/// A name has the number in two parts: four digits and eight digits.
const LOW: u64 = 100_000_000;
const LIMIT: u64 = 10_000 * LOW;

impl Name {
    /// The number of the backup after a given one, or of the first backup if there is none.
    pub fn next_number(newest: Option<&Self>) -> u64 {
        newest.map_or(LOW + 1, |newest| (newest.number + 1).min(LIMIT - 1))
    }

    /// Reads a name; `None` for names of other things.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let mut part = || parts.next();
        let digits = (part()?, part()?);
        let (high, low): (u64, u64) = (digits.0.parse().ok()?, digits.1.parse().ok()?);
        let number = high.checked_mul(LOW)?.checked_add(low).filter(|&number| number < LIMIT)?;
        let (time_ms, random) = (time_ms(part()?)?, u32::from_str_radix(part()?, 16).ok()?);
        let name = Self { number, time_ms, random };
        (name.to_string() == text).then_some(name)
    }
}

/// Reads a time in the form that names use.
fn time_ms(text: &str) -> Option<i64> {
    let part = |range| text.get(range);
    let (date, time) = ((part(0..4)?, part(4..6)?, part(6..11)?), (part(11..13)?, part(13..20)?));
    parse_instant(&format!("{}-{}-{}:{}:{}", date.0, date.1, date.2, time.0, time.1)).ok()
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, time_ms, random } = self;
        let (high, low) = (number / LOW, number % LOW);
        let time = shown(*time_ms).replace(['-', ':'], "");
        write!(f, "{high:04}-{low:08}-{time}-{random:08x}")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TIME_MS: i64 = 1_722_711_600_123;

    #[test]
    fn a_name_tells_what_it_is_the_name_of() {
        let name = Name { number: 2 * LOW + 42, time_ms: TIME_MS, random: 0xab };
        assert_eq!(name.to_string(), "0002-00000042-20240803T190000.123Z-000000ab");
        assert_eq!(Name::parse(&name.to_string()), Some(name));
        for other in [
            "",
            "a",
            "20240803T190000.123Z-000000ab",
            "0002-00000042-20240803T190000.123Z",
            "0002-00000042-20240803T190000.123Z-000000ab-1",
            "2-00000042-20240803T190000.123Z-000000ab",
            "10000-00000042-20240803T190000.123Z-000000ab",
            "0002-100000042-20240803T190000.123Z-000000ab",
            "0002-42-20240803T190000.123Z-000000ab",
            "0002-+0000042-20240803T190000.123Z-000000ab",
            "0002-00000042-20240803T190000.123Z-+00000ab",
            "0002-00000042-20241303T190000.123Z-000000ab",
            "0002-00000042-é20240803T190000.123Z-000000ab",
        ] {
            assert_eq!(Name::parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_clock_that_was_set_back_does_not_change_the_order() {
        let name = |number, hours: i64| {
            let time_ms = TIME_MS + hours * 3_600_000;
            Name { number, time_ms, random: 7 }
        };
        assert!(name(1, 5) < name(2, 0));
        assert!(name(LOW - 1, 5) < name(LOW, 0));
        assert!(name(1, 0) < name(1, 1));
    }

    #[test]
    fn numbers_go_on_from_the_newest_and_stay_readable() {
        let next = |number| {
            Name {
                number: Name::next_number(Some(&Name { number, time_ms: TIME_MS, random: 7 })),
                time_ms: TIME_MS,
                random: 7,
            }
            .to_string()
        };
        assert_eq!(Name::next_number(None), LOW + 1);
        assert!(next(LOW + 99).starts_with("0001-00000100-"));
        assert!(next(2 * LOW - 1).starts_with("0002-00000000-"));
        assert!(Name::parse(&next(LIMIT - 1)).is_some());
    }

    proptest! {
        #[test]
        fn any_name_is_read_as_it_was_written(
            number in 0..LIMIT,
            time_ms in 0_i64..4_102_444_800_000,
            random: u32,
        ) {
            let name = Name { number, time_ms, random };
            prop_assert_eq!(Name::parse(&name.to_string()), Some(name));
        }

        #[test]
        fn any_text_is_refused_or_is_the_name(text in "\\PC{0,60}") {
            if let Some(name) = Name::parse(&text) {
                prop_assert_eq!(name.to_string(), text);
            }
        }
    }
}

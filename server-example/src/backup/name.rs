//! The names of backups, and their order.

use std::fmt;

use mesonet::Iso8601;
use mesonet::time::parse_instant;

/// The name of a backup, in letters that every store allows: `0001-00000042-20240803T190000.123Z-1a2b3c4d`.
///
/// Names are ordered as backups replace one another: by the record that may write to the place, then
/// by their number. The time is that of a clock, which may be wrong or set back, and orders nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// Which of the records that have claimed the place it is of, counted from one.
    pub epoch: u32,
    /// Increases from one backup to the next; those that are made at once may have the same.
    pub number: u32,
    /// The time of the backup.
    pub time_ms: i64,
    /// What keeps backups of one moment apart.
    pub random: u32,
}

impl Name {
    /// Reads a name; `None` for names of other things.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let mut part = || parts.next();
        let (epoch, number) = (part()?.parse().ok()?, part()?.parse().ok()?);
        let (time_ms, random) = (time_ms(part()?)?, u32::from_str_radix(part()?, 16).ok()?);
        let name = Self { epoch, number, time_ms, random };
        (name.to_string() == text).then_some(name)
    }
}

/// Reads a time as names have it.
fn time_ms(text: &str) -> Option<i64> {
    let part = |range| text.get(range);
    let (date, time) = ((part(0..4)?, part(4..6)?, part(6..11)?), (part(11..13)?, part(13..20)?));
    parse_instant(&format!("{}-{}-{}:{}:{}", date.0, date.1, date.2, time.0, time.1)).ok()
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { epoch, number, time_ms, random } = self;
        let seconds = Iso8601(time_ms.div_euclid(1000) * 1000).to_string().replace(['-', ':'], "");
        let (seconds, ms) = (seconds.trim_end_matches('Z'), time_ms.rem_euclid(1000));
        write!(f, "{epoch:04}-{number:08}-{seconds}.{ms:03}Z-{random:08x}")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TIME_MS: i64 = 1_722_711_600_123;

    #[test]
    fn a_name_tells_what_it_is_the_name_of() {
        let name = Name { epoch: 2, number: 42, time_ms: TIME_MS, random: 0xab };
        assert_eq!(name.to_string(), "0002-00000042-20240803T190000.123Z-000000ab");
        assert_eq!(Name::parse(&name.to_string()), Some(name));
        for other in [
            "",
            "a",
            "20240803T190000.123Z-000000ab",
            "0002-00000042-20240803T190000.123Z",
            "0002-00000042-20240803T190000.123Z-000000ab-1",
            "2-00000042-20240803T190000.123Z-000000ab",
            "0002-42-20240803T190000.123Z-000000ab",
            "0002-+0000042-20240803T190000.123Z-000000ab",
            "0002-00000042-20240803T190000.123Z-+00000ab",
            "0002-00000042-20241303T190000.123Z-000000ab",
            "0002-00000042-é20240803T190000.123Z-000000ab",
        ] {
            assert_eq!(Name::parse(other), None, "{other}");
        }
    }

    /// Neither a clock that was set back nor a backup of the record before makes an older one newest.
    #[test]
    fn a_clock_that_was_set_back_does_not_change_the_order() {
        let name = |epoch, number, hours: i64| {
            let time_ms = TIME_MS + hours * 3_600_000;
            Name { epoch, number, time_ms, random: 7 }
        };
        assert!(name(1, 1, 5) < name(1, 2, 0));
        assert!(name(1, 9, 5) < name(2, 1, 0));
        assert!(name(1, 1, 0) < name(1, 1, 1));
    }

    proptest! {
        #[test]
        fn any_name_is_read_as_it_was_written(
            epoch: u32,
            number: u32,
            time_ms in 0_i64..4_102_444_800_000,
            random: u32,
        ) {
            let name = Name { epoch, number, time_ms, random };
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

//! Settings in TOML, with the line of an error.

#[cfg(any(feature = "raster", all(feature = "grib", feature = "model")))]
pub(crate) use catalogue::{SettingsFault, check_label, from_optional_text, from_text, read_over};
use serde::de::DeserializeOwned;

/// The error for a text that is not TOML, or not in the expected form.
pub(crate) struct TomlFault {
    /// The line, from 1.
    pub line: usize,
    /// What was found and what is allowed.
    pub reason: String,
}

pub(crate) fn read_toml<T: DeserializeOwned>(text: &str) -> Result<T, TomlFault> {
    toml::from_str(text).map_err(|error| TomlFault {
        line: line_of(text, error.span().map_or(0, |span| span.start)),
        reason: error.message().replace('\n', " "),
    })
}

/// Returns the line that contains a byte, from 1.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|&byte| byte == b'\n').count()
}

/// Catalogues: named tables, with values that are written as strings.
#[cfg(any(feature = "raster", all(feature = "grib", feature = "model")))]
mod catalogue {
    use std::collections::BTreeMap;
    use std::fmt;
    use std::fmt::Display;
    use std::marker::PhantomData;
    use std::str::FromStr;

    use serde::de::{DeserializeOwned, Error, MapAccess, Visitor};
    use serde::{Deserialize, Deserializer};

    use super::{TomlFault, read_toml};

    /// The longest text for people in bytes.
    const MAX_LABEL_BYTES: usize = 200;

    /// What is wrong with a catalogue: the place and the reason.
    pub(crate) struct SettingsFault {
        pub place: String,
        pub reason: String,
    }

    impl SettingsFault {
        /// A fault at a line, with the table that the line belongs to.
        fn at_line(text: &str, line: usize, reason: String) -> Self {
            let headers = text.lines().take(line).filter_map(header);
            let table = headers.last().map_or_else(String::new, |name| format!(" in [{name}]"));
            Self { place: format!("line {line}{table}"), reason }
        }

        /// A fault of a table.
        fn in_table(text: &str, name: &str, reason: String) -> Self {
            let line = text.lines().position(|line| header(line).is_some_and(|own| own == name));
            match line {
                Some(before) => Self::at_line(text, before + 1, reason),
                None => Self { place: name.to_owned(), reason },
            }
        }
    }

    /// Returns the name in the header of a table, if a line is one.
    fn header(line: &str) -> Option<&str> {
        let (name, _) = line.trim_start().strip_prefix('[')?.split_once(']')?;
        Some(name.trim().trim_matches('"'))
    }

    /// A catalogue as written: tables, and the names of entries to leave out.
    struct SettingsToml<E> {
        without: Vec<String>,
        tables: BTreeMap<String, E>,
    }

    /// Reads table by table: errors in values that serde flattens lose their line.
    impl<'de, E: Deserialize<'de>> Deserialize<'de> for SettingsToml<E> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Tables<E>(PhantomData<E>);

            impl<'de, E: Deserialize<'de>> Visitor<'de> for Tables<E> {
                type Value = SettingsToml<E>;

                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("tables")
                }

                fn visit_map<A: MapAccess<'de>>(
                    self,
                    mut map: A,
                ) -> Result<SettingsToml<E>, A::Error> {
                    let mut text = SettingsToml { without: Vec::new(), tables: BTreeMap::new() };
                    while let Some(name) = map.next_key::<String>()? {
                        if name == "without" {
                            text.without = map.next_value()?;
                        } else {
                            text.tables.insert(name, map.next_value()?);
                        }
                    }
                    Ok(text)
                }
            }

            deserializer.deserialize_map(Tables(PhantomData))
        }
    }

    /// Overlays the tables of a text on the known entries, replacing those with the same name and
    /// removing those named in `without`, or all if it names `*`. `what` is the noun for an entry.
    pub(crate) fn read_over<T, E: DeserializeOwned>(
        mut known: BTreeMap<String, T>,
        text: &str,
        what: &str,
        limit: usize,
        make: impl Fn(String, E) -> Result<T, String>,
    ) -> Result<BTreeMap<String, T>, SettingsFault> {
        let read = read_toml(text);
        let SettingsToml { without, tables } =
            read.map_err(|TomlFault { line, reason }| SettingsFault::at_line(text, line, reason))?;
        for place in without {
            if place == "*" {
                known.clear();
            } else if known.remove(&place).is_none() {
                let reason = format!("unknown {what} in \"without\"");
                return Err(SettingsFault { place, reason });
            }
        }
        for (name, table) in tables {
            let one = make(name.clone(), table);
            let one = one.map_err(|reason| SettingsFault::in_table(text, &name, reason))?;
            known.insert(name, one);
        }
        if known.len() > limit {
            let reason = format!("got {} {what}s; the limit is {limit}", known.len());
            return Err(SettingsFault { place: "the whole".to_owned(), reason });
        }
        Ok(known)
    }

    /// Checks a text for people, such as a title.
    pub(crate) fn check_label(key: &str, text: &str) -> Result<(), String> {
        if text.len() > MAX_LABEL_BYTES || text.chars().any(char::is_control) {
            return Err(format!(
                "{key} must be up to {MAX_LABEL_BYTES} bytes without control characters"
            ));
        }
        Ok(())
    }

    pub(crate) fn from_text<'de, D, T>(deserializer: D) -> Result<T, D::Error>
    where
        D: Deserializer<'de>,
        T: FromStr<Err: Display>,
    {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }

    /// The same for an optional value.
    pub(crate) fn from_optional_text<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
    where
        D: Deserializer<'de>,
        T: FromStr<Err: Display>,
    {
        from_text(deserializer).map(Some)
    }
}

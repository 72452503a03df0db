//! Settings in TOML, with the line of an error.

#[cfg(any(feature = "raster", feature = "model-delivery"))]
pub(crate) use catalogue::{Fault, check_label, from_optional_text, from_text, read_over};
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
        reason: match error.message() {
            // The parser has no message for some errors, such as a lone carriage return.
            "" => "this is not TOML".to_owned(),
            message => message.replace('\n', " "),
        },
    })
}

/// Returns the line that contains a byte, from 1.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|&byte| byte == b'\n').count()
}

/// Catalogues: named tables, with values that are written as strings.
#[cfg(any(feature = "raster", feature = "model-delivery"))]
mod catalogue {
    use std::collections::BTreeMap;
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::de::{DeserializeOwned, Error};
    use serde::{Deserialize, Deserializer};

    use super::{TomlFault, read_toml};

    /// The longest text for people in bytes.
    const MAX_LABEL_BYTES: usize = 200;

    /// What is wrong with a catalogue: the place and the reason.
    pub(crate) struct Fault {
        pub place: String,
        pub reason: String,
    }

    impl From<TomlFault> for Fault {
        fn from(TomlFault { line, reason }: TomlFault) -> Self {
            Self { place: format!("line {line}"), reason }
        }
    }

    /// A catalogue as written: tables, and the names of entries to leave out.
    #[derive(Deserialize)]
    struct Text<E> {
        #[serde(default)]
        without: Vec<String>,
        #[serde(flatten)]
        tables: BTreeMap<String, E>,
    }

    /// Overlays the tables of a text on the known entries, replacing those with the same name and
    /// removing those named in `without`, or all if it names `*`. `what` is the noun for an entry.
    pub(crate) fn read_over<T, E: DeserializeOwned>(
        mut known: BTreeMap<String, T>,
        text: &str,
        what: &str,
        limit: usize,
        make: impl Fn(String, E) -> Result<T, String>,
    ) -> Result<BTreeMap<String, T>, Fault> {
        let Text { without, tables } = read_toml(text)?;
        for place in without {
            if place == "*" {
                known.clear();
            } else if known.remove(&place).is_none() {
                let reason = format!("unknown {what} in \"without\"");
                return Err(Fault { place, reason });
            }
        }
        for (name, table) in tables {
            let one = make(name.clone(), table);
            let one = one.map_err(|reason| Fault { place: name.clone(), reason })?;
            known.insert(name, one);
        }
        if known.len() > limit {
            let reason = format!("got {} {what}s; the limit is {limit}", known.len());
            return Err(Fault { place: "the whole".to_owned(), reason });
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

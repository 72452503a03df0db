//! Settings as TOML: read, with the line where it is none.

use serde::de::DeserializeOwned;
#[cfg(any(feature = "raster", feature = "models"))]
pub(crate) use values::{from_optional_text, from_text};

/// A text that is no TOML, or not of the form that is asked for.
pub(crate) struct TomlFault {
    /// The line, from 1.
    pub line: usize,
    /// What was got and what is allowed.
    pub reason: String,
}

pub(crate) fn read_toml<T: DeserializeOwned>(text: &str) -> Result<T, TomlFault> {
    toml::from_str(text).map_err(|error| TomlFault {
        line: line_of(text, error.span().map_or(0, |span| span.start)),
        reason: match error.message() {
            // The parser has no word for some, a lone carriage return among them.
            "" => "this is no TOML".to_owned(),
            message => message.replace('\n', " "),
        },
    })
}

/// The line that a byte is in, from 1.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|&byte| byte == b'\n').count()
}

/// Values that are written as texts of their own form.
#[cfg(any(feature = "raster", feature = "models"))]
mod values {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::de::{Deserialize, Deserializer, Error};

    pub(crate) fn from_text<'de, D, T>(deserializer: D) -> Result<T, D::Error>
    where
        D: Deserializer<'de>,
        T: FromStr<Err: Display>,
    {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }

    /// The same where it may be left out.
    pub(crate) fn from_optional_text<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
    where
        D: Deserializer<'de>,
        T: FromStr<Err: Display>,
    {
        from_text(deserializer).map(Some)
    }
}

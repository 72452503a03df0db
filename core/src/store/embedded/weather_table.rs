//! The words of present weather. Each list has a number, made from its words, which runs hold as a
//! value.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

use uuid::Uuid;

use crate::observation::SeriesId;

/// The rows of a run that hold present weather. No series has a negative id.
pub(super) const WEATHER: SeriesId = SeriesId(-1);
/// The slot of present weather, which the table of series does not contain.
pub(super) const WEATHER_SLOT: u32 = u32::MAX;

/// Namespace of the numbers, which are truncated UUIDs v5.
const NAMESPACE: Uuid = Uuid::from_u128(0x6d65_736f_6e65_5774_7765_6174_6800_0001);
/// Doubles hold whole numbers of this many bits.
const CODE_BITS: u32 = 52;

/// The words of one report, for example `["Light rain", "Mist"]`; empty for no weather.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Words {
    pub code: i64,
    pub words: Arc<[String]>,
}

impl Words {
    pub(super) fn new(words: &[String]) -> Self {
        // Each word is prefixed with its length, so that no two lists give the same text.
        let mut text = String::new();
        for word in words {
            // Writing to a text cannot fail.
            let _ = write!(text, "{}:{word}", word.len());
        }
        let [a, b, c, d, e, f, g, h, ..] = *Uuid::new_v5(&NAMESPACE, text.as_bytes()).as_bytes();
        let code = u64::from_be_bytes([a, b, c, d, e, f, g, h]) >> (u64::BITS - CODE_BITS);
        Self { code: code as i64, words: words.into() }
    }

    /// The value that runs hold for it.
    pub(super) fn value(&self) -> f64 {
        self.code as f64
    }

    /// The words as a text, a JSON list.
    pub(super) fn to_text(&self) -> String {
        serde_json::Value::from(self.words.to_vec()).to_string()
    }

    /// Reads such a text; its number must match its words.
    pub(super) fn from_text(code: i64, text: &str) -> Result<Self, String> {
        let words: Vec<String> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let words = Self::new(&words);
        if words.code != code {
            return Err("it does not match its number".to_owned());
        }
        Ok(words)
    }
}

/// All words ever reported.
#[derive(Clone, Debug, Default)]
pub(super) struct WeatherTable {
    /// In the order in which they came.
    pub list: Vec<Words>,
    by_code: HashMap<i64, u32>,
}

impl WeatherTable {
    /// Returns the words of a value; `None` if they were lost.
    pub(super) fn words(&self, value: f64) -> Option<&[String]> {
        let at = *self.by_code.get(&(value as i64))?;
        Some(&self.list[at as usize].words)
    }

    /// Whether all these words are in the table.
    pub(super) fn has(&self, words: &Words) -> bool {
        self.by_code.contains_key(&words.code)
    }

    /// Adds words that are new.
    pub(super) fn add(&mut self, words: Words) {
        if !self.has(&words) {
            self.by_code.insert(words.code, self.list.len() as u32);
            self.list.push(words);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_a_number_that_does_not_change_and_a_double_holds() {
        let words =
            |list: &[&str]| Words::new(&list.iter().map(ToString::to_string).collect::<Vec<_>>());
        let rain = words(&["Light rain", "Mist"]);
        assert_eq!(rain.code, 942_149_270_846_533);
        assert_ne!(words(&["ab", "c"]).code, words(&["a", "bc"]).code);
        assert_ne!(words(&[]).code, words(&[""]).code);
        assert_eq!(rain.value() as i64, rain.code);
        assert!(rain.code < 1 << CODE_BITS);
        assert_eq!(Words::from_text(rain.code, &rain.to_text()), Ok(rain.clone()));
        let wrong = Words::from_text(rain.code, "[\"Light rain\"]");
        assert_eq!(wrong, Err("it does not match its number".to_owned()));
        assert!(Words::from_text(rain.code, "Light rain").is_err());
    }
}

//! How long the stations of a network may be silent until its feed is late.

use std::collections::HashMap;

use mesonet::time::parse_max_age;

/// The setting `late_after`: a span for all networks, and for single ones a span of their own or
/// `never`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LateAfter {
    all_ms: Option<i64>,
    of_networks_ms: HashMap<String, Option<i64>>,
}

impl LateAfter {
    /// Reads the entries of the setting: `90m`, `METAR=30m`, `GHCND=never`. A later entry overrides an
    /// earlier one.
    ///
    /// # Errors
    /// An entry is neither a span nor `never`, or its network has no name.
    pub fn parse(entries: &[String]) -> Result<Self, String> {
        let mut late_after = Self::default();
        for entry in entries {
            let (network, span) = match entry.split_once('=') {
                Some((network, span)) => (Some(network.trim()), span.trim()),
                None => (None, entry.trim()),
            };
            let span_ms = match span {
                "never" => None,
                span => Some(parse_max_age(span).map_err(|error| format!("{entry}: {error}"))?),
            };
            match network {
                None => late_after.all_ms = span_ms,
                Some("") => return Err(format!("{entry}: the network has no name")),
                Some(network) => {
                    late_after.of_networks_ms.insert(network.to_ascii_lowercase(), span_ms);
                }
            }
        }
        Ok(late_after)
    }

    /// The longest silence of a network, by name, ignoring case; `None` if it is never late.
    pub fn of(&self, network: &str) -> Option<i64> {
        self.of_networks_ms.get(&network.to_ascii_lowercase()).copied().unwrap_or(self.all_ms)
    }
}

#[cfg(test)]
mod tests {
    use mesonet::time::MINUTE_MS;

    use super::*;

    fn parse(entries: &[&str]) -> Result<LateAfter, String> {
        let entries: Vec<String> = entries.iter().map(|&entry| entry.to_owned()).collect();
        LateAfter::parse(&entries)
    }

    #[test]
    fn a_network_has_its_own_span_or_that_of_all() {
        let found = parse(&["90m", "METAR=30m", "ghcnd = never"]).unwrap();
        assert_eq!(found.of("SWOB"), Some(90 * MINUTE_MS));
        assert_eq!(found.of("Metar"), Some(30 * MINUTE_MS));
        assert_eq!(found.of("GHCND"), None);
        assert_eq!(parse(&["never", "METAR=1h"]).unwrap().of("SWOB"), None);
        assert_eq!(parse(&[]).unwrap().of("SWOB"), None);
    }

    #[test]
    fn what_is_no_span_is_refused_with_its_entry() {
        for (entry, text) in [
            (
                "METAR=soon",
                "METAR=soon: \"soon\" is not a span; allowed is a positive whole number",
            ),
            ("0m", "0m: \"0m\" is not a span"),
            ("=30m", "=30m: the network has no name"),
        ] {
            let refused = parse(&[entry]).unwrap_err();
            assert!(refused.starts_with(text), "{refused}");
        }
    }
}

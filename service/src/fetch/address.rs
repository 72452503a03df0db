//! Addresses: which ones are allowed, and what their placeholders stand for.

use http::Uri;
use mesonet::Iso8601;
use mesonet::time::DAY_MS;

use crate::setting::is_this_machine;

/// Which addresses may be requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Policy {
    /// Whether unencrypted addresses are allowed on other machines too.
    pub allow_http: bool,
}

impl Policy {
    /// Checks that an address may be requested: https, or http on this machine or if allowed. The
    /// error says what is allowed.
    pub(super) fn allows(self, uri: &Uri) -> Result<(), &'static str> {
        let host = uri.host().unwrap_or_default();
        if host.is_empty() || uri.authority().is_none_or(|of| of.as_str().contains('@')) {
            return Err("an address with a host and without a password");
        }
        match uri.scheme_str() {
            Some("https") => Ok(()),
            Some("http") if self.allow_http || is_this_machine(host) => Ok(()),
            _ => Err("https://…; http:// only on this machine or with allow_http = true"),
        }
    }
}

/// Returns where a redirect leads: an absolute address, or one from the root of the same host.
pub(super) fn redirected(from: &str, location: &str) -> Option<String> {
    if location.starts_with('/') && !location.starts_with("//") {
        let from: Uri = from.parse().ok()?;
        return Some(format!("{}://{}{location}", from.scheme_str()?, from.authority()?));
    }
    location.parse::<Uri>().ok()?.scheme().map(|_| location.to_owned())
}

/// Returns the last part of the path of an address: the name of the file.
pub(super) fn file_name(address: &str) -> &str {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// An address with placeholders.
///
/// `{date}` stands for a day on which files arrive (UTC, `YYYYMMDD`), `{observed}` for a day that
/// they are about: the same day and the one before. `{station}` stands for each station.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template(String);

const DATE: &str = "{date}";
const OBSERVED: &str = "{observed}";
const STATION: &str = "{station}";

impl Template {
    /// Reads a template; `None` if it has an unknown placeholder.
    pub(super) fn new(text: &str) -> Option<Self> {
        let rest = text.replace(DATE, "").replace(OBSERVED, "").replace(STATION, "");
        (!rest.contains(['{', '}'])).then(|| Self(text.to_owned()))
    }

    pub(super) fn is_dated(&self) -> bool {
        self.0.contains(DATE) || self.0.contains(OBSERVED)
    }

    pub(super) fn names_stations(&self) -> bool {
        self.0.contains(STATION)
    }

    /// Returns the addresses of all days from that of `from_ms` to that of `now_ms`, oldest first.
    pub(super) fn addresses(&self, from_ms: i64, now_ms: i64, stations: &[String]) -> Vec<String> {
        let (first, last) = (from_ms.div_euclid(DAY_MS), now_ms.div_euclid(DAY_MS));
        let days = if self.is_dated() { first.min(last)..=last } else { last..=last };
        let mut all = Vec::new();
        for day in days {
            let dated = self.0.replace(DATE, &yyyymmdd(day));
            let observed = if dated.contains(OBSERVED) { day - 1..=day } else { day..=day };
            for observed in observed {
                let dated = dated.replace(OBSERVED, &yyyymmdd(observed));
                if self.names_stations() {
                    all.extend(stations.iter().map(|station| dated.replace(STATION, station)));
                } else {
                    all.push(dated);
                }
            }
        }
        // Without `{date}`, a day appears once as itself and once as the day before the next.
        let mut seen = std::collections::HashSet::new();
        all.retain(|address| seen.insert(address.clone()));
        all
    }
}

fn yyyymmdd(day: i64) -> String {
    Iso8601(day.saturating_mul(DAY_MS)).to_string().chars().take(10).filter(|&c| c != '-').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_encrypted_or_on_this_machine() {
        let allows = |text: &str, allow_http| {
            text.parse().is_ok_and(|uri| Policy { allow_http }.allows(&uri).is_ok())
        };
        for good in [
            "https://example.org/a",
            "http://127.0.0.1:8080/",
            "http://[::1]/",
            "http://localhost/",
        ] {
            assert!(allows(good, false), "{good}");
        }
        for bad in [
            "http://example.org/",
            "ftp://example.org/",
            "file:///etc/passwd",
            "/a",
            "http://localhost.example.org/",
        ] {
            assert!(!allows(bad, false), "{bad}");
        }
        assert!(allows("http://example.org/", true));
        assert!(!allows("ftp://example.org/", true));
        assert!(!allows("https://user:word@example.org/", true));
    }

    #[test]
    fn a_redirect_is_absolute_or_from_the_root() {
        let from = "https://example.org/a/b?c";
        assert_eq!(redirected(from, "/d").as_deref(), Some("https://example.org/d"));
        assert_eq!(redirected(from, "http://e.org/d").as_deref(), Some("http://e.org/d"));
        assert_eq!(redirected(from, "//e.org/d"), None);
        assert_eq!(redirected(from, "d"), None);
        assert_eq!(redirected(from, ""), None);
    }

    #[test]
    fn placeholders_stand_for_days_and_stations() {
        let at = |day: i64, hour: i64| day * DAY_MS + hour * 3_600_000;
        let stations = ["CYYZ".to_owned(), "CYVR".to_owned()];
        let all =
            |text: &str, from, to| Template::new(text).unwrap().addresses(from, to, &stations);
        // Day 19723 is 2024-01-01.
        assert_eq!(
            all("https://a/{date}/", at(19_722, 23), at(19_723, 1)),
            ["https://a/20231231/", "https://a/20240101/"]
        );
        assert_eq!(all("https://a/{date}/", at(19_723, 0), at(19_723, 1)), ["https://a/20240101/"]);
        assert_eq!(
            all("https://a/{date}/o/{observed}/{station}/", at(19_723, 5), at(19_723, 6)),
            [
                "https://a/20240101/o/20231231/CYYZ/",
                "https://a/20240101/o/20231231/CYVR/",
                "https://a/20240101/o/20240101/CYYZ/",
                "https://a/20240101/o/20240101/CYVR/",
            ]
        );
        assert_eq!(
            all("https://a/{observed}/", at(19_722, 5), at(19_723, 6)),
            ["https://a/20231230/", "https://a/20231231/", "https://a/20240101/"]
        );
        assert_eq!(all("https://a/latest/", at(19_000, 5), at(19_723, 6)), ["https://a/latest/"]);
        assert_eq!(Template::new("https://a/{day}/"), None);
        assert_eq!(Template::new("https://a/{date/"), None);
    }

    #[test]
    fn a_file_is_called_by_the_end_of_its_path() {
        assert_eq!(file_name("https://a/b/c.csv.gz"), "c.csv.gz");
        assert_eq!(file_name("https://a/b/latest?limit=3"), "latest");
        assert_eq!(file_name("https://a/b/"), "b");
    }
}

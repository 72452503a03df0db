//! The location indicator of a station.

use std::fmt;

/// ICAO location indicator: four letters or digits, starting with a letter.
///
/// ```
/// use mesonet::feed::metar::{Icao, Metar, MetarKind};
/// let report = Metar::parse("SPECI CYYZ 032035Z 24012KT 2SM +TSRA")?;
/// let station: Icao = report.station;
/// assert_eq!((station.as_str(), report.kind), ("CYYZ", MetarKind::Special));
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Icao(pub(super) [u8; 4]);

impl Icao {
    pub(super) fn read(group: &[u8]) -> Option<Self> {
        let letters: [u8; 4] = group.try_into().ok()?;
        let valid = letters[0].is_ascii_uppercase()
            && letters.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        valid.then_some(Self(letters))
    }

    /// The four characters.
    pub fn as_str(&self) -> &str {
        // Only ASCII is accepted, so the fallback is never used.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for Icao {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Icao {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

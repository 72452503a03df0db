//! The ids that others give a station.

use std::fmt;

macro_rules! schemes {
    ($($(#[$doc:meta])* $scheme:ident, $name:literal;)*) => {
        /// Who has given an id.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum IdScheme { $($(#[$doc])* $scheme,)* }

        impl IdScheme {
            /// Every scheme, in the order in which ids are listed.
            pub const ALL: &[Self] = &[$(Self::$scheme,)*];

            /// The name on the wire.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$scheme => $name,)* }
            }

            /// The scheme with a name, if there is one.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|scheme| scheme.name() == name)
            }
        }
    };
}

schemes! {
    /// Location indicator of an aerodrome (ICAO Doc 7910).
    Icao, "icao";
    /// Number of a land station or a buoy (WMO-No. 9, volume A).
    Wmo, "wmo";
    /// Meteorological Service of Canada, unique across all of its providers.
    Msc, "msc";
    /// Climate identifier of the Meteorological Service of Canada.
    Climate, "climate";
    /// Transport Canada.
    TransportCanada, "transportCanada";
    /// Address of a transmitter (NOAA NESDIS).
    Nesdis, "nesdis";
    /// Master catalogue of the US Air Force.
    Usaf, "usaf";
    /// Weather Bureau, Army, Navy (NCEI).
    Wban, "wban";
    /// Global Historical Climatology Network (NCEI).
    Ghcn, "ghcn";
    /// The provider's own, within its network.
    Provider, "provider";
}

impl fmt::Display for IdScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The ids of a station, each once, by scheme and then by id. A station may have several ids of one
/// scheme: an aerodrome with a new indicator keeps the old one.
///
/// ```
/// use mesonet::observation::{IdScheme, Identifiers};
/// let mut ids = Identifiers::default();
/// assert!(ids.add(IdScheme::Wmo, "71624"));
/// assert!(ids.add(IdScheme::Icao, "CYYZ"));
/// assert!(!ids.add(IdScheme::Icao, " CYYZ "));
/// let listed: Vec<_> = ids.iter().map(|(scheme, id)| (scheme.name(), id)).collect();
/// assert_eq!(listed, [("icao", "CYYZ"), ("wmo", "71624")]);
/// // No id is lost where two descriptions of a station meet.
/// let scheme = IdScheme::named("climate").unwrap();
/// assert!(ids.add_all(&Identifiers::default().with(scheme, "6158731")));
/// assert!(!ids.is_empty() && ids.iter().count() == 3);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identifiers(Vec<(IdScheme, String)>);

impl Identifiers {
    /// Adds an id, without the space around it. Returns whether the id is new; an empty id is never
    /// added.
    pub fn add(&mut self, scheme: IdScheme, id: &str) -> bool {
        let id = id.trim();
        let place = self.0.binary_search_by(|(of, known)| (*of, known.as_str()).cmp(&(scheme, id)));
        match place {
            Err(at) if !id.is_empty() => {
                self.0.insert(at, (scheme, id.to_owned()));
                true
            }
            _ => false,
        }
    }

    /// These ids and another one.
    #[must_use]
    pub fn with(mut self, scheme: IdScheme, id: &str) -> Self {
        self.add(scheme, id);
        self
    }

    /// Adds the ids of another list; returns whether any is new.
    pub fn add_all(&mut self, others: &Self) -> bool {
        others.iter().fold(false, |is_new, (scheme, id)| self.add(scheme, id) | is_new)
    }

    /// The ids, by scheme and then by id.
    pub fn iter(&self) -> impl Iterator<Item = (IdScheme, &str)> {
        self.0.iter().map(|(scheme, id)| (*scheme, id.as_str()))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_loses_no_id() {
        let mut ids = Identifiers::default().with(IdScheme::Icao, "CYYZ");
        let others =
            Identifiers::default().with(IdScheme::Icao, "CYTZ").with(IdScheme::Wmo, "71265");
        assert!(ids.add_all(&others));
        assert!(!ids.add_all(&others));
        let listed: Vec<_> = ids.iter().collect();
        let expected =
            [(IdScheme::Icao, "CYTZ"), (IdScheme::Icao, "CYYZ"), (IdScheme::Wmo, "71265")];
        assert_eq!(listed, expected);
        assert!(!ids.add(IdScheme::Msc, " "));
    }

    #[test]
    fn schemes_have_distinct_names() {
        for &scheme in IdScheme::ALL {
            assert_eq!(IdScheme::named(scheme.name()), Some(scheme));
        }
        assert_eq!(IdScheme::named("ICAO"), None);
    }
}

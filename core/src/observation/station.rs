//! Stations and their ids.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

use crate::geo::LonLat;
use crate::observation::{EarlierPlaces, IdScheme, Identifiers};

/// Id of a station: a UUID v5 of its network and its native id there. It survives restarts and
/// re-imports, and is the same on every server.
///
/// ```
/// use mesonet::StationId;
/// let toronto = StationId::new("METAR", "CYYZ");
/// assert_eq!(toronto, StationId::new("METAR", "CYYZ"));
/// assert_eq!(toronto.to_string().parse(), Ok(toronto));
/// ```
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Uuid, value_type = String, format = "uuid"))]
pub struct StationId(Uuid);

/// Namespace of the station UUIDs. It must never change, because all ids would.
const STATION_NAMESPACE: Uuid = Uuid::from_u128(0x6d65_736f_6e65_5473_8461_7469_6f6e_0001);

impl StationId {
    /// Returns the id of a station in a network.
    pub fn new(network: &str, native_id: &str) -> Self {
        // The zero byte keeps ("AB", "C") and ("A", "BC") apart.
        Self(Uuid::new_v5(&STATION_NAMESPACE, [network, "\0", native_id].concat().as_bytes()))
    }

    /// Returns the bytes of the UUID, for stores that keep it in binary form.
    ///
    /// ```
    /// use mesonet::StationId;
    /// let id = StationId::new("METAR", "CYYZ");
    /// assert_eq!(StationId::from_bytes(*id.as_bytes()), id);
    /// ```
    pub const fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }

    /// Returns the id from the bytes that a store has kept.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(bytes))
    }
}

impl fmt::Display for StationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The error for a text that is not a UUID.
///
/// ```
/// use mesonet::StationId;
/// use mesonet::observation::StationIdError;
/// assert_eq!("CYYZ".parse::<StationId>(), Err(StationIdError("CYYZ".to_owned())));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a station id; a UUID is needed")]
pub struct StationIdError(pub String);

impl FromStr for StationId {
    type Err = StationIdError;
    fn from_str(text: &str) -> Result<Self, StationIdError> {
        // Only the usual form is accepted: braces and URNs would be other spellings of the same id.
        let hyphenated = text.len() == 36;
        match Uuid::try_parse(text) {
            Ok(uuid) if hyphenated => Ok(Self(uuid)),
            _ => Err(StationIdError(text.to_owned())),
        }
    }
}

/// Exposure class of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[allow(missing_docs, reason = "the names are the meaning")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum StationType {
    OpenCountry,
    Suburban,
    OpenWater,
}

/// A station as its network describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Station {
    /// Id, made from `network` and `native_id`.
    pub id: StationId,
    /// Data provider, as the source feed names it.
    pub network: String,
    /// Id within the network, for example an ICAO location indicator.
    pub native_id: String,
    /// Name as the provider reports it; unique only within a network.
    pub name: String,
    /// Exposure class, if known.
    pub station_type: Option<StationType>,
    /// Where the station is now. Past readings may be from an earlier place.
    pub coordinates: LonLat,
    /// Height of the wind sensor above ground in metres, not altitude; 0 if the network supplies
    /// none.
    pub sensor_height_m: f64,
    /// Altitude of the station above mean sea level in metres, if known.
    pub altitude_m: Option<f64>,
    /// The ids that others give the station, as its reports state them.
    pub identifiers: Identifiers,
    /// Where the station was before it moved. Readings older than its first move are from the first
    /// of these places.
    pub earlier_places: EarlierPlaces,
}

impl Station {
    /// Returns the station's ids of all schemes, including its native id as the provider's.
    ///
    /// ```
    /// use mesonet::{LonLat, feed::FeedStation, observation::IdScheme};
    /// let buoy = FeedStation::new("NDBC", "41002").at(LonLat::new(-74.95, 31.76)?);
    /// let ids = buoy.all_identifiers();
    /// assert!(ids.iter().any(|id| id == (IdScheme::Provider, "41002")));
    /// # Ok::<(), mesonet::geo::GeoError>(())
    /// ```
    pub fn all_identifiers(&self) -> Identifiers {
        self.identifiers.clone().with(IdScheme::Provider, &self.native_id)
    }

    /// The network and the name, by which people tell stations apart.
    ///
    /// ```
    /// use mesonet::LonLat;
    /// use mesonet::feed::FeedStation;
    /// let station = FeedStation::new("METAR", "CYYZ").at(LonLat::new(-79.63, 43.68)?);
    /// assert_eq!(station.network_and_name(), ("METAR", "CYYZ"));
    /// # Ok::<(), mesonet::geo::GeoError>(())
    /// ```
    pub fn network_and_name(&self) -> (&str, &str) {
        (&self.network, &self.name)
    }

    /// Whether a text occurs in the name or in an id, ignoring case.
    ///
    /// ```
    /// use mesonet::{LonLat, feed::metar_station};
    /// let toronto = metar_station("CYYZ", Some("Toronto Pearson"), LonLat::new(-79.6, 43.7)?, None);
    /// assert!(toronto.matches("cyyz") && toronto.matches("PEARS") && !toronto.matches("montreal"));
    /// # Ok::<(), mesonet::geo::GeoError>(())
    /// ```
    pub fn matches(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        let holds = |of: &str| of.to_lowercase().contains(&text);
        holds(&self.name)
            || holds(&self.native_id)
            || self.identifiers.iter().any(|(_, id)| holds(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_do_not_change() {
        assert_eq!(
            StationId::new("METAR", "CYYZ").to_string(),
            "700f7e18-e84e-51b2-90bd-f054766d1ec5"
        );
    }

    #[test]
    fn network_and_native_id_are_kept_apart() {
        assert_ne!(StationId::new("AB", "C"), StationId::new("A", "BC"));
    }

    #[test]
    fn only_the_usual_form_of_a_uuid_is_an_id() {
        let id = StationId::new("METAR", "CYYZ");
        assert_eq!(id.to_string().to_uppercase().parse(), Ok(id));
        for bad in [
            "",
            "CYYZ",
            &format!("{{{id}}}"),
            &format!("urn:uuid:{id}"),
            &id.to_string().replace('-', ""),
        ] {
            assert_eq!(bad.parse::<StationId>(), Err(StationIdError(bad.to_owned())));
        }
    }
}

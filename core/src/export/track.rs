//! The places of a station at the times of its rows.

use crate::geo::LonLat;
use crate::observation::{EarlierPlaces, Station};

/// The places of a station. Few stations have moved.
#[derive(Clone, Debug, Default)]
pub(super) struct Track {
    earlier: EarlierPlaces,
    /// The present place; `None` for a station that is not on record, which has no rows.
    last: Option<LonLat>,
}

impl Track {
    pub(super) fn of(station: &Station) -> Self {
        Self { earlier: station.earlier_places.clone(), last: Some(station.coordinates) }
    }

    /// Latitude and longitude at a time, and the first moment at which they are different.
    pub(super) fn at(&self, ts_ms: i64) -> ((f64, f64), i64) {
        let earlier = self.earlier.at(ts_ms).map(|place| (place.coordinates, place.until_ms));
        let place = earlier.or_else(|| Some((self.last?, i64::MAX)));
        place.map_or(((0.0, 0.0), i64::MAX), |(place, until_ms)| {
            ((place.lat(), place.lon()), until_ms)
        })
    }
}

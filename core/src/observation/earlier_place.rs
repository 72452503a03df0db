//! Where stations were before they moved.

use crate::geo::LonLat;

/// Some feeds round or truncate places to hundredths of a degree: a smaller difference is not a
/// move.
const SAME_PLACE_DEG: f64 = 0.0101;

/// Whether two places differ by more than rounding to hundredths of a degree.
pub(crate) fn is_other_place(one: LonLat, other: LonLat) -> bool {
    let (one, other) = ([one.lon(), one.lat()], [other.lon(), other.lat()]);
    one.iter().zip(other).any(|(one, other)| {
        let apart = (one - other).abs();
        apart.min(360.0 - apart) > SAME_PLACE_DEG
    })
}

/// A place where a station was before it moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EarlierPlace {
    /// The first moment at which the station was elsewhere, milliseconds since 1970.
    pub until_ms: i64,
    /// Where it was.
    pub coordinates: LonLat,
}

/// The places where a station was before it moved, the oldest first: at most
/// [`MAX`](Self::MAX).
///
/// If there are more, the two successive places that are nearest to each other are merged into the
/// later one. So the course of a buoy becomes coarser with the years, and a station that was moved
/// a few times keeps all of its places.
///
/// ```
/// use mesonet::LonLat;
/// use mesonet::observation::{EarlierPlace, EarlierPlaces};
/// let [one, other] = [LonLat::new(-79.63, 43.68)?, LonLat::new(-79.4, 43.63)?];
/// let first = EarlierPlace { until_ms: 1_000, coordinates: one };
/// let second = EarlierPlace { until_ms: 2_000, coordinates: other };
/// let places = EarlierPlaces::new(vec![first, second]).ok_or("in order")?;
/// assert_eq!(places.as_slice(), [first, second]);
/// assert_eq!(EarlierPlaces::new(vec![second, first]), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EarlierPlaces(Vec<EarlierPlace>);

impl EarlierPlaces {
    /// The most places that are kept.
    pub const MAX: usize = 64;

    /// Returns the places that a store has kept; `None` if they are not in the order of their times, each
    /// later than the one before, or too many.
    pub fn new(places: Vec<EarlierPlace>) -> Option<Self> {
        let in_order = places.is_sorted_by(|one, next| one.until_ms < next.until_ms);
        (in_order && places.len() <= Self::MAX).then_some(Self(places))
    }

    /// The places, the oldest first.
    pub fn as_slice(&self) -> &[EarlierPlace] {
        &self.0
    }

    /// Whether the station has always been where it is now.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The place at a time, if it is an earlier one.
    pub(crate) fn at(&self, ts_ms: i64) -> Option<&EarlierPlace> {
        // Most readings are from the present.
        self.0.last().filter(|last| ts_ms < last.until_ms)?;
        self.0.get(self.0.partition_point(|place| place.until_ms <= ts_ms))
    }

    /// Adds the place where the station was until now, unless it was there for no time.
    pub(super) fn push(&mut self, place: EarlierPlace) {
        if self.0.last().is_none_or(|last| last.until_ms < place.until_ms) {
            self.0.push(place);
        }
    }

    /// Drops places that equal the next one, and limits their number, before a last place.
    pub(super) fn settle(&mut self, last: LonLat) {
        let next = |places: &[EarlierPlace], at: usize| {
            places.get(at + 1).map_or(last, |next: &EarlierPlace| next.coordinates)
        };
        for at in (0..self.0.len()).rev() {
            if !is_other_place(self.0[at].coordinates, next(&self.0, at)) {
                self.0.remove(at);
            }
        }
        while self.0.len() > Self::MAX {
            let to_next_km = |&at: &usize| self.0[at].coordinates.distance_km(next(&self.0, at));
            let nearest = (0..self.0.len())
                .min_by(|one, other| to_next_km(one).total_cmp(&to_next_km(other)));
            self.0.remove(nearest.unwrap_or(0));
        }
    }
}

//! A value and its neighbours: how alike they are, and what they say about the value.

use std::cell::RefCell;

use super::interpolation::{LastSolved, MOST, Residual, Structure, System, SystemValue};
use super::neighbour_limits::CompareLimits;
use super::outcome::Neighbour;
use crate::geo::LonLat;
use crate::observation::BaseQuality;

/// How many neighbours that are unlike the others may be left out before a value is compared.
const MOST_WRONG: usize = 3;

/// A value must exceed this part of the threshold with any two neighbours left out.
const WITHOUT_TWO: f64 = 0.75;

thread_local! {
    /// It changes no result, only when it is computed.
    static LAST_SOLVED: RefCell<LastSolved> = const { RefCell::new(LastSolved::NONE) };
}

/// Where a station is, as it is compared with others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    place_km: [f64; 3],
    pub(super) altitude_m: Option<f64>,
}

impl Spot {
    pub(crate) fn new(coordinates: LonLat, altitude_m: Option<f64>) -> Self {
        Self { place_km: coordinates.place_km(), altitude_m }
    }

    /// The same place with another altitude; this saves computing the place again.
    #[cfg(feature = "store")]
    pub(crate) fn at_altitude(self, altitude_m: Option<f64>) -> Self {
        Self { altitude_m, ..self }
    }

    #[cfg(feature = "store")]
    pub(crate) fn has_altitude(self) -> bool {
        self.altitude_m.is_some()
    }

    /// A vector from one place to another: a place on the side of the vector is surely nearer to
    /// the other.
    #[cfg(feature = "store")]
    pub(crate) fn towards(self, other: Self) -> [f64; 3] {
        [0, 1, 2].map(|i| other.place_km[i] - self.place_km[i])
    }

    /// The position relative to the centre of the Earth, in km.
    #[cfg(feature = "store")]
    pub(crate) fn place_km(self) -> [f64; 3] {
        self.place_km
    }

    /// Whether a place lies on the side of a vector between two places, and so is surely nearer to
    /// the second than to the first: on a sphere, a plane through the centre divides the places
    /// nearer to one from the places nearer to the other.
    #[cfg(feature = "store")]
    pub(crate) fn is_on_side(self, towards: [f64; 3]) -> bool {
        /// A margin greater than the rounding error, in km².
        const SURE: f64 = 1e-3;
        let [x, y, z] = self.place_km;
        x * towards[0] + y * towards[1] + z * towards[2] > SURE
    }
}

/// The value of one station, as compared with others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NeighbourValue {
    /// The result of [`compared`] for the value; NaN if there is none.
    pub value: f64,
    pub spot: Spot,
    /// The verdict without the neighbours.
    pub base: BaseQuality,
    /// The uncertainty of the value from the distance in time, in hours; 0 for a value at the very
    /// time.
    pub unsure_hours: f64,
}

/// Whether a value with this verdict says anything about its neighbours. An impossible, missing or
/// doubtful value does not.
pub(crate) fn counts(base: BaseQuality) -> bool {
    base > BaseQuality::Doubtful
}

impl NeighbourValue {
    fn is_neighbour(&self) -> bool {
        self.value.is_finite() && counts(self.base)
    }
}

/// A value and its neighbours.
pub(super) struct ValueAndNeighbours {
    /// The neighbours: their indices and distances.
    near: [(usize, f64); MOST],
    /// The value first, as the origin, and then the neighbours.
    members: [SystemValue; MOST],
    len: usize,
    /// All of them.
    system: System,
    /// Only the neighbours.
    pub(super) others: System,
    /// How much more the neighbours differ from each other than is usual, at least 1.
    spread: f64,
}

impl ValueAndNeighbours {
    /// Finds the neighbours of a value and how alike they are, and returns what `then` makes of
    /// them; `None` with fewer than the limits require. It is lent, because it has ten thousand
    /// bytes.
    pub(super) fn lend<T>(
        of: NeighbourValue,
        near: impl Iterator<Item = (usize, f64)>,
        held: impl Fn(usize) -> Option<NeighbourValue>,
        limits: &CompareLimits,
        then: impl FnOnce(&Self) -> T,
    ) -> Option<T> {
        let mut around = Self {
            near: [(0, 0.0); MOST],
            members: [SystemValue::default(); MOST],
            len: 0,
            system: System::EMPTY,
            others: System::EMPTY,
            spread: 1.0,
        };
        (around.take(of, near, held, limits) && around.compare(limits)).then(|| then(&around))
    }

    /// Takes a value and those around it. Returns whether these are enough.
    fn take(
        &mut self,
        of: NeighbourValue,
        near: impl Iterator<Item = (usize, f64)>,
        held: impl Fn(usize) -> Option<NeighbourValue>,
        limits: &CompareLimits,
    ) -> bool {
        let Self { near: found, members, len, .. } = self;
        let variance = |hours: f64| {
            let change = limits.change_per_hour * hours;
            limits.deviation * limits.deviation + change * change
        };
        let altitude_m = of.spot.altitude_m.unwrap_or(0.0);
        members[0] = SystemValue {
            place_km: of.spot.place_km,
            altitude_m,
            value: 0.0,
            variance: variance(of.unsure_hours),
        };
        *len = 1;
        for (other, distance_km) in near.take_while(|&(_, km)| km <= limits.radius_km) {
            let Some(other_held) = held(other).filter(NeighbourValue::is_neighbour) else {
                continue;
            };
            let rise_m = match (other_held.spot.altitude_m, of.spot.altitude_m) {
                (Some(theirs), Some(ours)) => theirs - ours,
                _ if limits.lapse_per_m.is_none() => 0.0,
                _ => continue,
            };
            // Differences from the value itself: numbers around 1000 hPa lose digits.
            members[*len] = SystemValue {
                place_km: other_held.spot.place_km,
                altitude_m: altitude_m + rise_m,
                value: other_held.value + limits.lapse_per_m.unwrap_or(0.0) * rise_m - of.value,
                variance: variance(other_held.unsure_hours),
            };
            found[*len] = (other, distance_km);
            *len += 1;
            if *len > limits.nearest {
                break;
            }
        }
        *len > limits.at_least
    }

    /// Compares them with each other. Returns whether that was possible.
    fn compare(&mut self, limits: &CompareLimits) -> bool {
        let Self { members, len, system, others, spread, .. } = self;
        let structure = Structure {
            variance_per_km: limits.variance_per_km,
            km_per_m: limits.km_per_m,
            radius_km: limits.radius_km,
        };
        let is_solved = LAST_SOLVED.with_borrow_mut(|last| {
            let Some((all, all_others)) = last.of(&members[..*len], &structure) else {
                return false;
            };
            system.copy_of(all);
            others.copy_of(all_others);
            true
        });
        if !is_solved {
            return false;
        }
        loop {
            let (mut squares, mut worst) = (0.0, (0, 0.0));
            let count = others.kept().count();
            for which in others.kept() {
                let standardized = others.residual(which).standardized().abs();
                squares += standardized * standardized;
                if standardized >= worst.1 {
                    worst = (which, standardized);
                }
            }
            let left_out = *len - 1 - count;
            if left_out == MOST_WRONG || worst.1 <= limits.threshold || count <= limits.at_least {
                *spread = libm::sqrt((squares / count as f64).max(1.0));
                return true;
            }
            system.leave_out(worst.0);
            others.leave_out(worst.0);
        }
    }

    /// A value compared with what its neighbours say about it, with the deviation that is usual
    /// among them.
    pub(super) fn residual(&self) -> Residual {
        self.of_spread(self.system.residual(0))
    }

    fn of_spread(&self, residual: Residual) -> Residual {
        Residual { deviation: residual.deviation * self.spread, ..residual }
    }

    /// Whether the value is beyond the threshold, and still nearly so with any two of the
    /// neighbours left out. So two wrong neighbours cannot condemn a value (compare the reanalysis
    /// of MADIS, which leaves out one).
    pub(super) fn is_unlike(&self, threshold: f64) -> bool {
        if self.residual().standardized().abs() <= threshold {
            return false;
        }
        let without = |one: usize, two: usize| {
            self.of_spread(self.system.residual_without(0, [one, two])).standardized().abs()
        };
        self.others.kept().all(|one| {
            let rest = self.others.kept().filter(|&two| two >= one);
            rest.into_iter().all(|two| without(one, two) > threshold * WITHOUT_TWO)
        })
    }

    /// The neighbours for the report, as they were compared with the value.
    pub(super) fn neighbours(&self, value: f64, lapse_per_m: f64) -> Vec<Neighbour> {
        let kept: Vec<usize> = self.others.kept().collect();
        (1..self.len)
            .map(|which| {
                let ((place, distance_km), member) = (self.near[which], self.members[which]);
                let rise_m = member.altitude_m - self.members[0].altitude_m;
                let counts = kept.contains(&which);
                let residual = self.others.residual(which);
                Neighbour {
                    place,
                    station_id: None,
                    name: None,
                    distance_km,
                    rise_m,
                    value: member.value + value - lapse_per_m * rise_m,
                    weight: if counts { self.system.weight(0, which) } else { 0.0 },
                    standardized_difference: counts
                        .then(|| self.of_spread(residual).standardized()),
                }
            })
            .collect()
    }
}

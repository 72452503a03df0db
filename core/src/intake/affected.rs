//! Finds the stations that a changed reading may affect.
//!
//! A reading is compared with the nearest values around it. So a changed reading matters only to
//! stations that have it among their nearest values. It does not matter where enough stations with
//! values lie in between. Such stations are looked for among those nearest to the changed one,
//! which are read nearest first. Farther stations, in a dense network nearly all, are then never
//! read.

use std::cell::OnceCell;

use super::hidden::{Horizon, SECTORS};
use super::known::{KnownReadings, MORE, Neighbourhood};
use super::nearby::Cells;
use super::station::ReadingToCompare;
use crate::check::Spot;
use crate::geo::EARTH_RADIUS_KM;
use crate::store::StoreError;

/// How many stations around a changed reading are read at once.
const READ_AT_ONCE: usize = 12;
/// How many stations may hide it.
const MOST_BETWEEN: usize = u64::BITS as usize;

/// Readings of a station that a changed reading near it may affect.
pub(super) struct AffectedReadings {
    pub place: usize,
    /// The distance of the changed station.
    pub distance_km: f64,
    pub variable: usize,
    /// After and before these moments.
    pub span: (i64, i64),
}

/// The changed readings of a variable at a place, and the times until which the stations near it
/// have values throughout. There may be [`MOST_BETWEEN`] such stations.
struct ChangedReadings<'c> {
    variable: usize,
    of: &'c [&'c ReadingToCompare],
    /// The first and the last moment that the readings matter to.
    span: (i64, i64),
    until_ms: Vec<i64>,
    /// The stations that have values to the end of the span, one bit each.
    whole: u64,
}

impl<'c> ChangedReadings<'c> {
    fn new(
        around: &Neighbourhood<'_>,
        variable: usize,
        of: &'c [&'c ReadingToCompare],
        until_ms: i64,
    ) -> Self {
        let first_ms = of.iter().map(|of| of.after_ms).min().unwrap_or(i64::MIN);
        let last_ms = of.iter().map(|of| of.before_ms).max().unwrap_or(i64::MAX);
        // A change that lasts is compared again with the readings before it.
        let last_ms = last_ms.saturating_add(around.back_ms(&[of[0].variable]));
        let span = (first_ms, last_ms.min(until_ms));
        Self { variable, of, span, until_ms: Vec::new(), whole: 0 }
    }

    /// Takes the next station that was read.
    fn take(&mut self, known: &KnownReadings<'_>, place: usize) {
        let until_ms = known.until_ms(place, self.variable, self.span);
        if until_ms >= self.span.1 {
            self.whole |= 1 << self.until_ms.len();
        }
        self.until_ms.push(until_ms);
    }

    /// Whether the readings are not among the nearest values of a station whose last reading is at
    /// `last_ms`, given the stations that are nearer to it.
    fn is_hidden(&self, between: u64, last_ms: i64, nearest: usize) -> bool {
        // Stations with values to the end of the span have a value at any moment of it.
        let mut missing = nearest.saturating_sub((between & self.whole).count_ones() as usize);
        let mut rest = between & !self.whole;
        let from_ms = last_ms.min(self.span.1).max(self.span.0);
        while missing > 0 && rest.count_ones() as usize >= missing {
            let which = rest.trailing_zeros() as usize;
            missing -= usize::from(self.until_ms[which] >= from_ms);
            rest &= rest - 1;
        }
        missing == 0
    }

    /// Whether the readings are not among the nearest values of any station that is farther away,
    /// given the stations that are nearer to the stations of each direction.
    fn is_hidden_beyond(&self, hiding: &[u64; SECTORS], latest_ms: i64, nearest: usize) -> bool {
        hiding.iter().all(|&between| self.is_hidden(between, latest_ms, nearest))
    }
}

/// The stations that may have readings affected by changed readings, besides readings that are
/// compared already.
struct Candidates {
    /// The times of their last reports, by place; `None` for other stations.
    last_ms: Vec<Option<i64>>,
    /// To look for those beyond the nearest stations.
    cells: OnceCell<Cells>,
}

impl Candidates {
    /// The stations among the nearest ones, `first`, that may be affected, and those that may lie in
    /// between.
    fn among<'n>(
        &'n self,
        first: &'n [(usize, f64)],
        first_ms: Option<i64>,
    ) -> impl Iterator<Item = Other> + 'n {
        first.iter().enumerate().filter_map(move |(rank, &(other, distance_km))| {
            let last_ms = self.last_ms(other, first_ms);
            // The nearest stations are always read: they may lie in between.
            (rank < 2 * READ_AT_ONCE || last_ms.is_some()).then_some((other, distance_km, last_ms))
        })
    }

    /// The time of the last report of a station, if it is after a moment.
    fn last_ms(&self, place: usize, after_ms: Option<i64>) -> Option<i64> {
        self.last_ms[place].filter(|&last_ms| Some(last_ms) > after_ms)
    }
}

/// A station around a changed station: its index in the directory, the distance in km, and the time
/// of its last report if that is late enough to matter.
type Other = (usize, f64, Option<i64>);

/// The stations that were read around a changed station, nearest first, at most [`MOST_BETWEEN`].
struct ReadStations {
    towards: Vec<[f64; 3]>,
    horizon: Horizon,
}

/// Which of the stations in some directions, from index `from` on, are surely nearer to a place:
/// one bit each.
fn between(spot: Spot, towards: &[[f64; 3]], from: usize) -> u64 {
    let mut mask = 0;
    for (which, &towards) in towards.iter().enumerate().skip(from) {
        mask |= u64::from(spot.is_on_side(towards)) << which;
    }
    mask
}

impl Neighbourhood<'_> {
    /// The readings around changed readings that may have one of these among their nearest values.
    /// Their stations are read.
    pub(super) fn affected(
        &self,
        known: &mut KnownReadings<'_>,
        now: &[ReadingToCompare],
    ) -> Result<Vec<AffectedReadings>, StoreError> {
        let is_heard = |of: &&ReadingToCompare| {
            let variable = known.variable(of.variable);
            of.around && variable.is_some_and(|variable| !self.is_mute(known, of.place, variable))
        };
        let mut changed: Vec<&ReadingToCompare> = now.iter().filter(is_heard).collect();
        changed.sort_unstable_by_key(|of| (of.place, of.variable));
        let mut affected = Vec::new();
        let Some(first_ms) = changed.iter().map(|of| of.after_ms).min() else {
            return Ok(affected);
        };
        let candidates = self.candidates(known, first_ms);
        if candidates.last_ms.iter().all(Option::is_none) {
            return Ok(affected);
        }
        let updated = self.directory.stations.outlines().filter_map(|of| of.update_time_ms);
        let Some(latest_ms) = updated.max() else { return Ok(affected) };
        for of in changed.chunk_by(|one, next| one.place == next.place) {
            self.affected_by(known, of, (latest_ms, &candidates), &mut affected)?;
        }
        Ok(affected)
    }

    /// If a whole network reports in a batch, these are few: after a given moment, the other
    /// stations have only readings that are compared already.
    fn candidates(&self, known: &KnownReadings<'_>, first_ms: i64) -> Candidates {
        let outlines = self.directory.stations.outlines().enumerate();
        let last_ms = outlines.map(|(place, outline)| {
            let last_ms = outline.update_time_ms.filter(|&last_ms| last_ms > first_ms);
            last_ms.filter(|_| known.may_become_due(place, first_ms))
        });
        Candidates { last_ms: last_ms.collect(), cells: OnceCell::new() }
    }

    /// The stations that may be affected beyond the nearest ones, `first`, nearest first.
    fn farther<'n>(
        &'n self,
        place: usize,
        first: &[(usize, f64)],
        radius_km: f64,
        (first_ms, candidates): (Option<i64>, &'n Candidates),
    ) -> impl Iterator<Item = Other> + 'n {
        let cells = candidates.cells.get_or_init(|| {
            let last_ms = candidates.last_ms.iter().enumerate();
            let places = last_ms.filter(|(_, last_ms)| last_ms.is_some());
            self.nearby.cells(places.map(|(place, _)| place))
        });
        let beyond = self.beyond(place, first, cells, radius_km).into_iter();
        beyond.filter_map(move |(other, distance_km)| {
            let last_ms = candidates.last_ms(other, first_ms)?;
            Some((other, distance_km, Some(last_ms)))
        })
    }

    fn affected_by(
        &self,
        known: &mut KnownReadings<'_>,
        of: &[&ReadingToCompare],
        (latest_ms, candidates): (i64, &Candidates),
        affected: &mut Vec<AffectedReadings>,
    ) -> Result<(), StoreError> {
        let (place, first_ms) = (of[0].place, of.iter().map(|of| of.after_ms).min());
        let mut changed: Vec<ChangedReadings<'_>> = of
            .chunk_by(|one, next| one.variable == next.variable)
            .filter_map(|of| {
                let variable = known.variable(of[0].variable)?;
                Some(ChangedReadings::new(self, variable, of, latest_ms))
            })
            .collect();
        let mut reached =
            ReadStations { towards: Vec::new(), horizon: Horizon::new(self.spot(place)) };
        let first: Vec<(usize, f64)> = self.around(known, place).collect();
        let radius_km = changed.iter().map(|of| known.variables[of.variable].1.radius_km);
        let radius_km = radius_km.fold(0.0, f64::max);
        let are_hidden = |known: &KnownReadings<'_>,
                          changed: &[ChangedReadings<'_>],
                          reached: &ReadStations,
                          distance_km: f64| {
            if reached.towards.len() < 2 * READ_AT_ONCE {
                return false;
            }
            let hiding = reached.horizon.hiding(distance_km / EARTH_RADIUS_KM);
            changed.iter().all(|of| {
                let (_, rule) = &known.variables[of.variable];
                distance_km > rule.radius_km
                    || of.is_hidden_beyond(&hiding, latest_ms, rule.nearest)
            })
        };
        for is_beyond in [false, true] {
            let others: Vec<Other> = if is_beyond {
                // In a dense network there are hundreds, which are mostly not looked for.
                match first.last().filter(|_| first.len() == MORE) {
                    Some(&(_, from_km)) if !are_hidden(known, &changed, &reached, from_km) => {}
                    _ => return Ok(()),
                }
                self.farther(place, &first, radius_km, (first_ms, candidates)).collect()
            } else {
                candidates.among(&first, first_ms).collect()
            };
            for others in others.chunks(READ_AT_ONCE) {
                if are_hidden(known, &changed, &reached, others[0].1) {
                    return Ok(());
                }
                let (of, affected) = ((&mut changed[..], &mut reached), &mut *affected);
                self.affected_among(known, place, others, of, affected)?;
            }
        }
        Ok(())
    }

    /// The readings of some stations, nearest first.
    fn affected_among(
        &self,
        known: &mut KnownReadings<'_>,
        place: usize,
        others: &[Other],
        (changed, reached): (&mut [ChangedReadings<'_>], &mut ReadStations),
        affected: &mut Vec<AffectedReadings>,
    ) -> Result<(), StoreError> {
        let (spot, ReadStations { towards, horizon }) = (self.spot(place), reached);
        {
            let is_hidden =
                |of: &ChangedReadings<'_>, known: &KnownReadings<'_>, between, at: (f64, i64)| {
                    let (_, rule) = &known.variables[of.variable];
                    at.0 > rule.radius_km || of.is_hidden(between, at.1, rule.nearest)
                };
            let known_before = towards.len();
            // The stations that may have a changed reading among their nearest values, each with
            // the stations known to hide it.
            let may_show = |&(other, distance_km, last_ms): &Other| {
                let Some(last_ms) = last_ms else { return Some((other, distance_km, None)) };
                let between = between(self.spot(other), towards, 0);
                let is_shown =
                    !changed.iter().all(|of| is_hidden(of, known, between, (distance_km, last_ms)));
                is_shown.then_some((other, distance_km, Some((between, last_ms))))
            };
            let here: Vec<_> = others.iter().filter_map(may_show).collect();
            self.read(known, here.iter().map(|of| of.0).collect())?;
            for (other, distance_km, before) in here {
                let spot_of = self.spot(other);
                let between = before.map(|(before, last_ms)| {
                    (before | between(spot_of, towards, known_before), last_ms)
                });
                let is_between = towards.len() < MOST_BETWEEN;
                for of in changed.iter_mut() {
                    if let Some((between, last_ms)) = between
                        && !self.is_mute(known, other, of.variable)
                        && !is_hidden(of, known, between, (distance_km, last_ms))
                    {
                        let (place, variable) = (other, of.variable);
                        let spans = of.of.iter().map(|of| (of.after_ms, of.before_ms));
                        affected.extend(spans.map(|span| AffectedReadings {
                            place,
                            distance_km,
                            variable,
                            span,
                        }));
                    }
                    if is_between {
                        of.take(known, other);
                    }
                }
                if is_between {
                    let there = spot.towards(spot_of);
                    towards.push(there);
                    horizon.add(there);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "affected_tests.rs"]
mod tests;

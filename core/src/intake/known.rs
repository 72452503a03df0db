//! Stations that are compared with nearby stations, and the readings known so far.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use super::column::{ComparedReading, VariableReadings};
use super::nearby::{Cells, Nearby};
use super::parts::Parts;
use super::station::ReadingToCompare;
use crate::check::{Checker, NeighbourRule, NeighbourValue, Spot};
use crate::observation::{SeriesId, StationId, Variable};
use crate::store::{Directory, Reader, Selection, StoreError};
use crate::time::ClosedWindow;

/// The stations on record, to be compared with each other.
pub(super) struct Neighbourhood<'a> {
    pub checker: &'a Checker,
    pub record: &'a dyn Reader,
    pub directory: &'a Directory,
    pub nearby: &'a Nearby,
}

/// The readings of a window that have been read so far.
pub(super) struct KnownReadings<'c> {
    window: ClosedWindow,
    pub variables: Vec<(Variable, NeighbourRule)>,
    /// The readings whose own checks ran, by station.
    own: Vec<&'c ReadingToCompare>,
    /// A column for each variable, by station.
    pub columns: Vec<Option<Box<[VariableReadings]>>>,
    /// The stations around each station that may have readings in the window, by station.
    present: Vec<OnceCell<Box<NearbyStations>>>,
    /// The stations that may have a value of a variable at a moment, for the last request.
    current: RefCell<Option<Current>>,
}

/// A variable and a moment, and the stations that may have a value of the variable then.
type Current = ((usize, i64), Rc<Cells>);

/// The stations around one that may have readings in a window, nearest first, with their distances
/// in km. They are found once, because most readings of the window have the same neighbours.
#[derive(Debug)]
struct NearbyStations {
    /// The first stations, which are usually enough.
    few: Box<[(usize, f64)]>,
    more: OnceCell<Box<[(usize, f64)]>>,
}

/// How many stations are usually enough: the check takes the nearest twelve that have a value.
const FEW: usize = 20;

/// How many stations are remembered. In a dense network, remembering all would take the square of
/// their number.
pub(super) const MORE: usize = 128;

/// The span that holds only one moment.
pub(super) fn at_moment(ts_ms: i64) -> (i64, i64) {
    (ts_ms.saturating_sub(1), ts_ms.saturating_add(1))
}

/// A reading that is due: station, variable, series and index in the columns.
pub(super) type DueReading = (usize, usize, usize, usize);

impl KnownReadings<'_> {
    pub(super) fn reading(
        &self,
        (place, variable, series, at): DueReading,
    ) -> Option<(SeriesId, &ComparedReading)> {
        let (id, readings) = self.columns[place].as_ref()?.get(variable)?.series.get(series)?;
        Some((*id, readings.get(at)?))
    }

    /// A reading in the form that the check takes.
    pub(super) fn held(&self, due: DueReading) -> Option<NeighbourValue> {
        let column = self.columns[due.0].as_ref()?.get(due.1)?;
        Some(column.held(self.reading(due)?.1))
    }

    /// The number of a station that is compared at a moment, and its uncertainty in hours.
    pub(super) fn value(&self, place: usize, variable: usize, ts_ms: i64) -> Option<(f64, f64)> {
        // Without readings there are no columns.
        self.columns[place].as_ref()?.get(variable)?.at(ts_ms, &self.variables[variable].1)
    }

    /// The time until which a station surely has a value at every moment of a span; before the span
    /// if it may have none at its beginning.
    pub(super) fn until_ms(&self, place: usize, variable: usize, span: (i64, i64)) -> i64 {
        let column = self.columns[place].as_ref().and_then(|columns| columns.get(variable));
        column.map_or(i64::MIN, |column| column.until_ms(span, &self.variables[variable].1))
    }

    /// Marks the readings of a station in a span as due, unless they are due already.
    pub(super) fn mark(
        &mut self,
        place: usize,
        variable: usize,
        (after_ms, before_ms): (i64, i64),
        mut is_affected: impl FnMut(&Self, i64) -> bool,
        due: &mut Vec<DueReading>,
    ) {
        let column = self.columns[place].as_ref().and_then(|columns| columns.get(variable));
        let Some(column) = column else { return };
        let mut found: Vec<(DueReading, i64)> = Vec::new();
        for (series, (_, readings)) in column.series.iter().enumerate() {
            let from = readings.partition_point(|reading| reading.ts_ms <= after_ms);
            let within = readings[from..].iter().enumerate();
            for (at, reading) in within.take_while(|(_, reading)| reading.ts_ms < before_ms) {
                if !reading.is_due {
                    found.push(((place, variable, series, from + at), reading.ts_ms));
                }
            }
        }
        for ((place, variable, series, at), ts_ms) in found {
            if is_affected(self, ts_ms) {
                if let Some(columns) = &mut self.columns[place] {
                    columns[variable].series[series].1[at].is_due = true;
                }
                due.push((place, variable, series, at));
            }
        }
    }

    /// Whether a station may have readings after a moment that are not due yet, as far as the
    /// station was read.
    pub(super) fn may_become_due(&self, place: usize, after_ms: i64) -> bool {
        let Some(columns) = &self.columns[place] else { return true };
        let series = || columns.iter().flat_map(|column| &column.series);
        series().any(|(_, readings)| {
            let from = readings.partition_point(|reading| reading.ts_ms <= after_ms);
            readings[from..].iter().any(|reading| !reading.is_due)
        })
    }

    /// Marks later readings of a station as due if a large change there begins or ends within a
    /// span, and may still affect them.
    pub(super) fn mark_later(
        &mut self,
        place: usize,
        variable: usize,
        (after_ms, before_ms): (i64, i64),
        checker: &Checker,
        due: &mut Vec<DueReading>,
    ) {
        let Some(rule) = checker.change_rule(self.variables[variable].0) else { return };
        let column = self.columns[place].as_ref().and_then(|columns| columns.get(variable));
        let Some(column) = column else { return };
        let ends_ms = column.series.iter().filter_map(|(_, readings)| {
            let from = readings.partition_point(|of| of.ts_ms <= after_ms).saturating_sub(1);
            let pairs = readings[from..].windows(2).take_while(|pair| pair[0].ts_ms < before_ms);
            let at = |of: &ComparedReading| (of.ts_ms, of.value);
            let large = pairs.filter(|pair| rule.is_large(at(&pair[0]), at(&pair[1])));
            large.map(|pair| pair[1].ts_ms).max()
        });
        if let Some(end_ms) = ends_ms.max() {
            let span = (after_ms, end_ms.saturating_add(rule.back_ms()));
            self.mark(place, variable, span, |_, _| true, due);
        }
    }

    pub(super) fn variable(&self, variable: Variable) -> Option<usize> {
        self.variables.iter().position(|&(known, _)| known == variable)
    }

    /// The readings of a series at a station between two moments, both included, by which changes
    /// are judged: each with the number that is compared.
    pub(super) fn course(
        &self,
        (place, variable): (usize, usize),
        series: SeriesId,
        (from_ms, to_ms): (i64, i64),
    ) -> impl Iterator<Item = (&ComparedReading, f64)> {
        let column = self.columns[place].as_ref().and_then(|columns| columns.get(variable));
        let found = column.and_then(|of| of.series.iter().find(|(id, _)| *id == series));
        let readings = found.map_or(&[][..], |(_, readings)| readings);
        let from = readings.partition_point(|of| of.ts_ms < from_ms);
        let within = readings[from..].iter().take_while(move |of| of.ts_ms <= to_ms);
        let compared = move |of| column.map_or(f64::NAN, |column| column.compared(of));
        within.filter(|of| of.is_of_a_course()).map(move |of| (of, compared(of)))
    }
}

impl Neighbourhood<'_> {
    pub(super) fn spot(&self, place: usize) -> Spot {
        self.nearby.spot(self.directory, place)
    }

    /// The stations nearest to one that may have readings in the window, nearest first, with their
    /// distances in km; at most [`MORE`].
    pub(super) fn around<'k>(
        &'k self,
        known: &'k KnownReadings<'_>,
        place: usize,
    ) -> impl Iterator<Item = (usize, f64)> + 'k {
        let present = move || {
            let around = self.nearby.around(self.directory, place);
            around.filter(|&(other, _)| self.may_have(known, other))
        };
        let NearbyStations { few, more } = &**known.present[place].get_or_init(|| {
            Box::new(NearbyStations { few: present().take(FEW).collect(), more: OnceCell::new() })
        });
        let more = (few.len() == FEW).then(|| {
            std::iter::once_with(move || {
                let more = more.get_or_init(|| present().take(MORE).collect());
                more.iter().copied().skip(FEW)
            })
        });
        few.iter().copied().chain(more.into_iter().flatten().flatten())
    }

    /// The stations around one that may have a value of a variable at a moment, as far as known,
    /// nearest first, with their distances in km.
    pub(super) fn around_at<'k>(
        &'k self,
        known: &'k KnownReadings<'_>,
        place: usize,
        variable: usize,
        ts_ms: i64,
    ) -> impl Iterator<Item = (usize, f64)> + 'k {
        let may_have = move |other: usize| {
            known.columns[other].is_some() || self.may_have_value(known, other, variable, ts_ms)
        };
        let first = self.around(known, place).filter(move |&(other, _)| may_have(other));
        let beyond = move || {
            let of_first: Vec<(usize, f64)> = self.around(known, place).collect();
            let radius_km = known.variables[variable].1.radius_km;
            let current = (of_first.len() == MORE).then(|| self.current(known, variable, ts_ms));
            current.map_or_else(Vec::new, |of| self.beyond(place, &of_first, &of, radius_km))
        };
        first.chain(std::iter::once_with(beyond).flatten())
    }

    /// The stations among some that are beyond the first around one, within a radius, nearest
    /// first, with their distances in km. `first` are the nearest stations, at most [`MORE`].
    pub(super) fn beyond(
        &self,
        place: usize,
        first: &[(usize, f64)],
        among: &Cells,
        radius_km: f64,
    ) -> Vec<(usize, f64)> {
        // If there are fewer, they are all.
        let Some(&(_, from_km)) = first.last().filter(|_| first.len() == MORE) else {
            return Vec::new();
        };
        let here = self.directory.stations[place].station.coordinates;
        let is_around = self.nearby.is_around(place, (from_km, radius_km));
        let among = self.nearby.within(place, among);
        let mut beyond: Vec<(usize, f64)> = among
            .filter(|&other| other != place && is_around(other))
            .map(|other| {
                (other, here.distance_km(self.directory.stations[other].station.coordinates))
            })
            .filter(|&(other, distance_km)| {
                (from_km..=radius_km).contains(&distance_km)
                    // Some of several equally distant stations may be among the first.
                    && (distance_km > from_km || first.iter().all(|of| of.0 != other))
            })
            .collect();
        beyond.sort_by(|one, other| one.1.total_cmp(&other.1).then(one.0.cmp(&other.0)));
        beyond
    }

    /// The stations that may have a value of a variable at a moment.
    fn current(&self, known: &KnownReadings<'_>, variable: usize, ts_ms: i64) -> Rc<Cells> {
        let mut current = known.current.borrow_mut();
        match &*current {
            Some((of, cells)) if *of == (variable, ts_ms) => Rc::clone(cells),
            _ => {
                let stations = 0..self.directory.stations.len();
                let may_have = |&place: &usize| self.may_have_value(known, place, variable, ts_ms);
                let cells = Rc::new(self.nearby.cells(stations.filter(may_have)));
                *current = Some(((variable, ts_ms), Rc::clone(&cells)));
                cells
            }
        }
    }

    /// An empty state for variables around a span; `None` if there is nothing to know.
    pub(super) fn known<'c>(
        &self,
        variables: &[Variable],
        (from_ms, to_ms): (i64, i64),
        own: &'c [ReadingToCompare],
    ) -> Option<KnownReadings<'c>> {
        let rule = |&variable: &Variable| Some((variable, self.checker.neighbour_rule(variable)?));
        let variables: Vec<_> = variables.iter().filter_map(rule).collect();
        let reach_ms = variables.iter().map(|(_, rule)| rule.reach_ms()).max()?;
        let (from_ms, to_ms) = (from_ms.saturating_sub(reach_ms), to_ms.saturating_add(reach_ms));
        let window = ClosedWindow::new(from_ms, to_ms).ok()?;
        let from = own.partition_point(|of| of.ts_ms < from_ms);
        let own = &own[from..];
        let own = &own[..own.partition_point(|of| of.ts_ms <= to_ms)];
        let mut own: Vec<&ReadingToCompare> = own.iter().collect();
        own.sort_unstable_by_key(|of| of.place);
        let columns = self.directory.stations.iter().map(|_| None).collect();
        let present = self.directory.stations.iter().map(|_| OnceCell::new()).collect();
        Some(KnownReadings {
            window,
            variables,
            own,
            columns,
            present,
            current: RefCell::default(),
        })
    }

    /// Reads stations that have not been read yet.
    pub(super) fn read(
        &self,
        known: &mut KnownReadings<'_>,
        mut places: Vec<usize>,
    ) -> Result<(), StoreError> {
        places.sort_unstable();
        places.dedup();
        places.retain(|&place| known.columns[place].is_none());
        if places.is_empty() {
            return Ok(());
        }
        for &place in &places {
            known.columns[place] = Some(Box::default());
        }
        places.retain(|&place| self.may_have(known, place));
        let ids: Vec<StationId> =
            places.iter().map(|&place| self.directory.stations[place].station.id).collect();
        let rules = known.variables.clone();
        let variables: Vec<Variable> = rules.iter().map(|&(variable, _)| variable).collect();
        let selection = Selection { stations: &ids, variables: &variables, window: known.window };
        let mut read = Ok(());
        self.record.scan(&selection, &mut |i, slices| {
            let parts = match Parts::of_station(slices) {
                Ok(parts) => parts,
                Err(error) => return read = Err(error),
            };
            let spot = self.spot(places[i]);
            let column = |(variable, rule): &(Variable, NeighbourRule)| {
                VariableReadings::new(&parts, *variable, rule, spot)
            };
            known.columns[places[i]] = Some(rules.iter().map(column).collect());
        })?;
        read?;
        for place in places {
            let from = known.own.partition_point(|of| of.place < place);
            let here = known.own[from..].iter().take_while(|of| of.place == place);
            for of in here {
                let of_name = |&(known, _): &(Variable, _)| known == of.variable;
                let Some(variable) = known.variables.iter().position(of_name) else { continue };
                let Some(columns) = &mut known.columns[place] else { continue };
                let Some(column) = columns.get_mut(variable) else { continue };
                let series = column.series.iter_mut().find(|(id, _)| *id == of.series);
                let Some((_, readings)) = series else { continue };
                if let Ok(at) = readings.binary_search_by_key(&of.ts_ms, |of| of.ts_ms) {
                    readings[at].own = Some(of.own);
                }
            }
        }
        Ok(())
    }

    /// Whether no reading of a variable at a station can be compared with others, because its
    /// altitude is not known.
    pub(super) fn is_mute(&self, known: &KnownReadings<'_>, place: usize, variable: usize) -> bool {
        let (_, rule) = &known.variables[variable];
        rule.needs_altitude && self.directory.stations.outline(place).altitude_m.is_none()
    }

    /// Whether a station can have a value of a variable at a moment, as far as the directory tells:
    /// it has a series of the variable, and its last reading is near enough.
    fn may_have_value(
        &self,
        known: &KnownReadings<'_>,
        place: usize,
        variable: usize,
        ts_ms: i64,
    ) -> bool {
        if self.is_mute(known, place, variable) {
            return false;
        }
        let outline = self.directory.stations.outline(place);
        let (variable, rule) = &known.variables[variable];
        let from_ms = ts_ms.saturating_sub(rule.beside_ms);
        outline.has(*variable) && outline.update_time_ms.is_some_and(|last_ms| last_ms >= from_ms)
    }

    /// Whether a station can have readings in the window, as far as the directory tells.
    pub(super) fn may_have(&self, known: &KnownReadings<'_>, place: usize) -> bool {
        let outline = self.directory.stations.outline(place);
        outline.first_ms <= known.window.end_ms()
            && outline.update_time_ms.is_some_and(|last_ms| last_ms >= known.window.start_ms())
    }
}

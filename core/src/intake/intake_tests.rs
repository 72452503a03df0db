use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::*;
use crate::geo::LonLat;
use crate::observation::{
    BaseQuality, IntervalType, Quality, Reading, ReasonQuality, Report, SeriesId, SeriesKey,
    StationType, Variable,
};
use crate::observation::{EarlierPlaces, Identifiers};
use crate::store::ReaderWrapper;
use crate::store::{MemoryStore, Selection, SeriesSlice, VerdictFn, VisitWeather};
use crate::time::{ClosedWindow, HOUR_MS, MINUTE_MS};

/// Noon on a day in August, far from the bounds of any season.
pub(super) const NOON_MS: i64 = 1_722_686_400_000;

/// Stations about 11 km apart from west to east.
pub(super) fn station(place: usize) -> Station {
    let native_id = format!("S{place}");
    Station {
        id: StationId::new("TEST", &native_id),
        network: "TEST".to_owned(),
        name: native_id.clone(),
        native_id,
        station_type: Some(StationType::OpenCountry),
        coordinates: LonLat::new(-100.0 + 0.15 * place as f64, 45.5).unwrap(),
        sensor_height_m: 10.0,
        altitude_m: Some(200.0),
        identifiers: Identifiers::default(),
        earlier_places: EarlierPlaces::default(),
    }
}

pub(super) fn key(variable: Variable) -> SeriesKey {
    let wind = variable == Variable::WindSpeed;
    let (kind, minutes) =
        if wind { (IntervalType::Average, 2) } else { (IntervalType::Instantaneous, 0) };
    SeriesKey::new(variable, kind, minutes)
}

pub(super) fn report(
    place: usize,
    minute: i64,
    revision: u8,
    values: &[(Variable, f64)],
) -> Report {
    let reading = |&(variable, value): &(Variable, f64)| Reading {
        series: key(variable),
        value,
        quality: Quality::UNCHECKED,
        qualifier: None,
    };
    Report {
        station: station(place).id,
        ts_ms: NOON_MS + minute * MINUTE_MS,
        revision,
        present_weather: None,
        text: None,
        readings: values.iter().map(reading).collect(),
    }
}

pub(super) fn air(place: usize, minute: i64, value: f64) -> Report {
    report(place, minute, 0, &[(Variable::AirTemperature, value)])
}

pub(super) fn stations() -> Vec<Station> {
    (0..7).map(station).collect()
}

pub(super) fn intake() -> (Intake, MemoryStore) {
    (Intake::default(), MemoryStore::default())
}

/// Returns every reading of a store with its verdict.
pub(super) fn held(
    store: &dyn Store,
) -> BTreeMap<(StationId, SeriesId, i64), (String, u64, Quality)> {
    held_of(store, 7)
}

/// The same for the first few stations.
pub(super) fn held_of(
    store: &dyn Store,
    count: usize,
) -> BTreeMap<(StationId, SeriesId, i64), (String, u64, Quality)> {
    let ids: Vec<StationId> = (0..count).map(|place| station(place).id).collect();
    let window = ClosedWindow::new(i64::MIN, i64::MAX).unwrap();
    let selection = Selection { stations: &ids, variables: Variable::ALL, window };
    let mut held = BTreeMap::new();
    store
        .scan(&selection, &mut |i, slices| {
            for slice in slices {
                for (at, &ts_ms) in slice.ts_ms.iter().enumerate() {
                    let variable = slice.series.key.variable.to_string();
                    let reading =
                        (variable, slice.value[at].to_bits(), slice.quality[at].quality());
                    held.insert((ids[i], slice.series.id, ts_ms), reading);
                }
            }
        })
        .unwrap();
    held
}

pub(super) fn verdict(store: &dyn Store, place: usize, key: &SeriesKey, minute: i64) -> Quality {
    held(store)[&(station(place).id, key.id(), NOON_MS + minute * MINUTE_MS)].2
}

pub(super) const DISAGREE: Quality =
    Quality { base: BaseQuality::Doubtful, reason: ReasonQuality::Disagree };

#[test]
fn a_derived_value_takes_the_worst_verdict_of_its_inputs() {
    let (intake, store) = intake();
    let warm = [(Variable::AirTemperature, 28.0), (Variable::DewPointTemperature, 18.0)];
    // A dew point above the temperature contradicts it.
    let wrong = [(Variable::AirTemperature, 28.0), (Variable::DewPointTemperature, 35.0)];
    let reports = vec![report(0, 0, 0, &warm), report(1, 0, 0, &wrong)];
    intake.take_in(&store, Batch { stations: stations(), reports }).unwrap();
    let humidity = key(Variable::RelativeHumidity).calculated();
    assert_eq!(verdict(&store, 0, &humidity, 0), Quality::GOOD);
    let dew_point = verdict(&store, 1, &key(Variable::DewPointTemperature), 0);
    assert!(dew_point.base < BaseQuality::Good, "{dew_point:?}");
    let derived = held(&store);
    let derived = derived.iter().filter(|((id, ..), _)| *id == station(1).id);
    for ((_, series, _), (variable, _, quality)) in derived {
        if *series == humidity.id() {
            assert_eq!(*quality, dew_point, "{variable}");
        }
    }
}

#[test]
fn a_reported_value_is_not_overwritten() {
    let (intake, store) = intake();
    let values = [
        (Variable::AirTemperature, 28.0),
        (Variable::DewPointTemperature, 18.0),
        (Variable::RelativeHumidity, 56.0),
    ];
    let reports = vec![report(0, 0, 0, &values)];
    let receipt = intake.take_in(&store, Batch { stations: stations(), reports }).unwrap();
    assert!(receipt.added > 3, "something is derived");
    let humidity = key(Variable::RelativeHumidity).calculated();
    assert!(!held(&store).keys().any(|&(_, series, _)| series == humidity.id()));
}

#[test]
fn a_station_unlike_nearby_ones_is_doubtful_until_it_is_corrected() {
    let (intake, store) = intake();
    let mut reports: Vec<Report> = (0..7).map(|place| air(place, 0, 20.0)).collect();
    reports[3] = air(3, 0, 38.0);
    intake.take_in(&store, Batch { stations: stations(), reports }).unwrap();
    let air_temperature = key(Variable::AirTemperature);
    assert_eq!(verdict(&store, 3, &air_temperature, 0), DISAGREE);
    assert_eq!(verdict(&store, 2, &air_temperature, 0), Quality::GOOD);

    let correction = report(3, 0, 1, &[(Variable::AirTemperature, 20.5)]);
    intake.take_in(&store, Batch { stations: vec![], reports: vec![correction] }).unwrap();
    assert_eq!(verdict(&store, 3, &air_temperature, 0), Quality::GOOD);
}

#[test]
fn readings_of_nearby_stations_change_a_verdict() {
    let (intake, store) = intake();
    intake
        .take_in(&store, Batch { stations: stations(), reports: vec![air(3, -10, 38.0)] })
        .unwrap();
    let air_temperature = key(Variable::AirTemperature);
    assert_eq!(verdict(&store, 3, &air_temperature, -10), Quality::GOOD);
    for place in [0, 1, 2, 4, 5] {
        let reports = vec![air(place, 5, 20.0)];
        intake.take_in(&store, Batch { stations: vec![], reports }).unwrap();
    }
    assert_eq!(verdict(&store, 3, &air_temperature, -10), DISAGREE);
}

#[test]
fn a_late_reading_between_two_changes_the_verdict_of_the_second() {
    let (intake, store) = intake();
    let air_temperature = key(Variable::AirTemperature);
    let reports = vec![air(0, 0, 12.0), air(0, 120, 36.0)];
    intake.take_in(&store, Batch { stations: stations(), reports }).unwrap();
    let alone = verdict(&store, 0, &air_temperature, 120);
    assert_eq!(alone.reason, ReasonQuality::Increase);
    let reports = vec![air(0, 60, 24.0)];
    intake.take_in(&store, Batch { stations: vec![], reports }).unwrap();
    assert_eq!(verdict(&store, 0, &air_temperature, 120), Quality::GOOD);
}

#[test]
fn a_missing_reading_is_not_explained() {
    let (intake, store) = intake();
    let reports = vec![air(0, 0, 20.0)];
    intake.take_in(&store, Batch { stations: stations(), reports }).unwrap();
    let series = key(Variable::AirTemperature).id();
    let explain = |id, series, ts_ms| intake.explain(&store, id, series, ts_ms).unwrap();
    assert!(explain(station(0).id, series, NOON_MS).is_some());
    assert!(explain(station(0).id, series, NOON_MS + 1).is_none());
    assert!(explain(station(1).id, series, NOON_MS).is_none());
    assert!(explain(station(0).id, SeriesId(1), NOON_MS).is_none());
    assert!(explain(StationId::new("TEST", "X"), series, NOON_MS).is_none());
}

/// A store that records the windows that a judge reads.
#[derive(Default)]
struct Watched(MemoryStore, Mutex<Vec<ClosedWindow>>);

struct Looks<'a>(&'a dyn Reader, &'a Mutex<Vec<ClosedWindow>>);

impl Reader for Looks<'_> {
    fn directory(&self) -> Result<Arc<Directory>, StoreError> {
        self.0.directory()
    }

    fn scan(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<crate::store::Damage, StoreError> {
        self.1.lock().unwrap().push(selection.window);
        self.0.scan(selection, visit)
    }

    fn scan_weather(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut VisitWeather<'_>,
    ) -> Result<crate::store::Damage, StoreError> {
        self.0.scan_weather(stations, window, visit)
    }

    fn held_from_ms(&self) -> Result<i64, StoreError> {
        self.0.held_from_ms()
    }
}

impl ReaderWrapper for Watched {
    fn wrapped(&self) -> &dyn Reader {
        &self.0
    }
}

impl Store for Watched {
    fn append(&self, batch: &Batch, judge: &mut VerdictFn<'_>) -> Result<Receipt, StoreError> {
        self.0.append(batch, &mut |record| judge(&Looks(record, &self.1)))
    }
}

/// A regression: a batch with a late report and a report of today read all the years between.
#[test]
fn the_time_between_distant_reports_is_not_read() {
    const YEAR_MINUTES: i64 = 365 * 24 * 60;
    let (intake, store) = (Intake::default(), Watched::default());
    let reports = vec![air(0, -20 * YEAR_MINUTES, 20.0), air(0, 0, 21.0)];
    intake.take_in(&store, Batch { stations: stations(), reports }).unwrap();
    let windows = store.1.into_inner().unwrap();
    assert!(!windows.is_empty());
    for window in windows {
        assert!(window.end_ms() - window.start_ms() < 30 * DAY_MS, "{window:?}");
    }
}

/// A regression: a remote record was asked for each station, and for each moment at which a
/// comparison changes the verdict on calculated values: 43,000 times for the bundled sample.
#[test]
fn a_batch_of_many_stations_reads_them_together() {
    const STATIONS: usize = 120;
    let stations: Vec<Station> = (0..STATIONS).map(station).collect();
    let mut reports = Vec::new();
    for place in 0..STATIONS {
        let sign = if place % 2 == 0 { 1.0 } else { -1.0 };
        let of_hour = |hour: i64| {
            // Some are wrong throughout. Others change unlike their neighbours, so that the hours
            // before matter.
            let wrong = match place % 10 {
                5 => 14.0,
                0..3 if hour > 10 + place as i64 % 5 => 2.0 * sign,
                _ => 0.0,
            };
            let values = [
                (Variable::AirTemperature, 20.0 + wrong),
                (Variable::DewPointTemperature, 10.0 + wrong),
            ];
            report(place, hour * 60, 0, &values)
        };
        // Some from long before, as in an archive.
        reports.extend((0..30).chain([-9_000]).map(of_hour));
    }
    let (intake, store) = (Intake::default(), Watched::default());
    intake.take_in(&store, Batch { stations, reports }).unwrap();
    let humidity = key(Variable::RelativeHumidity).calculated().id();
    let doubted =
        held_of(&store, STATIONS).into_iter().filter(|((_, series, _), (.., quality))| {
            *series == humidity && quality.base == BaseQuality::Doubtful
        });
    assert!(doubted.count() > 100);
    let scans = store.1.into_inner().unwrap().len();
    assert!(scans < STATIONS / 2, "{scans} scans for {STATIONS} stations");
}

/// Reports at irregular minutes, with gaps, jumps, spikes, corrections and impossible values.
fn any_reports() -> impl Strategy<Value = Vec<Report>> {
    let value = prop_oneof![
        8 => 15.0..25.0_f64,
        2 => -20.0..45.0_f64,
        1 => prop::sample::select(vec![999.0, -99.9, 80.0, 0.0]),
    ];
    // Some lie beyond the reach of a verdict, or nearly so.
    let day = prop_oneof![12 => Just(0), 1 => 6..9_i64, 1 => 13..16_i64, 1 => Just(400)];
    let minute = (day, -300..300_i64).prop_map(|(day, minute)| day * 24 * 60 + minute);
    let at = (0..7_usize, minute, 0..2_u8);
    prop::collection::btree_map(at, (value.clone(), value, 0.0..60.0_f64), 1..60).prop_map(
        |reports| {
            let report = |((place, minute, revision), (air, dew, wind)): ((_, _, _), _)| {
                let values = [
                    (Variable::AirTemperature, air),
                    (Variable::DewPointTemperature, dew),
                    (Variable::WindSpeed, wind),
                ];
                report(place, minute, revision, &values)
            };
            reports.into_iter().map(report).collect()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_order_and_any_batches_give_the_same_verdicts(
        (in_order, shuffled, size) in any_reports().prop_flat_map(|reports| {
            (Just(reports.clone()), Just(reports).prop_shuffle(), 1..12_usize)
        }),
    ) {
        let (intake, one) = intake();
        intake.take_in(&one, Batch { stations: stations(), reports: in_order }).unwrap();
        let other = MemoryStore::default();
        intake.take_in(&other, Batch { stations: stations(), reports: vec![] }).unwrap();
        for reports in shuffled.chunks(size) {
            let reports = reports.to_vec();
            intake.take_in(&other, Batch { stations: vec![], reports }).unwrap();
        }
        prop_assert_eq!(held(&one), held(&other));
    }

    #[test]
    fn repeated_reports_change_nothing(
        (reports, again, size) in any_reports().prop_flat_map(|reports| {
            (Just(reports.clone()), Just(reports).prop_shuffle(), 1..12_usize)
        }),
    ) {
        let (intake, store) = intake();
        intake.take_in(&store, Batch { stations: stations(), reports }).unwrap();
        let (before, generation) = (held(&store), store.directory().unwrap().generation);
        for reports in again.chunks(size) {
            let batch = Batch { stations: stations(), reports: reports.to_vec() };
            let receipt = intake.take_in(&store, batch).unwrap();
            let none = Receipt { unchanged: 0, overtaken: 0, ..receipt };
            prop_assert_eq!(none, Receipt::default());
        }
        prop_assert_eq!(held(&store), before);
        prop_assert_eq!(store.directory().unwrap().generation, generation);
    }

    #[test]
    fn the_explanation_gives_the_verdict_that_is_stored(reports in any_reports()) {
        let (intake, store) = intake();
        intake.take_in(&store, Batch { stations: stations(), reports }).unwrap();
        for ((id, series, ts_ms), (variable, _, verdict)) in held(&store) {
            let explanation = intake.explain(&store, id, series, ts_ms).unwrap().unwrap();
            prop_assert_eq!(explanation.explanation.verdict, verdict, "{} {}", variable, ts_ms - NOON_MS);
        }
    }
}

#[test]
fn times_at_the_ends_of_the_calendar_do_not_overflow() {
    let (intake, store) = intake();
    for ts_ms in [i64::MIN, i64::MIN + HOUR_MS, i64::MAX - 1, i64::MAX] {
        let reports = vec![Report { ts_ms, ..air(0, 0, 20.0) }];
        intake.take_in(&store, Batch { stations: stations(), reports }).unwrap();
    }
}

/// The dew point of 22.4 °C and 52 % was served as 12.077931421231028.
#[test]
fn calculated_values_have_the_resolution_of_reports_and_reported_ones_stay() {
    let (intake, store) = intake();
    let exact = [(Variable::AirTemperature, 28.123), (Variable::DewPointTemperature, 18.456)];
    let dry = [(Variable::AirTemperature, 22.4), (Variable::RelativeHumidity, 52.0)];
    let reports = vec![report(0, 0, 0, &exact), report(1, 0, 0, &dry)];
    intake.take_in(&store, Batch { stations: stations(), reports }).unwrap();
    let value = |place: usize, key: SeriesKey| {
        let reading = &held(&store)[&(station(place).id, key.id(), NOON_MS)];
        f64::from_bits(reading.1).to_string()
    };
    assert_eq!(value(0, key(Variable::AirTemperature)), "28.123");
    assert_eq!(value(0, key(Variable::RelativeHumidity).calculated()), "56");
    // From the exact inputs, as the functions give it, and rounded once.
    let expected = crate::derived::humidex(28.123, 18.456).unwrap();
    assert_eq!(value(0, key(Variable::Humidex).calculated()), format!("{expected:.1}"));
    assert_eq!(value(1, key(Variable::DewPointTemperature).calculated()), "12.1");
}

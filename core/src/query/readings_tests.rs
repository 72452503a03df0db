use proptest::prelude::*;

use super::*;
use crate::geo::LonLat;
use crate::observation::{Batch, IntervalType, Reading, Report, SeriesKey, Station};
use crate::observation::{EarlierPlaces, Identifiers};
use crate::query::CURRENT_AGE_MS;
use crate::store::{MemoryStore, Store, no_verdicts};
use crate::time::{HOUR_MS, MINUTE_MS};

const TEMPERATURE: Variable = Variable::AirTemperature;
const WIND: Variable = Variable::WindSpeed;

fn station(native_id: &str, lon: f64, lat: f64) -> Station {
    Station {
        id: StationId::new("TEST", native_id),
        network: "TEST".to_owned(),
        native_id: native_id.to_owned(),
        name: native_id.to_owned(),
        station_type: None,
        coordinates: LonLat::new(lon, lat).unwrap(),
        sensor_height_m: 0.0,
        altitude_m: None,
        identifiers: Identifiers::default(),
        earlier_places: EarlierPlaces::default(),
    }
}

fn report(native_id: &str, minute: i64, readings: &[(SeriesKey, f64)]) -> Report {
    let reading = |(series, value): &(SeriesKey, f64)| Reading {
        series: series.clone(),
        value: *value,
        quality: Quality::UNCHECKED,
        qualifier: None,
    };
    Report {
        station: StationId::new("TEST", native_id),
        ts_ms: minute * MINUTE_MS,
        revision: 0,
        present_weather: None,
        text: None,
        readings: readings.iter().map(reading).collect(),
    }
}

fn temperature() -> SeriesKey {
    SeriesKey::new(TEMPERATURE, IntervalType::Instantaneous, 0)
}

fn mean_wind(minutes: i32) -> SeriesKey {
    SeriesKey::new(WIND, IntervalType::Average, minutes)
}

fn store(stations: Vec<Station>, reports: Vec<Report>) -> MemoryStore {
    let store = MemoryStore::default();
    store.append(&Batch { stations, reports }, &mut no_verdicts).unwrap();
    store
}

fn query(start: i64, end: i64, names: &[Variable], step: Option<i64>) -> ReadingsQuery {
    ReadingsQuery {
        window: ClosedWindow::new(start * MINUTE_MS, end * MINUTE_MS).unwrap(),
        scope: Scope::Everywhere,
        names: names.to_vec(),
        step: step.map(|minutes| Step::from_minutes(minutes).unwrap()),
        max_age_ms: None,
    }
}

/// Returns the minute of the reading, variable, value and age in seconds of each cell.
fn shown(answer: &Readings) -> Vec<(i64, Variable, f64, u32)> {
    let shown = |cell: &AnswerReading| {
        let variable = answer.series[cell.series as usize].key.variable;
        (cell.ts_ms / MINUTE_MS, variable, cell.value, cell.age_s)
    };
    answer.cells.iter().map(shown).collect()
}

#[test]
fn a_snapshot_holds_the_latest_reading_of_each_series() {
    let store = store(
        vec![station("A", 0.0, 0.0)],
        vec![
            report("A", 10, &[(temperature(), 1.0), (mean_wind(2), 5.0), (mean_wind(10), 6.0)]),
            report("A", 20, &[(temperature(), 2.0)]),
            report("A", 40, &[(temperature(), 3.0)]),
        ],
    );
    let answer = readings(&store, &query(5, 30, &[WIND, TEMPERATURE], None), Caps::default());
    let answer = answer.unwrap();
    let mut winds = [(mean_wind(2).id(), 5.0), (mean_wind(10).id(), 6.0)];
    winds.sort_unstable_by_key(|&(id, _)| id);
    assert_eq!(
        shown(&answer),
        [(10, WIND, winds[0].1, 0), (10, WIND, winds[1].1, 0), (20, TEMPERATURE, 2.0, 0)]
    );
    assert_eq!(answer.step, None);
}

#[test]
fn a_grid_holds_the_latest_reading_at_or_before_each_position() {
    let store = store(
        vec![station("A", 0.0, 0.0)],
        vec![
            report("A", 0, &[(temperature(), 1.0)]),
            report("A", 20, &[(temperature(), 2.0), (mean_wind(2), 9.0)]),
        ],
    );
    let asked = query(10, 35, &[WIND, TEMPERATURE, WIND], Some(10));
    let answer = readings(&store, &asked, Caps::default()).unwrap();
    assert_eq!(
        shown(&answer),
        [
            (0, TEMPERATURE, 1.0, 600),
            (20, WIND, 9.0, 0),
            (20, TEMPERATURE, 2.0, 0),
            (20, WIND, 9.0, 600),
            (20, TEMPERATURE, 2.0, 600),
            (20, WIND, 9.0, 900),
            (20, TEMPERATURE, 2.0, 900),
        ]
    );
    assert_eq!(answer.step.unwrap().minutes(), 10);
}

#[test]
fn first_cells_are_filled_from_up_to_twelve_hours_before_the_start() {
    let hours_before = |minutes: i64| {
        let store = store(
            vec![station("A", 0.0, 0.0)],
            vec![
                report("A", 1000 - minutes, &[(temperature(), 1.0)]),
                report("A", 1005, &[(temperature(), 2.0)]),
            ],
        );
        let asked = query(1000, 1010, &[TEMPERATURE], Some(10));
        shown(&readings(&store, &asked, Caps::default()).unwrap()).len()
    };
    assert_eq!(hours_before(12 * 60), 2);
    assert_eq!(hours_before(12 * 60 + 1), 1);
}

#[test]
fn a_station_that_reported_only_before_the_start_is_left_out() {
    let store =
        store(vec![station("A", 0.0, 0.0)], vec![report("A", 990, &[(temperature(), 1.0)])]);
    for step in [None, Some(5)] {
        let asked = query(1000, 1010, &[TEMPERATURE], step);
        assert_eq!(readings(&store, &asked, Caps::default()).unwrap().stations, []);
    }
}

#[test]
fn a_current_series_beats_a_newer_less_instantaneous_one() {
    let store = store(
        vec![station("A", 0.0, 0.0)],
        vec![report("A", 0, &[(mean_wind(2), 2.0)]), report("A", 60, &[(mean_wind(10), 10.0)])],
    );
    let asked = query(0, 120, &[WIND], Some(30));
    let values: Vec<_> =
        shown(&readings(&store, &asked, Caps::default()).unwrap()).iter().map(|c| c.2).collect();
    assert_eq!(CURRENT_AGE_MS, 90 * MINUTE_MS);
    assert_eq!(values, [2.0, 2.0, 2.0, 2.0, 10.0]);
}

#[test]
fn max_age_leaves_old_readings_out() {
    let store = store(
        vec![station("A", 0.0, 0.0), station("B", 1.0, 1.0)],
        vec![report("A", 0, &[(temperature(), 1.0)]), report("B", 25, &[(temperature(), 2.0)])],
    );
    for step in [None, Some(30)] {
        let mut asked = query(0, 30, &[TEMPERATURE], step);
        asked.max_age_ms = Some(10 * MINUTE_MS);
        let answer = readings(&store, &asked, Caps::default()).unwrap();
        let expected: &[_] = if step.is_some() {
            &[(0, TEMPERATURE, 1.0, 0), (25, TEMPERATURE, 2.0, 300)]
        } else {
            &[(25, TEMPERATURE, 2.0, 0)]
        };
        let mut cells = shown(&answer);
        cells.sort_unstable_by_key(|cell| cell.0);
        assert_eq!(cells, expected);
    }
}

/// A reading of exactly the maximum age is included, and so is one at the very start.
#[test]
fn bounds_of_age_and_window_are_included() {
    let store = store(
        vec![station("A", 0.0, 0.0), station("B", 1.0, 1.0)],
        vec![report("A", 20, &[(temperature(), 1.0)]), report("B", 10, &[(temperature(), 2.0)])],
    );
    let found = |start, step: Option<i64>, max_age_ms| {
        let asked = ReadingsQuery { max_age_ms, ..query(start, 30, &[TEMPERATURE], step) };
        readings(&store, &asked, Caps::default()).unwrap().stations.len()
    };
    for step in [None, Some(30)] {
        assert_eq!(found(10, step, Some(10 * MINUTE_MS)), if step.is_some() { 2 } else { 1 });
        assert_eq!((found(10, step, None), found(11, step, None)), (2, 1), "{step:?}");
        assert_eq!((found(20, step, None), found(21, step, None)), (1, 0), "{step:?}");
    }
    assert_eq!(found(15, None, Some(10 * MINUTE_MS - 1)), 0);
}

#[test]
fn scopes_choose_the_stations() {
    let all = [station("A", 0.0, 0.0), station("B", 179.5, 10.0), station("C", -179.5, 20.0)];
    let ids = all.clone().map(|station| station.id);
    let reports =
        ["A", "B", "C"].map(|native_id| report(native_id, 0, &[(temperature(), 1.0)])).to_vec();
    let store = store(all.to_vec(), reports);
    let answered = |scope: Scope| {
        let asked = ReadingsQuery { scope, ..query(-10, 10, &[TEMPERATURE], None) };
        let answer = readings(&store, &asked, Caps::default()).unwrap();
        answer.stations.iter().map(|&(id, _)| id).collect::<Vec<_>>()
    };
    let sorted = |mut list: Vec<StationId>| {
        list.sort_unstable();
        list
    };
    assert_eq!(answered(Scope::Everywhere), sorted(ids.to_vec()));
    let pacific = BBox::new(170.0, 0.0, -170.0, 30.0).unwrap();
    assert_eq!(answered(Scope::Box(pacific)), sorted(vec![ids[1], ids[2]]));
    let unknown = StationId::new("TEST", "X");
    assert_eq!(answered(Scope::Stations(vec![ids[1], unknown, ids[1]])), [ids[1]]);
    assert_eq!(answered(Scope::Stations(vec![])), []);
}

#[test]
fn the_cells_of_a_coarsened_grid_satisfy_the_cap() {
    let store = store(
        vec![station("A", 0.0, 0.0), station("B", 1.0, 1.0), station("C", 2.0, 2.0)],
        ["A", "B"]
            .into_iter()
            .flat_map(|id| (0..60).map(move |minute| report(id, minute, &[(temperature(), 1.0)])))
            .collect(),
    );
    // C reports nothing and is not in scope: 2 stations × 1 name leave room for 5 positions.
    let asked = query(0, 59, &[TEMPERATURE], Some(1));
    let caps = Caps { cells: 10, positions: 2000 };
    let answer = readings(&store, &asked, caps).unwrap();
    let coarsening = answer.coarsening.unwrap();
    assert_eq!((coarsening.factor, coarsening.cells, answer.cells.len()), (15, 10, 10));
}

#[test]
fn the_wire_shape_is_that_of_the_interface() {
    let store = store(vec![station("A", 0.0, 0.0)], vec![report("A", 0, &[(temperature(), -1.5)])]);
    let wire = |step| {
        let asked = query(-10, 10, &[TEMPERATURE], step);
        serde_json::to_string(&readings(&store, &asked, Caps::default()).unwrap()).unwrap()
    };
    let (id, series) = (StationId::new("TEST", "A"), temperature().id());
    let reading = format!(
        r#""timestamp":"1970-01-01T00:00:00Z","type":"airTemperature","typeId":{series},"value":-1.5,"quality":{{"baseQuality":"Unknown","reasonQuality":"None"}}"#
    );
    assert_eq!(wire(None), format!(r#"{{"stations":{{"{id}":{{"readings":[{{{reading}}}]}}}}}}"#));
    assert_eq!(
        wire(Some(20)),
        format!(r#"{{"stations":{{"{id}":{{"readings":[{{{reading},"age":600}}]}}}},"step":20}}"#)
    );
}

proptest! {
    #[test]
    fn every_cell_is_the_newest_candidate_of_one_of_the_series(
        minutes in prop::collection::btree_set((0..4_i32, 0..2000_i64), 1..150),
        start in 0..1500_i64,
        span in 1..700_i64,
        step in 1..200_i64,
    ) {
        let kinds = [mean_wind(2), mean_wind(10), mean_wind(60), temperature()];
        let reports: Vec<Report> = minutes
            .iter()
            .map(|&(kind, minute)| report("A", minute, &[(kinds[kind as usize].clone(), minute as f64)]))
            .collect();
        let store = store(vec![station("A", 0.0, 0.0)], reports);
        let asked = query(start, start + span, &[TEMPERATURE, WIND], Some(step));
        let answer = readings(&store, &asked, Caps::default()).unwrap();
        for cell in &answer.cells {
            let at_minute = cell.ts_ms / MINUTE_MS + i64::from(cell.age_s) / 60;
            let key = &answer.series[cell.series as usize].key;
            let kind = kinds.iter().position(|kind| kind == key).unwrap() as i32;
            let newest = minutes.iter().filter(|&&(k, minute)| k == kind && minute <= at_minute).map(|&(_, minute)| minute).max();
            prop_assert_eq!(newest, Some(cell.ts_ms / MINUTE_MS));
            prop_assert_eq!(cell.value, (cell.ts_ms / MINUTE_MS) as f64);
            prop_assert!(cell.ts_ms >= start * MINUTE_MS - 12 * HOUR_MS);
        }
        let reporting = minutes.iter().any(|&(_, minute)| (start..=start + span).contains(&minute));
        prop_assert_eq!(answer.stations.len(), usize::from(reporting));
    }
}

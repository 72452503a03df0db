//! `GET /stations/readings?step=`: the grid.

use mesonet::{Batch, IntervalType, SeriesKey, Variable};
use mesonet_server::Config;

use crate::support::{
    AIR, Api, TestStore, answer, instant, member, reading, report, station, store, wire_aged,
};

const HOUR: &str = "start=2024-08-03T11:00:00Z&end=2024-08-03T12:00:00Z";

/// A station with readings of air temperature, each this many minutes before now.
fn air(native_id: &str, minutes_ago: &[i64]) -> Vec<Batch> {
    let readings = minutes_ago.iter().map(|&ago| reading(native_id, ago, &AIR, ago as f64));
    std::iter::once(station(native_id, 0.0, 0.0)).chain(readings).collect()
}

fn api(batches: impl IntoIterator<Item = Batch>) -> Api {
    Api::new(store(batches))
}

#[test]
fn positions_are_the_steps_from_the_start_and_the_end_itself() {
    let api = api(air("A", &[60, 35, 10, 0]));
    // 11:00, 11:25, 11:50 and, as 25 does not divide 60, 12:00.
    let readings = [
        wire_aged("11:00:00", &AIR, "60.0", 0),
        wire_aged("11:25:00", &AIR, "35.0", 0),
        wire_aged("11:50:00", &AIR, "10.0", 0),
        wire_aged("12:00:00", &AIR, "0.0", 0),
    ];
    api.get(&format!("/stations/readings?{HOUR}&step=25"))
        .is(&answer(vec![member("A", &readings)], r#","step":25"#));
    let [first, .., last] = readings.clone();
    api.get(&format!("/stations/readings?{HOUR}&step=60"))
        .is(&answer(vec![member("A", &[first.clone(), last.clone()])], r#","step":60"#));
    // If the step is longer than the window, only the start and the end of the window are left.
    api.get(&format!("/stations/readings?{HOUR}&step=2147483647"))
        .is(&answer(vec![member("A", &[first, last])], r#","step":2147483647"#));
}

#[test]
fn a_cell_holds_the_latest_reading_at_or_before_it_with_its_age_in_whole_seconds() {
    let mut batches = air("A", &[45]);
    batches.push(report("A", 90_500, &AIR, 7.25, mesonet::Quality::UNCHECKED));
    let readings =
        [wire_aged("11:15:00", &AIR, "45.0", 900), wire_aged("11:58:29.500", &AIR, "7.25", 90)];
    api(batches)
        .get(&format!("/stations/readings?{HOUR}&step=30"))
        .is(&answer(vec![member("A", &readings)], r#","step":30"#));
}

#[test]
fn readings_of_up_to_12_hours_before_the_start_fill_the_first_cells() {
    let batches = [air("A", &[13 * 60, 0]), air("B", &[13 * 60 + 1, 0]), air("C", &[13 * 60])];
    // C has no readings in the window itself, so it is not in the answer.
    let a = member(
        "A",
        &[
            r#"{"timestamp":"2024-08-02T23:00:00Z","type":"airTemperature","typeId":1944015174,"value":780.0,"quality":{"baseQuality":"Unknown","reasonQuality":"None"},"age":43200}"#
                .to_owned(),
            wire_aged("12:00:00", &AIR, "0.0", 0),
        ],
    );
    let b = member("B", &[wire_aged("12:00:00", &AIR, "0.0", 0)]);
    api(batches.concat())
        .get(&format!("/stations/readings?{HOUR}&step=60"))
        .is(&answer(vec![a, b], r#","step":60"#));
}

#[test]
fn max_age_empties_the_cells_whose_reading_is_older() {
    let api = api(air("A", &[70, 15]));
    let young =
        [wire_aged("10:50:00", &AIR, "70.0", 600), wire_aged("11:45:00", &AIR, "15.0", 900)];
    api.get(&format!("/stations/readings?{HOUR}&step=30&maxAge=15m"))
        .is(&answer(vec![member("A", &young)], r#","step":30"#));
    // If no reading of a station is left, the station is not in the answer.
    api.get(&format!("/stations/readings?{HOUR}&step=30&maxAge=1m"))
        .is(r#"{"stations":{},"step":30}"#);
}

#[test]
fn the_most_instantaneous_series_that_is_current_fills_a_cell() {
    let mean = SeriesKey::new(Variable::AirTemperature, IntervalType::Average, 60);
    let mut batches = air("A", &[180]);
    batches.extend([150, 90, 30, 0].map(|ago| reading("A", ago, &mean, ago as f64)));
    let window = "start=2024-08-03T09:00:00Z&end=2024-08-03T12:00:00Z";
    let readings = [
        wire_aged("09:00:00", &AIR, "180.0", 0),
        wire_aged("09:00:00", &AIR, "180.0", 1_800),
        wire_aged("09:00:00", &AIR, "180.0", 3_600),
        // 90 minutes old: still current, though the mean is as new as possible.
        wire_aged("09:00:00", &AIR, "180.0", 5_400),
        wire_aged("10:30:00", &mean, "90.0", 1_800),
        wire_aged("11:30:00", &mean, "30.0", 0),
        wire_aged("12:00:00", &mean, "0.0", 0),
    ];
    api(batches)
        .get(&format!("/stations/readings?{window}&step=30"))
        .is(&answer(vec![member("A", &readings)], r#","step":30"#));
}

#[test]
fn where_no_series_is_current_the_newest_reading_fills_the_cell() {
    let mean = SeriesKey::new(Variable::AirTemperature, IntervalType::Average, 60);
    let mut batches = air("A", &[170]);
    batches.push(reading("A", 160, &mean, 1.0));
    let window = "start=2024-08-03T09:10:00Z&end=2024-08-03T12:00:00Z";
    let readings =
        [wire_aged("09:10:00", &AIR, "170.0", 0), wire_aged("09:20:00", &mean, "1.0", 9_600)];
    api(batches)
        .get(&format!("/stations/readings?{window}&step=200"))
        .is(&answer(vec![member("A", &readings)], r#","step":200"#));
}

#[test]
fn cells_of_a_position_are_in_the_order_of_the_names() {
    let dew_point = instant(Variable::DewPointTemperature);
    let mut batches = air("A", &[60]);
    batches.push(reading("A", 50, &dew_point, 5.0));
    let readings = [
        wire_aged("11:00:00", &AIR, "60.0", 0),
        wire_aged("11:10:00", &dew_point, "5.0", 3_000),
        wire_aged("11:00:00", &AIR, "60.0", 3_600),
    ];
    api(batches)
        .get(&format!("/stations/readings?{HOUR}&step=60&names=dewPointTemperature,airTemperature"))
        .is(&answer(vec![member("A", &readings)], r#","step":60"#));
}

#[test]
fn a_step_is_a_whole_positive_number_of_minutes() {
    let api = Api::new(TestStore::default());
    for (step, got) in [
        ("0", "0"),
        ("-5", "-5"),
        ("1.5", "1.5"),
        ("x", "x"),
        ("", ""),
        ("%2B5", "+5"),
        ("5m", "5m"),
        ("2147483648", "2147483648"),
    ] {
        api.get(&format!("/stations/readings?step={step}")).refuses(
            400,
            &format!("step must be a whole number of minutes from 1 to 2147483647; got \"{got}\""),
        );
    }
}

#[test]
fn without_stations_a_grid_still_tells_its_step() {
    let api = Api::new(TestStore::default());
    api.get("/stations/readings?step=15").is(r#"{"stations":{},"step":15}"#);
}

#[test]
fn a_grid_beyond_the_positions_is_coarsened_to_a_whole_multiple_and_says_so() {
    let config = Config { max_positions: 4, ..Config::default() };
    let api = Api::with(config, store(air("A", &[60, 0])));
    // Eight positions at 9 minutes. Two times 9 leaves five, three times 9 leaves four.
    let readings = [
        wire_aged("11:00:00", &AIR, "60.0", 0),
        wire_aged("11:00:00", &AIR, "60.0", 27 * 60),
        wire_aged("11:00:00", &AIR, "60.0", 54 * 60),
        wire_aged("12:00:00", &AIR, "0.0", 0),
    ];
    api.get(&format!("/stations/readings?{HOUR}&step=9&names=airTemperature")).is(&answer(
        vec![member("A", &readings)],
        concat!(
            r#","step":27,"coarsening":{"requestedStep":9,"factor":3,"limitedBy":"positions","#,
            r#""cells":4,"positions":4}"#
        ),
    ));
    // At the limit nothing is coarsened.
    let got = api.get(&format!("/stations/readings?{HOUR}&step=20&names=airTemperature")).text();
    assert!(got.ends_with(r#"},"step":20}"#), "{got}");
}

#[test]
fn a_grid_beyond_the_cells_is_coarsened_and_fewer_stations_or_names_leave_room() {
    let config = Config { max_cells: 12, ..Config::default() };
    let batches = [air("A", &[60, 0]), air("B", &[60, 0]), air("C", &[60 * 24])].concat();
    let api = Api::with(config, store(batches));
    let rest = |query: &str| {
        let text = api.get(&format!("/stations/readings?{HOUR}&step=10&{query}")).text();
        text[text.rfind("}},").unwrap() + 2..].to_owned()
    };
    // Seven positions. A and B report. C does not, and is not in scope.
    assert_eq!(
        rest("names=airTemperature,mslp"),
        concat!(
            r#","step":30,"coarsening":{"requestedStep":10,"factor":3,"limitedBy":"cells","#,
            r#""cells":12,"positions":3}}"#
        )
    );
    assert_eq!(
        rest("names=airTemperature"),
        concat!(
            r#","step":20,"coarsening":{"requestedStep":10,"factor":2,"limitedBy":"cells","#,
            r#""cells":8,"positions":4}}"#
        )
    );
}

#[test]
fn a_grid_is_never_refused_for_its_size() {
    let config = Config { max_cells: 1, max_positions: 2, ..Config::default() };
    let api = Api::with(config, store(air("A", &[60, 0])));
    let readings = [wire_aged("11:00:00", &AIR, "60.0", 0), wire_aged("12:00:00", &AIR, "0.0", 0)];
    api.get(&format!("/stations/readings?{HOUR}&step=1")).is(&answer(
        vec![member("A", &readings)],
        concat!(
            r#","step":60,"coarsening":{"requestedStep":1,"factor":60,"limitedBy":"cells","#,
            r#""cells":16,"positions":2}"#
        ),
    ));
}

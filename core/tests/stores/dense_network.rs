//! A dense network: thousands of stations in one city.

use std::time::Instant;

use mesonet::observation::{EarlierPlaces, Identifiers};
use mesonet::{
    Batch, Intake, IntervalType, LonLat, MemoryStore, Quality, Reading, Report, SeriesKey, Station,
    StationId, Variable,
};

fn station(index: usize, spread_deg: f64) -> Station {
    let turn = index as f64 * 2.399_963;
    let far = spread_deg * (index as f64 / 3000.0).sqrt();
    Station {
        id: StationId::new("TEST", &index.to_string()),
        network: "TEST".to_owned(),
        native_id: index.to_string(),
        name: index.to_string(),
        station_type: None,
        coordinates: LonLat::new(-100.0 + far * turn.cos(), 45.5 + far * turn.sin()).unwrap(),
        sensor_height_m: 0.0,
        altitude_m: Some(100.0),
        identifiers: Identifiers::default(),
        earlier_places: EarlierPlaces::default(),
    }
}

fn report(index: usize, minute: i64) -> Report {
    let reading = |variable, value| Reading {
        series: SeriesKey::new(variable, IntervalType::Instantaneous, 0),
        value,
        quality: Quality::UNCHECKED,
        qualifier: None,
    };
    Report {
        station: StationId::new("TEST", &index.to_string()),
        ts_ms: minute * 60_000,
        revision: 0,
        present_weather: None,
        text: None,
        readings: vec![
            reading(Variable::AirTemperature, 20.0 + (index % 7) as f64 * 0.1),
            reading(Variable::DewPointTemperature, 10.0 + (index % 5) as f64 * 0.1),
            reading(Variable::Mslp, 1013.0 + (index % 3) as f64 * 0.1),
            reading(Variable::WindSpeed, 10.0 + (index % 11) as f64),
            reading(Variable::WindDirection, 180.0),
        ],
    }
}

#[test]
#[ignore = "it only measures"]
fn measure() {
    for (count, spread_deg) in
        [(500, 0.25), (1000, 0.25), (2000, 0.25), (3000, 0.25), (5000, 0.35), (3000, 20.0)]
    {
        let (store, intake) = (MemoryStore::default(), Intake::default());
        for hour in 0..2 {
            let started = Instant::now();
            let batch = Batch {
                stations: (0..count).map(|index| station(index, spread_deg)).collect(),
                reports: (0..count).map(|index| report(index, 60 * (hour + 100))).collect(),
            };
            intake.take_in(&store, batch).unwrap();
            println!("{count} over {spread_deg}: hour {hour} {:?}", started.elapsed());
        }
        for one in 0..3 {
            let started = Instant::now();
            let batch = Batch { stations: vec![], reports: vec![report(one * 7, 60 * 102 + 5)] };
            intake.take_in(&store, batch).unwrap();
            println!("  one: {:?}", started.elapsed());
        }
        // After all others, which have later readings already.
        for one in 0..2 {
            let started = Instant::now();
            let batch =
                Batch { stations: vec![], reports: vec![report(one * 7 + 1, 60 * 100 + 30)] };
            intake.take_in(&store, batch).unwrap();
            println!("  late: {:?}", started.elapsed());
        }
    }
}

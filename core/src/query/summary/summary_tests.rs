use std::fmt::Write;

use super::*;
use crate::intake::{FeedFile, Intake};
use crate::store::MemoryStore;
use crate::{StationId, geo::BBox};

/// Two airports: 24 hourly reports of Buffalo on 2024-08-03, one of Toronto.
fn store() -> MemoryStore {
    let mut csv = "raw_text,station_id,observation_time,latitude,longitude\n".to_owned();
    for hour in 0..24 {
        writeln!(
            csv,
            "KBUF 03{hour:02}54Z 24012KT 10SM {:02}/12 A2991 RMK AO2 P0001,KBUF,\
             2024-08-03T{hour:02}:54:00Z,42.94,-78.73",
            10 + hour / 2
        )
        .unwrap();
    }
    csv += "CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
    let store = MemoryStore::default();
    let file = FeedFile::new("metars.csv", 0);
    Intake::default().read_file(&store, csv.as_bytes(), &file).unwrap();
    store
}

fn query(period: Period, offset: &str) -> SummaryQuery {
    let (from, to) = ("2024-08-02".parse().unwrap(), "2024-08-04".parse().unwrap());
    SummaryQuery::of_dates(period, from, to, offset.parse().unwrap()).unwrap()
}

#[test]
fn days_hours_and_months_of_a_station_are_of_the_same_readings() {
    let (store, buffalo) = (store(), StationId::new("METAR", "KBUF"));
    let of = |query: &SummaryQuery| station_summaries(&store, buffalo, query).unwrap().unwrap();
    let count =
        |summary: &Summary| summary.of(Variable::AirTemperature).map_or(0, |found| found.count);
    let counts =
        |period, offset| of(&query(period, offset)).summaries.iter().map(count).collect::<Vec<_>>();
    assert_eq!(counts(Period::Day, "Z"), [0, 24, 0]);
    // The first five reports are of the evening before.
    assert_eq!(counts(Period::Day, "-05:00"), [5, 19, 0]);
    assert_eq!(counts(Period::Month, "-05:00"), [24]);
    assert_eq!(counts(Period::Window, "Z"), [24]);
    let hours = counts(Period::Hour, "Z");
    assert_eq!((hours.len(), hours[24..48].iter().all(|&count| count == 1)), (72, true));
    // A report of 23:54 has the amount of the hour until 00:00, which is the last of the day.
    let day = of(&query(Period::Day, "Z")).summaries[1].clone();
    let total = day.of(Variable::Precipitation).unwrap().total.clone().unwrap();
    assert_eq!((total.readings, total.coverage.percent()), (24, 100.0));
    let month = of(&query(Period::Month, "Z")).summaries[0].clone();
    let of_month = month.of(Variable::Precipitation).unwrap().total.clone().unwrap();
    assert_eq!((of_month.value, of_month.readings), (total.value, 24));
    assert_eq!(of_month.coverage.of_minutes, 31 * 24 * 60);
    assert!(
        station_summaries(&store, StationId::new("METAR", "KXXX"), &query(Period::Day, "Z"))
            .unwrap()
            .is_none()
    );
}

#[test]
fn many_stations_have_the_summary_that_each_has_alone() {
    let store = store();
    let mut one_day = query(Period::Day, "Z");
    one_day.windows.drain(..1);
    one_day.windows.truncate(1);
    let found = area_summaries(&store, &Scope::Everywhere, &one_day).unwrap();
    assert_eq!(found.stations.len(), 2);
    for (station, summary) in &found.stations {
        let alone = station_summaries(&store, *station, &one_day).unwrap().unwrap();
        assert_eq!(alone.summaries[0], *summary);
    }
    let bbox = BBox::new(-80.0, 43.0, -79.0, 44.0).unwrap();
    let found = area_summaries(&store, &Scope::Box(bbox), &one_day).unwrap();
    assert_eq!(found.stations.len(), 1);
    one_day.windows = vec![HalfOpenWindow::new(0, DAY_MS).unwrap()];
    assert_eq!(area_summaries(&store, &Scope::Everywhere, &one_day).unwrap().stations, []);
}

#[test]
fn only_named_variables_are_in_the_answer_and_the_wind_is_whole_all_the_same() {
    let (store, toronto) = (store(), StationId::new("METAR", "CYYZ"));
    let mut query = query(Period::Day, "Z");
    query.variables = vec![Variable::WindSpeed];
    let found = station_summaries(&store, toronto, &query).unwrap().unwrap();
    let day = &found.summaries[1];
    let names: Vec<_> = day.variables.iter().map(|of| of.variable).collect();
    assert_eq!(names, [Variable::WindSpeed]);
    let wind = day.wind.as_ref().unwrap();
    assert_eq!(wind.prevailing().map(|of| of.from_degrees), Some(240.0));
    let peak = wind.peak.unwrap();
    assert_eq!((peak.speed.value, peak.from_degrees), (37.04, Some(240.0)));
    query.variables = vec![Variable::AirTemperature];
    let found = station_summaries(&store, toronto, &query).unwrap().unwrap();
    assert!(found.summaries[1].wind.is_none() && found.summaries[1].degree_days.is_some());
}

#[test]
fn an_answer_has_the_value_its_quality_and_what_made_it() {
    let (store, buffalo) = (store(), StationId::new("METAR", "KBUF"));
    let mut query = query(Period::Day, "Z");
    query.windows.drain(..1);
    query.windows.truncate(1);
    let found = station_summaries(&store, buffalo, &query).unwrap().unwrap();
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["period"], "day");
    assert_eq!(json["utcOffset"], "+00:00");
    let day = &json["periods"][0];
    assert_eq!(
        (&day["name"], &day["start"]),
        (&"2024-08-03".into(), &"2024-08-03T00:00:00Z".into())
    );
    let max = &day["variables"]["airTemperature"]["max"];
    assert_eq!(max["value"], 21.0);
    assert_eq!(max["coveragePercent"], 100.0);
    assert_eq!(max["from"]["timestamp"], "2024-08-03T22:54:00Z", "the first of two");
    assert_eq!(max["from"]["typeId"], 1_944_015_174);
    assert!(max["quality"]["baseQuality"].is_string());
    let rain = &day["variables"]["precipitation"]["total"];
    assert_eq!(rain["value"], 6.096);
    assert_eq!(rain["from"]["parts"].as_array().unwrap().len(), 24);
    assert_eq!(rain["from"]["parts"][23]["timestamp"], "2024-08-03T23:54:00Z");
    assert_eq!(day["degreeDays"]["heating"], 2.5);
    let area = area_summaries(&store, &Scope::Stations(vec![buffalo]), &query).unwrap();
    let area = serde_json::to_value(&area).unwrap();
    assert_eq!(area["stations"][buffalo.to_string()]["variables"], day["variables"]);
}

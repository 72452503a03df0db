use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, TimestampMillisecondType};

use super::*;
use crate::feed::{FileContext, Kind};

/// The texts of a column of a dictionary; empty where there is none.
fn text(batch: &RecordBatch, name: &str) -> Vec<String> {
    let column = batch.column_by_name(name).unwrap();
    let dictionary = column.as_any_dictionary();
    let values = dictionary.values().as_string::<i32>();
    if values.is_empty() {
        return vec![String::new(); column.len()];
    }
    let keys = dictionary.normalized_keys();
    let text = |(row, key): (usize, &usize)| {
        if column.is_null(row) { String::new() } else { values.value(*key).to_owned() }
    };
    keys.iter().enumerate().map(text).collect()
}

#[test]
fn each_reading_of_two_stations_is_a_row() {
    let file = b"METAR KBUF 312354Z 21014KT P10SM 02/M07 A2973 RMK PK WND 22030/2331=\n\
                 METAR COR CYYZ 312300Z 24012KT 29/17 A2991=\n";
    let mut table = FeedTable::default();
    assert!(table.is_empty());
    let mut reports = Vec::new();
    let context = FileContext::new("sa.txt", 1_577_836_800_000);
    Kind::MetarBulletin
        .read(&mut &file[..], &context, &mut |item| reports.extend(item.into_report()))
        .unwrap();
    table.extend(&reports);
    let readings: usize = reports.iter().map(|of| of.readings() as usize).sum();
    assert_eq!(table.len(), readings);
    let batch = table.finish().unwrap();
    assert_eq!(batch.num_rows(), readings);

    let mut row = 0;
    let (stations, names) = (text(&batch, "station"), text(&batch, "observation_name"));
    let qualifiers = text(&batch, "qualifier");
    let times = batch.column_by_name("timestamp").unwrap();
    let times = times.as_primitive::<TimestampMillisecondType>();
    let values = batch.column_by_name("value").unwrap().as_primitive::<Float64Type>();
    for of in &reports {
        for report in of.earlier.iter().chain([&of.report]) {
            for reading in &report.readings {
                assert_eq!(stations[row], of.station.native_id);
                assert_eq!(names[row], reading.series.variable.name());
                assert_eq!(times.value(row), report.ts_ms);
                assert_eq!(values.value(row), reading.value);
                assert_eq!(qualifiers[row], reading.qualifier.map_or("", Qualifier::name));
                row += 1;
            }
        }
    }
    assert_eq!(row, readings);
    assert!(qualifiers.contains(&"at_least".to_owned()), "P10SM");
    assert_eq!(text(&batch, "network"), vec!["METAR"; readings]);
    assert_eq!(text(&batch, "station_name"), vec![""; readings]);
}

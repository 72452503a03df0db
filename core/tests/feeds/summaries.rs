//! Summaries of a year of real reports against the summaries of the day and of the month that NCEI
//! published for the same airport.
//!
//! `DS3505_KAMW_2016.txt.gz` has both: the reports of Ames, Iowa, as METAR, and 366 records of the
//! kind SOD and 12 of the kind SOM. The summaries here are made of the METAR reports alone.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::File;
use std::io::Read;

use flate2::read::GzDecoder;
use mesonet::feed::{metar_peak_wind, metar_report, read_bulletins};
use mesonet::observation::{Qualifier, QualityCode, SeriesId};
use mesonet::summary::{
    LocalDate, Period, Rules, SeriesColumns, Summarizer, Summary, UtcOffset, periods,
};
use mesonet::time::{DAY_MS, parse_instant};
use mesonet::{HalfOpenWindow, Report, Series, Variable};

/// Central standard time, the whole year.
const OFFSET_MINUTES: i32 = -6 * 60;

fn text() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/isd/DS3505_KAMW_2016.txt.gz");
    let mut bytes = Vec::new();
    GzDecoder::new(File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The columns of one series.
#[derive(Debug)]
struct Columns {
    series: Series,
    readings: BTreeMap<i64, (f64, u8)>,
}

/// The readings of all METAR reports in the remarks of the records.
fn readings(text: &str) -> BTreeMap<SeriesId, Columns> {
    let mut bulletins = String::new();
    for record in text.lines() {
        let report = ["METAR KAMW ", "SPECI KAMW "].iter().find_map(|word| record.find(word));
        if let Some(at) = report {
            let report = &record[at..];
            let end = report.find("EQD").unwrap_or(report.len());
            writeln!(bulletins, "{} {}=", &record[15..27], report[..end].trim_end()).unwrap();
        }
    }
    let mut all = BTreeMap::new();
    let mut add = |report: Report| {
        for reading in report.readings {
            let of = all.entry(reading.series.id()).or_insert_with(|| Columns {
                series: Series::from(reading.series.clone()),
                readings: BTreeMap::new(),
            });
            let reading = (reading.value, Qualifier::code(reading.qualifier));
            of.readings.insert(report.ts_ms, reading);
        }
    };
    let read = read_bulletins(bulletins.as_bytes(), 0, |item| {
        metar_peak_wind(&item).map(&mut add);
        add(metar_report(&item));
    });
    assert!(read.unwrap().read > 11_000);
    all
}

/// The summary of each of some periods.
fn summaries(readings: &BTreeMap<SeriesId, Columns>, dates: [&str; 2]) -> Vec<Summary> {
    let unchecked = QualityCode::from(mesonet::Quality::UNCHECKED);
    let columns: Vec<_> = readings
        .values()
        .map(|of| {
            let ts_ms: Vec<i64> = of.readings.keys().copied().collect();
            let value: Vec<f64> = of.readings.values().map(|reading| reading.0).collect();
            let qualifier: Vec<u8> = of.readings.values().map(|reading| reading.1).collect();
            (&of.series, ts_ms, value, vec![unchecked; of.readings.len()], qualifier)
        })
        .collect();
    let columns: Vec<_> = columns
        .iter()
        .map(|(series, ts_ms, value, quality, qualifier)| {
            SeriesColumns::new(series, ts_ms, value, quality, qualifier).unwrap()
        })
        .collect();
    let rules = Rules { degree_day_base_c: (65.0 - 32.0) / 1.8, ..Rules::of_network("METAR") };
    let mut summarizer = Summarizer::new(rules);
    let [from, to] = dates.map(|date| date.parse::<LocalDate>().unwrap());
    let days = periods(Period::Day, from, to, UtcOffset::from_minutes(OFFSET_MINUTES).unwrap());
    days.unwrap()
        .map(|day| {
            let mut summary = Summary::begin(day);
            summarizer.summarize(&columns, day, &mut summary);
            summary
        })
        .collect()
}

/// What a published summary says after a label; `None` if it says nothing.
fn said<'t>(record: &'t str, label: &str) -> Option<&'t str> {
    // The next label may follow without a blank: "24 HR MAX TEMP (F): 2224 HR MIN TEMP (F):  6".
    let value = record.split_once(label)?.1.trim_start();
    let value = value.split_once("24 HR MIN").map_or(value, |(before, _)| before);
    let end =
        value.find(|c: char| !matches!(c, '0'..='9' | '.' | '-' | 'T')).unwrap_or(value.len());
    Some(&value[..end]).filter(|value| !value.is_empty())
}

fn fahrenheit(celsius: f64) -> f64 {
    celsius * 1.8 + 32.0
}

/// The days by the instants at which they begin, with the records that summarise them: a record has
/// the last minute of its day.
fn published(text: &str) -> BTreeMap<i64, &str> {
    let of_day = text.lines().filter(|record| record.get(41..44) == Some("SOD"));
    of_day
        .map(|record| {
            let (date, time) = (&record[15..23], &record[23..27]);
            let end_ms = parse_instant(&format!("{date}T{time}Z")).unwrap() + 60_000;
            (end_ms - DAY_MS, record)
        })
        .collect()
}

#[test]
fn a_year_of_days_is_as_published() {
    let text = text();
    let published = published(&text);
    assert_eq!(published.len(), 366);
    let days = summaries(&readings(&text), ["2015-12-31", "2016-12-30"]);
    // Of each element: on how many days it is compared, and on how many it is the same.
    let mut compared: BTreeMap<&str, [u32; 2]> = BTreeMap::new();
    let mut note = |what, is_same: bool| {
        let of = compared.entry(what).or_default();
        *of = [of[0] + 1, of[1] + u32::from(is_same)];
    };
    for day in &days {
        let record = published[&day.window.start_ms()];
        let number = |label| said(record, label).unwrap().parse::<f64>().unwrap();
        let air = day.of(Variable::AirTemperature).unwrap();
        let (max, min) = (air.max.unwrap(), air.min.unwrap());
        assert_eq!((max.from.interval_minutes, max.coverage.percent()), (1440, 100.0));
        note("max", fahrenheit(max.value).round() == number("24 HR MAX TEMP (F):"));
        // Where it cools until midnight, the least of the day is of the minutes after the last report.
        let colder = fahrenheit(min.value).round() - number("24 HR MIN TEMP (F):");
        assert!((0.0..=2.0).contains(&colder), "{colder}");
        note("min", colder == 0.0);
        let total = day.of(Variable::Precipitation).and_then(|of| of.total.as_ref());
        let is_trace = total.is_some_and(|total| total.qualifier == Some(Qualifier::Trace));
        // METAR leaves out the amount of a dry hour.
        let inches = total.map_or(0.0, |total| total.value / 25.4);
        match said(record, "24 HR PRECIPITATION (IN):").unwrap() {
            "T" => note("trace", is_trace),
            theirs => {
                let apart = (inches - theirs.parse::<f64>().unwrap()).abs();
                assert!(apart < 0.031, "{inches} in, published {theirs} in");
                note("precipitation", apart < 0.005 && !is_trace);
            }
        }
        // A peak below 26 kt has no remark, and gusts between the reports are in none.
        let wind = day.wind.as_ref().unwrap();
        if let Some(peak) = wind.peak {
            let apart = peak.speed.value / 1.609_344 - number("PEAK WIND SPEED (MPH):");
            assert!(apart < 1.5, "{apart}");
            note("peak", apart > -1.5);
        }
        // The published degree days are of whole °F.
        let degree_days = day.degree_days.unwrap();
        for (ours, label) in [
            (degree_days.heating, "HEATING DEGREE DAYS:"),
            (degree_days.cooling, "COOLING DEGREE DAYS:"),
        ] {
            assert!((ours * 1.8 - number(label)).abs() <= 1.5, "{label} {ours}");
        }
        // Of the first day the file has the last five hours only.
        let mean = day.of(Variable::WindSpeed).unwrap().mean.unwrap();
        if mean.coverage.percent() == 100.0 {
            let apart = mean.value() / 1.609_344 - number("AVERAGE WIND SPEED (MPH):");
            note("mean wind", apart.abs() < 1.0);
        }
    }
    let wanted = [
        ("max", [366, 366]),
        ("mean wind", [337, 337]),
        ("min", [366, 352]),
        ("peak", [246, 198]),
        ("precipitation", [311, 305]),
        ("trace", [55, 53]),
    ];
    assert_eq!(compared, BTreeMap::from(wanted));
}

#[test]
fn the_months_of_a_year_are_as_published() {
    let text = text();
    let readings = readings(&text);
    let offset = UtcOffset::from_minutes(OFFSET_MINUTES).unwrap();
    let mut months = 0;
    for record in text.lines().filter(|record| record.get(41..44) == Some("SOM")) {
        let (date, time) = (&record[15..23], &record[23..27]);
        let last = LocalDate::at(parse_instant(&format!("{date}T{time}Z")).unwrap(), offset);
        let [from, to] = [format!("{}01", &last.to_string()[..8]), last.to_string()];
        if &*from < "2016" {
            continue;
        }
        let days = summaries(&readings, [&from, &to]);
        let window = (days[0].window.start_ms(), days[days.len() - 1].window.end_ms());
        let mut month = Summary::begin(HalfOpenWindow::new(window.0, window.1).unwrap());
        for day in &days {
            month.add(day);
        }
        let number = |label| said(record, label).unwrap().parse::<f64>().unwrap();
        let air = month.of(Variable::AirTemperature).unwrap();
        let (max, min) = (fahrenheit(air.max.unwrap().value), fahrenheit(air.min.unwrap().value));
        assert_eq!(max.round(), number("MAX TMP:"), "{from}");
        assert!((0.0..=1.0).contains(&(min.round() - number("MIN TMP:"))), "{from}");
        for (ours, label) in [(air.mean_of_max, "AVG DLY MAX:"), (air.mean_of_min, "AVG DLY MIN:")]
        {
            let ours = ours.unwrap();
            assert_eq!(ours.terms as usize, days.len());
            let apart = (fahrenheit(ours.value()) - number(label)).abs();
            assert!(apart < 0.35, "{label} {apart} {from}");
        }
        let total = month.of(Variable::Precipitation).unwrap().total.as_ref().unwrap();
        // The published total of March, 0.99 in, is not that of its published days, 2.26 in.
        let theirs = if from == "2016-03-01" { 2.26 } else { number("PCP MTOT:") };
        let apart = (total.value / 25.4 - theirs).abs();
        assert!(apart < 0.031, "{apart} in {from}");
        let degree_days = month.degree_days.unwrap();
        for (ours, label) in
            [(degree_days.heating, "HDD MTH TOT:"), (degree_days.cooling, "CDD MTH TOT:")]
        {
            assert!((ours * 1.8 - number(label)).abs() < 12.0, "{label} {} {from}", ours * 1.8);
        }
        months += 1;
    }
    assert_eq!(months, 11);
}

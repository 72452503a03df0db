use std::io::{self, Read};

use super::*;
use crate::feed::summary::FilePlace;

fn document(features: &[String]) -> String {
    format!(
        r#"{{"@context": [1, {{"a": "b"}}], "type": "FeatureCollection", "features": [{}], "pagination": {{"next": "x"}}}}"#,
        features.join(", ")
    )
}

/// A feature of a station at a minute of 02 UTC.
fn feature(id: &str, minute: &str, elements: &str) -> String {
    format!(
        r#"{{"id": "https://api.weather.gov/stations/{id}/observations/x", "type": "Feature",
            "geometry": {{"type": "Point", "coordinates": [-73.8, 42.75]}},
            "properties": {{"station": "https://api.weather.gov/stations/{id}",
            "timestamp": "2026-07-15T02:{minute}:00+00:00"{elements}}}}}"#
    )
}

fn element(name: &str, unit: &str, value: &str, flag: &str) -> String {
    format!(r#", "{name}": {{"unitCode": "{unit}", "value": {value}, "qualityControl": "{flag}"}}"#)
}

fn read_text(text: &str) -> (Vec<FeedReport>, Summary) {
    let mut all = Vec::new();
    let summary = read_nws_observations(text.as_bytes(), |item| all.push(item)).unwrap();
    (all, summary)
}

fn shown(item: &FeedReport) -> Vec<String> {
    let shown = item.report.readings.iter().map(|one| {
        let series = &one.series;
        let (of, minutes) = (series.interval_type, series.interval_minutes);
        let unit = &series.reported_unit;
        format!("{} {of} {minutes} {} {unit} {}", series.variable, one.value, one.quality.base)
    });
    shown.collect()
}

fn one(id: &str, minute: &str, elements: &str) -> (FeedReport, Summary) {
    let (mut all, summary) = read_text(&document(&[feature(id, minute, elements)]));
    assert_eq!((all.len(), summary.refused), (1, 0));
    (all.remove(0), summary)
}

#[test]
fn flags_become_verdicts() {
    use BaseQuality::{Doubtful, Error, Good, Suppressed, Unknown};
    let verdict = |flag: &str| {
        let (item, _) = one("KALB", "51", &element("temperature", "wmoUnit:degC", "25", flag));
        item.report.readings[0].quality
    };
    for (flag, base) in [
        ("V", Good),
        ("S", Good),
        ("G", Good),
        ("qc:V", Good),
        ("Q", Doubtful),
        ("X", Error),
        ("B", Suppressed),
        ("C", Unknown),
        ("Z", Unknown),
        ("T", Unknown),
        ("", Unknown),
        ("VV", Unknown),
    ] {
        assert_eq!(verdict(flag).base, base, "{flag}");
    }
    assert_eq!(verdict("Z"), Quality::UNCHECKED);
}

#[test]
fn amounts_of_the_last_hour_by_report() {
    let amount = element("precipitationLastHour", "wmoUnit:mm", "2.5", "V");
    let metar = r#", "rawMessage": "KALB 150251Z AUTO""#;
    let hour = ["precipitation Cumulative 60 2.5 mm Good"];
    let of = |minute: &str, elements: &str| {
        let (item, summary) = one("KALB", minute, elements);
        (shown(&item), summary.without_variable.total())
    };
    assert_eq!(of("51", &format!("{amount}{metar}")), (hour.map(str::to_owned).to_vec(), 0));
    assert_eq!(of("20", &format!("{amount}{metar}")), (vec![], 1));
    assert_eq!(of("20", &amount), (hour.map(str::to_owned).to_vec(), 0));
    let longer = element("precipitationLast6Hours", "unit:m", "0.0025", "V");
    assert_eq!(of("20", &longer).0, ["precipitation Cumulative 360 2.5 mm Good"]);
}

#[test]
fn the_wind_of_stations_other_than_aerodromes_has_no_known_interval() {
    let wind = [
        element("windSpeed", "wmoUnit:km_h-1", "18", "V"),
        element("windDirection", "wmoUnit:degree_(angle)", "270", "V"),
        element("windGust", "wmoUnit:km_h-1", "36", "V"),
    ]
    .concat();
    let (airport, _) = one("KALB", "51", &wind);
    assert_eq!(
        shown(&airport),
        [
            "windSpeed Average 2 18 km/h Good",
            "windDirection Average 2 270 ° Good",
            "windGust Max 10 36 km/h Good"
        ]
    );
    assert_eq!(airport.station.sensor_height_m, Some(10.0));
    let (road, _) = one("AV047", "51", &wind);
    assert_eq!(shown(&road)[0], "windSpeed Unknown 0 18 km/h Good");
    assert_eq!((road.station.sensor_height_m, road.station.station_type), (None, None));
}

#[test]
fn a_direction_of_zero_is_that_of_a_calm() {
    let count = |speed: &str| {
        let wind = [
            element("windSpeed", "wmoUnit:km_h-1", speed, "V"),
            element("windDirection", "wmoUnit:degree_(angle)", "0", "V"),
        ];
        one("KALB", "51", &wind.concat()).0.report.readings.len()
    };
    assert_eq!((count("0"), count("5"), count("null")), (2, 1, 0));
}

#[test]
fn present_weather_by_group_or_in_words() {
    let weather = |list: &str| {
        one("KALB", "51", &format!(r#", "presentWeather": {list}"#)).0.report.present_weather
    };
    let words =
        |words: &[&str]| Some(words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
    assert_eq!(
        weather(r#"[{"rawString": "-RA"}, {"rawString": "VCTS"}]"#),
        words(&["Light rain", "Thunderstorm in the vicinity"])
    );
    assert_eq!(
        weather(
            r#"[{"intensity": "light", "modifier": null, "weather": "snow_grains", "rawString": "", "inVicinity": true}]"#
        ),
        words(&["Light snow grains in the vicinity"])
    );
    assert_eq!(weather("[]"), words(&[]));
    assert_eq!(weather("null"), None);
    assert_eq!(weather("[1, {}]"), words(&[]));
}

#[test]
fn a_single_feature_is_read_whatever_the_order_of_its_members() {
    let text = feature("KALB", "51", &element("temperature", "wmoUnit:degC", "25", "V"));
    let (all, summary) = read_text(&text);
    assert_eq!((all.len(), summary.refused), (1, 0));
    assert_eq!(shown(&all[0]), ["airTemperature Instantaneous 0 25 °C Good"]);
}

#[test]
fn malformed_observations_are_counted_with_their_place() {
    let good = feature("KALB", "51", &element("temperature", "wmoUnit:degC", "25", "V"));
    let features = [
        good.clone(),
        good.replace("2026-07-15T", "yesterday "),
        good.replace("\"timestamp\"", "\"time\""),
        good.replace("\"station\"", "\"place\""),
        "7".to_owned(),
        r#"{"type": "Feature", "properties": null}"#.to_owned(),
        good.replace("KALB", &"K".repeat(65)),
        good.replace("\"value\": 25", "\"value\": \"25\""),
        good.replace("-73.8", "-473.8"),
    ];
    let (all, summary) = read_text(&document(&features));
    assert_eq!((all.len(), summary.read, summary.refused), (3, 3, 6));
    let reasons: Vec<_> = summary.refusals.iter().map(|one| one.reason.to_string()).collect();
    assert_eq!(reasons[1..5], ["no timestamp", "no station", "no properties", "no properties"]);
    assert_eq!(summary.unread_values.iter().collect::<Vec<_>>(), [("temperature", 1)]);
    assert_eq!(all[2].station.place, None);
    let FilePlace::Byte(byte) = summary.refusals[0].place else { panic!("no byte") };
    let document = document(&features);
    assert!(document[byte as usize..].trim_start_matches([',', ' ']).starts_with(&features[1]));
}

#[test]
fn a_document_of_another_kind_is_an_error() {
    let error =
        |text: &str| read_nws_observations(text.as_bytes(), |_| {}).unwrap_err().to_string();
    assert!(error("").starts_with("unreadable JSON at byte 0: EOF"));
    assert!(error("[]").contains("expected a FeatureCollection or a Feature"));
    assert!(error("{}").contains("neither features nor properties"));
    assert!(error(r#"{"features": {}}"#).contains("expected an array of objects"));
    assert!(error(r#"{"features": []} {}"#).contains("trailing characters"));
}

#[test]
fn an_overlong_part_ends_the_reading_in_bounded_memory() {
    let long = "x".repeat(MAX_FEATURE_BYTES);
    let good = feature("KALB", "51", "");
    let text =
        document(&[good.clone(), feature("KALB", "51", &format!(r#", "icon": "{long}""#)), good]);
    let mut read = 0;
    let error = read_nws_observations(text.as_bytes(), |_| read += 1).unwrap_err().to_string();
    assert_eq!(read, 1);
    assert!(error.ends_with("more than 262144 bytes without the end of a feature"), "{error}");
    // Many small ones may be longer together.
    let many = vec![feature("KALB", "51", ""); 2_000];
    let (all, _) = read_text(&document(&many));
    assert_eq!(all.len(), 2_000);
}

/// A source that fails after its first bytes.
struct FailingReader<'b>(&'b [u8]);

impl Read for FailingReader<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match self.0.read(to)? {
            0 => Err(io::Error::other("the line broke")),
            count => Ok(count),
        }
    }
}

#[test]
fn a_failing_source_is_reported() {
    let text = document(&[feature("KALB", "51", "")]);
    let source = io::BufReader::new(FailingReader(&text.as_bytes()[..200]));
    let error = read_nws_observations(source, |_| {}).unwrap_err();
    assert!(matches!(error, FeedError::Io { .. }), "{error}");
    assert!(error.to_string().contains("the line broke"), "{error}");
}

/// api.weather.gov calls it `barometricPressure`.
#[test]
fn an_altimeter_setting_is_stored_as_one() {
    let at = |id: &str, elevation_m: &str, hpa: &str| {
        let pressure = element("barometricPressure", "wmoUnit:Pa", &format!("{hpa}00"), "V");
        let elevation =
            format!(r#", "elevation": {{"unitCode": "wmoUnit:m", "value": {elevation_m}}}"#);
        let (item, summary) = one(id, "51", &format!("{elevation}{pressure}"));
        let readings = item.report.readings.iter().map(|one| {
            let star = if one.series.calculated { "*" } else { "" };
            format!("{}{star} {:.1} {}", one.series.variable, one.value, one.quality.base)
        });
        (readings.collect::<Vec<_>>(), summary.without_variable)
    };
    // As in KDDH's observation of 2026-07-15, at 250 m.
    let (readings, _) = at("KDDH", "250", "1011");
    assert_eq!(readings, ["altimeterSetting 1011.0 Good", "barometricPressure* 981.7 Good"]);
    // A value that only fits the height of the station is its pressure.
    assert_eq!(at("KLXV", "3029", "704").0, ["barometricPressure 704.0 Good"]);
    // For a station that is not an aerodrome it is not certain, unless the height decides.
    let (readings, left_out) = at("COOPDS", "250", "1011");
    assert_eq!(readings, [""; 0]);
    assert_eq!(left_out.iter().collect::<Vec<_>>(), [("barometricPressure in doubt, COOPDS", 1)]);
    let (readings, _) = at("COOPDS", "3029", "1015");
    assert_eq!(readings[0], "altimeterSetting 1015.0 Good");
}

#[test]
fn what_the_message_says_beside_the_numbers_is_kept() {
    use crate::observation::Qualifier::{AtLeast, LessThan, Trace};
    let qualifiers = |raw: &str, metres: &str| {
        let seen = element("visibility", "wmoUnit:m", metres, "C");
        let rain = element("precipitationLastHour", "wmoUnit:mm", "0", "C");
        let raw = format!(r#", "rawMessage": "{raw}""#);
        let (item, _) = one("KALB", "51", &format!("{raw}{seen}{rain}"));
        let readings = item.report.readings.iter();
        readings.map(|one| (one.series.variable, one.qualifier)).collect::<Vec<_>>()
    };
    let (seen, rain) = (Variable::Visibility, Variable::Precipitation);
    let raw = "KALB 150251Z 00000KT 10SM CLR 20/19 A3001 RMK AO2 P0000";
    assert_eq!(qualifiers(raw, "16090"), [(seen, Some(AtLeast)), (rain, Some(Trace))]);
    // This does not apply if the message says something else.
    assert_eq!(qualifiers(raw, "8050"), [(seen, None), (rain, Some(Trace))]);
    let raw = "KALB 150251Z 00000KT M1/4SM FG VV001 20/20 A3001 RMK AO2";
    assert_eq!(qualifiers(raw, "400"), [(seen, Some(LessThan)), (rain, None)]);
    assert_eq!(qualifiers("", "16090"), [(seen, None), (rain, None)]);
}

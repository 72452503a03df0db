use super::*;
use crate::observation::IntervalType::{Average, Unknown};
use crate::observation::Variable;

/// A record with the additional data, and its length.
fn record(kind: &str, time: &str, additional: &str) -> String {
    format!(
        "{:04}72547294989{time}7+41991-093619{kind:<5}+0291KAMW V030\
         2505N00465027435MN0160935N5-00835-01175102805{additional}",
        additional.len()
    )
}

fn read_text(text: &str) -> (Vec<FeedReport>, Summary) {
    let mut all = Vec::new();
    let summary = read_isd(text.as_bytes(), |item| all.push(item)).unwrap();
    (all, summary)
}

/// The readings of the additional sections, and the weather.
fn added(kind: &str, additional: &str) -> (Vec<String>, Option<Vec<String>>) {
    let (all, summary) = read_text(&record(kind, "201601010053", additional));
    assert_eq!(summary.refusals, []);
    let shown = all[0].report.readings.iter().skip(7).map(|one| {
        let series = &one.series;
        let (of, minutes) = (series.interval_type, series.interval_minutes);
        format!("{} {of} {minutes} {} {}", series.variable, one.value, one.quality.base)
    });
    (shown.collect(), all[0].report.present_weather.clone())
}

#[test]
fn the_interval_of_the_wind_is_by_type_of_report_and_of_wind() {
    let interval = |kind: &str, wind: &str| {
        let text = record(kind, "201601010053", "").replace("2505N", &format!("2505{wind}"));
        let (all, _) = read_text(&text);
        let series = &all[0].report.readings[0].series;
        (series.interval_type, series.interval_minutes)
    };
    assert_eq!(interval("FM-15", "N"), (Average, 2));
    assert_eq!(interval("FM-16", "N"), (Average, 2));
    assert_eq!(interval("FM-12", "N"), (Average, 10));
    assert_eq!(interval("FM-12", "H"), (Average, 5));
    assert_eq!(interval("FM-12", "R"), (Average, 60));
    assert_eq!(interval("SAO", "T"), (Average, 180));
    assert_eq!(interval("SY-MT", "N"), (Unknown, 0));
    assert_eq!(interval("FM-15", "Q"), (Unknown, 0));
}

#[test]
fn amounts_by_their_condition() {
    let amount = |fields: &str| added("FM-12", &format!("ADDAA1{fields}")).0;
    assert_eq!(amount("06002591"), ["precipitation Cumulative 360 2.5 Good"]);
    assert_eq!(amount("06000021"), ["precipitation Cumulative 360 0 Good"]);
    assert_eq!(amount("06999929"), ["precipitation Cumulative 360 0 Unknown"]);
    assert_eq!(amount("99000192"), ["precipitation Unknown 0 0.1 Doubtful"]);
    assert_eq!(amount("01000531"), ["precipitation Cumulative 60 0.5 Good"]);
    for condition in ["1", "4", "5", "6", "7", "8", "I", "J"] {
        assert_eq!(amount(&format!("060005{condition}1")), [""; 0], "{condition}");
    }
    assert_eq!(amount("06999999"), [""; 0]);
}

#[test]
fn an_hourly_amount_of_a_metar_is_of_an_hour_only_in_the_hourly_report() {
    let amounts = |kind: &str, time: &str| {
        let (all, summary) = read_text(&record(kind, time, "ADDAA101000595AA206001095"));
        let minutes = all[0].report.readings.iter().skip(7).map(|one| one.series.interval_minutes);
        (minutes.collect::<Vec<_>>(), summary.without_variable.total())
    };
    assert_eq!(amounts("FM-15", "201601010053"), (vec![60, 360], 0));
    assert_eq!(amounts("FM-15", "201601010000"), (vec![60, 360], 0));
    assert_eq!(amounts("FM-15", "201601010025"), (vec![360], 1));
    assert_eq!(amounts("FM-16", "201601010053"), (vec![360], 1));
    assert_eq!(amounts("FM-12", "201601010025"), (vec![60, 360], 0));
}

#[test]
fn sections_by_their_letters() {
    let (readings, weather) = added(
        "FM-12",
        "ADDAJ100259100000099AL10600391KA1120M+01231KA2120N-01239MA1999999099165\
         OA149902631OA250601001OC101505RH1024M079D4SA1-0181UA1M100251039EQDQ01+000032SCOTLC",
    );
    assert_eq!(
        readings,
        [
            "snowDepth Instantaneous 0 25 Good",
            "snowfall Cumulative 360 30 Good",
            "airTemperature Max 720 12.3 Good",
            "airTemperature Min 720 -12.3 Unknown",
            "barometricPressure Instantaneous 0 991.6 Good",
            "windGust Unknown 0 94.68 Good",
            "windSpeed Max 360 36 Good",
            "relativeHumidity Average 1440 79 Unknown",
            "seaSurfaceTemperature Instantaneous 0 -1.8 Good",
            "waveHeight Instantaneous 0 2.5 Good",
        ]
    );
    assert_eq!(weather, None);
}

#[test]
fn tendencies_are_signed_and_layers_are_told_apart() {
    let (readings, _) = added(
        "FM-15",
        "ADDGA1075+007625999GA2095+000305999MA1102645099165MD1750345+9999MD1490009+9999",
    );
    assert_eq!(
        readings,
        [
            "cloudCover Instantaneous 0 7 Good",
            "cloudBaseHeight Instantaneous 0 762 Good",
            "cloudCover Instantaneous 0 8 Good",
            "altimeterSetting Instantaneous 0 1026.4 Good",
            "barometricPressure Instantaneous 0 991.6 Good",
            "pressureTendencyCharacter Unknown 180 7 Good",
            "pressureTendency Cumulative 180 -3.4 Good",
        ]
    );
}

#[test]
fn present_weather_of_three_kinds() {
    let weather = |sections: &str| added("FM-15", &format!("ADD{sections}")).1;
    let words =
        |words: &[&str]| Some(words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
    assert_eq!(weather("AU110020015AU200001015AW1615"), words(&["Light rain", "Mist"]));
    assert_eq!(
        weather("AU137020025AU200070035"),
        words(&["Thunderstorm with heavy rain and hail"])
    );
    // The sign applies to the precipitation.
    assert_eq!(weather("AU107000025AU210020035"), words(&["Thunderstorm with light rain"]));
    assert_eq!(weather("AU130000315"), words(&["Tornado or waterspout"]));
    assert_eq!(weather("MW1381AW1615"), words(&["Blowing snow"]));
    assert_eq!(weather("AW1615AW2101"), words(&["Light rain", "Mist"]));
    assert_eq!(weather("AW1005"), words(&[]));
    // Suspect.
    assert_eq!(weather("AW1616"), words(&[]));
    assert_eq!(weather("MA1102645099165"), None);
}

#[test]
fn remarks_are_not_mistaken_for_sections() {
    let (readings, _) = added("FM-15", "ADDOC101505REMMET010KA1120M+01231");
    assert_eq!(readings, ["windGust Max 10 54 Good"]);
    let (readings, _) = added("FM-15", "REMMET010KA1120M+01231");
    assert_eq!(readings, [""; 0]);
}

#[test]
fn an_unknown_section_ends_the_record_and_is_counted() {
    let (all, summary) = read_text(&record("FM-15", "201601010053", "ADDOC101505ZZ1123OC201505"));
    assert_eq!(all[0].report.readings.len(), 8);
    assert_eq!(summary.without_variable.iter().collect::<Vec<_>>(), [("ZZ", 1)]);
}

#[test]
fn the_report_of_the_higher_rank_wins_whatever_the_order() {
    let revision = |kind: &str| read_text(&record(kind, "201601010053", "")).0[0].report.revision;
    let ranks = ["SOD", "FM-12", "FM-15", "FM-16"].map(revision);
    assert!(ranks.is_sorted_by(|one, next| one < next));
    assert_eq!(revision("AUTO"), revision("FM-12"));
}

#[test]
fn damaged_records_are_refused_without_affecting_others() {
    let good = record("FM-15", "201601010053", "");
    let lines = [
        good.clone(),
        good[..104].to_owned(),
        good.replace("0000725", "0010725"),
        good.replace("0000725", "x000725"),
        good.replace("20160101", "20161301"),
        good.replace("-0083", "-0x83"),
        good.replace("72547294989", "7254 294989"),
        record("FM-15", "201601010053", "ADDOC10x505"),
        "x".repeat(20_000),
        good,
    ];
    let (all, summary) = read_text(&lines.join("\n"));
    assert_eq!((all.len(), summary.refused), (2, 8));
    let reasons: Vec<_> = summary.refusals.iter().map(|one| one.reason.to_string()).collect();
    assert_eq!(reasons[0], "no control and mandatory section");
    assert_eq!(reasons[1], "\"0010\" is not a count of the characters that follow");
    assert_eq!(reasons[2], "\"x000\" is not a count of the characters that follow");
    assert!(reasons[3].contains("2016-13-01"), "{}", reasons[3]);
    assert_eq!(reasons[4], "\"-0x83\" is not a number");
    assert_eq!(reasons[5], "\"7254 2\" is not a station number of the air force or of NCEI");
    assert_eq!(reasons[6], "\"0x50\" is not a number");
    assert_eq!(reasons[7], "longer than 16384 bytes, the most that is read");
}

#[test]
fn missing_values_are_not_readings() {
    let missing = "0000010010999991988010100004+99999+999999FM-12+999999999V020\
                   999999999999999999999999999+99999+99999999999";
    assert_eq!(missing.len(), 105);
    let (all, _) = read_text(missing);
    let FeedStation { place, altitude_m, name, .. } = &all[0].station;
    assert_eq!((place, altitude_m, name), (&None, &None, &None));
    assert_eq!(all[0].report.readings, []);
}

#[test]
fn traces_and_the_highest_visibility_say_so() {
    let of = |text: &str, variable: Variable| {
        let (all, _) = read_text(text);
        let readings = all[0].report.readings.iter().filter(|one| one.series.variable == variable);
        readings.map(|one| (one.value, one.qualifier)).collect::<Vec<_>>()
    };
    let with = |additional: &str| record("FM-12", "201601010053", additional);
    let trace = [(0.0, Some(Qualifier::Trace))];
    for (fields, expected) in
        [("01000025", trace), ("01999925", trace), ("01000095", [(0.0, None)])]
    {
        assert_eq!(of(&with(&format!("ADDAA1{fields}")), Variable::Precipitation), expected);
    }
    assert_eq!(of(&with("ADDAJ100003100000099"), Variable::SnowDepth), trace);
    assert_eq!(of(&with("ADDAJ100009100000099"), Variable::SnowDepth), [(0.0, None)]);
    assert_eq!(of(&with(""), Variable::Visibility), [(16.093, None)]);
    let far = with("").replace("0160935N", "1600005N");
    assert_eq!(of(&far, Variable::Visibility), [(160.0, Some(Qualifier::AtLeast))]);
}

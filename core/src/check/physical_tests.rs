use super::*;
use crate::check::{Checker, Explanation, SeriesReadings};
use crate::feed::{FileContext, Kind};
use crate::geo::LonLat;
use crate::observation::Variable;
use crate::time::HOUR_MS;

fn site(altitude_m: Option<f64>) -> StationSite {
    StationSite { coordinates: LonLat::new(-79.6, 43.7).unwrap(), altitude_m }
}

const IMPOSSIBLE: Quality = Quality { base: BaseQuality::Error, reason: ReasonQuality::Range };

fn explained(key: &SeriesKey, value: f64, source: Quality, altitude_m: Option<f64>) -> Explanation {
    let of = SeriesReadings { key, ts_ms: &[HOUR_MS], value: &[value], source: &[source] };
    let checker = Checker::shared();
    let explanation = checker.explain(&site(altitude_m), &[of], 0, 0).unwrap();
    let verdicts = checker.check_station(&site(altitude_m), &[of]).unwrap();
    assert_eq!(verdicts[0][0], explanation.verdict, "the fast pass says what is explained");
    explanation
}

fn passed_by_its_source(key: &SeriesKey, value: f64, altitude_m: Option<f64>) -> Quality {
    explained(key, value, Quality::GOOD, altitude_m).verdict
}

fn instantaneous(variable: Variable) -> SeriesKey {
    SeriesKey::new(variable, IntervalType::Instantaneous, 0)
}

#[test]
fn absolute_zero_holds_above_the_verdict_of_the_source() {
    for variable in [
        Variable::AirTemperature,
        Variable::DewPointTemperature,
        Variable::WetBulbTemperature,
        Variable::SeaSurfaceTemperature,
        Variable::SubsurfaceTemperature,
    ] {
        let key = instantaneous(variable);
        assert_eq!(passed_by_its_source(&key, -273.2, None), IMPOSSIBLE, "{variable}");
        // Beyond our own limits, which do not override a source's verdict.
        assert_eq!(passed_by_its_source(&key, -273.1, None), Quality::GOOD, "{variable}");
    }
    let bucket =
        SeriesKey { bucket: "1 m".into(), ..instantaneous(Variable::SubsurfaceTemperature) };
    assert_eq!(passed_by_its_source(&bucket, -300.0, None), IMPOSSIBLE);
}

#[test]
fn pressures_are_possible_at_the_height_of_their_station() {
    let (mslp, station) =
        (instantaneous(Variable::Mslp), instantaneous(Variable::BarometricPressure));
    for (value, is_possible) in [(499.0, false), (501.0, true), (1099.0, true), (1101.0, false)] {
        let expected = if is_possible { Quality::GOOD } else { IMPOSSIBLE };
        assert_eq!(passed_by_its_source(&mslp, value, Some(5000.0)), expected, "{value}");
        assert_eq!(passed_by_its_source(&station, value, Some(0.0)), expected, "{value}");
    }
    // 500 hPa at sea level are 258 hPa at 5,000 m, 1100 hPa are 604.
    for (value, is_possible) in [(240.0, false), (265.0, true), (590.0, true), (620.0, false)] {
        let expected = if is_possible { Quality::GOOD } else { IMPOSSIBLE };
        assert_eq!(passed_by_its_source(&station, value, Some(5000.0)), expected, "{value}");
    }
    // Without an altitude, only pressures that are possible nowhere are impossible.
    assert_eq!(passed_by_its_source(&station, 300.0, None), Quality::GOOD);
    assert_eq!(passed_by_its_source(&station, 100.0, None), IMPOSSIBLE);
    assert_eq!(passed_by_its_source(&station, 1200.0, None), IMPOSSIBLE);
}

#[test]
fn more_rain_than_has_ever_fallen_is_impossible() {
    let total =
        |minutes| SeriesKey::new(Variable::Precipitation, IntervalType::Cumulative, minutes);
    for (minutes, value, is_possible) in [
        (60, 401.0, true),
        (60, 402.0, false),
        (10, 402.0, false),
        (180, 1203.0, true),
        (180, 1204.0, false),
        (1440, 1825.0, true),
        (1440, 1826.0, false),
        (2880, 3600.0, true),
        // The length of the interval is unknown.
        (0, 1000.0, true),
        (60, -0.1, false),
    ] {
        let expected = if is_possible { Quality::GOOD } else { IMPOSSIBLE };
        assert_eq!(
            passed_by_its_source(&total(minutes), value, None),
            expected,
            "{minutes} {value}"
        );
    }
}

#[test]
fn the_explanation_names_the_physical_limit_and_nothing_else_of_what_the_source_passed() {
    let key = instantaneous(Variable::DewPointTemperature);
    let found = explained(&key, -273.2, Quality::GOOD, None);
    assert_eq!((found.checks.len(), found.decided_by), (1, Some(crate::check::Check::Range)));
    let limit = &found.checks[0].limits[0];
    assert_eq!((limit.name, limit.min, limit.max), ("possible", Some(-273.15), None));
    assert_eq!(limit.source, "absolute zero (SI)");
    assert!(explained(&key, -20.0, Quality::GOOD, None).checks.is_empty());
    // Beside other verdicts of the source, the worse counts.
    let doubtful = Quality { base: BaseQuality::Doubtful, reason: ReasonQuality::Unknown };
    assert_eq!(explained(&key, -273.2, doubtful, None).verdict, IMPOSSIBLE);
    let missing = Quality { base: BaseQuality::Missing, reason: ReasonQuality::Missing };
    assert_eq!(explained(&key, -273.2, missing, None).verdict, missing);
    assert_eq!(explained(&key, -273.2, Quality::UNCHECKED, None).verdict, IMPOSSIBLE);
}

#[test]
fn a_record_that_its_archive_passed_below_absolute_zero_is_an_error() {
    let path = "/../tests/data/reported/tables/isd_dewpoint_below_absolute_zero.txt";
    let text = std::fs::read_to_string(format!("{}{path}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let mut all = Vec::new();
    let file = FileContext::new("isd.txt", 0);
    Kind::Isd
        .read(&mut text.as_bytes(), &file, &mut |item| all.extend(item.into_report()))
        .unwrap();
    let readings = &all[0].report.readings;
    let of = readings.iter().find(|one| one.series.variable == Variable::DewPointTemperature);
    let dew_point = of.unwrap();
    assert_eq!((dew_point.value, dew_point.quality), (-273.2, Quality::GOOD));
    assert_eq!(passed_by_its_source(&dew_point.series, dew_point.value, None), IMPOSSIBLE);
}

#[test]
fn what_is_not_converted_is_judged_by_the_widest_limits_of_its_units() {
    let verdict = |variable, unit: &'static str, value| {
        let key = SeriesKey { reported_unit: unit.into(), ..instantaneous(variable) };
        explained(&key, value, Quality::UNCHECKED, None).verdict
    };
    let air = Variable::AirTemperature;
    // F: 300 °F are 149 °C, 70 °F are 21 °C; a farad is no temperature.
    assert_eq!(verdict(air, "F", 300.0), IMPOSSIBLE);
    assert_eq!(verdict(air, "F", 70.0), Quality::UNCHECKED, "it may be right, and may not");
    // An unknown unit may be kelvins.
    assert_eq!(verdict(air, "zzz", 300.0), Quality::UNCHECKED);
    assert_eq!(verdict(air, "", 400.0), IMPOSSIBLE);
    assert_eq!(verdict(air, "zzz", -500.0), IMPOSSIBLE);
    let doubtful = Quality { base: BaseQuality::Doubtful, reason: ReasonQuality::Range };
    assert_eq!(verdict(air, "F", -70.0), doubtful, "-56.7 °C in January at 43.7° N");
    assert_eq!(verdict(Variable::WindSpeed, "zzz", -1.0), IMPOSSIBLE);
    // A unit of another quantity says nothing about this quantity.
    assert_eq!(verdict(air, "hPa", 900.0), Quality::UNCHECKED);
}

use super::*;
use crate::check::Checker;
use crate::geo::LonLat;
use crate::observation::{BaseQuality, IntervalType, ReasonQuality, SeriesKey};
use crate::time::HOUR_MS;

fn site(place: usize) -> StationSite {
    let coordinates = LonLat::new(-100.0 + 0.15 * place as f64, 45.5).unwrap();
    StationSite { coordinates, altitude_m: Some(200.0) }
}

fn air() -> SeriesKey {
    SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0)
}

#[test]
fn a_station_alone_has_the_verdicts_of_its_own_checks() {
    let (air, dew) =
        (air(), SeriesKey::new(Variable::DewPointTemperature, IntervalType::Instantaneous, 0));
    let ts_ms: Vec<i64> = (0..6).map(|hour| hour * HOUR_MS).collect();
    let doubted = Quality { base: BaseQuality::Doubtful, reason: ReasonQuality::Unknown };
    let source = [
        Quality::UNCHECKED,
        doubted,
        Quality::UNCHECKED,
        Quality::UNCHECKED,
        Quality::UNCHECKED,
        Quality::GOOD,
    ];
    let series = [
        SeriesReadings {
            key: &air,
            ts_ms: &ts_ms,
            value: &[20.0, 20.5, f64::NAN, 140.0, f64::INFINITY, 21.0],
            source: &source,
        },
        SeriesReadings { key: &dew, ts_ms: &ts_ms[1..3], value: &[30.0, 9999.0], source: &[] },
    ];
    let alone = NetworkStation { site: site(0), series: &series };
    let verdicts = Intake::default().check_network(&[alone]).unwrap();
    assert_eq!(verdicts, [Checker::default().check_station(&site(0), &series).unwrap()]);
    assert_eq!(verdicts[0][0][2].reason, ReasonQuality::Missing);
    assert_eq!(verdicts[0][0][4].reason, ReasonQuality::ValueType);
}

/// A step of 5 °C that the others do not share, in more readings than are taken in at once.
#[test]
fn a_step_that_the_network_does_not_share_is_doubtful_from_its_first_hour() {
    let (key, hours) = (air(), AT_ONCE / 7 + 100);
    let ts_ms: Vec<i64> = (0..hours as i64).map(|hour| hour * HOUR_MS).collect();
    let step = hours - 3;
    let value = |place: usize, hour: usize| {
        let shared = 15.0 + 3.0 * libm::sin(hour as f64 / 24.0 * std::f64::consts::TAU);
        let shift = if place == 3 && hour >= step { 5.0 } else { 0.0 };
        shared + 0.1 * ((hour * 7 + place * 3) % 5) as f64 + shift
    };
    let values: Vec<Vec<f64>> =
        (0..7).map(|place| (0..hours).map(|hour| value(place, hour)).collect()).collect();
    let series: Vec<[SeriesReadings<'_>; 1]> = values
        .iter()
        .map(|value| [SeriesReadings { key: &key, ts_ms: &ts_ms, value, source: &[] }])
        .collect();
    let stations: Vec<NetworkStation<'_>> = series
        .iter()
        .enumerate()
        .map(|(place, series)| NetworkStation { site: site(place), series })
        .collect();
    let verdicts = Intake::default().check_network(&stations).unwrap();
    for (place, verdicts) in verdicts.iter().enumerate() {
        for (hour, verdict) in verdicts[0].iter().enumerate() {
            let wrong = place == 3 && hour >= step;
            assert_eq!(verdict.base == BaseQuality::Doubtful, wrong, "{place} {hour} {verdict:?}");
        }
    }
}

#[test]
fn what_cannot_be_checked_is_named() {
    let key = air();
    let refused = |series: &[SeriesReadings<'_>]| {
        let stations = [
            NetworkStation { site: site(0), series: &[] },
            NetworkStation { site: site(1), series },
        ];
        Intake::default().check_network(&stations).unwrap_err().to_string()
    };
    let series = |ts_ms, value| SeriesReadings { key: &key, ts_ms, value, source: &[] };
    assert_eq!(
        refused(&[series(&[0, 0], &[1.0, 2.0])]),
        "station 1: series 0: times must ascend; reading 1 is not later than the one before"
    );
    assert_eq!(
        refused(&[series(&[0], &[1.0]), series(&[5], &[1.0])]),
        "station 1: series 1 has the key of one before it"
    );
    assert!(refused(&[series(&[0], &[])]).starts_with("station 1: series 0: array lengths"));
}

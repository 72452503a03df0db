use super::super::tests::{NOON_MS, report, station, stations};
use super::*;
use crate::observation::{BaseQuality, Batch};
use crate::store::MemoryStore;
use crate::time::HOUR_MS;

/// Seven stations that report pressure and temperature every hour for two days; the fourth has a
/// barometer that is off.
fn two_days(off_hpa: f64) -> (Intake, MemoryStore) {
    let (intake, store) = (Intake::default(), MemoryStore::default());
    let reports = (0..7).flat_map(|place| {
        (0..48).map(move |hour| {
            let off_hpa = if place == 3 { off_hpa } else { 0.0 };
            let mslp = 1010.0 + 0.1 * f64::from(hour % 7) + off_hpa;
            let air = 15.0 + 0.5 * f64::from(hour % 5);
            let values = [(Variable::Mslp, mslp), (Variable::AirTemperature, air)];
            report(place, i64::from(hour) * 60, 0, &values)
        })
    });
    let batch = Batch { stations: stations(), reports: reports.collect() };
    intake.take_in(&store, batch).unwrap();
    (intake, store)
}

fn quality(off_hpa: f64, place: usize) -> StationQuality {
    let (intake, store) = two_days(off_hpa);
    let window = ClosedWindow::new(NOON_MS, NOON_MS + 47 * HOUR_MS).unwrap();
    intake.station_quality(&store, station(place).id, window).unwrap().unwrap()
}

fn of<'a>(quality: &'a StationQuality, name: &str) -> &'a VariableQuality {
    quality.variables.iter().find(|of| of.variable == name).unwrap()
}

/// Like KCWN, KSQI and KPRN in the reports of October 2022, whose pressures are 5 to 15 hPa off.
#[test]
fn a_barometer_that_is_off_is_found_and_its_neighbours_are_not_blamed() {
    let biased = quality(-5.0, 3);
    let mslp = of(&biased, "mslp").neighbours.as_ref().unwrap();
    assert_eq!((mslp.unit, mslp.compared, mslp.share_flagged), ("hPa", 48, 1.0));
    assert!((mslp.median_difference + 5.0).abs() < 0.1, "{mslp:?}");
    assert!((mslp.mean_difference + 5.0).abs() < 0.1 && mslp.spread < 0.1, "{mslp:?}");
    assert!(mslp.median_standardized_difference < -5.0, "{mslp:?}");
    let said = [mslp.median_difference, mslp.spread, mslp.median_standardized_difference];
    assert!(said.iter().all(|value| format!("{value}").len() <= "-100.25".len()), "{said:?}");
    let days: Vec<_> = mslp.days.iter().map(|of| (of.day.as_str(), of.compared)).collect();
    assert_eq!(days, [("2024-08-03", 12), ("2024-08-04", 24), ("2024-08-05", 12)]);
    let months = &of(&biased, "mslp").months;
    assert_eq!((months[0].month.as_str(), months[0].readings), ("2024-08", 48));
    let [rate] = &months[0].verdicts[..] else { panic!("{months:?}") };
    assert_eq!((rate.quality.base, rate.readings, rate.share), (BaseQuality::Doubtful, 48, 1.0));
    for place in [0, 2, 4, 6] {
        let neighbour = quality(-5.0, place);
        let mslp = of(&neighbour, "mslp").neighbours.as_ref().unwrap();
        assert_eq!(mslp.share_flagged, 0.0, "{place}");
        assert!(mslp.median_difference.abs() < 0.5, "{place}: {mslp:?}");
    }
}

/// Too little for the check, but not for the report.
#[test]
fn a_small_bias_shows_though_no_reading_is_doubtful() {
    let biased = quality(1.5, 3);
    let mslp = of(&biased, "mslp").neighbours.as_ref().unwrap();
    assert_eq!(mslp.share_flagged, 0.0);
    assert!((mslp.median_difference - 1.5).abs() < 0.1, "{mslp:?}");
    let air = of(&biased, "airTemperature").neighbours.as_ref().unwrap();
    assert!(air.median_difference.abs() < 0.1, "{air:?}");
}

#[test]
fn an_unknown_station_has_no_quality_and_an_empty_window_no_variables() {
    let (intake, store) = two_days(0.0);
    let window = ClosedWindow::new(0, HOUR_MS).unwrap();
    let unknown = StationId::new("TEST", "none");
    assert_eq!(intake.station_quality(&store, unknown, window).unwrap(), None);
    let quality = intake.station_quality(&store, station(0).id, window).unwrap().unwrap();
    assert_eq!(quality.variables, []);
}

/// The days are those at the end of the window: no more days are read than a report may have.
#[test]
fn a_long_window_is_cut_at_its_start() {
    let (intake, store) = two_days(0.0);
    let window = ClosedWindow::new(i64::MIN, NOON_MS + DAY_MS).unwrap();
    let quality = intake.station_quality(&store, station(0).id, window).unwrap().unwrap();
    assert_eq!(quality.start, Iso8601(NOON_MS + DAY_MS - STATION_QUALITY_MAX_MS));
    let end = ClosedWindow::new(i64::MAX - 1, i64::MAX).unwrap();
    assert!(intake.station_quality(&store, station(0).id, end).unwrap().is_some());
}

#[test]
fn the_median_of_an_even_number_is_between_the_middle_two() {
    assert_eq!(median(vec![3.0]), 3.0);
    assert_eq!(median(vec![4.0, 1.0, 2.0, 100.0]), 3.0);
}

use mesonet::store::no_verdicts;
use mesonet::time::parse_instant;
use mesonet::{
    Batch, IntervalType, MemoryStore, Quality, Reading, Report, SeriesKey, Store, Variable,
};
use proptest::prelude::*;

use super::*;
use crate::testing::station;

const KEPT_MS: i64 = 400 * DAY_MS;

fn at(text: &str) -> i64 {
    parse_instant(text).unwrap()
}

/// The first cutoff of a record that had readings when the server started.
fn first(now: &str, newest: Option<&str>) -> Option<i64> {
    let mut cutoff = Cutoff::of_record(None, false);
    cutoff.look(&known(at(now), 0, newest.map(at)))
}

fn known(now_ms: i64, ran_h: u64, newest_ms: Option<i64>) -> CutoffInputs {
    let ran = Duration::from_secs(3600 * ran_h);
    CutoffInputs { span_ms: KEPT_MS, now_ms, ran, newest_ms, oldest_ms: newest_ms }
}

#[test]
fn a_record_that_is_fed_loses_what_is_too_old() {
    let cutoff = first("2026-11-22T12:00:00Z", Some("2026-11-22T11:58:00Z"));
    assert_eq!(cutoff, Some(at("2025-10-18T11:58:00Z")));
    // A clock that is behind keeps more.
    let cutoff = first("2026-11-01T12:00:00Z", Some("2026-11-22T11:58:00Z"));
    assert_eq!(cutoff, Some(at("2025-09-27T12:00:00Z")));
}

#[test]
fn a_clock_that_jumps_ahead_and_a_record_that_is_not_fed_lose_nothing() {
    for now in ["2026-11-22T12:00:01Z", "2026-12-22T12:00:00Z", "2030-01-01T00:00:00Z"] {
        let cutoff = first(now, Some("2026-11-22T12:00:00Z"));
        assert_eq!(cutoff, Some(at("2025-10-18T12:00:00Z")), "{now}");
    }
    let mut cutoff = Cutoff::of_record(None, false);
    let end = CutoffInputs { span_ms: i64::MAX, ..known(i64::MIN, 0, Some(i64::MAX)) };
    assert_eq!(cutoff.look(&end), Some(i64::MIN));
}

#[test]
fn a_record_without_readings_has_no_cutoff() {
    assert_eq!(first("2030-01-01T00:00:00Z", None), None);
}

/// A pushed bulletin, dated by a clock that was 92 days ahead, once moved the cutoff by 92 days.
#[test]
fn a_clock_that_is_ahead_moves_the_cutoff_by_two_days_a_day_at_most() {
    let now_ms = at("2026-11-22T12:00:00Z");
    let mut cutoff = Cutoff::of_record(None, false);
    let before_ms = cutoff.look(&known(now_ms, 0, Some(now_ms))).unwrap();
    let ahead_ms = now_ms + 92 * DAY_MS;
    // At most ten minutes count between two looks, and the server looks more often.
    let after_ms = cutoff.look(&known(ahead_ms, 5, Some(ahead_ms))).unwrap();
    assert_eq!(after_ms - before_ms, 20 * 60_000);
    // When the clock is right again, the cutoff goes back.
    let again_ms = cutoff.look(&known(now_ms - DAY_MS, 6, Some(ahead_ms))).unwrap();
    assert_eq!(again_ms, now_ms - DAY_MS - KEPT_MS);
}

#[test]
fn in_a_record_that_was_empty_nothing_is_too_old_at_first() {
    let now_ms = at("2026-11-22T12:00:00Z");
    let mut cutoff = Cutoff::of_record(None, true);
    let oldest_ms = Some(now_ms - 500 * DAY_MS);
    let known = CutoffInputs { oldest_ms, ..known(now_ms, 1, Some(now_ms)) };
    assert_eq!(cutoff.look(&known), oldest_ms);
}

/// What happens to a server: its clock and its readings.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The clock is set to the true time plus this many hours.
    Clock(i64),
    /// The server runs for this many minutes and looks every ten.
    Runs(u16),
    /// Readings of this many stations come in, dated by its clock.
    Fed(usize),
    /// The server is started again, this many hours after it stopped.
    Restart(u16),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        prop_oneof![Just(0), -3000..3000_i64].prop_map(Event::Clock),
        (1..600_u16).prop_map(Event::Runs),
        (1..6_usize).prop_map(Event::Fed),
        (0..100_u16).prop_map(Event::Restart),
    ]
}

proptest! {
    /// Whatever the clock does, the cutoff is never later than the true time allows, except for
    /// what it may move while the server runs.
    #[test]
    fn no_history_of_clocks_deletes_more_than_the_server_ran_for(
        events in prop::collection::vec(event(), 1..40),
    ) {
        let start_ms = at("2026-01-01T00:00:00Z");
        let (mut true_ms, mut ahead_ms, mut newest_ms) = (start_ms, 0, start_ms);
        let (mut ran_ms, mut ran_in_all_ms) = (0_i64, 0);
        let mut cutoff = Cutoff::of_record(None, false);
        let mut deleted_to_ms = i64::MIN;
        // A server looks at its start.
        cutoff.look(&CutoffInputs { oldest_ms: Some(start_ms), ..known(start_ms, 0, Some(start_ms)) });
        for event in events {
            match event {
                Event::Clock(hours) => ahead_ms = hours * HOUR_MS,
                Event::Fed(stations) if stations > 1 => newest_ms = newest_ms.max(true_ms + ahead_ms),
                // One station alone does not count.
                Event::Fed(_) => {}
                Event::Restart(hours) => {
                    true_ms += i64::from(hours) * HOUR_MS;
                    cutoff = Cutoff::of_record(cutoff.at_ms, false);
                    ran_ms = 0;
                }
                Event::Runs(minutes) => {
                    for _ in 0..minutes.div_ceil(10) {
                        (ran_ms, ran_in_all_ms) = (ran_ms + 600_000, ran_in_all_ms + 600_000);
                        true_ms += 600_000;
                        let known = CutoffInputs {
                            span_ms: KEPT_MS,
                            now_ms: true_ms + ahead_ms,
                            ran: Duration::from_millis(ran_ms as u64),
                            newest_ms: Some(newest_ms),
                            oldest_ms: Some(start_ms),
                        };
                        let at_ms = cutoff.look(&known).unwrap();
                        deleted_to_ms = deleted_to_ms.max(at_ms);
                        let allowed_ms = start_ms - KEPT_MS + ADVANCE * ran_in_all_ms;
                        prop_assert!(deleted_to_ms <= allowed_ms, "{at_ms} {allowed_ms}");
                        // Readings of the present are never refused, whatever the clock says.
                        prop_assert!(at_ms < known.now_ms);
                    }
                }
            }
        }
        // With a right clock, no reading of the span that is kept is refused.
        let known = CutoffInputs {
            span_ms: KEPT_MS,
            now_ms: true_ms,
            ran: Duration::from_millis(ran_ms as u64),
            newest_ms: Some(newest_ms),
            oldest_ms: Some(start_ms),
        };
        let at_ms = cutoff.look(&known).unwrap();
        prop_assert!(!is_too_late(at_ms, KEPT_MS, true_ms));
    }
}

fn report(id: &str, ts_ms: i64) -> Batch {
    let key = SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0);
    let reading = Reading { series: key, value: 20.0, quality: Quality::GOOD, qualifier: None };
    let station = station(id);
    let reports = vec![Report {
        station: station.id,
        ts_ms,
        revision: 0,
        present_weather: None,
        text: None,
        readings: vec![reading],
    }];
    Batch { stations: vec![station], reports }
}

fn newest(reports: &[(&str, i64)]) -> Option<i64> {
    let store = MemoryStore::default();
    for &(id, hour) in reports {
        store.append(&report(id, hour * HOUR_MS), &mut no_verdicts).unwrap();
    }
    newest_ms(&store).unwrap().map(|newest_ms| newest_ms / HOUR_MS)
}

#[test]
fn a_reading_far_beyond_the_rest_is_not_the_newest() {
    assert_eq!(newest(&[]), None);
    assert_eq!(newest(&[("KAAA", 5)]), Some(5));
    assert_eq!(newest(&[("KAAA", 5), ("KBBB", 6), ("KCCC", 2_000)]), Some(6));
    // Together they count.
    assert_eq!(newest(&[("KAAA", 5), ("KBBB", 1_990), ("KCCC", 2_000)]), Some(2_000));
    // So does one station that goes on while the others have stopped.
    let goes_on = [("KAAA", 5), ("KBBB", 6), ("KCCC", 1_980), ("KCCC", 1_990), ("KCCC", 2_000)];
    assert_eq!(newest(&goes_on), Some(2_000));
}

use axum::http::HeaderMap;
use axum::http::header::ACCEPT_ENCODING;
use mesonet::query::AnswerForm;
use mesonet::store::{VisitWeather, no_verdicts};
use mesonet::{
    Batch, IntervalType, MemoryStore, Quality, Reading, Report, SeriesKey, Store, Variable,
};
use proptest::prelude::*;

use super::*;
use crate::testing::station;

const NAMES: [&str; 5] = ["KAAA", "KBBB", "KCCC", "KDDD", "KEEE"];

fn report(name: &str, minute: i64, value: f64, base: usize) -> Report {
    let quality = [Quality::GOOD, Quality::UNCHECKED][base];
    let series = SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0);
    Report {
        station: station(name).id,
        ts_ms: minute * MINUTE_MS,
        revision: 0,
        present_weather: None,
        text: None,
        readings: vec![Reading { series, value, quality, qualifier: None }],
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is taken in, in whatever order, the body equals one that is made from scratch.
    #[test]
    fn what_is_updated_is_what_is_made_anew(
        steps in prop::collection::vec(
            (prop::collection::vec((0..5_usize, 0..60_i64, -9.0..9.0_f64, 0..2_usize), 0..4), 0..3_i64),
            1..12,
        ),
    ) {
        let store = MemoryStore::default();
        let mut now_ms = 0;
        let mut details = Details::new(&store, now_ms).unwrap();
        for (reports, minutes) in steps {
            now_ms += minutes * MINUTE_MS;
            let stations = reports.iter().map(|report| station(NAMES[report.0])).collect();
            let reports: Vec<Report> = reports
                .into_iter()
                .map(|(at, minute, value, base)| report(NAMES[at], minute, value, base))
                .collect();
            let touched = reports.iter().map(|report| report.station).collect();
            store.append(&Batch { stations, reports }, &mut no_verdicts).unwrap();
            if let Some(updated) = details.updated(&store, now_ms, &touched).unwrap() {
                details = updated;
            }
            if minutes > 0 {
                let anew = Details::new(&store, now_ms).unwrap();
                prop_assert_eq!(details.snapshot.identity(), anew.snapshot.identity());
                prop_assert_eq!(details.of(None, &details.all(), &[], &AnswerForm::default()).unwrap(), anew.of(None, &anew.all(), &[], &AnswerForm::default()).unwrap());
                // A selection that was kept is that of the present.
                let fields = "name,updateTime,qualities".parse().unwrap();
                let selected = details.fields(fields).unwrap();
                let anew_selected = anew.of(Some(fields), &anew.all(), &[], &AnswerForm::default()).unwrap();
                prop_assert_eq!(&selected.identity()[..], &anew_selected);
                // A station alone has the bytes that it would have by itself.
                for StationInDetails { detail, .. } in &anew.members {
                    let (body, content) = details.station(detail).unwrap();
                    prop_assert_eq!(&body, &serde_json::to_vec(detail).unwrap());
                    prop_assert_eq!(content, digest(&[&body]));
                    let other = StationDetail { shares_name: !detail.shares_name, ..detail.clone() };
                    prop_assert!(details.station(&other).is_none());
                }
            }
        }
    }
}

#[test]
fn without_news_nothing_is_made_and_after_a_minute_only_what_has_aged() {
    let store = MemoryStore::default();
    let batch = Batch {
        stations: vec![station("KAAA"), station("KBBB")],
        reports: vec![report("KAAA", 0, 1.0, 0)],
    };
    store.append(&batch, &mut no_verdicts).unwrap();
    let none = HashSet::new();
    let first = Details::new(&store, 0).unwrap();
    assert!(first.updated(&store, MINUTE_MS - 1, &none).unwrap().is_none());
    let second = first.updated(&store, MINUTE_MS, &none).unwrap().unwrap();
    assert!(second.has_body_of(&first), "nothing has changed, so nothing is compressed");
    assert!(second.updated(&store, 2 * MINUTE_MS - 1, &none).unwrap().is_none());
    // The reading leaves the span of the qualities.
    let late_ms = mesonet::query::QUALITIES_SPAN_MS + 1;
    let third = second.updated(&store, late_ms, &none).unwrap().unwrap();
    assert!(!third.has_body_of(&second));
    assert_eq!(
        third.snapshot.identity(),
        Details::new(&store, late_ms).unwrap().snapshot.identity()
    );
    assert!(third.settled().unwrap().is_none(), "nobody has asked for it");
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT_ENCODING, "gzip".parse().unwrap());
    third.snapshot.answer(&headers);
    let settled = third.settled().unwrap().unwrap();
    assert!(settled.has_body_of(&third) && settled.settled().unwrap().is_none());
}

/// A reader that counts the stations that are read.
struct Counting<'a>(&'a MemoryStore, std::sync::atomic::AtomicUsize);

impl Reader for Counting<'_> {
    fn directory(&self) -> Result<Arc<mesonet::store::Directory>, mesonet::store::StoreError> {
        self.0.directory()
    }
    fn scan(
        &self,
        selection: &mesonet::store::Selection<'_>,
        visit: &mut dyn FnMut(usize, &[mesonet::store::SeriesSlice<'_>]),
    ) -> Result<Damage, mesonet::store::StoreError> {
        self.1.fetch_add(selection.stations.len(), std::sync::atomic::Ordering::Relaxed);
        self.0.scan(selection, visit)
    }

    fn scan_weather(
        &self,
        stations: &[StationId],
        window: mesonet::ClosedWindow,
        visit: &mut VisitWeather<'_>,
    ) -> Result<Damage, mesonet::store::StoreError> {
        self.0.scan_weather(stations, window, visit)
    }

    fn held_from_ms(&self) -> Result<i64, mesonet::store::StoreError> {
        self.0.held_from_ms()
    }
}

/// Once, all stations were read and compressed for each report, so the next report waited up to 9
/// s.
#[test]
fn of_three_thousand_stations_only_those_are_read_that_something_came_in_for() {
    let name = |number: usize| format!("K{number:04}");
    let store = MemoryStore::default();
    let stations = (0..3_000).map(|number| station(&name(number))).collect();
    let reports = (0..3_000).map(|number| report(&name(number), 0, 1.0, 0)).collect();
    store.append(&Batch { stations, reports }, &mut no_verdicts).unwrap();
    let counting = Counting(&store, 0.into());
    let read = || counting.1.swap(0, std::sync::atomic::Ordering::Relaxed);
    let details = Details::new(&counting, 0).unwrap();
    assert_eq!(read(), 3_000);
    // One reported, and the verdict on another was revised.
    let batch = Batch { stations: vec![], reports: vec![report("K0007", 1, 2.0, 0)] };
    store.append(&batch, &mut no_verdicts).unwrap();
    let touched = HashSet::from([station("K0008").id]);
    let details = details.updated(&counting, 1_000, &touched).unwrap().unwrap();
    assert_eq!(read(), 2);
    assert_eq!(
        details.snapshot.identity(),
        Details::new(&store, 1_000).unwrap().snapshot.identity()
    );
    // As time passes, a few stations are updated at a time.
    details.updated(&counting, 2 * MINUTE_MS, &HashSet::new()).unwrap().unwrap();
    assert_eq!(read(), MAX_AGED);
}

#[test]
fn a_few_selections_of_fields_are_kept_those_asked_for_last() {
    let store = MemoryStore::default();
    let batch = Batch { stations: vec![station("KAAA")], reports: vec![] };
    store.append(&batch, &mut no_verdicts).unwrap();
    let details = Details::new(&store, 0).unwrap();
    let of = |name: &str| name.parse::<DetailFields>().unwrap();
    let names = ["name", "network", "types", "qualities", "elevation"];
    for name in &names[..4] {
        details.fields(of(name)).unwrap();
    }
    assert!(details.known_fields(of("name")).is_some());
    details.fields(of(names[4])).unwrap();
    let is_kept = names.map(|name| details.known_fields(of(name)).is_some());
    assert_eq!(is_kept, [true, false, true, true, true]);
}

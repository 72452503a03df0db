use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use futures_util::{FutureExt, StreamExt};
use mesonet::store::no_verdicts;
use mesonet::time::MINUTE_MS;
use mesonet::{
    Batch, ClosedWindow, Intake, IntervalType, MemoryStore, Quality, Reading, Report, SeriesKey,
    Store,
};
use tokio::time::timeout;
use tower::ServiceExt;

use super::*;
use crate::config::Config;
use crate::http::stream::PIECE_BYTES;
use crate::state::clock::Clock;
use crate::testing::station;

const SOON: Duration = Duration::from_secs(20);
const NOT_YET: Duration = Duration::from_millis(200);

/// A service whose one answer is some 40 pieces long.
fn state() -> Arc<State> {
    let stations: Vec<_> = (0..50).map(|i| station(&format!("K{i:03}"))).collect();
    let reading = Reading {
        series: SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0),
        value: 20.0,
        quality: Quality::GOOD,
        qualifier: None,
    };
    let report = |station| Report {
        station,
        ts_ms: 0,
        revision: 0,
        present_weather: None,
        text: None,
        readings: vec![reading.clone()],
    };
    let reports = stations.iter().map(|station| report(station.id)).collect();
    let store = MemoryStore::default();
    store.append(&Batch { stations, reports }, &mut no_verdicts).unwrap();
    let clock = Clock::stopped_at(1_400 * MINUTE_MS);
    State::new(Config::default(), clock, Arc::new(store), Intake::default()).unwrap()
}

/// A caller who sends a request and does not read the answer.
async fn ask(state: &Arc<State>) -> Response {
    let window = ClosedWindow::new(0, 1_400 * MINUTE_MS).unwrap();
    let query =
        ReadingsQuery::new(window, [Variable::AirTemperature]).step(Step::from_minutes(1).unwrap());
    let response = answer(
        Arc::clone(state),
        ClientAddr::default(),
        query,
        HashMap::new(),
        Shape::default(),
        Encoding::Identity,
    )
    .await
    .unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    response
}

#[tokio::test]
async fn a_caller_who_goes_away_ends_the_work_on_the_answer_and_gives_its_memory_back() {
    let state = state();
    let mut body = ask(&state).await.into_body().into_data_stream();
    assert!(body.next().await.unwrap().unwrap().len() >= PIECE_BYTES);
    let least = 50 * 1_401 * size_of::<AnswerReading>();
    let most = state.workers.memory_used();
    assert!((least..least * 3).contains(&most), "{most}");
    drop(body);
    let gone = async {
        while state.workers.memory_used() > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(SOON, gone).await.unwrap();
}

#[tokio::test]
async fn a_short_answer_holds_its_own_length_until_it_is_taken() {
    let state = state();
    let request = Request::get("/api/v1/stations/readings?end=1970-01-01T00:00:00Z");
    let app = crate::app(Arc::clone(&state));
    let answer = app.oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    let held = state.workers.memory_used();
    let body = axum::body::to_bytes(answer.into_body(), usize::MAX).await.unwrap();
    assert_eq!(held, body.len());
    drop(body);
    assert_eq!(state.workers.memory_used(), 0);
}

#[tokio::test]
async fn a_small_answer_does_not_wait_while_many_parties_hold_all_that_large_ones_may() {
    let state = state();
    let turns = &state.workers;
    let mut held = Vec::new();
    for client_addr in 1..=20 {
        let greedy = ClientAddr::of([192, 0, 2, client_addr].into());
        while let Some(share) = turns.on_core(greedy, Load::Heavy).now_or_never() {
            held.push(share);
        }
        while let Some(share) = turns.memory(greedy, Load::Heavy, 1 << 20).now_or_never() {
            held.push(share);
        }
    }
    let other = ClientAddr::default();
    assert!(turns.on_core(other, Load::Heavy).now_or_never().is_none());
    assert!(turns.memory(other, Load::Heavy, 1 << 20).now_or_never().is_none());
    let request = Request::get("/api/v1/stations/readings?minLat=0&minLon=0&maxLat=1&maxLon=1");
    let answered = crate::app(Arc::clone(&state)).oneshot(request.body(Body::empty()).unwrap());
    assert_eq!(timeout(SOON, answered).await.unwrap().unwrap().status(), StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_waits_too_long_for_its_turn_is_a_503() {
    let state = state();
    let all = &state.workers;
    let all = all.memory(ClientAddr::of([192, 0, 2, 1].into()), Load::Light, usize::MAX).await;
    let request = || Request::get("/api/v1/stations/readings").body(Body::empty()).unwrap();
    let app = crate::app(Arc::clone(&state));
    let answer = app.clone().oneshot(request()).await.unwrap();
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer.headers().contains_key("x-mesonet-replay"));
    assert!(axum::body::to_bytes(answer.into_body(), 1).await.unwrap().is_empty());
    drop(all);
    assert_eq!(app.oneshot(request()).await.unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn callers_who_do_not_read_hold_no_core() {
    let state = state();
    let cores = std::thread::available_parallelism().unwrap().get();
    let mut waiting = Vec::new();
    for _ in 0..=cores {
        waiting.push(ask(&state).await);
    }
    tokio::time::sleep(NOT_YET).await;
    assert_eq!(
        timeout(SOON, state.work(ClientAddr::default(), Load::Heavy, |_| 1)).await.unwrap(),
        Ok(1)
    );
    // Waiting answers are complete once read.
    for response in waiting {
        let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["stations"].as_object().unwrap().len(), 50);
    }
}

use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use futures_util::StreamExt;
use mesonet::{
    Batch, Intake, IntervalType, LonLat, MINUTE_MS, MemoryStore, Quality, Reading, Report,
    SeriesKey, Store, feed::metar_station, unjudged,
};
use tokio::time::timeout;
use tower::ServiceExt;

use super::*;
use crate::clock::Clock;
use crate::config::Config;
use crate::state::MAX_ANSWERS;
use crate::stream::{PIECE_BYTES, PIECE_PATIENCE};

const SOON: Duration = Duration::from_secs(20);
const NOT_YET: Duration = Duration::from_millis(200);

/// A service whose one answer is some 40 pieces long.
fn state() -> Arc<State> {
    let place = LonLat::new(0.0, 0.0).unwrap();
    let stations: Vec<_> =
        (0..50).map(|i| metar_station(&format!("K{i:03}"), None, place, None)).collect();
    let reading = Reading {
        series: SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0),
        value: 20.0,
        quality: Quality::GOOD,
    };
    let report = |station| Report {
        station,
        ts_ms: 0,
        revision: 0,
        present_weather: None,
        readings: vec![reading.clone()],
    };
    let reports = stations.iter().map(|station| report(station.id)).collect();
    let store = MemoryStore::default();
    store.append(&Batch { stations, reports }, &mut unjudged).unwrap();
    let clock = Clock::stopped_at(1_400 * MINUTE_MS);
    State::new(Config::default(), clock, Arc::new(store), Intake::default()).unwrap()
}

/// A caller who has asked and reads nothing.
async fn ask(state: &Arc<State>) -> Response {
    let query = ReadingsQuery {
        window: ClosedWindow::new(0, 1_400 * MINUTE_MS).unwrap(),
        scope: Scope::Everywhere,
        names: vec![Variable::AirTemperature],
        step: Step::from_minutes(1).ok(),
        max_age_ms: None,
    };
    let response = answer(Arc::clone(state), query, Encoding::Identity).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    response
}

#[tokio::test]
async fn a_caller_who_goes_away_ends_the_work_on_the_answer() {
    let state = state();
    let mut slots = Vec::new();
    for _ in 0..MAX_ANSWERS - 1 {
        slots.push(state.answer_slot().await.unwrap());
    }
    let mut body = ask(&state).await.into_body().into_data_stream();
    assert!(body.next().await.unwrap().unwrap().len() >= PIECE_BYTES);
    assert!(timeout(NOT_YET, state.answer_slot()).await.is_err());
    drop(body);
    assert!(timeout(SOON, state.answer_slot()).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_request_that_waits_too_long_for_its_turn_is_a_503() {
    let state = state();
    let mut slots = Vec::new();
    for _ in 0..MAX_ANSWERS {
        slots.push(state.answer_slot().await.unwrap());
    }
    let request = || Request::get("/api/v1/stations/readings").body(Body::empty()).unwrap();
    let app = crate::app(Arc::clone(&state));
    let answer = app.clone().oneshot(request()).await.unwrap();
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer.headers().contains_key("x-mesonet-replay"));
    assert!(axum::body::to_bytes(answer.into_body(), 1).await.unwrap().is_empty());
    drop(slots);
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
    assert_eq!(timeout(SOON, state.work(|_| 1)).await.unwrap(), Ok(1));
    // What waited is whole once it is read.
    for response in waiting {
        let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["stations"].as_object().unwrap().len(), 50);
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_does_not_read_for_too_long_is_told_that_the_answer_is_not_whole() {
    let state = state();
    let response = ask(&state).await;
    // Time runs on by itself while nothing else is to be done.
    tokio::time::sleep(PIECE_PATIENCE * 2).await;
    let mut body = response.into_body().into_data_stream();
    assert!(body.next().await.unwrap().is_ok());
    while let Some(piece) = body.next().await {
        if piece.is_err() {
            return;
        }
    }
    panic!("the answer ended as if it were whole");
}

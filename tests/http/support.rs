//! A small store whose answers can be written down, and a client of the service.

use std::any::Any;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use mesonet::observation::{EarlierPlaces, Identifiers};
use mesonet::store::{ReaderWrapper, Receipt, StoreError, VerdictFn, no_verdicts};
use mesonet::time::MINUTE_MS;
use mesonet::{
    BaseQuality, Batch, Intake, IntervalType, LonLat, MemoryStore, Quality, Reader, Reading,
    ReasonQuality, Report, SeriesKey, Station, StationId, StationType, Store, Variable,
};
use mesonet_server::{App, Clock, Config, State, app};
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;

use crate::in_clickhouse;
use crate::in_follower::{Followed, Follower, is_asked};

/// 2024-08-03T12:00:00Z: the current time of the service.
pub const NOW_MS: i64 = 1_722_686_400_000;

/// A client with its own service.
pub struct Api {
    runtime: Runtime,
    pub router: App,
    /// The server that takes in what is pushed.
    pub state: Arc<State>,
    /// The server that answers all other requests, if it is another one.
    pub follower: Option<Follower>,
}

/// An answer to the client.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Api {
    /// A service over a store, with the settings of the interface.
    pub fn new(store: impl Store + 'static) -> Self {
        Self::with(Config::default(), store)
    }

    /// A service over a store, with other settings.
    pub fn with(config: Config, store: impl Store + 'static) -> Self {
        Self::at(NOW_MS, config, Arc::new(store))
    }

    /// A service over a store at another time.
    pub fn at<S: Store + 'static>(now_ms: i64, config: Config, store: Arc<S>) -> Self {
        config.check().unwrap();
        let of_test = (&*store as &dyn Any).downcast_ref::<TestStore>();
        if let Some(followed) = of_test.and_then(|store| store.followed.as_ref()) {
            let (state, follower) = followed.serve(now_ms, config);
            return Self { follower: Some(follower), ..Self::of(state) };
        }
        let clock = Clock::stopped_at(now_ms);
        let state = State::new(config, clock, store, Intake::default()).unwrap();
        Self::of(state)
    }

    /// A service over a state.
    pub fn of(state: Arc<State>) -> Self {
        let router = app(Arc::clone(&state));
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        Self { runtime, router, state, follower: None }
    }

    /// Updates the bodies that are made in advance.
    pub fn refresh(&self) {
        self.state.refresh().unwrap();
        if let Some(follower) = &self.follower {
            follower.take_in();
            follower.state.refresh().unwrap();
        }
    }

    /// Sends a request.
    pub fn send(&self, request: Request<Body>) -> Answer {
        match &self.follower {
            Some(follower) => follower.answer(self, request),
            None => self.ask(&self.router, request),
        }
    }

    /// Sends a request to one of the servers.
    pub fn ask(&self, router: &App, request: Request<Body>) -> Answer {
        self.runtime.block_on(async {
            let response = router.clone().oneshot(request).await.unwrap();
            let (head, body) = response.into_parts();
            let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
            Answer { status: head.status, headers: head.headers, body }
        })
    }

    /// Reads a body.
    pub fn bytes(&self, body: Body) -> Bytes {
        self.runtime.block_on(axum::body::to_bytes(body, usize::MAX)).unwrap()
    }

    /// Sends a GET to an address below the prefix.
    pub fn get(&self, path: &str) -> Answer {
        self.get_with(path, &[])
    }

    /// Sends a GET to an address below the prefix, with headers.
    pub fn get_with(&self, path: &str, headers: &[(header::HeaderName, &str)]) -> Answer {
        self.call(Method::GET, &format!("/api/v1{path}"), headers, Body::empty())
    }

    /// Sends a POST of a JSON body to an address below the prefix.
    pub fn post(&self, path: &str, body: impl Into<Body>) -> Answer {
        let json = [(header::CONTENT_TYPE, "application/json")];
        self.call(Method::POST, &format!("/api/v1{path}"), &json, body.into())
    }

    /// Sends any request.
    pub fn call(
        &self,
        method: Method,
        uri: &str,
        headers: &[(header::HeaderName, &str)],
        body: Body,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(name, *value);
        }
        self.send(request.body(body).unwrap())
    }
}

impl Answer {
    /// Returns the body after decoding.
    pub fn bytes(&self) -> Vec<u8> {
        let body = &*self.body;
        let mut bytes = Vec::new();
        match self.header(header::CONTENT_ENCODING) {
            None => return body.to_vec(),
            Some("gzip") => flate2::read::GzDecoder::new(body).read_to_end(&mut bytes).map(drop),
            Some("br") => brotli::Decompressor::new(body, 4096).read_to_end(&mut bytes).map(drop),
            Some("zstd") => zstd::Decoder::new(body).unwrap().read_to_end(&mut bytes).map(drop),
            Some(other) => panic!("an encoding that was not asked for: {other}"),
        }
        .unwrap();
        bytes
    }

    /// Returns the body as text.
    pub fn text(&self) -> String {
        String::from_utf8(self.bytes()).unwrap()
    }

    /// Returns a header as text.
    pub fn header(&self, name: impl header::AsHeaderName) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Asserts a 200 with this JSON body.
    #[track_caller]
    pub fn is(&self, body: &str) {
        assert_eq!((self.status, &*self.text()), (StatusCode::OK, body));
        assert_eq!(self.header(header::CONTENT_TYPE), Some("application/json"));
    }

    /// Asserts a refusal whose body is this text as a bare JSON string.
    #[track_caller]
    pub fn refuses(&self, status: u16, text: &str) {
        let body = serde_json::to_string(text).unwrap();
        assert_eq!((self.status.as_u16(), &*self.text()), (status, &*body));
        assert_eq!(self.header(header::CONTENT_TYPE), Some("application/json"));
    }

    /// Asserts this status and an empty body.
    #[track_caller]
    pub fn is_empty(&self, status: u16) {
        assert_eq!((self.status.as_u16(), &*self.text()), (status, ""));
    }
}

/// Returns the id of a station of the network TEST.
pub fn id(native_id: &str) -> StationId {
    StationId::new("TEST", native_id)
}

/// Returns a batch with a station at a place, without reports.
pub fn station(native_id: &str, lon: f64, lat: f64) -> Batch {
    let station = Station {
        id: id(native_id),
        network: "TEST".to_owned(),
        native_id: native_id.to_owned(),
        name: format!("Station {native_id}"),
        station_type: Some(StationType::OpenCountry),
        coordinates: LonLat::new(lon, lat).unwrap(),
        sensor_height_m: 10.0,
        altitude_m: None,
        identifiers: Identifiers::default(),
        earlier_places: EarlierPlaces::default(),
    };
    Batch { stations: vec![station], reports: vec![] }
}

/// Returns a batch with one reading, this many minutes before now.
pub fn reading(native_id: &str, minutes_ago: i64, series: &SeriesKey, value: f64) -> Batch {
    report(native_id, minutes_ago * MINUTE_MS, series, value, Quality::UNCHECKED)
}

/// Returns a batch with one reading, this many milliseconds before now, with its verdict.
pub fn report(
    native_id: &str,
    ms_ago: i64,
    series: &SeriesKey,
    value: f64,
    quality: Quality,
) -> Batch {
    let reading = Reading { series: series.clone(), value, quality, qualifier: None };
    let report = Report {
        station: id(native_id),
        ts_ms: NOW_MS - ms_ago,
        revision: 0,
        present_weather: None,
        text: None,
        readings: vec![reading],
    };
    Batch { stations: vec![], reports: vec![report] }
}

/// An empty store: in memory, in a database of its own if the tests run on ClickHouse, or in a
/// record that a follower serves.
pub struct TestStore {
    store: Arc<dyn Store>,
    followed: Option<Arc<Followed>>,
}

impl Default for TestStore {
    fn default() -> Self {
        match in_clickhouse::fresh() {
            Some(store) => Self { store, followed: None },
            None if is_asked() => Self::followed(),
            None => Self::in_memory(),
        }
    }
}

impl TestStore {
    /// An empty store of a server with this data folder. A test writes to the store.
    pub fn beside(data: &Path) -> Self {
        if is_asked() { Self::of(Followed::new(Some(data))) } else { Self::in_memory() }
    }

    /// A record that a follower serves.
    pub fn followed() -> Self {
        Self::of(Followed::new(None))
    }

    fn of(followed: Arc<Followed>) -> Self {
        Self { store: followed.store(), followed: Some(followed) }
    }

    fn in_memory() -> Self {
        Self { store: Arc::new(MemoryStore::default()), followed: None }
    }
}

impl ReaderWrapper for TestStore {
    fn wrapped(&self) -> &dyn Reader {
        &*self.store
    }
}

impl Store for TestStore {
    fn append(&self, batch: &Batch, judge: &mut VerdictFn<'_>) -> Result<Receipt, StoreError> {
        self.store.append(batch, judge)
    }
}

/// Returns a store with these batches.
pub fn store(batches: impl IntoIterator<Item = Batch>) -> TestStore {
    let store = TestStore::default();
    for batch in batches {
        store.append(&batch, &mut no_verdicts).unwrap();
    }
    store
}

/// The verdict Doubtful because of Range.
pub const DOUBTFUL: Quality = Quality { base: BaseQuality::Doubtful, reason: ReasonQuality::Range };

/// Returns the instantaneous series of a variable.
pub const fn instant(variable: Variable) -> SeriesKey {
    SeriesKey::new(variable, IntervalType::Instantaneous, 0)
}

/// Instantaneous air temperature: the series whose id is 1944015174.
pub const AIR: SeriesKey = instant(Variable::AirTemperature);

/// Returns a reading in JSON: time of day on 2024-08-03, series, value, not checked.
pub fn wire(time: &str, series: &SeriesKey, value: &str) -> String {
    format!(
        r#"{{"timestamp":"2024-08-03T{time}Z","type":"{}","typeId":{},"value":{value},"quality":{{"baseQuality":"Unknown","reasonQuality":"None"}}}}"#,
        series.variable,
        series.id()
    )
}

/// Returns a reading of a grid in JSON.
pub fn wire_aged(time: &str, series: &SeriesKey, value: &str, age_s: u32) -> String {
    let reading = wire(time, series, value);
    format!("{},\"age\":{age_s}}}", reading.strip_suffix('}').unwrap())
}

/// Returns the member of `stations` for one station.
pub fn member(native_id: &str, readings: &[String]) -> String {
    format!(r#""{}":{{"readings":[{}]}}"#, id(native_id), readings.join(","))
}

/// Returns an answer with readings: the stations in the order of their ids, then the rest.
pub fn answer(mut members: Vec<String>, rest: &str) -> String {
    members.sort();
    format!(r#"{{"stations":{{{}}}{rest}}}"#, members.join(","))
}

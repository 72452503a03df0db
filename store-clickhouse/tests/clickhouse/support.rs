//! Stores in databases of their own, and SQL past them.

use std::env;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mesonet::observation::{EarlierPlaces, Identifiers};
use mesonet::store::{
    Damage, Directory, ReaderWrapper, Receipt, Selection, SeriesSlice, StoreError, VerdictFn,
    VisitWeather, no_verdicts,
};
use mesonet::time::{DAY_MS, HOUR_MS};
use mesonet::{
    Batch, ClosedWindow, IntervalType, LonLat, Reader, Reading, Report, SeriesKey, Station,
    StationId, Store, Variable,
};
use mesonet_clickhouse::{ClickHouseReader, ClickHouseStore, Options, migrate};

static DATABASES: AtomicUsize = AtomicUsize::new(0);

/// The nodes of the cluster that `tests/cluster --replicated` has started; none if it runs one node.
pub fn nodes() -> Vec<String> {
    let nodes = env::var("MESONET_TEST_CLICKHOUSE_NODES").unwrap_or_default();
    nodes.split_whitespace().map(str::to_owned).collect()
}

/// A new database.
pub fn options(url: &str) -> Options {
    options_of(url, &format!("mesonet_{}", DATABASES.fetch_add(1, Ordering::Relaxed)))
}

/// A database on all nodes that there are.
pub fn options_of(url: &str, database: &str) -> Options {
    let options = match nodes().as_slice() {
        [] => Options::new(url, database),
        nodes => Options::of_cluster("test", nodes, database),
    };
    Options { timeout: Duration::from_secs(20), ..options }
}

/// A database with tables.
pub fn migrated(url: &str) -> Options {
    let options = options(url);
    migrate(&options).unwrap();
    options
}

pub fn open(options: &Options) -> ClickHouseStore {
    ClickHouseStore::open(options).unwrap()
}

/// Runs SQL as another program would, on the first node.
pub fn sql(options: &Options, statement: &str) -> String {
    sql_at(&options.urls[0], options, statement)
}

/// Counts the rows of a table that is divided among the shards.
pub fn count(options: &Options, table: &str) -> usize {
    let urls: Vec<_> = match nodes().as_slice() {
        [] => options.urls.clone(),
        nodes if nodes.len() == 3 => vec![nodes[0].clone()],
        nodes => nodes.iter().step_by(2).cloned().collect(),
    };
    let of_shard = |url| sql_at(url, options, &format!("SELECT count() FROM {table}"));
    urls.iter().map(|url| of_shard(url).trim().parse::<usize>().unwrap()).sum()
}

/// Runs SQL on one node.
pub fn sql_at(url: &str, options: &Options, statement: &str) -> String {
    // A row that is on one node only does not count.
    let settings = if nodes().is_empty() { "" } else { "&insert_quorum=2" };
    sql_with(url, options, settings, statement)
}

pub fn sql_with(url: &str, options: &Options, settings: &str, statement: &str) -> String {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let Options { database, .. } = options;
    let length = statement.len();
    let request = format!(
        "POST /?database={database}{settings} HTTP/1.0\r\nContent-Length: {length}\r\n\r\n{statement}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.0 200") || head.starts_with("HTTP/1.1 200"), "{answer}");
    body.to_owned()
}

pub fn id(native_id: &str) -> StationId {
    StationId::new("TEST", native_id)
}

pub fn station(native_id: &str) -> Station {
    Station {
        id: id(native_id),
        network: "TEST".to_owned(),
        native_id: native_id.to_owned(),
        name: format!("Station {native_id}, \"l'été\" \\ ?"),
        station_type: None,
        coordinates: LonLat::new(-100.0, 50.0).unwrap(),
        sensor_height_m: 2.0,
        altitude_m: None,
        identifiers: Identifiers::default(),
        earlier_places: EarlierPlaces::default(),
    }
}

pub fn temperature() -> SeriesKey {
    SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0)
}

pub fn report(native_id: &str, ts_ms: i64, revision: u8, value: f64) -> Report {
    Report {
        station: id(native_id),
        ts_ms,
        revision,
        present_weather: None,
        text: None,
        readings: vec![Reading::unchecked(temperature(), value)],
    }
}

pub fn append(store: &dyn Store, reports: Vec<Report>) -> Receipt {
    let stations = vec![station("A"), station("B")];
    store.append(&Batch { stations, reports }, &mut no_verdicts).unwrap()
}

/// The temperatures of a station: time and value.
pub fn held(store: &dyn Reader, native_id: &str) -> Vec<(i64, f64)> {
    let selection = Selection {
        stations: &[id(native_id)],
        variables: &[Variable::AirTemperature],
        window: ClosedWindow::new(i64::MIN, i64::MAX).unwrap(),
    };
    let mut held = Vec::new();
    store
        .scan(&selection, &mut |_, slices| {
            for slice in slices {
                held.extend(slice.ts_ms.iter().copied().zip(slice.value.iter().copied()));
            }
        })
        .unwrap();
    held
}

/// A store that is opened anew after each batch, so that all that it knows comes from the tables.
pub struct Reopened {
    options: Options,
    store: Mutex<ClickHouseStore>,
}

impl Reopened {
    pub fn new(url: &str) -> Self {
        let options = migrated(url);
        let store = Mutex::new(open(&options));
        Self { options, store }
    }
}

impl Reader for Reopened {
    fn directory(&self) -> Result<Arc<Directory>, StoreError> {
        self.store.lock().unwrap().directory()
    }

    fn scan(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        self.store.lock().unwrap().scan(selection, visit)
    }

    fn scan_latest(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        self.store.lock().unwrap().scan_latest(selection, visit)
    }

    fn scan_weather(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut VisitWeather<'_>,
    ) -> Result<Damage, StoreError> {
        self.store.lock().unwrap().scan_weather(stations, window, visit)
    }

    fn held_from_ms(&self) -> Result<i64, StoreError> {
        self.store.lock().unwrap().held_from_ms()
    }
}

impl Store for Reopened {
    fn append(&self, batch: &Batch, judge: &mut VerdictFn<'_>) -> Result<Receipt, StoreError> {
        let mut store = self.store.lock().unwrap();
        let receipt = store.append(batch, judge);
        *store = open(&self.options);
        receipt
    }
}

/// A store that is read beside its writer.
pub struct Beside {
    writer: ClickHouseStore,
    reader: ClickHouseReader,
}

impl Beside {
    pub fn new(url: &str) -> Self {
        let options = migrated(url);
        Self { writer: open(&options), reader: ClickHouseReader::open(&options).unwrap() }
    }
}

/// A store with recent readings in memory, those from another instant on after each batch.
pub struct WithRecent {
    beside: Beside,
    /// Whether it is read beside its writer.
    is_beside: bool,
    batches: AtomicUsize,
}

impl WithRecent {
    /// Times of the suite are around 1970, and few hours later.
    const FROM_MS: [i64; 4] = [-DAY_MS, 11, -DAY_MS, HOUR_MS];

    pub fn new(url: &str, is_beside: bool) -> Self {
        let new = Self { beside: Beside::new(url), is_beside, batches: AtomicUsize::new(0) };
        new.keep();
        new
    }

    fn keep(&self) {
        let from_ms = Self::FROM_MS[self.batches.fetch_add(1, Ordering::Relaxed) % 4];
        let Beside { writer, reader } = &self.beside;
        let kept = writer.keep_recent(from_ms..2 * DAY_MS, usize::MAX).unwrap();
        assert_eq!(kept.from_ms, Some(from_ms));
        assert_eq!(reader.keep_recent(from_ms..2 * DAY_MS, usize::MAX), Ok(kept));
    }
}

impl ReaderWrapper for WithRecent {
    fn wrapped(&self) -> &dyn Reader {
        if self.is_beside { &self.beside } else { &self.beside.writer }
    }
}

impl Store for WithRecent {
    fn append(&self, batch: &Batch, judge: &mut VerdictFn<'_>) -> Result<Receipt, StoreError> {
        let receipt = self.beside.append(batch, judge);
        self.keep();
        receipt
    }
}

impl ReaderWrapper for Beside {
    fn wrapped(&self) -> &dyn Reader {
        &self.reader
    }
}

impl Store for Beside {
    fn append(&self, batch: &Batch, judge: &mut VerdictFn<'_>) -> Result<Receipt, StoreError> {
        let receipt = self.writer.append(batch, judge);
        self.reader.update().unwrap();
        let (own, other) = (self.reader.directory()?, self.writer.directory()?);
        let generations = |of: &Directory| (of.generation, of.places_generation);
        assert_eq!(generations(&own), generations(&other));
        assert_eq!(own.stations, other.stations);
        receipt
    }
}

//! Records in ClickHouse. With `MESONET_TEST_STORE=clickhouse`, and a ClickHouse that
//! `tests/cluster` has started, the store of each test is in a database of its own.
//!
//! `tests/http/on_disk_only` names the tests that are left out because they need a record on disk.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use mesonet::store::{ReaderWrapper, Receipt, StoreError, VerdictFn};
use mesonet::{Batch, Reader, Store};
use mesonet_clickhouse::{ClickHouseStore, Options, migrate};

use crate::follower::KEY;
use crate::gate::Gate;
use crate::in_follower::is_asked;
use crate::process::Server;

/// The address of ClickHouse, if there is one.
pub fn server() -> Option<String> {
    std::env::var("MESONET_TEST_CLICKHOUSE").ok()
}

/// The address of ClickHouse, if all tests run on it.
fn asked() -> Option<String> {
    if is_asked() || std::env::var_os("MESONET_TEST_STORE").is_none() {
        return None;
    }
    Some(server().expect("a ClickHouse: run this as `tests/cluster cargo test …`"))
}

/// A store in a database that is deleted with the store.
struct Database {
    store: Option<ClickHouseStore>,
    options: Options,
}

/// An empty store in a new database, if the tests run on ClickHouse.
pub fn fresh() -> Option<Arc<dyn Store>> {
    let options = database(&asked()?);
    let store = Some(ClickHouseStore::open(&options).unwrap());
    Some(Arc::new(Database { store, options }))
}

/// A new database with tables: on all nodes, if there is a cluster.
pub fn database(url: &str) -> Options {
    static DATABASES: AtomicUsize = AtomicUsize::new(0);
    let number = DATABASES.fetch_add(1, Ordering::Relaxed);
    let name = format!("http_{}_{number}", std::process::id());
    let nodes = std::env::var("MESONET_TEST_CLICKHOUSE_NODES").unwrap_or_default();
    let nodes: Vec<&str> = nodes.split_whitespace().collect();
    let options = match nodes.as_slice() {
        [] => Options::new(url, &name),
        nodes => Options::of_cluster("test", nodes, &name),
    };
    migrate(&options).unwrap();
    options
}

/// The same, marked as having readings of the operator, so that the sample is not put there.
pub fn own_database(url: &str) -> Options {
    let options = database(url);
    ClickHouseStore::open(&options).unwrap().set_mark("origin", "own").unwrap();
    options
}

/// The place of a database in the form of the setting `store`.
pub fn place(options: &Options) -> String {
    let hosts = options.urls.iter().map(|url| url.strip_prefix("http://").unwrap());
    let hosts = hosts.collect::<Vec<_>>().join(",");
    let cluster = options.cluster.as_ref().map_or(String::new(), |name| format!("/{name}"));
    format!("clickhouse:http://{hosts}/{}{cluster}", options.database)
}

/// The place of the record of a command, if the tests run on ClickHouse. It is the same for all
/// commands with this folder.
pub fn place_of(folder: &Path, args: &[&str]) -> Option<String> {
    static MADE: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);
    let url = asked()?;
    let data = args.iter().position(|arg| *arg == "--data").and_then(|at| args.get(at + 1));
    let mut hasher = DefaultHasher::new();
    (folder, data.unwrap_or(&"mesonet-data"), std::process::id()).hash(&mut hasher);
    let options = Options::new(&url, &format!("process_{:x}", hasher.finish()));
    if MADE.lock().unwrap().insert(options.database.clone()) {
        migrate(&options).unwrap();
    }
    Some(place(&options))
}

/// Runs SQL as another program would.
pub fn sql(options: &Options, statement: &str) -> String {
    let address = options.urls[0].strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let length = statement.len();
    let database = &options.database;
    write!(
        stream,
        "POST /?database={database} HTTP/1.0\r\nContent-Length: {length}\r\n\r\n{statement}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(" 200 "), "{answer}");
    body.to_owned()
}

/// Pushes a file.
pub fn push_bytes(server: &Server, name: &str, body: &[u8]) {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    write!(
        stream,
        "POST /api/v1/ingest?name={name} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\
         authorization: Bearer {KEY}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    )
    .unwrap();
    stream.write_all(body).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

impl Gate {
    pub fn to(&self, options: &Options) -> Options {
        Options { urls: vec![self.url().to_owned()], ..options.clone() }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        drop(self.store.take());
        let Options { urls, database, .. } = &self.options;
        sql(&Options::new(&urls[0], "default"), &format!("DROP DATABASE IF EXISTS {database}"));
    }
}

impl ReaderWrapper for Database {
    fn wrapped(&self) -> &dyn Reader {
        self.store.as_ref().unwrap()
    }
}

impl Store for Database {
    fn append(&self, batch: &Batch, judge: &mut VerdictFn<'_>) -> Result<Receipt, StoreError> {
        self.store.as_ref().unwrap().append(batch, judge)
    }
}

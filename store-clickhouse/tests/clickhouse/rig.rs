//! The processes of a cluster that `tests/cluster` keeps running: killed, kept down, brought back.

use std::env;
use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use mesonet_clickhouse::{ClickHouseStore, Options};

use crate::support::{nodes, sql_at};

/// One process: node 1 to 4, or Keeper 1 to 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Process {
    Node(usize),
    Keeper(usize),
}

impl Process {
    pub fn folder(self) -> PathBuf {
        let all = PathBuf::from(env::var("MESONET_TEST_CLICKHOUSE_FOLDER").unwrap());
        match self {
            Self::Node(number) => all.join(number.to_string()),
            Self::Keeper(number) => all.join(format!("keeper{number}")),
        }
    }

    fn pid(self) -> String {
        fs::read_to_string(self.folder().join("pid")).unwrap_or_default().trim().to_owned()
    }

    /// Kills it and keeps it down until it is brought back.
    pub fn kill(self) {
        fs::write(self.folder().join("down"), "").unwrap();
        let pid = self.pid();
        let killed = Command::new("kill").args(["-KILL", &pid]).status();
        assert!(killed.unwrap().success(), "{self:?}");
        wait_for("the end of a process", || !Path::new("/proc").join(&pid).exists());
    }

    /// Starts it, and waits until it answers.
    pub fn bring_back(self) {
        bring_back(&[self]);
    }

    fn start(self) {
        fs::remove_file(self.folder().join("down")).unwrap();
    }

    fn wait_until_it_answers(self) {
        let Self::Node(number) = self else { return };
        let address = nodes()[number - 1].strip_prefix("http://").unwrap().to_owned();
        let answers = || TcpStream::connect(&address).is_ok();
        if !comes_true(answers) {
            for file in ["out", "errors"] {
                let text = fs::read_to_string(self.folder().join(file)).unwrap_or_default();
                let skipped = text.lines().count().saturating_sub(30);
                eprintln!("{file}:\n{}", text.lines().skip(skipped).collect::<Vec<_>>().join("\n"));
            }
            panic!("{self:?} does not come");
        }
    }
}

/// Starts processes, and waits until they answer.
pub fn bring_back(processes: &[Process]) {
    // A node may need the Keeper that is behind it in the list.
    for process in processes {
        process.start();
    }
    for process in processes {
        process.wait_until_it_answers();
    }
}

pub fn wait_for(what: &str, is_there: impl Fn() -> bool) {
    assert!(comes_true(is_there), "{what} does not come");
}

fn comes_true(is_there: impl Fn() -> bool) -> bool {
    let started = Instant::now();
    while !is_there() {
        if started.elapsed() > Duration::from_secs(90) {
            return false;
        }
        sleep(Duration::from_millis(20));
    }
    true
}

/// Waits until every replica of a database has a session with Keeper and nothing to fetch.
pub fn wait_for_replicas(options: &Options) {
    let waiting = "SELECT count() FROM system.replicas WHERE database = currentDatabase() \
        AND (is_readonly OR is_session_expired OR queue_size > merges_in_queue)";
    for url in nodes() {
        wait_for("a replica", || sql_at(&url, options, waiting).trim() == "0");
    }
}

/// Opens a record as soon as it can be opened.
pub fn open_at_last(options: &Options) -> ClickHouseStore {
    let started = Instant::now();
    loop {
        match ClickHouseStore::open(options) {
            Ok(store) => return store,
            Err(error) => assert!(started.elapsed() < Duration::from_secs(60), "{error}"),
        }
    }
}

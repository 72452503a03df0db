//! The queries. Values are bound by the client; a list stands in round brackets after `IN`.
//!
//! The queries run on a ClickHouse of 2018 and on a current one, so they use nothing that was added
//! or changed since 2018: times are integers, and nothing is formatted here. They are files, so
//! that tests in another language can run them too.

/// The last writers: the highest number, and the marks of the writers that took it.
pub(crate) const WRITERS: &str = include_str!("../queries/writers.sql");

/// The newest committed batch.
pub(crate) const COMMITTED_BATCH: &str = include_str!("../queries/committed_batch.sql");

/// The batches from a given one on.
pub(crate) const NEWS: &str = include_str!("../queries/news.sql");

/// The batches that were begun and never committed.
pub(crate) const UNCOMMITTED: &str = include_str!("../queries/uncommitted.sql");

/// The series of the batches after one and up to another, except some batches.
pub(crate) const SERIES: &str = include_str!("../queries/series.sql");

/// The last state of each station in the batches after one and up to another, except some batches.
pub(crate) const STATIONS: &str = include_str!("../queries/stations.sql");
pub(crate) const EARLIER_PLACES: &str = include_str!("../queries/earlier_places.sql");

/// What the batches after one and up to another changed, except some batches.
pub(crate) const CHANGES: &str = include_str!("../queries/changes.sql");

/// The readings of some batches in a window.
pub(crate) const CHANGED: &str = include_str!("../queries/changed.sql");

/// All versions of the readings of stations and series in a window.
pub(crate) const WINDOW: &str = include_str!("../queries/window.sql");

/// All versions of the readings in a window that came after a batch.
pub(crate) const RECENT: &str = include_str!("../queries/recent.sql");

/// How many versions of readings a window has.
pub(crate) const COUNT: &str = include_str!("../queries/count.sql");

/// The last reading of stations and series in a window. Its time and version are packed in one
/// number: ClickHouse finds it twice as fast as by two numbers.
pub(crate) const LATEST: &str = include_str!("../queries/latest.sql");

/// All versions of the readings of stations at some times, which lie in a window.
pub(crate) const MOMENTS: &str = include_str!("../queries/moments.sql");

/// All versions of the present weather of a station in a window.
pub(crate) const WEATHER_WINDOW: &str = include_str!("../queries/weather_window.sql");

/// All versions of the present weather of stations at some times, which lie in a window.
pub(crate) const WEATHER_MOMENTS: &str = include_str!("../queries/weather_moments.sql");

/// The instant before which readings do not count, if there is one.
pub(crate) const RETAIN_FROM: &str = include_str!("../queries/retain_from.sql");

/// The partitions of a table that are named by a day before a given one, and how many rows each
/// has.
pub(crate) const PARTITIONS: &str = include_str!("../queries/partitions.sql");

/// Drops one of these partitions.
pub(crate) const DROP_PARTITION: &str = include_str!("../queries/drop_partition.sql");

/// The newest row of each alert that was changed after a change.
pub(crate) const ALERTS: &str = include_str!("../queries/alerts.sql");

/// The macros of a node.
pub(crate) const MACROS: &str = include_str!("../queries/macros.sql");

/// Which of the insert settings that releases of 2018 lack a node knows.
pub(crate) const INSERT_SETTINGS: &str = include_str!("../queries/insert_settings.sql");

/// The last committed batch that a node has seen, 0 if there is none.
pub(crate) const NEWEST_COMMITTED: &str = include_str!("../queries/newest_committed.sql");

/// How far a replica of a table has come.
pub(crate) const REPLICA: &str = include_str!("../queries/replica.sql");

/// The entries in the queue of a replica that bring new rows.
pub(crate) const TO_FETCH: &str = include_str!("../queries/to_fetch.sql");

/// How many children a node of Keeper has.
pub(crate) const CHILDREN: &str = include_str!("../queries/children.sql");

/// The newest row of a mark.
pub(crate) const MARKS: &str = include_str!("../queries/marks.sql");

/// All that was put about API keys.
pub(crate) const API_KEYS: &str = include_str!("../queries/api_keys.sql");

/// No rows of the tables that every answer needs; fails if one of them cannot be read.
pub(crate) const READABLE: &str = include_str!("../queries/readable.sql");

/// The bytes of a text as ClickHouse's function `hex` writes them, for texts that are not bound.
pub(crate) fn hex(text: &str) -> String {
    let digits: Vec<String> = text.bytes().map(|byte| format!("{byte:02X}")).collect();
    digits.concat()
}

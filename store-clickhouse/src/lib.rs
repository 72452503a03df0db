//! The record of a mesonet in ClickHouse, behind the traits of [`mesonet::store`]: for a service that
//! has outgrown one machine.
//!
//! ```no_run
//! use mesonet::store::unjudged;
//! use mesonet::{Batch, Reader, Store};
//! use mesonet_clickhouse::{ClickHouseStore, Options, migrate};
//!
//! let options = Options::new("http://127.0.0.1:8123", "mesonet");
//! migrate(&options)?;
//! let store = ClickHouseStore::open(&options)?;
//! store.append(&Batch::default(), &mut unjudged)?;
//! assert_eq!(store.directory()?.stations.len(), 0);
//! # Ok::<(), mesonet::store::StoreError>(())
//! ```
//!
//! # How a batch becomes part of the record
//! ClickHouse has no transactions, so a batch has a number, and each row that it writes carries it.
//! The batch is *begun* in a table before its first row is written, and *committed* there after the
//! last. A reader takes the rows of committed batches up to one, so it sees a batch whole or not at
//! all, also after a writer was killed in the middle.
//!
//! Nothing is changed in place: a correction and a new verdict are the next version of a reading, and
//! the newest version counts. The older ones stay on record.
//!
//! # One writer
//! One process at a time writes. The last to open the record is the writer: the one before finds out
//! at its next batch and is refused from then on. What it had committed stays.
//!
//! Any number of processes read, by a [`ClickHouseReader`] each.

#![cfg_attr(not(test), warn(clippy::unwrap_used, unreachable_pub))]

mod alerts;
mod cluster;
mod fence;
mod known;
mod link;
mod load;
mod marks;
mod options;
mod reader;
mod rows;
mod schema;
mod sql;
mod store;
mod upkeep;
mod versions;
mod view;
mod write;

pub use options::Options;
pub use reader::{Changed, ClickHouseReader};
pub use schema::{Migrated, SCHEMA_VERSION, migrate};
pub use store::ClickHouseStore;
pub use upkeep::Maintained;

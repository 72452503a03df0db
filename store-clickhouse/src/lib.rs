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
//!
//! # A cluster
//! With [`Options::of_cluster`] the tables are replicated. Readings and present weather are divided among
//! the shards by station; every node has the other tables whole: who writes, which batches count, stations,
//! series, alerts. The store sends each query to a replica of the shard that it needs by itself, without
//! `Distributed` tables: it knows the shard of each station, asks the shards at once, and can make sure
//! of the very replica that answers. An answer is whole, or an error.
//!
//! **What is acknowledged is on two replicas.** Each block is inserted with a quorum of two, one after the
//! other. One that was sent more than once is also counted on two replicas afterwards: a replica
//! that finds a block there already says so without waiting for a second one.
//!
//! **A replica is believed if it lacks nothing.** Before a query for the record as of a batch:
//! 1. The replica must have that batch as committed, in its own copy of the table of batches. Its session
//!    with Keeper sees all changes in one order, and the rows of a batch are inserted before its
//!    commit, so from then on the session has seen the inserts of all rows that count.
//! 2. It must have taken all entries of the table's log into its queue, up to the last one that
//!    this session sees.
//! 3. None of the entries that were in its queue then may be left that bring rows. They are read
//!    from Keeper, where they are put together with the place in the log, and removed once their rows
//!    can be read; what the replica says of its own queue may be older.
//!
//! A replica that lacks something is looked at again for a while, and others are asked meanwhile. That one
//! lacked nothing counts for a second: a machine that has lost what was not on its disk yet takes longer
//! to come back, and says then that it has no session or parts to fetch.
//!
//! **One writer.** A writer writes its number, or the end of a batch, with a quorum, and then reads the
//! numbers at the same node, once it lacks nothing of them: its session has seen its own row, and
//! all that came before. So of two that take a number at once the later finds both; and
//! a batch is acknowledged only if its end came before the number of the next writer, which
//! therefore finds it. What the next writer finds and builds on it counts on two replicas, since what has
//! not come to a quorum may go again. A reader may show a batch in that moment which then never
//! counts, and was not acknowledged. A node that loses its session between writing and reading can be
//! led to another member of the ensemble that is behind: set `quorum_reads` in Keeper.

#![cfg_attr(not(test), warn(clippy::unwrap_used, unreachable_pub))]

mod alerts;
mod api_keys;
mod client;
mod cluster;
mod duplicate;
mod fence;
mod known;
mod link;
mod load;
mod marks;
mod options;
mod reader;
mod replicas;
mod rows;
mod schema;
mod sql;
mod standing;
mod store;
mod upkeep;
mod versions;
mod view;
mod write;

pub use api_keys::{ApiKey, ApiKeys};
pub use marks::read_mark;
pub use options::Options;
pub use reader::{Changed, ClickHouseReader};
pub use schema::{Migrated, SCHEMA_VERSION, migrate};
pub use store::ClickHouseStore;
pub use upkeep::Maintained;

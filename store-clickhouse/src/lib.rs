//! The record of a mesonet in ClickHouse, behind the traits of [`mesonet::store`]: for a service that
//! has outgrown one machine.
//!
//! ```no_run
//! use mesonet::store::no_verdicts;
//! use mesonet::{Batch, Reader, Store};
//! use mesonet_clickhouse::{ClickHouseStore, Options, migrate};
//!
//! let options = Options::new("http://127.0.0.1:8123", "mesonet");
//! migrate(&options)?;
//! let store = ClickHouseStore::open(&options)?;
//! store.append(&Batch::default(), &mut no_verdicts)?;
//! assert_eq!(store.directory()?.stations.len(), 0);
//! # Ok::<(), mesonet::store::StoreError>(())
//! ```
//!
//! # How a batch becomes part of the record
//! ClickHouse has no transactions. So each batch has a number, and each row of the batch carries
//! that number. The batch is *begun* in a table before its first row is written, and *committed*
//! there after the last. A reader takes the rows of committed batches up to a given one. So it sees
//! a batch whole or not at all, even if a writer was killed in the middle.
//!
//! Nothing is changed in place. A correction or a new verdict is the next version of a reading, and
//! the newest version counts. Older versions stay on record.
//!
//! # One writer
//! One process at a time writes. The last process to open the record is the writer. The previous
//! writer finds out at its next batch, and is refused from then on. What it had committed stays.
//!
//! Any number of processes can read, each through a [`ClickHouseReader`].
//!
//! # A cluster
//! With [`Options::of_cluster`] the tables are replicated. Readings and present weather are divided
//! among the shards by station; every node has the other tables whole: who writes, which batches
//! count, stations, series, alerts. The store itself sends each query to a replica of the shard
//! that it needs, without `Distributed` tables. It knows the shard of each station, asks the shards
//! at once, and can check the very replica that answers. The result is a whole answer, or an error.
//!
//! **What is acknowledged is on two replicas.** Blocks are inserted one after the other, each with
//! a quorum of two. A block that was sent more than once is also counted on two replicas
//! afterwards, because a replica that has the block already acknowledges it without waiting for a
//! second replica.
//!
//! **A replica is believed if it lacks nothing.** Before a query for the record as of a batch, the
//! store checks:
//! 1. The replica must have that batch as committed, in its own copy of the table of batches. Its
//!    session with Keeper sees all changes in one order, and the rows of a batch are inserted
//!    before its commit. So from then on the session has seen the inserts of all rows that count.
//! 2. It must have taken all entries of the table's log into its queue, up to the last one that
//!    this session sees.
//! 3. Of the entries that were in its queue then, none that brings rows may be left. The store
//!    reads the entries from Keeper. Keeper stores them together with the place in the log, and
//!    they are removed once their rows can be read. What the replica says of its own queue may be
//!    older.
//!
//! If a replica lacks something, the store looks at it again for a while, and asks others in the
//! meantime. The result that a replica lacks nothing holds for a second. A machine that has lost
//! what was not yet on its disk takes longer than that to come back, and then says that it has no
//! session, or has parts to fetch.
//!
//! **One writer.** A writer writes its number, or the end of a batch, with a quorum. It then reads
//! the numbers at the same node, once that node lacks none of them: the session of the node has
//! seen this row and all that came before. So if two writers take a number at once, the later one
//! finds both. And a batch is acknowledged only if its end came before the number of the next
//! writer, so the next writer finds it. The next writer counts what it finds and builds on, on two
//! replicas, because rows without a quorum may disappear again. At that moment a reader may show a
//! batch that never counts in the end; such a batch was not acknowledged. If a node loses its
//! session between writing and reading, it may connect to another member of the ensemble that is
//! behind: set `quorum_reads` in Keeper.

#![cfg_attr(not(test), warn(clippy::unwrap_used, unreachable_pub))]

mod alerts;
mod api_keys;
mod changes;
mod client;
mod cluster;
mod columns;
mod duplicate;
mod fence;
mod known;
mod link;
mod load;
mod load_recent;
mod marks;
mod options;
mod reader;
mod recent;
mod replicas;
mod rows;
mod schema;
mod series;
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
pub use recent::RecentReadings;
pub use schema::{MigrationReport, SCHEMA_VERSION, migrate};
pub use store::ClickHouseStore;
pub use upkeep::MaintenanceReport;

//! The connection: a synchronous interface to the asynchronous client, with a limit on every wait.
//!
//! The traits of stores are synchronous. Their callers are threads of any kind: of a pool, of
//! another runtime, or of no runtime. So the store has a small runtime of its own. A call hands its
//! future over and waits for the result on a channel, which works on every thread. The callbacks of
//! a scan run on the thread of the caller.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use clickhouse::error::Error;
use clickhouse::query::Query;
use clickhouse::{Client, RowOwned, RowRead, RowWrite};
use mesonet::store::StoreError;
use tokio::runtime::{Builder, Runtime};

use crate::client::{client, with_causes};
use crate::cluster::Cluster;
use crate::options::Options;
use crate::sql;
use crate::standing::{NodeStanding, ping, watched};

/// How many times a block of rows is sent before the batch fails.
const ATTEMPTS: u32 = 3;

/// How long to wait before a block is sent again, times the attempts so far.
const PAUSE: Duration = Duration::from_millis(200);

/// How long to wait for the blocks of others that are on their way to the same table.
const BUSY: Duration = Duration::from_secs(4);

/// How ClickHouse says that its disk is full: with its own error, or with the error of the system.
const FULL: [&str; 3] = ["Code: 243", "NOT_ENOUGH_SPACE", "No space left on device"];

/// A table, on one shard if it is divided among them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TablePlace {
    pub table: &'static str,
    pub shard: Option<usize>,
}

impl TablePlace {
    /// A table that every node has whole.
    pub(crate) fn everywhere(table: &'static str) -> Self {
        Self { table, shard: None }
    }

    pub(crate) fn of_shard(table: &'static str, shard: usize) -> Self {
        Self { table, shard: Some(shard) }
    }
}

/// How rows that were inserted are found, and how many there must be.
pub(crate) struct InsertedRows {
    pub condition: String,
    pub rows: usize,
}

/// The number of a node among the addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct At(pub usize);

/// One address, and what is known of it in a cluster.
pub(crate) struct Node {
    pub url: String,
    client: Client,
    pub standing: NodeStanding,
}

pub(crate) struct Link {
    pub(crate) nodes: Vec<Node>,
    pub(crate) cluster: Option<Cluster>,
    pub(crate) timeout: Duration,
    /// Names the database in messages.
    name: String,
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Link").field(&self.name).finish()
    }
}

impl Link {
    pub(crate) fn new(options: &Options) -> Result<Self, StoreError> {
        let Options { urls, cluster, database, timeout, .. } = options;
        let of_cluster = cluster.as_ref().map(|cluster| format!("cluster {cluster} of "));
        let name =
            format!("{}{} database {database}", of_cluster.unwrap_or_default(), urls.join(", "));
        let failed = |cause: String| StoreError::Storage { path: name.clone(), cause };
        let cluster = match cluster {
            Some(cluster) => Some(Cluster::new(cluster, options).map_err(failed)?),
            None if urls.len() == 1 => None,
            None => return Err(failed(format!("{} addresses and no cluster", urls.len()))),
        };
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("mesonet-clickhouse")
            .enable_all()
            .build()
            .map_err(|error| failed(error.to_string()))?;
        let client = client(options).map_err(failed)?;
        let node = |url: &String| {
            let client = client.clone().with_url(url);
            Node { url: url.clone(), client, standing: NodeStanding::default() }
        };
        let nodes = urls.iter().map(node).collect();
        Ok(Self { nodes, cluster, timeout: *timeout, name, runtime: Some(runtime) })
    }

    /// Uses a database from now on. To create a database, the link must not use one yet.
    pub(crate) fn within(mut self, database: &str) -> Self {
        for node in &mut self.nodes {
            node.client = node.client.clone().with_database(database);
        }
        self
    }

    /// How many shards the readings are divided among.
    pub(crate) fn shards(&self) -> usize {
        self.cluster.as_ref().map_or(1, Cluster::shards)
    }

    /// Begins a query; values are bound to it afterwards. It can go to any node.
    pub(crate) fn query(&self, sql: &str) -> Query {
        self.nodes[0].client.query(sql)
    }

    /// Runs a statement that has no answer on one node, as it is written.
    pub(crate) fn run(&self, At(node): At, statement: &str) -> Result<(), StoreError> {
        let node = &self.nodes[node];
        let ran = self.ask(node, self.timeout, node.client.query_raw(statement).execute());
        ran.map_err(|error| self.refused_at(node, &error))
    }

    /// Runs a statement that has no answer on a node that has a table.
    pub(crate) fn execute(&self, place: TablePlace, query: &Query) -> Result<(), StoreError> {
        let sql = query.sql_display().to_string();
        self.on_replica(place, None, |node| {
            self.ask(node, self.timeout, node.client.query_raw(&sql).execute())
        })
    }

    /// Reads a table. In a cluster the rows come from a replica that lacks nothing that was
    /// acknowledged up to a batch. Without a batch, the replica lacks nothing that was acknowledged
    /// before the question, as far as it can know.
    pub(crate) fn rows<R>(
        &self,
        place: TablePlace,
        up_to: Option<u64>,
        query: &Query,
    ) -> Result<Vec<R>, StoreError>
    where
        R: RowOwned + RowRead + Send + 'static,
    {
        let sql = query.sql_display().to_string();
        self.on_replica(place, up_to, |node| self.fetch(node, &sql, self.timeout))
    }

    /// Reads a table on the node where something was inserted just now, with all that came before
    /// it.
    pub(crate) fn rows_at<R>(
        &self,
        At(node): At,
        place: TablePlace,
        query: &Query,
    ) -> Result<Vec<R>, StoreError>
    where
        R: RowOwned + RowRead + Send + 'static,
    {
        let sql = query.sql_display().to_string();
        let node = &self.nodes[node];
        self.on_this(node, place, |node| self.fetch(node, &sql, self.timeout))
    }

    pub(crate) fn fetch<R>(&self, node: &Node, sql: &str, limit: Duration) -> Result<Vec<R>, Error>
    where
        R: RowOwned + RowRead + Send + 'static,
    {
        self.ask(node, limit, node.client.query_raw(sql).fetch_all::<R>())
    }

    /// Makes sure that the tables of the record can be read. In a cluster each shard is checked
    /// when it is asked for readings: one shard may be away while the others answer.
    pub(crate) fn check_tables(&self) -> Result<(), StoreError> {
        if self.cluster.is_some() {
            return Ok(());
        }
        let readings = TablePlace::everywhere("readings");
        self.rows::<u8>(readings, None, &self.query(sql::READABLE)).map(drop)
    }

    /// Inserts rows as one block, and returns where. A block that may have been lost on its way is
    /// sent again unchanged. A replicated table recognizes it; other tables keep one of the equal
    /// rows.
    pub(crate) fn insert<R>(
        &self,
        place: TablePlace,
        rows: Vec<R>,
        found: &InsertedRows,
    ) -> Result<At, StoreError>
    where
        R: RowOwned + RowWrite + Send + Sync + 'static,
    {
        if rows.is_empty() {
            return Ok(At(0));
        }
        let rows = Arc::new(rows);
        let (started, mut attempt, mut is_first) = (Instant::now(), 1, true);
        loop {
            let at = self.reachable(place, attempt)?;
            let sent = self.send(&self.nodes[at.0], place.table, &rows);
            let is_again = !std::mem::replace(&mut is_first, false);
            match sent {
                Ok(()) if !is_again => return Ok(at),
                Ok(()) => return self.confirm(place, found).map(|()| at),
                Err(error) if is_busy(&error) && started.elapsed() < BUSY.min(self.timeout) => {
                    std::thread::sleep(PAUSE / 10);
                }
                Err(error) if attempt < ATTEMPTS && self.may_pass(&error) => {
                    self.nodes[at.0].standing.failed();
                    std::thread::sleep(PAUSE * attempt);
                    attempt += 1;
                }
                Err(error) => return Err(self.refused_at(&self.nodes[at.0], &error)),
            }
        }
    }

    /// Whether a block should be sent again. In a cluster another replica may take a block that one
    /// replica refuses.
    fn may_pass(&self, error: &Error) -> bool {
        match error {
            Error::Network(_) | Error::TimedOut => true,
            Error::BadResponse(_) => self.cluster.is_some(),
            _ => false,
        }
    }

    fn send<R>(&self, node: &Node, table: &'static str, rows: &Arc<Vec<R>>) -> Result<(), Error>
    where
        R: RowOwned + RowWrite + Send + Sync + 'static,
    {
        let (mut client, rows, timeout) = (node.client.clone(), Arc::clone(rows), self.timeout);
        for (name, value) in self.insert_settings(node)? {
            client = client.with_setting(name, value);
        }
        self.ask(node, timeout, async move {
            let insert = client.insert::<R>(table).await?;
            let mut insert = insert.with_timeouts(Some(timeout), Some(timeout));
            for row in rows.iter() {
                insert.write(row).await?;
            }
            insert.end().await
        })
    }

    /// Asks a node, and notes whether it answered.
    fn ask<T: Send + 'static>(
        &self,
        node: &Node,
        limit: Duration,
        asked: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, Error> {
        if self.cluster.is_none() {
            node.standing.pinged(|| self.wait(limit, ping(node.client.clone())))?;
        }
        let answer = self.wait(limit, watched(node.client.clone(), asked));
        node.standing.note(&answer);
        answer
    }

    fn wait<T: Send + 'static>(
        &self,
        limit: Duration,
        asked: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, Error> {
        let Some(runtime) = &self.runtime else { return Err(Error::TimedOut) };
        let (answer, answered) = mpsc::sync_channel(1);
        runtime.spawn(async move {
            let result = tokio::time::timeout(limit, asked).await;
            // If the caller was killed, nobody waits for the result.
            let _ = answer.send(result.unwrap_or(Err(Error::TimedOut)));
        });
        // The sender is dropped without a message if the future panics.
        answered.recv().unwrap_or(Err(Error::TimedOut)).map_err(with_causes)
    }

    /// What ClickHouse or the network refuses.
    pub(crate) fn refused(&self, cause: &dyn fmt::Display) -> StoreError {
        let (path, cause) = (self.name.clone(), cause.to_string());
        if FULL.iter().any(|text| cause.contains(text)) {
            StoreError::Full { path, cause }
        } else {
            StoreError::Unavailable { path, cause }
        }
    }

    /// What one node refuses. The message names the node if there are others.
    pub(crate) fn refused_at(&self, node: &Node, cause: &dyn fmt::Display) -> StoreError {
        match self.cluster {
            Some(_) => self.refused(&format!("{}: {cause}", node.url)),
            None => self.refused(cause),
        }
    }

    /// An error for something in this database that cannot be right.
    pub(crate) fn failed(&self, cause: &dyn fmt::Display) -> StoreError {
        StoreError::Storage { path: self.name.clone(), cause: cause.to_string() }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

/// Whether another block is on its way to a quorum. A table takes such blocks one after the other.
fn is_busy(error: &Error) -> bool {
    matches!(error, Error::BadResponse(text) if text.contains("Code: 286"))
}

/// A runtime must not wait for its end on a thread of another runtime, so it shuts down in the
/// background.
impl Drop for Link {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

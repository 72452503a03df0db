//! Which nodes of a cluster have a shard, which of them can be asked, and whether one lacks anything.
//!
//! The argument that an answer is whole is in the documentation of the crate.

use std::fmt;
use std::time::{Duration, Instant};

use clickhouse::Row;
use clickhouse::error::Error;
use mesonet::store::StoreError;
use serde::Deserialize;

use crate::cluster::QUORUM;
use crate::link::{At, InsertedRows, Link, Node, TablePlace};
use crate::sql;
use crate::standing::{CONNECT, Identity, PING_QUERY};

/// How long to wait for replicas to fetch what they lack, and between two looks.
const CATCH_UP: Duration = Duration::from_secs(4);
const LOOK: Duration = Duration::from_millis(15);

/// How often to look at one replica before the next one.
const LOOKS: usize = 8;

/// Settings of newer releases that are switched off, so that each insert is written when it is acknowledged and
/// waits for its own quorum: by default a current release gathers inserts for a while.
const NEWER_SETTINGS: [&str; 2] = ["insert_quorum_parallel", "async_insert"];

/// Why a node was not the one to ask.
enum NodeRefusal {
    /// It is of another shard.
    Elsewhere,
    /// It does not have all yet.
    Lags(String),
    Failed(Error),
}

impl From<Error> for NodeRefusal {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl fmt::Display for NodeRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elsewhere => f.write_str("is of another shard"),
            Self::Lags(what) => f.write_str(what),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

#[derive(Debug, Row, Deserialize)]
struct ReplicaRow {
    readonly: u8,
    expired: u8,
    parts_to_check: u64,
    log_max_index: u64,
    log_pointer: u64,
    path: String,
    replica_path: String,
}

impl Link {
    /// Asks replicas of a table in turn, until one lacks nothing and answers.
    pub(crate) fn on_replica<T>(
        &self,
        place: TablePlace,
        up_to: Option<u64>,
        ask: impl Fn(&Node) -> Result<T, Error>,
    ) -> Result<T, StoreError> {
        if self.cluster.is_none() {
            return ask(&self.nodes[0]).map_err(|error| self.refused(&error));
        }
        let started = Instant::now();
        loop {
            let (mut causes, mut lags) = (Vec::new(), false);
            for At(at) in self.in_turn() {
                let node = &self.nodes[at];
                match self.ask_whole(node, place, up_to, &ask) {
                    Ok(answer) => return Ok(answer),
                    Err(NodeRefusal::Elsewhere) => {}
                    Err(refusal) => {
                        lags |= matches!(refusal, NodeRefusal::Lags(_));
                        causes.push(format!("{}: {refusal}", node.url));
                    }
                }
            }
            if !lags || started.elapsed() > CATCH_UP.min(self.timeout) {
                return Err(self.nobody(place, &causes));
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Asks one replica of a table, once it lacks nothing of what came before.
    pub(crate) fn on_this<T>(
        &self,
        node: &Node,
        place: TablePlace,
        ask: impl Fn(&Node) -> Result<T, Error>,
    ) -> Result<T, StoreError> {
        if self.cluster.is_none() {
            return ask(node).map_err(|error| self.refused(&error));
        }
        let started = Instant::now();
        loop {
            match self.ask_whole(node, place, None, &ask) {
                Ok(answer) => return Ok(answer),
                Err(NodeRefusal::Lags(_)) if started.elapsed() < CATCH_UP.min(self.timeout) => {
                    std::thread::sleep(LOOK);
                }
                Err(refusal) => return Err(self.refused_at(node, &refusal)),
            }
        }
    }

    /// The nodes, those that are avoided last.
    fn in_turn(&self) -> Vec<At> {
        let first = self.cluster.as_ref().map_or(0, |cluster| cluster.first);
        let count = self.nodes.len();
        let mut nodes: Vec<At> = (first..first + count).map(|at| At(at % count)).collect();
        nodes.sort_by_key(|at| self.nodes[at.0].standing.is_avoided());
        nodes
    }

    /// The node to which a block is sent, which answers; another one for each attempt if there is.
    pub(crate) fn reachable(&self, place: TablePlace, attempt: u32) -> Result<At, StoreError> {
        if self.cluster.is_none() {
            return Ok(At(0));
        }
        let (mut answering, mut causes) = (Vec::new(), Vec::new());
        for At(at) in self.in_turn() {
            let node = &self.nodes[at];
            match self.is_of(node, place.shard) {
                Ok(()) => answering.push(At(at)),
                Err(NodeRefusal::Elsewhere) => {}
                Err(refusal) => causes.push(format!("{}: {refusal}", node.url)),
            }
            if answering.len() == attempt as usize {
                break;
            }
        }
        let chosen = answering.get((attempt as usize - 1) % answering.len().max(1));
        chosen.copied().ok_or_else(|| self.nobody(place, &causes))
    }

    fn nobody(&self, TablePlace { table, shard }: TablePlace, causes: &[String]) -> StoreError {
        let of_shard = |shard| self.cluster.as_ref().map(|cluster| cluster.shard(shard));
        let shard = shard.and_then(of_shard).map(|shard| format!(" of shard {shard}"));
        let causes = match causes {
            [] => "no address is of one".to_owned(),
            causes => causes.join("; "),
        };
        let shard = shard.unwrap_or_default();
        self.refused(&format!("no replica{shard} has the whole of {table}: {causes}"))
    }

    fn ask_whole<T>(
        &self,
        node: &Node,
        place: TablePlace,
        up_to: Option<u64>,
        ask: impl Fn(&Node) -> Result<T, Error>,
    ) -> Result<T, NodeRefusal> {
        let asked = self
            .is_of(node, place.shard)
            .and_then(|()| self.is_whole(node, place, up_to))
            .and_then(|()| Ok(ask(node)?));
        if let Err(NodeRefusal::Lags(_)) = &asked {
            node.standing.lags();
        }
        asked
    }

    /// Whether a node answers, and is of a shard.
    fn is_of(&self, node: &Node, shard: Option<usize>) -> Result<(), NodeRefusal> {
        let identity = self.identity(node)?;
        let wanted = self.cluster.as_ref().zip(shard).map(|(cluster, shard)| cluster.shard(shard));
        if wanted.is_some_and(|wanted| wanted != identity.shard) {
            return Err(NodeRefusal::Elsewhere);
        }
        if !node.standing.is_fresh() {
            let hello = self.fetch::<u8>(node, PING_QUERY, CONNECT);
            hello.inspect_err(|_| node.standing.failed())?;
        }
        Ok(())
    }

    /// What a node says of itself, which does not change.
    pub(crate) fn identity(&self, node: &Node) -> Result<Identity, Error> {
        if let Some(identity) = node.standing.identity() {
            return Ok(identity);
        }
        let macros: Result<Vec<(String, String)>, _> = self.fetch(node, sql::MACROS, CONNECT);
        let macros = macros.inspect_err(|_| node.standing.failed())?;
        let named = |name: &str| {
            let found = macros.iter().find(|(known, _)| known == name);
            let missing = || Error::Custom(format!("the macro {{{name}}} is not set"));
            found.map(|(_, value)| value.clone()).ok_or_else(missing)
        };
        let identity = Identity { shard: named("shard")?, replica: named("replica")? };
        node.standing.identify(identity.clone());
        Ok(identity)
    }

    /// What is sent with an insert.
    pub(crate) fn insert_settings(
        &self,
        node: &Node,
    ) -> Result<Vec<(&'static str, String)>, Error> {
        let off = |name| (name, "0".to_owned());
        let mut settings: Vec<_> = self.newer_settings(node)?.into_iter().map(off).collect();
        if let Some(cluster) = &self.cluster {
            settings.push(("insert_quorum", QUORUM.to_string()));
            settings.push(("insert_quorum_timeout", cluster.quorum_timeout_ms.clone()));
        }
        Ok(settings)
    }

    /// Which of the newer settings the release of a node knows: an older one refuses them.
    fn newer_settings(&self, node: &Node) -> Result<Vec<&'static str>, Error> {
        if let Some(known) = node.standing.newer_settings() {
            return Ok(known);
        }
        let limit = if self.cluster.is_some() { CONNECT } else { self.timeout };
        let found: Vec<String> = self.fetch(node, sql::INSERT_SETTINGS, limit)?;
        let is_known = |name: &&str| found.iter().any(|known| known == name);
        let known: Vec<_> = NEWER_SETTINGS.into_iter().filter(is_known).collect();
        node.standing.knows(known.clone());
        Ok(known)
    }

    /// Whether a replica lacks nothing of a table: it knows of all that was inserted before, and has
    /// nothing left to fetch.
    fn is_whole(
        &self,
        node: &Node,
        place: TablePlace,
        up_to: Option<u64>,
    ) -> Result<(), NodeRefusal> {
        if up_to.is_some_and(|up_to| node.standing.is_whole(place.table, up_to)) {
            return Ok(());
        }
        if let Some(up_to) = up_to {
            // What it has seen of the batches it has also seen of the tables written before.
            let newest: Vec<u64> = self.fetch(node, sql::NEWEST_COMMITTED, self.timeout)?;
            if newest.first().is_none_or(|newest| *newest < up_to) {
                return Err(NodeRefusal::Lags("has not seen the last batch".to_owned()));
            }
        }
        let mut logged = None;
        let mut to_fetch: Option<Vec<String>> = None;
        let mut lack = String::new();
        for look in 0..LOOKS {
            if look > 0 {
                std::thread::sleep(LOOK);
            }
            let row = self.replica(node, place.table)?;
            let last = match logged {
                Some(last) => last,
                None => *logged.insert(self.last_logged(node, &row)?),
            };
            if last.is_some_and(|last| row.log_pointer <= last) {
                lack = format!("has not looked at all inserts into {}", place.table);
                continue;
            }
            let query = self.query(sql::TO_FETCH).bind(format!("{}/queue", row.replica_path));
            let left: Vec<String> =
                self.fetch(node, &query.sql_display().to_string(), self.timeout)?;
            let awaited = to_fetch.get_or_insert_with(|| left.clone());
            awaited.retain(|name| left.contains(name));
            if awaited.is_empty() {
                if let Some(up_to) = up_to {
                    node.standing.was_whole(place.table, up_to);
                }
                return Ok(());
            }
            lack = format!("has to fetch {} parts of {}", awaited.len(), place.table);
        }
        Err(NodeRefusal::Lags(lack))
    }

    fn replica(&self, node: &Node, table: &str) -> Result<ReplicaRow, NodeRefusal> {
        let query = self.query(sql::REPLICA).bind(table).sql_display().to_string();
        let rows: Vec<ReplicaRow> = self.fetch(node, &query, self.timeout)?;
        let Some(row) = rows.into_iter().next() else {
            return Err(NodeRefusal::Failed(Error::Custom(format!("has no table {table}"))));
        };
        if row.readonly != 0 || row.expired != 0 {
            return Err(NodeRefusal::Lags(format!("has no session with Keeper for {table}")));
        }
        if row.parts_to_check > 0 {
            return Err(NodeRefusal::Lags(format!("checks parts of {table}")));
        }
        Ok(row)
    }

    /// The last entry in the log of a table, as the replica sees it; `None` if there is none.
    fn last_logged(&self, node: &Node, row: &ReplicaRow) -> Result<Option<u64>, NodeRefusal> {
        if (row.log_max_index, row.log_pointer) != (0, 0) {
            return Ok(Some(row.log_max_index));
        }
        // An empty log looks like one with a first entry that was not looked at.
        let query = self.query(sql::CHILDREN).bind(format!("{}/log", row.path));
        let count: Vec<u64> = self.fetch(node, &query.sql_display().to_string(), self.timeout)?;
        Ok(count.first().is_none_or(|count| *count > 0).then_some(0))
    }

    /// Makes sure that rows are on as many replicas as if their insert had been acknowledged. If they were
    /// sent more than once, it may have been by a replica that has only seen that they are there
    /// already; if they were found, it may not have been yet, and they may go again.
    pub(crate) fn confirm(
        &self,
        place: TablePlace,
        found: &InsertedRows,
    ) -> Result<(), StoreError> {
        if self.cluster.is_none() {
            return Ok(());
        }
        let InsertedRows { condition, rows } = found;
        let sql = format!("SELECT count() FROM {} WHERE {condition}", place.table);
        let started = Instant::now();
        loop {
            let (mut replicas, mut causes) = (0, Vec::new());
            for At(at) in self.in_turn() {
                let node = &self.nodes[at];
                let counted = self
                    .is_of(node, place.shard)
                    .and_then(|()| Ok(self.fetch::<u64>(node, &sql, self.timeout)?));
                match counted {
                    Ok(count) if count.first().is_some_and(|&count| count >= *rows as u64) => {
                        replicas += 1;
                    }
                    Ok(count) => {
                        let count = count.first().copied().unwrap_or(0);
                        causes.push(format!("{}: has {count} of {rows}", node.url));
                    }
                    Err(NodeRefusal::Elsewhere) => {}
                    Err(refusal) => causes.push(format!("{}: {refusal}", node.url)),
                }
            }
            if replicas >= QUORUM {
                return Ok(());
            }
            if started.elapsed() > CATCH_UP.min(self.timeout) {
                let TablePlace { table, .. } = place;
                return Err(self.refused(&format!(
                    "{replicas} replicas have rows of {table} that {QUORUM} must have: {}",
                    causes.join("; ")
                )));
            }
            std::thread::sleep(LOOK);
        }
    }
}

//! The tables, made and changed by numbered migrations.

use std::collections::BTreeMap;

use clickhouse::sql::Identifier;
use mesonet::store::StoreError;

use crate::cluster::{Cluster, QUORUM};
use crate::link::{At, InsertedRows, Link, TablePlace};
use crate::options::Options;
use crate::rows::{MigrationRow, ShardRow};

/// The version of the tables that this crate reads and writes: the number of the last migration.
pub const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;

/// The name of each migration, and its statements, separated by semicolons at the ends of lines.
/// Each statement can run again, so an interrupted migration is simply repeated.
const MIGRATIONS: &[(&str, &str)] = &[
    ("record", include_str!("../migrations/0001_record.sql")),
    ("alerts", include_str!("../migrations/0002_alerts.sql")),
    ("marks", include_str!("../migrations/0003_marks.sql")),
    ("keys", include_str!("../migrations/0004_keys.sql")),
    ("earlier_places", include_str!("../migrations/0005_earlier_places.sql")),
    ("changes", include_str!("../migrations/0006_changes.sql")),
];

const LIST_OF_MIGRATIONS: &str = "CREATE TABLE IF NOT EXISTS migrations (number UInt32, name String) \
     ENGINE = ReplacingMergeTree() ORDER BY number";

/// Only in a cluster: the order in which stations are divided among the shards.
const LIST_OF_SHARDS: &str = "CREATE TABLE IF NOT EXISTS shards (position UInt32, shard String) \
     ENGINE = ReplacingMergeTree() ORDER BY position";

/// The tables that are divided among shards. Every node has all of the other tables.
const DIVIDED: [&str; 2] = ["readings", "weather"];

/// What [`migrate`] has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigrationReport {
    /// The version of the tables before; 0 if there were none.
    pub from: u32,
    /// The version now, [`SCHEMA_VERSION`].
    pub to: u32,
}

/// Makes the database and its tables, or brings the tables of an older version up to this one. Does
/// nothing if they have this version already.
///
/// In a cluster all nodes must answer, and each shard must have at least two nodes. It can run
/// again, and then makes the tables on nodes that were added since. The shards stay those of the
/// first run.
///
/// # Errors
/// ClickHouse cannot be reached or refuses, the tables are of a newer version, or in a cluster the shards
/// are not those that the tables were made for.
pub fn migrate(options: &Options) -> Result<MigrationReport, StoreError> {
    let server = Link::new(options)?;
    let nodes = (0..options.urls.len()).map(At);
    for at in nodes.clone() {
        let create = server.query("CREATE DATABASE IF NOT EXISTS ?");
        let create = create.bind(Identifier(&options.database)).sql_display().to_string();
        server.run(at, &create)?;
    }
    let link = server.within(&options.database);
    let shards = link.cluster.as_ref().map(|_| divided(&link)).transpose()?;
    let make = |at, statement: &str| {
        let of_cluster = link.cluster.as_ref();
        let statement = of_cluster.map_or_else(
            || statement.to_owned(),
            |cluster| replicated(statement, cluster, &options.database),
        );
        link.run(at, &statement)
    };
    for at in nodes.clone() {
        make(at, LIST_OF_MIGRATIONS)?;
    }
    let from = version(&link)?;
    if from > SCHEMA_VERSION {
        return Err(other_version(&link, from));
    }
    if let Some(shards) = shards {
        for at in nodes.clone() {
            make(at, LIST_OF_SHARDS)?;
        }
        keep_shards(&link, &shards)?;
    }
    for (number, (name, statements)) in (1..).zip(MIGRATIONS) {
        let is_done = number <= from;
        // A node that was added to a cluster later still needs its tables.
        if !is_done || link.cluster.is_some() {
            for (at, statement) in nodes
                .clone()
                .flat_map(|at| statements.split(";\n").map(move |statement| (at, statement)))
            {
                make(at, statement)?;
            }
        }
        if !is_done {
            let row = MigrationRow { number, name: (*name).to_owned() };
            let found = InsertedRows { condition: format!("number = {number}"), rows: 1 };
            link.insert(TablePlace::everywhere("migrations"), vec![row], &found)?;
        }
    }
    Ok(MigrationReport { from, to: SCHEMA_VERSION })
}

/// Connects to a database of this version.
pub(crate) fn open(options: &Options) -> Result<Link, StoreError> {
    let link = Link::new(options)?.within(&options.database);
    match &link.cluster {
        // One node of a cluster has only a part of the readings.
        None if is_there(&link, "shards")? => {
            let cause = "these tables belong to a cluster; its name and nodes are needed";
            return Err(link.failed(&cause));
        }
        None => check(&link)?,
        Some(cluster) => {
            check(&link)?;
            cluster.set_shards(shards(&link)?);
        }
    }
    Ok(link)
}

/// Refuses tables of another version.
fn check(link: &Link) -> Result<(), StoreError> {
    let is_there = link.cluster.is_some() || is_there(link, "migrations")?;
    let version = if is_there { version(link)? } else { 0 };
    if version == SCHEMA_VERSION { Ok(()) } else { Err(other_version(link, version)) }
}

fn is_there(link: &Link, table: &'static str) -> Result<bool, StoreError> {
    let query = link.query("EXISTS TABLE ?").bind(Identifier(table));
    let there: Vec<u8> = link.rows(TablePlace::everywhere(table), None, &query)?;
    match there[..] {
        [0] => Ok(false),
        [1] => Ok(true),
        // Something else answers every request, such as a proxy with an error page.
        _ => Err(link.refused(&"it does not answer like ClickHouse")),
    }
}

fn version(link: &Link) -> Result<u32, StoreError> {
    let newest = link.query("SELECT number FROM migrations ORDER BY number DESC LIMIT 1");
    let found: Vec<u32> = link.rows(TablePlace::everywhere("migrations"), None, &newest)?;
    Ok(found.first().copied().unwrap_or(0))
}

fn other_version(link: &Link, got: u32) -> StoreError {
    let advice =
        if got < SCHEMA_VERSION { " (mesonet-server migrate brings it up to date)" } else { "" };
    StoreError::SchemaVersion {
        path: link.name().to_owned(),
        got: format!("{got}{advice}"),
        allowed: SCHEMA_VERSION,
    }
}

/// The shards that the tables were made for.
fn shards(link: &Link) -> Result<Vec<String>, StoreError> {
    let query = link.query("SELECT position, shard FROM shards ORDER BY position, shard");
    let mut rows: Vec<ShardRow> = link.rows(TablePlace::everywhere("shards"), None, &query)?;
    rows.dedup();
    let in_order = (0..).zip(&rows).all(|(position, row)| row.position == position);
    if rows.is_empty() || !in_order {
        return Err(link.failed(&format!("the table shards has {} rows out of order", rows.len())));
    }
    Ok(rows.into_iter().map(|row| row.shard).collect())
}

/// The shards of the nodes as they are now.
fn divided(link: &Link) -> Result<Vec<String>, StoreError> {
    let mut replicas: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for node in &link.nodes {
        let identity = link.identity(node).map_err(|error| link.refused_at(node, &error))?;
        let of_shard = replicas.entry(identity.shard).or_default();
        if of_shard.contains(&identity.replica) {
            let cause = format!("another node is also replica {} of its shard", identity.replica);
            return Err(link.failed(&format!("{}: {cause}", node.url)));
        }
        of_shard.push(identity.replica);
    }
    if let Some((shard, of_shard)) = replicas.iter().find(|(_, of)| of.len() < QUORUM) {
        return Err(link.failed(&format!(
            "shard {shard} has {} replica; a reading is acknowledged when {QUORUM} have it",
            of_shard.len()
        )));
    }
    Ok(replicas.into_keys().collect())
}

/// Writes down the shards, or compares them with what is written.
fn keep_shards(link: &Link, found: &[String]) -> Result<(), StoreError> {
    let place = TablePlace::everywhere("shards");
    let count: Vec<u64> =
        link.rows(place, None, &link.query("SELECT toUInt64(count()) FROM shards"))?;
    if count == [0] {
        let row = |(position, shard): (u32, &String)| ShardRow { position, shard: shard.clone() };
        let rows: Vec<ShardRow> = (0..).zip(found).map(row).collect();
        let all = InsertedRows { condition: "1 = 1".to_owned(), rows: rows.len() };
        link.insert(place, rows, &all)?;
    }
    let written = shards(link)?;
    if written == found {
        return Ok(());
    }
    Err(link.failed(&format!(
        "the readings are divided among the shards {}, and these nodes are of {}",
        written.join(", "),
        found.join(", ")
    )))
}

/// The statement that makes a table in a cluster. The rows of a divided table are on the replicas
/// of a shard; the rows of other tables are on all nodes.
fn replicated(statement: &str, cluster: &Cluster, database: &str) -> String {
    const ENGINE: &str = "ENGINE = ReplacingMergeTree(";
    let named = statement.split_once("CREATE TABLE IF NOT EXISTS ").map(|(_, rest)| rest);
    let table = named.and_then(|rest| rest.split_whitespace().next());
    let (Some(table), Some((before, after))) = (table, statement.split_once(ENGINE)) else {
        return statement.to_owned();
    };
    let (of, replica) = if DIVIDED.contains(&table) {
        ("{shard}", "{replica}")
    } else {
        ("all", "{shard}-{replica}")
    };
    let comma = if after.starts_with(')') { "" } else { ", " };
    let path = format!("/clickhouse/mesonet/{}/{database}/{of}/{table}", cluster.name());
    format!("{before}ENGINE = ReplicatedReplacingMergeTree('{path}', '{replica}'{comma}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_table_is_replicated_in_a_cluster() {
        let options = Options::of_cluster("weather", &["http://a:8123"], "mesonet");
        let cluster = Cluster::new("weather", &options).unwrap();
        let statements = MIGRATIONS.iter().flat_map(|(_, text)| text.split(";\n"));
        let mut tables = Vec::new();
        for statement in statements.chain([LIST_OF_MIGRATIONS, LIST_OF_SHARDS]) {
            let made = replicated(statement, &cluster, "mesonet");
            assert_eq!(
                made.matches("ENGINE = ReplicatedReplacingMergeTree('/").count(),
                1,
                "{made}"
            );
            tables.push(made.split('\'').nth(1).unwrap().to_owned());
        }
        let expected = [
            "all/writers",
            "all/batches",
            "all/series",
            "all/stations",
            "{shard}/readings",
            "{shard}/weather",
            "all/retention",
            "all/alerts",
            "all/marks",
            "all/api_keys",
            "all/earlier_places",
            "all/changes",
            "all/migrations",
            "all/shards",
        ];
        let expected: Vec<_> =
            expected.iter().map(|of| format!("/clickhouse/mesonet/weather/mesonet/{of}")).collect();
        assert_eq!(tables, expected);
        let first = MIGRATIONS[0].1.split(";\n").next().unwrap();
        let made = replicated(first, &cluster, "mesonet");
        assert!(made.contains("/all/writers', '{shard}-{replica}')\n"), "{made}");
    }
}

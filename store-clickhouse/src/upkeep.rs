//! Dropping what is not needed any more, by whole partitions.

use clickhouse::sql::Identifier;
use mesonet::StationId;
use mesonet::store::StoreError;
use mesonet::time::DAY_MS;

use crate::link::Link;
use crate::rows::PartitionRow;
use crate::sql;
use crate::write::{Additions, Writer};

/// What [`ClickHouseStore::maintain`](crate::ClickHouseStore::maintain) did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Maintained {
    /// Days of readings and of present weather that were dropped, each counted for itself.
    pub expired_days: usize,
    /// Rows in them; a reading has one for each of its versions.
    pub expired_rows: u64,
    /// Days on which states of stations were written that later ones have overtaken.
    pub station_days: usize,
}

impl Writer {
    /// Readings before an instant do not count from now on; it never moves back.
    pub(crate) fn retain(&mut self, retain_from_ms: i64) -> Result<(), StoreError> {
        if retain_from_ms > self.known.visible.retain_from_ms {
            let query = self.link.query("INSERT INTO retention (retain_from_ms) VALUES (?)");
            self.link.execute(query.bind(retain_from_ms))?;
            self.known.visible.retain_from_ms = retain_from_ms;
        }
        Ok(())
    }

    /// Drops the days that are wholly before the cutoff. Returns how many, and their rows.
    pub(crate) fn drop_expired(&self) -> Result<(usize, u64), StoreError> {
        let (mut days, mut rows) = (0, 0);
        for (table, partition) in expired(&self.link, self.known.visible.retain_from_ms)? {
            self.drop_partition(table, &partition)?;
            days += 1;
            rows += partition.rows;
        }
        Ok((days, rows))
    }

    /// Drops the states of stations that were written before today, after writing all of them anew,
    /// so that they can be read at once when the record is opened.
    pub(crate) fn drop_old_states(&mut self, today: i32) -> Result<usize, StoreError> {
        let old = partitions(&self.link, "stations", i64::from(today))?;
        if old.is_empty() {
            return Ok(0);
        }
        let all: Vec<StationId> = self.known.stations.keys().copied().collect();
        self.commit(self.known.clone(), Additions::default(), &all, today)?;
        for partition in &old {
            self.drop_partition("stations", partition)?;
        }
        Ok(old.len())
    }

    fn drop_partition(&self, table: &str, partition: &PartitionRow) -> Result<(), StoreError> {
        let query = self.link.query(sql::DROP_PARTITION);
        self.link.execute(query.bind(Identifier(table)).bind(&partition.id))
    }
}

/// The days of readings and of present weather that are wholly before an instant, each with its table.
pub(crate) fn expired(
    link: &Link,
    retain_from_ms: i64,
) -> Result<Vec<(&'static str, PartitionRow)>, StoreError> {
    let first_kept = retain_from_ms.div_euclid(DAY_MS);
    let mut all = Vec::new();
    for table in ["readings", "weather"] {
        let of_table = partitions(link, table, first_kept)?;
        all.extend(of_table.into_iter().map(|partition| (table, partition)));
    }
    Ok(all)
}

fn partitions(link: &Link, table: &str, before_day: i64) -> Result<Vec<PartitionRow>, StoreError> {
    link.rows(link.query(sql::PARTITIONS).bind(table).bind(before_day))
}

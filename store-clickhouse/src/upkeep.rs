//! Drops what is no longer needed, by whole partitions.

use std::collections::BTreeSet;

use clickhouse::sql::Identifier;
use mesonet::StationId;
use mesonet::store::StoreError;
use mesonet::time::DAY_MS;

use crate::link::{Link, TablePlace};
use crate::load::BATCHES;
use crate::marks::Marks;
use crate::rows::PartitionRow;
use crate::sql;
use crate::write::{Additions, BatchWriter};

/// How the table `batches` is divided.
const BATCHES_IN_PARTITION: u64 = 65_536;

/// For so many whole days it is known what each batch changed.
const CHANGES_KEPT_DAYS: i64 = 7;

/// The mark for the cutoff of retention, as `queries/retain_from.sql` names it.
const RETAIN_FROM: &str = "retain_from_ms";

/// What [`ClickHouseStore::maintain`](crate::ClickHouseStore::maintain) did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaintenanceReport {
    /// Days of readings and of present weather that were dropped, counted separately.
    pub expired_days: usize,
    /// Rows in those days; a reading has one row for each of its versions.
    pub expired_rows: u64,
    /// Days of dropped states of stations, which later states had overtaken.
    pub station_days: usize,
}

impl BatchWriter {
    /// From now on, readings before an instant do not count. The instant may move back: readings
    /// that have not been dropped count again.
    pub(crate) fn retain(&mut self, marks: &Marks, retain_from_ms: i64) -> Result<(), StoreError> {
        if retain_from_ms != self.known.visible.retain_from_ms {
            let at = marks.set(RETAIN_FROM, &retain_from_ms.to_string())?;
            self.fence.check(&self.link, Some(at))?;
            self.known.visible.retain_from_ms = retain_from_ms;
            // What is dropped must not be shown if the instant moves back.
            self.known.recent.drop_before(retain_from_ms);
        }
        Ok(())
    }

    /// Drops the days that are wholly before the cutoff. Returns how many, and their rows.
    pub(crate) fn drop_expired(&self) -> Result<(usize, u64), StoreError> {
        let visible = &self.known.visible;
        let expired = expired(&self.link, visible.up_to, visible.retain_from_ms)?;
        for (place, partition) in &expired {
            self.drop_partition(*place, partition)?;
        }
        Ok(days_and_rows(&expired))
    }

    /// Writes the states of all stations anew, then drops the states that were written before
    /// today. So the states can be read at once when the record is opened.
    pub(crate) fn drop_old_states(&mut self, today: i32) -> Result<usize, StoreError> {
        let old = |table| {
            let (place, up_to) = (TablePlace::everywhere(table), self.known.visible.up_to);
            partitions(&self.link, place, up_to, i64::from(today)).map(|old| (place, old))
        };
        // A state from before its station moved has no row in the second table.
        let [stations, places] = [old("stations")?, old("earlier_places")?];
        if stations.1.is_empty() {
            return Ok(0);
        }
        let all: Vec<StationId> = self.known.stations.keys().copied().collect();
        self.commit(self.known.clone(), &Additions::default(), &all, today)?;
        for (place, old) in [&places, &stations] {
            for partition in old {
                self.drop_partition(*place, partition)?;
            }
        }
        Ok(stations.1.len())
    }

    /// Drops what batches of some days ago changed.
    pub(crate) fn drop_old_changes(&self, today: i32) -> Result<(), StoreError> {
        let place = TablePlace::everywhere("changes");
        let first_kept = i64::from(today) - CHANGES_KEPT_DAYS;
        for partition in partitions(&self.link, place, self.known.visible.up_to, first_kept)? {
            self.drop_partition(place, &partition)?;
        }
        Ok(())
    }

    /// Drops what is known of the batches of earlier writers. Batches that count come before the
    /// first batch of this writer, and the others are in a partition of their own.
    pub(crate) fn drop_old_batches(&self) -> Result<(), StoreError> {
        let first_kept = (self.fence.first_number() / BATCHES_IN_PARTITION) as i64;
        for partition in partitions(&self.link, BATCHES, self.known.visible.up_to, first_kept)? {
            self.drop_partition(BATCHES, &partition)?;
        }
        Ok(())
    }

    fn drop_partition(
        &self,
        place: TablePlace,
        partition: &PartitionRow,
    ) -> Result<(), StoreError> {
        let query = self.link.query(sql::DROP_PARTITION).bind(Identifier(place.table));
        self.link.execute(place, &query.bind(&partition.id))
    }
}

/// The days of readings and of present weather that are wholly before an instant, each with its table
/// and shard.
pub(crate) fn expired(
    link: &Link,
    up_to: u64,
    retain_from_ms: i64,
) -> Result<Vec<(TablePlace, PartitionRow)>, StoreError> {
    let first_kept = retain_from_ms.div_euclid(DAY_MS);
    let mut all = Vec::new();
    for table in ["readings", "weather"] {
        for place in (0..link.shards()).map(|shard| TablePlace::of_shard(table, shard)) {
            let of_shard = partitions(link, place, up_to, first_kept)?;
            all.extend(of_shard.into_iter().map(|partition| (place, partition)));
        }
    }
    Ok(all)
}

/// How many days these are, counted per table, and how many rows.
pub(crate) fn days_and_rows(expired: &[(TablePlace, PartitionRow)]) -> (usize, u64) {
    let days: BTreeSet<_> =
        expired.iter().map(|(place, partition)| (place.table, &partition.id)).collect();
    (days.len(), expired.iter().map(|(_, partition)| partition.rows).sum())
}

/// The partitions of a table that are named by a number before a given one.
fn partitions(
    link: &Link,
    place: TablePlace,
    up_to: u64,
    before: i64,
) -> Result<Vec<PartitionRow>, StoreError> {
    let query = link.query(sql::PARTITIONS).bind(place.table).bind(before);
    link.rows(place, Some(up_to), &query)
}

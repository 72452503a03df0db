//! The readings of the last hours in memory, so that nearly all answers need no query.
//!
//! They are those of the record after one batch, like everything else that a reader sees. A batch
//! copies what it changes: the stations of its readings, and of these the hours around.

use std::collections::HashMap;
use std::sync::Arc;

use mesonet::store::SeriesSlice;
use mesonet::time::HOUR_MS;
use mesonet::{Series, Variable};

use crate::columns::{StationColumns, Times, Which};
use crate::rows::{ReadingRow, StationKey};
use crate::series::KnownSeries;

/// The readings of a station in this much time are together.
pub(crate) const BLOCK_MS: i64 = 6 * HOUR_MS;

/// A batch copies the tables of the stations that it changes, out of so many.
const TABLES: usize = 64;

/// What is in memory of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecentReadings {
    /// Readings from this instant on (milliseconds since 1970); `None` if there are none.
    pub from_ms: Option<i64>,
    /// How many readings.
    pub readings: usize,
    /// What they take, about.
    pub bytes: usize,
}

/// The readings from an instant on.
#[derive(Clone, Debug)]
pub(crate) struct Recent {
    from_ms: i64,
    /// From when on readings were asked for. They may have taken too much.
    asked_from_ms: i64,
    readings: usize,
    bytes: usize,
    tables: Box<[Arc<Table>; TABLES]>,
}

type Table = HashMap<StationKey, Arc<Vec<Block>>>;

/// The number of a block, which increases with time, and its readings.
type Block = (i64, Arc<StationColumns>);

/// Variables, to be looked up fast.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variables(u128);

const _: () = assert!(Variable::ALL.len() <= 128, "a variable is a bit of a number");

impl Variables {
    pub(crate) fn new(variables: &[Variable]) -> Self {
        Self(variables.iter().fold(0, |all, &variable| all | 1 << variable as u8))
    }

    pub(crate) fn has(self, series: &Series) -> bool {
        self.0 & 1 << series.key.variable as u8 != 0
    }
}

impl Default for Recent {
    fn default() -> Self {
        let none = i64::MAX;
        Self {
            from_ms: none,
            asked_from_ms: none,
            readings: 0,
            bytes: 0,
            tables: Box::new(std::array::from_fn(|_| Arc::default())),
        }
    }
}

impl Recent {
    /// Readings from this instant on are here; none if it is `i64::MAX`.
    pub(crate) fn start_ms(&self) -> i64 {
        self.from_ms
    }

    pub(crate) fn kept(&self) -> RecentReadings {
        let from_ms = Some(self.from_ms).filter(|&from_ms| from_ms < i64::MAX);
        RecentReadings { from_ms, readings: self.readings, bytes: self.bytes }
    }

    /// Whether readings from an instant on have to be read: only later ones were asked for, or none,
    /// or they took too much an hour ago.
    pub(crate) fn lacks(&self, from_ms: i64) -> bool {
        let is_earlier = from_ms < self.asked_from_ms.saturating_sub(HOUR_MS);
        let has_none = self.from_ms == i64::MAX && self.asked_from_ms < i64::MAX;
        is_earlier || has_none && from_ms >= self.asked_from_ms + HOUR_MS
    }

    /// None yet of the readings from an instant on.
    pub(crate) fn asked_from(asked_from_ms: i64) -> Self {
        Self { asked_from_ms, ..Self::default() }
    }

    /// From now on, takes readings from an earlier instant on. The caller adds those that there are.
    pub(crate) fn reach_back_to(&mut self, from_ms: i64) {
        self.from_ms = from_ms;
    }

    /// Adds readings; those from before the first instant are left out.
    pub(crate) fn put(&mut self, rows: impl IntoIterator<Item = ReadingRow>, table: &KnownSeries) {
        let mut rows: Vec<ReadingRow> =
            rows.into_iter().filter(|row| row.ts_ms >= self.from_ms).collect();
        rows.sort_unstable_by_key(|row| {
            let block = block_of(row.ts_ms);
            (row.station, block, row.series, row.ts_ms, row.version, row.batch)
        });
        for of_station in rows.chunk_by(|a, b| a.station == b.station) {
            let station = of_station[0].station;
            let stations = Arc::make_mut(&mut self.tables[station.shard(TABLES)]);
            let blocks = Arc::make_mut(stations.entry(station).or_default());
            for rows in of_station.chunk_by(|a, b| block_of(a.ts_ms) == block_of(b.ts_ms)) {
                let number = block_of(rows[0].ts_ms);
                let at = blocks.partition_point(|(known, _)| *known < number);
                if blocks.get(at).is_none_or(|(known, _)| *known != number) {
                    blocks.insert(at, (number, Arc::default()));
                }
                let mut columns = StationColumns::default();
                columns.fill(&blocks[at].1, rows, table);
                let was = &blocks[at].1;
                self.readings += columns.len() - was.len();
                // A block that is new was counted as nothing.
                let was_bytes = if was.len() == 0 { 0 } else { was.bytes() };
                self.bytes += columns.bytes() - was_bytes;
                blocks[at].1 = Arc::new(columns);
            }
        }
    }

    /// Drops the readings before an instant, and more if they take too much.
    pub(crate) fn limit(&mut self, from_ms: i64, most_bytes: usize) {
        self.asked_from_ms = self.asked_from_ms.max(from_ms);
        self.drop_before(from_ms);
        while self.bytes > most_bytes {
            let oldest = self.tables.iter().flat_map(|table| table.values());
            let Some(oldest) = oldest.filter_map(|blocks| blocks.first()).map(|of| of.0).min()
            else {
                return;
            };
            self.drop_before((oldest + 1) * BLOCK_MS);
        }
    }

    /// Drops the readings before an instant.
    pub(crate) fn drop_before(&mut self, from_ms: i64) {
        if from_ms <= self.from_ms {
            return;
        }
        let (first, was_first) = (block_of(from_ms), block_of(self.from_ms));
        self.from_ms = from_ms;
        if first == was_first {
            return;
        }
        (self.readings, self.bytes) = (0, 0);
        for table in self.tables.iter_mut() {
            let mut kept = Table::new();
            for (station, blocks) in &**table {
                let after = &blocks[blocks.partition_point(|(number, _)| *number < first)..];
                if !after.is_empty() {
                    self.readings += after.iter().map(|(_, of)| of.len()).sum::<usize>();
                    self.bytes += after.iter().map(|(_, of)| of.bytes()).sum::<usize>();
                    kept.insert(*station, Arc::new(after.to_vec()));
                }
            }
            *table = Arc::new(kept);
        }
    }

    /// Adds the readings of a station between two instants, both included, to a list: by the ids of
    /// their series, and in time.
    pub(crate) fn add_slices<'a>(
        &'a self,
        station: StationKey,
        variables: Variables,
        times: &Times,
        which: Which,
        slices: &mut Vec<SeriesSlice<'a>>,
    ) {
        let (from_ms, to_ms) = ((*times.start()).max(self.from_ms), *times.end());
        if from_ms > to_ms {
            return;
        }
        let blocks = self.blocks(station);
        let blocks = &blocks[blocks.partition_point(|(number, _)| *number < block_of(from_ms))..];
        let blocks = &blocks[..blocks.partition_point(|(number, _)| *number <= block_of(to_ms))];
        let asked = |(_, columns): &'a Block| {
            let of_block = columns.series().filter(move |(series, _)| variables.has(series));
            of_block.filter_map(move |(series, range)| {
                let range = columns.between(range, (from_ms, to_ms));
                (!range.is_empty()).then(|| (&**columns, series, range))
            })
        };
        let begin = slices.len();
        match which {
            Which::All => {
                let all = blocks.iter().flat_map(asked);
                slices.extend(all.map(|(columns, series, range)| columns.slice(series, range)));
                // Stable: the parts of a series stay in time.
                slices[begin..].sort_by_key(|slice| slice.series.id);
            }
            Which::Latest => {
                for block in blocks.iter().rev() {
                    let end = slices.len();
                    for (columns, series, range) in asked(block) {
                        let later = &slices[begin..end];
                        if later.binary_search_by_key(&series.id, |of| of.series.id).is_err() {
                            slices.push(columns.slice(series, range.end - 1..range.end));
                        }
                    }
                    slices[begin..].sort_by_key(|slice| slice.series.id);
                }
            }
        }
    }

    /// The readings of a station at an instant.
    pub(crate) fn at(
        &self,
        station: StationKey,
        ts_ms: i64,
    ) -> impl Iterator<Item = ReadingRow> + '_ {
        let blocks = self.blocks(station);
        let at = blocks.binary_search_by_key(&block_of(ts_ms), |(number, _)| *number);
        at.into_iter().flat_map(move |at| blocks[at].1.at(station, ts_ms))
    }

    fn blocks(&self, station: StationKey) -> &[Block] {
        self.tables[station.shard(TABLES)].get(&station).map_or(&[], |blocks| blocks)
    }
}

fn block_of(ts_ms: i64) -> i64 {
    ts_ms.div_euclid(BLOCK_MS)
}

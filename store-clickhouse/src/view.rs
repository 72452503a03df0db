//! What a reader sees: the record after one batch. It does not change while the reader looks.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use clickhouse::query::Query;
use clickhouse::{RowOwned, RowRead};
use mesonet::store::{Damage, Directory, Selection, SeriesSlice, StoreError, VisitWeather};
use mesonet::{ClosedWindow, Reader, Series, StationId, Variable};

use crate::columns::{StationColumns, Times, Which};
use crate::known::{KnownRecord, StationState, Visible};
use crate::link::{Link, TablePlace};
use crate::recent::{Recent, Variables};
use crate::rows::{LatestRow, ReadingRow, SqlList, StationKey, WeatherRow};
use crate::series::KnownSeries;
use crate::sql;

/// How many readings a query should bring at most, by the estimate below. A station is always asked
/// for whole.
pub(crate) const READINGS_AT_ONCE: u64 = 1_000_000;

/// How many stations and moments a query names at most. This keeps the query below the length that
/// ClickHouse parses (256 KB).
const STATIONS_AT_ONCE: usize = 1000;
const MOMENTS_AT_ONCE: usize = 8000;

/// The record after a batch, with what a batch in progress adds to it.
#[derive(Clone, Debug)]
pub(crate) struct RecordView {
    pub link: Arc<Link>,
    pub visible: Visible,
    pub directory: Arc<Directory>,
    pub series: Arc<KnownSeries>,
    pub stations: Arc<BTreeMap<StationId, Arc<StationState>>>,
    /// The readings that need not be asked for.
    pub recent: Recent,
    /// Readings that are not in the tables yet, with the versions they will have, by station.
    pub fresh: Arc<[ReadingRow]>,
    /// Weather that is not in the tables yet, with the versions it will have, by station.
    pub fresh_weather: Arc<[WeatherRow]>,
}

/// The newest readings of stations at some moments, by station, series and time.
pub(crate) type NewestReadings = HashMap<(StationKey, i32, i64), ReadingRow>;

impl Reader for RecordView {
    fn directory(&self) -> Result<Arc<Directory>, StoreError> {
        Ok(Arc::clone(&self.directory))
    }

    fn scan(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        self.scan_groups(selection, Which::All, visit)
    }

    fn scan_latest(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        self.scan_groups(selection, Which::Latest, visit)
    }

    fn scan_weather(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut VisitWeather<'_>,
    ) -> Result<Damage, StoreError> {
        let times = self.retained(window);
        if times.is_empty() {
            return Ok(Damage::default());
        }
        for (group, ids) in stations.chunks(STATIONS_AT_ONCE).enumerate() {
            let is_known = |id: &StationId| self.stations.contains_key(id);
            let known: Vec<StationId> = ids.iter().copied().filter(is_known).collect();
            let mut rows: Vec<WeatherRow> = self.on_shards(&known, |shard, names| {
                let query = self.link.query(sql::WEATHER_WINDOW).bind(SqlList(names));
                self.rows("weather", shard, &self.seen(within(query, &times)))
            })?;
            for id in known {
                let fresh = of_station(&self.fresh_weather, id.into(), |row| row.station);
                rows.extend(fresh.iter().filter(|row| times.contains(&row.ts_ms)).cloned());
            }
            rows.sort_by_key(|row| (row.station, row.ts_ms, row.version, row.batch));
            for (i, &id) in ids.iter().enumerate() {
                let of_id = of_station(&rows, id.into(), |row| row.station);
                for versions in of_id.chunk_by(|a, b| a.ts_ms == b.ts_ms) {
                    let newest = &versions[versions.len() - 1];
                    let at = group * STATIONS_AT_ONCE + i;
                    visit(at, newest.ts_ms, newest.revision, &newest.words);
                }
            }
        }
        Ok(Damage::default())
    }

    fn held_from_ms(&self) -> Result<i64, StoreError> {
        Ok(self.visible.retain_from_ms)
    }
}

impl RecordView {
    /// The record as it is known.
    pub(crate) fn new(link: &Arc<Link>, known: &KnownRecord) -> Self {
        let KnownRecord { visible, series, stations, directory, recent, .. } = known;
        Self {
            link: Arc::clone(link),
            visible: visible.clone(),
            directory: Arc::clone(directory),
            series: Arc::clone(series),
            stations: Arc::clone(stations),
            recent: recent.clone(),
            fresh: Arc::new([]),
            fresh_weather: Arc::new([]),
        }
    }

    /// Time of the newest reading, milliseconds since 1970.
    pub(crate) fn newest_ms(&self) -> Option<i64> {
        let of_all = self.stations.values().flat_map(|state| state.newest_ms.iter().copied());
        of_all.max().filter(|&newest_ms| newest_ms >= self.visible.retain_from_ms)
    }

    /// The part of a window that is not before the retention cutoff.
    pub(crate) fn retained(&self, window: ClosedWindow) -> Times {
        window.start_ms().max(self.visible.retain_from_ms)..=window.end_ms()
    }

    /// Adds the condition on what counts to a query that ends with that condition.
    pub(crate) fn seen(&self, query: Query) -> Query {
        query.bind(self.visible.up_to).bind(SqlList(&self.visible.uncommitted))
    }

    /// Reads a table of a shard as it was after the last batch that this view sees.
    pub(crate) fn rows<R>(
        &self,
        table: &'static str,
        shard: usize,
        query: &Query,
    ) -> Result<Vec<R>, StoreError>
    where
        R: RowOwned + RowRead + Send + 'static,
    {
        self.link.rows(TablePlace::of_shard(table, shard), Some(self.visible.up_to), query)
    }

    /// Asks each shard that has some of the stations for rows, all at once.
    pub(crate) fn on_shards<R: Send>(
        &self,
        stations: &[StationId],
        ask: impl Fn(usize, &[String]) -> Result<Vec<R>, StoreError> + Sync,
    ) -> Result<Vec<R>, StoreError> {
        let shards = self.link.shards();
        let mut ids: Vec<Vec<String>> = vec![Vec::new(); shards];
        for id in stations {
            ids[StationKey::from(*id).shard(shards)].push(id.to_string());
        }
        let mut asked: Vec<_> = ids.iter().enumerate().filter(|(_, ids)| !ids.is_empty()).collect();
        let Some((last, ids)) = asked.pop() else { return Ok(Vec::new()) };
        let ask = &ask;
        std::thread::scope(|scope| {
            let others: Vec<_> = asked
                .into_iter()
                .map(|(shard, ids)| scope.spawn(move || ask(shard, ids)))
                .collect();
            let mut rows = ask(last, ids);
            for other in others {
                let of_other =
                    other.join().unwrap_or_else(|_| Err(self.link.failed(&"a query panicked")));
                rows = rows.and_then(|mut rows| {
                    rows.extend(of_other?);
                    Ok(rows)
                });
            }
            rows
        })
    }

    /// Visits stations group by group: the readings of one group that are asked for fit into memory
    /// together.
    fn scan_groups(
        &self,
        selection: &Selection<'_>,
        which: Which,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        let variables = Variables::new(selection.variables);
        let times = self.retained(selection.window);
        let scan = Scan {
            which,
            variables,
            series: self.series.all().filter(|of| variables.has(of)).map(|of| of.id.0).collect(),
            older: *times.start()..=(*times.end()).min(self.recent.start_ms().saturating_sub(1)),
            times,
        };
        let mut group: Vec<(usize, StationId)> = Vec::new();
        // How many stations have older readings, and how many readings they have.
        let (mut stations, mut readings) = (0, 0);
        for (i, id) in selection.stations.iter().enumerate() {
            let more = self.expected(*id, &scan, selection.variables);
            let is_full = more > 0
                && (stations == STATIONS_AT_ONCE
                    || stations > 0 && readings + more > READINGS_AT_ONCE);
            if is_full {
                self.scan_group(&group, &scan, visit)?;
                group.clear();
                (stations, readings) = (0, 0);
            }
            group.push((i, *id));
            stations += usize::from(more > 0);
            readings += more;
        }
        self.scan_group(&group, &scan, visit)?;
        Ok(Damage::default())
    }

    /// How many older readings of a station a scan is expected to bring.
    fn expected(&self, id: StationId, scan: &Scan, variables: &[Variable]) -> u64 {
        if scan.older.is_empty() {
            return 0;
        }
        let Some(state) = self.stations.get(&id) else { return 0 };
        match (scan.which, state.expected(variables, &scan.older)) {
            (_, (_, 0)) => 0,
            (Which::All, (readings, _)) => readings,
            (Which::Latest, (_, series)) => series,
        }
    }

    fn scan_group(
        &self,
        group: &[(usize, StationId)],
        scan: &Scan,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<(), StoreError> {
        let older = self.older(group, scan)?;
        let (mut recent, mut columns) = (Vec::new(), StationColumns::default());
        for &(i, id) in group {
            recent.clear();
            self.recent.add_slices(id.into(), scan.variables, &scan.times, scan.which, &mut recent);
            let rows = of_station(&older, id.into(), |row| row.station);
            if !rows.is_empty() {
                columns.fill(&StationColumns::default(), rows, &self.series);
                visit(i, &joined(&columns, &recent, scan.which));
            } else if !recent.is_empty() {
                visit(i, &recent);
            }
        }
        Ok(())
    }

    /// The readings of stations that are not in memory, sorted by station, series, time and version.
    fn older(
        &self,
        group: &[(usize, StationId)],
        scan: &Scan,
    ) -> Result<Vec<ReadingRow>, StoreError> {
        let Scan { which, series, older: times, .. } = scan;
        if times.is_empty() || series.is_empty() {
            return Ok(Vec::new());
        }
        let mut stations: Vec<StationId> = group.iter().map(|&(_, id)| id).collect();
        stations.retain(|id| self.may_be_older(*id, scan));
        // A caller may ask for a station twice.
        stations.sort_unstable();
        stations.dedup();
        let ask = |sql, ids: &[String]| {
            let query = self.link.query(sql).bind(SqlList(ids)).bind(SqlList(series));
            self.seen(within(query, times))
        };
        let can_be_packed = |ts_ms| LatestRow::TIMES_MS.contains(ts_ms);
        let mut rows = self.on_shards(&stations, |shard, ids| match which {
            Which::Latest if can_be_packed(times.start()) && can_be_packed(times.end()) => {
                let rows: Vec<LatestRow> = self.rows("readings", shard, &ask(sql::LATEST, ids))?;
                Ok(rows.into_iter().map(LatestRow::reading).collect())
            }
            _ => self.rows("readings", shard, &ask(sql::WINDOW, ids)),
        })?;
        let is_asked = |row: &&ReadingRow| {
            times.contains(&row.ts_ms) && series.binary_search(&row.series).is_ok()
        };
        for &id in &stations {
            let fresh = of_station(&self.fresh, id.into(), |row| row.station);
            rows.extend(fresh.iter().filter(is_asked));
        }
        // Stable, which is fast here: the answer is made of parts that are in order.
        rows.sort_by_key(|row| (row.station, row.series, row.ts_ms, row.version, row.batch));
        Ok(rows)
    }

    /// Whether a scan may need older readings of a station: for the last reading of a series, only
    /// if there is no recent one.
    fn may_be_older(&self, id: StationId, scan: &Scan) -> bool {
        let Some(state) = self.stations.get(&id) else { return false };
        let mut recent = Vec::new();
        if let Which::Latest = scan.which {
            self.recent.add_slices(id.into(), scan.variables, &scan.times, scan.which, &mut recent);
        }
        state.record.series.iter().zip(&state.newest_ms).any(|(known, newest_ms)| {
            let series = &known.series;
            known.first_appearance_ms <= *scan.older.end()
                && newest_ms >= scan.older.start()
                && scan.variables.has(series)
                && recent.binary_search_by_key(&series.id, |of| of.series.id).is_err()
        })
    }

    /// Finds the newest version of all readings of stations at some moments, including series that
    /// were not asked for.
    pub(crate) fn find(&self, moments: &[(StationId, i64)]) -> Result<NewestReadings, StoreError> {
        let mut stored = NewestReadings::new();
        let (recent, older): (Vec<_>, Vec<_>) =
            moments.iter().partition(|(_, ts_ms)| *ts_ms >= self.recent.start_ms());
        for (id, ts_ms) in recent {
            let rows = self.recent.at(id.into(), ts_ms);
            stored.extend(rows.map(|row| ((row.station, row.series, ts_ms), row)));
        }
        for (shard, ids, at, times) in grouped(&older, self.link.shards()) {
            let query = self.link.query(sql::MOMENTS).bind(SqlList(&ids)).bind(SqlList(&at));
            let query = self.seen(within(query, &times));
            let rows: Vec<ReadingRow> = self.rows("readings", shard, &query)?;
            for row in rows {
                let key = (row.station, row.series, row.ts_ms);
                let known = stored.entry(key).or_insert(row);
                if (known.version, known.batch) < (row.version, row.batch) {
                    *known = row;
                }
            }
        }
        Ok(stored)
    }

    /// Finds the newest version of the present weather of stations at some moments.
    pub(crate) fn find_weather(
        &self,
        moments: &[(StationId, i64)],
    ) -> Result<HashMap<(StationKey, i64), WeatherRow>, StoreError> {
        let mut stored: HashMap<_, WeatherRow> = HashMap::new();
        for (shard, ids, at, times) in grouped(moments, self.link.shards()) {
            let query =
                self.link.query(sql::WEATHER_MOMENTS).bind(SqlList(&ids)).bind(SqlList(&at));
            let query = self.seen(within(query, &times));
            let mut rows: Vec<WeatherRow> = self.rows("weather", shard, &query)?;
            rows.sort_by_key(|row| (row.version, row.batch));
            stored.extend(rows.into_iter().map(|row| ((row.station, row.ts_ms), row)));
        }
        Ok(stored)
    }
}

/// The rows of a station, among rows in the order of their stations.
fn of_station<R>(rows: &[R], key: StationKey, station: impl Fn(&R) -> StationKey) -> &[R] {
    let rows = &rows[rows.partition_point(|row| station(row) < key)..];
    &rows[..rows.partition_point(|row| station(row) == key)]
}

fn within(query: Query, times: &Times) -> Query {
    query.bind(times.start()).bind(times.end())
}

/// What a scan looks for.
struct Scan {
    which: Which,
    variables: Variables,
    /// The ids of their series, sorted.
    series: Vec<i32>,
    times: Times,
    /// The times of readings that are not in memory.
    older: Times,
}

/// The older readings of a station and the recent ones. Of the last readings, only those of series
/// without a recent one are older.
fn joined<'a>(
    older: &'a StationColumns,
    recent: &[SeriesSlice<'a>],
    which: Which,
) -> Vec<SeriesSlice<'a>> {
    let slice = |(series, range): (&'a Arc<Series>, Range<usize>)| match which {
        Which::All => Some(older.slice(series, range)),
        Which::Latest => {
            let later = recent.binary_search_by_key(&series.id, |of| of.series.id);
            later.is_err().then(|| older.slice(series, range.end - 1..range.end))
        }
    };
    let mut slices: Vec<_> = older.series().filter_map(slice).collect();
    slices.extend_from_slice(recent);
    // Stable: the older part of a series stays first.
    slices.sort_by_key(|slice| slice.series.id);
    slices
}

/// A query for moments: the shard, the stations and times that it names, and the window around the
/// times.
type Group = (usize, Vec<String>, Vec<i64>, Times);

/// Divides the moments of stations into groups, so that one query can name the stations and times
/// of a group.
fn grouped(moments: &[(StationId, i64)], shards: usize) -> Vec<Group> {
    let shard = |id: StationId| StationKey::from(id).shard(shards);
    let mut sorted = moments.to_vec();
    sorted.sort_unstable_by_key(|&(id, ts_ms)| (shard(id), ts_ms, id));
    sorted.dedup();
    let mut groups = Vec::new();
    let of_shards = sorted.chunk_by(|a, b| shard(a.0) == shard(b.0));
    for group in of_shards.flat_map(|of_shard| of_shard.chunks(MOMENTS_AT_ONCE)) {
        let mut at: Vec<i64> = group.iter().map(|&(_, ts_ms)| ts_ms).collect();
        at.dedup();
        let mut ids: Vec<StationId> = group.iter().map(|&(id, _)| id).collect();
        ids.sort_unstable();
        ids.dedup();
        let times = at[0]..=at[at.len() - 1];
        for ids in ids.chunks(STATIONS_AT_ONCE) {
            let of_group = ids.iter().map(StationId::to_string).collect();
            groups.push((shard(ids[0]), of_group, at.clone(), times.clone()));
        }
    }
    groups
}

//! Reading what the writer has to know from the tables.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mesonet::observation::{IdScheme, Identifiers, SeriesId, SeriesParts, Station};
use mesonet::store::{Directory, StationRecord, StationSeries, StoreError};
use mesonet::{LonLat, SeriesKey, StationId, StationType};

use crate::known::{Known, SeriesTable, StationState, Visible};
use crate::link::{Link, Place};
use crate::rows::{BatchRow, List, SeriesRow, StationRow};
use crate::sql;

/// What the tables say.
pub(crate) struct Loaded {
    pub known: Known,
    /// The batches that were begun and not committed, and are not known as abandoned yet.
    pub left: Vec<u64>,
}

/// Reads the record after the last committed batch.
pub(crate) fn load(link: &Link) -> Result<Loaded, StoreError> {
    let all = |table, sql| (Place::everywhere(table), None, link.query(sql));
    let (place, up_to, query) = all("batches", sql::COMMITTED_BATCH);
    let committed: Vec<BatchRow> = link.rows(place, up_to, &query)?;
    let last = committed.first().copied().unwrap_or_default();
    let (place, up_to, query) = all("batches", sql::UNCOMMITTED);
    let begun: Vec<u64> = link.rows(place, up_to, &query)?;
    // After the batches: a writer drops those of earlier ones once it has written here what matters.
    let (place, up_to, query) = all("abandoned", sql::ABANDONED);
    let mut uncommitted: BTreeSet<u64> = link.rows(place, up_to, &query)?.into_iter().collect();
    let left = begun.iter().copied().filter(|batch| !uncommitted.contains(batch)).collect();
    uncommitted.insert(0);
    uncommitted.extend(begun);
    let (place, up_to, query) = all("retention", sql::RETAIN_FROM);
    let retain_from: Vec<i64> = link.rows(place, up_to, &query)?;
    let uncommitted: Vec<u64> = uncommitted.into_iter().collect();
    let visible = Visible {
        up_to: last.batch,
        uncommitted: uncommitted.into(),
        retain_from_ms: retain_from.first().copied().unwrap_or(i64::MIN),
    };
    let series = load_series(link, &visible)?;
    let stations = load_stations(link, &visible, &series)?;
    let mut known = Known {
        visible,
        generation: last.generation,
        places_generation: last.places_generation,
        stations: Arc::new(stations),
        series: Arc::new(series),
        directory: Arc::new(Directory::default()),
    };
    known.make_directory();
    Ok(Loaded { known, left })
}

fn load_series(link: &Link, visible: &Visible) -> Result<SeriesTable, StoreError> {
    let query = link.query(sql::SERIES).bind(visible.up_to).bind(List(&visible.uncommitted));
    let place = Place::everywhere("series");
    let rows: Vec<SeriesRow> = link.rows(place, Some(visible.up_to), &query)?;
    let mut table = SeriesTable::default();
    for row in rows {
        let parts = SeriesParts {
            variable: &row.variable,
            interval_type: &row.interval_type,
            interval_minutes: row.interval_minutes,
            calculated: row.calculated,
            reported_unit: Some(&row.reported_unit),
            bucket: Some(&row.bucket),
        };
        let key = SeriesKey::try_from(parts).map_err(|error| link.failed(&error))?;
        if key.id().0 != row.series {
            let cause =
                format!("series {} is on record with the properties of {}", row.series, key.id());
            return Err(link.failed(&cause));
        }
        if table.get(&key).is_none() {
            table.add(key);
        }
    }
    Ok(table)
}

fn load_stations(
    link: &Link,
    visible: &Visible,
    series: &SeriesTable,
) -> Result<BTreeMap<StationId, Arc<StationState>>, StoreError> {
    let query = link.query(sql::STATIONS).bind(visible.up_to).bind(List(&visible.uncommitted));
    let place = Place::everywhere("stations");
    let rows: Vec<StationRow> = link.rows(place, Some(visible.up_to), &query)?;
    let mut stations = BTreeMap::new();
    for row in rows {
        let id = StationId::from(row.station);
        let state = state_of(row, id, series);
        let state = state.map_err(|cause| link.failed(&format!("station {id}: {cause}")))?;
        stations.insert(id, Arc::new(state));
    }
    Ok(stations)
}

fn state_of(row: StationRow, id: StationId, table: &SeriesTable) -> Result<StationState, String> {
    let mut identifiers = Identifiers::default();
    for (name, id) in row.id_schemes.iter().zip(&row.ids) {
        let scheme = IdScheme::named(name).ok_or_else(|| format!("unknown id scheme {name}"))?;
        identifiers.add(scheme, id);
    }
    let station = Station {
        id,
        network: row.network,
        native_id: row.native_id,
        name: row.name,
        station_type: type_named(&row.station_type)?,
        coordinates: LonLat::new(row.longitude, row.latitude).map_err(|error| error.to_string())?,
        sensor_height_m: row.sensor_height_m,
        altitude_m: row.altitude_m,
        identifiers,
    };
    let series = row.series.iter().zip(&row.first_ms).map(|(&id, &first_appearance_ms)| {
        let series = table.by_id(id).ok_or_else(|| format!("unknown series {}", SeriesId(id)))?;
        Ok(StationSeries { series: Arc::clone(series), first_appearance_ms })
    });
    let record = StationRecord {
        station,
        update_time_ms: row.update_time_ms,
        present_weather: row.weather_known.then_some(row.weather),
        series: series.collect::<Result<_, String>>()?,
    };
    Ok(StationState {
        record: Arc::new(record),
        weather_of: (row.weather_ts_ms, row.weather_revision),
        newest_ms: row.newest_ms,
        readings: row.readings,
    })
}

/// The row of a station in a batch.
pub(crate) fn station_row(state: &StationState, batch: u64, written_day: i32) -> StationRow {
    let StationState { record, weather_of, newest_ms, readings } = state;
    let StationRecord { station, update_time_ms, present_weather, series } = &**record;
    StationRow {
        station: station.id.into(),
        batch,
        written_day,
        network: station.network.clone(),
        native_id: station.native_id.clone(),
        name: station.name.clone(),
        station_type: name_of_type(station.station_type).to_owned(),
        longitude: station.coordinates.lon(),
        latitude: station.coordinates.lat(),
        sensor_height_m: station.sensor_height_m,
        altitude_m: station.altitude_m,
        id_schemes: station
            .identifiers
            .iter()
            .map(|(scheme, _)| scheme.name().to_owned())
            .collect(),
        ids: station.identifiers.iter().map(|(_, id)| id.to_owned()).collect(),
        update_time_ms: *update_time_ms,
        weather_known: present_weather.is_some(),
        weather_ts_ms: weather_of.0,
        weather_revision: weather_of.1,
        weather: present_weather.clone().unwrap_or_default(),
        series: series.iter().map(|known| known.series.id.0).collect(),
        first_ms: series.iter().map(|known| known.first_appearance_ms).collect(),
        newest_ms: newest_ms.clone(),
        readings: readings.clone(),
    }
}

const TYPES: [(&str, Option<StationType>); 4] = [
    ("", None),
    ("OpenCountry", Some(StationType::OpenCountry)),
    ("Suburban", Some(StationType::Suburban)),
    ("OpenWater", Some(StationType::OpenWater)),
];

fn type_named(name: &str) -> Result<Option<StationType>, String> {
    let found = TYPES.iter().find(|(known, _)| *known == name);
    found.map(|(_, kind)| *kind).ok_or_else(|| format!("unknown station type {name}"))
}

fn name_of_type(kind: Option<StationType>) -> &'static str {
    TYPES.iter().find(|(_, known)| *known == kind).map_or("", |(name, _)| name)
}

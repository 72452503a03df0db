//! Reads from the tables what the writer and a reader have to know.

use std::collections::HashMap;
use std::sync::Arc;

use mesonet::observation::{
    EarlierPlace, EarlierPlaces, IdScheme, Identifiers, SeriesId, SeriesParts, Station,
};
use mesonet::store::{Directory, StationRecord, StationSeries, StoreError};
use mesonet::{LonLat, SeriesKey, StationId, StationType};

use crate::known::{KnownRecord, StationState, Visible};
use crate::link::{Link, TablePlace};
use crate::recent::Recent;
use crate::rows::{BatchRow, EarlierPlacesRow, SeriesRow, SqlList, StationKey, StationRow};
use crate::series::KnownSeries;
use crate::sql;

pub(crate) const COMMITTED: u8 = 2;

pub(crate) const BATCHES: TablePlace = TablePlace { table: "batches", shard: None };

/// The last committed batch; in an empty record its number is 0.
pub(crate) fn newest_committed(link: &Link) -> Result<BatchRow, StoreError> {
    let committed: Vec<BatchRow> = link.rows(BATCHES, None, &link.query(sql::COMMITTED_BATCH))?;
    Ok(committed.first().copied().unwrap_or_default())
}

/// Reads the record after the last committed batch.
pub(crate) fn load(link: &Link) -> Result<KnownRecord, StoreError> {
    let last = newest_committed(link)?;
    let mut uncommitted: Vec<u64> = vec![0];
    uncommitted.extend(link.rows::<u64>(BATCHES, None, &link.query(sql::UNCOMMITTED))?);
    let visible = Visible {
        up_to: last.batch,
        uncommitted: uncommitted.into(),
        retain_from_ms: retain_from_ms(link)?,
    };
    let mut series = KnownSeries::default();
    load_series(link, 0, &visible, &mut series)?;
    let stations = load_stations(link, 0, &visible, &series)?.into_iter().collect();
    let mut known = KnownRecord {
        visible,
        generation: last.generation,
        places_generation: last.places_generation,
        stations: Arc::new(stations),
        series: Arc::new(series),
        directory: Arc::new(Directory::default()),
        recent: Recent::default(),
    };
    known.make_directory();
    Ok(known)
}

/// What has become of a record since it was read.
pub(crate) enum News {
    /// Nothing.
    None,
    /// More batches were committed, with these stations.
    More(KnownRecord, Vec<StationId>),
    /// The last batch that was read no longer counts: a writer that has since opened the record did
    /// not find it.
    Other,
}

/// Reads what was committed since then, and what is no longer kept.
pub(crate) fn news(link: &Link, known: &KnownRecord) -> Result<News, StoreError> {
    let from = known.visible.up_to;
    let batches: Vec<BatchRow> = link.rows(BATCHES, None, &link.query(sql::NEWS).bind(from))?;
    let is_committed = |row: &&BatchRow| row.state == COMMITTED;
    if from > 0 && !batches.iter().any(|row| row.batch == from && row.state == COMMITTED) {
        return Ok(News::Other);
    }
    let retain_from_ms = retain_from_ms(link)?;
    let last = batches.iter().rfind(is_committed).copied().unwrap_or_default();
    if last.batch <= from && retain_from_ms == known.visible.retain_from_ms {
        return Ok(News::None);
    }
    let mut next = known.clone();
    next.visible.retain_from_ms = retain_from_ms;
    let mut touched = Vec::new();
    if last.batch > from {
        let before_last = batches.iter().filter(|row| row.batch < last.batch);
        let left_out = before_last.filter(|row| !is_committed(row)).map(|row| row.batch);
        next.visible.uncommitted =
            known.visible.uncommitted.iter().copied().chain(left_out).collect();
        next.visible.up_to = last.batch;
        (next.generation, next.places_generation) = (last.generation, last.places_generation);
        load_series(link, from, &next.visible, Arc::make_mut(&mut next.series))?;
        let changed = load_stations(link, from, &next.visible, &next.series)?;
        touched.extend(changed.iter().map(|&(id, _)| id));
        Arc::make_mut(&mut next.stations).extend(changed);
        next.make_directory();
    }
    Ok(News::More(next, touched))
}

fn retain_from_ms(link: &Link) -> Result<i64, StoreError> {
    let place = TablePlace::everywhere("retention");
    let retain_from: Vec<i64> = link.rows(place, None, &link.query(sql::RETAIN_FROM))?;
    Ok(retain_from.first().copied().unwrap_or(i64::MIN))
}

/// Adds the series of the batches after a given one.
fn load_series(
    link: &Link,
    after: u64,
    visible: &Visible,
    table: &mut KnownSeries,
) -> Result<(), StoreError> {
    let query = link.query(sql::SERIES).bind(after).bind(visible.up_to);
    let query = query.bind(SqlList(&visible.uncommitted));
    let place = TablePlace::everywhere("series");
    let rows: Vec<SeriesRow> = link.rows(place, Some(visible.up_to), &query)?;
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
    Ok(())
}

/// The stations of the batches after a given one.
fn load_stations(
    link: &Link,
    after: u64,
    visible: &Visible,
    series: &KnownSeries,
) -> Result<Vec<(StationId, Arc<StationState>)>, StoreError> {
    let query = link.query(sql::STATIONS).bind(after).bind(visible.up_to);
    let query = query.bind(SqlList(&visible.uncommitted));
    let place = TablePlace::everywhere("stations");
    // The places are read first. Otherwise a state could be found whose places a writer has just
    // dropped.
    let mut places = load_earlier_places(link, after, visible)?;
    let rows: Vec<StationRow> = link.rows(place, Some(visible.up_to), &query)?;
    let mut stations = Vec::with_capacity(rows.len());
    for row in rows {
        let id = StationId::from(row.station);
        let earlier = places.remove(&(row.station, row.batch));
        let state = state_of(row, id, earlier.as_ref(), series);
        let state = state.map_err(|cause| link.failed(&format!("station {id}: {cause}")))?;
        stations.push((id, Arc::new(state)));
    }
    Ok(stations)
}

/// The earlier places of stations in the batches after a given one, by the states that have them.
fn load_earlier_places(
    link: &Link,
    after: u64,
    visible: &Visible,
) -> Result<HashMap<(StationKey, u64), EarlierPlacesRow>, StoreError> {
    let query = link.query(sql::EARLIER_PLACES).bind(after).bind(visible.up_to);
    let query = query.bind(SqlList(&visible.uncommitted));
    let rows: Vec<EarlierPlacesRow> =
        link.rows(TablePlace::everywhere("earlier_places"), Some(visible.up_to), &query)?;
    Ok(rows.into_iter().map(|row| ((row.station, row.batch), row)).collect())
}

fn earlier_places(row: &EarlierPlacesRow) -> Result<EarlierPlaces, String> {
    let places = row.until_ms.iter().zip(row.longitude.iter().zip(&row.latitude));
    let place = |(&until_ms, (&lon, &lat)): (&i64, (&f64, &f64))| {
        let coordinates = LonLat::new(lon, lat).map_err(|error| error.to_string())?;
        Ok(EarlierPlace { until_ms, coordinates })
    };
    EarlierPlaces::new(places.map(place).collect::<Result<_, String>>()?)
        .ok_or_else(|| "earlier places are out of order".to_owned())
}

fn state_of(
    row: StationRow,
    id: StationId,
    earlier: Option<&EarlierPlacesRow>,
    table: &KnownSeries,
) -> Result<StationState, String> {
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
        earlier_places: earlier.map(earlier_places).transpose()?.unwrap_or_default(),
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

/// The row of the earlier places of a station in a batch, if it has moved.
pub(crate) fn earlier_places_row(
    state: &StationState,
    batch: u64,
    written_day: i32,
) -> Option<EarlierPlacesRow> {
    let station = &state.record.station;
    let places = station.earlier_places.as_slice();
    (!places.is_empty()).then(|| EarlierPlacesRow {
        station: station.id.into(),
        batch,
        written_day,
        until_ms: places.iter().map(|place| place.until_ms).collect(),
        longitude: places.iter().map(|place| place.coordinates.lon()).collect(),
        latitude: places.iter().map(|place| place.coordinates.lat()).collect(),
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

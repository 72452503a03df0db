//! The details and the markers of stations as JSON.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;
use serde::ser::Serializer;

use super::super::filter::{Away, FoundStation};
use super::super::form::AnswerForm;
use super::StationDetail;
use crate::geo::{FeatureType, LonLat};
use crate::observation::{
    BaseQuality, EarlierPlace, IdScheme, Identifiers, IntervalType, SeriesId, StationId,
    StationType,
};
use crate::store::{Directory, StationRecord, StationSeries};
use crate::time::{Iso8601, LocalClock};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = StationDetail))]
struct Detail<'a> {
    /// How far the station is from the place that was given, km; only then.
    #[serde(skip_serializing_if = "Option::is_none")]
    distance_km: Option<f64>,
    /// Bearing of the station at that place, degrees clockwise from north.
    #[serde(skip_serializing_if = "Option::is_none")]
    bearing: Option<f64>,
    /// Data provider, as the source feed names it.
    network: &'a str,
    /// Unique only within a network.
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    station_type: Option<StationType>,
    /// What the most recent report says of the weather.
    #[serde(skip_serializing_if = "Option::is_none")]
    present_weather: Option<&'a [String]>,
    /// Where it is now.
    coordinates: LonLat,
    /// Height of the sensor above ground in metres; 0 where the network gives none.
    elevation: f64,
    /// Altitude of the station above mean sea level in metres, if it is known; only if `fields`
    /// names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    altitude: Option<f64>,
    /// When the station last reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    update_time: Option<Iso8601>,
    /// The same as local time with its offset from UTC; only where `tz` was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    local_update_time: Option<String>,
    /// The time zone of the local times; only where `tz` was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    time_zone: Option<&'a str>,
    /// The series that it reports.
    types: Vec<ObservationType<'a>>,
    /// Distinct verdicts on its latest readings of map variables over 12 hours, worst first.
    qualities: &'a [BaseQuality],
    /// Its ids by scheme: `icao`, `wmo`, the provider's own and others.
    #[cfg_attr(feature = "openapi", schema(value_type = std::collections::BTreeMap<String, Vec<String>>))]
    identifiers: Ids,
    /// Where it was before it moved, the oldest first, at most 64; absent if it has not.
    /// Readings before `until` are from there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    earlier_places: Vec<Earlier>,
    /// Its newest report as it came in, of the last 12 hours; only if `fields` names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    report_text: Option<&'a str>,
}

/// A place where a station was before it moved.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = EarlierPlace))]
pub(super) struct Earlier {
    /// The first moment at which it was elsewhere.
    until: Iso8601,
    coordinates: LonLat,
}

impl From<&EarlierPlace> for Earlier {
    fn from(&EarlierPlace { until_ms, coordinates }: &EarlierPlace) -> Self {
        Self { until: Iso8601(until_ms), coordinates }
    }
}

/// A series: one variable at one station, measured in one way.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub(super) struct ObservationType<'a> {
    /// Readings name it as `typeId`.
    id: SeriesId,
    /// Name of the variable.
    name: &'a str,
    pretty_name: &'a str,
    /// Label of the group that it belongs to, such as a layer of clouds; else empty.
    group_bucket_name: &'a str,
    /// Unit of its values.
    reported_unit: &'a str,
    /// Unit of its values in an answer with the same units; only where units were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    /// Whether the service derives its values.
    calculated: bool,
    interval_type: IntervalType,
    /// Length of averaging or accumulation; 0 if instantaneous.
    interval_minutes: i32,
    first_appearance: Iso8601,
    /// The same as local time with its offset from UTC; only where `tz` was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    local_first_appearance: Option<String>,
}

/// The ids of a station as an object: for each scheme, a list.
pub(super) struct Ids(pub(super) Identifiers);

impl Serialize for Ids {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let all: Vec<(IdScheme, &str)> = self.0.iter().collect();
        let of_schemes = all.chunk_by(|one, next| one.0 == next.0).map(|of_scheme| {
            let ids: Vec<&str> = of_scheme.iter().map(|&(_, id)| id).collect();
            (of_scheme[0].0.name(), ids)
        });
        serializer.collect_map(of_schemes)
    }
}

impl<'a> ObservationType<'a> {
    fn new(known: &'a StationSeries, station: StationId, form: &AnswerForm) -> Self {
        let local = |clock: &Arc<LocalClock>| clock.text(known.first_appearance_ms);
        let key = &known.series.key;
        Self {
            id: known.series.id,
            name: key.variable.name(),
            pretty_name: key.variable.pretty_name(),
            group_bucket_name: &key.bucket,
            reported_unit: &key.reported_unit,
            unit: form.symbol(key),
            calculated: key.calculated,
            interval_type: key.interval_type,
            interval_minutes: key.interval_minutes,
            first_appearance: Iso8601(known.first_appearance_ms),
            local_first_appearance: form.clock_of(station).map(local),
        }
    }
}

described_as!(StationDetail, Detail<'static>);

impl StationDetail {
    pub(crate) fn shown_name(&self) -> Cow<'_, str> {
        let station = &self.record.station;
        if self.shares_name {
            Cow::Owned(format!("{} ({})", station.name, station.native_id))
        } else {
            Cow::Borrowed(&station.name)
        }
    }
}

pub(super) fn types<'a>(record: &'a StationRecord, form: &AnswerForm) -> Vec<ObservationType<'a>> {
    let station = record.station.id;
    record.series.iter().map(|known| ObservationType::new(known, station, form)).collect()
}

pub(super) fn earlier(places: &[EarlierPlace]) -> Vec<Earlier> {
    places.iter().map(Earlier::from).collect()
}

impl Serialize for StationDetail {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let record = &*self.record;
        let StationRecord { station, update_time_ms, present_weather, series: _ } = record;
        let detail = Detail {
            // The server puts these in front of what it has written already.
            distance_km: None,
            bearing: None,
            network: &station.network,
            name: self.shown_name(),
            station_type: station.station_type,
            present_weather: present_weather.as_deref(),
            coordinates: station.coordinates,
            elevation: station.sensor_height_m,
            altitude: None,
            update_time: update_time_ms.map(Iso8601),
            // A form is written member by member.
            local_update_time: None,
            time_zone: None,
            types: types(record, &AnswerForm::default()),
            qualities: &self.qualities,
            identifiers: Ids(station.all_identifiers()),
            earlier_places: earlier(station.earlier_places.as_slice()),
            report_text: None,
        };
        detail.serialize(serializer)
    }
}

#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = PointGeometry))]
struct Point {
    r#type: PointType,
    coordinates: LonLat,
}

#[derive(Clone, Copy, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
enum PointType {
    Point,
}

/// Where a station is, if the stations around a place were asked for; else empty.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Away))]
struct ShownAway {
    /// How far the station is from the place that was given, km; only then.
    #[serde(skip_serializing_if = "Option::is_none")]
    distance_km: Option<f64>,
    /// Bearing of the station at that place, degrees clockwise from north.
    #[serde(skip_serializing_if = "Option::is_none")]
    bearing: Option<f64>,
}

impl From<Option<Away>> for ShownAway {
    fn from(away: Option<Away>) -> Self {
        Self { distance_km: away.map(Away::shown_km), bearing: away.map(Away::shown_bearing_deg) }
    }
}

/// A station as a GeoJSON Feature.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StationMarker {
    r#type: FeatureType,
    /// Id of the station.
    id: StationId,
    geometry: Point,
    properties: ShownAway,
}

impl StationMarker {
    fn new(record: &StationRecord, away: Option<Away>) -> Self {
        let coordinates = record.station.coordinates;
        Self {
            r#type: FeatureType::Feature,
            id: record.station.id,
            geometry: Point { r#type: PointType::Point, coordinates },
            properties: away.into(),
        }
    }
}

/// All stations as a GeoJSON FeatureCollection.
///
/// ```
/// # use mesonet::{Intake, MemoryStore, intake::FeedFile};
/// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
/// #     CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
/// # let store = MemoryStore::default();
/// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
/// // The store has one report of Toronto Pearson: 29 °C, wind 12 kt with gusts of 20 kt.
/// use mesonet::Reader;
/// use mesonet::query::StationMarkers;
/// let directory = store.directory()?;
/// let markers = StationMarkers::new(directory.stations.iter().map(|record| &**record));
/// let geojson = serde_json::to_value(&markers)?;
/// assert_eq!(geojson["type"], "FeatureCollection");
/// // Each of the features is a StationMarker.
/// assert_eq!(geojson["features"][0]["geometry"]["coordinates"], serde_json::json!([-79.63, 43.68]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StationMarkers {
    r#type: CollectionType,
    features: Vec<StationMarker>,
}

#[derive(Clone, Copy, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
enum CollectionType {
    FeatureCollection,
}

impl StationMarkers {
    /// The markers of stations, in their order.
    pub fn new<'a>(records: impl IntoIterator<Item = &'a StationRecord>) -> Self {
        let features = records.into_iter().map(|record| StationMarker::new(record, None)).collect();
        Self { r#type: CollectionType::FeatureCollection, features }
    }

    /// The markers of stations that were found, in their order, with their distances and bearings.
    pub fn found(directory: &Directory, found: &[FoundStation]) -> Self {
        let marker =
            |found: &FoundStation| StationMarker::new(&directory.stations[found.place], found.away);
        let features = found.iter().map(marker).collect();
        Self { r#type: CollectionType::FeatureCollection, features }
    }
}

//! The details and the markers of stations as JSON.

use std::borrow::Cow;

use serde::Serialize;
use serde::ser::Serializer;

use super::StationDetail;
use crate::geo::{FeatureType, LonLat};
use crate::observation::{
    BaseQuality, EarlierPlace, IdScheme, Identifiers, IntervalType, SeriesId, StationId,
    StationType,
};
use crate::store::{StationRecord, StationSeries};
use crate::time::Iso8601;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = StationDetail))]
struct Detail<'a> {
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
    /// When the station last reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    update_time: Option<Iso8601>,
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
    /// Whether the service derives its values.
    calculated: bool,
    interval_type: IntervalType,
    /// Length of averaging or accumulation; 0 if instantaneous.
    interval_minutes: i32,
    first_appearance: Iso8601,
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

impl<'a> From<&'a StationSeries> for ObservationType<'a> {
    fn from(known: &'a StationSeries) -> Self {
        let key = &known.series.key;
        Self {
            id: known.series.id,
            name: key.variable.name(),
            pretty_name: key.variable.pretty_name(),
            group_bucket_name: &key.bucket,
            reported_unit: &key.reported_unit,
            calculated: key.calculated,
            interval_type: key.interval_type,
            interval_minutes: key.interval_minutes,
            first_appearance: Iso8601(known.first_appearance_ms),
        }
    }
}

described_as!(StationDetail, Detail<'static>);

impl StationDetail {
    pub(super) fn shown_name(&self) -> Cow<'_, str> {
        let station = &self.record.station;
        if self.shares_name {
            Cow::Owned(format!("{} ({})", station.name, station.native_id))
        } else {
            Cow::Borrowed(&station.name)
        }
    }
}

pub(super) fn types(series: &[StationSeries]) -> Vec<ObservationType<'_>> {
    series.iter().map(ObservationType::from).collect()
}

pub(super) fn earlier(places: &[EarlierPlace]) -> Vec<Earlier> {
    places.iter().map(Earlier::from).collect()
}

impl Serialize for StationDetail {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let StationRecord { station, update_time_ms, present_weather, series } = &*self.record;
        let detail = Detail {
            network: &station.network,
            name: self.shown_name(),
            station_type: station.station_type,
            present_weather: present_weather.as_deref(),
            coordinates: station.coordinates,
            elevation: station.sensor_height_m,
            update_time: update_time_ms.map(Iso8601),
            types: types(series),
            qualities: &self.qualities,
            identifiers: Ids(station.all_identifiers()),
            earlier_places: earlier(station.earlier_places.as_slice()),
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

/// Always empty.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = NoProperties, max_properties = 0))]
struct Empty {}

/// A station as a GeoJSON Feature.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StationMarker {
    r#type: FeatureType,
    /// Id of the station.
    id: StationId,
    geometry: Point,
    properties: Empty,
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
        let marker = |record: &StationRecord| StationMarker {
            r#type: FeatureType::Feature,
            id: record.station.id,
            geometry: Point { r#type: PointType::Point, coordinates: record.station.coordinates },
            properties: Empty {},
        };
        let features = records.into_iter().map(marker).collect();
        Self { r#type: CollectionType::FeatureCollection, features }
    }
}

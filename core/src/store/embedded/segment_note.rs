//! The description of a segment and its store in the footer of the segment file: enough to rebuild
//! the catalogue. It is JSON, for programs that open the file elsewhere; fractional numbers are
//! strings, so that they come back unchanged.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use memmap2::Mmap;
use serde::{Deserialize, Serialize};

use super::catalogue::SegmentEntry;
use super::codec::Wrong;
use super::mapped::{BLOCK_BYTES, MappedFile};
use super::report_texts::Content;
use super::segment_batches::FileSchema;
use super::series_table::SeriesList;
use super::stations::StationState;
use super::store_state::StoreState;
use super::weather_table::Words;
use crate::geo::LonLat;
use crate::observation::{
    EarlierPlace, EarlierPlaces, IdScheme, Identifiers, IntervalType, SeriesKey, Station,
    StationId, StationType, Variable,
};

const SEGMENT: &str = "mesonet.segment";
const SERIES: &str = "mesonet.series";
/// The stations before version 7, as JSON.
const STATIONS: &str = "mesonet.stations";
/// The stations as JSON, compressed with zlib, in Base64.
const STATIONS_ZLIB: &str = "mesonet.stations_zlib";
/// Lists of words of present weather; absent before version 5.
const WEATHER: &str = "mesonet.weather";
/// How many times smaller zlib can make a text at most.
const MOST_COMPRESSED: u64 = 1032;
/// CRC-32 of these texts, before they are compressed.
const CHECKSUM: &str = "mesonet.checksum";

/// A segment's description of itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SegmentNote {
    /// Whether it holds texts of reports; absent from segments of readings.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    texts: bool,
    pub id: i64,
    pub sequence: i64,
    pub readings: u64,
    pub first_ms: i64,
    pub last_ms: i64,
    pub made_from: Vec<i64>,
    pub sealed_to: i64,
    pub generation: u64,
    pub places_generation: u64,
    pub retain_from_ms: i64,
    /// Where the checked part ends, and the CRC-32 of each of its blocks.
    checked_bytes: u64,
    checksums: Vec<u32>,
}

#[derive(Serialize, Deserialize)]
struct SeriesNote {
    name: String,
    interval_type: String,
    interval_minutes: i32,
    calculated: bool,
    reported_unit: String,
    bucket: String,
}

#[derive(Serialize, Deserialize)]
struct StationNote {
    /// Absent since version 7 if it is made of the network and the native id, as ids are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<StationId>,
    network: String,
    native_id: String,
    name: String,
    station_type: Option<StationType>,
    lon: String,
    lat: String,
    sensor_height_m: String,
    altitude_m: Option<String>,
    update_time_ms: Option<i64>,
    weather: Option<(i64, u8, Vec<String>)>,
    /// Scheme and id; absent before version 4.
    #[serde(default)]
    identifiers: Vec<(String, String)>,
    /// End time, longitude and latitude; absent before version 6.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    earlier_places: Vec<(i64, String, String)>,
}

/// The content of a segment's footer.
#[derive(Debug)]
pub(super) struct Footer {
    pub note: SegmentNote,
    pub series: Vec<SeriesKey>,
    pub stations: Vec<StationState>,
    pub weather: Vec<Words>,
    /// The segment's entry, as in the catalogue.
    pub entry: SegmentEntry,
}

/// Returns the texts for the footer of a segment; `entry` covers the bytes written so far.
pub(super) fn footer_texts(
    entry: &SegmentEntry,
    about: &StoreState,
    series: &SeriesList,
) -> serde_json::Result<Vec<(&'static str, String)>> {
    let note = SegmentNote {
        texts: entry.content == Content::Texts,
        id: entry.id,
        sequence: entry.sequence,
        readings: entry.readings,
        first_ms: entry.first_ms,
        last_ms: entry.last_ms,
        made_from: about.made_from.clone(),
        sealed_to: about.sealed_to,
        generation: about.generation,
        places_generation: about.places_generation,
        retain_from_ms: about.retain_from_ms,
        checked_bytes: entry.length,
        checksums: entry.checksums.clone(),
    };
    let weather: Vec<&[String]> = series.weather.list.iter().map(|known| &*known.words).collect();
    let stations: Vec<StationNote> = about.stations.iter().map(StationNote::of).collect();
    let mut texts =
        vec![(SEGMENT, serde_json::to_string(&note)?), (WEATHER, serde_json::to_string(&weather)?)];
    // The footer has the schema too, and so the series.
    let (series, stations) = (series_text(series)?, serde_json::to_string(&stations)?);
    let checked = [&*texts[0].1, &series, &stations, &texts[1].1];
    texts.push((CHECKSUM, checksum(checked.into_iter())));
    texts.push((STATIONS_ZLIB, compressed(&stations).map_err(serde_json::Error::io)?));
    Ok(texts)
}

fn compressed(text: &str) -> io::Result<String> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text.as_bytes())?;
    Ok(BASE64_STANDARD.encode(encoder.finish()?))
}

fn decompressed(text: &str) -> Result<String, Wrong> {
    let bytes = BASE64_STANDARD.decode(text).map_err(|error| error.to_string())?;
    let mut text = String::new();
    // No longer than the file itself could be: the checksum of a file that was changed on purpose
    // is right too.
    let most = (bytes.len() as u64 + 1) * MOST_COMPRESSED;
    let read = ZlibDecoder::new(&*bytes).take(most).read_to_string(&mut text);
    read.map_err(|error| error.to_string())?;
    Ok(text)
}

/// Returns the series as a text, for the schema of a file.
pub(super) fn series_text(series: &SeriesList) -> serde_json::Result<String> {
    let notes: Vec<SeriesNote> = series.list.iter().map(|series| note_of(&series.key)).collect();
    serde_json::to_string(&notes)
}

/// Reads the series of a file from its schema.
pub(super) fn read_series(schema: &FileSchema) -> Result<Vec<SeriesKey>, Wrong> {
    let text = schema.texts.get(SERIES).ok_or("its schema does not name its series")?;
    let notes: Vec<SeriesNote> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    notes.into_iter().map(SeriesNote::key).collect()
}

/// Reads the schema of a file from its footer, if that is intact.
pub(super) fn footer_schema(mapped: &MappedFile) -> Option<FileSchema> {
    let bytes = mapped.bytes().as_slice();
    let footer = footer_bytes(bytes)?;
    let start = footer.as_ptr() as usize - bytes.as_ptr() as usize;
    if bytes.len() < mapped.length() || !mapped.range_is_whole(start..bytes.len()) {
        return None;
    }
    FileSchema::read(arrow_ipc::root_as_footer(footer).ok()?.schema()?)
}

fn checksum<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut hasher = crc32fast::Hasher::new();
    texts.for_each(|text| hasher.update(text.as_bytes()));
    hasher.finalize().to_string()
}

/// Reads the footer of a segment's file.
pub(super) fn read_footer(path: &Path) -> Result<Footer, Wrong> {
    let failed = |error: io::Error| error.to_string();
    let file = File::open(path).map_err(failed)?;
    let bytes = super::mapped::map_all(&file).map_err(failed)?;
    let texts = footer_of(&bytes).ok_or("its footer cannot be read")?;
    let text =
        |name: &str| texts.get(name).copied().ok_or("its footer does not describe the segment");
    let (note, series) = (text(SEGMENT)?, text(SERIES)?);
    let stations = match text(STATIONS_ZLIB) {
        Ok(stations) => &decompressed(stations)?,
        Err(_) => text(STATIONS)?,
    };
    let weather = texts.get(WEATHER).copied();
    if text(CHECKSUM)? != checksum([note, series, stations].into_iter().chain(weather)) {
        return Err("its footer does not match its checksum".to_owned());
    }
    let wrong = |error: serde_json::Error| error.to_string();
    let note: SegmentNote = serde_json::from_str(note).map_err(wrong)?;
    let series: Vec<SeriesNote> = serde_json::from_str(series).map_err(wrong)?;
    let stations: Vec<StationNote> = serde_json::from_str(stations).map_err(wrong)?;
    let weather: Vec<Vec<String>> =
        weather.map_or(Ok(Vec::new()), serde_json::from_str).map_err(wrong)?;
    Ok(Footer {
        weather: weather.iter().map(|words| Words::new(words)).collect(),
        entry: note.entry(&bytes),
        note,
        series: series.into_iter().map(SeriesNote::key).collect::<Result<_, _>>()?,
        stations: stations.into_iter().map(StationNote::state).collect::<Result<_, _>>()?,
    })
}

/// Returns the texts in the footer of an Arrow file, and in the schema there.
fn footer_of(bytes: &[u8]) -> Option<HashMap<&str, &str>> {
    let footer = arrow_ipc::root_as_footer(footer_bytes(bytes)?).ok()?;
    let of_schema = footer.schema().and_then(|schema| schema.custom_metadata());
    let pairs = of_schema.into_iter().flatten().chain(footer.custom_metadata()?);
    pairs.map(|pair| pair.key().zip(pair.value())).collect()
}

fn footer_bytes(bytes: &[u8]) -> Option<&[u8]> {
    let trailer_at = bytes.len().checked_sub(10)?;
    let length =
        arrow_ipc::reader::read_footer_length(bytes[trailer_at..].try_into().ok()?).ok()?;
    bytes.get(trailer_at.checked_sub(length)?..trailer_at)
}

impl SegmentNote {
    /// Returns the segment's entry for the catalogue. The part checked by the footer keeps its
    /// checksums, even if it is damaged; the rest gets checksums of its present content.
    fn entry(&self, bytes: &Mmap) -> SegmentEntry {
        let of = |from: usize, to: usize| crc32fast::hash(bytes.get(from..to).unwrap_or_default());
        let checked = usize::try_from(self.checked_bytes).unwrap_or(usize::MAX).min(bytes.len());
        let checksums = (0..bytes.len().div_ceil(BLOCK_BYTES)).map(|block| {
            let start = block * BLOCK_BYTES;
            let end = bytes.len().min(start + BLOCK_BYTES);
            match self.checksums.get(block) {
                Some(&written) if end <= checked => written,
                // A wrong checksum for the block, so that it counts as damaged.
                Some(&written) if of(start, checked) != written => !of(start, end),
                _ => of(start, end),
            }
        });
        SegmentEntry {
            content: if self.texts { Content::Texts } else { Content::Readings },
            id: self.id,
            sequence: self.sequence,
            readings: self.readings,
            first_ms: self.first_ms,
            last_ms: self.last_ms,
            length: bytes.len() as u64,
            checksums: checksums.collect(),
        }
    }
}

fn note_of(key: &SeriesKey) -> SeriesNote {
    SeriesNote {
        name: key.variable.name().to_owned(),
        interval_type: key.interval_type.name().to_owned(),
        interval_minutes: key.interval_minutes,
        calculated: key.calculated,
        reported_unit: key.reported_unit.to_string(),
        bucket: key.bucket.to_string(),
    }
}

impl SeriesNote {
    fn key(self) -> Result<SeriesKey, Wrong> {
        Ok(SeriesKey {
            variable: self.name.parse::<Variable>().map_err(|error| error.to_string())?,
            interval_type: self
                .interval_type
                .parse::<IntervalType>()
                .map_err(|error| error.to_string())?,
            interval_minutes: self.interval_minutes,
            calculated: self.calculated,
            reported_unit: self.reported_unit.into(),
            bucket: self.bucket.into(),
        })
    }
}

impl StationNote {
    fn of(state: &StationState) -> Self {
        let record = &state.record;
        let station = &record.station;
        Self {
            id: Some(station.id)
                .filter(|id| *id != StationId::new(&station.network, &station.native_id)),
            network: station.network.clone(),
            native_id: station.native_id.clone(),
            name: station.name.clone(),
            station_type: station.station_type,
            lon: station.coordinates.lon().to_string(),
            lat: station.coordinates.lat().to_string(),
            sensor_height_m: station.sensor_height_m.to_string(),
            altitude_m: station.altitude_m.map(|altitude_m| altitude_m.to_string()),
            update_time_ms: record.update_time_ms,
            weather: state.weather(),
            identifiers: station
                .identifiers
                .iter()
                .map(|(scheme, id)| (scheme.name().to_owned(), id.to_owned()))
                .collect(),
            earlier_places: station
                .earlier_places
                .as_slice()
                .iter()
                .map(|place| (place.until_ms, place.coordinates))
                .map(|(until_ms, at)| (until_ms, at.lon().to_string(), at.lat().to_string()))
                .collect(),
        }
    }

    fn state(self) -> Result<StationState, Wrong> {
        let number =
            |text: &str| text.parse::<f64>().map_err(|_| format!("\"{text}\" is not a number"));
        let place = |lon: &str, lat: &str| {
            LonLat::new(number(lon)?, number(lat)?).map_err(|error| error.to_string())
        };
        let mut identifiers = Identifiers::default();
        for (scheme, id) in &self.identifiers {
            let named = IdScheme::named(scheme);
            let scheme = named.ok_or_else(|| format!("unknown id scheme {scheme}"))?;
            identifiers.add(scheme, id);
        }
        let earlier = self.earlier_places.iter().map(|(until_ms, lon, lat)| {
            Ok(EarlierPlace { until_ms: *until_ms, coordinates: place(lon, lat)? })
        });
        let earlier_places = EarlierPlaces::new(earlier.collect::<Result<_, Wrong>>()?)
            .ok_or("earlier places are out of order")?;
        let station = Station {
            id: self.id.unwrap_or_else(|| StationId::new(&self.network, &self.native_id)),
            network: self.network,
            native_id: self.native_id,
            name: self.name,
            station_type: self.station_type,
            coordinates: place(&self.lon, &self.lat)?,
            sensor_height_m: number(&self.sensor_height_m)?,
            altitude_m: self.altitude_m.map(|text| number(&text)).transpose()?,
            identifiers,
            earlier_places,
        };
        Ok(StationState::described(station, self.update_time_ms, self.weather))
    }
}

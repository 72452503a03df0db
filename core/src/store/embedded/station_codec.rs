//! A station and the facts from its reports, as bytes of the journal and of the table of stations.

use super::codec::{ByteWriter, Bytes, Wrong};
use crate::geo::LonLat;
use crate::observation::{
    EarlierPlace, EarlierPlaces, IdScheme, Identifiers, Station, StationType,
};

/// Time and revision of a report, and the weather in it.
pub(super) type Weather = (i64, u8, Vec<String>);

/// Flags for the fields that are present.
const UPDATED: u8 = 1;
const WEATHER: u8 = 2;

pub(super) fn put_state(
    update_time_ms: Option<i64>,
    weather: Option<&Weather>,
    out: &mut ByteWriter,
) {
    let updated = if update_time_ms.is_some() { UPDATED } else { 0 };
    out.u8(updated | if weather.is_some() { WEATHER } else { 0 });
    if let Some(update_time_ms) = update_time_ms {
        out.i64(update_time_ms);
    }
    if let Some((ts_ms, revision, words)) = weather {
        out.i64(*ts_ms);
        out.u8(*revision);
        out.u32(words.len() as u32);
        for word in words {
            out.text(word);
        }
    }
}

pub(super) fn take_state(bytes: &mut Bytes<'_>) -> Result<(Option<i64>, Option<Weather>), Wrong> {
    let there = bytes.u8()?;
    let update_time_ms = if there & UPDATED == 0 { None } else { Some(bytes.i64()?) };
    if there & WEATHER == 0 {
        return Ok((update_time_ms, None));
    }
    let (ts_ms, revision, count) = (bytes.i64()?, bytes.u8()?, bytes.count(4)?);
    let words = (0..count).map(|_| bytes.text()).collect::<Result<_, _>>()?;
    Ok((update_time_ms, Some((ts_ms, revision, words))))
}

pub(super) fn put_station(station: &Station, out: &mut ByteWriter) {
    out.id(station.id);
    out.text(&station.network);
    out.text(&station.native_id);
    out.text(&station.name);
    let identified = if station.identifiers.is_empty() { 0 } else { IDENTIFIED };
    let moved = if station.earlier_places.is_empty() { 0 } else { MOVED };
    out.u8(identified
        | moved
        | match station.station_type {
            None => 0,
            Some(StationType::OpenCountry) => 1,
            Some(StationType::Suburban) => 2,
            Some(StationType::OpenWater) => 3,
        });
    out.f64(station.coordinates.lon());
    out.f64(station.coordinates.lat());
    out.f64(station.sensor_height_m);
    out.u8(u8::from(station.altitude_m.is_some()));
    out.f64(station.altitude_m.unwrap_or(0.0));
    if !station.identifiers.is_empty() {
        out.u32(station.identifiers.iter().count() as u32);
        for (scheme, id) in station.identifiers.iter() {
            out.text(scheme.name());
            out.text(id);
        }
    }
    let earlier = station.earlier_places.as_slice();
    if !earlier.is_empty() {
        out.u32(earlier.len() as u32);
        for EarlierPlace { until_ms, coordinates } in earlier {
            out.i64(*until_ms);
            out.f64(coordinates.lon());
            out.f64(coordinates.lat());
        }
    }
}

/// Flag next to the type of a station: its identifiers follow. Before version 4 there were none.
const IDENTIFIED: u8 = 0x80;

/// Flag next to it: its earlier places follow. Before version 6 there were none.
const MOVED: u8 = 0x40;

fn take_identifiers(bytes: &mut Bytes<'_>) -> Result<Identifiers, Wrong> {
    let mut identifiers = Identifiers::default();
    for _ in 0..bytes.count(8)? {
        let name = bytes.text()?;
        let scheme = IdScheme::named(&name).ok_or_else(|| format!("unknown id scheme {name}"))?;
        identifiers.add(scheme, &bytes.text()?);
    }
    Ok(identifiers)
}

fn take_coordinates(bytes: &mut Bytes<'_>) -> Result<LonLat, Wrong> {
    LonLat::new(bytes.f64()?, bytes.f64()?).map_err(|error| error.to_string())
}

fn take_earlier_places(bytes: &mut Bytes<'_>) -> Result<EarlierPlaces, Wrong> {
    let mut places = Vec::new();
    for _ in 0..bytes.count(24)? {
        let until_ms = bytes.i64()?;
        places.push(EarlierPlace { until_ms, coordinates: take_coordinates(bytes)? });
    }
    EarlierPlaces::new(places).ok_or_else(|| "earlier places are out of order".to_owned())
}

pub(super) fn take_station(bytes: &mut Bytes<'_>) -> Result<Station, Wrong> {
    let (id, network, native_id, name) = (bytes.id()?, bytes.text()?, bytes.text()?, bytes.text()?);
    let flags = bytes.u8()?;
    let station_type = match flags & !(IDENTIFIED | MOVED) {
        0 => None,
        1 => Some(StationType::OpenCountry),
        2 => Some(StationType::Suburban),
        3 => Some(StationType::OpenWater),
        other => return Err(format!("unknown station type {other}")),
    };
    let coordinates = take_coordinates(bytes)?;
    let sensor_height_m = bytes.f64()?;
    let known = bytes.u8()? != 0;
    let altitude_m = Some(bytes.f64()?).filter(|_| known);
    let identified = flags & IDENTIFIED != 0;
    let identifiers = if identified { take_identifiers(bytes)? } else { Identifiers::default() };
    let moved = flags & MOVED != 0;
    let earlier_places = if moved { take_earlier_places(bytes)? } else { EarlierPlaces::default() };
    Ok(Station {
        id,
        network,
        native_id,
        name,
        station_type,
        coordinates,
        sensor_height_m,
        altitude_m,
        identifiers,
        earlier_places,
    })
}

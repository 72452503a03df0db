//! NDBC's table of active stations, `activestations.xml`.

use std::io::BufRead;

use quick_xml::events::{BytesStart, Event};

use super::{NDBC_NETWORK, is_native_id};
use crate::feed::item::FeedStation;
use crate::feed::plausible;
use crate::feed::summary::{FeedError, FilePlace, RefusalReason, Summary, excerpt};
use crate::feed::text::xml::{XmlEvents, each_attribute};
use crate::geo::LonLat;
use crate::observation::StationType;

/// Reads NDBC's table of active stations and visits each. The table has the places that the files
/// of single stations lack.
///
/// A station is a `station` element with the attributes `id` (in lower case there, but in capitals
/// everywhere else, and so here), `lat` and `lon` in degrees, `elev` in metres above mean sea
/// level, `name` and `type`. Buoys, DART, TAO, oil rigs and vessels without a crew are in open
/// water; the exposure of fixed and other stations is not known. Sensor heights are not in the
/// table.
///
/// `read` in the summary counts stations.
///
/// # Errors
/// If the source fails, if the text is not well-formed, or if the root of the document is not
/// `stations`. A station without an id or a place is counted and listed in the summary.
///
/// ```
/// use mesonet::{StationId, StationType, feed::read_ndbc_stations};
/// let document = r#"<stations count="2">
///     <station id="tplm2" lat="38.899" lon="-76.436" elev="0" name="Thomas Point, MD" type="fixed"/>
///     <station id="44013" lat="42.346" lon="-70.651" name="BOSTON" type="buoy"/>
/// </stations>"#;
/// let mut stations = Vec::new();
/// read_ndbc_stations(document.as_bytes(), |station| stations.push(station))?;
/// assert_eq!(stations[0].id(), StationId::new("NDBC", "TPLM2"));
/// assert_eq!(stations[0].altitude_m, Some(0.0));
/// assert_eq!(stations[1].station_type, Some(StationType::OpenWater));
/// # Ok::<(), mesonet::feed::FeedError>(())
/// ```
pub fn read_ndbc_stations(
    input: impl BufRead,
    mut visit: impl FnMut(FeedStation),
) -> Result<Summary, FeedError> {
    let mut events = XmlEvents::new(input);
    let mut summary = Summary::default();
    let mut is_in_root = false;
    loop {
        match events.next()? {
            (byte, Event::Start(tag) | Event::Empty(tag)) => {
                let name = tag.local_name();
                if !is_in_root {
                    if name.as_ref() != "stations" {
                        let root = excerpt(name.as_ref());
                        return Err(FeedError::NotThisKind(format!(
                            "the root element is {root}; a table of stations has stations"
                        )));
                    }
                    is_in_root = true;
                } else if name.as_ref() == "station" {
                    match station(byte, &tag)? {
                        Ok(station) => {
                            visit(station);
                            summary.read += 1;
                        }
                        Err(reason) => {
                            summary.refuse(FilePlace::Byte(byte), tag.as_bytes(), reason);
                        }
                    }
                }
            }
            (_, Event::Eof) if is_in_root => return Ok(summary),
            (_, Event::Eof) => {
                return Err(FeedError::NotThisKind("no stations element".to_owned()));
            }
            _ => {}
        }
    }
}

/// The station of an element, or why it is refused.
fn station(
    byte: u64,
    tag: &BytesStart<'_>,
) -> Result<Result<FeedStation, RefusalReason>, FeedError> {
    let mut station = FeedStation::new(NDBC_NETWORK, "");
    let (mut lon, mut lat) = (None, None);
    each_attribute(byte, tag, |name, value| {
        let value = value.trim();
        let number = || value.parse::<f64>().ok();
        match name {
            "id" => station.native_id = value.to_ascii_uppercase(),
            "lon" => lon = number(),
            "lat" => lat = number(),
            "elev" => station.altitude_m = number().and_then(plausible::altitude_m),
            "name" => station.name = (!value.is_empty()).then(|| value.to_owned()),
            "type" => station.station_type = exposure(value),
            _ => {}
        }
    })?;
    station.identifiers = super::station(&station.native_id).identifiers;
    station.place = lon.zip(lat).and_then(|(lon, lat)| LonLat::new(lon, lat).ok());
    Ok(if !is_native_id(&station.native_id) {
        let got = excerpt(&station.native_id);
        Err(RefusalReason::Field { what: "valid station id", got })
    } else if station.place.is_none() {
        Err(RefusalReason::Without { what: "place" })
    } else {
        Ok(station)
    })
}

fn exposure(kind: &str) -> Option<StationType> {
    matches!(kind, "buoy" | "dart" | "tao" | "oilrig" | "usv").then_some(StationType::OpenWater)
}

#[cfg(test)]
#[path = "stations_tests.rs"]
mod tests;

//! Stations whose places are bundled, for feeds whose reports do not give them.

use std::collections::HashMap;
use std::io::BufReader;
use std::sync::LazyLock;

use flate2::read::GzDecoder;

use super::metar::iem_asos::IEM_NETWORK;
use super::metar::series::metar_station;
use super::ndbc::read_ndbc_stations;
use super::summary::FeedError;
use super::text::csv_row::{CsvRow, MAX_LINE_BYTES};
use super::text::lines::Lines;
use crate::geo::LonLat;
use crate::observation::{Station, StationId};

/// Aerodromes; `SOURCES.md` gives the sources of both tables.
const METAR: &[u8] = include_bytes!("metar_stations.csv");
/// Buoys and coastal stations.
const NDBC: &[u8] = include_bytes!("ndbc_activestations.xml.gz");

/// Returns the stations whose places are bundled, by id: reports of some feeds give no place.
///
/// 3,178 aerodromes of Canada and the United States as stations of METAR and, with their identifiers
/// there, of the Iowa Environmental Mesonet; and the 1,348 stations that the National Data Buoy Center
/// listed as active in August 2024.
///
/// ```
/// use mesonet::StationId;
/// use mesonet::feed::{METAR_NETWORK, known_stations};
/// let station = &known_stations()[&StationId::new(METAR_NETWORK, "CYYZ")];
/// assert_eq!((station.name.as_str(), station.altitude_m), ("Toronto Pearson International Airport", Some(171.0)));
/// ```
pub fn known_stations() -> &'static HashMap<StationId, Station> {
    static STATIONS: LazyLock<HashMap<StationId, Station>> =
        LazyLock::new(|| read(METAR, NDBC).expect("the tables ship with the code that reads them"));
    &STATIONS
}

fn read(aerodromes: &[u8], buoys: &[u8]) -> Result<HashMap<StationId, Station>, FeedError> {
    let mut stations = HashMap::new();
    let (mut lines, mut row) = (Lines::new(aerodromes, MAX_LINE_BYTES), CsvRow::new());
    while let Some(line) = lines.next()? {
        if let Some(station) = row.split(line).ok().and_then(|()| aerodrome(&row)) {
            let iem = iem_station(&station);
            stations.extend([(iem.id, iem), (station.id, station)]);
        }
    }
    read_ndbc_stations(BufReader::new(GzDecoder::new(buoys)), |station| {
        if let Some(place) = station.place {
            stations.insert(station.id(), station.at(place));
        }
    })?;
    Ok(stations)
}

/// The station of a row: location indicator, name, latitude, longitude and altitude. The header has no
/// place.
fn aerodrome(row: &CsvRow) -> Option<Station> {
    let text = |at| std::str::from_utf8(row.field(Some(at))).ok().filter(|text| !text.is_empty());
    let number = |at| text(at)?.parse::<f64>().ok();
    let place = LonLat::new(number(3)?, number(2)?).ok()?;
    Some(metar_station(text(0)?, text(1), place, number(4)))
}

/// Returns the same station as named in IEM's tables. These leave out the K of the contiguous
/// United States and, unless it is requested, the place.
fn iem_station(station: &Station) -> Station {
    let indicator = &*station.native_id;
    let native_id = indicator.strip_prefix('K').unwrap_or(indicator).to_owned();
    let network = IEM_NETWORK.to_owned();
    Station { id: StationId::new(&network, &native_id), network, native_id, ..station.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::{METAR_NETWORK, NDBC_NETWORK};

    fn station(network: &str, native_id: &str) -> &'static Station {
        &known_stations()[&StationId::new(network, native_id)]
    }

    #[test]
    fn every_row_of_the_tables_is_a_station() {
        let count = |network| known_stations().values().filter(|of| of.network == network).count();
        let rows = METAR.split(|&byte| byte == b'\n').skip(1).filter(|row| !row.is_empty()).count();
        assert_eq!((count(METAR_NETWORK), rows), (3_178, 3_178));
        assert_eq!(count(NDBC_NETWORK), 1_348);
        let bella = station("METAR", "CBBC");
        assert_eq!(bella.name, "Bella Bella (Campbell Island) Airport");
        assert_eq!((bella.coordinates.lon(), bella.coordinates.lat()), (-128.154, 52.181));
        assert_eq!(bella.altitude_m, Some(36.0));
    }

    #[test]
    fn an_aerodrome_has_its_place_in_the_tables_of_iem_too() {
        for (metar, iem) in [("KMSP", "MSP"), ("CYYZ", "CYYZ"), ("PANC", "PANC")] {
            let (one, other) = (station("METAR", metar), station("IEM", iem));
            assert_eq!((&one.name, one.coordinates), (&other.name, other.coordinates));
            assert_eq!((&*other.network, &*other.native_id), ("IEM", iem));
        }
    }
}

//! The bundled real reports; `sample/SOURCES.md` gives their sources.

use std::collections::HashMap;
use std::io::BufReader;
use std::sync::OnceLock;

use flate2::read::GzDecoder;
use mesonet::feed::{
    FeedError, IEM_NETWORK, metar_report, metar_station, read_awc_csv, read_cap,
    read_ndbc_stations, read_nws_alerts,
};
use mesonet::geo::GeoError;
use mesonet::{Batch, LonLat, Station, StationId, alert, feed};
use serde::Deserialize;

const REPORTS: &[u8] = include_bytes!("../sample/metar_us_ca.csv.gz");
const STATIONS: &[u8] = include_bytes!("../sample/stations.csv");
const BUOYS: &[u8] = include_bytes!("../sample/ndbc_activestations.xml.gz");

/// Alerts of the United States, as published by api.weather.gov.
const NWS_ALERTS: &[u8] = include_bytes!("../sample/alerts_active_2026-07-15T200045Z.geojson.gz");
/// Alerts of Canada: a tornado warning from beginning to end, and a thunderstorm warning.
const CAP: [&[u8]; 4] = [
    include_bytes!("../sample/alerts_canada_1_2026-08-12T230741Z.xml.gz"),
    include_bytes!("../sample/alerts_canada_2_2026-08-12T231358Z.xml.gz"),
    include_bytes!("../sample/alerts_canada_3_2026-08-12T232516Z.xml.gz"),
    include_bytes!("../sample/alerts_canada_4_2026-04-15T205147Z.xml.gz"),
];

/// Reads the alerts of the sample.
///
/// # Errors
/// The sample is damaged.
pub fn sample_alerts() -> Result<Vec<alert::Message>, SampleError> {
    let mut alerts = Vec::new();
    read_nws_alerts(BufReader::new(GzDecoder::new(NWS_ALERTS)), |alert| alerts.push(alert))?;
    for document in CAP {
        read_cap(BufReader::new(GzDecoder::new(document)), |alert| alerts.push(alert))?;
    }
    Ok(alerts)
}

/// The sample, read and converted.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Stations and reports, the reports in the order of the file.
    pub batch: Batch,
    /// Reports of stations whose place is unknown: they are left out.
    pub placeless: usize,
    /// The summary of the reading.
    pub summary: feed::Summary,
}

/// The sample cannot be read: the binary was built from a damaged one.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    /// The reports.
    #[error("the reports of the sample: {0}")]
    Reports(#[from] FeedError),
    /// The stations.
    #[error("the stations of the sample: {0}")]
    Stations(#[from] csv::Error),
    /// A station off the globe.
    #[error("the stations of the sample: {0}")]
    Place(#[from] GeoError),
}

/// Reads the sample.
///
/// # Errors
/// The sample is damaged.
pub fn sample() -> Result<Sample, SampleError> {
    let stations = stations()?;
    let (mut batch, mut placeless) = (Batch::default(), 0);
    let summary = read_awc_csv(BufReader::new(GzDecoder::new(REPORTS)), |mut item| {
        if let Some(station) = stations.get(item.native_id) {
            item.altitude_m = item.altitude_m.or(station.altitude_m);
            batch.reports.push(metar_report(&item));
        } else {
            placeless += 1;
        }
    })?;
    batch.stations = stations.into_values().collect();
    Ok(Sample { batch, placeless, summary })
}

/// Returns the stations whose place is known beforehand, by id: the reports of some feeds give
/// none.
///
/// # Errors
/// The bundled tables are damaged.
pub fn station_tables() -> Result<&'static HashMap<StationId, Station>, SampleError> {
    static TABLES: OnceLock<HashMap<StationId, Station>> = OnceLock::new();
    if let Some(tables) = TABLES.get() {
        return Ok(tables);
    }
    let mut tables = HashMap::new();
    for station in stations()?.into_values() {
        let iem = iem_station(&station);
        tables.extend([(iem.id, iem), (station.id, station)]);
    }
    read_ndbc_stations(BufReader::new(GzDecoder::new(BUOYS)), |station| {
        if let Some(place) = station.place {
            tables.insert(station.id(), station.at(place));
        }
    })?;
    Ok(TABLES.get_or_init(|| tables))
}

/// Returns the same station as in IEM's tables, which leave out the K of the contiguous United
/// States and, unless it is requested, the place.
fn iem_station(station: &Station) -> Station {
    let indicator = &*station.native_id;
    let native_id = indicator.strip_prefix('K').unwrap_or(indicator).to_owned();
    let network = IEM_NETWORK.to_owned();
    Station { id: StationId::new(&network, &native_id), network, native_id, ..station.clone() }
}

/// Returns the stations by ICAO location indicator.
fn stations() -> Result<HashMap<String, Station>, SampleError> {
    #[derive(Deserialize)]
    struct Row {
        station_id: String,
        name: Option<String>,
        latitude: f64,
        longitude: f64,
        elevation_m: Option<f64>,
    }
    let mut stations = HashMap::new();
    for row in csv::Reader::from_reader(STATIONS).deserialize() {
        let Row { station_id, name, latitude, longitude, elevation_m } = row?;
        let place = LonLat::new(longitude, latitude)?;
        let station = metar_station(&station_id, name.as_deref(), place, elevation_m);
        stations.insert(station_id, station);
    }
    Ok(stations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_sample_is_read() {
        let Sample { batch, placeless, summary } = sample().unwrap();
        assert_eq!((summary.read, summary.refused), (31_677, 0));
        assert_eq!(batch.reports.len() + placeless, 31_677);
        assert_eq!((batch.stations.len(), placeless), (3_178, 274));
        assert_eq!(sample_alerts().unwrap().len(), 400);
    }

    #[test]
    fn an_aerodrome_has_its_place_in_the_tables_of_iem_too() {
        let tables = station_tables().unwrap();
        let station = |network, native_id| &tables[&StationId::new(network, native_id)];
        for (metar, iem) in [("KMSP", "MSP"), ("CYYZ", "CYYZ"), ("PANC", "PANC")] {
            let (one, other) = (station("METAR", metar), station("IEM", iem));
            assert_eq!((&one.name, one.coordinates), (&other.name, other.coordinates));
            assert_eq!((&*other.network, &*other.native_id), ("IEM", iem));
        }
    }
}

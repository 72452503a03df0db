//! The bundled real reports; `sample/SOURCES.md` gives their sources.

pub mod models;
pub mod product;
pub mod record;
pub mod replay;

use std::io::BufReader;

use flate2::read::GzDecoder;
use mesonet::feed::{
    FeedError, METAR_NETWORK, known_stations, metar_report, read_awc_csv, read_cap, read_nws_alerts,
};
use mesonet::{Batch, StationId, alert, feed};

const REPORTS: &[u8] = include_bytes!("../../sample/metar_us_ca.csv.gz");

/// Alerts of the United States, as published by api.weather.gov.
const NWS_ALERTS: &[u8] =
    include_bytes!("../../sample/alerts_active_2026-07-15T200045Z.geojson.gz");
/// Alerts of Canada: a tornado warning from beginning to end, and a thunderstorm warning.
const CAP: [&[u8]; 4] = [
    include_bytes!("../../sample/alerts_canada_1_2026-08-12T230741Z.xml.gz"),
    include_bytes!("../../sample/alerts_canada_2_2026-08-12T231358Z.xml.gz"),
    include_bytes!("../../sample/alerts_canada_3_2026-08-12T232516Z.xml.gz"),
    include_bytes!("../../sample/alerts_canada_4_2026-04-15T205147Z.xml.gz"),
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
pub struct SampleData {
    /// Stations and reports. The reports are in the order of the file.
    pub batch: Batch,
    /// Reports of stations whose place is unknown: they are left out.
    pub placeless: usize,
    /// The summary of the reading.
    pub summary: feed::Summary,
}

/// The sample cannot be read. The binary was built with a damaged sample.
#[derive(Debug, thiserror::Error)]
#[error("the reports of the sample: {0}")]
pub struct SampleError(#[from] FeedError);

/// Reads the sample.
///
/// # Errors
/// The sample is damaged.
pub fn sample() -> Result<SampleData, SampleError> {
    let stations = known_stations();
    let (mut batch, mut placeless) = (Batch::default(), 0);
    let summary = read_awc_csv(BufReader::new(GzDecoder::new(REPORTS)), |mut item| {
        if let Some(station) = stations.get(&StationId::new(METAR_NETWORK, item.native_id)) {
            item.altitude_m = item.altitude_m.or(station.altitude_m);
            batch.reports.push(metar_report(&item));
        } else {
            placeless += 1;
        }
    })?;
    let aerodromes = stations.values().filter(|station| station.network == METAR_NETWORK);
    batch.stations = aerodromes.cloned().collect();
    Ok(SampleData { batch, placeless, summary })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_sample_is_read() {
        let SampleData { batch, placeless, summary } = sample().unwrap();
        assert_eq!((summary.read, summary.refused), (31_677, 0));
        assert_eq!(batch.reports.len() + placeless, 31_677);
        assert_eq!((batch.stations.len(), placeless), (3_178, 274));
        assert_eq!(sample_alerts().unwrap().len(), 400);
    }
}

//! What the readers of files of METAR reports hand out.

use super::{Metar, MetarKind};
use crate::geo::LonLat;

/// One decoded report of a file. Its borrowed data is valid only during the visit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetarItem<'a> {
    /// Id of the station in its network: its ICAO location indicator.
    pub native_id: &'a str,
    /// Time of the report, milliseconds since 1970 (UTC).
    pub ts_ms: i64,
    /// The report as received, its lines joined.
    pub raw_text: &'a str,
    /// The heading of its bulletin, such as `SACN31 CWAO 032000`, if there is one.
    pub header: Option<&'a str>,
    /// Place of the station, if the file gives it.
    pub place: Option<LonLat>,
    /// Altitude of the station above mean sea level, if the file gives it.
    pub altitude_m: Option<f64>,
    /// Why the report was made, according to the report, or else to the file.
    pub kind: MetarKind,
    /// The decoded report.
    pub metar: Metar,
}

//! The National Data Buoy Center's text files: the latest observations of all stations, and the
//! `realtime2` files of each.
//!
//! The files are tables of words separated by blanks. The first line names the columns, a second
//! one that starts with `#` gives their units, further lines with `#` are comments; `MM` is no
//! value, and so are the nines that fill a column in older files. The columns are described on
//! NDBC's page "Measurement Descriptions and Units".

mod columns;
pub(super) mod latest;
pub(super) mod realtime2;
mod stations;
mod table;

pub use latest::read_ndbc_latest;
pub use realtime2::read_ndbc_realtime2;
pub use stations::read_ndbc_stations;

use super::item::FeedStation;
use crate::observation::{IdScheme, Identifiers};

/// Network that stations of NDBC's files belong to.
pub const NDBC_NETWORK: &str = "NDBC";

/// Averaging time of `WSPD` in minutes: 8 at buoys and 2 at land stations (NDBC, Measurement
/// Descriptions). No file says which kind a station is, but its id does: buoys have a WMO number;
/// C-MAN and other coastal stations have a name that starts with a letter. For others (`32ST0`) the
/// kind is not known.
fn wind_minutes(native_id: &str) -> Option<i32> {
    if is_buoy_number(native_id) {
        Some(8)
    } else if native_id.starts_with(|first: char| first.is_ascii_alphabetic()) {
        Some(2)
    } else {
        None
    }
}

/// A station with a known id and nothing else. The id of a buoy is its WMO number.
fn station(native_id: &str) -> FeedStation {
    let mut identifiers = Identifiers::default();
    if is_buoy_number(native_id) {
        identifiers.add(IdScheme::Wmo, native_id);
    }
    FeedStation { identifiers, ..FeedStation::new(NDBC_NETWORK, native_id) }
}

/// Whether an id is the WMO number of a buoy.
fn is_buoy_number(native_id: &str) -> bool {
    native_id.len() >= 5 && native_id.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text can be a station id: four to seven letters and digits.
fn is_native_id(text: &str) -> bool {
    (4..=7).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

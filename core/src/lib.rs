//! Surface weather observations of Canada and the United States.

pub mod geo;
pub mod quality;
pub mod report;
pub mod series;
pub mod station;
pub mod tile;
pub mod time;
pub mod unit;
pub mod variable;
pub mod wind;

pub use geo::{BBox, GeoError, LonLat, StationIndex};
pub use quality::{
    BaseQuality, Quality, QualityError, ReasonQuality, distinct_worst_first, worst, worst_code,
};
pub use report::{Batch, Reading, Report};
pub use series::{IntervalType, IntervalTypeError, SeriesId, SeriesKey, SeriesPreference};
pub use station::{Station, StationId, StationIdError, StationType};
pub use tile::{Encoding, EncodingError};
pub use time::{
    ClosedWindow, DAY_MS, HOUR_MS, HalfOpenWindow, InstantWriter, Iso8601, MINUTE_MS, TimeError,
    parse_instant, parse_max_age, parse_window,
};
pub use unit::{
    Unit, feet_to_m, inches_of_mercury_to_hpa, inches_to_mm, knots_to_kmh,
    metres_per_second_to_kmh, statute_miles_to_km,
};
pub use variable::{Variable, VariableError};
pub use wind::{Rotation, RotationLengthError, rotate_field};

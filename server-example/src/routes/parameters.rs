//! Parameters that several endpoints have. Examples are of the sample.

use crate::http::parameter::{Form, Parameter};

/// Start of a window.
pub const START: Parameter =
    Parameter::new("start", Form::Instant, "Start of the window, included.")
        .example("2024-08-03T15:00:00Z");

/// End of a window.
pub const END: Parameter = Parameter::new("end", Form::Instant, "End of the window, included.")
    .example("2024-08-03T21:00:00Z");

/// The sides of a box: all four or none.
pub const BOX: [Parameter; 4] = [
    Parameter::new("minLat", LATITUDE, "South side of a box; all four sides or none.")
        .example("43"),
    Parameter::new(
        "minLon",
        LONGITUDE,
        "West side; greater than the east side across the antimeridian.",
    )
    .example("-80"),
    Parameter::new("maxLat", LATITUDE, "North side.").example("44"),
    Parameter::new("maxLon", LONGITUDE, "East side.").example("-79"),
];

pub const LATITUDE: Form = Form::Number(-90.0, 90.0);
pub const LONGITUDE: Form = Form::Number(-180.0, 180.0);

/// A zone of Canada, or one of the United States.
pub const ZONE_CODE: &str = "^([0-9]{6}|[A-Z]{2}[CZ][0-9]{3})$";

/// The longest name of a station, in characters.
const MAX_STATION: usize = 200;

const ANY_ID: &str = "Id of the station, or any of its identifiers: `CYYZ`, `71624`, `wmo:71624`, \
     `METAR:CYYZ`, `buoy 45012`.";

/// The station in a path.
pub const STATION: Parameter =
    Parameter::new("id", Form::Text(MAX_STATION), ANY_ID).example("CYYZ");

/// The station of a query.
pub const STATION_ID: Parameter =
    Parameter::new("stationId", Form::Text(MAX_STATION), ANY_ID).required().example("CYYZ");

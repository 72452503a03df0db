//! Parameters that choose stations.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Display;

use mesonet::geo::Region;
use mesonet::query::{Away, Near, Scope, StationFilter};
use mesonet::store::Directory;
use mesonet::{StationId, StationType};

use super::parameters::{BOX, LATITUDE, LONGITUDE};
use crate::http::error::ApiError;
use crate::http::extract::Query;
use crate::http::parameter::{Form, Parameter};
use crate::state::State;

/// Half of the way around the globe, km, rounded up.
pub const MAX_RADIUS_KM: f64 = 20_016.0;

/// The most stations that `nearest` may ask for.
const MAX_NEAREST: i64 = 5_000;

/// The most names in a list.
const MAX_NAMES: usize = 100;

const STATION_TYPES: [StationType; 3] =
    [StationType::OpenCountry, StationType::Suburban, StationType::OpenWater];

const ALTITUDE: Form = Form::Number(-1_000.0, 10_000.0);

/// The parameters. A station must match all that are given.
pub const FILTER: [Parameter; 16] = [
    BOX[0],
    BOX[1],
    BOX[2],
    BOX[3],
    Parameter::new("lat", LATITUDE, "A place, with `lon` and with `radiusKm`, `nearest` or both.")
        .example("43.65"),
    Parameter::new("lon", LONGITUDE, "Its longitude.").example("-79.38"),
    Parameter::new(
        "radiusKm",
        Form::Number(0.0, MAX_RADIUS_KM),
        "Only stations at most this far from the place. Stations have `distanceKm` and `bearing` \
         (degrees clockwise from north, seen from the place) in the answer.",
    )
    .example("100"),
    Parameter::new(
        "nearest",
        Form::Whole(1, MAX_NEAREST),
        "Only this many of the stations that match, those nearest to the place.",
    )
    .example("3"),
    Parameter::new(
        "state",
        Form::List(REGION, 1, Some(MAX_NAMES)),
        "Only stations in these states of the United States, by postal code.",
    )
    .example("NY"),
    Parameter::new(
        "province",
        Form::List(REGION, 1, Some(MAX_NAMES)),
        "Only stations in these provinces of Canada, by postal code; with `state`, in any of both.",
    )
    .example("ON"),
    Parameter::new("country", Form::OneOf(&["CA", "US"]), "Only stations in this country."),
    Parameter::new(
        "network",
        Form::List("^.{1,100}$", 1, Some(MAX_NAMES)),
        "Only stations of these networks.",
    )
    .example("METAR"),
    Parameter::new(
        "stationType",
        Form::List("^(OpenCountry|Suburban|OpenWater)$", 1, Some(STATION_TYPES.len())),
        "Only stations of these exposure classes.",
    ),
    Parameter::new(
        "variable",
        Form::Variables,
        "Only stations with series of all these variables.",
    )
    .example("airTemperature"),
    Parameter::new(
        "minAltitude",
        ALTITUDE,
        "Only stations at least this many metres above mean sea level. A station without a known \
         altitude does not match.",
    ),
    Parameter::new("maxAltitude", ALTITUDE, "Only stations at most this high, likewise."),
];

/// The same where they are in place of something else, so that the example of a request has none of
/// them.
pub const FILTER_INSTEAD: [Parameter; FILTER.len()] = {
    let mut parameters = FILTER;
    let mut i = 0;
    while i < parameters.len() {
        parameters[i] = parameters[i].without_example();
        i += 1;
    }
    parameters
};

const REGION: &str = "^[A-Za-z]{2}$";

/// The stations by name, in place of the other parameters.
pub const STATION_IDS: Parameter = Parameter::new(
    "stationIds",
    Form::List("^[^,]{1,200}$", 1, None),
    "Only these stations, at most 5,000 different ones, by any of their ids, comma-separated; in place of \
     what else chooses stations.",
);

/// Reads the parameters.
///
/// # Errors
/// One is invalid or lacks another, or names a network that no station is of.
pub fn station_filter(state: &State, query: &Query) -> Result<StationFilter, ApiError> {
    let bbox = query.bbox()?;
    if !query.has_any(&FILTER[BOX.len()..]) {
        return Ok(StationFilter { bbox, ..StationFilter::default() });
    }
    Ok(StationFilter { bbox, near: near(query)?, ..station_properties(state, query)? })
}

/// Reads the parameters that say nothing about a box or a distance.
///
/// # Errors
/// One is invalid, or names a network that no station is of.
pub fn station_properties(state: &State, query: &Query) -> Result<StationFilter, ApiError> {
    let regions = ["state", "province"].into_iter().flat_map(|name| names(query, name));
    let networks: Vec<String> = names(query, "network").map(str::to_owned).collect();
    if !networks.is_empty() {
        check_networks(&networks, &*state.services.store.directory()?)?;
    }
    Ok(StationFilter {
        regions: regions.map(str::parse::<Region>).collect::<Result<_, _>>()?,
        country: query.read("country", str::parse)?,
        networks,
        station_types: names(query, "stationType").map(station_type).collect::<Result<_, _>>()?,
        variables: names(query, "variable").map(str::parse).collect::<Result<_, _>>()?,
        min_altitude_m: within(query, "minAltitude", ALTITUDE)?,
        max_altitude_m: within(query, "maxAltitude", ALTITUDE)?,
        ..StationFilter::default()
    })
}

/// Reads which stations match, and where they are seen from the place of `nearest` or `radiusKm`.
///
/// # Errors
/// As [`station_filter`].
pub fn matching(
    state: &State,
    query: &Query,
) -> Result<(Scope, HashMap<StationId, Away>), ApiError> {
    // Most requests ask for a box or for all.
    if !query.has_any(&FILTER[BOX.len()..]) {
        return Ok((query.bbox()?.map_or(Scope::Everywhere, Scope::Box), HashMap::new()));
    }
    let filter = station_filter(state, query)?;
    if filter.is_empty() {
        return Ok((Scope::Everywhere, HashMap::new()));
    }
    if let Some(bbox) = filter.only_box() {
        return Ok((Scope::Box(bbox), HashMap::new()));
    }
    let found = filter.select(&*state.services.store.directory()?, &|_| true);
    let away = found.iter().filter_map(|found| Some((found.id, found.away?))).collect();
    Ok((Scope::Stations(found.into_iter().map(|found| found.id).collect()), away))
}

/// How many stations are in a scope.
///
/// # Errors
/// The stations cannot be read.
pub fn station_count(state: &State, scope: &Scope) -> Result<usize, ApiError> {
    let directory = state.services.store.directory()?;
    Ok(match scope {
        Scope::Everywhere => directory.stations.len(),
        Scope::Box(bbox) => directory.index.in_box(*bbox).count(),
        Scope::Stations(ids) => ids.len(),
    })
}

/// Reads [`STATION_IDS`]; `None` if they are not given.
///
/// # Errors
/// The list is empty or too long, has a name of no or of several stations, or is given beside another
/// parameter that chooses stations.
pub fn named(
    state: &State,
    query: &Query,
    others: &[Parameter],
) -> Result<Option<Vec<StationId>>, ApiError> {
    if query.all("stationIds").next().is_none() {
        return Ok(None);
    }
    let is_given = |other: &&Parameter| query.all(other.name).next().is_some();
    if let Some(other) = others.iter().find(is_given) {
        let text = format!("stations are given twice; give either stationIds or {}", other.name);
        return Err(ApiError::BadRequest(text));
    }
    let ids = station_ids(state, query.list("stationIds"))?;
    if ids.is_empty() {
        let limit = state.config().max_station_ids;
        let text = format!("stationIds holds no id; it must hold 1 to {limit}");
        return Err(ApiError::BadRequest(text));
    }
    Ok(Some(ids))
}

/// Returns the stations of names, each once, sorted by id.
///
/// # Errors
/// There are too many, or a name is that of no or of several stations.
pub fn station_ids<'a>(
    state: &State,
    names: impl Iterator<Item = &'a str>,
) -> Result<Vec<StationId>, ApiError> {
    let ids: BTreeSet<StationId> =
        names.map(|name| station_needed(state, name)).collect::<Result<_, _>>()?;
    let limit = state.config().max_station_ids;
    if ids.len() > limit {
        return Err(ApiError::BadRequest(format!(
            "stationIds holds {} different ids; the limit is {limit}",
            ids.len()
        )));
    }
    Ok(ids.into_iter().collect())
}

/// The names in a list. An empty one stays, so that it is refused: a list of none would choose all.
fn names<'q>(query: &'q Query, parameter: &'q str) -> impl Iterator<Item = &'q str> {
    query.all(parameter).flat_map(|list| list.split(',')).map(str::trim)
}

/// Reads a place, and what is wanted around it.
///
/// # Errors
/// One is invalid or lacks another.
pub fn near(query: &Query) -> Result<Option<Near>, ApiError> {
    let radius_km = within(query, "radiusKm", Form::Number(0.0, MAX_RADIUS_KM))?;
    let nearest = query.index("nearest")?;
    let Some(from) = query.place()? else {
        let given = [("radiusKm", radius_km.is_some()), ("nearest", nearest.is_some())];
        return match given.into_iter().find(|(_, is_given)| *is_given) {
            None => Ok(None),
            Some((name, _)) => Err(ApiError::BadRequest(format!("{name} needs lat and lon"))),
        };
    };
    if radius_km.is_none() && nearest.is_none() {
        return Err(ApiError::BadRequest("lat and lon need radiusKm, nearest or both".to_owned()));
    }
    let near = Near::new(from);
    let near = radius_km.map_or(near, |radius_km| near.within_km(radius_km));
    let Some(nearest) = nearest else { return Ok(Some(near)) };
    if (1..=MAX_NEAREST as usize).contains(&nearest) {
        return Ok(Some(near.nearest(nearest)));
    }
    Err(ApiError::BadRequest(format!("nearest must be from 1 to {MAX_NEAREST}; got {nearest}")))
}

fn within(query: &Query, name: &str, form: Form) -> Result<Option<f64>, ApiError> {
    let Form::Number(least, most) = form else { return Ok(None) };
    let number = query.number(name)?;
    match number {
        Some(got) if !(least..=most).contains(&got) => {
            Err(ApiError::BadRequest(format!("{name} must be from {least} to {most}; got {got}")))
        }
        _ => Ok(number),
    }
}

fn station_type(name: &str) -> Result<StationType, ApiError> {
    let found = STATION_TYPES.into_iter().find(|class| format!("{class:?}") == name);
    found.ok_or_else(|| {
        ApiError::BadRequest(format!(
            "unknown stationType \"{name}\"; allowed are {STATION_TYPES:?}"
        ))
    })
}

fn check_networks(names: &[String], directory: &Directory) -> Result<(), ApiError> {
    let networks = directory.stations.iter().map(|record| &*record.station.network);
    let known: BTreeSet<&str> = networks.collect();
    let is_known = |name: &&String| known.iter().any(|of| of.eq_ignore_ascii_case(name));
    let Some(unknown) = names.iter().find(|name| !is_known(name)) else { return Ok(()) };
    let known: Vec<&str> = known.into_iter().collect();
    Err(ApiError::BadRequest(format!(
        "no station is of the network \"{unknown}\"; the networks are {}",
        known.join(", ")
    )))
}

/// Returns the station that a text names: by its id, or by any of its identifiers.
///
/// # Errors
/// 404: no station has the identifier. 400: several have.
pub fn station_named(state: &State, name: &str) -> Result<StationId, ApiError> {
    // An id needs no look at the stations.
    match name.parse() {
        Ok(id) => Ok(id),
        Err(_) => Ok(state.services.store.directory()?.named(name)?),
    }
}

/// The same for an endpoint that answers 400 where no station has the identifier.
///
/// # Errors
/// 400: none or several have it.
pub fn station_needed(state: &State, name: &str) -> Result<StationId, ApiError> {
    station_named(state, name).map_err(|error| match error {
        ApiError::NotFound(text) => ApiError::BadRequest(text),
        other => other,
    })
}

/// The error for a station that is not on record.
pub fn no_station(id: impl Display) -> ApiError {
    ApiError::NotFound(format!("no station has the id \"{id}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exposure_class_has_its_name() {
        for class in STATION_TYPES {
            assert_eq!(station_type(&format!("{class:?}")), Ok(class));
        }
        assert!(station_type("suburban").is_err());
    }
}

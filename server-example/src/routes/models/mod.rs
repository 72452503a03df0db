//! The model service: one file per endpoint, and what they share.

mod capabilities;
mod coverage;
mod grid;
mod lasting;
mod parameters;
mod point;
mod products;
mod runs;
mod series;
mod tiles;

use std::collections::HashSet;
use std::sync::Arc;

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Uri, header};
use axum::response::Response;
use mesonet::access::ModelUse;
use mesonet::model::RunStamp;
use mesonet::{Iso8601, LonLat, model};
use serde::{Deserialize, Serialize};

use crate::auth::access::{Caller, ModelPermission};
use crate::http::encoding::AcceptedEncodings;
use crate::http::error::ApiError;
use crate::http::extract::{Headers, Query, missing};
use crate::http::snapshot::json_value;
use crate::routes::Endpoint;
use crate::state::State;
use lasting::CacheLifetime;

/// Maximum number of names in `fields`. No model has more products.
const MAX_FIELDS: usize = 1024;

/// The endpoints of the model service.
pub const ENDPOINTS: [&[Endpoint]; 8] = [
    capabilities::ENDPOINTS,
    coverage::ENDPOINTS,
    grid::ENDPOINTS,
    point::ENDPOINTS,
    products::ENDPOINTS,
    runs::ENDPOINTS,
    series::ENDPOINTS,
    tiles::ENDPOINTS,
];

/// Reads the names in `fields`, comma-separated, each once.
fn fields(query: &Query) -> Result<Vec<&str>, ApiError> {
    query.one("fields")?;
    let mut seen = HashSet::new();
    let fields: Vec<&str> = query.list("fields").filter(|name| seen.insert(*name)).collect();
    match fields.len() {
        0 => {
            let text = "fields is required: names of products, comma-separated";
            Err(ApiError::BadRequest(text.to_owned()))
        }
        1..=MAX_FIELDS => Ok(fields),
        more => Err(ApiError::BadRequest(format!(
            "fields names {more} products; the limit is {MAX_FIELDS}"
        ))),
    }
}

/// The run that a request is about.
struct RequestedRun {
    run: Arc<model::Run>,
    /// Whether the request names it: `latest` and `valid` may mean another run later.
    is_named: bool,
    /// The index of the hour that is given by its valid time.
    hour: Option<usize>,
}

impl RequestedRun {
    /// Returns the requested run: by a stamp, by `latest`, or the newest run with the valid time
    /// `valid`. Runs that have the products at that time are preferred.
    fn new(
        state: &State,
        granted: ModelPermission<'_>,
        query: &Query,
        products: &[&str],
    ) -> Result<Self, ApiError> {
        let is_named = query.one("run")?.is_some_and(|run| run != LATEST);
        if query.one("run")?.is_some() {
            return Ok(Self { run: run_or_newest(state, granted, query)?, is_named, hour: None });
        }
        // A series has no single time.
        let valid = || query.knows("valid").then(|| query.instant("valid")).transpose();
        let Some(valid_ms) = valid()?.flatten() else {
            let text = "run is required: a run of /runs, for example 20180917T000000Z, or latest";
            return Err(ApiError::BadRequest(text.to_owned()));
        };
        let runs = state.services.models_with_sample().runs(granted)?;
        let hour = |run: &model::Run| {
            let hour = run.definition().valid_ms.binary_search(&valid_ms).ok()?;
            run.is_published(hour).then_some(hour)
        };
        let with_hour = || runs.iter().filter_map(|run| Some((run, hour(run)?)));
        let has_products =
            |run: &model::Run, hour| products.iter().all(|product| run.has(product, hour));
        let found = with_hour().find(|(run, hour)| has_products(run, *hour));
        let Some((run, hour)) = found.or_else(|| with_hour().next()) else {
            let model = granted.source().name();
            return Err(ApiError::NotFound(format!(
                "no run of model \"{model}\" has {}",
                Iso8601(valid_ms)
            )));
        };
        Ok(Self { run: Arc::clone(run), is_named, hour: Some(hour) })
    }

    /// Returns the requested hour: by its index, or by the valid time `valid`.
    fn hour(&self, query: &Query) -> Result<usize, ApiError> {
        match (query.index("hour")?, query.instant("valid")?) {
            (Some(_), Some(_)) => {
                Err(ApiError::BadRequest("hour and valid cannot be given together".to_owned()))
            }
            (Some(hour), None) => Ok(hour),
            (None, None) => Err(missing("hour")),
            (None, Some(valid_ms)) => {
                self.hour.or_else(|| self.hour_of(valid_ms)).ok_or_else(|| {
                    let hours = &self.run.definition().valid_ms;
                    let of = |hour: Option<&i64>| Iso8601(hour.copied().unwrap_or_default());
                    ApiError::BadRequest(format!(
                        "valid {} is not an hour of run {}; its hours are the {} from {} to {}",
                        Iso8601(valid_ms),
                        self.run.definition().run,
                        hours.len(),
                        of(hours.first()),
                        of(hours.last()),
                    ))
                })
            }
        }
    }

    fn hour_of(&self, valid_ms: i64) -> Option<usize> {
        self.run.definition().valid_ms.binary_search(&valid_ms).ok()
    }
}

/// The word for the latest run.
const LATEST: &str = "latest";

/// Returns the requested run. If the request says `latest` or names no run, this is the latest one.
fn run_or_newest(
    state: &State,
    granted: ModelPermission<'_>,
    query: &Query,
) -> Result<Arc<model::Run>, ApiError> {
    if let Some(stamp) = run_stamp(query)? {
        return Ok(state.services.models_with_sample().run(granted, stamp)?);
    }
    state.services.models_with_sample().newest(granted)?.ok_or_else(|| {
        ApiError::from(model::RunStoreError::UnknownModel(granted.source().name().to_owned()))
    })
}

/// Returns the run with the requested stamp.
fn run_stamp(query: &Query) -> Result<Option<RunStamp>, ApiError> {
    if query.one("run")? == Some(LATEST) {
        return Ok(None);
    }
    query.read("run", str::parse::<RunStamp>)
}

/// Returns the requested cell, by row and column or by latitude and longitude.
fn cell(run: &model::Run, query: &Query) -> Result<(usize, usize), ApiError> {
    match (query.index("row")?, query.index("col")?, query.place_on_grid()?) {
        (Some(row), Some(column), None) => Ok((row, column)),
        (None, None, Some(at)) => nearest(run, at),
        _ => Err(ApiError::BadRequest(
            "a cell is required: row and col, or lat and lon, but not both".to_owned(),
        )),
    }
}

/// Returns the requested level, by its index or by its pressure.
fn level(query: &Query) -> Result<(Option<usize>, Option<f64>), ApiError> {
    let level = (query.index("level")?, query.number("level_hpa")?);
    if let (Some(_), Some(_)) = level {
        let text = "level and level_hpa cannot be given together";
        return Err(ApiError::BadRequest(text.to_owned()));
    }
    Ok(level)
}

/// Returns the requested member of an ensemble.
fn member(query: &Query) -> Result<Option<u8>, ApiError> {
    let number = |number: usize| {
        u8::try_from(number).map_err(|_| {
            ApiError::BadRequest(format!("member must be 0 (the control) to 255; got {number}"))
        })
    };
    query.index("member")?.map(number).transpose()
}

/// Reads the directions of wind components: those of the grid, or `winds=earth`.
fn winds<'a>(granted: ModelPermission<'a>, query: &Query) -> Result<model::Winds<'a>, ApiError> {
    match query.one("winds")? {
        None | Some("grid") => Ok(model::Winds::AsTheyAre),
        Some("earth") => Ok(model::Winds::Earth(granted.source().winds())),
        Some(got) => {
            Err(ApiError::BadRequest(format!("winds must be grid or earth; got \"{got}\"")))
        }
    }
}

/// Returns the products that an answer is made from. For a rotated wind these are both components.
fn used_products<'a>(
    granted: ModelPermission<'a>,
    winds: model::Winds<'_>,
    fields: &[&'a str],
) -> Vec<&'a str> {
    let mut used = fields.to_vec();
    if winds != model::Winds::AsTheyAre {
        let both = fields.iter().filter_map(|field| granted.source().wind_of(field));
        used.extend(both.flat_map(|(_, both)| both));
    }
    used
}

fn nearest(run: &model::Run, at: LonLat) -> Result<(usize, usize), ApiError> {
    Ok(run.grid().nearest(at)?)
}

/// A request about a model: the caller, the model, and what caches depend on.
struct ModelRequest {
    model: String,
    caller: Caller,
    query: Query,
    uri: Uri,
    headers: HeaderMap,
    /// The models at the time of the request; a reload does not change them.
    catalogue: Arc<model::Catalogue>,
}

impl FromRequestParts<Arc<State>> for ModelRequest {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, state: &Arc<State>) -> Result<Self, ApiError> {
        #[derive(Deserialize)]
        struct Named {
            model: String,
        }
        let named = Path::<Named>::from_request_parts(parts, state).await;
        Ok(Self {
            model: named.map_err(ApiError::internal)?.0.model,
            caller: Caller::from_request_parts(parts, state).await?,
            query: Query::of(parts)?,
            uri: parts.uri.clone(),
            headers: Headers::from_request_parts(parts, state).await.map_err(ApiError::internal)?.0,
            catalogue: state.services.models.catalogue(),
        })
    }
}

impl ModelRequest {
    /// Grants the caller the use of some products of the model. This comes before any refusal of a
    /// malformed request.
    fn granted<'a, 'p>(
        &'a self,
        use_: ModelUse,
        products: impl IntoIterator<Item = &'p str>,
    ) -> Result<ModelPermission<'a>, ApiError> {
        let granted =
            ModelPermission::new(&self.catalogue, &self.caller, &self.model, use_, products)?;
        self.query.check_names()?;
        Ok(granted)
    }

    fn accepted(&self) -> AcceptedEncodings {
        AcceptedEncodings::of(&self.headers)
    }

    /// Answers with a value, or with 304 to a caller who has it already.
    fn json(&self, lasting: &CacheLifetime, value: &impl Serialize) -> Result<Response, ApiError> {
        let accepted = self.accepted();
        lasting.answer(self, accepted.fastest(), |_| json_value(accepted, value))
    }
}

/// Marks an answer that changes with a new run, so that caches revalidate it.
fn asked_again(granted: ModelPermission<'_>, mut response: Response) -> Response {
    let is_open = granted.source().access().is_open();
    let cache_control = if is_open { "no-cache" } else { "private, no-cache" };
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(cache_control));
    response
}

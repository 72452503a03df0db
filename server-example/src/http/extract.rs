//! Extracts query parameters and JSON bodies. Refusals are bare JSON strings.

use std::borrow::Cow;
use std::convert::Infallible;
use std::str::FromStr;
use std::sync::Arc;

use axum::extract::{FromRef, FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use mesonet::time::parse_instant;
use mesonet::{BBox, LonLat};
use serde::de::DeserializeOwned;

use super::encoding::{preferences, weight};
use super::member::{self, Requested};
use super::names::{SIDES, check_parameter};
use super::parameter::Parameter;
use crate::http::body::{Pace, ReceiveError, receive};
use crate::http::error::ApiError;
use crate::http::work::{Load, Workers};

/// Length of the longest query string that is read, in bytes. 2,000 zone codes with escaped commas
/// are 18,000 bytes.
const MAX_QUERY: usize = 32_768;

/// The parameters of the query string. An endpoint ignores unknown parameters, except those whose
/// name is almost that of a known one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    pairs: Vec<(String, String)>,
    /// The parameters that the endpoint has, if the endpoint is known.
    declared: Option<&'static [Parameter]>,
}

impl Query {
    fn parse(text: &str) -> Result<Self, ApiError> {
        if text.len() > MAX_QUERY {
            return Err(ApiError::BadRequest(format!(
                "the query string is {} bytes long; the limit is {MAX_QUERY}",
                text.len()
            )));
        }
        let pairs = form_urlencoded::parse(text.as_bytes());
        let pairs = pairs.map(|(name, value)| (name.into(), value.into())).collect();
        Ok(Self { pairs, declared: None })
    }

    /// Reads the parameters of a request without a look at unknown ones.
    ///
    /// # Errors
    /// The query string is too long.
    pub fn of(parts: &Parts) -> Result<Self, ApiError> {
        let declared = parts.extensions.get().map(|requested: &Requested| requested.query);
        let query = Self::parse(parts.uri.query().unwrap_or_default())?;
        Ok(Self { declared, ..query })
    }

    /// Reads parameters of an endpoint from a text, such as a setting.
    ///
    /// # Errors
    /// The text is too long, or a name is not that of a parameter.
    #[cfg(feature = "mqtt")]
    pub fn of_text(text: &str, declared: &'static [Parameter]) -> Result<Self, ApiError> {
        let query = Self { declared: Some(declared), ..Self::parse(text)? };
        query.check_names()?;
        // Nobody who asks for the address sees that a name has no meaning.
        let is_unknown = |(name, _): &&(String, String)| !query.knows(name);
        match query.pairs.iter().find(is_unknown) {
            Some((name, _)) => Err(ApiError::BadRequest(format!("unknown parameter \"{name}\""))),
            None => Ok(query),
        }
    }

    /// The same without some parameters.
    #[cfg(feature = "mqtt")]
    #[must_use]
    pub fn filtered(mut self, is_kept: impl Fn(&str) -> bool) -> Self {
        self.pairs.retain(|(name, _)| is_kept(name));
        self
    }

    /// Checks the names of unknown parameters.
    ///
    /// # Errors
    /// 400 with the right name if a name is almost that of a parameter of the endpoint.
    pub fn check_names(&self) -> Result<(), ApiError> {
        let declared = self.declared.unwrap_or_default();
        self.pairs.iter().try_for_each(|(name, _)| check_parameter(name, declared))
    }

    /// Returns whether the endpoint has a parameter.
    pub fn knows(&self, name: &str) -> bool {
        let of_name = |parameter: &Parameter| parameter.name == name;
        self.declared.is_none_or(|declared| declared.iter().any(of_name))
    }

    /// Returns whether any of some parameters is given.
    pub fn has_any(&self, parameters: &[Parameter]) -> bool {
        let is_of = |name: &str| parameters.iter().any(|parameter| parameter.name == name);
        self.pairs.iter().any(|(name, _)| is_of(name))
    }

    /// Returns every value of a parameter that may be repeated.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        debug_assert!(self.knows(name), "{name} is missing in the declaration of the endpoint");
        self.pairs.iter().filter(move |pair| pair.0 == name).map(|pair| &*pair.1)
    }

    /// Returns the value of a parameter that may be given once.
    ///
    /// # Errors
    /// The parameter is repeated, even with the same value.
    pub fn one(&self, name: &str) -> Result<Option<&str>, ApiError> {
        let mut values = self.all(name);
        let first = values.next();
        match values.count() {
            0 => Ok(first),
            more => Err(ApiError::BadRequest(format!(
                "{name} is given {} times; it must be given only once",
                more + 1
            ))),
        }
    }

    /// Returns a parameter parsed by the library.
    ///
    /// # Errors
    /// The parameter is repeated, or the library refuses it.
    pub fn read<T, E: Into<mesonet::Error>>(
        &self,
        name: &str,
        read: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Option<T>, ApiError> {
        Ok(self.one(name)?.map(read).transpose()?)
    }

    /// Returns whether a parameter is `true`. An absent parameter is not.
    ///
    /// # Errors
    /// The parameter is repeated, or is neither `true` nor `false`.
    pub fn truth(&self, name: &str) -> Result<bool, ApiError> {
        let truth = self.parsed(name, "true or false", |text| text.parse().ok())?;
        Ok(truth.unwrap_or_default())
    }

    /// Returns a parameter that is read here.
    ///
    /// # Errors
    /// 400 with what is allowed: the parameter is repeated, or cannot be read.
    pub fn parsed<T>(
        &self,
        name: &str,
        allowed: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, ApiError> {
        let Some(text) = self.one(name)? else { return Ok(None) };
        parse(text).map(Some).ok_or_else(|| {
            ApiError::BadRequest(format!("{name} must be {allowed}; got \"{text}\""))
        })
    }

    /// Returns an instant, milliseconds since 1970. An unescaped `+` arrives as a space, so a space
    /// is read as the `+` of an offset.
    ///
    /// # Errors
    /// The parameter is repeated or not an RFC 3339 instant.
    pub fn instant(&self, name: &str) -> Result<Option<i64>, ApiError> {
        self.read(name, |text| parse_instant(&text.replace(' ', "+")))
    }

    /// Returns a required instant, milliseconds since 1970.
    ///
    /// # Errors
    /// The parameter is missing, repeated or not an RFC 3339 instant.
    pub fn needed_instant(&self, name: &str) -> Result<i64, ApiError> {
        self.instant(name)?.ok_or_else(|| missing(name))
    }

    /// Returns the names in a parameter that may be repeated, comma-separated.
    pub fn list(&self, name: &str) -> impl Iterator<Item = &str> {
        let texts = self.all(name).flat_map(|list| list.split(',')).map(str::trim);
        texts.filter(|text| !text.is_empty())
    }

    /// Returns the parameters whose names begin with a prefix: the rest of each name, and the value.
    ///
    /// # Errors
    /// One of them is repeated.
    pub fn after(&self, prefix: &str) -> Result<Vec<(&str, &str)>, ApiError> {
        let mut found: Vec<(&str, &str)> = Vec::new();
        for (name, value) in &self.pairs {
            let Some(rest) = name.strip_prefix(prefix) else { continue };
            if found.iter().any(|(known, _)| *known == rest) {
                return Err(ApiError::BadRequest(format!(
                    "{name} is given more than once; it must be given only once"
                )));
            }
            found.push((rest, value));
        }
        Ok(found)
    }

    /// A number.
    ///
    /// # Errors
    /// The parameter is repeated or not a number.
    pub fn number(&self, name: &str) -> Result<Option<f64>, ApiError> {
        self.parsed(name, "a number", |text| text.parse().ok())
    }

    /// Returns an index into a list, counted from 0.
    ///
    /// # Errors
    /// The parameter is repeated, or is not a non-negative integer.
    pub fn index(&self, name: &str) -> Result<Option<usize>, ApiError> {
        self.parsed(name, "a non-negative integer", digits)
    }

    /// A place, by `lat` and `lon`.
    ///
    /// # Errors
    /// One is given without the other, repeated, not a number, or off the globe.
    pub fn place(&self) -> Result<Option<LonLat>, ApiError> {
        match (self.number("lat")?, self.number("lon")?) {
            (None, None) => Ok(None),
            (Some(lat), Some(lon)) => Ok(Some(LonLat::new(lon, lat)?)),
            _ => Err(ApiError::BadRequest("a place needs both lat and lon, or neither".to_owned())),
        }
    }

    /// The same for the grids of models, whose longitudes may run from 0 to 360.
    ///
    /// # Errors
    /// As [`place`](Self::place).
    pub fn place_on_grid(&self) -> Result<Option<LonLat>, ApiError> {
        match (self.number("lat")?, self.number("lon")?) {
            (Some(lat), Some(lon)) if lon > 180.0 && lon <= 360.0 => {
                Ok(Some(LonLat::new(lon - 360.0, lat)?))
            }
            _ => self.place(),
        }
    }

    /// A box of four sides.
    ///
    /// # Errors
    /// A side is missing, repeated, not a number, or off the globe.
    pub fn bbox(&self) -> Result<Option<BBox>, ApiError> {
        let mut sides = [None; 4];
        for (side, name) in sides.iter_mut().zip(SIDES) {
            *side = self.number(name)?;
        }
        match sides {
            [None, None, None, None] => Ok(None),
            [Some(min_lat), Some(min_lon), Some(max_lat), Some(max_lon)] => {
                Ok(Some(BBox::new(min_lon, min_lat, max_lon, max_lat)?))
            }
            _ => {
                let given = SIDES.into_iter().zip(sides).filter(|(_, side)| side.is_some());
                let given: Vec<&str> = given.map(|(name, _)| name).collect();
                Err(ApiError::BadRequest(format!(
                    "a box needs all of {}; got only {}",
                    SIDES.join(", "),
                    given.join(", ")
                )))
            }
        }
    }
}

/// Reads a whole number without a sign, which the parser would accept too.
pub fn digits<T: FromStr>(text: &str) -> Option<T> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}

/// The error for a required parameter that is not given.
pub fn missing(name: &str) -> ApiError {
    ApiError::BadRequest(format!("{name} is required"))
}

impl<S: Sync> FromRequestParts<S> for Query {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let query = Self::of(parts)?;
        query.check_names()?;
        Ok(query)
    }
}

/// The headers of a request. They are not copied, so this comes after what else reads them.
pub struct Headers(pub HeaderMap);

impl<S: Sync> FromRequestParts<S> for Headers {
    type Rejection = Infallible;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(std::mem::take(&mut parts.headers)))
    }
}

/// How a body is received.
pub struct BodyRules {
    /// The limit of its length, bytes.
    pub limit: usize,
    /// How fast the caller must send it.
    pub pace: Pace,
    /// The memory that the body takes a share of.
    pub workers: Arc<Workers>,
}

/// A body up to this length uses the memory for small answers. A body may arrive slowly, so longer
/// ones would keep that memory from others.
const LIGHT_BODY_BYTES: usize = 64 << 10;

/// A body in JSON, up to the configured number of bytes.
#[derive(Clone, Copy, Debug)]
pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned, S: Sync> FromRequest<S> for JsonBody<T>
where
    BodyRules: FromRef<S>,
{
    type Rejection = ApiError;
    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let content_type = request.headers().get(header::CONTENT_TYPE);
        let content_type = content_type
            .map_or(Cow::Borrowed("none"), |value| String::from_utf8_lossy(value.as_bytes()));
        if !is_json(&content_type) {
            return Err(ApiError::BadRequest(format!(
                "content-type must be application/json; got {content_type}"
            )));
        }
        let encodings = request.headers().get_all(header::CONTENT_ENCODING).iter();
        let identity = |got: &&HeaderValue| !got.as_bytes().eq_ignore_ascii_case(b"identity");
        if let Some(got) = encodings.into_iter().find(identity) {
            return Err(ApiError::Refused(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                format!(
                    "content-encoding must be identity, or left out; got {}",
                    String::from_utf8_lossy(got.as_bytes())
                ),
            ));
        }
        let BodyRules { limit, pace, workers } = BodyRules::from_ref(state);
        let members = request.extensions().get().map(|requested: &Requested| requested.body);
        let announced = request.headers().get(header::CONTENT_LENGTH);
        let announced = announced.and_then(|length| length.to_str().ok()?.parse().ok());
        let client_addr = request.extensions().get().copied().unwrap_or_default();
        let bytes = limit.min(announced.unwrap_or(limit));
        let load = if bytes <= LIGHT_BODY_BYTES { Load::Light } else { Load::Heavy };
        let _memory = workers.memory(client_addr, load, bytes).await;
        let body =
            receive(request.into_body(), limit, pace).await.map_err(|error| match error {
                ReceiveError::TooSlow { .. } => {
                    ApiError::Refused(StatusCode::REQUEST_TIMEOUT, error.to_string())
                }
                error => ApiError::BadRequest(error.to_string()),
            })?;
        let form = "the body must be a JSON object of the expected form";
        // The reader would also take an array for an object, member by member.
        if !body.trim_ascii_start().starts_with(b"{") {
            return Err(ApiError::BadRequest(format!("{form}: it does not start with {{")));
        }
        if let Some(members) = members {
            member::check(&body, members)?;
        }
        serde_json::from_slice(&body).map(Self).map_err(|_| ApiError::BadRequest(form.to_owned()))
    }
}

/// Returns the offered media type that the caller prefers, by its `Accept`. The first one is for a
/// caller who names none of them, and wins ties.
pub fn accepted_media_type(headers: &HeaderMap, offered: &[&str]) -> usize {
    let mut best = (0, 0.0);
    for (name, parameters) in preferences(headers, header::ACCEPT) {
        let Some(place) = offered.iter().position(|offered| *offered == name) else { continue };
        let mut parameters = parameters.into_iter().flat_map(|parameters| parameters.split(';'));
        let given = parameters.find(|parameter| parameter.trim().starts_with("q="));
        let weight = given.map_or(1.0, |parameter| weight(parameter).unwrap_or(0.0));
        if weight > best.1 || weight == best.1 && place < best.0 {
            best = (place, weight);
        }
    }
    best.0
}

/// `application/json` or `application/….+json`, with or without parameters.
fn is_json(content_type: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || kind.starts_with("application/") && kind.ends_with("+json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_that_may_be_given_once_may_not_be_repeated() {
        let query = Query::parse("end=x&start=a&start=a").unwrap();
        assert_eq!(query.one("end"), Ok(Some("x")));
        assert_eq!(query.one("step"), Ok(None));
        assert_eq!(
            query.one("start"),
            Err(ApiError::BadRequest(
                "start is given 2 times; it must be given only once".to_owned()
            ))
        );
    }

    #[test]
    fn a_plus_that_became_a_blank_is_still_an_offset() {
        for text in ["2024-08-03T23:19:00+02:00", "2024-08-03T23:19:00%2B02:00"] {
            let query = Query::parse(&format!("end={text}")).unwrap();
            assert_eq!(query.instant("end"), Ok(Some(1_722_719_940_000)));
        }
    }

    #[test]
    fn a_list_is_repeated_or_comma_separated_and_what_is_empty_is_left_out() {
        let query = Query::parse("codes=a,%20b&lang=en&codes=,c,").unwrap();
        assert_eq!(query.list("codes").collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(query.list("names").count(), 0);
    }

    #[test]
    fn a_query_string_has_a_longest_length() {
        assert!(Query::parse(&"x".repeat(MAX_QUERY)).is_ok());
        assert_eq!(
            Query::parse(&"x".repeat(MAX_QUERY + 1)),
            Err(ApiError::BadRequest(
                "the query string is 32769 bytes long; the limit is 32768".to_owned()
            ))
        );
    }

    #[test]
    fn the_media_type_that_is_liked_best_wins_and_the_first_one_where_none_is_named() {
        let accepted = |lines: &[&str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(header::ACCEPT, line.parse().unwrap());
            }
            accepted_media_type(&headers, &["text/csv", "a/b", "a/c"])
        };
        for none in [&[][..], &["*/*"], &["text/html"], &["a/b;q=0"], &["a/b;q=x"], &[";,;"]] {
            assert_eq!(accepted(none), 0, "{none:?}");
        }
        assert_eq!(accepted(&["a/b"]), 1);
        assert_eq!(accepted(&["A/C; v=1 ; q=0.5"]), 2);
        assert_eq!(accepted(&["a/b;q=0.5, a/c", "*/*"]), 2);
        assert_eq!(accepted(&["a/b", "text/csv"]), 0);
        assert_eq!(accepted(&["a/b, text/csv;q=0.9"]), 1);
    }

    #[test]
    fn json_has_several_names() {
        assert!(is_json("application/json"));
        assert!(is_json("Application/JSON; charset=utf-8"));
        assert!(is_json("application/problem+json"));
        assert!(!is_json("text/json"));
        assert!(!is_json("application/x-www-form-urlencoded"));
        assert!(!is_json("none"));
    }
}

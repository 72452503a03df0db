//! `/stations/{id}/summary` and `/stations/summary`: summaries of hours, days, months and windows.

use std::str::FromStr;
use std::sync::Arc;

use axum::extract::{Path, State as Shared};
use axum::response::Response;
use axum::routing::get;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use mesonet::access::check_lookback;
use mesonet::query::{
    AreaSummaries, DEFAULT_SUMMARY_VARIABLES, Scope, StationSummaries, SummaryQuery,
    area_summaries, station_summaries,
};
use mesonet::summary::{LocalDate, Period, UtcOffset};
use mesonet::time::DAY_MS;
use mesonet::{ClosedWindow, HalfOpenWindow, Reader, Variable};

use super::filter::{
    FILTER, STATION_IDS, matching, named, no_station, station_count, station_named,
};
use super::form::{UNIT_OF, UNITS, units};
use super::parameters::STATION;
use crate::auth::access::Caller;
use crate::http::damage::with_header;
use crate::http::error::ApiError;
use crate::http::extract::{Headers, Query, missing};
use crate::http::parameter::{Form, Parameter, join};
use crate::http::snapshot::json_tagged;
use crate::http::work::{Cost, Load};
use crate::limits::ClientAddr;
use crate::openapi::{About, Common, Tag};
use crate::routes::Endpoint;
use crate::state::State;

/// The most periods of one answer: hours of six weeks, days of almost three years.
const MAX_PERIODS: usize = 1_000;
/// The longest window that is summarised as a whole. A longer time is asked for by its days or months.
const MAX_WINDOW_MS: i64 = 31 * DAY_MS;
/// The longest time whose summaries take a few milliseconds.
const LIGHT_MS: i64 = 31 * DAY_MS;
/// The most periods that are summarised and written in a few milliseconds.
const LIGHT_PERIODS: usize = 100;
/// The most stations whose summaries take a few milliseconds.
const LIGHT_STATIONS: usize = 100;
/// Length of the summary of a period with the default variables, in JSON and as it is made.
const PERIOD_BYTES: usize = 16 << 10;
/// What the readings of a station that reports every minute take for a month.
const READINGS_BYTES: usize = 32 << 20;

const DAYS: &str = "A day is one of standard time the whole year. Give `tz` or `utcOffset`; the days of \
     the climate of Canada end at 06:00 UTC everywhere, which is `-06:00`. By default days are those of \
     UTC: the record does not know the zones of stations.";

const DATE_PATTERN: &str = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$";

const FROM: Parameter = Parameter::new(
    "from",
    Form::Matching(DATE_PATTERN),
    "First date, at the place; by default that of `to`.",
)
.example("2024-08-03");

const TO: Parameter = Parameter::new(
    "to",
    Form::Matching(DATE_PATTERN),
    "Last date, included; by default today. Of months, those that hold the dates.",
)
.example("2024-08-03");

const DATE: Parameter = Parameter::new(
    "date",
    Form::Matching(DATE_PATTERN),
    "The day, at the place; by default today. Not together with `start` and `end`.",
)
.example("2024-08-03");

/// The ends of a window in place of dates. Without an example: the examples are of dates.
const WINDOW: [Parameter; 2] = [
    Parameter::new("start", Form::Instant, "Start of a window, included."),
    Parameter::new("end", Form::Instant, "End of a window, not included."),
];

const PERIOD: Parameter = Parameter::new(
    "period",
    Form::OneOf(&["hour", "day", "month", "window"]),
    "What each summary is of. `window` is one summary from `start` to `end`, up to 31 days; the others \
     are of the dates.",
)
.default("day");

const NAMES: Parameter = Parameter::new(
    "names",
    Form::Variables,
    "Names of variables, repeated or comma-separated; by default temperature, dew point, humidity, \
     pressure, wind, gust, precipitation, snowfall and snow depth. A name of the wind brings `wind`, \
     that of the air temperature `degreeDays`.",
)
.example("airTemperature,precipitation,windSpeed");

const TZ: Parameter = Parameter::new(
    "tz",
    Form::Matching("^[A-Za-z][A-Za-z0-9_+/-]{0,63}$"),
    "A zone of the tz database, whose standard time the days are of. Not together with `utcOffset`.",
)
.example("America/Toronto");

const UTC_OFFSET: Parameter = Parameter::new(
    "utcOffset",
    Form::Matching("^(Z|[+-][0-9]{2}(:?[0-5][0-9])?)$"),
    "The offset of the days from UTC, from -12:00 to +14:00.",
);

const BASE: Parameter = Parameter::new(
    "degreeDayBase",
    Form::Number(-60.0, 60.0),
    "The base of degree days in °C; 65 °F is 18.3333.",
)
.default("18");

const OF_AREA: [Parameter; 10] =
    [DATE, WINDOW[0], WINDOW[1], STATION_IDS, NAMES, TZ, UTC_OFFSET, BASE, UNITS, UNIT_OF];

pub const ENDPOINTS: &[Endpoint] = &[
    Endpoint::get("/stations/summary", || get(of_area))
        .query(&join::<10, 16, 26>(OF_AREA, FILTER))
        .about(|| {
            About::new(
                "getSummaries",
                Tag::Observations,
                "Summaries of many stations for one day, or for one window",
            )
            .text(DAYS)
            .json::<AreaSummaries>("The summaries by station.")
            .cached("`no-cache`")
            .tagged()
        }),
    Endpoint::get("/stations/{id}/summary", || get(of_station))
        .query(&[
            PERIOD, FROM, TO, WINDOW[0], WINDOW[1], NAMES, TZ, UTC_OFFSET, BASE, UNITS, UNIT_OF,
        ])
        .about(|| {
            About::new(
                "getStationSummary",
                Tag::Observations,
                "Hourly, daily and monthly summaries of a station, with what made each value",
            )
            .text(DAYS)
            .path(&[STATION])
            .json::<StationSummaries>("The summaries, one for each period.")
            .with(Common::NotFound)
            .cached("`no-cache`")
            .tagged()
        }),
];

async fn of_station(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    client_addr: ClientAddr,
    Path(text): Path<String>,
    query: Query,
    Headers(headers): Headers,
) -> Result<Response, ApiError> {
    let station = station_named(&state, &text)?;
    let now_ms = state.clock.now_ms();
    let period = query.read("period", Period::from_str)?.unwrap_or(Period::Day);
    let asked = if period == Period::Window {
        refuse_together(&query, "period=window", &["from", "to", "tz", "utcOffset"])?;
        window(&query)?
    } else {
        refuse_together(&query, &format!("period={}", period.name()), &["start", "end"])?;
        dates(&query, period, now_ms)?
    };
    let asked = with_names(&query, asked)?;
    let whole = whole(&asked)?;
    check_lookback(whole, now_ms, caller.plan)?;
    let is_light = whole.span_ms() <= LIGHT_MS && asked.windows.len() <= LIGHT_PERIODS;
    let load = if is_light { Load::Light } else { Load::Heavy };
    let bytes = asked.windows.len() * PERIOD_BYTES
        + if load == Load::Heavy { READINGS_BYTES } else { READINGS_BYTES / 32 };
    let answer = move |state: &State| {
        let read = |store: &dyn Reader| station_summaries(store, station, &asked);
        let (found, damaged) = state.services.read(read)?;
        let found = found.ok_or_else(|| no_station(station))?;
        let body = serde_json::to_vec(&found).map_err(ApiError::internal)?;
        Ok(with_header(json_tagged(&headers, body), damaged))
    };
    state.answer(client_addr, Cost { load, bytes }, answer).await
}

async fn of_area(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    client_addr: ClientAddr,
    query: Query,
    Headers(headers): Headers,
) -> Result<Response, ApiError> {
    let now_ms = state.clock.now_ms();
    let is_window = query.one("start")?.is_some() || query.one("end")?.is_some();
    let asked = if is_window {
        refuse_together(&query, "start and end", &["date", "tz", "utcOffset"])?;
        window(&query)?
    } else {
        let offset = offset(&query, ["date", "date"], now_ms)?;
        let date = query.read("date", LocalDate::from_str)?;
        let date = date.unwrap_or_else(|| LocalDate::at(now_ms, offset));
        SummaryQuery::of_dates(Period::Day, date, date, offset).map_err(mesonet::Error::from)?
    };
    let asked = with_names(&query, asked)?;
    check_lookback(whole(&asked)?, now_ms, caller.plan)?;
    let scope = match named(&state, &query, &FILTER)? {
        Some(ids) => Scope::Stations(ids),
        None => matching(&state, &query)?.0,
    };
    let stations = station_count(&state, &scope)?;
    let load = if stations <= LIGHT_STATIONS { Load::Light } else { Load::Heavy };
    let answer = move |state: &State| {
        let read = |store: &dyn Reader| area_summaries(store, &scope, &asked);
        let (found, damaged) = state.services.read(read)?;
        let body = serde_json::to_vec(&found).map_err(ApiError::internal)?;
        Ok(with_header(json_tagged(&headers, body), damaged))
    };
    state.answer(client_addr, Cost { load, bytes: stations * PERIOD_BYTES }, answer).await
}

/// Refuses parameters that have no meaning beside another one.
fn refuse_together(query: &Query, beside: &str, names: &[&str]) -> Result<(), ApiError> {
    for name in names {
        if query.one(name)?.is_some() {
            return Err(ApiError::BadRequest(format!("{name} cannot be given with {beside}")));
        }
    }
    Ok(())
}

/// One window from `start` to `end`.
fn window(query: &Query) -> Result<SummaryQuery, ApiError> {
    let (start_ms, end_ms) = (query.needed_instant("start")?, query.needed_instant("end")?);
    let window = HalfOpenWindow::new(start_ms, end_ms)?;
    if window.span_ms() > MAX_WINDOW_MS {
        return Err(ApiError::BadRequest(format!(
            "a window that is summarised as a whole may be up to {} days long; ask for its days or \
             months",
            MAX_WINDOW_MS / DAY_MS
        )));
    }
    Ok(SummaryQuery::of_window(window))
}

/// The periods of the dates.
fn dates(query: &Query, period: Period, now_ms: i64) -> Result<SummaryQuery, ApiError> {
    let offset = offset(query, ["from", "to"], now_ms)?;
    let to = query.read("to", LocalDate::from_str)?;
    let to = to.unwrap_or_else(|| LocalDate::at(now_ms, offset));
    let from = query.read("from", LocalDate::from_str)?.unwrap_or(to);
    let days = (to.start_ms(offset) - from.start_ms(offset)) / DAY_MS + 1;
    let periods = match period {
        Period::Hour => days * 24,
        Period::Month => days / 31 + 2,
        Period::Day | Period::Window => days,
    };
    if periods > MAX_PERIODS as i64 {
        return Err(ApiError::BadRequest(format!(
            "the dates have {periods} periods; the limit is {MAX_PERIODS}: ask for fewer dates, or \
             for days or months"
        )));
    }
    Ok(SummaryQuery::of_dates(period, from, to, offset).map_err(mesonet::Error::from)?)
}

/// The offset of the days: as given, or that of a zone's standard time at the dates.
fn offset(query: &Query, dates: [&str; 2], now_ms: i64) -> Result<UtcOffset, ApiError> {
    let Some(name) = query.one("tz")? else {
        return Ok(query.read("utcOffset", UtcOffset::from_str)?.unwrap_or_default());
    };
    refuse_together(query, "tz", &["utcOffset"])?;
    let [first, last] = dates.map(|name| query.read(name, LocalDate::from_str));
    let at_ms = |date: LocalDate| date.start_ms(UtcOffset::UTC);
    let last_ms = last?.map_or(now_ms, at_ms);
    let first_ms = first?.map_or(last_ms, at_ms);
    standard_offset(name, first_ms, last_ms).map_err(ApiError::BadRequest)
}

/// Returns the offset of the standard time of a zone of the tz database, by its name, from one instant
/// to another.
///
/// # Errors
/// There is no such zone, its standard time is not one of whole minutes, or it changes between the
/// instants.
pub fn standard_offset(name: &str, first_ms: i64, last_ms: i64) -> Result<UtcOffset, String> {
    let zone = TimeZone::get(name).map_err(|_| {
        format!(
            "\"{name}\" is not a zone of the tz database; allowed are names such as \
             America/Toronto, or an offset from UTC"
        )
    })?;
    let at = |ts_ms| {
        standard(&zone, ts_ms).ok_or_else(|| {
            format!("{name} has no standard time of whole minutes at the dates; give the offset from UTC")
        })
    };
    let (of_first, of_last) = (at(first_ms)?, at(last_ms)?);
    if of_first == of_last {
        return Ok(of_first);
    }
    Err(format!(
        "the standard time of {name} changes between the dates, from {of_first} to {of_last}; ask for \
         each part with its offset from UTC"
    ))
}

/// The offset of a zone's standard time at an instant: while it has summer time, the one before.
fn standard(zone: &TimeZone, ts_ms: i64) -> Option<UtcOffset> {
    let at = Timestamp::from_millisecond(ts_ms).ok()?;
    let now = zone.to_offset_info(at);
    let offset = if now.dst().is_dst() {
        zone.preceding(at).find(|before| before.dst().is_std())?.offset()
    } else {
        now.offset()
    };
    let seconds = offset.seconds();
    (seconds % 60 == 0).then(|| UtcOffset::from_minutes(seconds / 60).ok()).flatten()
}

fn with_names(query: &Query, asked: SummaryQuery) -> Result<SummaryQuery, ApiError> {
    let named = query.list("names").map(Variable::from_str).collect::<Result<Vec<_>, _>>()?;
    let variables = if named.is_empty() { DEFAULT_SUMMARY_VARIABLES.to_vec() } else { named };
    let degree_day_base_c = match query.number("degreeDayBase")? {
        None => asked.degree_day_base_c,
        Some(base_c) if (-60.0..=60.0).contains(&base_c) => base_c,
        Some(base_c) => {
            return Err(ApiError::BadRequest(format!(
                "degreeDayBase must be from -60 to 60 °C; got {base_c}"
            )));
        }
    };
    Ok(SummaryQuery { variables, degree_day_base_c, units: units(query)?, ..asked })
}

/// From the start of the first period to the end of the last.
fn whole(asked: &SummaryQuery) -> Result<ClosedWindow, ApiError> {
    match (asked.windows.first(), asked.windows.last()) {
        (Some(first), Some(last)) => Ok(ClosedWindow::new(first.start_ms(), last.end_ms())?),
        _ => Err(missing("to")),
    }
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;

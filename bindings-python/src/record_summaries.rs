//! Summaries of a record.

use mesonet::query::{Scope, SummaryQuery, area_summaries, station_summaries};
use mesonet::summary::Period;
use mesonet::{HalfOpenWindow, Variable};
use pyo3::prelude::*;

use crate::error::{json, refused, text};
use crate::record::{AnswerText, Record, on_record};

/// The period, the first and last date with the offset of the days, or a window.
type Periods = (String, Option<(String, String, String)>, Option<(i64, i64)>);

/// The summaries of a station, or of all stations for one period.
#[pyfunction]
#[pyo3(signature = (record, station, periods, names, degree_day_base_c, /))]
fn record_summary(
    py: Python<'_>,
    record: &Record,
    station: Option<&str>,
    periods: Periods,
    names: Option<Vec<String>>,
    degree_day_base_c: Option<f64>,
) -> PyResult<AnswerText> {
    let (period, dates, window) = periods;
    let period: Period = period.parse().map_err(refused)?;
    let mut query = match (dates, window) {
        (Some((first, last, offset)), None) if period != Period::Window => {
            let date = |date: String| date.parse().map_err(refused);
            let offset = offset.parse().map_err(refused)?;
            SummaryQuery::of_dates(period, date(first)?, date(last)?, offset).map_err(refused)?
        }
        (None, Some((start_ms, end_ms))) if period == Period::Window => {
            SummaryQuery::of_window(HalfOpenWindow::new(start_ms, end_ms).map_err(refused)?)
        }
        _ => return Err(refused("period window needs start and end, and others need dates")),
    };
    if let Some(names) = names {
        let names = names.iter().map(|name| name.parse::<Variable>().map_err(refused));
        query.variables = names.collect::<PyResult<_>>()?;
    }
    query.degree_day_base_c = degree_day_base_c.unwrap_or(query.degree_day_base_c);
    record.read(py, |_, store| match station {
        Some(station) => {
            let station = on_record(store, station)?;
            json(&station_summaries(store, station, &query).map_err(text)?)
        }
        None => json(&area_summaries(store, &Scope::Everywhere, &query).map_err(text)?),
    })
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(record_summary, module)?)
}

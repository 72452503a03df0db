//! The queries of endpoints to a store: readings on a time grid or as a snapshot, the details of
//! stations, and the readings of one series.
//!
//! | Question | Items |
//! | --- | --- |
//! | Readings of many stations, on a grid or as a snapshot | [`readings`], [`ReadingsQuery`] |
//! | The grid: its positions, its caps, and what fills a cell | [`plan_time_grid`], [`as_of`], [`pick_series`] |
//! | Columns of many series on a grid, without a store | [`resample`], [`Ragged`] |
//! | The rows of a table as such series | [`offsets_of_keys`], [`order_of_rows`] |
//! | Which stations: around a place, of a province, of a network | [`StationFilter`] |
//! | Stations, with the qualities of their readings | [`details`], [`StationMarkers`] |
//! | The readings of one variable at one station | [`observation_series`] |
//! | The reports of one station as they came in | [`station_reports`] |
//! | What a batch has changed | [`ChangedReadings`] |
//! | The units and the local times of an answer | [`AnswerForm`], [`AnswerUnits`] |
//! | Summaries of one station, or of many for one period | [`station_summaries`], [`area_summaries`] |

mod changes;
mod detail;
mod filter;
mod form;
pub mod json;
mod keyed;
mod readings;
mod reports;
mod resample;
pub(crate) mod rows;
mod series;
mod summary;
mod time_grid;
mod units;
mod walk;
mod weather;

pub use self::changes::ChangedReadings;
pub use self::detail::{
    DetailFieldError, DetailFields, QUALITIES_SPAN_MS, SelectedDetail, StationDetail,
    StationMarker, StationMarkers, detail, details, details_of,
};
pub use self::filter::{Away, FoundStation, Near, StationFilter};
pub use self::form::{AnswerClock, AnswerForm};
pub use self::keyed::{offsets_of_keys, order_of_rows};
pub use self::readings::{AnswerReading, Readings, ReadingsQuery, Scope, readings};
pub use self::reports::{
    MAX_REPORTS, ReportOfStation, StationReports, newest_report_texts, report_texts,
    station_reports,
};
pub use self::resample::{
    CellReading, GridCells, Ragged, RaggedColumns, RaggedError, for_each_cell, resample,
};
pub use self::series::{ObservationSeries, SeriesReading, observation_series};
pub use self::summary::{
    AreaSummaries, DEFAULT_SUMMARY_VARIABLES, StationSummaries, SummaryQuery, area_summaries,
    station_summaries,
};
pub use self::time_grid::{
    CARRY_IN_MS, CURRENT_AGE_MS, Caps, Coarsening, LimitedBy, NO_READING, Pick, Positions,
    TimeGrid, TimeGridLengthError, as_of, pick_series, plan_time_grid,
};
pub use self::units::{AnswerUnitError, AnswerUnits, ShownUnit, UnitSystem};
pub use self::weather::{MAX_WEATHER_REPORTS, StationWeather, WeatherReport, present_weather};

//! What is observed: variables, series and stations, readings and reports of them, and their quality.
//!
//! | What | Items |
//! | --- | --- |
//! | What is measured, in one canonical unit | [`Variable`], [`to_canonical`], [`Canonical`] |
//! | How it is measured: a series | [`SeriesKey`], [`IntervalType`], [`SeriesFilter`] |
//! | Where | [`Station`], [`StationId`], [`Identifiers`], [`EarlierPlaces`] |
//! | What came in | [`Reading`], [`Report`], [`Batch`] |
//! | How good it is | [`Quality`], [`worst`], [`distinct_worst_first`] |
//! | What a network's own flags mean | [`Crosswalk`], [`MADIS`], [`QARTOD`] |

mod canonical;
mod crosswalk;
mod earlier_place;
mod filter;
mod identifier;
mod qualifier;
mod quality;
mod report;
mod series;
mod station;
mod station_moves;
mod variable;

pub use self::canonical::{Canonical, to_canonical};
pub use self::crosswalk::{
    BUFR_033020, Crosswalk, GHCNH_CHECKS, ISD, MADIS, QARTOD, SWOB_QA_SUMMARY,
};
#[cfg(all(feature = "feed", feature = "store", feature = "checks"))]
pub(crate) use self::earlier_place::is_other_place;
pub use self::earlier_place::{EarlierPlace, EarlierPlaces};
pub use self::filter::SeriesFilter;
pub use self::identifier::{IdScheme, Identifiers};
pub use self::qualifier::Qualifier;
pub use self::quality::{
    BaseQuality, Quality, QualityCode, QualityError, ReasonQuality, distinct_codes_worst_first,
    distinct_worst_first, worst, worst_code,
};
pub use self::report::{Batch, Reading, Report, ReportText};
pub use self::series::{
    IntervalType, IntervalTypeError, Series, SeriesId, SeriesKey, SeriesKeyError, SeriesParts,
    SeriesPreference,
};
pub use self::station::{Station, StationId, StationIdError, StationType};
pub use self::variable::{Variable, VariableError};

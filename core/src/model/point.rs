//! The answers of the model service: points, series and products.

use std::collections::HashSet;
use std::fmt;

use serde::{Serialize, Serializer};

use crate::grid::{Encoding, Rotation};
use crate::model::cell::Cell;
use crate::model::{
    FieldInterval, PointQuery, ProductDefinition, Run, RunDefinition, RunProduct, RunStamp,
    RunStoreError, SeriesQuery,
};
use crate::time::Iso8601;

/// Exact values of one cell of the native grid at one hour.
///
/// The answer to a [`PointQuery`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ModelPoint))]
pub struct Point {
    /// The run.
    pub run: RunStamp,
    /// The index into the hours of the run.
    #[cfg_attr(feature = "openapi", schema(value_type = u32))]
    pub hour: usize,
    /// The valid time of the hour.
    pub valid_time: Iso8601,
    /// When the newest part of the hour was published.
    #[serde(rename = "availableAt")]
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub available_at: Option<Iso8601>,
    /// The number of hours of the run.
    #[cfg_attr(feature = "openapi", schema(value_type = u32))]
    pub forecast_hours: usize,
    /// The row of the native grid.
    #[cfg_attr(feature = "openapi", schema(value_type = u32))]
    pub row: usize,
    /// The column of the native grid.
    #[cfg_attr(feature = "openapi", schema(value_type = u32))]
    pub col: usize,
    /// The centre of the cell; null if the definition of the grid extends beyond a pole there.
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(inline))]
    pub centre: CellCentre,
    /// The entry of each field by its name, in the requested order.
    #[cfg_attr(feature = "openapi", schema(value_type = std::collections::BTreeMap<String, PointEntry>))]
    pub fields: Fields<PointEntry>,
    /// The rotation of the winds in the answer towards true north.
    pub wind_rotation: Rotation,
}

/// Values of one cell over the hours of a run.
///
/// The answer to a [`SeriesQuery`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ModelSeries))]
pub struct Series {
    /// The run.
    pub run: RunStamp,
    /// The row of the native grid.
    #[cfg_attr(feature = "openapi", schema(value_type = u32))]
    pub row: usize,
    /// The column of the native grid.
    #[cfg_attr(feature = "openapi", schema(value_type = u32))]
    pub col: usize,
    /// The centre of the cell; null if the definition of the grid extends beyond a pole there.
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(inline))]
    pub centre: CellCentre,
    /// The number of hours of the run.
    #[cfg_attr(feature = "openapi", schema(value_type = u32))]
    pub forecast_hours: usize,
    /// The first valid time of the whole run.
    pub valid_from: Iso8601,
    /// The last valid time of the whole run.
    pub valid_to: Iso8601,
    /// When the newest part of the run was published.
    #[serde(rename = "availableAt")]
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub available_at: Option<Iso8601>,
    /// The rotation of the winds in the answer towards true north.
    pub wind_rotation: Rotation,
    /// The entry of each field by its name, in the requested order.
    #[cfg_attr(feature = "openapi", schema(value_type = std::collections::BTreeMap<String, SeriesEntry>))]
    pub fields: Fields<SeriesEntry>,
}

/// The latitude and longitude of the centre of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CellCentre {
    /// The latitude of the centre; null if the definition of the grid extends beyond a pole there.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub lat: Option<f64>,
    /// Its longitude, −180 to just below 180, or null.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub lon: Option<f64>,
}

/// Fields by name; an object in JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct Fields<T>(
    /// The names and entries.
    pub Vec<(String, T)>,
);

impl<T> Fields<T> {
    /// Returns the entry of a field.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find_map(|(known, entry)| (known == name).then_some(entry))
    }
}

/// A field at a point: `value` of a single level, else `values` in the order of `levels_hpa`.
/// Missing values are null.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum PointEntry {
    /// A single-level field.
    Single {
        /// The unit of the value.
        unit: String,
        /// The value; null if it is missing.
        #[cfg_attr(feature = "openapi", schema(required = true))]
        value: Option<f64>,
        /// Further facts about the value.
        #[serde(flatten)]
        #[cfg_attr(feature = "openapi", schema(inline))]
        about: ValueFacts,
    },
    /// A pressure-level field.
    Levels {
        /// The unit of the values.
        unit: String,
        /// The levels.
        levels_hpa: Vec<f64>,
        /// One value for each level.
        values: Vec<Option<f64>>,
        /// Further facts about the values.
        #[serde(flatten)]
        #[cfg_attr(feature = "openapi", schema(inline))]
        about: ValueFacts,
    },
}

/// Facts that apply only to some fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ValueFacts {
    /// The ensemble member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<u8>,
    /// The interval, for a statistic over an interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<AnswerInterval>,
}

/// The interval of a value that is a statistic.
///
/// ```
/// use mesonet::{Iso8601, model};
/// let rain = model::FieldInterval { length_ms: 3_600_000, statistic: 1 };
/// let interval = model::AnswerInterval::ending(1_537_142_400_000, rain);
/// assert_eq!(interval.start.to_string(), "2018-09-16T23:00:00Z");
/// assert_eq!(interval.statistic, "accumulation");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AnswerInterval {
    /// Its start.
    pub start: Iso8601,
    /// Its end, which is the valid time.
    pub end: Iso8601,
    /// How the values were combined: `average`, `accumulation`, `maximum`, `minimum`, or the number
    /// of another statistic (code table 4.10 of GRIB2).
    pub statistic: String,
}

impl AnswerInterval {
    /// Returns the interval that ends at a valid time, in milliseconds since 1970.
    pub fn ending(valid_ms: i64, interval: FieldInterval) -> Self {
        Self {
            start: Iso8601(valid_ms - interval.length_ms),
            end: Iso8601(valid_ms),
            statistic: interval.statistic_name(),
        }
    }

    fn of(run: &Run, product: RunProduct<'_>, hour: usize) -> Option<Self> {
        let interval = run.interval(product.definition().shared_name(), hour)?;
        let valid_ms = run.definition().valid_ms.get(hour)?;
        Some(Self::ending(*valid_ms, interval))
    }
}

/// A field over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SeriesEntry {
    /// The unit of the values.
    pub unit: String,
    /// The levels of a pressure-level product: the requested one, or all; null for a single level.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub levels_hpa: Option<Vec<f64>>,
    /// The ensemble member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<u8>,
    /// The items by time; hours that are not published yet are left out.
    pub series: Vec<SeriesItem>,
}

/// A field at an hour: `value` of a single level, else `values` in the order of `levels_hpa`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SeriesItem {
    /// The index into the hours of the run.
    #[cfg_attr(feature = "openapi", schema(value_type = u32))]
    pub hour: usize,
    /// The valid time of the hour.
    pub valid_time: Iso8601,
    /// The value, or the values of all levels.
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(inline))]
    pub value: SeriesValue,
    /// The interval, for a statistic over an interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<AnswerInterval>,
}

/// The values of a series at an hour. Missing values are null.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum SeriesValue {
    /// For a single-level field, or for the requested level.
    #[serde(rename = "value")]
    One(Option<f64>),
    /// For all levels, in the order of `levels_hpa`.
    #[serde(rename = "values")]
    Levels(Vec<Option<f64>>),
}

/// The value, or the values of all levels with commas between them; `missing` for a missing value.
impl fmt::Display for SeriesValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Levels(values) => values,
        };
        for (index, value) in values.iter().enumerate() {
            f.write_str(if index > 0 { ", " } else { "" })?;
            match value {
                Some(value) => write!(f, "{value}")?,
                None => f.write_str("missing")?,
            }
        }
        Ok(())
    }
}

/// A product as the products endpoint lists it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ModelProduct {
    /// Its name.
    pub name: String,
    /// The unit of its values.
    pub unit: String,
    /// Its levels; null for a single-level product.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub levels_hpa: Option<Vec<f64>>,
    /// Its ensemble members; 0 is the control.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<u8>,
    /// How its tiles represent values.
    pub encoding: ProductEncoding,
}

/// The size and packing of a product's grid. A value of a tile is raw · scale + offset, and missing
/// if raw is nodata.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProductEncoding {
    /// The number of rows.
    #[cfg_attr(feature = "openapi", schema(value_type = u32))]
    pub height: usize,
    /// The number of columns.
    #[cfg_attr(feature = "openapi", schema(value_type = u32))]
    pub width: usize,
    /// The packing: `scale`, `offset` and `nodata`.
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(inline))]
    pub encoding: Encoding,
}

impl<T: Serialize> Serialize for Fields<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, entry)| (name, entry)))
    }
}

/// Returns the exact values of one cell of the native grid at one hour, with the decimals of their
/// packing.
///
/// # Errors
/// If the run does not have a field, an hour, level, row or column is out of range, the hour is not
/// published, or the store is damaged.
///
/// ```
/// use mesonet::model;
/// use mesonet::model::{ValueFacts, PointEntry};
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/model_grids/store");
/// let run = model::RunStore::new(folder).newest_run("nam211")?;
/// let fields = &["prmsl", "u"];
/// let winds = model::Winds::AsTheyAre;
/// let query = model::PointQuery::new(0, (40, 20), fields).level(1).winds(winds);
/// let point = model::point(&run, &query)?;
/// let (name, prmsl) = &point.fields.0[0];
/// assert_eq!(name, "prmsl");
/// assert_eq!(*prmsl, PointEntry::Single { unit: "Pa".to_owned(), value: Some(101_828.8), about: ValueFacts::default() });
/// assert_eq!(point.valid_time.to_string(), "2018-09-17T00:00:00Z");
/// # Ok::<(), mesonet::model::RunStoreError>(())
/// ```
pub fn point(run: &Run, query: &PointQuery<'_>) -> Result<Point, RunStoreError> {
    let PointQuery { hour, row, column, member, winds, .. } = *query;
    let definition = run.definition();
    let cell = Cell::new(run, row, column, winds)?;
    let valid_ms = definition.valid_ms.get(hour).copied();
    let valid_ms = valid_ms.ok_or_else(|| out_of_range("hour", hour, definition.valid_ms.len()))?;
    let fields = fields(run, (query.fields, member), |product| {
        let ProductDefinition { unit, levels_hpa, member, .. } = product.definition();
        let level = product.definition().level(query.level, query.level_hpa)?;
        let about = ValueFacts {
            member: member.as_ref().map(|member| member.number),
            interval: AnswerInterval::of(run, product, hour),
        };
        let unit = unit.clone();
        let Some(levels_hpa) = levels_hpa else {
            let value = cell.value(product, hour, 0)?;
            return Ok(PointEntry::Single { unit, value, about });
        };
        let (levels_hpa, values) = match level {
            Some(level) => {
                let value = cell.value(product, hour, level)?;
                (vec![levels_hpa[level]], vec![value])
            }
            None => (levels_hpa.clone(), cell.column(product, hour)?),
        };
        Ok(PointEntry::Levels { unit, levels_hpa, values, about })
    })?;
    Ok(Point {
        run: definition.run,
        hour,
        valid_time: Iso8601(valid_ms),
        available_at: available_at(run, |published| published == hour),
        forecast_hours: definition.valid_ms.len(),
        row,
        col: column,
        centre: cell.centre(),
        fields,
        wind_rotation: cell.rotation(),
    })
}

/// Returns the values of one cell of the native grid over the hours of a run.
///
/// # Errors
/// As [`point`], except for hours that are not published, which are left out; also if
/// `from_ms` is after `to_ms`.
pub fn series(run: &Run, query: &SeriesQuery<'_>) -> Result<Series, RunStoreError> {
    let SeriesQuery { row, column, member, winds, .. } = *query;
    let definition = run.definition();
    let cell = Cell::new(run, row, column, winds)?;
    let hours = hours_between(run, query.from_ms, query.to_ms)?;
    let fields = fields(run, (query.fields, member), |product| {
        let ProductDefinition { unit, levels_hpa, member, .. } = product.definition();
        let level = product.definition().level(query.level, query.level_hpa)?;
        let (one, level) = (level.is_some(), level.unwrap_or(0));
        let mut series = Vec::with_capacity(hours.len());
        for &hour in &hours {
            let value = if one {
                SeriesValue::One(cell.value(product, hour, level)?)
            } else {
                SeriesValue::Levels(cell.column(product, hour)?)
            };
            let valid_time = Iso8601(definition.valid_ms[hour]);
            let interval = AnswerInterval::of(run, product, hour);
            series.push(SeriesItem { hour, valid_time, value, interval });
        }
        // The level must exist even if the request contains no hour.
        let levels_hpa = match levels_hpa {
            Some(levels) if one => {
                let chosen = levels.get(level);
                Some(vec![*chosen.ok_or_else(|| out_of_range("level", level, levels.len()))?])
            }
            levels => levels.clone(),
        };
        let member = member.as_ref().map(|member| member.number);
        Ok(SeriesEntry { unit: unit.clone(), levels_hpa, member, series })
    })?;
    let (first, last) = span(definition);
    Ok(Series {
        run: definition.run,
        row,
        col: column,
        centre: cell.centre(),
        forecast_hours: definition.valid_ms.len(),
        valid_from: Iso8601(first),
        valid_to: Iso8601(last),
        available_at: available_at(run, |_| true),
        wind_rotation: cell.rotation(),
        fields,
    })
}

/// Returns the products of a run as the products endpoint lists them.
pub fn products(run: &RunDefinition) -> Vec<ModelProduct> {
    let (height, width) = (run.grid.rows, run.grid.columns);
    let mut seen = HashSet::new();
    let each_once = run.products.iter().filter(|product| seen.insert(product.shared_name()));
    let listed = |product: &ProductDefinition| ModelProduct {
        name: product.shared_name().to_owned(),
        unit: product.unit.clone(),
        levels_hpa: product.levels_hpa.clone(),
        members: run.members(product.shared_name()),
        encoding: ProductEncoding { height, width, encoding: product.encoding },
    };
    each_once.map(listed).collect()
}

/// Returns the entries of the fields, each once, in the order of first mention.
fn fields<T>(
    run: &Run,
    (names, member): (&[&str], Option<u8>),
    entry: impl Fn(RunProduct<'_>) -> Result<T, RunStoreError>,
) -> Result<Fields<T>, RunStoreError> {
    let mut fields: Vec<(String, T)> = Vec::new();
    for &name in names {
        let product = run.product_of(name, member)?;
        if fields.iter().all(|(known, _)| known != name) {
            fields.push((name.to_owned(), entry(product)?));
        }
    }
    Ok(Fields(fields))
}

/// Returns the published hours whose valid time is in a closed window, either side of which may be
/// open.
fn hours_between(
    run: &Run,
    from_ms: Option<i64>,
    to_ms: Option<i64>,
) -> Result<Vec<usize>, RunStoreError> {
    let (from, to) = (from_ms.unwrap_or(i64::MIN), to_ms.unwrap_or(i64::MAX));
    if from > to {
        return Err(RunStoreError::Window { from_ms: from, to_ms: to });
    }
    let valid_ms = &run.definition().valid_ms;
    let published = run.published().iter().map(|published| published.hour);
    Ok(published.filter(|&hour| (from..=to).contains(&valid_ms[hour])).collect())
}

/// Returns the time when the newest of some hours was published.
fn available_at(run: &Run, hours: impl Fn(usize) -> bool) -> Option<Iso8601> {
    let published = run.published().iter().filter(|published| hours(published.hour));
    published.map(|published| published.published_ms).max().map(Iso8601)
}

/// Returns the first and last valid time. A run has at least one hour.
fn span(run: &RunDefinition) -> (i64, i64) {
    let start = run.run.start_ms();
    let first = run.valid_ms.first().copied().unwrap_or(start);
    (first, run.valid_ms.last().copied().unwrap_or(first))
}

fn out_of_range(what: &'static str, got: usize, length: usize) -> RunStoreError {
    RunStoreError::Index { what, got, last: length.saturating_sub(1) }
}

#[cfg(test)]
#[path = "point_tests.rs"]
mod tests;

//! What the model service answers: points, series, products.

use serde::{Serialize, Serializer};

use crate::grid_store::{GridProduct, GridRun, GridStoreError, ProductDefinition, RunDefinition};
use crate::model_cell::{Cell, ModelWinds};
use crate::run_stamp::RunStamp;
use crate::tile::Encoding;
use crate::time::Iso8601;
use crate::wind::Rotation;

/// A question about one cell of a model's native grid at one hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelPointQuery<'a> {
    /// Index into the hours of the run.
    pub hour: usize,
    /// Row of the native grid.
    pub row: usize,
    /// Column of the native grid.
    pub column: usize,
    /// Names of products; one that comes twice counts once.
    pub fields: &'a [&'a str],
    /// Index into the levels of pressure-level products; `None` for whole columns. It has no effect
    /// on products of a single level.
    pub level: Option<usize>,
    /// What the components of winds are along.
    pub winds: ModelWinds<'a>,
}

/// A question about one cell over the hours of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelSeriesQuery<'a> {
    /// Row of the native grid.
    pub row: usize,
    /// Column of the native grid.
    pub column: usize,
    /// Names of products; one that comes twice counts once.
    pub fields: &'a [&'a str],
    /// As in [`ModelPointQuery`].
    pub level: Option<usize>,
    /// First valid time, included; milliseconds since 1970.
    pub from_ms: Option<i64>,
    /// Last valid time, included.
    pub to_ms: Option<i64>,
    /// What the components of winds are along.
    pub winds: ModelWinds<'a>,
}

/// The answer to a [`ModelPointQuery`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelPoint {
    /// The run.
    pub run: RunStamp,
    /// Index into its hours.
    pub hour: usize,
    /// The time that the hour is valid at.
    pub valid_time: Iso8601,
    /// When the newest part of the hour was published.
    #[serde(rename = "availableAt")]
    pub available_at: Option<Iso8601>,
    /// How many hours the run has.
    pub forecast_hours: usize,
    /// Row of the native grid.
    pub row: usize,
    /// Column of the native grid.
    pub col: usize,
    /// Where the centre of the cell lies; null where the definition of the grid runs over a pole.
    #[serde(flatten)]
    pub centre: CellCentre,
    /// What each field has there, in the order that was asked for.
    pub fields: ModelFields<PointEntry>,
    /// What turns the winds of the answer towards true north.
    pub wind_rotation: Rotation,
}

/// The answer to a [`ModelSeriesQuery`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelSeries {
    /// The run.
    pub run: RunStamp,
    /// Row of the native grid.
    pub row: usize,
    /// Column of the native grid.
    pub col: usize,
    /// Where the centre of the cell lies; null where the definition of the grid runs over a pole.
    #[serde(flatten)]
    pub centre: CellCentre,
    /// How many hours the run has.
    pub forecast_hours: usize,
    /// First valid time of the whole run.
    pub valid_from: Iso8601,
    /// Last valid time of the whole run.
    pub valid_to: Iso8601,
    /// When the newest part of the run was published.
    #[serde(rename = "availableAt")]
    pub available_at: Option<Iso8601>,
    /// What turns the winds of the answer towards true north.
    pub wind_rotation: Rotation,
    /// What each field has there, in the order that was asked for.
    pub fields: ModelFields<SeriesEntry>,
}

/// Latitude and longitude of the centre of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CellCentre {
    /// The latitude.
    pub lat: Option<f64>,
    /// The longitude, −180 to just below 180.
    pub lon: Option<f64>,
}

/// Fields by name; on the wire an object.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelFields<T>(
    /// Names and entries.
    pub Vec<(String, T)>,
);

/// A field at a point. Values that are missing are null.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum PointEntry {
    /// Of a single level.
    Single {
        /// Unit of the value.
        unit: String,
        /// The value.
        value: Option<f64>,
    },
    /// Of pressure levels.
    Levels {
        /// Unit of the values.
        unit: String,
        /// The levels.
        levels_hpa: Vec<f64>,
        /// A value for each of them.
        values: Vec<Option<f64>>,
    },
}

/// A field over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeriesEntry {
    /// Unit of the values.
    pub unit: String,
    /// The levels of a pressure-level product: that which was asked for, or all.
    pub levels_hpa: Option<Vec<f64>>,
    /// By time; an hour that is not published yet is left out.
    pub series: Vec<SeriesItem>,
}

/// A field at an hour.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeriesItem {
    /// Index into the hours of the run.
    pub hour: usize,
    /// The time that it is valid at.
    pub valid_time: Iso8601,
    /// The value, or those of all levels.
    #[serde(flatten)]
    pub value: SeriesValue,
}

/// What a series has at an hour. Values that are missing are null.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum SeriesValue {
    /// Of a single level, or of the one that was asked for.
    #[serde(rename = "value")]
    One(Option<f64>),
    /// Of all levels, in the order of `levels_hpa`.
    #[serde(rename = "values")]
    Levels(Vec<Option<f64>>),
}

/// A product as the products endpoint lists it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelProduct {
    /// Its name.
    pub name: String,
    /// Unit of its values.
    pub unit: String,
    /// Its levels; null for a product of a single level.
    pub levels_hpa: Option<Vec<f64>>,
    /// How its tiles stand for values.
    pub encoding: GridEncoding,
}

/// Size and packing of a product's grid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GridEncoding {
    /// Number of rows.
    pub height: usize,
    /// Number of columns.
    pub width: usize,
    /// The packing: `scale`, `offset` and `nodata`.
    #[serde(flatten)]
    pub encoding: Encoding,
}

impl ModelSeriesQuery<'_> {
    /// How many values the answer has at most: those of all hours of the run.
    ///
    /// # Errors
    /// A field that the run does not have.
    pub fn values(&self, run: &GridRun) -> Result<usize, GridStoreError> {
        let mut levels = 0;
        for (index, name) in self.fields.iter().enumerate() {
            let product = run.product(name)?;
            if !self.fields[..index].contains(name) {
                levels += if self.level.is_some() { 1 } else { product.definition().levels() };
            }
        }
        Ok(levels * run.definition().valid_ms.len())
    }
}

impl<T: Serialize> Serialize for ModelFields<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, entry)| (name, entry)))
    }
}

/// Exact values of one cell of the native grid at one hour, with the decimals that their packing
/// has.
///
/// # Errors
/// A field that the run does not have; an hour, level, row or column out of range; an hour that is
/// not published; a damaged store.
///
/// ```
/// use mesonet::{GridStore, ModelPointQuery, ModelWinds, PointEntry, model_point};
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/model_grids/store");
/// let run = GridStore::new(folder).newest_run("nam211")?;
/// let fields = &["prmsl", "u"];
/// let winds = ModelWinds::AsTheyAre;
/// let query = ModelPointQuery { hour: 0, row: 40, column: 20, fields, level: Some(1), winds };
/// let point = model_point(&run, &query)?;
/// let (name, prmsl) = &point.fields.0[0];
/// assert_eq!(name, "prmsl");
/// assert_eq!(*prmsl, PointEntry::Single { unit: "Pa".to_owned(), value: Some(101_828.8) });
/// assert_eq!(point.valid_time.to_string(), "2018-09-17T00:00:00Z");
/// # Ok::<(), mesonet::GridStoreError>(())
/// ```
pub fn model_point(
    run: &GridRun,
    query: &ModelPointQuery<'_>,
) -> Result<ModelPoint, GridStoreError> {
    let ModelPointQuery { hour, row, column, level, winds, .. } = *query;
    let definition = run.definition();
    let cell = Cell::new(run, row, column, winds)?;
    let valid_ms = definition.valid_ms.get(hour).copied();
    let valid_ms = valid_ms.ok_or_else(|| out_of_range("hour", hour, definition.valid_ms.len()))?;
    let fields = fields(run, query.fields, |product| {
        let ProductDefinition { unit, levels_hpa, .. } = product.definition();
        let Some(levels_hpa) = levels_hpa else {
            let value = cell.value(product, hour, 0)?;
            return Ok(PointEntry::Single { unit: unit.clone(), value });
        };
        let (levels_hpa, values) = match level {
            Some(level) => {
                let value = cell.value(product, hour, level)?;
                (vec![levels_hpa[level]], vec![value])
            }
            None => (levels_hpa.clone(), cell.column(product, hour)?),
        };
        Ok(PointEntry::Levels { unit: unit.clone(), levels_hpa, values })
    })?;
    Ok(ModelPoint {
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

/// Values of one cell of the native grid over the hours of a run.
///
/// # Errors
/// As [`model_point`], but for hours that are not published, which are left out; a `from_ms` after
/// `to_ms`.
pub fn model_series(
    run: &GridRun,
    query: &ModelSeriesQuery<'_>,
) -> Result<ModelSeries, GridStoreError> {
    let ModelSeriesQuery { row, column, level, winds, .. } = *query;
    let definition = run.definition();
    let cell = Cell::new(run, row, column, winds)?;
    let hours = hours_between(run, query.from_ms, query.to_ms)?;
    let fields = fields(run, query.fields, |product| {
        let ProductDefinition { unit, levels_hpa, .. } = product.definition();
        let one = levels_hpa.is_none() || level.is_some();
        // Of a product of a single level there is no other.
        let level = if levels_hpa.is_some() { level.unwrap_or(0) } else { 0 };
        let mut series = Vec::with_capacity(hours.len());
        for &hour in &hours {
            let value = if one {
                SeriesValue::One(cell.value(product, hour, level)?)
            } else {
                SeriesValue::Levels(cell.column(product, hour)?)
            };
            let valid_time = Iso8601(definition.valid_ms[hour]);
            series.push(SeriesItem { hour, valid_time, value });
        }
        // Also where no hour is asked for, a level must be one.
        let levels_hpa = match levels_hpa {
            Some(levels) if one => {
                let chosen = levels.get(level);
                Some(vec![*chosen.ok_or_else(|| out_of_range("level", level, levels.len()))?])
            }
            levels => levels.clone(),
        };
        Ok(SeriesEntry { unit: unit.clone(), levels_hpa, series })
    })?;
    let (first, last) = span(definition);
    Ok(ModelSeries {
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

/// The products of a run as the products endpoint lists them.
pub fn model_products(run: &RunDefinition) -> Vec<ModelProduct> {
    let (height, width) = (run.grid.rows, run.grid.columns);
    let listed = |product: &ProductDefinition| ModelProduct {
        name: product.name.clone(),
        unit: product.unit.clone(),
        levels_hpa: product.levels_hpa.clone(),
        encoding: GridEncoding { height, width, encoding: product.encoding },
    };
    run.products.iter().map(listed).collect()
}

/// The entries of fields, each once, in the order of their first mention.
fn fields<T>(
    run: &GridRun,
    names: &[&str],
    entry: impl Fn(GridProduct<'_>) -> Result<T, GridStoreError>,
) -> Result<ModelFields<T>, GridStoreError> {
    let mut fields: Vec<(String, T)> = Vec::new();
    for &name in names {
        let product = run.product(name)?;
        if fields.iter().all(|(known, _)| known != name) {
            fields.push((name.to_owned(), entry(product)?));
        }
    }
    Ok(ModelFields(fields))
}

/// The published hours whose valid time is in a closed window, either side of which may be open.
fn hours_between(
    run: &GridRun,
    from_ms: Option<i64>,
    to_ms: Option<i64>,
) -> Result<Vec<usize>, GridStoreError> {
    let (from, to) = (from_ms.unwrap_or(i64::MIN), to_ms.unwrap_or(i64::MAX));
    if from > to {
        return Err(GridStoreError::Window { from_ms: from, to_ms: to });
    }
    let valid_ms = &run.definition().valid_ms;
    let published = run.published().iter().map(|published| published.hour);
    Ok(published.filter(|&hour| (from..=to).contains(&valid_ms[hour])).collect())
}

/// When the newest of some hours was published.
fn available_at(run: &GridRun, hours: impl Fn(usize) -> bool) -> Option<Iso8601> {
    let published = run.published().iter().filter(|published| hours(published.hour));
    published.map(|published| published.published_ms).max().map(Iso8601)
}

/// First and last valid time. A run has at least one hour.
fn span(run: &RunDefinition) -> (i64, i64) {
    let start = run.run.start_ms();
    let first = run.valid_ms.first().copied().unwrap_or(start);
    (first, run.valid_ms.last().copied().unwrap_or(first))
}

fn out_of_range(what: &'static str, got: usize, length: usize) -> GridStoreError {
    GridStoreError::Index { what, got, last: length.saturating_sub(1) }
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;

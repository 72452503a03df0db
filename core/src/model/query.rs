//! Queries on a run: at a point, and over time.

use crate::geo::LonLat;
use crate::model::{ProductDefinition, Run, RunStoreError, Winds};

/// A query for one cell of a model's native grid at one hour.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PointQuery<'a> {
    /// The index into the hours of the run.
    pub hour: usize,
    /// The row of the native grid.
    pub row: usize,
    /// The column of the native grid.
    pub column: usize,
    /// The names of products; repeated names count once.
    pub fields: &'a [&'a str],
    /// The index into the levels of pressure-level products; `None` for whole columns. It has no
    /// effect on single-level products.
    pub level: Option<usize>,
    /// The pressure of the level, instead of its index: products may have different levels.
    pub level_hpa: Option<f64>,
    /// The ensemble member; `None` for the first, which is the control if the run has it. It has no
    /// effect on products without members.
    pub member: Option<u8>,
    /// The axes that wind components are given along.
    pub winds: Winds<'a>,
}

/// A query for one cell over the hours of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SeriesQuery<'a> {
    /// The row of the native grid.
    pub row: usize,
    /// The column of the native grid.
    pub column: usize,
    /// The names of products; repeated names count once.
    pub fields: &'a [&'a str],
    /// As in [`PointQuery`].
    pub level: Option<usize>,
    /// As in [`PointQuery`].
    pub level_hpa: Option<f64>,
    /// As in [`PointQuery`].
    pub member: Option<u8>,
    /// The first valid time, inclusive, in milliseconds since 1970.
    pub from_ms: Option<i64>,
    /// The last valid time, inclusive.
    pub to_ms: Option<i64>,
    /// The axes that wind components are given along.
    pub winds: Winds<'a>,
}

impl<'a> PointQuery<'a> {
    /// A query for a cell at an hour: all levels, winds along the axes of the model.
    pub fn new(hour: usize, (row, column): (usize, usize), fields: &'a [&'a str]) -> Self {
        let (level, level_hpa, member, winds) = (None, None, None, Winds::AsTheyAre);
        Self { hour, row, column, fields, level, level_hpa, member, winds }
    }

    /// Sets the index into the levels; `None` asks for whole columns.
    #[must_use]
    pub fn level(self, level: impl Into<Option<usize>>) -> Self {
        Self { level: level.into(), ..self }
    }

    /// Sets the pressure of the level, in place of its index; `None` asks for whole columns.
    #[must_use]
    pub fn level_hpa(self, level_hpa: impl Into<Option<f64>>) -> Self {
        Self { level_hpa: level_hpa.into(), ..self }
    }

    /// Sets the member of an ensemble.
    #[must_use]
    pub fn member(self, member: impl Into<Option<u8>>) -> Self {
        Self { member: member.into(), ..self }
    }

    /// Sets the axes that wind components are given along.
    #[must_use]
    pub fn winds(self, winds: Winds<'a>) -> Self {
        Self { winds, ..self }
    }
}

impl<'a> SeriesQuery<'a> {
    /// A query for a cell: all hours and levels, winds along the axes of the model.
    pub fn new((row, column): (usize, usize), fields: &'a [&'a str]) -> Self {
        let (level, level_hpa, member) = (None, None, None);
        let (from_ms, to_ms, winds) = (None, None, Winds::AsTheyAre);
        Self { row, column, fields, level, level_hpa, member, from_ms, to_ms, winds }
    }

    /// Sets the index into the levels; `None` asks for whole columns.
    #[must_use]
    pub fn level(self, level: impl Into<Option<usize>>) -> Self {
        Self { level: level.into(), ..self }
    }

    /// Sets the pressure of the level, in place of its index; `None` asks for whole columns.
    #[must_use]
    pub fn level_hpa(self, level_hpa: impl Into<Option<f64>>) -> Self {
        Self { level_hpa: level_hpa.into(), ..self }
    }

    /// Sets the member of an ensemble.
    #[must_use]
    pub fn member(self, member: impl Into<Option<u8>>) -> Self {
        Self { member: member.into(), ..self }
    }

    /// Sets the first valid time, inclusive.
    #[must_use]
    pub fn from_ms(self, from_ms: impl Into<Option<i64>>) -> Self {
        Self { from_ms: from_ms.into(), ..self }
    }

    /// Sets the last valid time, inclusive.
    #[must_use]
    pub fn to_ms(self, to_ms: impl Into<Option<i64>>) -> Self {
        Self { to_ms: to_ms.into(), ..self }
    }

    /// Sets the axes that wind components are given along.
    #[must_use]
    pub fn winds(self, winds: Winds<'a>) -> Self {
        Self { winds, ..self }
    }

    /// A query for the cell of a run that contains a place: all hours and levels, winds along the
    /// axes of the model.
    ///
    /// # Errors
    /// If the place is more than half a cell beyond the outermost centres of the grid.
    ///
    /// ```
    /// use mesonet::{LonLat, model};
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/model_grids/store");
    /// let run = model::RunStore::new(folder).newest_run("nam211")?;
    /// let oklahoma_city = LonLat::new(-97.5, 35.5)?;
    /// let query = model::SeriesQuery::at(&run, oklahoma_city, &["prmsl"])?;
    /// let series = model::series(&run, &query)?;
    /// let prmsl = series.fields.get("prmsl").expect("it was asked for");
    /// assert_eq!(prmsl.unit, "Pa");
    /// assert_eq!(prmsl.series[0].value.to_string(), "101245.2");
    /// assert!(model::SeriesQuery::at(&run, LonLat::new(10.0, 50.0)?, &["prmsl"]).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn at(run: &Run, at: LonLat, fields: &'a [&'a str]) -> Result<Self, RunStoreError> {
        Ok(Self::new(run.grid().nearest(at)?, fields))
    }

    /// Returns the greatest possible number of values in the answer: the values of all hours of the
    /// run.
    ///
    /// # Errors
    /// If the run does not have a field.
    pub fn values(&self, run: &Run) -> Result<usize, RunStoreError> {
        let mut levels = 0;
        for (index, name) in self.fields.iter().enumerate() {
            let product = run.product_of(name, self.member)?;
            if !self.fields[..index].contains(name) {
                let is_one = self.level.is_some() || self.level_hpa.is_some();
                levels += if is_one { 1 } else { product.definition().levels() };
            }
        }
        Ok(levels * run.definition().valid_ms.len())
    }
}

impl ProductDefinition {
    /// Returns the index of a level that is given by index or by pressure; `None` for all levels. A
    /// single-level product only has level 0.
    ///
    /// # Errors
    /// If the product has no level of this pressure.
    pub fn level(
        &self,
        level: Option<usize>,
        level_hpa: Option<f64>,
    ) -> Result<Option<usize>, RunStoreError> {
        let Some(levels_hpa) = &self.levels_hpa else { return Ok(Some(0)) };
        let Some(got) = level_hpa else { return Ok(level) };
        let found = levels_hpa.iter().position(|hpa| *hpa == got);
        found.map(Some).ok_or_else(|| RunStoreError::UnknownLevel {
            product: self.shared_name().to_owned(),
            got,
            allowed: levels_hpa.iter().map(f64::to_string).collect::<Vec<_>>().join(", "),
        })
    }
}

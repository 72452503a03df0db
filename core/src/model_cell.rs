//! One cell of a run: its values with their decimals, its winds as the caller wants them.

use crate::geo::LonLat;
use crate::grid_store::{GridProduct, GridRun, GridStoreError};
use crate::model::CellCentre;
use crate::wind::Rotation;

/// What the components of a wind are along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModelWinds<'a> {
    /// The axes that the model has them along: `wind_rotation` says how these are turned.
    #[default]
    AsTheyAre,
    /// True east and north. The products that are components of a wind come in pairs, that towards
    /// the east first.
    Earth(&'a [[String; 2]]),
}

/// One cell of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell<'a> {
    run: &'a GridRun,
    row: usize,
    column: usize,
    winds: ModelWinds<'a>,
    rotation: Rotation,
}

impl<'a> Cell<'a> {
    pub fn new(
        run: &'a GridRun,
        row: usize,
        column: usize,
        winds: ModelWinds<'a>,
    ) -> Result<Self, GridStoreError> {
        let rotation = run.grid().wind_rotation(row, column)?;
        Ok(Self { run, row, column, winds, rotation })
    }

    /// Where its centre lies.
    pub fn centre(&self) -> CellCentre {
        let at = self.run.grid().position(self.row, self.column).ok();
        CellCentre { lat: at.map(LonLat::lat), lon: at.map(LonLat::lon) }
    }

    /// What is left to be done to turn the winds that it gives to true north.
    pub fn rotation(&self) -> Rotation {
        match self.winds {
            ModelWinds::AsTheyAre => self.rotation,
            ModelWinds::Earth(_) => Rotation::IDENTITY,
        }
    }

    /// The value of a product at an hour and level; of a product of a single level that is level 0.
    pub fn value(
        &self,
        product: GridProduct<'_>,
        hour: usize,
        level: usize,
    ) -> Result<Option<f64>, GridStoreError> {
        let mut value = [f64::NAN];
        self.fill(product, hour, Some(level), &mut value)?;
        Ok((!value[0].is_nan()).then_some(value[0]))
    }

    /// The values of a product at an hour at all levels.
    pub fn column(
        &self,
        product: GridProduct<'_>,
        hour: usize,
    ) -> Result<Vec<Option<f64>>, GridStoreError> {
        let mut values = vec![f64::NAN; product.definition().levels()];
        self.fill(product, hour, None, &mut values)?;
        Ok(values.into_iter().map(|value| (!value.is_nan()).then_some(value)).collect())
    }

    /// Values with the decimals that their packing has: 272.1 and not 272.09999999999997. What was
    /// turned has two more, as it is no multiple of a step.
    fn fill(
        &self,
        product: GridProduct<'_>,
        hour: usize,
        level: Option<usize>,
        values: &mut [f64],
    ) -> Result<(), GridStoreError> {
        self.read(product, hour, level, values)?;
        let is_turned = self.turn(product, hour, level, values)?;
        if let Some(factor) = product.definition().encoding.decimal_factor() {
            let factor = if is_turned { factor * 100.0 } else { factor };
            for value in values {
                *value = libm::round(*value * factor) / factor;
            }
        }
        Ok(())
    }

    /// Turns the values of a component to true north, and tells whether that was to be done. Where
    /// the other component is not there, nothing is left of the values.
    fn turn(
        &self,
        product: GridProduct<'_>,
        hour: usize,
        level: Option<usize>,
        values: &mut [f64],
    ) -> Result<bool, GridStoreError> {
        let ModelWinds::Earth(pairs) = self.winds else { return Ok(false) };
        let name = &product.definition().name;
        let Some(pair) = pairs.iter().find(|pair| pair.contains(name)) else { return Ok(false) };
        if self.rotation == Rotation::IDENTITY {
            return Ok(false);
        }
        let is_u = *name == pair[0];
        let mut others = vec![f64::NAN; values.len()];
        if let Some([u, v]) = components(self.run, pair.each_ref().map(String::as_str)) {
            self.read(if is_u { v } else { u }, hour, level, &mut others)?;
        }
        for (value, other) in values.iter_mut().zip(others) {
            *value = if is_u {
                self.rotation.apply(*value, other).0
            } else {
                self.rotation.apply(other, *value).1
            };
        }
        Ok(true)
    }

    fn read(
        &self,
        product: GridProduct<'_>,
        hour: usize,
        level: Option<usize>,
        values: &mut [f64],
    ) -> Result<(), GridStoreError> {
        let Some(level) = level else {
            return product.column_into(hour, self.row, self.column, values);
        };
        let value = product.value(hour, level, self.row, self.column)?;
        values.fill(value.unwrap_or(f64::NAN));
        Ok(())
    }
}

/// Both components of a wind, by their names. A run may have been laid out without one of them, or
/// with other levels: then there is no wind to be turned.
pub(crate) fn components<'a>(run: &'a GridRun, names: [&str; 2]) -> Option<[GridProduct<'a>; 2]> {
    let [Ok(u), Ok(v)] = names.map(|name| run.product(name)) else { return None };
    (u.definition().levels_hpa == v.definition().levels_hpa).then_some([u, v])
}

//! One cell of a run: its values with their decimals, and its winds along the axes that the caller
//! wants.

use crate::geo::LonLat;
use crate::grid::Rotation;
use crate::model::{CellCentre, Run, RunProduct, RunStoreError};

/// The axes that wind components are given along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Winds<'a> {
    /// The axes that the model uses: `wind_rotation` gives their rotation.
    #[default]
    AsTheyAre,
    /// True east and north. The products that are wind components come in pairs, eastward first.
    Earth(&'a [[String; 2]]),
}

/// One cell of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell<'a> {
    run: &'a Run,
    row: usize,
    column: usize,
    winds: Winds<'a>,
    rotation: Rotation,
}

impl<'a> Cell<'a> {
    pub(super) fn new(
        run: &'a Run,
        row: usize,
        column: usize,
        winds: Winds<'a>,
    ) -> Result<Self, RunStoreError> {
        let rotation = run.grid().wind_rotation(row, column)?;
        Ok(Self { run, row, column, winds, rotation })
    }

    /// Returns the centre of the cell.
    pub(super) fn centre(&self) -> CellCentre {
        let at = self.run.grid().position(self.row, self.column).ok();
        CellCentre { lat: at.map(LonLat::lat), lon: at.map(LonLat::lon) }
    }

    /// Returns the rotation that remains to turn the returned winds to true north.
    pub(super) fn rotation(&self) -> Rotation {
        match self.winds {
            Winds::AsTheyAre => self.rotation,
            Winds::Earth(_) => Rotation::IDENTITY,
        }
    }

    /// Returns the value of a product at an hour and level; for a single-level product that is
    /// level 0.
    pub(super) fn value(
        &self,
        product: RunProduct<'_>,
        hour: usize,
        level: usize,
    ) -> Result<Option<f64>, RunStoreError> {
        let mut value = [f64::NAN];
        self.fill(product, hour, Some(level), &mut value)?;
        Ok((!value[0].is_nan()).then_some(value[0]))
    }

    /// Returns the values of a product at an hour at all levels.
    pub(super) fn column(
        &self,
        product: RunProduct<'_>,
        hour: usize,
    ) -> Result<Vec<Option<f64>>, RunStoreError> {
        let mut values = vec![f64::NAN; product.definition().levels()];
        self.fill(product, hour, None, &mut values)?;
        Ok(values.into_iter().map(|value| (!value.is_nan()).then_some(value)).collect())
    }

    /// Rounds values to the decimals of their packing: 272.1 instead of 272.09999999999997. Rotated
    /// values get two more decimals, because they are not multiples of a step.
    fn fill(
        &self,
        product: RunProduct<'_>,
        hour: usize,
        level: Option<usize>,
        values: &mut [f64],
    ) -> Result<(), RunStoreError> {
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

    /// Turns the values of a component to true north, and returns whether that was needed. If the
    /// other component is missing, all values become missing.
    fn turn(
        &self,
        product: RunProduct<'_>,
        hour: usize,
        level: Option<usize>,
        values: &mut [f64],
    ) -> Result<bool, RunStoreError> {
        let Winds::Earth(pairs) = self.winds else { return Ok(false) };
        let definition = product.definition();
        let name = definition.shared_name();
        let Some(pair) = pairs.iter().find(|[u, v]| name == u || name == v) else {
            return Ok(false);
        };
        if self.rotation == Rotation::IDENTITY {
            return Ok(false);
        }
        let is_u = name == pair[0];
        let mut others = vec![f64::NAN; values.len()];
        let member = definition.member.as_ref().map(|member| member.number);
        if let Some([u, v]) = components(self.run, pair.each_ref().map(String::as_str), member) {
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
        product: RunProduct<'_>,
        hour: usize,
        level: Option<usize>,
        values: &mut [f64],
    ) -> Result<(), RunStoreError> {
        let Some(level) = level else {
            return product.column_into(hour, self.row, self.column, values);
        };
        let value = product.value(hour, level, self.row, self.column)?;
        values.fill(value.unwrap_or(f64::NAN));
        Ok(())
    }
}

/// Returns both components of a wind by their names, for the same ensemble member. A run may have
/// been laid out without one of them, or with different levels: then there is no wind to turn.
pub(crate) fn components<'a>(
    run: &'a Run,
    names: [&str; 2],
    member: Option<u8>,
) -> Option<[RunProduct<'a>; 2]> {
    let [Ok(u), Ok(v)] = names.map(|name| run.product_of(name, member)) else { return None };
    (u.definition().levels_hpa == v.definition().levels_hpa).then_some([u, v])
}

//! What a run is to be of, as far as that is settled before its files are read.

use std::collections::BTreeSet;

use super::Slot;
use super::error::{GROW, ModelIntakeError};
use crate::grid_store::{
    GridStore, GridStoreError, ProductDefinition, PublishedHour, RunDefinition,
};
use crate::model_catalogue::{ModelSource, SourceProduct};
use crate::projection::GridDefinition;
use crate::run_stamp::RunStamp;
use crate::time::Iso8601;

/// What a run is to be of.
#[derive(Debug)]
pub(super) struct RunPlan {
    pub run: RunStamp,
    pub grid: GridDefinition,
    /// What it is of where that is settled: by the catalogue, or as the run is there. Else it is
    /// what the delivery makes of it.
    settled: Option<RunDefinition>,
    /// What there is of it already.
    published: Vec<PublishedHour>,
    /// What may be done where something does not belong to it.
    advice: &'static str,
}

impl RunPlan {
    /// The plan of a run of which the first field has come, with its grid.
    pub fn new(
        source: &ModelSource,
        store: &GridStore,
        run: RunStamp,
        grid: GridDefinition,
    ) -> Result<Self, ModelIntakeError> {
        let stored = match store.run(source.name(), run) {
            // What was begun and never published is begun anew.
            Ok(stored) if stored.published().is_empty() => None,
            Ok(stored) => Some((stored.definition().clone(), stored.published().to_vec())),
            Err(GridStoreError::UnknownRun { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        let valid_ms = source.valid_ms_of(run);
        let advice = if valid_ms.is_some() { "" } else { GROW };
        let grid = stored.as_ref().map_or(grid, |(stored, _)| stored.grid);
        let stated = valid_ms.map(|valid_ms| RunDefinition {
            model: source.name().to_owned(),
            run,
            grid,
            valid_ms,
            products: source.products().iter().map(|one| define(one, one.levels_hpa())).collect(),
        });
        let Some((stored, published)) = stored else {
            return Ok(Self { run, grid, settled: stated, published: Vec::new(), advice });
        };
        let is_as_stated = match stated {
            Some(stated) => stated == stored,
            None => stored.products.iter().all(|product| agrees(source, product)),
        };
        if !is_as_stated {
            return Err(ModelIntakeError::Differs(run));
        }
        Ok(Self { run, grid, settled: Some(stored), published, advice })
    }

    /// Whether a field of a product may become part of the run; false where it is one already.
    pub fn takes(
        &self,
        product: &SourceProduct,
        valid_ms: i64,
        level_hpa: Option<f64>,
    ) -> Result<bool, ModelIntakeError> {
        let Some(settled) = &self.settled else {
            let allowed = product.levels_hpa();
            self.check_level(product, allowed, level_hpa)?;
            return Ok(true);
        };
        let hours = &settled.valid_ms;
        let Ok(hour) = hours.binary_search(&valid_ms) else {
            let of = |hour: Option<&i64>| Iso8601(hour.copied().unwrap_or_default());
            let (first, last) = (of(hours.first()), of(hours.last()));
            let allowed = format!("the {} from {first} to {last}", hours.len());
            return Err(ModelIntakeError::Hour {
                run: self.run,
                valid_ms,
                allowed,
                advice: self.advice,
            });
        };
        let own = settled.products.iter().find(|own| own.name == product.name());
        let Some(own) = own else {
            let product = product.name().to_owned();
            return Err(ModelIntakeError::Product { run: self.run, product });
        };
        self.check_level(product, own.levels_hpa.as_deref(), level_hpa)?;
        let published = self.published.iter().find(|published| published.hour == hour);
        Ok(published.is_none_or(|published| published.absent.contains(&own.name)))
    }

    /// Levels that are not stated are those that come.
    fn check_level(
        &self,
        product: &SourceProduct,
        allowed: Option<&[f64]>,
        level_hpa: Option<f64>,
    ) -> Result<(), ModelIntakeError> {
        let Some(hpa) = level_hpa else { return Ok(()) };
        let is_pressure = hpa.is_finite() && hpa > 0.0;
        if allowed.map_or(is_pressure, |allowed| allowed.contains(&hpa)) {
            return Ok(());
        }
        let names = |levels: &[f64]| levels.iter().map(f64::to_string).collect::<Vec<_>>();
        let allowed = allowed.map_or("those above 0".to_owned(), |levels| names(levels).join(", "));
        let product = product.name().to_owned();
        Err(ModelIntakeError::Level { product, hpa, allowed, advice: self.advice })
    }

    /// What the run is of, now that its fields are known.
    pub fn definition(&self, source: &ModelSource, slots: &[Slot]) -> RunDefinition {
        if let Some(settled) = &self.settled {
            return settled.clone();
        }
        let valid_ms: BTreeSet<i64> = slots.iter().map(|slot| slot.valid_ms).collect();
        let mut products = Vec::new();
        for (index, product) in source.products().iter().enumerate() {
            let of_product = slots.iter().filter(|slot| slot.product == index);
            // From the ground up, as they are served.
            let levels: BTreeSet<u64> = of_product.map(|slot| slot.level).collect();
            let levels: Vec<f64> = levels.into_iter().rev().map(f64::from_bits).collect();
            if !levels.is_empty() {
                products.push(define(product, product.levels_hpa().or(Some(&levels))));
            }
        }
        RunDefinition {
            model: source.name().to_owned(),
            run: self.run,
            grid: self.grid,
            valid_ms: valid_ms.into_iter().collect(),
            products,
        }
    }
}

fn define(product: &SourceProduct, levels_hpa: Option<&[f64]>) -> ProductDefinition {
    ProductDefinition {
        name: product.name().to_owned(),
        unit: product.unit().to_owned(),
        levels_hpa: levels_hpa.filter(|_| product.has_levels()).map(<[f64]>::to_vec),
        encoding: product.encoding(),
    }
}

/// Whether the catalogue still has a product as a run has it, whose levels it may leave open.
fn agrees(source: &ModelSource, stored: &ProductDefinition) -> bool {
    let stored_levels = stored.levels_hpa.as_deref();
    source.product(&stored.name).is_some_and(|product| {
        define(product, product.levels_hpa().or(stored_levels)) == *stored
            && product.has_levels() == stored_levels.is_some()
    })
}

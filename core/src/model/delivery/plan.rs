//! The definition of a run, as far as it is settled before its files are read.

use std::collections::BTreeSet;

use super::Slot;
use super::error::{DeliveryError, GROW};
use crate::grid;
use crate::model::{
    EnsembleMember, ProductDefinition, PublishedHour, RunDefinition, RunStamp, RunStore,
    RunStoreError, Source, SourceProduct,
};
use crate::time::Iso8601;

/// The plan of a run.
#[derive(Debug)]
pub(super) struct RunPlan {
    pub run: RunStamp,
    pub grid: grid::Definition,
    /// The definition, if it is settled: by the catalogue, or because the run exists. Otherwise it
    /// follows from the delivery.
    settled: Option<RunDefinition>,
    /// The part of the run that already exists.
    published: Vec<PublishedHour>,
    /// What can be done if something does not belong to the run.
    advice: &'static str,
}

impl RunPlan {
    /// Plans a run when its first field arrives, with the field's grid.
    pub(super) fn new(
        source: &Source,
        store: &RunStore,
        run: RunStamp,
        grid: grid::Definition,
    ) -> Result<Self, DeliveryError> {
        let stored = match store.run(source.name(), run) {
            // A run that was begun and never published is begun again.
            Ok(stored) if stored.published().is_empty() => None,
            Ok(stored) => Some((stored.definition().clone(), stored.published().to_vec())),
            Err(RunStoreError::UnknownRun { .. }) => None,
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
            products: source
                .products()
                .iter()
                .flat_map(|one| {
                    let members = source.members().unwrap_or_default().iter().copied();
                    define_all(one, one.levels_hpa(), members)
                })
                .collect(),
        });
        let Some((stored, published)) = stored else {
            return Ok(Self { run, grid, settled: stated, published: Vec::new(), advice });
        };
        let is_as_stated = match stated {
            Some(stated) => stated.is_alike(&stored),
            None => stored.products.iter().all(|product| agrees(source, product)),
        };
        if !is_as_stated {
            return Err(DeliveryError::Differs(run));
        }
        Ok(Self { run, grid, settled: Some(stored), published, advice })
    }

    /// Returns whether a field of a product may become part of the run; false if it already is.
    pub(super) fn takes(
        &self,
        product: &SourceProduct,
        slot: &Slot,
        level_hpa: Option<f64>,
    ) -> Result<bool, DeliveryError> {
        let Slot { valid_ms, member, interval, .. } = *slot;
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
            return Err(DeliveryError::Hour {
                run: self.run,
                valid_ms,
                allowed,
                advice: self.advice,
            });
        };
        let name = name_of(product, member);
        let Some(own) = settled.products.iter().find(|own| own.name == name) else {
            return Err(DeliveryError::Product { run: self.run, product: name });
        };
        self.check_level(product, own.levels_hpa.as_deref(), level_hpa)?;
        let published = self.published.iter().find(|published| published.hour == hour);
        let intervals = published.map(|published| &published.intervals);
        let of_product = intervals.and_then(|intervals| intervals.get(product.name()));
        if let (Some(&own), Some(got)) = (of_product, interval)
            && own != got
        {
            let product = product.name().to_owned();
            return Err(RunStoreError::OtherInterval { product, hour, own, got }.into());
        }
        Ok(published.is_none_or(|published| published.absent.contains(&own.name)))
    }

    /// If no levels are stated, those that arrive are taken.
    fn check_level(
        &self,
        product: &SourceProduct,
        allowed: Option<&[f64]>,
        level_hpa: Option<f64>,
    ) -> Result<(), DeliveryError> {
        let Some(hpa) = level_hpa else { return Ok(()) };
        let is_pressure = hpa.is_finite() && hpa > 0.0;
        if allowed.map_or(is_pressure, |allowed| allowed.contains(&hpa)) {
            return Ok(());
        }
        let names = |levels: &[f64]| levels.iter().map(f64::to_string).collect::<Vec<_>>();
        let allowed = allowed.map_or("those above 0".to_owned(), |levels| names(levels).join(", "));
        let product = product.name().to_owned();
        Err(DeliveryError::Level { product, hpa, allowed, advice: self.advice })
    }

    /// Returns the definition of the run, now that its fields are known.
    pub(super) fn definition(&self, source: &Source, slots: &[Slot]) -> RunDefinition {
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
            if levels.is_empty() {
                continue;
            }
            let arrived = slots.iter().filter(|slot| slot.product == index);
            let arrived: BTreeSet<u8> = arrived.filter_map(|slot| slot.member).collect();
            let stated = source.members().unwrap_or_default().iter().copied();
            let members: BTreeSet<u8> = arrived.into_iter().chain(stated).collect();
            let levels_hpa = product.levels_hpa().or(Some(&levels));
            products.extend(define_all(product, levels_hpa, members.into_iter()));
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

/// Returns the name of a product in a run: each member of an ensemble has its own.
pub(super) fn name_of(product: &SourceProduct, member: Option<u8>) -> String {
    let product = product.name().to_owned();
    match member {
        Some(number) => EnsembleMember { product, number }.name(),
        None => product,
    }
}

/// Returns the definitions of a product: one for each member if it has members.
fn define_all(
    product: &SourceProduct,
    levels_hpa: Option<&[f64]>,
    members: impl Iterator<Item = u8>,
) -> Vec<ProductDefinition> {
    if product.has_members() {
        members.map(|member| define(product, levels_hpa, Some(member))).collect()
    } else {
        vec![define(product, levels_hpa, None)]
    }
}

fn define(
    product: &SourceProduct,
    levels_hpa: Option<&[f64]>,
    member: Option<u8>,
) -> ProductDefinition {
    let of_product = |number| EnsembleMember { product: product.name().to_owned(), number };
    ProductDefinition {
        name: name_of(product, member),
        unit: product.unit().to_owned(),
        levels_hpa: levels_hpa.filter(|_| product.has_levels()).map(<[f64]>::to_vec),
        member: member.map(of_product),
        attributes: product.attributes(),
        encoding: product.encoding(),
    }
}

/// Returns whether the catalogue still defines a product as a run has it; it may leave the levels
/// open.
fn agrees(source: &Source, stored: &ProductDefinition) -> bool {
    let stored_levels = stored.levels_hpa.as_deref();
    source.product(stored.shared_name()).is_some_and(|product| {
        let member = stored.member.as_ref().map(|member| member.number);
        let defined = define(product, product.levels_hpa().or(stored_levels), member);
        let attributes = stored.attributes.clone();
        ProductDefinition { attributes, ..defined } == *stored
            && product.has_levels() == stored_levels.is_some()
            && product.has_members() == member.is_some()
    })
}

//! The definition of a run, from the catalogue, from the existing run, and from what arrives.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::Slot;
use super::error::DeliveryError;
use crate::grid;
use crate::grid::Encoding;
use crate::model::{
    EnsembleMember, ProductDefinition, PublishedHour, Run, RunDefinition, RunStamp, RunStore,
    RunStoreError, Source, SourceProduct,
};
use crate::time::{HOUR_MS, Iso8601};

/// The last hour after its start that a run may have if the catalogue does not state its hours.
const MAX_HOURS: i64 = 9_999;

/// The plan of a run.
#[derive(Debug)]
pub(super) struct RunPlan {
    pub run: RunStamp,
    pub grid: grid::Definition,
    /// The hours of the run, if the catalogue states them.
    valid_ms: Option<Vec<i64>>,
    /// The existing part of the run. A run that was begun and never published is begun again.
    stored: Option<Run>,
    /// Whether the existing part of a product at an hour is intact, where this was checked.
    checked: RefCell<BTreeMap<(String, usize), Result<(), RunStoreError>>>,
}

impl RunPlan {
    /// Plans a run when its first field arrives, with the field's grid.
    pub(super) fn new(
        source: &Source,
        store: &RunStore,
        run: RunStamp,
        grid: grid::Definition,
    ) -> Result<Self, DeliveryError> {
        let valid_ms = source.valid_ms_of(run);
        let stored = match store.run(source.name(), run) {
            Ok(stored) if stored.published().is_empty() => None,
            Ok(stored) => Some(stored),
            Err(RunStoreError::UnknownRun { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        let Some(stored) = stored else {
            return Ok(Self { run, grid, valid_ms, stored: None, checked: RefCell::default() });
        };
        let definition = stored.definition();
        // Hours are identified by their index, so the hours of a run that is laid out do not
        // change.
        let has_hours = valid_ms.as_ref().is_none_or(|valid_ms| *valid_ms == definition.valid_ms);
        if !has_hours || !definition.products.iter().all(|product| agrees(source, product)) {
            return Err(DeliveryError::Differs(run));
        }
        let grid = definition.grid;
        Ok(Self { run, grid, valid_ms, stored: Some(stored), checked: RefCell::default() })
    }

    /// Returns whether a field of a product may become part of the run; false if it is already part
    /// of it.
    ///
    /// # Errors
    /// If the run cannot have the field, or the existing part of the product is damaged.
    pub(super) fn takes(
        &self,
        product: &SourceProduct,
        slot: &Slot,
        level_hpa: Option<f64>,
    ) -> Result<bool, DeliveryError> {
        let Slot { valid_ms, member, interval, .. } = *slot;
        self.check_hour(valid_ms)?;
        check_level(product, level_hpa)?;
        let Some(stored) = &self.stored else { return Ok(true) };
        let RunDefinition { valid_ms: hours, products, .. } = stored.definition();
        let Ok(hour) = hours.binary_search(&valid_ms) else { return Ok(true) };
        let name = name_of(product, member);
        let own = products.iter().find(|own| own.name == name);
        let published = self.published().iter().find(|published| published.hour == hour);
        let intervals = published.map(|published| &published.intervals);
        let of_product = intervals.and_then(|intervals| intervals.get(product.name()));
        if let (Some(&own), Some(got)) = (of_product, interval)
            && own != got
        {
            let product = product.name().to_owned();
            return Err(RunStoreError::OtherInterval { product, hour, own, got }.into());
        }
        let (Some(own), Some(published)) = (own, published) else { return Ok(true) };
        if published.absent.contains(&own.name) {
            return Ok(true);
        }
        let level = match (&own.levels_hpa, level_hpa) {
            (Some(levels_hpa), Some(hpa)) => levels_hpa.iter().position(|level| *level == hpa),
            _ => Some(0),
        };
        let Some(level) = level else { return Ok(true) };
        if published.partial.get(&own.name).is_some_and(|missing| missing.contains(&level)) {
            return Ok(true);
        }
        let mut checked = self.checked.borrow_mut();
        let whole = checked.entry((own.name.clone(), hour));
        let whole = whole.or_insert_with(|| stored.product(&own.name)?.check(hour));
        Ok(whole.clone().map(|()| false)?)
    }

    fn published(&self) -> &[PublishedHour] {
        self.stored.as_ref().map_or(&[], Run::published)
    }

    fn products(&self) -> &[ProductDefinition] {
        self.stored.as_ref().map_or(&[], |stored| &stored.definition().products)
    }

    fn check_hour(&self, valid_ms: i64) -> Result<(), DeliveryError> {
        let refused = |allowed| Err(DeliveryError::Hour { run: self.run, valid_ms, allowed });
        match &self.valid_ms {
            Some(hours) if hours.binary_search(&valid_ms).is_ok() => Ok(()),
            Some(hours) => {
                let of = |hour: Option<&i64>| Iso8601(hour.copied().unwrap_or_default());
                let (first, last) = (of(hours.first()), of(hours.last()));
                refused(format!("the {} from {first} to {last}", hours.len()))
            }
            None => {
                let first = self.run.start_ms();
                let last = first.saturating_add(MAX_HOURS * HOUR_MS);
                if (first..=last).contains(&valid_ms) {
                    return Ok(());
                }
                refused(format!("those from {} to {}", Iso8601(first), Iso8601(last)))
            }
        }
    }

    /// Returns the packing that the run has for a product.
    pub(super) fn encoding(&self, product: &str) -> Option<Encoding> {
        let own = self.products().iter().find(|own| own.shared_name() == product);
        own.map(|own| own.encoding)
    }

    /// Returns whether files that were broken are noted at an hour of the run.
    pub(super) fn has_broken(&self) -> bool {
        self.published().iter().any(|hour| !hour.broken.is_empty())
    }

    /// Returns the definition of the run with some fields in it. Products whose packing depends on
    /// their range have one of `encodings`, by the index of the product.
    pub(super) fn definition(
        &self,
        source: &Source,
        slots: &[Slot],
        encodings: &BTreeMap<usize, Encoding>,
    ) -> RunDefinition {
        let arrived = slots.iter().map(|slot| slot.valid_ms);
        let valid_ms = self.valid_ms.clone().unwrap_or_else(|| {
            let known = self.stored.iter().flat_map(|stored| &stored.definition().valid_ms);
            let hours: BTreeSet<i64> = known.copied().chain(arrived).collect();
            hours.into_iter().collect()
        });
        let mut products = Vec::new();
        for (index, product) in source.products().iter().enumerate() {
            let stored = self.products().iter();
            let stored: Vec<_> = stored.filter(|own| own.shared_name() == product.name()).collect();
            let arrived = slots.iter().filter(|slot| slot.product == index);
            let levels = arrived.clone().map(|slot| slot.level);
            let is_stated = self.valid_ms.is_some()
                && product.encoding().is_some()
                && product.has_levels() == product.levels_hpa().is_some();
            let is_there = !stored.is_empty() || arrived.clone().next().is_some() || is_stated;
            let encoding = product.encoding().or_else(|| encodings.get(&index).copied());
            let encoding = encoding.or_else(|| stored.first().map(|stored| stored.encoding));
            let Some(encoding) = encoding.filter(|_| is_there) else { continue };
            let of_arrived = || {
                let known = stored.first().and_then(|stored| stored.levels_hpa.as_deref());
                let known = known.unwrap_or_default().iter().map(|hpa| hpa.to_bits());
                // From the ground up, as they are served.
                let levels: BTreeSet<u64> = known.chain(levels).collect();
                levels.into_iter().rev().map(f64::from_bits).collect()
            };
            let levels_hpa = product
                .has_levels()
                .then(|| product.levels_hpa().map_or_else(of_arrived, <[f64]>::to_vec));
            let define = |member: Option<u8>| ProductDefinition {
                name: name_of(product, member),
                unit: product.unit().to_owned(),
                levels_hpa: levels_hpa.clone(),
                member: member
                    .map(|number| EnsembleMember { product: product.name().to_owned(), number }),
                attributes: product.attributes(),
                encoding,
            };
            if product.has_members() {
                let known = stored.iter().filter_map(|stored| stored.member.as_ref());
                let mut members: BTreeSet<u8> = known.map(|member| member.number).collect();
                members.extend(arrived.filter_map(|slot| slot.member));
                members.extend(source.members().unwrap_or_default());
                products.extend(members.into_iter().map(|member| define(Some(member))));
            } else {
                products.push(define(None));
            }
        }
        let (model, run, grid) = (source.name().to_owned(), self.run, self.grid);
        RunDefinition { model, run, grid, valid_ms, products }
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

/// Checks a level; if no levels are stated, the levels that arrive are taken.
fn check_level(product: &SourceProduct, level_hpa: Option<f64>) -> Result<(), DeliveryError> {
    let Some(hpa) = level_hpa else { return Ok(()) };
    let is_pressure = hpa.is_finite() && hpa > 0.0;
    let allowed = product.levels_hpa();
    if allowed.map_or(is_pressure, |allowed| allowed.contains(&hpa)) {
        return Ok(());
    }
    let names = |levels: &[f64]| levels.iter().map(f64::to_string).collect::<Vec<_>>();
    let allowed = allowed.map_or("those above 0".to_owned(), |levels| names(levels).join(", "));
    Err(DeliveryError::Level { product: product.name().to_owned(), hpa, allowed })
}

/// Returns whether the catalogue still defines a product as in a run; the catalogue may leave the
/// levels and the packing open.
fn agrees(source: &Source, stored: &ProductDefinition) -> bool {
    source.product(stored.shared_name()).is_some_and(|product| {
        product.unit() == stored.unit
            && product.has_members() == stored.member.is_some()
            && product.has_levels() == stored.levels_hpa.is_some()
            && product.encoding().is_none_or(|encoding| encoding == stored.encoding)
            && product
                .levels_hpa()
                .is_none_or(|levels| Some(levels) == stored.levels_hpa.as_deref())
    })
}

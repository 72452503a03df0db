//! Members of an ensemble, and the intervals of fields that are statistics.

use std::collections::{BTreeMap, BTreeSet};

use super::definition::{EnsembleMember, FieldInterval};
use super::reader::{Run, RunProduct, join};
use crate::model::RunStoreError;

impl Run {
    /// Returns the interval of a product at an hour, if it is a statistic; `None` for an instant,
    /// and if the run does not say.
    pub fn interval(&self, product: &str, hour: usize) -> Option<FieldInterval> {
        let index =
            self.published().binary_search_by_key(&hour, |published| published.hour).ok()?;
        self.published()[index].intervals.get(product).copied()
    }

    /// Returns a member of an ensemble product, or a product without members unchanged, whatever
    /// the number. Without a number, returns the first member: the control, if the run has it.
    ///
    /// # Errors
    /// If no product has the name, or the product has members and this is not one of them.
    ///
    /// ```
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/model_grids/store");
    /// let run = mesonet::model::RunStore::new(folder).newest_run("nam211")?;
    /// assert_eq!(run.definition().members("prmsl"), [0_u8; 0], "NAM is a single forecast");
    /// assert_eq!(run.product_of("prmsl", Some(3))?.definition().member, None);
    /// # Ok::<(), mesonet::model::RunStoreError>(())
    /// ```
    pub fn product_of(
        &self,
        name: &str,
        member: Option<u8>,
    ) -> Result<RunProduct<'_>, RunStoreError> {
        let members = self.definition().members(name);
        let Some(&first) = members.first() else {
            // Requests do not use the own name of a member.
            let own = self.product(name)?;
            return if own.definition().member.is_none() {
                Ok(own)
            } else {
                Err(self.unknown_product(name))
            };
        };
        let number = member.unwrap_or(first);
        if !members.contains(&number) {
            return Err(RunStoreError::UnknownMember {
                product: name.to_owned(),
                got: number,
                allowed: join(members.iter().map(u8::to_string)),
            });
        }
        self.product(&EnsembleMember { product: name.to_owned(), number }.name())
    }
}

/// The intervals that a writer states until it publishes them, by hour and product.
#[derive(Clone, Debug, Default)]
pub(super) struct StatedIntervals(BTreeMap<(usize, String), FieldInterval>);

impl StatedIntervals {
    /// States the interval of a product at an hour; an interval may be published already.
    pub(super) fn state(
        &mut self,
        hour: usize,
        product: &str,
        interval: FieldInterval,
        published: Option<FieldInterval>,
    ) -> Result<(), RunStoreError> {
        let key = (hour, product.to_owned());
        match published.or_else(|| self.0.get(&key).copied()) {
            Some(own) if own != interval => {
                let (product, got) = (product.to_owned(), interval);
                Err(RunStoreError::OtherInterval { product, hour, own, got })
            }
            _ => {
                self.0.insert(key, interval);
                Ok(())
            }
        }
    }

    /// Returns the products of an hour with their intervals.
    pub(super) fn of_hour(&self, hour: usize) -> impl Iterator<Item = (String, FieldInterval)> {
        let stated = self.0.iter().filter(move |((of, _), _)| *of == hour);
        stated.map(|((_, product), interval)| (product.clone(), *interval))
    }

    /// Forgets the intervals that were published.
    pub(super) fn forget(&mut self, hours: &BTreeSet<usize>) {
        self.0.retain(|(hour, _), _| !hours.contains(hour));
    }
}

#[cfg(test)]
#[path = "members_tests.rs"]
mod tests;

//! Members of an ensemble, and the intervals of fields that are statistics over one.

use std::collections::{BTreeMap, BTreeSet};

use super::definition::{EnsembleMember, FieldInterval};
use super::reader::{Run, RunProduct, join};
use crate::model::RunStoreError;

impl Run {
    /// Returns the interval that a product is a statistic over at an hour; `None` for an instant,
    /// and if the run does not say.
    pub fn interval(&self, product: &str, hour: usize) -> Option<FieldInterval> {
        let index =
            self.published().binary_search_by_key(&hour, |published| published.hour).ok()?;
        self.published()[index].intervals.get(product).copied()
    }

    /// Returns a member of an ensemble product; a product that is not of members as it is, whatever
    /// the number. Without a number it is the first member: the control, if the run has it.
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
            // A member's own name is not one that is asked for.
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
    /// States the interval of a product at an hour, of which one may be published.
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

    /// Forgets what was published.
    pub(super) fn forget(&mut self, hours: &BTreeSet<usize>) {
        self.0.retain(|(hour, _), _| !hours.contains(hour));
    }
}

#[cfg(test)]
#[path = "members_tests.rs"]
mod tests;

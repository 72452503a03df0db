//! Writes the waiting fields as shards and publishes them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Seek, Write};

use super::plan::name_of;
use super::report::{DeliveryReport, WrittenProduct, WrittenRun};
use super::{DeliveredRun, Kept, Slot};
use crate::grib;
use crate::grid::{Encoding, PackingLoss};
use crate::model::{
    Delivery, DeliveryError, LevelValues, ProductDefinition, RunDefinition, RunStamp, RunWriter,
};

/// The packed values of a level.
#[derive(Clone, Debug)]
enum Level {
    /// All values are this one.
    All(i16),
    /// Row by row.
    Each(Vec<i16>),
}

impl Level {
    fn as_values(&self) -> LevelValues<'_> {
        match self {
            Self::All(one) => LevelValues::All(*one),
            Self::Each(each) => LevelValues::Each(each),
        }
    }
}

/// The most values of a product at an hour, with all its levels: they are in memory at once, and
/// take 512 MiB.
const MAX_VALUES: usize = 1 << 28;

impl<S: Read + Write + Seek> Delivery<'_, S> {
    /// Writes the fields of the files into the store and publishes them, run by run; then removes
    /// the runs beyond the number that the catalogue keeps. Calls `on_field` before unpacking each
    /// field.
    ///
    /// `published_ms` is the current time, in milliseconds since 1970 (UTC). Of each run, either
    /// all hours with fields in the delivery are published, or none. A product of an hour is
    /// written once: levels that did not arrive have no values.
    pub fn write(mut self, published_ms: i64, mut on_field: impl FnMut()) -> DeliveryReport {
        let mut runs = Vec::new();
        for (run, delivered) in std::mem::take(&mut self.runs) {
            // The fields of a run that takes nothing were refused as they arrived.
            let Ok(DeliveredRun { plan, fields }) = delivered else { continue };
            if !fields.is_empty() {
                runs.push((run, plan, fields.into_iter().collect::<Vec<_>>()));
            }
        }
        let stays = self.runs_that_stay(runs.iter().map(|(run, ..)| *run));
        for (run, plan, fields) in runs {
            let written = stays.clone().and_then(|stays| match stays.first() {
                Some(&oldest) if run < oldest => {
                    let keep = self.source.keep_runs();
                    Err(DeliveryError::Old { run, keep, oldest })
                }
                _ => {
                    let slots: Vec<Slot> = fields.iter().map(|(slot, _)| *slot).collect();
                    let definition = plan.definition(self.source, &slots);
                    self.write_run(definition, &fields, published_ms, &mut on_field)
                }
            });
            match written {
                Ok(Some(written)) => self.report.runs.push(written),
                Ok(None) => {}
                Err(error) => self.refuse_run(run, &fields, &error),
            }
        }
        self.finish()
    }

    /// Returns the runs that will be kept, oldest first.
    fn runs_that_stay(
        &self,
        delivered: impl Iterator<Item = RunStamp>,
    ) -> Result<BTreeSet<RunStamp>, DeliveryError> {
        let mut runs: BTreeSet<RunStamp> = delivered.collect();
        runs.extend(self.store.runs(self.source.name())?);
        while runs.len() > self.source.keep_runs() {
            runs.pop_first();
        }
        Ok(runs)
    }

    /// Writes and publishes a run; `None` if none of its fields could be used.
    fn write_run(
        &mut self,
        definition: RunDefinition,
        fields: &[(Slot, Kept)],
        published_ms: i64,
        on_field: &mut dyn FnMut(),
    ) -> Result<Option<WrittenRun>, DeliveryError> {
        let source = self.source;
        let mut writer = self.store.write_run(definition)?;
        let of_hours = writer.definition().valid_ms.len();
        let mut hours = BTreeSet::new();
        let mut products = BTreeMap::new();
        // A field may belong to several products.
        let mut used = BTreeSet::new();
        let one_product = |one: &(Slot, Kept), other: &(Slot, Kept)| {
            (one.0.valid_ms, one.0.product) == (other.0.valid_ms, other.0.product)
        };
        let one_member = |one: &(Slot, Kept), other: &(Slot, Kept)| {
            one_product(one, other) && one.0.member == other.0.member
        };
        let mut of_one_interval = Vec::with_capacity(fields.len());
        for fields in fields.chunk_by(one_product) {
            let shortest = fields[0].0.interval;
            let others = fields.iter().filter(|(slot, _)| slot.interval != shortest);
            for (_, kept) in others {
                self.report.replaced += 1;
                self.files[kept.origin.file].is_used = true;
            }
            let own = fields.iter().filter(|(slot, _)| slot.interval == shortest);
            of_one_interval.extend(own.copied());
        }
        for fields in of_one_interval.chunk_by(one_member) {
            let Slot { valid_ms, product: index, member, interval, .. } = fields[0].0;
            let shared_name = source.products()[index].name();
            let name = &*name_of(&source.products()[index], member);
            // The plan has made sure that both exist.
            let Some((hour, product)) = place(&writer, valid_ms, name) else { continue };
            if let Some(interval) = interval
                && let Err(error) = writer.state_interval(hour, shared_name, interval)
            {
                for (_, kept) in fields {
                    self.refuse(kept.origin, error.clone().into());
                }
                continue;
            }
            if writer.is_published(hour, name) {
                // Published by another delivery since this one was planned.
                self.report.there_already += fields.len() as u64;
                for (_, kept) in fields {
                    self.files[kept.origin.file].is_used = true;
                }
                continue;
            }
            let written: &mut WrittenProduct =
                products.entry(index).or_insert_with(|| nothing_of(&product));
            let grid = writer.definition().grid;
            let values = product.levels() * grid.rows * grid.columns;
            if values > MAX_VALUES {
                let (product, got, limit) = (product.name, values, MAX_VALUES);
                let error = DeliveryError::Values { product, got, limit };
                for (_, kept) in fields {
                    self.refuse(kept.origin, error.clone());
                }
                continue;
            }
            let mut levels = vec![Level::All(product.encoding.nodata()); product.levels()];
            let unpacked = self.unpack(&product, fields, &mut levels, written, on_field)?;
            if unpacked.is_empty() {
                continue;
            }
            let levels: Vec<LevelValues<'_>> = levels.iter().map(Level::as_values).collect();
            writer.write_levels(hour, &product.name, &levels)?;
            written.hours += 1;
            written.fields += unpacked.len() as u64;
            written.missing_levels += (product.levels() - unpacked.len()) as u64;
            used.extend(unpacked);
            hours.insert(hour);
        }
        let hours: Vec<usize> = hours.into_iter().collect();
        if !hours.is_empty() {
            writer.publish(&hours, published_ms)?;
        }
        for &(file, _) in &used {
            self.files[file].is_used = true;
        }
        self.report.used += used.len() as u64;
        let mut products: Vec<_> = products.into_values().collect();
        products.retain(|product| product.hours > 0);
        let run = writer.definition().run;
        Ok((!hours.is_empty()).then_some(WrittenRun { run, hours, of_hours, products }))
    }

    /// Unpacks the fields of a product at an hour, each into the place of its level. Returns those
    /// that could be unpacked, by file and number.
    ///
    /// # Errors
    /// If a waiting field cannot be read.
    fn unpack(
        &mut self,
        product: &ProductDefinition,
        fields: &[(Slot, Kept)],
        levels: &mut [Level],
        written: &mut WrittenProduct,
        on_field: &mut dyn FnMut(),
    ) -> Result<Vec<(usize, u64)>, DeliveryError> {
        let mut unpacked = Vec::with_capacity(fields.len());
        for (slot, kept) in fields {
            on_field();
            let mut loss = PackingLoss::default();
            let level = match self.level(*kept, product.encoding, &mut loss) {
                Ok(level) => level,
                // It may be readable another time, and what is published does not change.
                Err(error) if error.is_temporary() => return Err(error),
                Err(error) => {
                    self.refuse(kept.origin, error);
                    continue;
                }
            };
            // The plan has made sure that the level exists.
            let hpa = f64::from_bits(slot.level);
            let levels_hpa = product.levels_hpa.as_deref().unwrap_or_default();
            levels[levels_hpa.iter().position(|level| *level == hpa).unwrap_or(0)] = level;
            written.packing_error = written.packing_error.max(loss.max_error);
            written.clamped += loss.clamped;
            unpacked.push((kept.origin.file, kept.origin.number));
        }
        Ok(unpacked)
    }

    /// Returns the packed values of a field.
    fn level(
        &mut self,
        kept: Kept,
        encoding: Encoding,
        loss: &mut PackingLoss,
    ) -> Result<Level, DeliveryError> {
        let message = self.spool.get(kept.place)?;
        let field = grib::fields(&message).next();
        let field = field
            .ok_or_else(|| DeliveryError::Spool("its data are no longer there".to_owned()))??;
        let limit = self.limits.points;
        if let Some(value) = field.one_value(limit)? {
            let one = loss.pack(encoding, value.into());
            let grid = field.grid()?;
            loss.clamped *= grid.rows() * grid.columns();
            return Ok(Level::All(one));
        }
        let values = field.values(limit)?;
        Ok(Level::Each(values.iter().map(|&value| loss.pack(encoding, value.into())).collect()))
    }

    /// Removes runs and completes the report on the files.
    fn finish(mut self) -> DeliveryReport {
        let (model, keep) = (self.source.name(), self.source.keep_runs());
        if !self.report.runs.is_empty() {
            match self.store.keep_newest(model, keep) {
                Ok(removed) => self.report.removed = removed,
                Err(error) => self.report.retention_error = Some(error.to_string()),
            }
        }
        for file in self.files {
            if file.is_used {
                self.report.files += 1;
            } else {
                let name = file.name.clone();
                self.report.unused_files.push((name, file.problem_of(model)));
            }
        }
        self.report
    }
}

/// Returns the hour and the product of a run that fields belong to.
fn place(writer: &RunWriter, valid_ms: i64, name: &str) -> Option<(usize, ProductDefinition)> {
    let RunDefinition { valid_ms: hours, products, .. } = writer.definition();
    let hour = hours.binary_search(&valid_ms).ok()?;
    let product = products.iter().find(|product| product.name == name)?;
    Some((hour, product.clone()))
}

fn nothing_of(product: &ProductDefinition) -> WrittenProduct {
    WrittenProduct {
        name: product.shared_name().to_owned(),
        unit: product.unit.clone(),
        hours: 0,
        fields: 0,
        missing_levels: 0,
        half_step: product.encoding.scale() / 2.0,
        packing_error: 0.0,
        clamped: 0,
    }
}

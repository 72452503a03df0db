//! Writes the waiting fields as shards and publishes them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Seek, Write};

use super::plan::{RunPlan, name_of};
use super::range::ValueRange;
use super::report::{DeliveryReport, WrittenProduct, WrittenRun};
use super::{DeliveredFile, DeliveredRun, Slot, Waiting};
use crate::grib;
use crate::grid::blocks::EncodedPlane;
use crate::grid::{Encoding, PackingLoss};
use crate::model::{
    Delivery, DeliveryError, LevelValues, ProductDefinition, RunDefinition, RunStamp,
    RunStoreError, RunWriter,
};
use crate::time::HOUR_MS;

/// The most values of a product at an hour, with all its levels. They are in memory at once,
/// encoded: 160 MiB as they usually are, and 512 MiB if they cannot be predicted.
const MAX_VALUES: usize = 1 << 28;

/// How much clocks may differ. A run that starts further in the future is a mistake.
const MAX_AHEAD_MS: i64 = HOUR_MS;

/// The files with fields of each valid time.
type Files = BTreeMap<i64, BTreeSet<usize>>;

impl<S: Read + Write + Seek> Delivery<'_, S> {
    /// Writes the fields of the files into the store and publishes them, run by run; then removes
    /// the runs beyond the number and the length that the catalogue keeps. Calls `on_field` before
    /// each field is unpacked.
    ///
    /// `published_ms` is the current time, in milliseconds since 1970 (UTC). Runs that start in the
    /// future are refused. For each run, either all hours with fields in the delivery are
    /// published, or none. The published part of a product at an hour does not change; levels that
    /// it lacks have no values until they arrive.
    pub fn write(mut self, published_ms: i64, mut on_field: impl FnMut()) -> DeliveryReport {
        let mut runs = Vec::new();
        for (run, delivered) in std::mem::take(&mut self.runs) {
            // The fields of a run that takes nothing were refused as they arrived.
            let Ok(DeliveredRun { plan, fields, files }) = delivered else { continue };
            let fields: Vec<_> = fields.into_iter().collect();
            if run.start_ms() > published_ms.saturating_add(MAX_AHEAD_MS) {
                self.refuse_run(run, &fields, &DeliveryError::Future { run, now_ms: published_ms });
            } else {
                runs.push((run, plan, fields, files));
            }
        }
        let with_fields = runs.iter().filter(|(_, _, fields, _)| !fields.is_empty());
        let stays = self.runs_that_stay(with_fields.map(|(run, ..)| *run));
        for (run, plan, fields, files) in runs {
            let is_broken = |file: &usize| self.files[*file].is_broken;
            if fields.is_empty() && !plan.has_broken() && !files.values().flatten().any(is_broken) {
                continue;
            }
            let written = stays.clone().and_then(|stays| match stays.first() {
                Some(&oldest) if run < oldest => {
                    let keep = stays.len();
                    Err(DeliveryError::Old { run, keep, oldest })
                }
                _ => self.write_run(&plan, &fields, &files, published_ms, &mut on_field),
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
        let (source, stored) = (self.source, self.store.runs(self.source.name())?);
        let mut runs: BTreeSet<RunStamp> = delivered.collect();
        runs.extend(&stored);
        while runs.len() > source.keep_runs() {
            runs.pop_first();
        }
        let Some(keep_bytes) = source.keep_bytes() else { return Ok(runs) };
        let mut stays = BTreeSet::new();
        let mut bytes = 0;
        for run in runs.into_iter().rev() {
            if stored.contains(&run) {
                bytes += self.store.run_bytes(source.name(), run)?;
            }
            if stays.is_empty() || bytes <= keep_bytes {
                stays.insert(run);
            }
        }
        Ok(stays)
    }

    /// Writes and publishes a run; `None` if none of its fields could be used.
    fn write_run(
        &mut self,
        plan: &RunPlan,
        fields: &[(Slot, Waiting)],
        files: &Files,
        published_ms: i64,
        on_field: &mut dyn FnMut(),
    ) -> Result<Option<WrittenRun>, DeliveryError> {
        let source = self.source;
        // Someone else may have added to the run since.
        let plan = RunPlan::new(source, self.store, plan.run, plan.grid)?;
        let encodings = self.encodings(&plan, fields)?;
        let slots: Vec<Slot> = fields.iter().map(|(slot, _)| *slot).collect();
        let definition = plan.definition(source, &slots, &encodings);
        if definition.products.is_empty() {
            return Ok(None);
        }
        let mut writer = self.store.write_run(definition)?;
        let of_hours = writer.definition().valid_ms.len();
        let mut hours = BTreeSet::new();
        let mut products = BTreeMap::new();
        // A field may belong to several products.
        let mut used = BTreeSet::new();
        let one_product = |one: &(Slot, Waiting), other: &(Slot, Waiting)| {
            (one.0.valid_ms, one.0.product) == (other.0.valid_ms, other.0.product)
        };
        let one_member = |one: &(Slot, Waiting), other: &(Slot, Waiting)| {
            one_product(one, other) && one.0.member == other.0.member
        };
        let mut of_one_interval = Vec::with_capacity(fields.len());
        for fields in fields.chunk_by(one_product) {
            let (own, others) = fields.split_at(of_shortest_interval(fields));
            of_one_interval.extend(own.iter().copied());
            self.report.replaced += others.len() as u64;
            for (_, kept) in others {
                self.files[kept.origin.file].is_used = true;
            }
        }
        for fields in of_one_interval.chunk_by(one_member) {
            let Slot { valid_ms, product: index, member, interval, .. } = fields[0].0;
            let name = &*name_of(&source.products()[index], member);
            // The plan has made sure that both exist.
            let Some((hour, product)) = place(&writer, valid_ms, name) else { continue };
            let stated = interval.map_or(Ok(()), |interval| {
                writer.state_interval(hour, product.shared_name(), interval)
            });
            if let Err(error) = stated {
                for (_, kept) in fields {
                    self.refuse(kept.origin, error.clone().into());
                }
                continue;
            }
            let missing = writer.missing_levels(hour, name);
            let is_missing =
                |(slot, _): &&(Slot, Waiting)| missing.contains(&level_of(&product, *slot));
            let new: Vec<(Slot, Waiting)> = fields.iter().filter(is_missing).copied().collect();
            // Published by another delivery since this one was planned.
            self.report.there_already += (fields.len() - new.len()) as u64;
            for (_, kept) in fields.iter().filter(|field| !is_missing(field)) {
                self.files[kept.origin.file].is_used = true;
            }
            if new.is_empty() {
                continue;
            }
            let written: &mut WrittenProduct =
                products.entry(index).or_insert_with(|| nothing_of(&product));
            let grid = writer.definition().grid;
            let values = product.levels() * grid.rows * grid.columns;
            if values > MAX_VALUES {
                let (product, got, limit) = (product.name, values, MAX_VALUES);
                let error = DeliveryError::Values { product, got, limit };
                for (_, kept) in &new {
                    self.refuse(kept.origin, error.clone());
                }
                continue;
            }
            let mut levels = vec![None; product.levels()];
            let unpacked =
                self.unpack((&product, grid.columns), &new, &mut levels, written, on_field)?;
            if unpacked.is_empty() {
                continue;
            }
            let levels: Vec<Option<LevelValues<'_>>> =
                levels.iter().map(|level| level.as_ref().map(LevelValues::Encoded)).collect();
            match writer.add_levels(hour, &product.name, &levels) {
                // The other products of the run are not affected.
                Err(error @ RunStoreError::Damaged { .. }) => {
                    for (_, kept) in &new {
                        self.refuse(kept.origin, error.clone().into());
                    }
                    continue;
                }
                added => added?,
            }
            written.hours += 1;
            written.fields += unpacked.len() as u64;
            written.missing_levels += (missing.len() - unpacked.len()) as u64;
            used.extend(unpacked);
            hours.insert(hour);
        }
        let hours: Vec<usize> = hours.into_iter().collect();
        if !hours.is_empty() {
            writer.publish(&hours, published_ms)?;
        }
        self.note_files(&mut writer, files, published_ms)?;
        for &(file, _) in &used {
            self.files[file].is_used = true;
        }
        self.report.used += used.len() as u64;
        let mut products: Vec<_> = products.into_values().collect();
        products.retain(|product| product.hours > 0);
        let run = writer.definition().run;
        Ok((!hours.is_empty()).then_some(WrittenRun { run, hours, of_hours, products }))
    }

    /// Notes at the hours of a run which files were broken, or are whole now.
    fn note_files(
        &self,
        writer: &mut RunWriter,
        files: &Files,
        published_ms: i64,
    ) -> Result<(), DeliveryError> {
        let valid_ms = &writer.definition().valid_ms;
        let mut hours: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
        for (valid, files) in files {
            if let Ok(hour) = valid_ms.binary_search(valid) {
                hours.insert(hour, files.iter().map(|file| self.files[*file].key()).collect());
            }
        }
        let broken = self.files.iter().filter(|file| file.is_broken).map(DeliveredFile::key);
        let broken: BTreeSet<String> = broken.collect();
        writer.note_files(&hours, |file| broken.contains(file), published_ms)?;
        Ok(())
    }

    /// Returns the packing of each product whose packing depends on the range of its fields.
    fn encodings(
        &mut self,
        plan: &RunPlan,
        fields: &[(Slot, Waiting)],
    ) -> Result<BTreeMap<usize, Encoding>, DeliveryError> {
        let products = self.source.products();
        let mut ranges: BTreeMap<usize, ValueRange> = BTreeMap::new();
        for (slot, kept) in fields {
            if products[slot.product].encoding().is_some() {
                continue;
            }
            let range = ranges.entry(slot.product).or_default();
            match self.add_range(*kept, range) {
                // A field that cannot be unpacked is reported when it is written.
                Err(error) if !error.is_temporary() => {}
                added => added?,
            }
        }
        let encoding = |(index, range): (usize, ValueRange)| {
            let known = plan.encoding(products[index].name());
            Some((index, range.encoding(known)?))
        };
        Ok(ranges.into_iter().filter_map(encoding).collect())
    }

    /// Adds the values of a field to a range.
    fn add_range(&mut self, kept: Waiting, range: &mut ValueRange) -> Result<(), DeliveryError> {
        let message = self.spool.get(kept.place)?;
        let Some(field) = grib::fields(&message).next() else { return Ok(()) };
        let (field, limit) = (field?, self.limits.points);
        match field.one_value(limit)? {
            Some(value) => range.add(&[value], None),
            None => range.add(&field.values(limit)?, field.steps()?),
        }
        Ok(())
    }

    /// Unpacks the fields of a product at an hour, each into the place of its level. Returns those
    /// that could be unpacked, by file and number.
    ///
    /// # Errors
    /// If a waiting field cannot be read.
    fn unpack(
        &mut self,
        (product, columns): (&ProductDefinition, usize),
        fields: &[(Slot, Waiting)],
        levels: &mut [Option<EncodedPlane>],
        written: &mut WrittenProduct,
        on_field: &mut dyn FnMut(),
    ) -> Result<Vec<(usize, u64)>, DeliveryError> {
        let mut unpacked = Vec::with_capacity(fields.len());
        for (slot, kept) in fields {
            on_field();
            let mut loss = PackingLoss::default();
            let level = match self.level(*kept, product, columns, &mut loss) {
                Ok(level) => level,
                // It may be readable another time, but the published part does not change.
                Err(error) if error.is_temporary() => return Err(error),
                Err(error) => {
                    self.refuse(kept.origin, error);
                    continue;
                }
            };
            levels[level_of(product, *slot)] = Some(level);
            written.packing_error = written.packing_error.max(loss.max_error);
            unpacked.push((kept.origin.file, kept.origin.number));
        }
        Ok(unpacked)
    }

    /// Returns the packed values of a field.
    fn level(
        &mut self,
        kept: Waiting,
        product: &ProductDefinition,
        columns: usize,
        loss: &mut PackingLoss,
    ) -> Result<EncodedPlane, DeliveryError> {
        let encoding = product.encoding;
        let message = self.spool.get(kept.place)?;
        let field = grib::fields(&message).next();
        let field = field
            .ok_or_else(|| DeliveryError::Spool("its data are no longer there".to_owned()))??;
        let limit = self.limits.points;
        let (level, values) = if let Some(value) = field.one_value(limit)? {
            let raw = loss.pack(encoding, value.into());
            (EncodedPlane::of_one_value(raw, encoding.nodata()), vec![value])
        } else {
            let mut values = field.values(limit)?;
            kept.turns.apply(&mut values, columns);
            let raw = &mut self.raw;
            raw.resize(values.len(), 0);
            loss.pack_all(encoding, &values, raw);
            (EncodedPlane::new(raw, columns, encoding.nodata()), values)
        };
        if loss.clamped == 0 {
            return Ok(level);
        }
        let beyond = |value: &f64| (encoding.decode(encoding.encode(*value)) - value).abs();
        let values = values.into_iter().map(f64::from).filter(|value| !value.is_nan());
        let value = values.max_by(|one, other| beyond(one).total_cmp(&beyond(other)));
        Err(DeliveryError::Range {
            product: product.name.clone(),
            value: value.unwrap_or(f64::NAN),
            allowed: [-i16::MAX, i16::MAX].map(|raw| encoding.decode(raw)),
        })
    }

    /// Removes runs and completes the report on the files.
    fn finish(mut self) -> DeliveryReport {
        let (model, keep) = (self.source.name(), self.source.keep_runs());
        if !self.report.runs.is_empty() {
            let within = |bytes| self.store.keep_newest_within(model, bytes);
            let removed = self.store.keep_newest(model, keep).and_then(|mut removed| {
                removed.extend(
                    self.source.keep_bytes().map(within).transpose()?.into_iter().flatten(),
                );
                Ok(removed)
            });
            match removed {
                Ok(removed) => self.report.removed = removed,
                Err(error) => self.report.retention_error = Some(error.to_string()),
            }
        }
        for file in self.files {
            if file.is_used {
                self.report.files += 1;
                self.report.broken_files.extend(file.loss.map(|loss| (file.name, loss)));
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

/// Returns how many of the fields of a product at an hour, sorted by interval, have the shortest
/// interval.
fn of_shortest_interval(fields: &[(Slot, Waiting)]) -> usize {
    let shortest = fields.first().and_then(|(slot, _)| slot.interval);
    fields.partition_point(|(slot, _)| slot.interval == shortest)
}

/// Returns the index of a field's level. The plan has made sure that it exists.
fn level_of(product: &ProductDefinition, slot: Slot) -> usize {
    let (hpa, levels_hpa) = (f64::from_bits(slot.level), product.levels_hpa.as_deref());
    levels_hpa.unwrap_or_default().iter().position(|level| *level == hpa).unwrap_or(0)
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
    }
}

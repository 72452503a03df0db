//! Writes GRIB2 files as runs of a model in the grid store.
//!
//! | What | Where |
//! | --- | --- |
//! | Files of one or several runs that arrive together | [`Delivery`] |
//! | The definition of a run: from the catalogue, else from the files | `plan.rs` |
//! | Fields that wait, packed as they came | `spool.rs` |
//! | Fields unpacked, repacked and written, hour by hour | `write.rs` |
//! | The result | [`DeliveryReport`] |
//!
//! When a file arrives, only the metadata of its fields is read; fields that belong to a product
//! are kept unchanged. Once all files have arrived, each product of each hour is unpacked, packed
//! as the catalogue says, and written. At the end all hours are published together. So memory never
//! holds more than the current file, or one product of one hour (two bytes per value) with one of
//! its fields.

mod error;
mod plan;
mod range;
mod report;
mod spool;
mod write;

pub use error::DeliveryError;
pub use report::{DeliveryReport, FieldRefusal, WrittenProduct, WrittenRun};

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Read, Seek, Write};

use crate::grib::{FieldKind, GribError};
use crate::grid::{NativeGrid, Turns};
use crate::model::{FieldInterval, RunStamp, RunStore, RunStoreError, Source, SourceProduct};
use crate::{grib, grid};
use plan::RunPlan;
use spool::{MessageSpan, Spool};

/// The most runs of a delivery.
const MAX_RUNS: usize = 256;

/// The most parameters that are named if no field of a file belongs to a product.
const MAX_NAMED: usize = 5;

/// The cost of looking at a field, or at something that is not a field, in cells.
const CELLS_OF_A_LOOK: u64 = 64;

/// Limits on the size of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryLimits {
    /// The most points of a field.
    pub points: usize,
    /// The most bytes of the fields that wait to be written, packed as they came.
    pub packed_bytes: u64,
}

impl Default for DeliveryLimits {
    /// [`grib::MAX_POINTS`](crate::grib::MAX_POINTS), and one tebibyte.
    fn default() -> Self {
        Self { points: grib::MAX_POINTS, packed_bytes: 1 << 40 }
    }
}

/// GRIB2 files of a model that arrive together, on their way into the store.
///
/// [`write`](Self::write) publishes the hours of their fields together. A run that already exists
/// gets the hours that it lacks, and its hours get the products that they lack.
///
/// ```
/// use mesonet::model;
/// # let folder = tempfile::tempdir().unwrap();
/// let catalogue = model::Catalogue::default();
/// let store = model::RunStore::new(folder.path());
/// let source = catalogue.get("nam211").unwrap();
/// let mut delivery = model::Delivery::in_memory(source, &store);
/// delivery.add("letter.txt", b"Dear reader");
/// let report = delivery.write(1_537_150_000_000, || ());
/// assert_eq!(
///     report.unused_files[0].1,
///     "none of its fields belongs to a product of model nam211; it holds no field"
/// );
/// ```
#[derive(Debug)]
pub struct Delivery<'a, S> {
    source: &'a Source,
    store: &'a RunStore,
    limits: DeliveryLimits,
    spool: Spool<S>,
    /// For a run that takes no fields, the reason.
    runs: BTreeMap<RunStamp, Result<DeliveredRun, DeliveryError>>,
    files: Vec<DeliveredFile>,
    report: DeliveryReport,
    /// The packed values of a field, whose room is used again.
    raw: Vec<i16>,
}

/// The delivery for a run.
#[derive(Debug)]
struct DeliveredRun {
    plan: RunPlan,
    fields: BTreeMap<Slot, Waiting>,
    /// The files with fields of each valid time, including fields that were there already.
    files: BTreeMap<i64, BTreeSet<usize>>,
}

/// The place of a field in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Slot {
    valid_ms: i64,
    /// The index into the products of the source.
    product: usize,
    /// The interval, for a statistic over an interval; the shortest comes first.
    interval: Option<FieldInterval>,
    /// The ensemble member.
    member: Option<u8>,
    /// The bits of the pressure in hPa, which sort like the numbers because these are above 0; 0 if
    /// the product has no levels.
    level: u64,
}

/// A field that waits to be written.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    place: MessageSpan,
    origin: Origin,
    /// How to put its cells in the order of the run.
    turns: Turns,
    /// A digest of its message.
    digest: u64,
}

/// The origin of a field.
#[derive(Clone, Copy, Debug)]
struct Origin {
    /// The index of the file.
    file: usize,
    /// Its number in the file, from 1.
    number: u64,
    parameter: Option<grib::Parameter>,
}

#[derive(Debug)]
struct DeliveredFile {
    name: String,
    is_used: bool,
    /// The first reason why part of it was not used.
    problem: Option<String>,
    /// The first reason why the run lacks a part of it.
    loss: Option<String>,
    /// Whether it broke off or is damaged.
    is_broken: bool,
    /// The parameters of fields that belong to no product.
    others: Vec<grib::Parameter>,
    /// The reason why the first field with a product's parameter does not belong to the product.
    misfit: Option<String>,
}

/// How a delivery treats a field.
enum FieldOutcome {
    Waiting,
    ThereAlready,
    OfNoProduct,
}

impl<'a> Delivery<'a, Cursor<Vec<u8>>> {
    /// Creates a delivery without files whose fields wait in memory, packed as they came, with the
    /// default limits.
    pub fn in_memory(source: &'a Source, store: &'a RunStore) -> Self {
        Self::new(source, store, Cursor::default(), DeliveryLimits::default())
    }
}

impl<'a, S: Read + Write + Seek> Delivery<'a, S> {
    /// Creates a delivery without files. Its fields wait in `spool`, which must be empty: a
    /// temporary file, or memory.
    pub fn new(source: &'a Source, store: &'a RunStore, spool: S, limits: DeliveryLimits) -> Self {
        let report =
            DeliveryReport { model: source.name().to_owned(), ..DeliveryReport::default() };
        Self {
            source,
            store,
            limits,
            spool: Spool::new(spool, limits.packed_bytes),
            runs: BTreeMap::new(),
            files: Vec::new(),
            report,
            raw: Vec::new(),
        }
    }

    /// Adds a file. The report says which parts cannot be used; they do not affect the others.
    pub fn add(&mut self, name: &str, bytes: &[u8]) {
        self.add_within(name, bytes, u64::MAX);
    }

    /// Notes that the file added last is not whole, for a reason outside its bytes: the compressed
    /// file around it broke off.
    pub fn break_off(&mut self, reason: &str) {
        if let Some(file) = self.files.last_mut() {
            file.is_broken = true;
            file.loss.get_or_insert_with(|| reason.to_owned());
            file.problem.get_or_insert_with(|| reason.to_owned());
        }
    }

    /// The same for an untrusted file, with a limit on the cost of its fields as counted by
    /// [`grib::Field::work_cells`]. The first field beyond the limit and all after it are refused.
    /// Returns the cost of the fields.
    pub fn add_within(&mut self, name: &str, bytes: &[u8], limit_cells: u64) -> u64 {
        let mut spent_cells = 0;
        let file = self.files.len();
        self.files.push(DeliveredFile {
            name: name.to_owned(),
            is_used: false,
            problem: None,
            loss: None,
            is_broken: false,
            others: Vec::new(),
            misfit: None,
        });
        let mut fields = (1..).zip(grib::fields(bytes));
        while let Some((number, field)) = fields.next() {
            self.report.fields += 1;
            let parameter = field.as_ref().ok().and_then(|field| field.parameter().ok());
            let origin = Origin { file, number, parameter };
            let left = (limit_cells - spent_cells).checked_sub(CELLS_OF_A_LOOK);
            let Some(mut left) = left else {
                let (limit, more) = (limit_cells, fields.filter(|(_, field)| field.is_ok()));
                let more = more.count() as u64;
                self.report.fields += more;
                self.report.refused += more;
                self.refuse(origin, DeliveryError::Cells { limit, left_out: more + 1 });
                return limit_cells;
            };
            let added = field.map_err(Into::into).and_then(|field| {
                self.add_field(&field, origin, &mut left).map_err(|error| match error {
                    // The fields that follow are as expensive, or were so before.
                    DeliveryError::Cells { .. } => {
                        DeliveryError::Cells { limit: limit_cells, left_out: 1 }
                    }
                    error => error,
                })
            });
            spent_cells = limit_cells - left;
            match added {
                Ok(FieldOutcome::Waiting) => {}
                Ok(FieldOutcome::ThereAlready) => {
                    self.report.there_already += 1;
                    self.files[file].is_used = true;
                }
                Ok(FieldOutcome::OfNoProduct) => {
                    self.report.other_fields += 1;
                    let others = &mut self.files[file].others;
                    if others.len() <= MAX_NAMED {
                        others.extend(parameter.filter(|one| !others.contains(one)));
                    }
                }
                Err(error) => self.refuse(origin, error),
            }
        }
        spent_cells
    }

    /// Returns how many fields wait to be written.
    pub fn fields(&self) -> u64 {
        self.runs.values().flatten().map(|run| run.fields.len() as u64).sum()
    }

    fn add_field(
        &mut self,
        field: &grib::Field<'_>,
        origin: Origin,
        left_cells: &mut u64,
    ) -> Result<FieldOutcome, DeliveryError> {
        let parameter = field.parameter()?;
        let source = self.source;
        let products = source.products();
        if !products.iter().any(|product| product.parameter() == parameter) {
            return Ok(FieldOutcome::OfNoProduct);
        }
        let (kind, reference_ms) = (field.product()?, field.reference_ms()?);
        let is_of = |index: &usize| products[*index].is_of(parameter, &kind, reference_ms);
        let of_products: Vec<usize> = (0..products.len()).filter(is_of).collect();
        if of_products.is_empty() {
            let of_parameter = products.iter().filter(|one| one.parameter() == parameter);
            let misfits = of_parameter.filter_map(|one| one.misfit(&kind, reference_ms));
            let nearest = misfits.max_by_key(|misfit| misfit.what);
            let misfit = &mut self.files[origin.file].misfit;
            if let Some(nearest) = nearest.filter(|_| misfit.is_none()) {
                *misfit = Some(format!("{}: {nearest}", origin.field()));
            }
            return Ok(FieldOutcome::OfNoProduct);
        }
        let grid = field.grid()?;
        let (got, limit) = (grid.rows() * grid.columns(), self.limits.points);
        if got > limit {
            return Err(GribError::Points { got, limit }.into());
        }
        let native = NativeGrid::try_from(&grid)?;
        let grid = *native.definition();
        let plan = &self.run(RunStamp::from_ms(reference_ms)?, grid)?.plan;
        let run = plan.run;
        // The positions of the cells decide.
        let of_run = || NativeGrid::new(plan.grid).ok();
        let is_same = plan.grid == grid;
        let turns = if is_same {
            Some(Turns::default())
        } else {
            of_run().and_then(|of| native.turns_to(&of))
        };
        let Some(turns) = turns else {
            let (got, allowed) = (Box::new(grid), Box::new(plan.grid));
            return Err(DeliveryError::Grid { run, got, allowed });
        };

        // A field may belong to several products: the rain of the first hour is also the rain since
        // the start.
        let (mut slots, mut refusal) = (Vec::new(), None);
        for index in of_products {
            let product = &products[index];
            let level_hpa = kind.level.value.filter(|_| product.has_levels()).map(|pa| pa / 100.0);
            let member = match kind.kind {
                FieldKind::Member(number) if product.has_members() => Some(number),
                _ => None,
            };
            let slot = Slot {
                valid_ms: kind.valid_ms,
                product: index,
                interval: product.interval_of(&kind),
                member,
                level: level_hpa.map_or(0, f64::to_bits),
            };
            let known = member.map_or(Ok(()), |member| known_member(source, product, member));
            match known.and_then(|()| plan.takes(product, &slot, level_hpa)) {
                Ok(true) => slots.push(slot),
                Ok(false) => {}
                Err(error) => refusal = refusal.or(Some(error)),
            }
        }
        if let Some(refusal) = refusal.filter(|_| slots.is_empty()) {
            return Err(refusal);
        }
        let delivered = self.run(run, grid)?;
        delivered.files.entry(kind.valid_ms).or_default().insert(origin.file);
        if slots.is_empty() {
            return Ok(FieldOutcome::ThereAlready);
        }
        let cells = field.work_cells()?;
        let Some(rest) = left_cells.checked_sub(cells) else {
            return Err(DeliveryError::Cells { limit: 0, left_out: 1 });
        };
        *left_cells = rest;
        let message = field.to_message();
        let kept =
            Waiting { place: self.spool.put(&message)?, origin, turns, digest: digest(&message) };
        for slot in slots {
            let product = &products[slot.product];
            let fields = &mut self.run(run, grid)?.fields;
            // If a product states all of its fields, no other field may take the place of one.
            if let Some(&before) = fields.get(&slot)
                && product.is_exact()
                && before.digest != kept.digest
            {
                let (product, field) = (product.name().to_owned(), before.origin.field());
                let file = self.files[before.origin.file].name.clone();
                return Err(DeliveryError::Twice { product, field, file });
            }
            if let Some(before) = fields.insert(slot, kept) {
                self.report.replaced += 1;
                self.files[before.origin.file].is_used = true;
            }
        }
        Ok(FieldOutcome::Waiting)
    }

    /// Returns what was delivered for a run so far.
    fn run(
        &mut self,
        run: RunStamp,
        grid: grid::Definition,
    ) -> Result<&mut DeliveredRun, DeliveryError> {
        if !self.runs.contains_key(&run) && self.runs.len() >= MAX_RUNS {
            return Err(DeliveryError::Runs(MAX_RUNS));
        }
        let (source, store) = (self.source, self.store);
        let delivered = self.runs.entry(run).or_insert_with(|| {
            let plan = RunPlan::new(source, store, run, grid)?;
            Ok(DeliveredRun { plan, fields: BTreeMap::new(), files: BTreeMap::new() })
        });
        delivered.as_mut().map_err(|error| error.clone())
    }
}

/// A digest that tells messages apart: each word is mixed in by a rotation and a product.
fn digest(message: &[u8]) -> u64 {
    let add =
        |digest: u64, word: u64| (digest.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    let (words, rest) = message.as_chunks::<8>();
    let digest = words
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |digest, word| add(digest, u64::from_le_bytes(*word)));
    rest.iter().fold(digest, |digest, byte| add(digest, u64::from(*byte)))
}

/// Checks that a member belongs to the ensemble, if the catalogue states the members.
fn known_member(source: &Source, product: &SourceProduct, got: u8) -> Result<(), DeliveryError> {
    match source.members() {
        Some(stated) if !stated.contains(&got) => Err(RunStoreError::UnknownMember {
            product: product.name().to_owned(),
            got,
            allowed: stated.iter().map(u8::to_string).collect::<Vec<_>>().join(", "),
        }
        .into()),
        _ => Ok(()),
    }
}

impl<S> Delivery<'_, S> {
    fn refuse(&mut self, origin: Origin, error: DeliveryError) {
        let file = &mut self.files[origin.file];
        let refusal = FieldRefusal { file: file.name.clone(), field: origin.field(), error };
        if refusal.error.is_loss() && file.loss.is_none() {
            file.loss = Some(refusal.to_string());
        }
        file.is_broken |= refusal.error.is_of_broken_file();
        if file.problem.is_none() {
            file.problem = Some(refusal.to_string());
        }
        self.report.refuse(1, refusal);
    }

    /// Refuses all fields of a run for the same reason.
    fn refuse_run(&mut self, run: RunStamp, fields: &[(Slot, Waiting)], error: &DeliveryError) {
        for (_, kept) in fields {
            let problem = &mut self.files[kept.origin.file].problem;
            problem.get_or_insert_with(|| error.to_string());
        }
        let Some((_, first)) = fields.first() else { return };
        let file = self.files[first.origin.file].name.clone();
        let field = format!("fields of run {run} ({})", fields.len());
        let refusal = FieldRefusal { file, field, error: error.clone() };
        self.report.refuse(fields.len() as u64, refusal);
    }
}

impl Origin {
    /// Names the field.
    fn field(&self) -> String {
        let of = self.parameter.map_or_else(String::new, |one| format!(" ({one})"));
        format!("field {}{of}", self.number)
    }
}

impl DeliveredFile {
    /// Returns its name without folders and compression extensions. This name identifies a file
    /// that arrives whole with the file that broke off before.
    fn key(&self) -> String {
        let name = self.name.rsplit(['/', '\\']).next().unwrap_or(&self.name);
        let ending =
            [".gz", ".xz", ".bz2"].into_iter().find_map(|ending| name.strip_suffix(ending));
        ending.unwrap_or(name).to_owned()
    }

    /// Returns why nothing of the file was used.
    fn problem_of(self, model: &str) -> String {
        self.problem.unwrap_or_else(|| {
            let named = self.others.iter().take(MAX_NAMED).map(ToString::to_string);
            let mut named: Vec<String> = named.collect();
            if self.others.len() > MAX_NAMED {
                named.push("…".to_owned());
            }
            let held = if named.is_empty() { "no field".to_owned() } else { named.join(", ") };
            let misfit = self.misfit.map_or_else(String::new, |misfit| format!("; {misfit}"));
            format!(
                "none of its fields belongs to a product of model {model}; it holds {held}{misfit}"
            )
        })
    }
}

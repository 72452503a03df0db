//! From GRIB2 files to runs of a model in the grid store.
//!
//! | What | Where |
//! | --- | --- |
//! | Files of one or several runs that come together | [`ModelDelivery`] |
//! | What a run is of: by the catalogue, else by the files | `plan.rs` |
//! | Fields that wait, packed as they came | `spool.rs` |
//! | Unpacked, packed anew and written, hour by hour | `write.rs` |
//! | What became of it | [`ModelReport`] |
//!
//! Of a file only what its fields are is read when it comes; those that are of a product are set
//! aside as they are. Once all files are there, each product of each hour is unpacked, packed as the
//! catalogue says, and written; at the end all hours are published together. So at any time there
//! are in memory the file at hand, or one product of one hour (two bytes a value) with one of its
//! fields.

mod error;
mod plan;
mod report;
mod spool;
mod write;

pub use error::ModelIntakeError;
pub use report::{ModelRefusal, ModelReport, WrittenModelProduct, WrittenRun};

use std::collections::BTreeMap;
use std::io::{Read, Seek, Write};

use crate::grib::{GRIB_MAX_POINTS, GribError, GribField, GribParameter, grib_fields};
use crate::grid_store::GridStore;
use crate::model_catalogue::ModelSource;
use crate::projection::{GridDefinition, NativeGrid};
use crate::run_stamp::RunStamp;
use plan::RunPlan;
use spool::{Place, Spool};

/// Most runs of a delivery.
const MAX_RUNS: usize = 256;

/// Parameters that are named where no field of a file is of a product.
const MAX_NAMED: usize = 5;

/// How large a delivery may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryLimits {
    /// Points of a field.
    pub points: usize,
    /// Bytes of the fields that wait to be written, packed as they came.
    pub packed_bytes: u64,
}

impl Default for DeliveryLimits {
    /// [`GRIB_MAX_POINTS`], and a tebibyte.
    fn default() -> Self {
        Self { points: GRIB_MAX_POINTS, packed_bytes: 1 << 40 }
    }
}

/// GRIB2 files of a model that come together, on their way into the store.
///
/// The hours that they have fields of are published together, by [`write`](Self::write). A run that
/// is there already gets the hours, and to its hours the products, that it lacks.
///
/// ```
/// use mesonet::{DeliveryLimits, GridStore, ModelCatalogue, ModelDelivery};
/// # let folder = tempfile::tempdir().unwrap();
/// let catalogue = ModelCatalogue::default();
/// let store = GridStore::new(folder.path());
/// let spool = std::io::Cursor::new(Vec::new());
/// let source = catalogue.get("nam211").unwrap();
/// let mut delivery = ModelDelivery::new(source, &store, spool, DeliveryLimits::default());
/// delivery.add("letter.txt", b"Dear reader");
/// let report = delivery.write(1_537_150_000_000, || ());
/// assert_eq!(
///     report.unused_files[0].1,
///     "no field of it is of a product of model nam211; it holds no field"
/// );
/// ```
#[derive(Debug)]
pub struct ModelDelivery<'a, S> {
    source: &'a ModelSource,
    store: &'a GridStore,
    limits: DeliveryLimits,
    spool: Spool<S>,
    /// A run that takes nothing has the reason.
    runs: BTreeMap<RunStamp, Result<DeliveredRun, ModelIntakeError>>,
    files: Vec<DeliveredFile>,
    report: ModelReport,
}

/// What came of a run.
#[derive(Debug)]
struct DeliveredRun {
    plan: RunPlan,
    fields: BTreeMap<Slot, Kept>,
}

/// Where in a run a field belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Slot {
    valid_ms: i64,
    /// Index into the products of the source.
    product: usize,
    /// The bits of the pressure in hPa, which are in the order of the numbers as these are above 0;
    /// 0 where the product has no levels.
    level: u64,
}

/// A field that waits.
#[derive(Clone, Copy, Debug)]
struct Kept {
    place: Place,
    origin: Origin,
}

/// Where a field is from.
#[derive(Clone, Copy, Debug)]
struct Origin {
    /// Index of the file.
    file: usize,
    /// Its number in the file, from 1.
    number: u64,
    parameter: Option<GribParameter>,
}

#[derive(Debug)]
struct DeliveredFile {
    name: String,
    is_used: bool,
    /// The first reason why something of it was not used.
    problem: Option<String>,
    /// Parameters of fields of no product.
    others: Vec<GribParameter>,
}

/// What a field is to a delivery.
enum Taken {
    Kept,
    ThereAlready,
    OfNoProduct,
}

impl<'a, S: Read + Write + Seek> ModelDelivery<'a, S> {
    /// A delivery without files. Its fields wait in `spool`, which must be empty: a temporary file,
    /// or memory.
    pub fn new(
        source: &'a ModelSource,
        store: &'a GridStore,
        spool: S,
        limits: DeliveryLimits,
    ) -> Self {
        let report = ModelReport { model: source.name().to_owned(), ..ModelReport::default() };
        Self {
            source,
            store,
            limits,
            spool: Spool::new(spool, limits.packed_bytes),
            runs: BTreeMap::new(),
            files: Vec::new(),
            report,
        }
    }

    /// Adds a file. What of it cannot be used is said by the report and keeps nothing else from
    /// being used.
    pub fn add(&mut self, name: &str, bytes: &[u8]) {
        self.add_within(name, bytes, u64::MAX);
    }

    /// The same for a file from others, whose fields may cost so much as
    /// [`GribField::work_cells`] counts them; those beyond that are refused. Gives what they cost.
    pub fn add_within(&mut self, name: &str, bytes: &[u8], limit_cells: u64) -> u64 {
        let mut spent_cells = 0;
        let file = self.files.len();
        self.files.push(DeliveredFile {
            name: name.to_owned(),
            is_used: false,
            problem: None,
            others: Vec::new(),
        });
        for (number, field) in (1..).zip(grib_fields(bytes)) {
            self.report.fields += 1;
            let parameter = field.as_ref().ok().and_then(|field| field.parameter().ok());
            let origin = Origin { file, number, parameter };
            let mut left = limit_cells - spent_cells;
            let added = field
                .map_err(Into::into)
                .and_then(|field| self.add_field(&field, origin, (&mut left, limit_cells)));
            spent_cells = limit_cells - left;
            match added {
                Ok(Taken::Kept) => {}
                Ok(Taken::ThereAlready) => {
                    self.report.there_already += 1;
                    self.files[file].is_used = true;
                }
                Ok(Taken::OfNoProduct) => {
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

    /// How many fields wait to be written.
    pub fn fields(&self) -> u64 {
        self.runs.values().flatten().map(|run| run.fields.len() as u64).sum()
    }

    fn add_field(
        &mut self,
        field: &GribField<'_>,
        origin: Origin,
        (left_cells, limit_cells): (&mut u64, u64),
    ) -> Result<Taken, ModelIntakeError> {
        let parameter = field.parameter()?;
        let source = self.source;
        let products = source.products();
        if !products.iter().any(|product| product.parameter() == parameter) {
            return Ok(Taken::OfNoProduct);
        }
        let (kind, reference_ms) = (field.product()?, field.reference_ms()?);
        let is_of = |index: &usize| products[*index].is_of(parameter, &kind, reference_ms);
        let of_products: Vec<usize> = (0..products.len()).filter(is_of).collect();
        if of_products.is_empty() {
            return Ok(Taken::OfNoProduct);
        }
        let grid = field.grid()?;
        let (got, limit) = (grid.rows() * grid.columns(), self.limits.points);
        if got > limit {
            return Err(GribError::Points { got, limit }.into());
        }
        let grid = *NativeGrid::try_from(&grid)?.definition();
        let plan = &self.run(RunStamp::from_ms(reference_ms)?, grid)?.plan;
        let run = plan.run;
        if plan.grid != grid {
            let (got, allowed) = (Box::new(grid), Box::new(plan.grid));
            return Err(ModelIntakeError::Grid { run, got, allowed });
        }

        // A field may be of several products, as the rain of the first hour is that since the start.
        let (mut slots, mut refusal) = (Vec::new(), None);
        for index in of_products {
            let product = &products[index];
            let level_hpa = kind.level.value.filter(|_| product.has_levels()).map(|pa| pa / 100.0);
            match plan.takes(product, kind.valid_ms, level_hpa) {
                Ok(true) => slots.push(Slot {
                    valid_ms: kind.valid_ms,
                    product: index,
                    level: level_hpa.map_or(0, f64::to_bits),
                }),
                Ok(false) => {}
                Err(error) => refusal = refusal.or(Some(error)),
            }
        }
        if slots.is_empty() {
            return refusal.map_or(Ok(Taken::ThereAlready), Err);
        }
        let cells = field.work_cells()?;
        let Some(rest) = left_cells.checked_sub(cells) else {
            return Err(ModelIntakeError::Cells(limit_cells));
        };
        *left_cells = rest;
        let kept = Kept { place: self.spool.put(&field.to_message())?, origin };
        for slot in slots {
            let fields = &mut self.run(run, grid)?.fields;
            if let Some(before) = fields.insert(slot, kept) {
                self.report.replaced += 1;
                self.files[before.origin.file].is_used = true;
            }
        }
        Ok(Taken::Kept)
    }

    /// What came of a run so far.
    fn run(
        &mut self,
        run: RunStamp,
        grid: GridDefinition,
    ) -> Result<&mut DeliveredRun, ModelIntakeError> {
        if !self.runs.contains_key(&run) && self.runs.len() >= MAX_RUNS {
            return Err(ModelIntakeError::Runs(MAX_RUNS));
        }
        let (source, store) = (self.source, self.store);
        let delivered = self.runs.entry(run).or_insert_with(|| {
            let plan = RunPlan::new(source, store, run, grid)?;
            Ok(DeliveredRun { plan, fields: BTreeMap::new() })
        });
        delivered.as_mut().map_err(|error| error.clone())
    }
}

impl<S> ModelDelivery<'_, S> {
    fn refuse(&mut self, origin: Origin, error: ModelIntakeError) {
        let file = &mut self.files[origin.file];
        let of = origin.parameter.map_or_else(String::new, |one| format!(" ({one})"));
        let refusal = ModelRefusal {
            file: file.name.clone(),
            field: format!("field {}{of}", origin.number),
            error,
        };
        if file.problem.is_none() {
            file.problem = Some(refusal.to_string());
        }
        self.report.refuse(1, refusal);
    }

    /// Refuses all fields of a run for one reason.
    fn refuse_run(&mut self, run: RunStamp, fields: &[(Slot, Kept)], error: &ModelIntakeError) {
        for (_, kept) in fields {
            let problem = &mut self.files[kept.origin.file].problem;
            problem.get_or_insert_with(|| error.to_string());
        }
        let Some((_, first)) = fields.first() else { return };
        let file = self.files[first.origin.file].name.clone();
        let field = format!("fields of run {run} ({})", fields.len());
        let refusal = ModelRefusal { file, field, error: error.clone() };
        self.report.refuse(fields.len() as u64, refusal);
    }
}

impl DeliveredFile {
    /// Why nothing of it was used.
    fn problem_of(self, model: &str) -> String {
        self.problem.unwrap_or_else(|| {
            let named = self.others.iter().take(MAX_NAMED).map(ToString::to_string);
            let mut named: Vec<String> = named.collect();
            if self.others.len() > MAX_NAMED {
                named.push("…".to_owned());
            }
            let held = if named.is_empty() { "no field".to_owned() } else { named.join(", ") };
            format!("no field of it is of a product of model {model}; it holds {held}")
        })
    }
}

//! Reading a run: values, columns, series, parts of levels.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::arrays::DOCUMENT;
use super::definition::{ProductDefinition, PublishedHour, RunDefinition};
use super::error::damaged;
use super::shard::{Shard, ShardLayout};
use super::zarr::{DocumentState, RunManifest};
use crate::grid::{NativeGrid, NativeGridError};
use crate::model::RunStoreError;

/// A run in the state in which it was opened. Its shards are mapped when they are first read, and
/// stay mapped.
///
/// ```
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/model_grids/store");
/// use mesonet::model;
/// let store = model::RunStore::new(folder);
/// let run: model::Run = store.run("nam211", "20180917T000000Z".parse()?)?;
/// assert!(run.is_published(0) && run.has("prmsl", 0));
/// assert!(!run.is_complete(), "one of the two hours is missing");
/// assert!(run.is_current()?, "nothing was published meanwhile");
/// assert_eq!(run.verify(), []);
/// # Ok::<(), mesonet::Error>(())
/// ```
#[derive(Debug)]
pub struct Run {
    folder: PathBuf,
    /// The state of the document when the run was opened.
    state: DocumentState,
    definition: RunDefinition,
    grid: NativeGrid,
    published: Vec<PublishedHour>,
    /// The place of each hour in the arrays.
    slots: Vec<usize>,
    /// The shards of all hours, product by product.
    shards: Vec<OnceLock<Box<Shard>>>,
    /// Whether a shard exists, in the same order.
    present: Vec<bool>,
    /// Whether a shard was set aside as damaged, in the same order.
    lost: Vec<bool>,
}

/// A product of an open run.
///
/// ```
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/model_grids/store");
/// use mesonet::model;
/// let run = model::RunStore::new(folder).newest_run("nam211")?;
/// let wind: model::RunProduct<'_> = run.product("u")?; // along x, m/s, at 150 and 100 hPa
/// assert_eq!(wind.definition().levels(), 2);
/// let mut column = [0.0; 2];
/// wind.column_into(0, 40, 20, &mut column)?;
/// assert_eq!(column, [21.32, 18.2]);
/// let mut by_hour = [0.0; 2];
/// wind.series_into(0..2, 1, 40, 20, &mut by_hour)?;
/// assert!(by_hour[0] == 18.2 && by_hour[1].is_nan(), "the second hour is not published");
/// let mut part = [0; 4];
/// wind.part_into(0, 1, 40..42, 20..22, &mut part)?;
/// assert_eq!(part, [1820, 1903, 1809, 1902]);
/// # Ok::<(), model::RunStoreError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RunProduct<'a> {
    run: &'a Run,
    index: usize,
}

/// A level of a product at an hour.
///
/// ```
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/model_grids/store");
/// use mesonet::model;
/// let run = model::RunStore::new(folder).newest_run("nam211")?;
/// let level: model::RunLevel<'_> = run.product("u")?.level(0, 1)?;
/// assert_eq!(level.raw(40, 20)?, 1820);
/// assert!(level.raw(65, 20).is_err(), "the grid has 65 rows");
/// # Ok::<(), model::RunStoreError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RunLevel<'a> {
    product: RunProduct<'a>,
    /// `None` if the hour does not have the product.
    shard: Option<&'a Shard>,
    level: usize,
}

impl Run {
    pub(super) fn open(folder: &Path) -> Result<Self, RunStoreError> {
        let Some((manifest, state)) = RunManifest::read_state(folder)? else {
            let name = |path: Option<&Path>| {
                let name = path.and_then(Path::file_name).unwrap_or_default();
                name.to_string_lossy().into_owned()
            };
            let (model, run) = (name(folder.parent()), name(Some(folder)));
            return Err(RunStoreError::UnknownRun { model, run });
        };
        let slots = manifest.slots();
        let RunManifest { definition, published, .. } = manifest;
        let document = folder.join(DOCUMENT);
        check_place(folder, &definition).map_err(|cause| damaged(&document, &cause))?;
        let grid = NativeGrid::new(definition.grid).map_err(|error| damaged(&document, &error))?;
        let hours = definition.valid_ms.len();
        let mut present = vec![false; hours * definition.products.len()];
        let mut lost = present.clone();
        for hour in &published {
            for (index, product) in definition.products.iter().enumerate() {
                present[index * hours + hour.hour] = !hour.absent.contains(&product.name);
                lost[index * hours + hour.hour] = hour.lost.contains(&product.name);
            }
        }
        let shards = present.iter().map(|_| OnceLock::new()).collect();
        let folder = folder.to_owned();
        Ok(Self { folder, state, definition, grid, published, slots, shards, present, lost })
    }

    /// Returns the definition of the run.
    pub fn definition(&self) -> &RunDefinition {
        &self.definition
    }

    /// Returns the native grid of the run.
    pub fn grid(&self) -> &NativeGrid {
        &self.grid
    }

    /// Returns the hours that were published when the run was opened, ascending.
    pub fn published(&self) -> &[PublishedHour] {
        &self.published
    }

    /// Returns whether an hour was published when the run was opened.
    pub fn is_published(&self, hour: usize) -> bool {
        self.published.binary_search_by_key(&hour, |published| published.hour).is_ok()
    }

    /// Returns whether all hours are published.
    pub fn is_complete(&self) -> bool {
        self.published.len() == self.definition.valid_ms.len()
    }

    /// Returns whether the run still exists and nothing was published since it was opened. This
    /// checks a single file.
    ///
    /// # Errors
    /// If the disk reports an error.
    pub fn is_current(&self) -> Result<bool, RunStoreError> {
        Ok(DocumentState::now(&self.folder)? == Some(self.state))
    }

    /// Returns whether a product has its own values at an hour, even if all are missing; for an
    /// ensemble, whether all its members have. An hour without the product may get it later.
    pub fn has(&self, product: &str, hour: usize) -> bool {
        let hours = self.definition.valid_ms.len();
        let products = self.definition.products.iter().enumerate();
        let mut own = products
            .filter(|(_, known)| known.name == product || known.shared_name() == product)
            .peekable();
        hour < hours
            && own.peek().is_some()
            && own.all(|(index, _)| self.present[index * hours + hour])
    }

    /// Returns whether an hour has a product with all its levels and members, and nothing suggests
    /// that more of the hour is to come: none of its files was broken.
    pub fn is_whole(&self, product: &str, hour: usize) -> bool {
        let published = self.published.iter().find(|published| published.hour == hour);
        let is_part = |name: &String| {
            name.strip_prefix(product).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.has(product, hour)
            && published.is_some_and(|published| {
                published.broken.is_empty() && !published.partial.keys().any(is_part)
            })
    }

    /// Returns a product by its own name, which is `name/member` for an ensemble member; by the
    /// name of an ensemble, returns its first member.
    ///
    /// # Errors
    /// If no product has the name.
    pub fn product(&self, name: &str) -> Result<RunProduct<'_>, RunStoreError> {
        let products = &self.definition.products;
        let first_member = || {
            let members = products.iter().enumerate().filter_map(|(index, product)| {
                let member = product.member.as_ref()?;
                (member.product == name).then_some((member.number, index))
            });
            members.min().map(|(_, index)| index)
        };
        let index = products.iter().position(|product| product.name == name);
        match index.or_else(first_member) {
            Some(index) => Ok(RunProduct { run: self, index }),
            None => Err(self.unknown_product(name)),
        }
    }

    pub(super) fn unknown_product(&self, name: &str) -> RunStoreError {
        RunStoreError::UnknownProduct {
            model: self.definition.model.clone(),
            got: name.chars().take(80).collect(),
            allowed: join(self.definition.shared_names().into_iter()),
        }
    }

    /// Reads everything that is published, compares it with its checksums, and returns the damage.
    pub fn verify(&self) -> Vec<RunStoreError> {
        let hours = self.definition.valid_ms.len();
        let mut faults = Vec::new();
        for (at, _) in self.present.iter().enumerate().filter(|(_, present)| **present) {
            let product = RunProduct { run: self, index: at / hours };
            let shard = product.open(at % hours);
            if let Err(fault) = shard.and_then(Shard::check) {
                faults.push(fault);
            }
        }
        faults
    }
}

impl<'a> RunProduct<'a> {
    /// Returns the definition of the product.
    pub fn definition(&self) -> &'a ProductDefinition {
        &self.run.definition.products[self.index]
    }

    /// Returns the value of a cell; `None` if it is missing. A single-level field only has level 0.
    ///
    /// # Errors
    /// If the hour, level, row or column is out of range, the hour is not published, or the shard
    /// is damaged.
    pub fn value(
        &self,
        hour: usize,
        level: usize,
        row: usize,
        column: usize,
    ) -> Result<Option<f64>, RunStoreError> {
        let mut value = [f64::NAN];
        self.check_level(level)?;
        self.check_cell(row, column)?;
        self.read(hour, level, row, column, &mut value)?;
        Ok((!value[0].is_nan()).then_some(value[0]))
    }

    /// Compares the whole product at an hour with its checksums.
    ///
    /// # Errors
    /// If the product is damaged, or the hour is out of range or not published.
    pub fn check(&self, hour: usize) -> Result<(), RunStoreError> {
        self.shard(hour)?.map_or(Ok(()), Shard::check)
    }

    /// Reads the values of a cell at all levels, NaN where a value is missing.
    ///
    /// # Errors
    /// As [`Self::value`]; also if the buffer does not have one place for each level.
    pub fn column_into(
        &self,
        hour: usize,
        row: usize,
        column: usize,
        values: &mut [f64],
    ) -> Result<(), RunStoreError> {
        check_length("a column", self.definition().levels(), values.len())?;
        self.check_cell(row, column)?;
        self.read(hour, 0, row, column, values)
    }

    /// Reads the values of a cell at one level over a range of hours, NaN where a value is missing
    /// or the hour is not published.
    ///
    /// # Errors
    /// As [`Self::value`], except for hours that are not published; also if the buffer does not
    /// have one place for each hour.
    pub fn series_into(
        &self,
        hours: Range<usize>,
        level: usize,
        row: usize,
        column: usize,
        values: &mut [f64],
    ) -> Result<(), RunStoreError> {
        self.check_level(level)?;
        self.check_cell(row, column)?;
        check_part("hours", &hours, self.run.definition.valid_ms.len())?;
        check_length("a series", hours.len(), values.len())?;
        for (hour, value) in hours.zip(values) {
            if self.present(hour) || self.lost(hour) {
                self.read(hour, level, row, column, std::slice::from_mut(value))?;
            } else {
                *value = f64::NAN;
            }
        }
        Ok(())
    }

    /// Reads the integers of a part of a level, row by row; tiles are made from them.
    ///
    /// # Errors
    /// As [`Self::value`]; also if the rows or columns are not within the grid, or the buffer does
    /// not have one place for each cell.
    pub fn part_into(
        &self,
        hour: usize,
        level: usize,
        rows: Range<usize>,
        columns: Range<usize>,
        raw: &mut [i16],
    ) -> Result<(), RunStoreError> {
        self.check_level(level)?;
        let grid = self.run.definition.grid;
        check_part("rows", &rows, grid.rows)?;
        check_part("columns", &columns, grid.columns)?;
        check_length("the part", rows.len() * columns.len(), raw.len())?;
        if let Some(shard) = self.shard(hour)? {
            return shard.part(level, rows, columns, raw);
        }
        raw.fill(self.definition().encoding.nodata());
        Ok(())
    }

    /// Returns a level of an hour whose cells are read one by one, for use when only a few are
    /// needed.
    ///
    /// # Errors
    /// As [`Self::value`].
    pub fn level(&self, hour: usize, level: usize) -> Result<RunLevel<'a>, RunStoreError> {
        self.check_level(level)?;
        Ok(RunLevel { product: *self, shard: self.shard(hour)?, level })
    }

    /// Reads as many levels of a cell as there are places, from a given level on.
    #[inline]
    fn read(
        &self,
        hour: usize,
        first_level: usize,
        row: usize,
        column: usize,
        values: &mut [f64],
    ) -> Result<(), RunStoreError> {
        let Some(shard) = self.shard(hour)? else {
            values.fill(f64::NAN);
            return Ok(());
        };
        let encoding = self.definition().encoding;
        // Copies through a block on the stack.
        let mut block = [0_i16; 64];
        for (number, values) in values.chunks_mut(64).enumerate() {
            let raw = &mut block[..values.len()];
            shard.column(row, column, first_level + number * 64, raw)?;
            for (value, &raw) in values.iter_mut().zip(&*raw) {
                *value = encoding.decode(raw);
            }
        }
        Ok(())
    }

    /// Returns the shard of a published hour; `None` if the hour does not have the product.
    #[inline]
    fn shard(&self, hour: usize) -> Result<Option<&'a Shard>, RunStoreError> {
        let hours = self.run.definition.valid_ms.len();
        if hour >= hours {
            return Err(RunStoreError::Index { what: "hour", got: hour, last: hours - 1 });
        }
        if self.present(hour) {
            return self.open(hour).map(Some);
        }
        if self.lost(hour) {
            let path = shard_path(&self.run.folder, self.definition(), self.run.slots[hour]);
            return Err(damaged(&path, &"it was set aside"));
        }
        if self.run.is_published(hour) {
            return Ok(None);
        }
        let published = self.run.published.iter().map(|hour| hour.hour.to_string());
        Err(RunStoreError::Unpublished {
            run: self.run.definition.run.to_string(),
            hour,
            published: if published.len() == 0 { "none".to_owned() } else { join(published) },
        })
    }

    #[inline]
    fn present(&self, hour: usize) -> bool {
        self.run.present[self.index * self.run.definition.valid_ms.len() + hour]
    }

    #[inline]
    fn lost(&self, hour: usize) -> bool {
        self.run.lost[self.index * self.run.definition.valid_ms.len() + hour]
    }

    /// Returns the shard of an hour that has one, mapping it if necessary.
    #[inline]
    fn open(&self, hour: usize) -> Result<&'a Shard, RunStoreError> {
        let run = self.run;
        let place = &run.shards[self.index * run.definition.valid_ms.len() + hour];
        if let Some(shard) = place.get() {
            return Ok(shard);
        }
        let (definition, slot) = (self.definition(), run.slots[hour]);
        let path = shard_path(&run.folder, definition, slot);
        let layout = layout(&run.definition, definition, slot);
        let published = run.published.iter().find(|published| published.hour == hour);
        let missing = published.and_then(|hour| hour.partial.get(&definition.name));
        let missing = missing.map_or(&[][..], Vec::as_slice);
        let shard = Shard::open(&path, &layout, definition, missing)?;
        Ok(place.get_or_init(|| Box::new(shard)))
    }

    fn check_level(&self, level: usize) -> Result<(), RunStoreError> {
        let levels = self.definition().levels();
        if level < levels {
            return Ok(());
        }
        Err(RunStoreError::Index { what: "level", got: level, last: levels - 1 })
    }

    fn check_cell(&self, row: usize, column: usize) -> Result<(), RunStoreError> {
        let (last_row, last_column) = (self.run.grid.rows() - 1, self.run.grid.columns() - 1);
        if row <= last_row && column <= last_column {
            return Ok(());
        }
        Err(NativeGridError::Cell { row, column, last_row, last_column }.into())
    }
}

impl RunLevel<'_> {
    /// Returns the integer of a cell.
    ///
    /// # Errors
    /// If the row or column is out of range, or the shard is damaged.
    #[inline]
    pub fn raw(&self, row: usize, column: usize) -> Result<i16, RunStoreError> {
        self.product.check_cell(row, column)?;
        let mut raw = [self.product.definition().encoding.nodata()];
        if let Some(shard) = self.shard {
            shard.column(row, column, self.level, &mut raw)?;
        }
        Ok(raw[0])
    }
}

/// Returns the layout of an hour's shard, by the place of the hour in the arrays.
pub(super) fn layout(run: &RunDefinition, product: &ProductDefinition, slot: usize) -> ShardLayout {
    ShardLayout {
        levels: product.levels(),
        has_levels: product.levels_hpa.is_some(),
        rows: run.grid.rows,
        columns: run.grid.columns,
        name: format!("{}/{}/{}/{slot}", run.model, run.run, product.name),
    }
}

/// Returns the path of a shard in Zarr. It is the only shard along the axes of levels, rows and
/// columns. Along the axis of members, each member has the place of its number.
pub(super) fn shard_path(folder: &Path, product: &ProductDefinition, slot: usize) -> PathBuf {
    let key = if product.levels_hpa.is_some() { "0/0/0" } else { "0/0" };
    let mut path = folder.join(product.shared_name()).join("c").join(slot.to_string());
    if let Some(member) = &product.member {
        path.push(member.number.to_string());
    }
    path.join(key)
}

/// Checks that a run is in the folder that its definition names.
pub(super) fn check_place(folder: &Path, run: &RunDefinition) -> Result<(), String> {
    let name = |path: Option<&Path>| path?.file_name()?.to_str().map(str::to_owned);
    let stated = [Some(run.model.clone()), Some(run.run.to_string())];
    if [name(folder.parent()), name(Some(folder))] == stated {
        return Ok(());
    }
    Err(format!("it belongs to run {} of model {}", run.run, run.model))
}

fn check_length(what: &'static str, needed: usize, got: usize) -> Result<(), RunStoreError> {
    if needed == got { Ok(()) } else { Err(RunStoreError::Length { what, needed, got }) }
}

fn check_part(what: &'static str, part: &Range<usize>, length: usize) -> Result<(), RunStoreError> {
    if part.start <= part.end && part.end <= length {
        return Ok(());
    }
    Err(RunStoreError::Part { what, start: part.start, end: part.end, length })
}

pub(super) fn join(names: impl Iterator<Item = impl AsRef<str>>) -> String {
    let mut joined = String::new();
    for name in names {
        if !joined.is_empty() {
            joined.push_str(", ");
        }
        joined.push_str(name.as_ref());
    }
    joined
}

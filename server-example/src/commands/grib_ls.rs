//! The command `grib ls`: what is in GRIB2 files, field by field.

use std::fmt::{self, Write as _};
use std::io::{self, BufRead, Read, Write};
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;

use clap::Args;
use mesonet::grid::{GridProjection, LatLonGlobe, NativeGrid, Projection};
use mesonet::{Iso8601, grib, model};

use super::{Outcome, load_catalogues};
use crate::config::CatalogueFlags;
use mesonet_service::files::FileLimits;
use mesonet_service::ingest::{Copies, FileWalker, SourceError, SourceFile, Visitor};

/// Length of the longest message that is read into memory.
const MAX_MESSAGE_BYTES: u64 = 1 << 30;

/// The flags of `grib ls`.
#[derive(Clone, Debug, Args)]
pub struct GribLsFlags {
    /// GRIB2 files, folders of them, and archives; packed as `ingest` reads them
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Only what the fields are for this model of the catalogue [default: all that take them]
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,

    #[command(flatten)]
    pub catalogues: CatalogueFlags,
}

/// Prints a line for each field of the files. Returns whether all files were read to the end.
///
/// # Errors
/// The catalogue is invalid, or the result cannot be written. A broken file is reported on standard
/// error; the fields before the break are printed.
pub fn grib_ls(flags: &GribLsFlags) -> Outcome {
    let catalogue = load_catalogues(&flags.catalogues)?.model_catalogue()?;
    if let Some(name) = &flags.model {
        mesonet_service::ingest::model_named(&catalogue, name)?;
    }
    let mut list = FieldPrinter {
        out: &mut io::stdout().lock(),
        catalogue: &catalogue,
        model: flags.model.as_deref(),
        // A single file needs no heading: the caller named it.
        plain: if let [path] = &*flags.files { path.display().to_string() } else { String::new() },
        is_whole: true,
        is_closed: false,
    };
    for path in &flags.files {
        FileWalker::new(
            &mut list,
            FileLimits::default(),
            &mut Copies::default(),
            &AtomicU64::new(0),
        )
        .path(path);
    }
    Ok(list.is_whole)
}

/// Prints the fields of the files that a source finds.
struct FieldPrinter<'a, W> {
    out: &'a mut W,
    catalogue: &'a model::Catalogue,
    model: Option<&'a str>,
    /// The file that needs no heading.
    plain: String,
    is_whole: bool,
    /// Whether the reader of the output has gone.
    is_closed: bool,
}

impl<W: Write> FieldPrinter<'_, W> {
    fn print(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{text}").inspect_err(|error| {
            self.is_closed |= error.kind() == io::ErrorKind::BrokenPipe;
        })
    }

    /// Reports a file that was not read to the end.
    fn report(&mut self, shown: &str, fault: &dyn fmt::Display) {
        if !self.is_closed {
            eprintln!("error: {shown}: {fault}");
            self.is_whole = false;
        }
    }

    fn fields(&mut self, file: &mut SourceFile<'_>, number: &mut usize) -> io::Result<()> {
        if file.shown != self.plain {
            self.print(&format!("{}:", file.shown))?;
        }
        messages(file.input, |message| {
            for field in grib::fields(message) {
                *number += 1;
                self.is_whole &= !field.as_ref().is_err_and(is_damage);
                self.print(&line(*number, field, self.catalogue, self.model))?;
            }
            Ok(())
        })
    }
}

impl<W: Write> Visitor for FieldPrinter<'_, W> {
    fn file(&mut self, mut file: SourceFile<'_>) -> bool {
        let mut number = 0;
        let read = self.fields(&mut file, &mut number);
        let fault = match read {
            Err(error) => format!("after {number} fields: {error}"),
            Ok(()) if number == 0 => "there is no GRIB message in it".to_owned(),
            Ok(()) => return true,
        };
        self.report(file.shown, &fault);
        false
    }

    fn fault(&mut self, shown: &str, error: SourceError) {
        self.report(shown, &error);
    }

    fn copy(&mut self) {}

    fn is_done(&self) -> bool {
        self.is_closed
    }
}

/// Returns whether an error means a damaged message, and not an unsupported one.
fn is_damage(error: &grib::GribError) -> bool {
    !matches!(error, grib::GribError::Edition(_) | grib::GribError::Unsupported { .. })
}

/// Hands over the messages of a file, one after the other. Of a message of edition 1, whose length
/// is encoded differently, only the first octets are handed over.
fn messages(
    input: &mut dyn BufRead,
    mut each: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    const INDICATOR: usize = 16;
    while find(input, *b"GRIB")? {
        let mut message = b"GRIB".to_vec();
        (&mut *input).take((INDICATOR - 4) as u64).read_to_end(&mut message)?;
        let Some(&indicator) = message.first_chunk::<INDICATOR>() else {
            return Err(truncated(&message, INDICATOR as u64));
        };
        if indicator[7] == 2 {
            let length = u64::from_be_bytes(*indicator.last_chunk().unwrap_or(&[0; 8]));
            if length > MAX_MESSAGE_BYTES {
                let reason = format!("a message of {length} bytes; the limit is 1 GiB");
                return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
            }
            let rest = length.saturating_sub(INDICATOR as u64);
            (&mut *input).take(rest).read_to_end(&mut message)?;
            if (message.len() as u64) < length {
                return Err(truncated(&message, length));
            }
        }
        each(&message)?;
    }
    Ok(())
}

fn truncated(message: &[u8], needed: u64) -> io::Error {
    let error = grib::GribError::Truncated { got: message.len(), needed };
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// Reads past the next occurrence of a word. The first letter must occur only once in the word.
/// Returns whether there is one.
fn find(input: &mut dyn BufRead, word: [u8; 4]) -> io::Result<bool> {
    let mut matched = 0;
    loop {
        let bytes = input.fill_buf()?;
        if bytes.is_empty() {
            return Ok(false);
        }
        let mut used = 0;
        for &byte in bytes {
            used += 1;
            matched = match byte {
                _ if byte == word[matched] => matched + 1,
                _ if byte == word[0] => 1,
                _ => 0,
            };
            if matched == word.len() {
                break;
            }
        }
        input.consume(used);
        if matched == word.len() {
            return Ok(true);
        }
    }
}

/// The line of a field; parts that cannot be read are replaced by the reason.
fn line(
    number: usize,
    field: Result<grib::Field<'_>, grib::GribError>,
    catalogue: &model::Catalogue,
    only: Option<&str>,
) -> String {
    let field = match field {
        Ok(field) => field,
        Err(error) => return format!("{number}  refused: {error}"),
    };
    let mut line = format!("{number}");
    let mut part = |text: &str| {
        let _ = write!(line, "  {text}");
    };
    let parameter = match field.parameter() {
        Ok(parameter) => parameter,
        Err(error) => return format!("{number}  refused: {error}"),
    };
    part(&named(parameter));
    let product = field.product();
    match &product {
        Ok(product) => {
            part(&level(product));
            part(&times(&field, product));
            part(&product.kind.to_string());
        }
        Err(error) => part(&format!("refused: {error}")),
    }
    match field.grid() {
        Ok(grid) => part(&grid_text(&grid)),
        Err(error) => part(&format!("refused: {error}")),
    }
    if let Ok(packing) = field.packing() {
        part(&format!("packing 5.{packing}"));
    }
    match extremes(&field) {
        Ok(text) => part(&text),
        // The grid has been printed already.
        Err(_) if field.grid().is_err() => {}
        Err(error) => part(&format!("refused: {error}")),
    }
    if let (Ok(product), Ok(reference_ms)) = (&product, field.reference_ms()) {
        part(&takers(catalogue, only, |taken| taken.is_of(parameter, product, reference_ms)));
    }
    line
}

fn named(parameter: grib::Parameter) -> String {
    match parameter.name() {
        None => parameter.to_string(),
        Some(grib::ParameterName { wgrib2, eccodes, unit }) => {
            let eccodes = eccodes.map(|name| format!("/{name}")).unwrap_or_default();
            format!("{wgrib2}{eccodes} [{unit}]  {parameter}")
        }
    }
}

fn level(product: &grib::ProductSection) -> String {
    let second = product.second_level.map(|second| format!(" to {second}")).unwrap_or_default();
    format!("level {}{second}", product.level)
}

fn times(field: &grib::Field<'_>, product: &grib::ProductSection) -> String {
    let valid = Iso8601(product.valid_ms);
    let run = field.reference_ms().map(|run| (product.valid_ms - run) as f64 / 3_600_000.0);
    let ahead = run.map(|hours| format!(" (+{hours} h)")).unwrap_or_default();
    let Some(statistic) = product.statistic else { return format!("{valid}{ahead}") };
    let hours = product.interval_ms as f64 / 3_600_000.0;
    let name = match statistic {
        0 => "average".to_owned(),
        1 => "accumulation".to_owned(),
        2 => "maximum".to_owned(),
        3 => "minimum".to_owned(),
        code => format!("statistic {code}"),
    };
    format!("{valid}{ahead} {name} of {hours} h")
}

fn grid_text(grid: &grib::Grid) -> String {
    let reduced = if grid.is_reduced() { " (reduced)" } else { "" };
    let size = format!("{}×{}", grid.rows(), grid.columns());
    let native = match NativeGrid::try_from(grid) {
        Ok(native) => native,
        Err(error) => return format!("{size} refused: {error}"),
    };
    let map = |projection| match projection {
        Projection::LambertConformal { .. } => "Lambert",
        Projection::PolarStereographic { .. } => "polar stereographic",
        Projection::Mercator { .. } => "Mercator",
    };
    let definition = native.definition();
    let (name, unit) = match definition.projection {
        GridProjection::Map(projection) => (map(projection), "m"),
        GridProjection::Ellipsoid(ellipsoid) => (map(ellipsoid.projection), "m"),
        GridProjection::Globe(LatLonGlobe::LatLon) => ("latitudes and longitudes", "°"),
        GridProjection::Globe(LatLonGlobe::Gaussian { .. }) => ("Gaussian", "°"),
        GridProjection::Globe(LatLonGlobe::RotatedLatLon { .. }) => ("rotated", "°"),
    };
    let step = (definition.column_step.abs() * 1e6).round() / 1e6;
    format!("{size} {name}{reduced} {step} {unit}")
}

fn extremes(field: &grib::Field<'_>) -> Result<String, grib::GribError> {
    let (mut least, mut greatest, mut sum, mut count) =
        (f64::INFINITY, f64::NEG_INFINITY, 0.0, 0_u32);
    let cells = match field.one_value(grib::MAX_POINTS)? {
        Some(value) => vec![value],
        None => field.values(grib::MAX_POINTS)?,
    };
    for value in cells.iter().filter(|value| !value.is_nan()) {
        let value = f64::from(*value);
        (least, greatest) = (least.min(value), greatest.max(value));
        (sum, count) = (sum + value, count + 1);
    }
    if count == 0 {
        return Ok("no values".to_owned());
    }
    let short = |value: f64| value as f32;
    let mean = short(sum / f64::from(count));
    Ok(format!("min {} mean {mean} max {}", short(least), short(greatest)))
}

/// Names the products that take a field: `temperature_2m of gfs, hrrr`.
fn takers(
    catalogue: &model::Catalogue,
    only: Option<&str>,
    takes: impl Fn(&model::SourceProduct) -> bool,
) -> String {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for source in catalogue.iter().filter(|source| only.is_none_or(|name| name == source.name())) {
        for product in source.products().iter().filter(|product| takes(product)) {
            match found.iter_mut().find(|(name, _)| *name == product.name()) {
                Some((_, sources)) => sources.push(source.name()),
                None => found.push((product.name(), vec![source.name()])),
            }
        }
    }
    if found.is_empty() {
        return "not in the catalogue".to_owned();
    }
    let text = |(name, sources): &(&str, Vec<&str>)| format!("{name} of {}", sources.join(", "));
    found.iter().map(text).collect::<Vec<_>>().join("; ")
}

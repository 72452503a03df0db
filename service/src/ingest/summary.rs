//! The summary of an ingest: a table for people, JSON for machines.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use mesonet::feed::Tally;
use mesonet::model::WrittenRun;
use mesonet::store::{Receipt, StoreError};
use mesonet::{Iso8601, feed, model};
use serde::Serialize;
use serde::ser::Serializer;

use crate::files::{Faults, FileFault, FirstFew};
use crate::products::ProductSummary;

/// Number of names of a tally that a table shows.
const MAX_SHOWN: usize = 10;

/// The result of reading files.
#[derive(Debug, Default, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IngestSummary {
    /// By kind of file.
    #[serde(serialize_with = "by_name")]
    #[schema(value_type = BTreeMap<String, KindSummary>)]
    pub kinds: BTreeMap<feed::Kind, KindSummary>,
    /// The result of GRIB2 files.
    #[serde(skip_serializing_if = "ProductSummary::is_empty")]
    #[schema(required = false)]
    pub products: ProductSummary,
    /// The result of GRIB2 files of a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models: Option<model::DeliveryReport>,
    /// Files that were not read because another file of that name has the same content, packed
    /// differently.
    #[serde(skip_serializing_if = "is_zero")]
    pub copies: u64,
    /// Files that could not be read to the end: what was read before is kept. Also readings that
    /// retention refused.
    #[schema(value_type = Faults)]
    pub faults: FirstFew<FileFault>,
    /// Reports of stations whose place is unknown, by network and station: they are left out.
    #[serde(serialize_with = "tally")]
    #[schema(value_type = BTreeMap<String, u64>)]
    pub place_unknown: Tally,
    /// Stations whose place or altitude came only after reports of them, so that their reports were
    /// read a second time.
    #[serde(skip_serializing_if = "is_zero")]
    pub late_stations: u64,
    /// Reports from the future, by network and station: they are left out.
    #[serde(serialize_with = "tally")]
    #[schema(value_type = BTreeMap<String, u64>)]
    pub in_the_future: Tally,
    /// Reports that are more than a kilometre from their stations, by network and station. The
    /// place of a station changes only when another report or a table confirms the new one.
    #[serde(serialize_with = "tally", skip_serializing_if = "is_empty")]
    #[schema(value_type = BTreeMap<String, u64>)]
    pub placed_elsewhere: Tally,
    /// The cutoff of retention, if any readings are from before it. They were not stored.
    #[serde(serialize_with = "instant", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expired_before: Option<i64>,
    /// Why the store failed, if it did. What it took before is kept.
    #[serde(serialize_with = "text", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub store_error: Option<StoreError>,
    /// Why the push key was not enough, if it was not.
    #[serde(skip)]
    pub denied: Option<String>,
    /// How long it took.
    #[serde(rename = "seconds", serialize_with = "seconds")]
    #[schema(value_type = f64)]
    pub took: Duration,
}

/// The result of reading files of one kind.
#[derive(Debug, Default, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PushedKind)]
pub struct KindSummary {
    /// Files that were read to the end.
    pub files: u64,
    /// Reports and alerts in these files, and in files that were not read to the end.
    pub reports: u64,
    /// Readings in these reports.
    pub readings: u64,
    /// The time of the newest report.
    #[serde(skip)]
    pub newest_ms: Option<i64>,
    /// What the store did with the readings and the values derived from them.
    #[serde(flatten)]
    #[schema(inline)]
    pub receipt: Receipt,
    /// Reports that could not be read.
    #[schema(value_type = Faults)]
    pub refused: FirstFew<FileFault>,
    /// Readings kept in their reported unit, by variable and unit.
    #[serde(serialize_with = "tally")]
    #[schema(value_type = BTreeMap<String, u64>)]
    pub kept_as_reported: Tally,
    /// Values without a variable in the service, by the feed's own name.
    #[serde(serialize_with = "tally")]
    #[schema(value_type = BTreeMap<String, u64>)]
    pub without_variable: Tally,
    /// Values that are invalid for their field, by the feed's own name.
    #[serde(serialize_with = "tally")]
    #[schema(value_type = BTreeMap<String, u64>)]
    pub unread_values: Tally,
}

/// The result of reading files, as it is written.
#[derive(Serialize, utoipa::ToSchema)]
#[schema(as = Pushed)]
pub struct Outcome<'a> {
    /// Whether everything was read and stored.
    whole: bool,
    #[serde(flatten)]
    #[schema(inline)]
    summary: &'a IngestSummary,
}

impl KindSummary {
    /// Adds the reader's summary of a file; its reports and readings are counted as they are read.
    pub fn add_file(&mut self, file: &str, of_file: &feed::Summary) {
        for refusal in &of_file.refusals {
            self.refused.add(|| FileFault { file: file.to_owned(), error: refusal.to_string() });
        }
        self.refused.count += of_file.refused - of_file.refusals.len() as u64;
        self.kept_as_reported.merge(&of_file.kept_as_reported);
        self.without_variable.merge(&of_file.without_variable);
        self.unread_values.merge(&of_file.unread_values);
    }
}

impl IngestSummary {
    /// Whether anything was read, so that the result says more than why nothing was.
    pub fn has_result(&self) -> bool {
        self.files() > 0
            || self.total(|kind| kind.reports) > 0
            || self.products.written.count > 0
            || self.models.as_ref().is_some_and(|models| models.used + models.there_already > 0)
    }

    /// Whether every file was read to the end and everything read is in the store.
    pub fn is_whole(&self) -> bool {
        self.faults.count == 0
            && self.store_error.is_none()
            && self.models.as_ref().is_none_or(model::DeliveryReport::is_whole)
    }

    /// The result on one line, for the log.
    pub fn line(&self) -> String {
        let mut parts = Vec::new();
        for (kind, of_kind) in &self.kinds {
            let Receipt { added, replaced, unchanged, .. } = of_kind.receipt;
            let KindSummary { reports, readings, .. } = of_kind;
            parts.push(format!(
                "{kind}: reports {reports}, readings {readings}, added {added}, replaced \
                 {replaced}, unchanged {unchanged}"
            ));
        }
        if let Some(models) = &self.models {
            let model::DeliveryReport { model, used, fields, there_already, .. } = models;
            parts.push(format!("{model}: fields {fields}, used {used}, unchanged {there_already}"));
        }
        let refused = self.total(|kind| kind.refused.count) + self.products.refused.count;
        let refused = refused + self.models.as_ref().map_or(0, |models| models.refused);
        for (count, what) in [
            (self.products.written.count, "raster products written"),
            (self.products.unchanged, "raster products unchanged"),
            (refused, "refused"),
            (self.place_unknown.total(), "reports without a known place"),
            (self.in_the_future.total(), "reports from the future"),
            (self.placed_elsewhere.total(), "reports that place their station elsewhere"),
            (self.faults.count, "faults"),
        ] {
            if count > 0 {
                parts.push(format!("{what}: {count}"));
            }
        }
        if let Some(FileFault { file, error }) = self.faults.first.first() {
            parts.push(format!("{file}: {error}"));
        }
        if let Some(error) = &self.store_error {
            parts.push(format!("the store took nothing more: {error}"));
        }
        if parts.is_empty() { "nothing read".to_owned() } else { parts.join("; ") }
    }

    /// The result as JSON. It also says whether everything was read and stored.
    ///
    /// # Errors
    /// It cannot be serialized.
    pub fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(&Outcome { whole: self.is_whole(), summary: self })
    }

    /// Says that readings from before the cutoff of retention were not stored.
    pub fn note_expired(&mut self, cutoff_ms: i64) {
        let readings = grouped(self.total(|kind| kind.receipt.expired as u64));
        let cutoff = Iso8601(cutoff_ms);
        let error =
            format!("{readings} readings from before {cutoff}, the cutoff, were not stored");
        self.expired_before = Some(cutoff_ms);
        self.faults.add(|| FileFault { file: "retention".to_owned(), error });
    }

    /// Files of which something was read.
    pub fn files(&self) -> u64 {
        let of_models = self.models.as_ref().map_or(0, |models| models.files);
        self.total(|kind| kind.files) + self.products.files + of_models
    }

    /// The sum over all kinds.
    pub fn total(&self, count: impl Fn(&KindSummary) -> u64) -> u64 {
        self.kinds.values().map(count).sum()
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn by_name<S: Serializer>(
    kinds: &BTreeMap<feed::Kind, KindSummary>,
    to: S,
) -> Result<S::Ok, S::Error> {
    to.collect_map(kinds.iter().map(|(kind, of_kind)| (kind.name(), of_kind)))
}

fn is_empty(tally: &Tally) -> bool {
    tally.total() == 0
}

/// Names with their counts. Names beyond the limit are counted together under `…`.
fn tally<S: Serializer>(tally: &Tally, to: S) -> Result<S::Ok, S::Error> {
    let others = (tally.others() > 0).then(|| ("…", tally.others()));
    to.collect_map(tally.iter().chain(others))
}

#[allow(clippy::ref_option, reason = "the signature is serde's")]
fn text<S: Serializer>(error: &Option<StoreError>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_some(&error.as_ref().map(ToString::to_string))
}

#[allow(clippy::ref_option, reason = "the signature is serde's")]
fn instant<S: Serializer>(ts_ms: &Option<i64>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_some(&ts_ms.map(Iso8601))
}

fn seconds<S: Serializer>(took: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64((took.as_secs_f64() * 1e3).round() / 1e3)
}

const COLUMNS: [&str; 10] = [
    "kind",
    "files",
    "reports",
    "readings",
    "added",
    "replaced",
    "unchanged",
    "overtaken",
    "expired",
    "refused",
];

impl fmt::Display for IngestSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(report) = &self.models {
            models(f, report)?;
        } else if !self.kinds.is_empty() || self.products.files == 0 {
            self.readings(f)?;
        }
        self.products(f)?;
        if self.copies > 0 {
            writeln!(f, "files with the same content as another: {}", grouped(self.copies))?;
        }
        if self.late_stations > 0 {
            let late = grouped(self.late_stations);
            writeln!(
                f,
                "stations read a second time because their place or altitude came late: {late}"
            )?;
        }
        names(f, "reports of stations whose place is unknown", &self.place_unknown)?;
        names(f, "reports from the future", &self.in_the_future)?;
        let elsewhere = "reports that place their station elsewhere, which nothing confirms yet";
        names(f, elsewhere, &self.placed_elsewhere)?;
        faults(f, "faults: what could not be read or stored", &self.faults)?;
        if let Some(error) = &self.store_error {
            writeln!(f, "\nthe store took nothing more: {error}")?;
        }
        Ok(())
    }
}

impl IngestSummary {
    /// The result for reports: a table of kinds, and what was left out.
    fn readings(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows = vec![COLUMNS.map(str::to_owned)];
        rows.extend(self.kinds.iter().map(|(kind, of_kind)| of_kind.row(kind.name())));
        let widths: Vec<usize> = (0..COLUMNS.len())
            .map(|column| rows.iter().map(|row| row[column].len()).max().unwrap_or(0))
            .collect();
        for row in &rows {
            write!(f, "{:1$}", row[0], widths[0])?;
            for (text, &width) in row.iter().zip(&widths).skip(1) {
                write!(f, "  {text:>width$}")?;
            }
            writeln!(f)?;
        }
        let (seconds, readings) = (self.took.as_secs_f64(), self.total(|kind| kind.readings));
        let per_second = grouped((readings as f64 / seconds.max(1e-3)) as u64);
        writeln!(f, "{} readings in {seconds:.1} s: {per_second} a second", grouped(readings))?;

        for (kind, of_kind) in &self.kinds {
            names(
                f,
                &format!("{kind}: kept as reported because the unit is uncertain"),
                &of_kind.kept_as_reported,
            )?;
            names(f, &format!("{kind}: values without a variable"), &of_kind.without_variable)?;
            names(f, &format!("{kind}: invalid values"), &of_kind.unread_values)?;
            faults(f, &format!("{kind}: reports that could not be read"), &of_kind.refused)?;
        }
        Ok(())
    }

    /// The result for the fields of GRIB2 files.
    fn products(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProductSummary { written, unchanged, other_fields, refused, .. } = &self.products;
        if written.count > 0 {
            writeln!(f, "raster products written: {}", grouped(written.count))?;
        }
        for product in written.first.iter().take(MAX_SHOWN) {
            writeln!(f, "  {product}")?;
        }
        if written.count > MAX_SHOWN as u64 {
            writeln!(f, "  …")?;
        }
        if *unchanged > 0 {
            writeln!(f, "raster products unchanged: {}", grouped(*unchanged))?;
        }
        if *other_fields > 0 {
            writeln!(f, "fields that belong to no product: {}", grouped(*other_fields))?;
        }
        faults(f, "fields that could not be made into a product", refused)
    }
}

/// The result for the fields of a model: the products of each run, and what was left out.
fn models(f: &mut fmt::Formatter<'_>, report: &model::DeliveryReport) -> fmt::Result {
    for WrittenRun { run, hours, of_hours, products } in &report.runs {
        let hours = hours.len();
        writeln!(f, "{} {run}: {hours} of {of_hours} hours", report.model)?;
        for product in products {
            writeln!(f, "  {}", ProductLine(product))?;
        }
    }
    for run in &report.removed {
        writeln!(f, "removed because newer runs are kept: {run}")?;
    }
    if let Some(error) = &report.retention_error {
        writeln!(f, "old runs could not be removed: {error}")?;
    }
    let model::DeliveryReport {
        fields, used, other_fields, replaced, there_already, refused, ..
    } = *report;
    write!(f, "fields: {} used of {}", grouped(used), grouped(fields))?;
    for (count, what) in [
        (other_fields, "of no product"),
        (replaced, "replaced by later ones"),
        (there_already, "unchanged"),
        (refused, "refused"),
    ] {
        if count > 0 {
            write!(f, ", {} {what}", grouped(count))?;
        }
    }
    writeln!(f)?;
    for refusal in report.refusals.iter().take(MAX_SHOWN) {
        writeln!(f, "  {}, {refusal}", refusal.file)?;
    }
    if report.refusals.len() > MAX_SHOWN {
        writeln!(f, "  …")?;
    }
    Ok(())
}

/// A product of a run on one line.
struct ProductLine<'a>(&'a model::WrittenProduct);

impl fmt::Display for ProductLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model::WrittenProduct { name, unit, fields, packing_error, .. } = self.0;
        let fields = if *fields == 1 { "1 field".into() } else { grouped(*fields) + " fields" };
        write!(f, "{name}: {fields}, ")?;
        match packing_error {
            0.0 => f.write_str("packed exactly")?,
            error => write!(f, "packed within {error:.2e} {unit}")?,
        }
        if self.0.missing_levels > 0 {
            write!(f, ", {} levels missing", grouped(self.0.missing_levels))?;
        }
        Ok(())
    }
}

impl KindSummary {
    fn row(&self, name: &str) -> [String; COLUMNS.len()] {
        let Receipt { added, replaced, unchanged, overtaken, expired, revised: _ } = self.receipt;
        let stored = [added, replaced, unchanged, overtaken, expired];
        let [added, replaced, unchanged, overtaken, expired] =
            stored.map(|count| grouped(count as u64));
        let [files, reports, readings] = [self.files, self.reports, self.readings].map(grouped);
        let refused = grouped(self.refused.count);
        let name = name.to_owned();
        [name, files, reports, readings, added, replaced, unchanged, overtaken, expired, refused]
    }
}

fn names(f: &mut fmt::Formatter<'_>, title: &str, tally: &Tally) -> fmt::Result {
    if tally.total() == 0 {
        return Ok(());
    }
    writeln!(f, "\n{title}: {}", grouped(tally.total()))?;
    let mut counts: Vec<_> = tally.iter().collect();
    counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    for (name, count) in counts.iter().take(MAX_SHOWN) {
        writeln!(f, "  {name}: {}", grouped(*count))?;
    }
    let rest = counts.iter().skip(MAX_SHOWN).map(|&(_, count)| count).sum::<u64>() + tally.others();
    if rest > 0 {
        writeln!(f, "  …: {}", grouped(rest))?;
    }
    Ok(())
}

fn faults(f: &mut fmt::Formatter<'_>, title: &str, faults: &FirstFew<FileFault>) -> fmt::Result {
    if faults.count == 0 {
        return Ok(());
    }
    writeln!(f, "\n{title}: {}", grouped(faults.count))?;
    for FileFault { file, error } in faults.first.iter().take(MAX_SHOWN) {
        writeln!(f, "  {file}: {error}")?;
    }
    if faults.count > MAX_SHOWN as u64 {
        writeln!(f, "  …")?;
    }
    Ok(())
}

/// A count with thousands separators: 31,677.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        for (count, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (31_677_000, "31,677,000")]
        {
            assert_eq!(grouped(count), text);
        }
    }

    #[test]
    fn the_table_shows_the_most_frequent_names_and_the_first_faults() {
        let mut summary =
            IngestSummary { took: Duration::from_secs(2), ..IngestSummary::default() };
        let of_kind = summary.kinds.entry(feed::Kind::AwcCsv).or_default();
        (of_kind.files, of_kind.reports, of_kind.readings) = (1, 1_200, 10_000);
        let (unchanged, overtaken, expired, revised) = (7, 1, 4, 3);
        let receipt =
            Receipt { added: 11_000, replaced: 2, unchanged, overtaken, expired, revised };
        of_kind.receipt += receipt;
        for number in 0..12 {
            of_kind.without_variable.add(&format!("name{number:02}"));
        }
        of_kind.without_variable.add("name11");
        summary.faults.add(|| FileFault { file: "a.gz".into(), error: "cut".into() });
        assert!(!summary.is_whole());
        let text = summary.to_string();
        assert_eq!(
            text,
            "kind     files  reports  readings   added  replaced  unchanged  overtaken  expired  \
             refused\n\
             awc-csv      1    1,200    10,000  11,000         2          7          1        4  \
             \x20     0\n\
             10,000 readings in 2.0 s: 5,000 a second\n\n\
             awc-csv: values without a variable: 13\n  name11: 2\n  name00: 1\n  name01: 1\n  \
             name02: 1\n  name03: 1\n  name04: 1\n  name05: 1\n  name06: 1\n  name07: 1\n  \
             name08: 1\n  …: 2\n\n\
             faults: what could not be read or stored: 1\n  a.gz: cut\n"
        );
        let json = serde_json::to_value(&summary).unwrap();
        assert_eq!(json["kinds"]["awc-csv"]["added"], 11_000);
        assert_eq!(json["kinds"]["awc-csv"]["withoutVariable"]["name11"], 2);
        assert_eq!(json["faults"]["first"][0]["file"], "a.gz");
        assert_eq!(json["seconds"], 2.0);
        assert_eq!(json.get("storeError"), None);
    }
}

//! The summary of an ingest, as JSON for machines and on one line for the log. For people it is a
//! table: see `summary_table`.

use std::collections::BTreeMap;
use std::time::Duration;

use mesonet::feed::Tally;
use mesonet::store::{Receipt, StoreError};
use mesonet::{Iso8601, feed, model};
use serde::Serialize;
use serde::ser::Serializer;

use crate::files::{Faults, FileFault, FirstFew};
use crate::products::ProductSummary;

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
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expired_before: Option<Iso8601>,
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
    /// The texts of the first of them.
    #[serde(skip)]
    pub refused_reports: Vec<RefusedReport>,
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

/// A report that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedReport {
    /// The file, as it is shown.
    pub file: String,
    /// Where it is in the file, and why it was left out.
    pub reason: String,
    /// Its text, at most [`feed::MAX_REFUSED_BYTES`] of it.
    pub text: String,
}

/// How many refused reports of a kind are kept with their texts.
const MAX_REFUSED: usize = 200;

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
            let reason = || format!("{}: {}", refusal.place, refusal.reason);
            self.keep_refused(file, reason, &refusal.text);
        }
        self.refused.count += of_file.refused - of_file.refusals.len() as u64;
        self.kept_as_reported.merge(&of_file.kept_as_reported);
        self.without_variable.merge(&of_file.without_variable);
        self.unread_values.merge(&of_file.unread_values);
    }

    /// Keeps the beginning of a file that gave nothing, as a report that was refused.
    pub fn keep_refused_file(&mut self, file: &str, reason: &str, start: &[u8]) {
        let start = &start[..start.len().min(feed::MAX_REFUSED_BYTES)];
        self.keep_refused(file, || reason.to_owned(), &String::from_utf8_lossy(start));
    }

    fn keep_refused(&mut self, file: &str, reason: impl FnOnce() -> String, text: &str) {
        if self.refused_reports.len() < MAX_REFUSED {
            let (file, text) = (file.to_owned(), text.to_owned());
            self.refused_reports.push(RefusedReport { file, reason: reason(), text });
        }
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
        self.expired_before = Some(cutoff);
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

fn seconds<S: Serializer>(took: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64((took.as_secs_f64() * 1e3).round() / 1e3)
}

/// A count with thousands separators: 31,677.
pub(super) fn grouped(count: u64) -> String {
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
}

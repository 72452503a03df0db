//! The summary of an ingest as a table for people.

use std::fmt;

use mesonet::feed::Tally;
use mesonet::model;
use mesonet::model::WrittenRun;
use mesonet::store::Receipt;

use super::summary::{IngestSummary, KindSummary, grouped};
use crate::files::{FileFault, FirstFew};
use crate::products::{ProductSummary, packed_within};

/// Number of names of a tally that a table shows.
const MAX_SHOWN: usize = 10;

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
            written_product(f, product)?;
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
fn written_product(f: &mut fmt::Formatter<'_>, product: &model::WrittenProduct) -> fmt::Result {
    let model::WrittenProduct { name, unit, fields, packing_error, .. } = product;
    let fields = if *fields == 1 { "1 field".into() } else { grouped(*fields) + " fields" };
    write!(f, "  {name}: {fields}, {}", packed_within(*packing_error, unit))?;
    if product.missing_levels > 0 {
        write!(f, ", {} levels missing", grouped(product.missing_levels))?;
    }
    writeln!(f)
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mesonet::feed;

    use super::*;

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

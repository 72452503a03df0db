//! METAR and SPECI reports: one with all its groups, and files of them as columns of readings.

use mesonet::feed::metar::Decoded;
use mesonet::feed::{
    FileContext, Kind, MetarItem, ReadingColumns, ReportRow, Summary, metar_feed_report,
    read_awc_csv, read_awc_xml, read_bulletins,
};
use mesonet::observation::Qualifier;
use mesonet::{IntervalType, LonLat, Variable};
use wasm_bindgen::prelude::*;

use crate::flat::Flat;

/// Reads reports.
#[wasm_bindgen]
#[derive(Default)]
pub struct MetarReader(Flat);

#[wasm_bindgen]
impl MetarReader {
    /// A reader for any number of reports.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// The address of the groups of a report, its time and its line of English: see `flat.rs`. The
    /// time follows from any time within two weeks of its receipt, and is NaN without.
    pub fn read(&mut self, text: &str, received_ms: f64) -> Result<usize, JsError> {
        let report = Decoded::parse(text)?;
        let received_ms = Some(received_ms).filter(|ms| !ms.is_nan());
        self.0.set(&report)?;
        self.0.add(received_ms.map_or(f64::NAN, |ms| report.time_ms(ms as i64) as f64));
        self.0.add_text(&report)?;
        Ok(self.0.address())
    }
}

/// The readings of a file of reports, a column for each method.
#[wasm_bindgen]
pub struct MetarColumns {
    columns: ReadingColumns,
    summary: Summary,
    kind: Kind,
}

#[wasm_bindgen]
impl MetarColumns {
    /// Reads a file.
    #[wasm_bindgen(constructor)]
    pub fn new(content: &[u8], received_ms: f64) -> Result<Self, JsError> {
        let mut columns = ReadingColumns::default();
        let received_ms = received_ms as i64;
        let file = FileContext::new("", received_ms);
        let visit: &mut dyn FnMut(MetarItem<'_>) =
            &mut |item| columns.extend([&metar_feed_report(item, &file)]);
        // The kind's own reader is not used: it would bring the readers of all kinds into the
        // module.
        let kind = Kind::detect("", content);
        let (kind, summary) = match kind {
            Some(kind @ Kind::AwcCsv) => (kind, read_awc_csv(content, visit)),
            Some(kind @ Kind::AwcXml) => (kind, read_awc_xml(content, visit)),
            Some(kind @ Kind::MetarBulletin) => (kind, read_bulletins(content, received_ms, visit)),
            other => return Err(JsError::new(&refusal(other))),
        };
        Ok(Self { columns, summary: summary?, kind })
    }

    /// Name of the kind of the file.
    pub fn kind(&self) -> String {
        self.kind.name().to_owned()
    }

    /// Reports that were read.
    pub fn read(&self) -> f64 {
        self.summary.read as f64
    }

    /// Reports that were left out.
    pub fn refused(&self) -> f64 {
        self.summary.refused as f64
    }

    /// Where the first of the reports left out are, and why they were left out.
    pub fn refusals(&self) -> Vec<String> {
        self.summary.refusals.iter().map(ToString::to_string).collect()
    }

    /// Groups of the reports that could not be read.
    pub fn unread_groups(&self) -> f64 {
        self.summary.unread_values.total() as f64
    }

    /// Ids of the stations.
    pub fn stations(&self) -> Vec<String> {
        self.columns.stations.all().to_vec()
    }

    /// Symbols of the units.
    pub fn units(&self) -> Vec<String> {
        self.columns.units.all().to_vec()
    }

    /// Labels of the buckets.
    pub fn buckets(&self) -> Vec<String> {
        self.columns.buckets.all().to_vec()
    }

    /// Names of all variables, by their codes.
    pub fn variables() -> Vec<String> {
        Variable::ALL.iter().map(|variable| variable.name().to_owned()).collect()
    }

    /// Names of all types of intervals, by their codes.
    pub fn interval_types() -> Vec<String> {
        IntervalType::ALL.map(|kind| kind.name().to_owned()).into()
    }

    /// Names of all qualifiers; the code of the first is 1.
    pub fn qualifiers() -> Vec<String> {
        Qualifier::ALL.map(|qualifier| qualifier.name().to_owned()).into()
    }

    /// The place of each reading's station among the stations.
    pub fn station(&self) -> Vec<u32> {
        self.of_reports(|report| report.station)
    }

    /// Times, milliseconds since 1970.
    pub fn ts_ms(&self) -> Vec<f64> {
        self.of_reports(|report| report.ts_ms as f64)
    }

    /// Degrees; NaN where the file has no place.
    pub fn lat(&self) -> Vec<f64> {
        self.of_reports(|report| report.place.map_or(f64::NAN, LonLat::lat))
    }

    /// Degrees; NaN where the file has no place.
    pub fn lon(&self) -> Vec<f64> {
        self.of_reports(|report| report.place.map_or(f64::NAN, LonLat::lon))
    }

    /// Metres; NaN where the file has none.
    pub fn altitude_m(&self) -> Vec<f64> {
        self.of_reports(|report| report.altitude_m.unwrap_or(f64::NAN))
    }

    /// Numbers of the corrections.
    pub fn revision(&self) -> Vec<u8> {
        self.of_reports(|report| report.revision)
    }

    /// Codes of the variables.
    pub fn variable(&self) -> Vec<u8> {
        self.columns.variables.iter().map(|variable| *variable as u8).collect()
    }

    /// The values.
    pub fn value(&self) -> Vec<f64> {
        self.columns.values.clone()
    }

    /// The place of each value's unit among the units.
    pub fn unit(&self) -> Vec<u32> {
        self.columns.unit_places.clone()
    }

    /// Codes of the types of intervals.
    pub fn interval_type(&self) -> Vec<u8> {
        self.columns.interval_types.iter().map(|kind| *kind as u8).collect()
    }

    /// Lengths of averaging or accumulation in minutes.
    pub fn interval_minutes(&self) -> Vec<i32> {
        self.columns.interval_minutes.clone()
    }

    /// Codes of the qualifiers; 0 where there is none.
    pub fn qualifier(&self) -> Vec<u8> {
        self.columns.qualifiers.iter().map(|qualifier| Qualifier::code(*qualifier)).collect()
    }

    /// The place of each reading's bucket among the buckets.
    pub fn bucket(&self) -> Vec<u32> {
        self.columns.bucket_places.clone()
    }

    /// 1 where a value was derived.
    pub fn calculated(&self) -> Vec<u8> {
        self.columns.calculated.iter().map(|calculated| u8::from(*calculated)).collect()
    }
}

impl MetarColumns {
    /// A column of the reports, repeated for each of their readings.
    fn of_reports<T: Copy>(&self, of: impl Fn(&ReportRow) -> T) -> Vec<T> {
        let mut all = Vec::with_capacity(self.columns.values.len());
        for report in &self.columns.reports {
            all.extend(std::iter::repeat_n(of(report), report.readings));
        }
        all
    }
}

fn refusal(kind: Option<Kind>) -> String {
    let of =
        kind.map_or_else(|| "its kind is unknown".to_owned(), |kind| format!("its kind is {kind}"));
    let [csv, xml, bulletin] = [Kind::AwcCsv, Kind::AwcXml, Kind::MetarBulletin].map(Kind::name);
    format!("content: {of}; readMetars reads {csv}, {xml}, {bulletin}")
}

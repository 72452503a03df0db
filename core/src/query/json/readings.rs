//! Writes an answer of readings.

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::sync::Arc;

use super::verdict::VerdictMembers;
use crate::observation::StationId;
use crate::query::{AnswerForm, AnswerReading, Away, Readings};
use crate::time::{InstantWriter, LocalClock};

/// Writes an answer of readings as JSON.
///
/// ```
/// use mesonet::query::json::ReadingsWriter;
/// use mesonet::query::{Caps, ReadingsQuery, readings};
/// use mesonet::{ClosedWindow, MemoryStore, Variable};
/// let query = ReadingsQuery::new(ClosedWindow::new(0, 1)?, [Variable::Mslp]);
/// let answer = readings(&MemoryStore::default(), &query, Caps::default())?;
/// let mut text = Vec::new();
/// let mut writer = ReadingsWriter::new(answer);
/// assert!(writer.held_bytes() < 64 * 1024);
/// // Here a piece would go on its way, and the next one would be written.
/// while !writer.write(&mut text, 64 * 1024)? {}
/// assert_eq!(text, br#"{"stations":{}}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ReadingsWriter {
    answer: Readings,
    /// From the end of the timestamp to the value, by series.
    series: Vec<Vec<u8>>,
    /// From the end of the value to the end of the verdict.
    verdicts: &'static VerdictMembers,
    instants: InstantWriter,
    away: HashMap<StationId, Away>,
    form: AnswerForm,
    /// The clock of the station that is being written.
    clock: Option<Arc<LocalClock>>,
    local_instants: InstantWriter,
    /// Next station and cell to write.
    station: usize,
    cell: usize,
}

/// Between the series and the value of a reading.
const VALUE: &[u8] = b",\"value\":";

/// Between an instant and its local time.
pub(super) const LOCAL: &[u8] = b"\",\"localTimestamp\":\"";

/// A text as it stands between the quotes of JSON. A unit is a text from a source.
pub(super) fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

impl ReadingsWriter {
    /// Creates a writer for an answer.
    pub fn new(answer: Readings) -> Self {
        let series = answer.series.iter().map(|series| {
            format!("\",\"type\":\"{}\",\"typeId\":{},\"value\":", series.key.variable, series.id)
        });
        Self {
            series: series.map(String::into_bytes).collect(),
            verdicts: VerdictMembers::of_all(),
            instants: InstantWriter::default(),
            answer,
            away: HashMap::new(),
            form: AnswerForm::default(),
            clock: None,
            local_instants: InstantWriter::default(),
            station: 0,
            cell: 0,
        }
    }

    /// Writes the distance and the bearing of stations before their readings.
    #[must_use]
    pub fn with_distances(self, away: HashMap<StationId, Away>) -> Self {
        Self { away, ..self }
    }

    /// Writes the answer in other units, or with local times.
    ///
    /// ```
    /// # use mesonet::{Intake, MemoryStore, intake::FeedFile};
    /// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
    /// #     CYYZ 032000Z 24012KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
    /// # let store = MemoryStore::default();
    /// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
    /// // The store has one report of Toronto Pearson: 29 °C.
    /// use mesonet::query::json::ReadingsWriter;
    /// use mesonet::query::{AnswerForm, AnswerUnits, Caps, ReadingsQuery, UnitSystem, readings};
    /// use mesonet::Variable;
    /// let query = ReadingsQuery::latest(vec![Variable::AirTemperature], 1_722_715_200_000, 1)?;
    /// let answer = readings(&store, &query, Caps::default())?;
    /// let units = Some(AnswerUnits::of(UnitSystem::Us));
    /// let mut text = Vec::new();
    /// ReadingsWriter::new(answer)
    ///     .in_form(AnswerForm { units, clock: None })
    ///     .write(&mut text, usize::MAX)?;
    /// assert!(String::from_utf8(text)?.contains(r#""unit":"°F","value":84.2"#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn in_form(mut self, form: AnswerForm) -> Self {
        if form.units.is_some() {
            let units: Vec<_> = self.answer.series.iter().map(|of| form.unit(&of.key)).collect();
            for cell in &mut self.answer.cells {
                cell.value = units[cell.series as usize].value(cell.value);
            }
            for (text, unit) in self.series.iter_mut().zip(&units) {
                text.truncate(text.len() - VALUE.len());
                text.extend_from_slice(b",\"unit\":\"");
                text.extend_from_slice(escaped(unit.symbol()).as_bytes());
                text.push(b'"');
                text.extend_from_slice(VALUE);
            }
        }
        Self { form, ..self }
    }

    /// Returns how many bytes of memory the answer takes.
    pub fn held_bytes(&self) -> usize {
        self.answer.cells.capacity() * size_of::<AnswerReading>()
            + self.answer.stations.capacity() * size_of::<(StationId, usize)>()
    }

    /// Continues writing until the text is at least `until_bytes` long or the answer ends; returns
    /// whether it ended.
    ///
    /// # Errors
    /// `serde_json` cannot write the end of the answer.
    pub fn write(&mut self, text: &mut Vec<u8>, until_bytes: usize) -> io::Result<bool> {
        if self.station == 0 && self.cell == 0 {
            text.extend_from_slice(b"{\"stations\":{");
        }
        // A station of an answer has at least one cell.
        while let Some(&(id, end)) = self.answer.stations.get(self.station) {
            let start = self.station.checked_sub(1).map_or(0, |at| self.answer.stations[at].1);
            if self.cell > start || self.station > 0 {
                text.push(b',');
            }
            if self.cell == start {
                write!(text, "\"{id}\":{{")?;
                if let Some(away) = self.away.get(&id) {
                    write!(text, "{away},")?;
                }
                self.clock = self.form.clock_of(id).cloned();
                if let Some(clock) = &self.clock {
                    write!(text, "\"timeZone\":\"{}\",", escaped(clock.name()))?;
                }
                text.extend_from_slice(b"\"readings\":[");
            }
            self.write_cell(text);
            self.cell += 1;
            if self.cell == end {
                text.extend_from_slice(b"]}");
                self.station += 1;
            }
            if text.len() >= until_bytes {
                return Ok(false);
            }
        }
        text.push(b'}');
        if let Some(step) = self.answer.step {
            write!(text, ",\"step\":{}", step.minutes())?;
        }
        if let Some(coarsening) = &self.answer.coarsening {
            text.extend_from_slice(b",\"coarsening\":");
            serde_json::to_writer(&mut *text, coarsening)?;
        }
        text.push(b'}');
        Ok(true)
    }

    fn write_cell(&mut self, text: &mut Vec<u8>) {
        let AnswerReading { ts_ms, value, series, age_s, quality, qualifier } =
            self.answer.cells[self.cell];
        text.extend_from_slice(b"{\"timestamp\":\"");
        self.instants.write(ts_ms, text);
        if let Some(clock) = &self.clock {
            text.extend_from_slice(LOCAL);
            clock.write(ts_ms, &mut self.local_instants, text);
        }
        text.extend_from_slice(&self.series[series as usize]);
        // A store holds finite values only.
        text.extend_from_slice(zmij::Buffer::new().format(value).as_bytes());
        self.verdicts.write(quality, qualifier, text);
        if self.answer.step.is_some() {
            text.extend_from_slice(b",\"age\":");
            text.extend_from_slice(itoa::Buffer::new().format(age_s).as_bytes());
        }
        text.push(b'}');
    }
}

#[cfg(test)]
#[path = "readings_tests.rs"]
mod tests;

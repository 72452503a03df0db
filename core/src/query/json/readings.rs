//! Writes an answer of readings.

use std::collections::HashMap;
use std::io::{self, Write as _};

use super::verdict::VerdictMembers;
use crate::observation::StationId;
use crate::query::{AnswerReading, Away, Readings};
use crate::time::InstantWriter;

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
    /// Next station and cell to write.
    station: usize,
    cell: usize,
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
            station: 0,
            cell: 0,
        }
    }

    /// Writes the distance and the bearing of stations before their readings.
    #[must_use]
    pub fn with_distances(self, away: HashMap<StationId, Away>) -> Self {
        Self { away, ..self }
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

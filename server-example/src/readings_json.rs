//! Writes an answer of readings as JSON, piece by piece and without a tree in between.
//!
//! The bytes are those of `serde_json::to_vec` on the same answer, at a fifth of the time: what is
//! the same in every reading of a series, and in every verdict, is put into words once.

use std::io::{self, Write as _};

use mesonet::{BaseQuality, Cell, InstantWriter, Quality, Readings, ReasonQuality, StationId};

/// The state of an answer that is being written.
#[derive(Debug)]
pub struct ReadingsWriter {
    answer: Readings,
    /// From the end of the timestamp to the value, by series.
    series: Vec<Vec<u8>>,
    /// From the end of the value to the end of the verdict, by base code and reason.
    quality: Vec<Vec<u8>>,
    instants: InstantWriter,
    /// Next station and cell to write.
    station: usize,
    cell: usize,
}

const REASONS: usize = ReasonQuality::ALL.len();

impl ReadingsWriter {
    /// A writer of an answer.
    pub fn new(answer: Readings) -> Self {
        let series = answer.series.iter().map(|series| {
            format!("\",\"type\":\"{}\",\"typeId\":{},\"value\":", series.key.variable, series.id)
        });
        let quality = BaseQuality::ALL.into_iter().flat_map(|base| {
            ReasonQuality::ALL.into_iter().map(move |reason| {
                format!(
                    ",\"quality\":{{\"baseQuality\":\"{base}\",\"reasonQuality\":\"{reason}\"}}"
                )
            })
        });
        Self {
            series: series.map(String::into_bytes).collect(),
            quality: quality.map(String::into_bytes).collect(),
            instants: InstantWriter::default(),
            answer,
            station: 0,
            cell: 0,
        }
    }

    /// Memory of the answer.
    pub fn held_bytes(&self) -> usize {
        self.answer.cells.capacity() * size_of::<Cell>()
            + self.answer.stations.capacity() * size_of::<(StationId, usize)>()
    }

    /// Writes on until the text is at least so many bytes long or the answer is at its end, and
    /// tells whether it is.
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
            match (self.cell == start, self.station) {
                (true, 0) => write!(text, "\"{id}\":{{\"readings\":[")?,
                (true, _) => write!(text, ",\"{id}\":{{\"readings\":[")?,
                (false, _) => text.push(b','),
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
        let Cell { ts_ms, value, series, age_s, quality: Quality { base, reason } } =
            self.answer.cells[self.cell];
        text.extend_from_slice(b"{\"timestamp\":\"");
        self.instants.write(ts_ms, text);
        text.extend_from_slice(&self.series[series as usize]);
        // A store holds finite values only.
        text.extend_from_slice(zmij::Buffer::new().format(value).as_bytes());
        text.extend_from_slice(&self.quality[base as usize * REASONS + reason as usize]);
        if self.answer.step.is_some() {
            text.extend_from_slice(b",\"age\":");
            text.extend_from_slice(itoa::Buffer::new().format(age_s).as_bytes());
        }
        text.push(b'}');
    }
}

#[cfg(test)]
#[path = "readings_json_tests.rs"]
mod tests;

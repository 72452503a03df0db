//! The fields of a line of comma-separated values, in bounded memory.

use csv_core::{ReadRecordResult, Reader};

use super::lines::Line;
use crate::feed::summary::RefusalReason;

/// Longest line that is read; no line of the 72,000 sample reports exceeds 600 bytes.
pub(in crate::feed) const MAX_LINE_BYTES: usize = 16 * 1024;
/// Maximum number of fields in a line; the widest real table has 44 columns.
pub(in crate::feed) const MAX_FIELDS: usize = 128;

/// The fields of one line, unquoted.
pub(in crate::feed) struct CsvRow {
    reader: Reader,
    text: Vec<u8>,
    ends: Vec<usize>,
    count: usize,
}

impl CsvRow {
    pub(in crate::feed) fn new() -> Self {
        // One byte more than the longest line: a full buffer then means a fault, not a full line.
        Self {
            reader: Reader::new(),
            text: vec![0; MAX_LINE_BYTES + 1],
            ends: vec![0; MAX_FIELDS],
            count: 0,
        }
    }

    pub(in crate::feed) fn split(&mut self, line: Line<'_>) -> Result<(), RefusalReason> {
        self.count = 0;
        if line.cut {
            return Err(RefusalReason::TooLong { limit: MAX_LINE_BYTES });
        }
        // An open quote ends with its line, so it cannot swallow the rest of the file.
        self.reader.reset();
        let (mut input, mut written, mut count) = (line.bytes, 0, 0);
        loop {
            let (text, ends) = (&mut self.text[written..], &mut self.ends[count..]);
            let (result, used, text_used, ends_used) = self.reader.read_record(input, text, ends);
            input = &input[used..];
            (written, count) = (written + text_used, count + ends_used);
            match result {
                // The input is used up; reading from empty input ends the record.
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::Record | ReadRecordResult::End => break,
                ReadRecordResult::OutputFull => {
                    return Err(RefusalReason::TooLong { limit: MAX_LINE_BYTES });
                }
                ReadRecordResult::OutputEndsFull => {
                    return Err(RefusalReason::TooManyFields { limit: MAX_FIELDS });
                }
            }
        }
        self.count = count;
        Ok(())
    }

    pub(in crate::feed) fn fields(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.count).map(|at| self.field(Some(at)))
    }

    /// A field; empty if the row has none at that position.
    pub(in crate::feed) fn field(&self, at: Option<usize>) -> &[u8] {
        let Some(at) = at.filter(|&at| at < self.count) else { return &[] };
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.text[start..self.ends[at]]
    }
}

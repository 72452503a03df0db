//! The fields of a line of comma-separated values, in bounded memory.

use csv_core::{ReadRecordResult, Reader};

use super::lines::Line;
use crate::feed::summary::RefusalReason;

/// Longest line that is read; no line of the 72,000 sample reports exceeds 600 bytes.
pub(in crate::feed) const MAX_LINE_BYTES: usize = 16 * 1024;
/// Maximum number of fields in a line; the widest real tables, NCEI's hourly data, have some 130.
pub(in crate::feed) const MAX_FIELDS: usize = 256;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The fields of one line, unquoted.
pub(in crate::feed) struct CsvRow {
    reader: Reader,
    text: Vec<u8>,
    ends: Vec<usize>,
    count: usize,
    /// Bytes between the fields in `text`: the comma, if the line was taken unchanged.
    between: usize,
}

impl CsvRow {
    pub(in crate::feed) fn new() -> Self {
        // One byte more than the longest line: a full buffer then means a fault, not a full line.
        Self {
            reader: Reader::new(),
            text: vec![0; MAX_LINE_BYTES + 1],
            ends: vec![0; MAX_FIELDS],
            count: 0,
            between: 0,
        }
    }

    pub(in crate::feed) fn split(&mut self, line: Line<'_>) -> Result<(), RefusalReason> {
        self.count = 0;
        if line.cut {
            return Err(RefusalReason::TooLong { limit: MAX_LINE_BYTES });
        }
        if let Some(count) = self.split_plain(line.bytes) {
            (self.count, self.between) = (count, 1);
            return Ok(());
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
        (self.count, self.between) = (count, 0);
        Ok(())
    }

    /// Splits a line in which only the commas mean anything, in half the time; `None` for others.
    fn split_plain(&mut self, line: &[u8]) -> Option<usize> {
        let is_plain = !line.is_empty()
            && !line.starts_with(BYTE_ORDER_MARK)
            && !line.iter().any(|byte| matches!(byte, b'"' | b'\r'));
        if !is_plain {
            return None;
        }
        self.text[..line.len()].copy_from_slice(line);
        let commas = line.iter().enumerate().filter(|(_, byte)| **byte == b',').map(|(at, _)| at);
        let mut count = 0;
        for end in commas.chain([line.len()]) {
            *self.ends.get_mut(count)? = end;
            count += 1;
        }
        // The reader decides about a full row.
        (count < MAX_FIELDS).then_some(count)
    }

    pub(in crate::feed) fn fields(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.count).map(|at| self.field(Some(at)))
    }

    /// A field; empty if the row has none at that position.
    pub(in crate::feed) fn field(&self, at: Option<usize>) -> &[u8] {
        let Some(at) = at.filter(|&at| at < self.count) else { return &[] };
        let start = if at == 0 { 0 } else { self.ends[at - 1] + self.between };
        &self.text[start..self.ends[at]]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fields(row: &CsvRow) -> Vec<Vec<u8>> {
        row.fields().map(<[u8]>::to_vec).collect()
    }

    proptest! {
        /// A plain line has the same fields as the general reader finds.
        #[test]
        fn plain_lines_are_split_as_by_the_reader(line in "[a,é \r\u{feff}\"]{0,12}|(a?,){250,260}") {
            let of = |bytes| Line { number: 1, bytes, cut: false };
            let mut row = CsvRow::new();
            let split = row.split(of(line.as_bytes()));
            // A quoted field behind it sends the line to the reader.
            let mut by_reader = CsvRow::new();
            let quoted = format!("{line},\"\"");
            let is_split = by_reader.split(of(quoted.as_bytes())).is_ok();
            // The reader finds no field in a line without text, and one before the quotes.
            let is_empty = line.is_empty() || line == "\u{feff}";
            let ends_early = line.contains(['\r', '"']) || is_empty;
            if is_split && !ends_early {
                prop_assert_eq!(split, Ok(()));
                let mut expected = fields(&by_reader);
                expected.pop();
                prop_assert_eq!(fields(&row), expected);
            }
        }
    }

    #[test]
    fn a_row_of_as_many_fields_as_there_may_be_is_read_and_one_of_more_is_refused() {
        let line = |fields: usize, quote: &str| ["a"; MAX_FIELDS + 1][..fields].join(",") + quote;
        for fields in [MAX_FIELDS - 1, MAX_FIELDS, MAX_FIELDS + 1] {
            let [plain, quoted] = ["", ",\"\""].map(|quote| {
                let line = line(fields - usize::from(!quote.is_empty()), quote);
                let mut row = CsvRow::new();
                row.split(Line { number: 1, bytes: line.as_bytes(), cut: false })
                    .map(|()| row.count)
            });
            assert_eq!(plain, quoted, "{fields} fields");
        }
    }
}

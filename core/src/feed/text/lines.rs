//! Lines of a stream, in bounded memory.

use std::io::{self, BufRead, Read};

/// The lines of a stream; the part of a line beyond the limit is dropped.
pub(in crate::feed) struct Lines<R> {
    input: R,
    limit: usize,
    line: Vec<u8>,
    number: u64,
}

/// One line, without its end.
#[derive(Clone, Copy, Debug)]
pub(in crate::feed) struct Line<'a> {
    /// Its number, starting at 1.
    pub(in crate::feed) number: u64,
    /// Its bytes, up to the limit.
    pub(in crate::feed) bytes: &'a [u8],
    /// Whether it is longer than the limit.
    pub(in crate::feed) cut: bool,
}

impl<R: BufRead> Lines<R> {
    pub(in crate::feed) fn new(input: R, limit: usize) -> Self {
        Self { input, limit, line: Vec::new(), number: 0 }
    }

    /// The next line; `None` at the end of the stream.
    pub(in crate::feed) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        let mut bounded = self.input.by_ref().take(self.limit as u64 + 1);
        if bounded.read_until(b'\n', &mut self.line)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        let ended = self.line.last() == Some(&b'\n');
        let cut = !ended && self.line.len() > self.limit;
        if cut {
            self.line.truncate(self.limit);
            self.input.skip_until(b'\n')?;
        }
        let end = self.line.iter().rposition(|byte| !matches!(byte, b'\r' | b'\n'));
        let bytes = &self.line[..end.map_or(0, |last| last + 1)];
        Ok(Some(Line { number: self.number, bytes, cut }))
    }

    /// The next line that is not empty. Empty lines, of which a compressed file can hold a thousand
    /// per byte, are skipped many at a time.
    pub(in crate::feed) fn next_filled(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            let ahead = match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                ahead => ahead?,
            };
            let empty = ahead.iter().position(|byte| *byte != b'\n').unwrap_or(ahead.len());
            if empty == 0 {
                return self.next();
            }
            self.number += empty as u64;
            self.input.consume(empty);
        }
    }

    /// Number of lines returned so far.
    pub(in crate::feed) fn number(&self) -> u64 {
        self.number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded_and_numbered() {
        let mut lines = Lines::new(&b"ab\r\r\n\nabcd\nabcde\nend"[..], 4);
        let mut seen = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            seen.push((line.number, String::from_utf8(line.bytes.to_vec()).unwrap(), line.cut));
        }
        let expected = [(1, "ab", false), (2, "", false), (3, "abcd", false), (4, "abcd", true)];
        for (seen, expected) in seen.iter().zip(expected) {
            assert_eq!((seen.0, seen.1.as_str(), seen.2), expected);
        }
        assert_eq!(seen.last(), Some(&(5, "end".to_owned(), false)));
        assert_eq!(lines.number(), 5);
    }

    #[test]
    fn empty_lines_are_skipped_and_counted() {
        // A buffer of three bytes at a time.
        let input = io::BufReader::with_capacity(3, &b"\n\n\n\n\nab\n\ncd\n\n\n"[..]);
        let mut lines = Lines::new(input, 4);
        for (number, text) in [(6, "ab"), (8, "cd")] {
            let line = lines.next_filled().unwrap().unwrap();
            assert_eq!((line.number, line.bytes), (number, text.as_bytes()));
        }
        assert!(lines.next_filled().unwrap().is_none());
        assert_eq!(lines.number(), 10);
    }
}

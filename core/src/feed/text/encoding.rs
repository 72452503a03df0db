//! Documents in any encoding, as UTF-8: XML 1.0 §4.3.3 and appendix F.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

use super::decoding::Decoding;

/// Number of bytes from the start within which a declaration is looked for; the longest usual one
/// has 120 in UTF-16.
const START_BYTES: usize = 512;

const UTF_16LE: &[u8] = b"utf-16le";
const UTF_16BE: &[u8] = b"utf-16be";

/// Labels of both in the WHATWG's Encoding Standard, §4.2.
const WIDE: [&str; 9] = [
    "utf-16",
    "utf-16le",
    "utf-16be",
    "ucs-2",
    "iso-10646-ucs-2",
    "unicode",
    "csunicode",
    "unicodefeff",
    "unicodefffe",
];

/// A document as UTF-8. Its byte order mark gives the encoding, else its declaration; the default
/// is UTF-8, which is handed out unchanged.
pub(super) struct Unicode<R> {
    input: R,
    /// The start of the input, and how much of it is handed out or decoded.
    start: Vec<u8>,
    taken: usize,
    decoding: Option<Decoding>,
}

impl<R: BufRead> Unicode<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, start: Vec::new(), taken: 0, decoding: None }
    }

    /// Reads the start and finds the encoding.
    fn begin(&mut self) -> io::Result<()> {
        let left = START_BYTES - self.start.len();
        Read::take(&mut self.input, left as u64).read_to_end(&mut self.start)?;
        let (label, mark_bytes) = encoding_of(&self.start);
        self.taken = mark_bytes;
        self.decoding = label.map(Decoding::new).transpose()?.flatten();
        Ok(())
    }
}

/// The label of the encoding that the start of a document shows, none for UTF-8, and the length of
/// its byte order mark.
fn encoding_of(start: &[u8]) -> (Option<&[u8]>, usize) {
    match start {
        [0xef, 0xbb, 0xbf, ..] => (None, 3),
        [0xff, 0xfe, ..] => (Some(UTF_16LE), 2),
        [0xfe, 0xff, ..] => (Some(UTF_16BE), 2),
        _ => (utf_16(start).or_else(|| narrow(declared(start)?)), 0),
    }
}

/// A label, unless it is of a two-byte encoding: a document whose declaration can be read is not in
/// such an encoding. Some program has re-encoded the document without changing its declaration.
fn narrow(label: &[u8]) -> Option<&[u8]> {
    let label = label.trim_ascii();
    let is_wide = WIDE.iter().any(|wide| wide.as_bytes().eq_ignore_ascii_case(label));
    (!is_wide).then_some(label)
}

/// The label of the two-byte encoding of a start without a mark.
fn utf_16(start: &[u8]) -> Option<&'static [u8]> {
    match start {
        [b'<', 0, after, 0, ..] if *after != 0 => Some(UTF_16LE),
        [0, b'<', 0, after, ..] if *after != 0 => Some(UTF_16BE),
        _ => None,
    }
}

/// The encoding that a declaration names: `<?xml version="1.0" encoding="ISO-8859-1"?>`.
fn declared(start: &[u8]) -> Option<&[u8]> {
    let rest = start.strip_prefix(b"<?xml")?;
    let end = rest.windows(2).position(|pair| pair == b"?>")?;
    let name = b"encoding";
    let at = rest[..end].windows(name.len()).position(|window| window == name)?;
    let value = rest[at + name.len()..end].trim_ascii_start().strip_prefix(b"=")?;
    let (quote, value) = value.trim_ascii_start().split_first()?;
    let length = value.iter().position(|byte| byte == quote)?;
    matches!(quote, b'"' | b'\'').then(|| &value[..length])
}

/// The start of a file as text, whatever its encoding, so that signs can be looked for in it.
pub(in crate::feed) fn readable(start: &[u8]) -> Cow<'_, [u8]> {
    let (label, mark_bytes) = encoding_of(start);
    let is_big = label == Some(UTF_16BE);
    if !is_big && label != Some(UTF_16LE) {
        return Cow::Borrowed(start);
    }
    let unit = if is_big { u16::from_be_bytes } else { u16::from_le_bytes };
    let units = start[mark_bytes..].chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    let text: String = char::decode_utf16(units)
        .map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    Cow::Owned(text.into_bytes())
}

impl<R: BufRead> BufRead for Unicode<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start.is_empty() {
            self.begin()?;
        }
        let Some(decoding) = &mut self.decoding else {
            let start = &self.start[self.taken..];
            return if start.is_empty() { self.input.fill_buf() } else { Ok(start) };
        };
        while decoding.wants_more() {
            let start = &self.start[self.taken..];
            let is_start = !start.is_empty();
            let read = decoding.decode(if is_start { start } else { self.input.fill_buf()? })?;
            if is_start {
                self.taken += read;
            } else {
                self.input.consume(read);
            }
        }
        Ok(decoding.text())
    }

    fn consume(&mut self, amount: usize) {
        match &mut self.decoding {
            Some(decoding) => decoding.consume(amount),
            None if self.taken < self.start.len() => self.taken += amount,
            None => self.input.consume(amount),
        }
    }
}

impl<R: BufRead> Read for Unicode<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(to)?;
        self.consume(count);
        Ok(count)
    }
}

#[cfg(all(test, not(target_family = "wasm")))]
#[path = "encoding_tests.rs"]
mod tests;

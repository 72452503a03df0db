//! Documents in any encoding, as UTF-8: XML 1.0 §4.3.3 and appendix F.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// Number of bytes from the start within which a declaration is looked for; the longest usual one
/// has 120 in UTF-16.
const START_BYTES: usize = 512;

/// Size of the pieces in which other encodings than UTF-8 are decoded.
const PIECE_BYTES: usize = 8 * 1024;

/// Text that is not in the encoding that it says, or in one that is not known.
#[derive(Debug, thiserror::Error)]
pub(super) enum EncodingError {
    #[error("its encoding \"{0}\" is not known")]
    Unknown(String),
    #[error("bytes that are not {0}")]
    Malformed(&'static str),
}

impl From<EncodingError> for io::Error {
    fn from(error: EncodingError) -> Self {
        Self::other(error)
    }
}

/// A document as UTF-8. Its encoding is that of its byte order mark, else the one that it declares,
/// else UTF-8, which is handed out as it is.
pub(super) struct Unicode<R> {
    input: R,
    /// The start of the input, and how much of it is handed out or decoded.
    start: Vec<u8>,
    taken: usize,
    decoding: Option<Decoding>,
}

struct Decoding {
    decoder: Decoder,
    piece: Box<[u8]>,
    from: usize,
    to: usize,
    is_done: bool,
}

impl<R: BufRead> Unicode<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, start: Vec::new(), taken: 0, decoding: None }
    }

    /// Reads the start and finds the encoding.
    fn begin(&mut self) -> io::Result<()> {
        let left = START_BYTES - self.start.len();
        Read::take(&mut self.input, left as u64).read_to_end(&mut self.start)?;
        let (encoding, mark_bytes) = encoding_of(&self.start)?;
        self.taken = mark_bytes;
        if encoding != UTF_8 {
            let decoder = encoding.new_decoder_without_bom_handling();
            let piece = vec![0; PIECE_BYTES].into_boxed_slice();
            self.decoding = Some(Decoding { decoder, piece, from: 0, to: 0, is_done: false });
        }
        Ok(())
    }
}

/// The encoding of a document by its start, and the length of its byte order mark.
fn encoding_of(start: &[u8]) -> Result<(&'static Encoding, usize), EncodingError> {
    if let Some(marked) = Encoding::for_bom(start) {
        return Ok(marked);
    }
    if let Some(wide) = utf_16(start) {
        return Ok((wide, 0));
    }
    let Some(label) = declared(start) else { return Ok((UTF_8, 0)) };
    let unknown = || EncodingError::Unknown(String::from_utf8_lossy(label).into_owned());
    let encoding = Encoding::for_label(label).ok_or_else(unknown)?;
    // Whoever has passed the document on has changed its encoding and not what it says.
    let is_narrow = encoding != UTF_16LE && encoding != UTF_16BE;
    Ok((if is_narrow { encoding } else { UTF_8 }, 0))
}

/// The encoding of two bytes that a start without a mark has.
fn utf_16(start: &[u8]) -> Option<&'static Encoding> {
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

/// The start of a file as text whose signs can be looked for, whatever its encoding.
pub(in crate::feed) fn readable(start: &[u8]) -> Cow<'_, [u8]> {
    let marked = Encoding::for_bom(start).filter(|(encoding, _)| *encoding != UTF_8);
    match marked.or_else(|| Some((utf_16(start)?, 0))) {
        Some((encoding, mark_bytes)) => {
            let (text, _) = encoding.decode_without_bom_handling(&start[mark_bytes..]);
            Cow::Owned(text.into_owned().into_bytes())
        }
        None => Cow::Borrowed(start),
    }
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
        while decoding.from == decoding.to && !decoding.is_done {
            let start = &self.start[self.taken..];
            let is_start = !start.is_empty();
            let bytes = if is_start { start } else { self.input.fill_buf()? };
            let is_last = bytes.is_empty();
            let decoder = &mut decoding.decoder;
            let (result, read, written) =
                decoder.decode_to_utf8_without_replacement(bytes, &mut decoding.piece, is_last);
            if is_start {
                self.taken += read;
            } else {
                self.input.consume(read);
            }
            (decoding.from, decoding.to) = (0, written);
            match result {
                DecoderResult::Malformed(..) => {
                    return Err(EncodingError::Malformed(decoder.encoding().name()).into());
                }
                DecoderResult::InputEmpty => decoding.is_done = is_last,
                DecoderResult::OutputFull => {}
            }
        }
        Ok(&decoding.piece[decoding.from..decoding.to])
    }

    fn consume(&mut self, amount: usize) {
        match &mut self.decoding {
            Some(decoding) => decoding.from += amount,
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

#[cfg(test)]
#[path = "encoding_tests.rs"]
mod tests;

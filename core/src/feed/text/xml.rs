//! XML, one event at a time, in bounded memory.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, Read};

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::decoding::EncodingError;
use super::encoding::Unicode;
use crate::feed::summary::FeedError;

/// Maximum length of text or markup between two tags; the longest real one, a notice of
/// attribution, has 700 bytes.
pub(in crate::feed) const MAX_EVENT_BYTES: usize = 16 * 1024;
/// Maximum nesting; the deepest real document has 11 levels.
pub(in crate::feed) const MAX_DEPTH: usize = 32;

/// The events of a document in any encoding. The parser keeps a whole event in memory and the document determines
/// its length, so both the length and the nesting are limited.
pub(in crate::feed) struct XmlEvents<R> {
    reader: Reader<LimitedReader<Unicode<R>>>,
    buffer: Vec<u8>,
    depth: usize,
    max_event_bytes: usize,
}

impl<R: BufRead> XmlEvents<R> {
    pub(crate) fn new(input: R) -> Self {
        Self::with_limit(input, MAX_EVENT_BYTES)
    }

    /// The events of a document that may contain longer runs of text.
    pub(crate) fn with_limit(input: R, max_event_bytes: usize) -> Self {
        let input = Unicode::new(input);
        let reader = Reader::from_reader(LimitedReader { input, left: 0 });
        Self { reader, buffer: Vec::new(), depth: 0, max_event_bytes }
    }

    /// The next event, with its byte offset. [`Event::Eof`] is returned only if every
    /// element is closed.
    ///
    /// # Errors
    /// If the source fails, or if the text is not well-formed, nests too deeply or is too long
    /// between two tags.
    pub(crate) fn next(&mut self) -> Result<(u64, Event<'_>), FeedError> {
        self.buffer.clear();
        self.reader.get_mut().left = self.max_event_bytes;
        let byte = self.reader.buffer_position();
        let event = match self.reader.read_event_into(&mut self.buffer) {
            Ok(event) => event,
            Err(quick_xml::Error::Io(error)) => {
                return Err(match error.get_ref() {
                    Some(inner) if inner.is::<RationUsedUp>() => {
                        let limit = self.max_event_bytes;
                        fault(byte, format!("more than {limit} bytes between two tags"))
                    }
                    Some(inner) if inner.is::<EncodingError>() => fault(byte, inner),
                    _ => io::Error::new(error.kind(), error).into(),
                });
            }
            Err(error) => return Err(fault(byte, error)),
        };
        match &event {
            Event::Start(_) if self.depth == MAX_DEPTH => {
                return Err(fault(byte, format!("more than {MAX_DEPTH} levels of elements")));
            }
            Event::Start(_) => self.depth += 1,
            Event::End(_) => self.depth -= 1,
            Event::Eof if self.depth > 0 => {
                return Err(fault(byte, format!("it ends with {} elements open", self.depth)));
            }
            _ => {}
        }
        Ok((byte, event))
    }
}

/// Visits the attributes of a tag, with entities replaced.
pub(in crate::feed) fn each_attribute(
    byte: u64,
    tag: &BytesStart<'_>,
    mut take: impl FnMut(&str, Cow<'_, str>),
) -> Result<(), FeedError> {
    for attribute in tag.attributes() {
        let attribute = attribute.map_err(|error| fault(byte, error))?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0);
        take(attribute.key.as_ref(), value.map_err(|error| fault(byte, error))?);
    }
    Ok(())
}

pub(in crate::feed) fn fault(byte: u64, message: impl fmt::Display) -> FeedError {
    FeedError::Xml { byte, message: message.to_string() }
}

/// Hands out a limited number of bytes and then fails.
struct LimitedReader<R> {
    input: R,
    left: usize,
}

/// The byte limit of an event was exceeded.
#[derive(Debug, thiserror::Error)]
#[error("more bytes between two tags than are allowed")]
struct RationUsedUp;

impl<R: BufRead> BufRead for LimitedReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let left = self.left;
        let bytes = self.input.fill_buf()?;
        if left == 0 && !bytes.is_empty() {
            return Err(io::Error::other(RationUsedUp));
        }
        Ok(&bytes[..bytes.len().min(left)])
    }

    fn consume(&mut self, amount: usize) {
        self.left -= amount;
        self.input.consume(amount);
    }
}

impl<R: BufRead> Read for LimitedReader<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(to)?;
        self.consume(count);
        Ok(count)
    }
}

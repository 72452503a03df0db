//! Decoders of encodings other than UTF-8. Their tables are large, and a browser has its own.

use std::io;

#[cfg(not(target_family = "wasm"))]
pub(super) use with_tables::Decoding;
#[cfg(target_family = "wasm")]
pub(super) use without_tables::Decoding;

/// The text is not in the encoding that it declares, or the encoding is not known.
#[derive(Debug, thiserror::Error)]
pub(super) enum EncodingError {
    #[error("its encoding \"{0}\" is not known")]
    Unknown(String),
    #[cfg(not(target_family = "wasm"))]
    #[error("bytes that are not {0}")]
    Malformed(&'static str),
}

impl From<EncodingError> for io::Error {
    fn from(error: EncodingError) -> Self {
        Self::other(error)
    }
}

#[cfg(not(target_family = "wasm"))]
mod with_tables {
    use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_8};

    use super::EncodingError;

    /// Size of the pieces in which a document is decoded.
    const PIECE_BYTES: usize = 8 * 1024;

    /// A document that is decoded piece by piece.
    pub(in super::super) struct Decoding {
        decoder: Decoder,
        piece: Box<[u8]>,
        from: usize,
        to: usize,
        is_done: bool,
    }

    impl Decoding {
        /// A decoder for the encoding of a WHATWG label; none for UTF-8.
        pub(in super::super) fn new(label: &[u8]) -> Result<Option<Self>, EncodingError> {
            let unknown = || EncodingError::Unknown(String::from_utf8_lossy(label).into_owned());
            let encoding = Encoding::for_label(label).ok_or_else(unknown)?;
            if encoding == UTF_8 {
                return Ok(None);
            }
            let decoder = encoding.new_decoder_without_bom_handling();
            let piece = vec![0; PIECE_BYTES].into_boxed_slice();
            Ok(Some(Self { decoder, piece, from: 0, to: 0, is_done: false }))
        }

        pub(in super::super) fn wants_more(&self) -> bool {
            self.from == self.to && !self.is_done
        }

        /// Decodes the next bytes, none at the end; returns how many it has taken.
        pub(in super::super) fn decode(&mut self, bytes: &[u8]) -> Result<usize, EncodingError> {
            let is_last = bytes.is_empty();
            let (result, read, written) =
                self.decoder.decode_to_utf8_without_replacement(bytes, &mut self.piece, is_last);
            (self.from, self.to) = (0, written);
            match result {
                DecoderResult::Malformed(..) => {
                    return Err(EncodingError::Malformed(self.decoder.encoding().name()));
                }
                DecoderResult::InputEmpty => self.is_done = is_last,
                DecoderResult::OutputFull => {}
            }
            Ok(read)
        }

        pub(in super::super) fn text(&self) -> &[u8] {
            &self.piece[self.from..self.to]
        }

        pub(in super::super) fn consume(&mut self, amount: usize) {
            self.from += amount;
        }
    }
}

#[cfg(target_family = "wasm")]
mod without_tables {
    use super::EncodingError;

    /// There is none.
    pub(in super::super) enum Decoding {}

    impl Decoding {
        /// A decoder for the encoding of a label; none for UTF-8, nor for ASCII, which is a part of
        /// it.
        pub(in super::super) fn new(label: &[u8]) -> Result<Option<Self>, EncodingError> {
            let utf_8: [&[u8]; 4] = [b"utf-8", b"utf8", b"us-ascii", b"ascii"];
            if utf_8.iter().any(|known| known.eq_ignore_ascii_case(label.trim_ascii())) {
                return Ok(None);
            }
            Err(EncodingError::Unknown(String::from_utf8_lossy(label).into_owned()))
        }

        pub(in super::super) fn wants_more(&self) -> bool {
            match *self {}
        }

        pub(in super::super) fn decode(&mut self, _: &[u8]) -> Result<usize, EncodingError> {
            match *self {}
        }

        pub(in super::super) fn text(&self) -> &[u8] {
            match *self {}
        }

        pub(in super::super) fn consume(&mut self, _: usize) {
            match *self {}
        }
    }
}

//! Content encodings: which one a caller gets, and the compressors.

use std::convert::Infallible;
use std::io::{self, Write};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use brotli::CompressorWriter as Brotli;
use brotli::enc::BrotliEncoderParams;
use flate2::write::GzEncoder as Gzip;
use zstd::stream::write::Encoder as Zstd;

/// How a body is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Not at all.
    Identity,
    /// gzip.
    Gzip,
    /// Brotli.
    Brotli,
    /// Zstandard.
    Zstd,
}

impl Encoding {
    /// Every encoding.
    pub const ALL: [Self; 4] = [Self::Identity, Self::Gzip, Self::Brotli, Self::Zstd];

    /// The name in the headers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Gzip => "gzip",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }
}

/// Which encodings a caller takes, and how gladly: its `Accept-Encoding`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Accepted {
    /// By [`Encoding`]; `None` for one that is not named.
    named: [Option<f32>; 4],
    /// The weight of `*`.
    others: Option<f32>,
}

impl Accepted {
    /// Reads the header, be it one line or several. What is malformed in it is passed over.
    pub fn of(headers: &HeaderMap) -> Self {
        let mut accepted = Self::default();
        let lines = headers.get_all(header::ACCEPT_ENCODING).iter();
        let members = lines.filter_map(|line| line.to_str().ok()).flat_map(|line| line.split(','));
        for member in members {
            let (name, weight) = member.split_once(';').unwrap_or((member, "q=1"));
            let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse().ok());
            let Some(weight) = weight.filter(|weight| (0.0..=1.0).contains(weight)) else {
                continue;
            };
            let name = name.trim().to_ascii_lowercase();
            let name = if name == "x-gzip" { "gzip" } else { &*name };
            if let Some(known) = Encoding::ALL.into_iter().find(|known| known.name() == name) {
                accepted.named[known as usize] = Some(weight);
            } else if name == "*" {
                accepted.others = Some(weight);
            }
        }
        accepted
    }

    /// The encoding for a body that is compressed ahead: the smallest one wins among equals.
    pub fn smallest(self) -> Encoding {
        self.pick([Encoding::Brotli, Encoding::Zstd, Encoding::Gzip])
    }

    /// The encoding for a body that is compressed while the caller waits: the fastest one wins
    /// among equals.
    pub fn fastest(self) -> Encoding {
        self.pick([Encoding::Zstd, Encoding::Gzip, Encoding::Brotli])
    }

    /// A body goes out as it is where the caller takes no other encoding or likes this one best;
    /// also where it takes none that we have, for then any choice is as wrong and this one can be
    /// read.
    fn pick(self, by_merit: [Encoding; 3]) -> Encoding {
        let weight = |encoding: Encoding| self.named[encoding as usize].or(self.others);
        // What is not named is taken least gladly.
        let mut best = (Encoding::Identity, self.named[0].unwrap_or(0.0));
        for encoding in by_merit.into_iter().rev() {
            if let Some(weight) =
                weight(encoding).filter(|&weight| weight > 0.0 && weight >= best.1)
            {
                best = (encoding, weight);
            }
        }
        best.0
    }
}

impl<S: Sync> FromRequestParts<S> for Accepted {
    type Rejection = Infallible;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.headers))
    }
}

/// How much work a compressor puts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Someone waits.
    Fastest,
    /// Compressed once, sent many times.
    Thorough,
}

/// Encodes a body bit by bit.
pub enum Compressor {
    /// Leaves it as it is.
    Identity(Vec<u8>),
    /// gzip.
    Gzip(Gzip<Vec<u8>>),
    /// Brotli.
    Brotli(Box<Brotli<Vec<u8>>>),
    /// Zstandard.
    Zstd(Zstd<'static, Vec<u8>>),
}

impl Compressor {
    /// A compressor of an encoding.
    ///
    /// # Errors
    /// No memory for it.
    pub fn new(encoding: Encoding, effort: Effort) -> io::Result<Self> {
        let thorough = effort == Effort::Thorough;
        let out = Vec::new();
        Ok(match encoding {
            Encoding::Identity => Self::Identity(out),
            Encoding::Gzip => {
                let level = if thorough { 6 } else { 1 };
                Self::Gzip(Gzip::new(out, flate2::Compression::new(level)))
            }
            Encoding::Brotli => {
                let quality = if thorough { 5 } else { 1 };
                let params = BrotliEncoderParams { quality, lgwin: 22, ..Default::default() };
                Self::Brotli(Box::new(Brotli::with_params(out, 4096, &params)))
            }
            Encoding::Zstd => Self::Zstd(Zstd::new(out, if thorough { 9 } else { 1 })?),
        })
    }

    /// Memory that it needs for itself, about: the window and tables of the fastest level.
    pub const fn held_bytes(&self) -> usize {
        match self {
            Self::Identity(_) => 0,
            Self::Gzip(_) => 1 << 18,
            Self::Brotli(_) => 8 << 20,
            Self::Zstd(_) => 1 << 20,
        }
    }

    /// Takes what has been encoded so far; a compressor may hold back the rest.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(match self {
            Self::Identity(out) => out,
            Self::Gzip(encoder) => encoder.get_mut(),
            Self::Brotli(encoder) => encoder.get_mut(),
            Self::Zstd(encoder) => encoder.get_mut(),
        })
    }

    /// Ends the body and gives what has not been taken of it.
    ///
    /// # Errors
    /// The compressor failed.
    pub fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            Self::Identity(out) => Ok(out),
            Self::Gzip(encoder) => encoder.finish(),
            Self::Brotli(encoder) => Ok(encoder.into_inner()),
            Self::Zstd(encoder) => encoder.finish(),
        }
    }

    /// Encodes a whole body.
    ///
    /// # Errors
    /// The compressor failed.
    pub fn encode(encoding: Encoding, effort: Effort, body: &[u8]) -> io::Result<Vec<u8>> {
        let mut compressor = Self::new(encoding, effort)?;
        compressor.write_all(body)?;
        compressor.finish()
    }
}

impl Write for Compressor {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Identity(out) => out.write(bytes),
            Self::Gzip(encoder) => encoder.write(bytes),
            Self::Brotli(encoder) => encoder.write(bytes),
            Self::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Identity(out) => out.flush(),
            Self::Gzip(encoder) => encoder.flush(),
            Self::Brotli(encoder) => encoder.flush(),
            Self::Zstd(encoder) => encoder.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn smallest(lines: &[&str]) -> &'static str {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::ACCEPT_ENCODING, line.parse().unwrap());
        }
        Accepted::of(&headers).smallest().name()
    }

    #[test]
    fn without_the_header_a_body_goes_out_as_it_is() {
        assert_eq!(smallest(&[]), "identity");
        assert_eq!(smallest(&[""]), "identity");
        assert_eq!(smallest(&["deflate, compress"]), "identity");
    }

    #[test]
    fn the_best_of_those_that_are_liked_as_much_wins() {
        assert_eq!(smallest(&["gzip"]), "gzip");
        assert_eq!(smallest(&["X-GZip"]), "gzip");
        assert_eq!(smallest(&["gzip, deflate, br, zstd"]), "br");
        assert_eq!(smallest(&["gzip", "zstd"]), "zstd");
        assert_eq!(smallest(&["*"]), "br");
        let mut headers = HeaderMap::new();
        headers.append(header::ACCEPT_ENCODING, "gzip, br".parse().unwrap());
        assert_eq!(Accepted::of(&headers).fastest(), Encoding::Gzip);
        headers.append(header::ACCEPT_ENCODING, "zstd".parse().unwrap());
        assert_eq!(Accepted::of(&headers).fastest(), Encoding::Zstd);
    }

    #[test]
    fn weights_are_honoured() {
        assert_eq!(smallest(&["br;q=0.5, gzip;q=0.8"]), "gzip");
        assert_eq!(smallest(&["br ; q=0.001 , zstd;q=0"]), "br");
        assert_eq!(smallest(&["gzip;q=0.5, *;q=0"]), "gzip");
        assert_eq!(smallest(&["br;q=0, *"]), "zstd");
        assert_eq!(smallest(&["gzip;q=0.5, identity"]), "identity");
        assert_eq!(smallest(&["gzip;q=0.5, identity;q=0.4"]), "gzip");
        assert_eq!(smallest(&["identity;q=0, gzip;q=0.1"]), "gzip");
    }

    #[test]
    fn a_caller_who_takes_nothing_that_we_have_gets_the_body_as_it_is() {
        assert_eq!(smallest(&["identity;q=0"]), "identity");
        assert_eq!(smallest(&["*;q=0"]), "identity");
    }

    #[test]
    fn what_is_malformed_is_passed_over() {
        assert_eq!(smallest(&["br;q=x, gzip"]), "gzip");
        assert_eq!(smallest(&["br;q=2, zstd;level=3, ;;, gzip"]), "gzip");
    }
}

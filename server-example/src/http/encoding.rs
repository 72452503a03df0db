//! Content encodings: which one a caller gets, and the compressors.

use std::convert::Infallible;
use std::io::{self, Write};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, header};
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

/// Returns the members of a header such as `Accept`, which may have several lines: each with its
/// name in lower case, and its parameters if it has any.
pub fn preferences(
    headers: &HeaderMap,
    name: HeaderName,
) -> impl Iterator<Item = (String, Option<&str>)> {
    let lines = headers.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(|member| {
        let (name, parameters) = match member.split_once(';') {
            Some((name, parameters)) => (name, Some(parameters)),
            None => (member, None),
        };
        (name.trim().to_ascii_lowercase(), parameters)
    })
}

/// Returns the weight that a parameter gives; `None` if it is another parameter or malformed.
pub fn weight(parameter: &str) -> Option<f32> {
    parameter.trim().strip_prefix("q=")?.parse().ok()
}

/// The encodings that a caller accepts, with their weights: its `Accept-Encoding`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AcceptedEncodings {
    /// By [`Encoding`]; `None` for an encoding that is not named.
    named: [Option<f32>; 4],
    /// The weight of `*`.
    others: Option<f32>,
}

impl AcceptedEncodings {
    /// Reads the header, which may have several lines. Malformed parts are ignored.
    pub fn of(headers: &HeaderMap) -> Self {
        let mut accepted = Self::default();
        for (name, parameters) in preferences(headers, header::ACCEPT_ENCODING) {
            let weight = parameters.map_or(Some(1.0), weight);
            let Some(weight) = weight.filter(|weight| (0.0..=1.0).contains(weight)) else {
                continue;
            };
            let name = if name == "x-gzip" { "gzip" } else { &*name };
            if let Some(known) = Encoding::ALL.into_iter().find(|known| known.name() == name) {
                accepted.named[known as usize] = Some(weight);
            } else if name == "*" {
                accepted.others = Some(weight);
            }
        }
        accepted
    }

    /// Returns the encoding for a body that is compressed ahead. Among equal weights, the smallest
    /// wins.
    pub fn smallest(self) -> Encoding {
        self.pick([Encoding::Brotli, Encoding::Gzip])
    }

    /// Returns the encoding for a body that is compressed while the caller waits. Among equal
    /// weights, the fastest wins.
    pub fn fastest(self) -> Encoding {
        self.pick([Encoding::Gzip, Encoding::Brotli])
    }

    /// The interface has gzip and Brotli. Zstandard is for a caller who accepts neither, however
    /// much the caller prefers it.
    ///
    /// A body is sent without encoding if the caller accepts no other encoding or prefers identity.
    /// It is sent so, too, if the caller accepts no encoding that the server has: any choice is
    /// then equally wrong, and this one can be read.
    fn pick(self, by_merit: [Encoding; 2]) -> Encoding {
        let weight = |encoding: Encoding| {
            let weight = self.named[encoding as usize].or(self.others);
            weight.filter(|&weight| weight > 0.0).map(|weight| (encoding, weight))
        };
        let [better, other] = by_merit.map(weight);
        let best = match (better, other) {
            (Some(better), Some(other)) if other.1 > better.1 => Some(other),
            (better, other) => better.or(other),
        };
        // An identity that is not named is least preferred.
        let identity = self.named[Encoding::Identity as usize].unwrap_or(0.0);
        let best = best.or_else(|| weight(Encoding::Zstd));
        best.filter(|best| best.1 >= identity).map_or(Encoding::Identity, |best| best.0)
    }
}

impl<S: Sync> FromRequestParts<S> for AcceptedEncodings {
    type Rejection = Infallible;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.headers))
    }
}

/// How hard a compressor works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// A caller waits.
    Fastest,
    /// Compressed once, sent many times.
    Thorough,
}

/// Encodes a body incrementally.
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
    /// Creates a compressor for an encoding.
    ///
    /// # Errors
    /// There is no memory for it.
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

    /// Roughly the memory that the compressor itself needs: the window and tables of the fastest
    /// level.
    pub const fn held_bytes(&self) -> usize {
        match self {
            Self::Identity(_) => 0,
            Self::Gzip(_) => 1 << 18,
            Self::Brotli(_) => 8 << 20,
            Self::Zstd(_) => 1 << 20,
        }
    }

    /// Encodes a piece of the body.
    ///
    /// # Errors
    /// The compressor failed.
    pub fn push(&mut self, piece: Vec<u8>) -> io::Result<()> {
        match self {
            // It need not be copied.
            Self::Identity(out) if out.is_empty() => {
                *out = piece;
                Ok(())
            }
            _ => self.write_all(&piece),
        }
    }

    /// Takes what has been encoded so far. The compressor may hold back the rest.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(match self {
            Self::Identity(out) => out,
            Self::Gzip(encoder) => encoder.get_mut(),
            Self::Brotli(encoder) => encoder.get_mut(),
            Self::Zstd(encoder) => encoder.get_mut(),
        })
    }

    /// Ends the body and returns what has not been taken yet.
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
        AcceptedEncodings::of(&headers).smallest().name()
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
        assert_eq!(smallest(&["*"]), "br");
        let mut headers = HeaderMap::new();
        headers.append(header::ACCEPT_ENCODING, "gzip, br".parse().unwrap());
        assert_eq!(AcceptedEncodings::of(&headers).fastest(), Encoding::Gzip);
    }

    /// What browsers send, and what they would send if they preferred Zstandard.
    #[test]
    fn zstandard_is_for_those_who_accept_neither_gzip_nor_brotli() {
        let mut headers = HeaderMap::new();
        headers.append(header::ACCEPT_ENCODING, "gzip, deflate, br, zstd".parse().unwrap());
        assert_eq!(AcceptedEncodings::of(&headers).fastest(), Encoding::Gzip);
        assert_eq!(AcceptedEncodings::of(&headers).smallest(), Encoding::Brotli);
        assert_eq!(smallest(&["gzip", "zstd"]), "gzip");
        assert_eq!(smallest(&["zstd, gzip;q=0.1"]), "gzip");
        assert_eq!(smallest(&["zstd, *;q=0.1"]), "br");
        assert_eq!(smallest(&["zstd"]), "zstd");
        assert_eq!(smallest(&["zstd, deflate"]), "zstd");
        assert_eq!(smallest(&["zstd;q=0.5, identity"]), "identity");
        assert_eq!(smallest(&["zstd, *;q=0"]), "zstd");
    }

    #[test]
    fn weights_are_honoured() {
        assert_eq!(smallest(&["br;q=0.5, gzip;q=0.8"]), "gzip");
        assert_eq!(smallest(&["br ; q=0.001 , zstd;q=0"]), "br");
        assert_eq!(smallest(&["gzip;q=0.5, *;q=0"]), "gzip");
        assert_eq!(smallest(&["br;q=0, *"]), "gzip");
        assert_eq!(smallest(&["br;q=0, gzip;q=0, *"]), "zstd");
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

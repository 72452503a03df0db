//! When a certificate is valid. Only this part of a certificate is read here: the TLS library does
//! not tell a server about its own certificate.

use mesonet::time::parse_instant;

/// The time in which a certificate is valid, both ends included, in milliseconds since 1970 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// notBefore.
    pub from_ms: i64,
    /// notAfter.
    pub to_ms: i64,
}

const INTEGER: u8 = 0x02;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
/// The version; only certificates of version 1 leave it out.
const VERSION: u8 = 0xa0;

impl Validity {
    /// Reads the validity from a certificate in DER (RFC 5280, 4.1). `None` if the certificate is
    /// malformed.
    pub fn of(certificate: &[u8]) -> Option<Self> {
        let (certificate, _) = take(certificate, SEQUENCE)?;
        let (mut fields, _) = take(certificate, SEQUENCE)?;
        if let Some((_, rest)) = take(fields, VERSION) {
            fields = rest;
        }
        // Serial number, algorithm, issuer.
        for tag in [INTEGER, SEQUENCE, SEQUENCE] {
            (_, fields) = take(fields, tag)?;
        }
        let (validity, _) = take(fields, SEQUENCE)?;
        let (from_ms, rest) = time(validity)?;
        let (to_ms, _) = time(rest)?;
        Some(Self { from_ms, to_ms })
    }
}

/// Splits the content of a value with a tag from what follows it.
fn take(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&[found, length], rest) = bytes.split_first_chunk()?;
    if found != tag {
        return None;
    }
    let (length, rest) = if length < 0x80 {
        (usize::from(length), rest)
    } else {
        // The length of the length; a certificate has fewer than 2³² bytes.
        let (digits, rest) = rest.split_at_checked(usize::from(length & 0x7f))?;
        if digits.len() > 4 {
            return None;
        }
        (digits.iter().fold(0, |length, &digit| length << 8 | usize::from(digit)), rest)
    };
    rest.split_at_checked(length)
}

/// Reads a time in UTC, to the second, in the form of RFC 5280 (4.1.2.5). Years of two digits from
/// 50 on are of the last century.
fn time(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let (text, rest, year_digits) = match take(bytes, UTC_TIME) {
        Some((text, rest)) => (text, rest, 2),
        None => take(bytes, GENERALIZED_TIME).map(|(text, rest)| (text, rest, 4))?,
    };
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let (year, rest_of_it) = text.split_at_checked(year_digits)?;
    let century = match year_digits {
        4 => "",
        _ if year >= "50" => "19",
        _ => "20",
    };
    if rest_of_it.len() != 10 || !rest_of_it.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part = |at: usize| &rest_of_it[at..at + 2];
    let [month, day, hour, minute, second] = [0, 2, 4, 6, 8].map(part);
    let instant = format!("{century}{year}-{month}-{day}T{hour}:{minute}:{second}Z");
    Some((parse_instant(&instant).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    #[test]
    fn the_time_of_a_certificate_is_read_in_both_forms() {
        let key = KeyPair::generate().unwrap();
        for (from, to, written) in [
            (1999, 2049, ["1999-02-03T00:00:00Z", "2049-02-03T00:00:00Z"]),
            (2050, 2150, ["2050-02-03T00:00:00Z", "2150-02-03T00:00:00Z"]),
        ] {
            let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
            params.not_before = date_time_ymd(from, 2, 3);
            params.not_after = date_time_ymd(to, 2, 3);
            let der = params.self_signed(&key).unwrap().der().to_vec();
            let [from_ms, to_ms] = written.map(|text| parse_instant(text).unwrap());
            assert_eq!(Validity::of(&der), Some(Validity { from_ms, to_ms }));
            // Whatever is cut off, reading ends.
            for length in 0..der.len().min(200) {
                let _ = Validity::of(&der[..length]);
            }
        }
        assert_eq!(Validity::of(&[SEQUENCE, 0x85, 1, 1, 1, 1, 1, 0]), None);
    }
}

//! WMO bulletins of METAR and SPECI reports, and files with one report per line.

use std::io::BufRead;

use super::metar_item::MetarItem;
use super::series::metar_feed_report;
use super::wind::is_wind;
use super::{MAX_REPORT_BYTES, Metar, MetarKind};
use crate::feed::item::{FeedReport, FileContext};
use crate::feed::summary::{FeedError, FilePlace, RefusalReason, Summary};
use crate::feed::text::lines::{Line, Lines};
use crate::time::parse_instant;

/// Start of heading: a bulletin begins.
const SOH: u8 = 0x01;
/// End of text: a bulletin ends.
const ETX: u8 = 0x03;

/// Reads bulletins and visits each report.
///
/// A bulletin is the text between SOH and ETX: a number, the heading `T1T2A1A2ii CCCC YYGGgg`
/// with its `BBB`, perhaps a line `METAR` or `SPECI` for all reports, then the reports, each ended
/// by `=`, over as many lines as they need. Files often deviate from this, so:
/// - control characters may be missing; a heading, ETX or the start of a line that can only be the
///   start of a report ends the report before it, which repairs a lost `=`;
/// - a control character inside a report counts as a blank and a byte that is not ASCII as `?`, so
///   only the group that contains it is lost;
/// - a report may be preceded by its time `YYYYMMDDHHMM` (ogimet), or on a line of its own by
///   `YYYY/MM/DD HH:MM` (the NWS's station files), which is then the reference for that report.
///
/// `reference_ms` (milliseconds since 1970, UTC) is when the bulletins were received, or any time
/// within two weeks of it: reports give only the day of the month.
///
/// # Errors
/// If the source fails, or no report in it can be read. A single report that cannot be read is
/// counted and listed in the summary.
///
/// ```
/// use mesonet::Iso8601;
/// use mesonet::feed::read_bulletins;
/// use mesonet::time::parse_instant;
/// let bulletin = "\x01\r\r\n776 \r\r\nSAUS70 KWBC 010030 CCB\r\r\nMETAR\r\r\n\
///     KSPS 302352Z 10015KT 10SM TSGRRA BKN022CB 25/16 A2967 RMK AO2\r\r\n     T02500161=\r\r\n\x03";
/// let received_ms = parse_instant("2020-07-01T00:35:00Z").unwrap();
/// read_bulletins(bulletin.as_bytes(), received_ms, |item| {
///     assert_eq!(Iso8601(item.ts_ms).to_string(), "2020-06-30T23:52:00Z");
///     assert_eq!(item.metar.remarks.temperature_tenths_c, Some(250));
///     assert_eq!(item.metar.revision, 2);
/// })?;
/// # Ok::<(), mesonet::feed::FeedError>(())
/// ```
pub fn read_bulletins(
    input: impl BufRead,
    reference_ms: i64,
    visit: impl FnMut(MetarItem<'_>),
) -> Result<Summary, FeedError> {
    let mut lines = Lines::new(input, MAX_REPORT_BYTES);
    let mut reading = BulletinReader {
        reference_ms,
        heading: Heading::default(),
        header: String::new(),
        after_heading: false,
        line_time_ms: None,
        report: Vec::new(),
        start: 0,
        too_long: false,
        summary: Summary::default(),
        visit,
    };
    while let Some(line) = lines.next_filled()? {
        reading.line(line);
    }
    reading.end_of_report();
    let BulletinReader { summary, .. } = reading;
    if summary.read == 0 {
        return Err(no_report(&summary, lines.number()));
    }
    Ok(summary)
}

/// The error of a file without a report, with the first text that could have been one.
fn no_report(summary: &Summary, lines: u64) -> FeedError {
    let mut text = format!("no METAR or SPECI report that can be read, in {lines} lines");
    if let Some(first) = summary.refusals.first() {
        let refused = match summary.refused {
            1 => "1 text was refused".to_owned(),
            many => format!("{many} texts were refused, the first"),
        };
        text = format!("{text}; {refused}: {first}");
    }
    FeedError::NotThisKind(text)
}

/// What the heading of a bulletin says about its reports.
#[derive(Clone, Copy, Default)]
struct Heading {
    /// From the type, or from a line of its own.
    kind: MetarKind,
    /// From BBB: CCA is 1.
    revision: u8,
    /// The type, if it is not SA or SP; then nothing is read before the next heading.
    foreign: Option<[u8; 2]>,
}

struct BulletinReader<V> {
    reference_ms: i64,
    heading: Heading,
    /// The heading as it came in, its groups divided by one space.
    header: String,
    /// Whether the line before was a heading: a product identifier may follow it.
    after_heading: bool,
    line_time_ms: Option<i64>,
    report: Vec<u8>,
    start: u64,
    too_long: bool,
    summary: Summary,
    visit: V,
}

impl<V: FnMut(MetarItem<'_>)> BulletinReader<V> {
    fn line(&mut self, line: Line<'_>) {
        let mut rest = line.bytes;
        loop {
            let end = rest.iter().position(|byte| matches!(*byte, SOH | ETX | b'='));
            let (text, mark) = match end {
                Some(at) => (&rest[..at], Some(rest[at])),
                None => (rest, None),
            };
            self.text(line.number, text, mark.is_none() && line.cut);
            if mark.is_some() {
                self.end_of_report();
            }
            if matches!(mark, Some(SOH | ETX)) {
                self.heading = Heading::default();
                self.header.clear();
                self.line_time_ms = None;
            }
            match end {
                Some(at) => rest = &rest[at + 1..],
                None => break,
            }
        }
    }

    /// A line, or the part of it up to a control character.
    fn text(&mut self, number: u64, text: &[u8], cut: bool) {
        let mut groups = text.split(|byte| *byte <= b' ').filter(|group| !group.is_empty());
        let first = [groups.next(), groups.next(), groups.next(), groups.next()];
        let Some(opening) = first[0] else { return };
        let more = groups.next().is_some();
        if !more && let Some(heading) = heading(first) {
            self.end_of_report();
            self.heading = heading;
            self.header.clear();
            for group in first.into_iter().flatten() {
                self.header.push_str(if self.header.is_empty() { "" } else { " " });
                self.header.push_str(&String::from_utf8_lossy(group));
            }
            self.after_heading = true;
            if let Some(foreign) = heading.foreign {
                let got = String::from_utf8_lossy(&foreign).into_owned();
                let reason = RefusalReason::BulletinType { got };
                self.summary.refuse(FilePlace::Line(number), text, reason);
            }
            return;
        }
        let after_heading = std::mem::take(&mut self.after_heading);
        if self.heading.foreign.is_some() {
            return;
        }
        if first[1].is_none() && self.report.is_empty() {
            // A line of one word before a report: the kind of the reports that follow, the number
            // of a bulletin, or its product identifier.
            match opening {
                b"METAR" | b"SPECI" => {
                    self.heading.kind = MetarKind::Unknown.or_named(opening);
                }
                word if word.len() <= 3 && word.iter().all(u8::is_ascii_digit) => {}
                _ if after_heading => {}
                _ => self.add(number, text, cut),
            }
            return;
        }
        if let [Some(code @ (b"METAR" | b"SPECI")), Some(b"COR"), None, _] = first {
            self.end_of_report();
            self.heading.kind = MetarKind::Unknown.or_named(code);
            self.heading.revision = self.heading.revision.max(1);
            return;
        }
        if let [Some(date), Some(time), None, _] = first
            && let Some(ts_ms) = slashed_time(date, time)
        {
            self.end_of_report();
            self.line_time_ms = Some(ts_ms);
            return;
        }
        if starts_report(text[0], opening, first[1]) {
            self.end_of_report();
        }
        self.add(number, text, cut);
    }

    /// Adds a line to the report.
    fn add(&mut self, number: u64, text: &[u8], cut: bool) {
        if self.report.is_empty() {
            self.start = number;
        } else if self.report.len() < MAX_REPORT_BYTES {
            self.report.push(b' ');
        }
        let room = MAX_REPORT_BYTES.saturating_sub(self.report.len());
        self.too_long |= cut || text.len() > room;
        let clean = |byte: &u8| match *byte {
            0..=b' ' => b' ',
            0x7f.. => b'?',
            byte => byte,
        };
        self.report.extend(text[..text.len().min(room)].iter().map(clean));
    }

    fn end_of_report(&mut self) {
        let report = std::mem::take(&mut self.report);
        let too_long = std::mem::take(&mut self.too_long);
        // Only ASCII was added.
        let text = std::str::from_utf8(&report).unwrap_or_default().trim();
        if !text.is_empty() {
            let outcome = if too_long {
                Err(RefusalReason::TooLong { limit: MAX_REPORT_BYTES })
            } else {
                self.visit(text)
            };
            match outcome {
                Ok(unread_groups) => self.summary.read_metar(unread_groups),
                Err(reason) => {
                    self.summary.refuse(FilePlace::Line(self.start), text.as_bytes(), reason);
                }
            }
        }
        self.report = report;
        self.report.clear();
    }

    fn visit(&mut self, text: &str) -> Result<u16, RefusalReason> {
        let stamped = text.split_once(' ').and_then(|(stamp, report)| {
            Some((joined_time(stamp.as_bytes())?, report.trim_start()))
        });
        let (reference_ms, raw_text) = match stamped {
            Some((ts_ms, report)) => (ts_ms, report),
            None => (self.line_time_ms.unwrap_or(self.reference_ms), text),
        };
        let mut metar = Metar::parse(raw_text)?;
        metar.revision = metar.revision.max(self.heading.revision);
        (self.visit)(MetarItem {
            native_id: metar.station.as_str(),
            ts_ms: metar.time_ms(reference_ms),
            raw_text,
            header: Some(&*self.header).filter(|header| !header.is_empty()),
            place: None,
            altitude_m: None,
            kind: if metar.kind == MetarKind::Unknown { self.heading.kind } else { metar.kind },
            metar,
        });
        Ok(metar.unread_groups)
    }
}

/// Reads `T1T2A1A2ii CCCC YYGGgg`, with or without `BBB`.
fn heading(groups: [Option<&[u8]>; 4]) -> Option<Heading> {
    let [Some(kind), Some(center), Some(time), bbb] = groups else { return None };
    let letters = |field: &[u8]| field.iter().all(u8::is_ascii_uppercase);
    let digits = |field: &[u8]| field.iter().all(u8::is_ascii_digit);
    // Some centers leave out the ii.
    let shaped = matches!(kind.len(), 4 | 6)
        && letters(&kind[..4])
        && digits(&kind[4..])
        && center.len() == 4
        && center.iter().all(u8::is_ascii_alphanumeric)
        && time.len() == 6
        && digits(time)
        && bbb.is_none_or(|bbb| bbb.len() == 3 && letters(bbb));
    shaped.then(|| Heading {
        kind: if &kind[..2] == b"SP" { MetarKind::Special } else { MetarKind::Unknown },
        revision: match bbb {
            Some([b'C', b'C', letter]) => letter - b'A' + 1,
            _ => 0,
        },
        foreign: match &kind[..2] {
            b"SA" | b"SP" => None,
            other => Some([other[0], other[1]]),
        },
    })
}

/// Whether a line can only be the start of a report: it is not indented, and begins with the name
/// of the code, an ogimet timestamp, or a station and a time.
fn starts_report(indent: u8, first: &[u8], second: Option<&[u8]>) -> bool {
    let is_time = |group: &[u8]| matches!(group, [digits @ .., b'Z'] if digits.len() == 6 && digits.iter().all(u8::is_ascii_digit));
    indent > b' '
        && (matches!(first, b"METAR" | b"SPECI")
            || joined_time(first).is_some()
            || (first.len() == 4 && second.is_some_and(is_time)))
}

/// Reads ogimet's `YYYYMMDDHHMM`.
fn joined_time(stamp: &[u8]) -> Option<i64> {
    let text =
        std::str::from_utf8(stamp).ok().filter(|text| text.len() == 12 && text.is_ascii())?;
    let (date, time) = text.split_at(8);
    iso(&date[..4], &date[4..6], &date[6..], &time[..2], &time[2..])
}

/// Reads `YYYY/MM/DD HH:MM`.
fn slashed_time(date: &[u8], time: &[u8]) -> Option<i64> {
    let text = |bytes: &[u8], length| {
        std::str::from_utf8(bytes)
            .ok()
            .filter(|text| text.len() == length && text.is_ascii())
            .map(str::to_owned)
    };
    let (date, time) = (text(date, 10)?, text(time, 5)?);
    let separated = &date[4..5] == "/" && &date[7..8] == "/" && &time[2..3] == ":";
    if !separated {
        return None;
    }
    iso(&date[..4], &date[5..7], &date[8..], &time[..2], &time[3..])
}

fn iso(year: &str, month: &str, day: &str, hour: &str, minute: &str) -> Option<i64> {
    parse_instant(&format!("{year}-{month}-{day}T{hour}:{minute}Z")).ok()
}

/// Whether a line is a whole report: a station, a time, and the wind or what replaces it. A
/// forecast has its period there.
fn is_report(line: &str) -> bool {
    let is_marker = |group: &&str| matches!(*group, "AUTO" | "COR" | "CCA" | "CCB");
    let third = line.split_ascii_whitespace().skip(2).find(|group| !is_marker(group));
    third.is_some_and(|group| group.trim_end_matches('=') == "NIL" || is_wind(group.as_bytes()))
        && Metar::parse(line).is_ok()
}

/// Whether a file looks like one of this kind.
pub(in crate::feed) fn is_sign(_name: &str, start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    text.lines().any(|line| {
        if is_report(line) {
            return true;
        }
        let mut words = line.split_ascii_whitespace();
        let first = words.next().unwrap_or_default();
        let heading = || words.clone().next().is_some_and(|word| word.len() == 4);
        matches!(first, "METAR" | "SPECI")
            || line.contains(" METAR ")
            || line.contains(" SPECI ")
            || (first.len() == 6
                && (first.starts_with("SA") || first.starts_with("SP"))
                && heading())
    })
}

/// Reads a file of this kind.
pub(in crate::feed) fn read(
    input: &mut dyn BufRead,
    file: &FileContext<'_>,
    visit: &mut dyn FnMut(FeedReport),
) -> Result<Summary, FeedError> {
    read_bulletins(input, file.received_ms, |item| visit(metar_feed_report(item, file)))
}

#[cfg(test)]
#[path = "bulletin_tests.rs"]
mod tests;

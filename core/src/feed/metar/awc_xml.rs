//! The Aviation Weather Center's data server XML, schema `metar1_2` and later.

use std::io::BufRead;

use quick_xml::events::Event;

use super::Metar;
use super::awc_csv::awc_altitude_m;
use super::metar_item::MetarItem;
use super::series::metar_feed_report;
use crate::feed::item::{FeedReport, FileContext};
use crate::feed::plausible;
use crate::feed::sign::holds;
use crate::feed::summary::{FeedError, FilePlace, RefusalReason, Summary};
use crate::feed::text::xml::{MAX_EVENT_BYTES, XmlEvents};

/// Reads the reports of an XML document and visits each.
///
/// A report is a `METAR` element with the children `raw_text`, `station_id`, `observation_time`,
/// `latitude`, `longitude`, `elevation_m` and `metar_type`, anywhere in the document. As with the
/// table, reports are decoded from `raw_text` and the decoded elements are ignored.
///
/// # Errors
/// If the source fails, or if the text is not well-formed, nests deeper than 32 levels or has more
/// than 16 KiB between two tags: the start of the next report could then not be found. A report
/// that cannot be read is counted and listed in the summary.
///
/// ```
/// use mesonet::feed::read_awc_xml;
/// let document = "<response><data num_results=\"1\"><METAR>
///     <raw_text>KBUF 312354Z 21014KT 02/M07 A2973</raw_text>
///     <observation_time>2019-12-31T23:54:00Z</observation_time>
/// </METAR></data></response>";
/// let mut stations = Vec::new();
/// read_awc_xml(document.as_bytes(), |item| stations.push(item.native_id.to_owned()))?;
/// assert_eq!(stations, ["KBUF"]);
/// # Ok::<(), mesonet::feed::FeedError>(())
/// ```
pub fn read_awc_xml(
    input: impl BufRead,
    mut visit: impl FnMut(MetarItem<'_>),
) -> Result<Summary, FeedError> {
    let mut events = XmlEvents::new(input);
    let mut summary = Summary::default();
    let mut record: Option<MetarElement> = None;
    loop {
        match events.next()? {
            (byte, Event::Start(tag)) => match (&mut record, tag.local_name().as_ref()) {
                (None, "METAR") => record = Some(MetarElement::new(byte)),
                (Some(record), name) => record.open = Field::named(name),
                (None, _) => {}
            },
            (_, Event::End(tag)) => {
                if let Some(open) = &mut record {
                    open.open = None;
                    if tag.local_name().as_ref() == "METAR" {
                        match open.visit(&mut visit) {
                            Ok(unread_groups) => summary.read_metar(unread_groups),
                            Err(reason) => {
                                let place = FilePlace::Byte(open.start);
                                summary.refuse(place, open.text(Field::RawText).as_bytes(), reason);
                            }
                        }
                        record = None;
                    }
                }
            }
            (_, Event::Text(text)) => push(&mut record, &text),
            (_, Event::CData(text)) => push(&mut record, &text),
            (_, Event::GeneralRef(reference)) => {
                let mut utf8 = [0; 4];
                let text = match reference.resolve_char_ref() {
                    Ok(Some(character)) => &*character.encode_utf8(&mut utf8),
                    _ => quick_xml::escape::resolve_predefined_entity(&reference).unwrap_or("?"),
                };
                push(&mut record, text);
            }
            (_, Event::Eof) => return Ok(summary),
            _ => {}
        }
    }
}

/// Adds text to the open field.
fn push(record: &mut Option<MetarElement>, text: &str) {
    if let Some(record) = record
        && let Some(field) = record.open
    {
        let field = &mut record.fields[field as usize];
        if field.len() + text.len() <= MAX_EVENT_BYTES {
            field.push_str(text);
        } else {
            record.too_long = true;
        }
    }
}

/// The children that are read.
#[derive(Clone, Copy)]
enum Field {
    RawText,
    StationId,
    ObservationTime,
    Latitude,
    Longitude,
    Elevation,
    MetarType,
}

impl Field {
    const COUNT: usize = 7;

    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "raw_text" => Self::RawText,
            "station_id" => Self::StationId,
            "observation_time" => Self::ObservationTime,
            "latitude" => Self::Latitude,
            "longitude" => Self::Longitude,
            "elevation_m" => Self::Elevation,
            "metar_type" => Self::MetarType,
            _ => return None,
        })
    }
}

/// One `METAR` element, as far as it has been read.
struct MetarElement {
    start: u64,
    open: Option<Field>,
    fields: [String; Field::COUNT],
    too_long: bool,
}

impl MetarElement {
    fn new(start: u64) -> Self {
        Self { start, open: None, fields: Default::default(), too_long: false }
    }

    fn text(&self, field: Field) -> &str {
        self.fields[field as usize].trim()
    }

    fn visit(&self, visit: &mut impl FnMut(MetarItem<'_>)) -> Result<u16, RefusalReason> {
        if self.too_long {
            return Err(RefusalReason::TooLong { limit: MAX_EVENT_BYTES });
        }
        let raw_text = self.text(Field::RawText);
        let ts_ms = plausible::observed(self.text(Field::ObservationTime))?;
        let metar = Metar::parse_beside(raw_text, ts_ms)?;
        let station_id = self.text(Field::StationId);
        let coordinate = |field| self.text(field).parse::<f64>().ok();
        // A place that is empty or unknown is ignored; the report is valid without it.
        let place = coordinate(Field::Longitude)
            .zip(coordinate(Field::Latitude))
            .and_then(|(lon, lat)| plausible::place(lon, lat));
        visit(MetarItem {
            native_id: if station_id.is_empty() { metar.station.as_str() } else { station_id },
            ts_ms,
            raw_text,
            header: None,
            place,
            altitude_m: coordinate(Field::Elevation).and_then(awc_altitude_m),
            kind: metar.kind.or_named(self.text(Field::MetarType).as_bytes()),
            metar,
        });
        Ok(metar.unread_groups)
    }
}

/// Whether a file looks like one of this kind.
pub(in crate::feed) fn is_sign(_name: &str, start: &[u8]) -> bool {
    holds(start, "<METAR>") || holds(start, "<raw_text>")
}

/// Reads a file of this kind.
pub(in crate::feed) fn read(
    input: &mut dyn BufRead,
    file: &FileContext<'_>,
    visit: &mut dyn FnMut(FeedReport),
) -> Result<Summary, FeedError> {
    read_awc_xml(input, |item| visit(metar_feed_report(item, file)))
}

#[cfg(test)]
#[path = "awc_xml_tests.rs"]
mod tests;

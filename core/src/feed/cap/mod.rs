//! The Common Alerting Protocol, versions 1.1 and 1.2: alerts of Canada (CAP-CP, with ECCC's
//! layers; Alert Ready) and of the United States (weather service, IPAWS).
//!
//! | What | Where |
//! | --- | --- |
//! | Elements of a document as texts | `document.rs` |
//! | From texts to an alert, from any issuer | `message.rs` |
//! | Polygons, circles, zones | `area.rs` |
//! | Severity, urgency, certainty, codes, the web link | `scale.rs` |
//! | Kind of an alert by the name of its event | `event.rs` |
//! | Parameters of ECCC | `eccc.rs` |
//! | Parameters of the weather service of the United States | `nws.rs` |

mod area;
mod document;
mod eccc;
pub(super) mod event;
mod message;
pub(super) mod nws;
pub(super) mod scale;

use std::io::BufRead;

use super::sign::holds;
use super::summary::{FeedError, FilePlace, Summary};
use crate::alert;

pub(super) use area::same_zones;
pub(super) use message::MAX_REFERENCES;

/// Maximum size of a file. The longest real file, with 104 zones in two languages, has 250 KB; a
/// file that embeds an image may have a few MB.
///
/// ```
/// use mesonet::feed::{FeedError, MAX_CAP_BYTES, read_cap};
/// let comment = format!("<!--{}-->", "x".repeat(8_000));
/// let comments = comment.repeat(MAX_CAP_BYTES as usize / 8_000);
/// let refused = read_cap(format!("<alerts>{comments}</alerts>").as_bytes(), |_| ());
/// assert_eq!(refused, Err(FeedError::TooLong { limit: MAX_CAP_BYTES }));
/// ```
pub const MAX_CAP_BYTES: u64 = 16 << 20;

/// Reads the messages of a document and visits each.
///
/// A message is an `alert` element in a namespace of CAP, anywhere in the document. Only messages
/// with `status` Actual, `scope` Public and `msgType` Alert, Update or Cancel are read; tests,
/// exercises, drafts and messages between systems are refused with the reason. `info` blocks that
/// say the same about the same areas in several languages become one part of the message.
///
/// | CAP | Alert |
/// | --- | --- |
/// | `senderName`, else `sender` | issuer |
/// | `effective`, `onset`, `expires`, `severity`, `urgency`, `certainty`, `headline`, `description`, `instruction`, `eventCode` | as named |
/// | `web`, if it is an address with http or https | web link |
/// | geocode SAME or FIPS6 | SAME codes |
/// | ECCC's `Alert_Name`, else `event` | event |
/// | ECCC's `Alert_Type`; VTEC's significance; the name of the event | alert type |
/// | ECCC's `MSC_Impact`; of others, the severity | impact |
/// | ECCC's `Colour`, `MSC_Confidence`, `MSC_Risk_Tiered_Ranking`, `Event_End_Time`, `Alert_Coverage`, `Designation_Code`, `Storm_…` | as named |
/// | `eventEndingTime`, else the end in VTEC | end of the event |
/// | `eventMotionDescription` | storm |
/// | `references` | ids of the messages before it |
/// | ECCC's `Alert_Location_Status` (1.1 before 1.0); VTEC's action; else `responseType` AllClear | whether it has ended |
/// | `area` with ECCC's geocode `DLC` | threat area and its status |
/// | `area` with one geocode CLC or UGC, or else SAME | area of that [zone](crate::zone::Code::of_same) |
/// | `area` with several | an area for each zone, and one for what is drawn |
///
/// - The areas that a block draws, and the zones that it only names, are two parts of the message.
/// - An open ring is closed, a ring that crosses itself is
///   [mended](crate::geo::MultiPolygon::mended), and a longitude beyond 180° is counted from the
///   other side. A ring without an area or around a pole is left out and counted. A circle becomes
///   a polygon whose edges deviate from it by at most a hundredth of its radius, or 10 m if that is
///   more. A circle around a pole is left out and counted, and a circle without a radius is not an
///   area.
/// - The encoding is the declared one, else that of the byte order mark, else UTF-8.
/// - Values that an issuer does not give are Unknown or absent. No colour is made up for the United
///   States.
/// - Signatures are not checked, resources are not read.
///
/// # Errors
/// If the source fails, if the file has more than 16 MiB, or if the text is not well-formed, has a
/// document type or an entity of its own, or nests deeper than 32 levels. A message that cannot be
/// read is counted and listed in the summary, including one with more than 64 `info` blocks, 5,000
/// areas, 500,000 positions or 2,000 references.
///
/// ```
/// use mesonet::feed::read_cap;
/// let document = r#"<alert xmlns="urn:oasis:names:tc:emergency:cap:1.2">
///     <identifier>1</identifier><sender>a@example.org</sender>
///     <sent>2026-08-12T23:07:41-00:00</sent><status>Exercise</status>
///     <msgType>Alert</msgType><scope>Public</scope>
/// </alert>"#;
/// let mut alerts = Vec::new();
/// let summary = read_cap(document.as_bytes(), |alert| alerts.push(alert))?;
/// assert!(alerts.is_empty());
/// assert_eq!(
///     summary.refusals[0].reason.to_string(),
///     "not an official alert: status is \"Exercise\"; allowed: Actual",
/// );
/// # Ok::<(), mesonet::feed::FeedError>(())
/// ```
pub fn read_cap(
    input: impl BufRead,
    mut visit: impl FnMut(alert::Message),
) -> Result<Summary, FeedError> {
    let mut summary = Summary::default();
    // One byte more, to tell a file of the maximum size from a longer one.
    let mut input = input.take(MAX_CAP_BYTES + 1);
    let read = document::read(&mut input, |start, alert| {
        let id = alert.identifier.get().unwrap_or_default().to_owned();
        match alert.refused().map_or_else(|| message::message(alert, &mut summary), Err) {
            Ok(message) => {
                visit(message);
                summary.read += 1;
            }
            Err(reason) => summary.refuse(FilePlace::Byte(start), id.as_bytes(), reason),
        }
    });
    if input.limit() == 0 {
        return Err(FeedError::TooLong { limit: MAX_CAP_BYTES });
    }
    read?;
    Ok(summary)
}

/// Whether a file looks like one of this kind.
pub(super) fn is_sign(_name: &str, start: &[u8]) -> bool {
    holds(start, "urn:oasis:names:tc:emergency:cap:")
}

/// Reads a file of this kind.
pub(super) fn read(
    input: &mut dyn BufRead,
    visit: &mut dyn FnMut(alert::Message),
) -> Result<Summary, FeedError> {
    read_cap(input, visit)
}

#[cfg(test)]
#[path = "cap_tests.rs"]
mod tests;

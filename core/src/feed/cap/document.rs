//! The elements of CAP documents, as texts.

use std::io::BufRead;

use quick_xml::events::Event;

use super::super::summary::{FeedError, RefusalReason};
use crate::feed::text::xml::{XmlEvents, each_attribute, fault};

/// Maximum length of text between two tags (an image inside the message), and of any other text.
const MAX_TEXT_BYTES: usize = 8 << 20;
/// Maximum number of `info` blocks of a message; real ones have up to 4.
const MAX_INFOS: usize = 64;
/// Maximum number of `area` elements of a message; real ones have up to 208.
const MAX_AREAS: usize = 5_000;
/// Maximum number of parameters, of event codes, and of geocodes, of one element; real ones have up to 36.
const MAX_PAIRS: usize = 5_000;

/// A message.
#[derive(Debug, Default)]
pub(super) struct CapAlert {
    pub identifier: Once,
    pub sender: Once,
    pub sent: Once,
    pub status: Once,
    pub msg_type: Once,
    pub scope: Once,
    pub references: Once,
    pub infos: Vec<CapInfo>,
    areas: usize,
    refused: Option<RefusalReason>,
}

/// An `info` block.
#[derive(Debug, Default)]
pub(super) struct CapInfo {
    pub language: Once,
    pub event: Once,
    pub urgency: Once,
    pub severity: Once,
    pub certainty: Once,
    pub event_codes: Vec<Pair>,
    pub response_types: Vec<String>,
    pub effective: Once,
    pub onset: Once,
    pub expires: Once,
    pub sender_name: Once,
    pub headline: Once,
    pub description: Once,
    pub instruction: Once,
    pub web: Once,
    pub parameters: Vec<Pair>,
    pub areas: Vec<CapArea>,
}

/// An `area` element.
#[derive(Debug, Default)]
pub(super) struct CapArea {
    pub description: Once,
    pub polygons: Vec<String>,
    pub circles: Vec<String>,
    pub geocodes: Vec<Pair>,
}

/// A name and a value.
#[derive(Debug, Default)]
pub(super) struct Pair {
    pub name: String,
    pub value: String,
}

/// A text that may occur once.
#[derive(Debug, Default)]
pub(super) struct Once(Option<String>);

impl Once {
    /// The text, if it is present and not empty.
    pub(super) fn get(&self) -> Option<&str> {
        self.0.as_deref().filter(|text| !text.is_empty())
    }

    fn set(&mut self, what: &'static str, text: String) -> Result<(), RefusalReason> {
        match self.0.replace(text) {
            None => Ok(()),
            Some(_) => Err(RefusalReason::Twice { what }),
        }
    }
}

impl CapAlert {
    /// Why the message cannot be read, if its form is invalid.
    pub(super) fn refused(&self) -> Option<RefusalReason> {
        self.refused.clone()
    }
}

impl CapInfo {
    /// The first value of a parameter.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        let pair = self.parameters.iter().find(|pair| pair.name == name)?;
        Some(pair.value.as_str()).filter(|value| !value.is_empty())
    }

    /// Every value of a parameter.
    pub(super) fn parameters<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let named = self.parameters.iter().filter(move |pair| pair.name == name);
        named.map(|pair| pair.value.as_str()).filter(|value| !value.is_empty())
    }
}

/// An element on the path from the message to a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CapElement {
    Alert,
    Info,
    EventCode,
    Parameter,
    Area,
    Geocode,
    Text(&'static str),
    Other,
}

impl CapElement {
    fn named(parent: Self, name: &str) -> Self {
        match (parent, name) {
            (Self::Alert, "info") => Self::Info,
            (Self::Info, "area") => Self::Area,
            (Self::Info, "eventCode") => Self::EventCode,
            (Self::Info, "parameter") => Self::Parameter,
            (Self::Area, "geocode") => Self::Geocode,
            _ => TEXTS
                .iter()
                .find(|(of, text)| *of == parent && *text == name)
                .map_or(Self::Other, |(_, text)| Self::Text(text)),
        }
    }
}

/// The texts that are read, with their parent elements.
const TEXTS: [(CapElement, &str); 30] = [
    (CapElement::Alert, "identifier"),
    (CapElement::Alert, "sender"),
    (CapElement::Alert, "sent"),
    (CapElement::Alert, "status"),
    (CapElement::Alert, "msgType"),
    (CapElement::Alert, "scope"),
    (CapElement::Alert, "references"),
    (CapElement::Info, "language"),
    (CapElement::Info, "event"),
    (CapElement::Info, "urgency"),
    (CapElement::Info, "severity"),
    (CapElement::Info, "certainty"),
    (CapElement::Info, "responseType"),
    (CapElement::Info, "effective"),
    (CapElement::Info, "onset"),
    (CapElement::Info, "expires"),
    (CapElement::Info, "senderName"),
    (CapElement::Info, "headline"),
    (CapElement::Info, "description"),
    (CapElement::Info, "instruction"),
    (CapElement::Info, "web"),
    (CapElement::EventCode, "valueName"),
    (CapElement::EventCode, "value"),
    (CapElement::Parameter, "valueName"),
    (CapElement::Parameter, "value"),
    (CapElement::Area, "areaDesc"),
    (CapElement::Area, "polygon"),
    (CapElement::Area, "circle"),
    (CapElement::Geocode, "valueName"),
    (CapElement::Geocode, "value"),
];

/// Reads a document and visits each message, with the number of bytes before it.
pub(super) fn read(
    input: impl BufRead,
    mut visit: impl FnMut(u64, &CapAlert),
) -> Result<(), FeedError> {
    let mut events = XmlEvents::with_limit(input, MAX_TEXT_BYTES);
    let mut is_cap = false;
    let mut path: Vec<CapElement> = Vec::new();
    let (mut start, mut alert, mut text) = (0, CapAlert::default(), String::new());
    loop {
        let (byte, event) = events.next()?;
        match event {
            Event::Start(tag) => {
                let name = tag.local_name();
                if let Some(&parent) = path.last() {
                    let element = CapElement::named(parent, name.as_ref());
                    text.clear();
                    alert.open(element);
                    path.push(element);
                } else {
                    is_cap |= declares_cap(byte, &tag)?;
                    if is_cap && name.as_ref() == "alert" {
                        (start, alert) = (byte, CapAlert::default());
                        path.push(CapElement::Alert);
                    }
                }
            }
            Event::Empty(tag) => {
                // `<references/>` means the same as no element.
                is_cap |= path.is_empty() && declares_cap(byte, &tag)?;
            }
            Event::End(_) => {
                if let Some(CapElement::Text(name)) = path.last() {
                    let parent = path[path.len() - 2];
                    alert.take(parent, name, text.trim());
                }
                if path.pop() == Some(CapElement::Alert) {
                    visit(start, &alert);
                }
            }
            Event::Text(more) => push(&path, &mut text, &more),
            Event::CData(more) => push(&path, &mut text, &more),
            Event::GeneralRef(reference) => {
                let mut utf8 = [0; 4];
                let more = match reference.resolve_char_ref() {
                    Ok(Some(character)) => &*character.encode_utf8(&mut utf8),
                    _ => quick_xml::escape::resolve_predefined_entity(&reference)
                        .ok_or_else(|| fault(byte, "an entity that XML does not predefine"))?,
                };
                push(&path, &mut text, more);
            }
            Event::DocType(_) => {
                return Err(fault(byte, "a document type, which is not allowed"));
            }
            Event::Eof if is_cap => return Ok(()),
            Event::Eof => {
                let text = "no element in a namespace of CAP: urn:oasis:names:tc:emergency:cap:1.1 \
                            and 1.2 are read";
                return Err(FeedError::NotThisKind(text.to_owned()));
            }
            _ => {}
        }
    }
}

fn push(path: &[CapElement], text: &mut String, more: &str) {
    if matches!(path.last(), Some(CapElement::Text(_))) {
        text.push_str(more);
    }
}

/// Whether a tag declares one of the supported namespaces.
fn declares_cap(byte: u64, tag: &quick_xml::events::BytesStart<'_>) -> Result<bool, FeedError> {
    let mut declared = false;
    each_attribute(byte, tag, |name, value| {
        let version = value.strip_prefix("urn:oasis:names:tc:emergency:cap:");
        declared |= name.starts_with("xmlns") && matches!(version, Some("1.1" | "1.2"));
    })?;
    Ok(declared)
}

impl CapAlert {
    fn refuse(&mut self, reason: RefusalReason) {
        self.refused.get_or_insert(reason);
    }

    fn open(&mut self, element: CapElement) {
        let too_many = |what, limit| RefusalReason::TooMany { what, limit };
        match element {
            CapElement::Info if self.infos.len() == MAX_INFOS => {
                self.refuse(too_many("info blocks", MAX_INFOS));
            }
            CapElement::Area if self.areas == MAX_AREAS => {
                self.refuse(too_many("areas", MAX_AREAS));
            }
            _ => {}
        }
        // A message that has already been refused is read to its end, but nothing of it is kept.
        if self.refused.is_some() {
            return;
        }
        let info = self.infos.last_mut();
        match (element, info) {
            (CapElement::Info, _) => self.infos.push(CapInfo::default()),
            (CapElement::Area, Some(info)) => {
                self.areas += 1;
                info.areas.push(CapArea::default());
            }
            (CapElement::EventCode, Some(info)) => {
                info.event_codes.push(Pair::default());
                if info.event_codes.len() > MAX_PAIRS {
                    self.refuse(too_many("event codes", MAX_PAIRS));
                }
            }
            (CapElement::Parameter, Some(info)) => {
                info.parameters.push(Pair::default());
                if info.parameters.len() > MAX_PAIRS {
                    self.refuse(too_many("parameters", MAX_PAIRS));
                }
            }
            (CapElement::Geocode, Some(info)) => {
                if let Some(area) = info.areas.last_mut() {
                    area.geocodes.push(Pair::default());
                    if area.geocodes.len() > MAX_PAIRS {
                        self.refuse(too_many("geocodes", MAX_PAIRS));
                    }
                }
            }
            _ => {}
        }
    }

    fn take(&mut self, parent: CapElement, name: &'static str, text: &str) {
        if self.refused.is_none()
            && let Err(reason) = self.set(parent, name, text.to_owned())
        {
            self.refuse(reason);
        }
    }

    fn set(
        &mut self,
        parent: CapElement,
        name: &'static str,
        text: String,
    ) -> Result<(), RefusalReason> {
        if parent == CapElement::Alert {
            let field = match name {
                "identifier" => &mut self.identifier,
                "sender" => &mut self.sender,
                "sent" => &mut self.sent,
                "status" => &mut self.status,
                "msgType" => &mut self.msg_type,
                "scope" => &mut self.scope,
                _ => &mut self.references,
            };
            return field.set(name, text);
        }
        let Some(info) = self.infos.last_mut() else { return Ok(()) };
        match parent {
            CapElement::Info => return info.set(name, text),
            CapElement::Parameter | CapElement::EventCode => {
                let of_event = parent == CapElement::EventCode;
                let pairs = if of_event { &mut info.event_codes } else { &mut info.parameters };
                if let Some(pair) = pairs.last_mut() {
                    pair.set(name, text);
                }
            }
            _ => {
                let Some(area) = info.areas.last_mut() else { return Ok(()) };
                match name {
                    "areaDesc" => return area.description.set(name, text),
                    "polygon" => area.polygons.push(text),
                    "circle" => area.circles.push(text),
                    _ => {
                        if let Some(pair) = area.geocodes.last_mut() {
                            pair.set(name, text);
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

impl CapInfo {
    fn set(&mut self, name: &'static str, text: String) -> Result<(), RefusalReason> {
        let field = match name {
            "responseType" => {
                self.response_types.push(text);
                return Ok(());
            }
            "language" => &mut self.language,
            "event" => &mut self.event,
            "urgency" => &mut self.urgency,
            "severity" => &mut self.severity,
            "certainty" => &mut self.certainty,
            "effective" => &mut self.effective,
            "onset" => &mut self.onset,
            "expires" => &mut self.expires,
            "senderName" => &mut self.sender_name,
            "headline" => &mut self.headline,
            "description" => &mut self.description,
            "web" => &mut self.web,
            _ => &mut self.instruction,
        };
        field.set(name, text)
    }
}

impl Pair {
    fn set(&mut self, name: &'static str, text: String) {
        *(if name == "value" { &mut self.value } else { &mut self.name }) = text;
    }
}

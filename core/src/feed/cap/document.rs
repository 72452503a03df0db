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
enum Element {
    Alert,
    Info,
    EventCode,
    Parameter,
    Area,
    Geocode,
    Text(&'static str),
    Other,
}

impl Element {
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
const TEXTS: [(Element, &str); 30] = [
    (Element::Alert, "identifier"),
    (Element::Alert, "sender"),
    (Element::Alert, "sent"),
    (Element::Alert, "status"),
    (Element::Alert, "msgType"),
    (Element::Alert, "scope"),
    (Element::Alert, "references"),
    (Element::Info, "language"),
    (Element::Info, "event"),
    (Element::Info, "urgency"),
    (Element::Info, "severity"),
    (Element::Info, "certainty"),
    (Element::Info, "responseType"),
    (Element::Info, "effective"),
    (Element::Info, "onset"),
    (Element::Info, "expires"),
    (Element::Info, "senderName"),
    (Element::Info, "headline"),
    (Element::Info, "description"),
    (Element::Info, "instruction"),
    (Element::Info, "web"),
    (Element::EventCode, "valueName"),
    (Element::EventCode, "value"),
    (Element::Parameter, "valueName"),
    (Element::Parameter, "value"),
    (Element::Area, "areaDesc"),
    (Element::Area, "polygon"),
    (Element::Area, "circle"),
    (Element::Geocode, "valueName"),
    (Element::Geocode, "value"),
];

/// Reads a document and visits each message, with the number of bytes before it.
pub(super) fn read(
    input: impl BufRead,
    mut visit: impl FnMut(u64, &CapAlert),
) -> Result<(), FeedError> {
    let mut events = XmlEvents::with_limit(input, MAX_TEXT_BYTES);
    let mut is_cap = false;
    let mut path: Vec<Element> = Vec::new();
    let (mut start, mut alert, mut text) = (0, CapAlert::default(), String::new());
    loop {
        let (byte, event) = events.next()?;
        match event {
            Event::Start(tag) => {
                let name = tag.local_name();
                if let Some(&parent) = path.last() {
                    let element = Element::named(parent, name.as_ref());
                    text.clear();
                    alert.open(element);
                    path.push(element);
                } else {
                    is_cap |= declares_cap(byte, &tag)?;
                    if is_cap && name.as_ref() == "alert" {
                        (start, alert) = (byte, CapAlert::default());
                        path.push(Element::Alert);
                    }
                }
            }
            Event::Empty(tag) => {
                // `<references/>` means the same as no element.
                is_cap |= path.is_empty() && declares_cap(byte, &tag)?;
            }
            Event::End(_) => {
                if let Some(Element::Text(name)) = path.last() {
                    let parent = path[path.len() - 2];
                    alert.take(parent, name, text.trim());
                }
                if path.pop() == Some(Element::Alert) {
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

fn push(path: &[Element], text: &mut String, more: &str) {
    if matches!(path.last(), Some(Element::Text(_))) {
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

    fn open(&mut self, element: Element) {
        let too_many = |what, limit| RefusalReason::TooMany { what, limit };
        match element {
            Element::Info if self.infos.len() == MAX_INFOS => {
                self.refuse(too_many("info blocks", MAX_INFOS));
            }
            Element::Area if self.areas == MAX_AREAS => {
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
            (Element::Info, _) => self.infos.push(CapInfo::default()),
            (Element::Area, Some(info)) => {
                self.areas += 1;
                info.areas.push(CapArea::default());
            }
            (Element::EventCode, Some(info)) => {
                info.event_codes.push(Pair::default());
                if info.event_codes.len() > MAX_PAIRS {
                    self.refuse(too_many("event codes", MAX_PAIRS));
                }
            }
            (Element::Parameter, Some(info)) => {
                info.parameters.push(Pair::default());
                if info.parameters.len() > MAX_PAIRS {
                    self.refuse(too_many("parameters", MAX_PAIRS));
                }
            }
            (Element::Geocode, Some(info)) => {
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

    fn take(&mut self, parent: Element, name: &'static str, text: &str) {
        if self.refused.is_none()
            && let Err(reason) = self.set(parent, name, text.to_owned())
        {
            self.refuse(reason);
        }
    }

    fn set(
        &mut self,
        parent: Element,
        name: &'static str,
        text: String,
    ) -> Result<(), RefusalReason> {
        if parent == Element::Alert {
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
            Element::Info => return info.set(name, text),
            Element::Parameter | Element::EventCode => {
                let of_event = parent == Element::EventCode;
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

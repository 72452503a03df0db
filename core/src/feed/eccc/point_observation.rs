//! Point observations of the Meteorological Service of Canada: the document that SWOB-ML and the
//! provincial summaries share, one observation at a time.

use std::io::BufRead;
use std::ops::Range;

use quick_xml::events::{BytesStart, Event};

use crate::feed::summary::{FeedError, FilePlace, RefusalReason, Summary};
use crate::feed::text::xml::{XmlEvents, each_attribute};

/// Maximum size of the texts of one observation; the largest real one has 10 KB.
const MAX_TEXT_BYTES: usize = 512 * 1024;
/// Maximum number of elements of one observation; the largest real one has 150.
const MAX_ELEMENTS: usize = 4096;

/// One `om:Observation`, as far as it describes a station and its values.
pub(in crate::feed) struct PointObservation {
    text: String,
    dataset: Range<usize>,
    identification: Vec<ElementRanges>,
    elements: Vec<ElementRanges>,
    /// Why the observation is too large to be read.
    too_large: Option<RefusalReason>,
}

#[derive(Clone, Default)]
struct ElementRanges {
    name: Range<usize>,
    unit: Range<usize>,
    value: Range<usize>,
    code_type: Range<usize>,
    qa_summary: Range<usize>,
}

/// One `element`: a value and its description. Missing attributes are empty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::feed) struct Element<'a> {
    pub name: &'a str,
    pub unit: &'a str,
    pub value: &'a str,
    /// The table to which a code belongs.
    pub code_type: &'a str,
    /// The value of the qualifier of this name.
    pub qa_summary: &'a str,
}

impl Element<'_> {
    /// Whether the element has a value; `MSNG` and empty text mean no value.
    pub(crate) fn has_value(&self) -> bool {
        !matches!(self.value, "" | "MSNG")
    }

    /// The value as a number, if it is a finite one.
    pub(crate) fn number(&self) -> Option<f64> {
        self.value.parse().ok().filter(|value: &f64| value.is_finite())
    }
}

impl PointObservation {
    fn new() -> Self {
        Self {
            text: String::new(),
            dataset: 0..0,
            identification: Vec::new(),
            elements: Vec::new(),
            too_large: None,
        }
    }

    /// An observation in another notation, to be filled.
    pub(super) fn of_dataset(name: &str) -> Self {
        let mut observation = Self::new();
        observation.dataset = observation.push_text(name);
        observation
    }

    /// Adds an identification element.
    pub(super) fn identify(&mut self, name: &str, unit: &str, value: &str) {
        let ranges = self.ranges(name, unit, value, "");
        self.add(Section::Identification, ranges);
    }

    /// Adds an element with the value of its `qa_summary`.
    pub(super) fn measure(&mut self, name: &str, unit: &str, value: &str, qa_summary: &str) {
        let ranges = self.ranges(name, unit, value, qa_summary);
        self.add(Section::Elements, ranges);
    }

    /// The observation, if it was not too large.
    pub(super) fn whole(self) -> Result<Self, RefusalReason> {
        if let Some(reason) = self.too_large { Err(reason) } else { Ok(self) }
    }

    fn ranges(&mut self, name: &str, unit: &str, value: &str, qa_summary: &str) -> ElementRanges {
        ElementRanges {
            name: self.push_text(name),
            unit: self.push_text(unit),
            value: self.push_text(value),
            qa_summary: self.push_text(qa_summary),
            ..ElementRanges::default()
        }
    }

    fn clear(&mut self) {
        self.text.clear();
        self.dataset = 0..0;
        self.identification.clear();
        self.elements.clear();
        self.too_large = None;
    }

    /// The name of the data set from which the observation was made.
    pub(crate) fn dataset(&self) -> &str {
        &self.text[self.dataset.clone()]
    }

    /// An identification element that has a value.
    pub(crate) fn identification(&self, name: &str) -> Option<Element<'_>> {
        let of_name = |ranges: &&ElementRanges| self.text[ranges.name.clone()] == *name;
        let element = self.identification.iter().find(of_name).map(|ranges| self.element(ranges));
        element.filter(Element::has_value)
    }

    /// The value of an identification element that a report requires.
    pub(crate) fn required(&self, name: &'static str) -> Result<&str, RefusalReason> {
        let element = self.identification(name).ok_or(RefusalReason::Without { what: name })?;
        Ok(element.value)
    }

    /// The values, in the order of the document.
    pub(crate) fn elements(&self) -> impl Iterator<Item = Element<'_>> {
        self.elements.iter().map(|ranges| self.element(ranges))
    }

    fn element(&self, ranges: &ElementRanges) -> Element<'_> {
        let text = |range: &Range<usize>| &self.text[range.clone()];
        Element {
            name: text(&ranges.name),
            unit: text(&ranges.unit),
            value: text(&ranges.value),
            code_type: text(&ranges.code_type),
            qa_summary: text(&ranges.qa_summary),
        }
    }

    fn push_text(&mut self, text: &str) -> Range<usize> {
        let start = self.text.len();
        if start + text.len() > MAX_TEXT_BYTES {
            self.too_large = Some(RefusalReason::TooLong { limit: MAX_TEXT_BYTES });
            return 0..0;
        }
        self.text.push_str(text.trim());
        start..self.text.len()
    }

    fn push(&mut self, section: Section, byte: u64, tag: &BytesStart<'_>) -> Result<(), FeedError> {
        let mut ranges = ElementRanges::default();
        each_attribute(byte, tag, |name, value| match name {
            "name" => ranges.name = self.push_text(&value),
            "uom" => ranges.unit = self.push_text(&value),
            "value" => ranges.value = self.push_text(&value),
            "code-type" => ranges.code_type = self.push_text(&value),
            _ => {}
        })?;
        self.add(section, ranges);
        Ok(())
    }

    fn add(&mut self, section: Section, ranges: ElementRanges) {
        if self.identification.len() + self.elements.len() == MAX_ELEMENTS {
            self.too_large = Some(RefusalReason::TooManyElements { limit: MAX_ELEMENTS });
            return;
        }
        match section {
            Section::Identification => self.identification.push(ranges),
            Section::Elements => self.elements.push(ranges),
        }
    }

    /// Adds a qualifier to the element before it.
    fn qualify(&mut self, byte: u64, tag: &BytesStart<'_>) -> Result<(), FeedError> {
        let mut is_summary = false;
        let mut value = 0..0;
        each_attribute(byte, tag, |name, text| match name {
            "name" => is_summary = text == "qa_summary",
            "value" => value = self.push_text(&text),
            _ => {}
        })?;
        if let Some(element) = self.elements.last_mut().filter(|_| is_summary) {
            element.qa_summary = value;
        }
        Ok(())
    }
}

/// The section whose elements are read: both sections have children of the same name.
#[derive(Clone, Copy, PartialEq)]
enum Section {
    Identification,
    Elements,
}

/// Reads the observations of a document in a schema and visits each. Observations that the visitor
/// refuses are counted.
///
/// # Errors
/// If the source fails, if the text is not well-formed, or if the document has another schema.
pub(in crate::feed) fn read_point_observations(
    input: impl BufRead,
    schema: &str,
    mut visit: impl FnMut(&PointObservation, &mut Summary) -> Result<(), RefusalReason>,
) -> Result<Summary, FeedError> {
    let mut events = XmlEvents::new(input);
    let mut summary = Summary::default();
    let mut observation = PointObservation::new();
    let mut started: Option<u64> = None;
    let mut section: Option<Section> = None;
    let mut has_root = false;
    loop {
        match events.next()? {
            (byte, Event::Start(tag) | Event::Empty(tag)) if !has_root => {
                check_root(byte, &tag, schema)?;
                has_root = true;
                if is_observation(&tag) {
                    started = Some(byte);
                }
            }
            (byte, Event::Start(tag)) => match (started, tag.local_name().as_ref()) {
                (None, "Observation") => {
                    observation.clear();
                    started = Some(byte);
                }
                (Some(_), "identification-elements") => section = Some(Section::Identification),
                (Some(_), "elements") => section = Some(Section::Elements),
                (Some(_), _) => take(&mut observation, section, byte, &tag)?,
                (None, _) => {}
            },
            (byte, Event::Empty(tag)) if started.is_some() => {
                take(&mut observation, section, byte, &tag)?;
            }
            (_, Event::End(tag)) => match (started, tag.local_name().as_ref()) {
                (Some(_), "identification-elements" | "elements") => section = None,
                (Some(start), "Observation") => {
                    let seen = match observation.too_large.take() {
                        Some(reason) => Err(reason),
                        None => visit(&observation, &mut summary),
                    };
                    if let Err(reason) = seen {
                        let dataset = observation.dataset().as_bytes();
                        summary.refuse(FilePlace::Byte(start), dataset, reason);
                    }
                    started = None;
                    section = None;
                }
                _ => {}
            },
            (_, Event::Eof) if has_root => return Ok(summary),
            (_, Event::Eof) => return Err(FeedError::NotThisKind("no elements".to_owned())),
            _ => {}
        }
    }
}

fn is_observation(tag: &BytesStart<'_>) -> bool {
    tag.local_name().as_ref() == "Observation"
}

/// Reads a tag inside an observation.
fn take(
    observation: &mut PointObservation,
    section: Option<Section>,
    byte: u64,
    tag: &BytesStart<'_>,
) -> Result<(), FeedError> {
    match (section, tag.local_name().as_ref()) {
        (Some(section), "element") => observation.push(section, byte, tag),
        (Some(Section::Elements), "qualifier") => observation.qualify(byte, tag),
        (None, "dataset") => each_attribute(byte, tag, |name, value| {
            if name == "name" {
                observation.dataset = observation.push_text(&value);
            }
        }),
        _ => Ok(()),
    }
}

/// Checks that the root declares observations in the schema.
fn check_root(byte: u64, tag: &BytesStart<'_>, schema: &str) -> Result<(), FeedError> {
    let mut in_schema = false;
    each_attribute(byte, tag, |name, value| {
        in_schema |= name.starts_with("xmlns") && value == schema;
    })?;
    if in_schema && (is_observation(tag) || tag.local_name().as_ref() == "ObservationCollection") {
        return Ok(());
    }
    let root: String = tag.name().as_ref().chars().take(60).collect();
    Err(FeedError::NotThisKind(format!(
        "the document is a <{root}>, not an ObservationCollection in the schema {schema}"
    )))
}

#[cfg(test)]
#[path = "point_observation_tests.rs"]
mod tests;

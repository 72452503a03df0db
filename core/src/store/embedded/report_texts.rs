//! The texts of reports: how runs hold them, and how they are kept in files.
//!
//! A text is a column beside a reading of a series of its own, whose value is the
//! [code](ReportText::code) of the report. So texts are merged, replaced and dropped as readings are.
//! They are sealed into segments of their own: what reads readings touches no byte of them.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use zstd::bulk::{Compressor, Decompressor};
use zstd::dict::{DecoderDictionary, EncoderDictionary};
use zstd::zstd_safe::{CParameter, get_frame_content_size};

use crate::observation::{ReportText, SeriesId};

/// The rows of a run that hold texts. No series has a negative id.
pub(super) const TEXTS: SeriesId = SeriesId(-2);
/// The slot of texts, which the table of series does not contain.
pub(super) const TEXTS_SLOT: u32 = u32::MAX - 1;

/// What a segment holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Content {
    /// Readings and present weather.
    #[default]
    Readings,
    /// Texts of reports.
    Texts,
}

impl Content {
    /// Where a series is sealed.
    pub(super) fn of(series: SeriesId) -> Self {
        if series == TEXTS { Self::Texts } else { Self::Readings }
    }
}

/// Divides the heading from the report; no text has control characters.
const AFTER_HEADER: char = '\t';
/// Divides the texts of a row of a file.
const AFTER_TEXT: char = '\n';

/// The longest text of a run.
const MOST_BYTES: usize = ReportText::MOST_BYTES + ReportText::MOST_HEADER_BYTES + 2;

/// Returns the text that a run holds for a report.
pub(super) fn held(text: &ReportText) -> String {
    match text.header() {
        Some(header) => format!("{header}{AFTER_HEADER}{}", text.text()),
        None => text.text().to_owned(),
    }
}

/// Returns the heading and the report of a text that a run holds.
pub(super) fn parts(held: &str) -> (Option<&str>, &str) {
    match held.split_once(AFTER_HEADER) {
        Some((header, text)) => (Some(header), text),
        None => (None, held),
    }
}

/// Texts one after another.
#[derive(Clone, Debug, Default)]
pub(super) struct TextColumn {
    ends: Vec<u32>,
    bytes: String,
}

impl TextColumn {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn push(&mut self, text: &str) {
        self.bytes.push_str(text);
        self.ends.push(self.bytes.len() as u32);
    }

    pub(super) fn extend(&mut self, part: &TextPart<'_>) {
        part.iter().for_each(|text| self.push(text));
    }

    /// Returns some of the texts.
    pub(super) fn part(&self, range: Range<usize>) -> TextPart<'_> {
        let all = TextPart { start: 0, ends: &self.ends, bytes: &self.bytes };
        all.range(range)
    }
}

/// Consecutive texts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TextPart<'a> {
    start: u32,
    ends: &'a [u32],
    bytes: &'a str,
}

impl<'a> TextPart<'a> {
    pub(super) fn new(ends: &'a [u32], bytes: &'a str) -> Self {
        Self { start: 0, ends, bytes }
    }

    /// Returns some of the texts; of no texts, none.
    pub(super) fn range(&self, range: Range<usize>) -> Self {
        if self.ends.is_empty() {
            return *self;
        }
        let start = range.start.checked_sub(1).map_or(self.start, |before| self.ends[before]);
        Self { start, ends: &self.ends[range], bytes: self.bytes }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let (mut start, bytes) = (self.start as usize, self.bytes);
        self.ends.iter().map(move |&end| {
            let text = &bytes[start..end as usize];
            start = end as usize;
            text
        })
    }
}

/// Groups of METAR reports, so that the few texts of a row need few bytes. Files name it: it never
/// changes. It was made of 15,490 reports of October 2022 in tests/data/metar, by `zstd --train
/// --maxdict=16384`.
static DICTIONARY: &[u8] = include_bytes!("metar.zstd_dictionary");
/// The name of the dictionary in the schema of a file.
pub(super) const DICTIONARY_NAME: &str = "metar-1";
/// Above it the texts of a month get 1 % smaller, and take several times as long.
const LEVEL: i32 = 9;

thread_local! {
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

fn compressor() -> std::io::Result<Compressor<'static>> {
    static PREPARED: OnceLock<EncoderDictionary<'static>> = OnceLock::new();
    let dictionary = PREPARED.get_or_init(|| EncoderDictionary::copy(DICTIONARY, LEVEL));
    let mut compressor = Compressor::with_prepared_dictionary(dictionary)?;
    // Blocks of the file have checksums, and the schema names the dictionary.
    compressor.set_parameter(CParameter::ChecksumFlag(false))?;
    compressor.set_parameter(CParameter::DictIdFlag(false))?;
    Ok(compressor)
}

fn decompressor() -> std::io::Result<Decompressor<'static>> {
    static PREPARED: OnceLock<DecoderDictionary<'static>> = OnceLock::new();
    let dictionary = PREPARED.get_or_init(|| DecoderDictionary::copy(DICTIONARY));
    Decompressor::with_prepared_dictionary(dictionary)
}

/// Compresses the texts of a row of a file.
pub(super) fn compress(texts: &TextPart<'_>) -> std::io::Result<Vec<u8>> {
    let joined: Vec<&str> = texts.iter().collect();
    let joined = joined.join(&String::from(AFTER_TEXT));
    COMPRESSOR.with_borrow_mut(|known| {
        let compressor = match known {
            Some(known) => known,
            none => none.insert(compressor()?),
        };
        compressor.compress(joined.as_bytes())
    })
}

/// Returns the texts of a row of a file, so many, and where each ends in them; `None` if they are wrong.
pub(super) fn decompress(bytes: &[u8], count: usize) -> Option<(Vec<u32>, String)> {
    let length = usize::try_from(get_frame_content_size(bytes).ok()??).ok()?;
    if length > count.saturating_mul(MOST_BYTES) {
        return None;
    }
    let joined = DECOMPRESSOR.with_borrow_mut(|known| {
        let decompressor = match known {
            Some(known) => known,
            none => none.insert(decompressor().ok()?),
        };
        decompressor.decompress(bytes, length).ok()
    })?;
    let joined = String::from_utf8(joined).ok()?;
    let mut column = TextColumn::default();
    joined.split(AFTER_TEXT).for_each(|text| column.push(text));
    (column.len() == count).then_some((column.ends, column.bytes))
}

/// Texts that runs share.
pub(super) type SharedTexts = Arc<TextColumn>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_as_they_were() {
        let mut column = TextColumn::default();
        let of_header = ReportText::new("METAR CYYZ 032000Z 24012KT", Some("SACN31 CWAO 032000"));
        let texts = [held(&of_header.unwrap()), "SPECI é".to_owned(), "NIL".to_owned()];
        for text in &texts {
            column.push(text);
        }
        let (ends, bytes) = decompress(&compress(&column.part(0..3)).unwrap(), 3).unwrap();
        let back = TextPart::new(&ends, &bytes);
        assert_eq!(back.iter().collect::<Vec<_>>(), texts);
        assert_eq!(back.range(1..3).range(1..2).iter().collect::<Vec<_>>(), ["NIL"]);
        assert_eq!(parts(&texts[0]), (Some("SACN31 CWAO 032000"), "METAR CYYZ 032000Z 24012KT"));
        assert_eq!(parts(&texts[2]), (None, "NIL"));
    }

    #[test]
    fn bytes_that_are_no_texts_are_none() {
        let mut column = TextColumn::default();
        column.push(&"METAR CYYZ 032000Z 24012G20KT 15SM 29/17 A2991 ".repeat(9));
        let good = compress(&column.part(0..1)).unwrap();
        for cut in 0..good.len() {
            assert_eq!(decompress(&good[..cut], 1), None, "{cut}");
        }
        assert_eq!(decompress(&good, 2), None);
        // A frame that says it is endless takes no memory.
        let endless = [0x28, 0xb5, 0x2f, 0xfd, 0xe0, 255, 255, 255, 255, 255, 255, 255, 127];
        assert_eq!(decompress(&endless, 4096), None);
    }
}

//! How units are written, and what a text in a report stands for.
//!
//! A text that means different things to different writers is ambiguous and never guessed. The
//! table is finite: no expressions are parsed, and no prefixes are put before units, because the
//! same letters come out as other things (`nmi` is a nautical mile to NDBC and a nanomile to
//! UDUNITS, `mph` a milliphot).

use std::borrow::Cow;
use std::collections::HashMap;
use std::str::FromStr;
use std::sync::LazyLock;

use super::table::{AMBIGUOUS, TABLE, WORDS};
use super::{Unit, UnitError};

/// Longest text that is looked up; longer ones are unknown. The longest that feeds send are below
/// 50 bytes.
pub const MAX_UNIT_BYTES: usize = 64;

/// A convention of writing units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Vocabulary {
    /// `uom` attributes of Canadian SWOB-ML, and of Environment Canada's hourly XML.
    Swob,
    /// WMO's code registry (`wmoUnit:km_h-1`), WMDR table 1-02 (`km.h-1`) and common code table
    /// C-6.
    Wmo,
    /// The Unified Code for Units of Measure, case-sensitive form, as IWXXM uses it.
    Ucum,
    /// CF conventions, which are UDUNITS.
    Cf,
    /// The units of METAR and SPECI groups.
    Metar,
    /// What people and text feeds write; spelled-out names in any case.
    Plain,
}

/// What a text stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// One unit.
    Exact(Unit),
    /// One of several, and nothing tells which.
    Ambiguous(&'static [Unit]),
    /// Nothing in the table.
    Unknown,
}

impl Vocabulary {
    /// Every vocabulary.
    pub const ALL: [Self; 6] =
        [Self::Swob, Self::Wmo, Self::Ucum, Self::Cf, Self::Metar, Self::Plain];

    /// The name, lower case: `swob`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Swob => "swob",
            Self::Wmo => "wmo",
            Self::Ucum => "ucum",
            Self::Cf => "cf",
            Self::Metar => "metar",
            Self::Plain => "plain",
        }
    }
}

/// Exact and case-sensitive.
impl FromStr for Vocabulary {
    type Err = UnitError;
    fn from_str(got: &str) -> Result<Self, UnitError> {
        Self::ALL
            .into_iter()
            .find(|vocabulary| vocabulary.name() == got)
            .ok_or_else(|| UnitError::Vocabulary { got: super::shown(got) })
    }
}

impl Unit {
    /// What a text stands for in a vocabulary, or in all of them together.
    ///
    /// Without a vocabulary a text that is a different unit in two of them is ambiguous. Within one
    /// it can be ambiguous too: `C` is degrees Celsius and coulombs in WMO's table C-6. Upper and
    /// lower case differ, but for the spelled-out names of [`Vocabulary::Plain`]. Spaces around the
    /// text do not count; ˚ and º, which stand in for the degree sign, are taken for it.
    ///
    /// Names before a colon choose the vocabulary: `wmoUnit:`, `wmo:`, `unit:` and
    /// `http://codes.wmo.int/common/unit/` are WMO's, `uc:` is UCUM. A text with one of another
    /// vocabulary than the one asked for is unknown.
    ///
    /// ```
    /// use mesonet::{Resolution, Unit, Vocabulary};
    /// assert_eq!(Unit::resolve("wmoUnit:km_h-1", None), Resolution::Exact(Unit::KilometrePerHour));
    /// assert_eq!(
    ///     Unit::resolve("F", None),
    ///     Resolution::Ambiguous(&[Unit::DegreeFahrenheit, Unit::Farad]),
    /// );
    /// assert_eq!(Unit::resolve("F", Some(Vocabulary::Cf)), Resolution::Exact(Unit::Farad));
    /// assert_eq!(Unit::resolve("furlong", None), Resolution::Unknown);
    /// ```
    pub fn resolve(text: &str, vocabulary: Option<Vocabulary>) -> Resolution {
        let text = text.trim();
        if text.is_empty() || text.len() > MAX_UNIT_BYTES {
            return Resolution::Unknown;
        }
        let (text, named) = without_prefix(text);
        let vocabulary = match (named, vocabulary) {
            (Some(named), Some(asked)) if named != asked => return Resolution::Unknown,
            (named, asked) => named.or(asked),
        };
        let text = with_degree_sign(text);
        let ambiguous = AMBIGUOUS.iter().find(|(texts, vocabularies, _)| {
            texts.contains(&&*text) && vocabulary.is_none_or(|one| vocabularies.contains(&one))
        });
        if let Some((_, _, units)) = ambiguous {
            return Resolution::Ambiguous(units);
        }
        let exact = INDEX.get(&*text).and_then(|units| match vocabulary {
            Some(vocabulary) => units[vocabulary as usize],
            // All the same, as a test of the table asserts.
            None => units.iter().copied().flatten().next(),
        });
        let word = || {
            let plain = vocabulary.is_none_or(|one| one == Vocabulary::Plain);
            plain.then(|| WORD_INDEX.get(&*text.to_lowercase()).copied()).flatten()
        };
        exact.or_else(word).map_or(Resolution::Unknown, Resolution::Exact)
    }

    /// The texts that are ambiguous, with what they may stand for: without a vocabulary, and in
    /// some of them.
    pub fn ambiguous_texts() -> impl Iterator<Item = (&'static str, &'static [Self])> {
        AMBIGUOUS.iter().flat_map(|&(texts, _, units)| texts.iter().map(move |&text| (text, units)))
    }

    /// The texts that stand for the unit in a vocabulary. For [`Vocabulary::Plain`] its symbol
    /// comes first, and the spelled-out names, of which any case does, last.
    pub fn aliases(self, vocabulary: Vocabulary) -> impl Iterator<Item = &'static str> {
        let plain = vocabulary == Vocabulary::Plain;
        let symbol = self.symbol();
        let texts =
            of_unit(TABLE.iter().map(|&(unit, of, texts)| ((unit, of), texts)), (self, vocabulary));
        let words = of_unit(WORDS.iter().copied(), self);
        let symbol = (plain && resolves_to(symbol, self)).then_some(symbol);
        symbol.into_iter().chain(texts).chain(words.filter(move |_| plain))
    }
}

fn resolves_to(text: &str, unit: Unit) -> bool {
    Unit::resolve(text, Some(Vocabulary::Plain)) == Resolution::Exact(unit)
}

fn of_unit<K: PartialEq>(
    rows: impl Iterator<Item = (K, &'static [&'static str])>,
    key: K,
) -> impl Iterator<Item = &'static str> {
    rows.filter(move |(of, _)| *of == key).flat_map(|(_, texts)| texts.iter().copied())
}

/// The text after a name that says what vocabulary it is of.
fn without_prefix(text: &str) -> (&str, Option<Vocabulary>) {
    const PREFIXES: [(&str, Vocabulary); 6] = [
        ("wmoUnit:", Vocabulary::Wmo),
        ("wmo:", Vocabulary::Wmo),
        ("unit:", Vocabulary::Wmo),
        ("http://codes.wmo.int/common/unit/", Vocabulary::Wmo),
        ("https://codes.wmo.int/common/unit/", Vocabulary::Wmo),
        ("uc:", Vocabulary::Ucum),
    ];
    PREFIXES
        .into_iter()
        .find_map(|(prefix, vocabulary)| Some((text.strip_prefix(prefix)?, Some(vocabulary))))
        .unwrap_or((text, None))
}

/// The ring above (in WMO's tables) and the masculine ordinal as degree signs.
fn with_degree_sign(text: &str) -> Cow<'_, str> {
    const STAND_INS: [char; 2] = ['˚', 'º'];
    if text.contains(STAND_INS) { text.replace(STAND_INS, "°").into() } else { text.into() }
}

/// The unit of a text in each vocabulary.
type Units = [Option<Unit>; Vocabulary::ALL.len()];

static INDEX: LazyLock<HashMap<&'static str, Units>> = LazyLock::new(|| {
    let mut index: HashMap<&str, Units> = HashMap::new();
    for &(unit, vocabulary, texts) in TABLE {
        for &text in texts {
            index.entry(text).or_default()[vocabulary as usize] = Some(unit);
        }
    }
    // What is stored under the unit's symbol can be read again.
    for &unit in Unit::ALL {
        index.entry(unit.symbol()).or_default()[Vocabulary::Plain as usize] = Some(unit);
    }
    index
});

static WORD_INDEX: LazyLock<HashMap<&'static str, Unit>> = LazyLock::new(|| {
    WORDS.iter().flat_map(|&(unit, words)| words.iter().map(move |&word| (word, unit))).collect()
});

#[cfg(test)]
#[path = "alias_tests.rs"]
mod tests;

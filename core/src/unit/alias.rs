//! How units are written, and what a text in a report means.
//!
//! A text that means different things to different writers is ambiguous and never guessed. The
//! table is finite: expressions and unit prefixes are not parsed, because the same letters could
//! mean other things (`nmi` is a nautical mile to NDBC and a nanomile to UDUNITS, `mph` a
//! milliphot).

use std::borrow::Cow;
use std::collections::HashMap;
use std::str::FromStr;
use std::sync::LazyLock;

use super::table::{AMBIGUOUS, TABLE, WORDS};
use super::{Unit, UnitError};

/// Longest text that is looked up; longer texts are unknown. The longest texts in feeds are below
/// 50 bytes.
///
/// ```
/// use mesonet::Unit;
/// use mesonet::unit::{MAX_UNIT_BYTES, Resolution};
/// let padded = format!("{:MAX_UNIT_BYTES$}", "hPa");
/// assert_eq!(Unit::resolve(&padded, None), Resolution::Exact(Unit::Hectopascal));
/// assert_eq!(Unit::resolve(&"m".repeat(MAX_UNIT_BYTES + 1), None), Resolution::Unknown);
/// ```
pub const MAX_UNIT_BYTES: usize = 64;

/// A convention for writing units.
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
    /// The CF conventions, which use UDUNITS.
    Cf,
    /// The units of METAR and SPECI groups.
    Metar,
    /// What people and text feeds write, including spelled-out names in any case.
    Plain,
}

/// The meaning of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// One unit.
    Exact(Unit),
    /// One of several units, with nothing to decide which.
    Ambiguous(&'static [Unit]),
    /// Not in the table.
    Unknown,
}

impl Resolution {
    /// Returns the units that the text may stand for: one, several, or none.
    ///
    /// ```
    /// use mesonet::Unit;
    /// assert_eq!(Unit::resolve("kt", None).units(), [Unit::Knot]);
    /// assert_eq!(Unit::resolve("F", None).units(), [Unit::DegreeFahrenheit, Unit::Farad]);
    /// assert!(Unit::resolve("furlong", None).units().is_empty());
    /// ```
    pub fn units(&self) -> &[Unit] {
        match self {
            Self::Exact(unit) => std::slice::from_ref(unit),
            Self::Ambiguous(units) => units,
            Self::Unknown => &[],
        }
    }
}

impl Vocabulary {
    /// Every vocabulary.
    pub const ALL: [Self; 6] =
        [Self::Swob, Self::Wmo, Self::Ucum, Self::Cf, Self::Metar, Self::Plain];

    /// Whether it is a list of texts. UCUM and the CF conventions, which use UDUNITS, have rules for
    /// making more: there `mph` is a milliphot and `kt` in UCUM a kilotonne.
    const fn is_a_list(self) -> bool {
        !matches!(self, Self::Ucum | Self::Cf)
    }

    /// Returns the name in lower case, such as `swob`.
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

/// Parsing is exact and case-sensitive.
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
    /// Returns what a text means in a vocabulary, or in all of them together.
    ///
    /// Without a vocabulary, a text that is a different unit in two of them is ambiguous. It can
    /// also be ambiguous within one: `C` is degrees Celsius and coulombs in WMO's table C-6. A text
    /// that a vocabulary does not have means what it means in all others, if that is one unit. In
    /// UCUM and the CF conventions, which make units by rules, it is unknown instead. Case matters,
    /// except for the spelled-out names of [`Vocabulary::Plain`]. Surrounding spaces are ignored; ˚
    /// and º are accepted as degree signs.
    ///
    /// A prefix chooses the vocabulary: `wmoUnit:`, `wmo:`, `unit:` and
    /// `http://codes.wmo.int/common/unit/` are WMO's, `uc:` is UCUM. A text with the prefix of a
    /// vocabulary other than the requested one is unknown.
    ///
    /// ```
    /// use mesonet::unit::{Resolution, Vocabulary};
    /// use mesonet::Unit;
    /// assert_eq!(Unit::resolve("wmoUnit:km_h-1", None), Resolution::Exact(Unit::KilometrePerHour));
    /// assert_eq!(
    ///     Unit::resolve("F", None),
    ///     Resolution::Ambiguous(&[Unit::DegreeFahrenheit, Unit::Farad]),
    /// );
    /// assert_eq!(Unit::resolve("F", Some(Vocabulary::Cf)), Resolution::Exact(Unit::Farad));
    /// assert_eq!(Unit::resolve("mph", Some(Vocabulary::Swob)), Resolution::Exact(Unit::MilePerHour));
    /// // UDUNITS reads it as a milliphot.
    /// assert_eq!(Unit::resolve("mph", Some(Vocabulary::Cf)), Resolution::Unknown);
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
            // All units are the same, as a test of the table asserts.
            None => units.iter().copied().flatten().next(),
        });
        let word = || {
            let plain = vocabulary.is_none_or(|one| one == Vocabulary::Plain);
            plain.then(|| WORD_INDEX.get(&*text.to_lowercase()).copied()).flatten()
        };
        match (exact.or_else(word), vocabulary) {
            (Some(unit), _) => Resolution::Exact(unit),
            // Other vocabularies may supply a text that this one lacks, if it means one thing in
            // all of them.
            (None, Some(one)) if named.is_none() && one.is_a_list() => Self::resolve(&text, None),
            (None, _) => Resolution::Unknown,
        }
    }

    /// Returns the ambiguous texts, with what they may stand for: without a vocabulary, and in some
    /// vocabularies.
    ///
    /// ```
    /// use mesonet::Unit;
    /// let (_, meanings) = Unit::ambiguous_texts().find(|(text, _)| *text == "C").expect("it is one");
    /// assert_eq!(meanings, [Unit::DegreeCelsius, Unit::Coulomb]);
    /// ```
    pub fn ambiguous_texts() -> impl Iterator<Item = (&'static str, &'static [Self])> {
        AMBIGUOUS.iter().flat_map(|&(texts, _, units)| texts.iter().map(move |&text| (text, units)))
    }

    /// Returns the texts that stand for the unit in a vocabulary. For [`Vocabulary::Plain`] the
    /// symbol comes first, and the spelled-out names, which match in any case, last.
    ///
    /// ```
    /// use mesonet::Unit;
    /// use mesonet::unit::Vocabulary;
    /// assert!(Unit::Knot.aliases(Vocabulary::Metar).eq(["KT"]));
    /// assert!(Unit::Knot.aliases(Vocabulary::Ucum).eq(["[kn_i]"]));
    /// let spoken = Vocabulary::ALL.iter().filter(|of| Unit::Knot.aliases(**of).any(|text| text == "knots"));
    /// assert!(spoken.eq(&[Vocabulary::Cf, Vocabulary::Plain]));
    /// ```
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

/// Returns the text after a prefix, and the vocabulary of the prefix.
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

/// Replaces the ring above (in WMO's tables) and the masculine ordinal with degree signs.
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
    // Units stored by symbol can be read again.
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

//! Present weather: the codes of WMO table 4678 and what they are in English.

use std::fmt;

use super::list::ShortList;

/// Qualifier in front of a weather group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intensity {
    /// No sign: moderate, or a phenomenon that has no intensity.
    Plain,
    /// `-`.
    Light,
    /// `+`: heavy, or well developed.
    Heavy,
}

/// What a code of two letters is in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Says how, before the phenomenon.
    Before,
    /// `SH`, `TS`: makes the phenomena its contents.
    Around,
    /// Falls: intensity belongs to it.
    Precipitation,
    /// Hangs or happens.
    Other,
}

/// A code of two letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Code(u8);

// Code, what it is, English.
const CODES: [([u8; 2], Role, &str); 31] = [
    (*b"RA", Role::Precipitation, "rain"),
    (*b"SN", Role::Precipitation, "snow"),
    (*b"BR", Role::Other, "mist"),
    (*b"SH", Role::Around, "showers"),
    (*b"TS", Role::Around, "thunderstorm"),
    (*b"FG", Role::Other, "fog"),
    (*b"HZ", Role::Other, "haze"),
    (*b"DZ", Role::Precipitation, "drizzle"),
    (*b"FZ", Role::Before, "freezing"),
    (*b"UP", Role::Precipitation, "unknown precipitation"),
    (*b"BL", Role::Before, "blowing"),
    (*b"DR", Role::Before, "low drifting"),
    (*b"MI", Role::Before, "shallow"),
    (*b"BC", Role::Before, "patches of"),
    (*b"PR", Role::Before, "partial"),
    (*b"SG", Role::Precipitation, "snow grains"),
    (*b"IC", Role::Precipitation, "ice crystals"),
    (*b"PL", Role::Precipitation, "ice pellets"),
    (*b"PE", Role::Precipitation, "ice pellets"),
    (*b"GR", Role::Precipitation, "hail"),
    (*b"GS", Role::Precipitation, "small hail"),
    (*b"FU", Role::Other, "smoke"),
    (*b"VA", Role::Other, "volcanic ash"),
    (*b"DU", Role::Other, "dust"),
    (*b"SA", Role::Other, "sand"),
    (*b"PY", Role::Other, "spray"),
    (*b"PO", Role::Other, "dust whirls"),
    (*b"SQ", Role::Other, "squalls"),
    (*b"FC", Role::Other, "funnel cloud"),
    (*b"SS", Role::Other, "sandstorm"),
    (*b"DS", Role::Other, "duststorm"),
];

/// Codes in one group: a descriptor and up to three phenomena, with one to spare.
const MAX_CODES: usize = 5;

/// One present-weather group; shows itself in English.
///
/// ```
/// use mesonet::feed::metar::Metar;
/// let metar = Metar::parse("KXYZ 010000Z -SHRA VCBLSN +TSGRRA FZFG +FC")?;
/// let shown: Vec<_> = metar.weather.iter().map(ToString::to_string).collect();
/// assert_eq!(
///     shown,
///     [
///         "Light rain showers",
///         "Blowing snow in the vicinity",
///         "Thunderstorm with heavy hail and rain",
///         "Freezing fog",
///         "Tornado or waterspout",
///     ],
/// );
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weather {
    /// Intensity.
    pub intensity: Intensity,
    /// `VC`: within 8 to 16 km (5 to 10 miles), not at the station.
    pub in_vicinity: bool,
    /// `RE`: since the last report, but not now.
    pub recent: bool,
    codes: ShortList<Code, MAX_CODES>,
}

impl Weather {
    pub(super) const BLANK: Self = Self {
        intensity: Intensity::Plain,
        in_vicinity: false,
        recent: false,
        codes: ShortList::new(Code(0)),
    };

    /// Reads a weather group: `None` if it is none.
    pub(super) fn read(group: &[u8]) -> Option<Self> {
        let mut weather = Self::BLANK;
        let mut rest = group;
        loop {
            rest = match rest {
                [b'-', rest @ ..] if weather.intensity == Intensity::Plain => {
                    weather.intensity = Intensity::Light;
                    rest
                }
                [b'+', rest @ ..] if weather.intensity == Intensity::Plain => {
                    weather.intensity = Intensity::Heavy;
                    rest
                }
                [b'V', b'C', rest @ ..] if !weather.in_vicinity => {
                    weather.in_vicinity = true;
                    rest
                }
                [b'R', b'E', rest @ ..] if !weather.recent => {
                    weather.recent = true;
                    rest
                }
                rest => {
                    let (pairs, odd) = rest.as_chunks::<2>();
                    let read = !pairs.is_empty()
                        && odd.is_empty()
                        && pairs.iter().all(|pair| {
                            CODES
                                .iter()
                                .position(|(code, ..)| code == pair)
                                .is_some_and(|at| weather.codes.push(Code(at as u8)))
                        });
                    return read.then_some(weather);
                }
            };
        }
    }

    fn codes(&self) -> impl Iterator<Item = ([u8; 2], Role, &'static str)> {
        self.codes.iter().map(|code| CODES[usize::from(code.0)])
    }

    fn has(&self, wanted: &[u8; 2]) -> bool {
        self.codes().any(|(code, ..)| code == *wanted)
    }

    /// The words for intensity, descriptors and phenomena, in the order of English.
    fn words(&self) -> Vec<&'static str> {
        let intensity = match self.intensity {
            Intensity::Plain => None,
            Intensity::Light => Some("light"),
            Intensity::Heavy => Some("heavy"),
        };
        let is_phenomenon = |role| matches!(role, Role::Precipitation | Role::Other);
        let count = self.codes().filter(|&(_, role, _)| is_phenomenon(role)).count();
        let mut words = Vec::new();
        let thunder = self.has(b"TS");
        if thunder {
            // The intensity is that of what falls; a bare thunderstorm keeps its own.
            words.extend(intensity.filter(|_| count == 0));
            words.push("thunderstorm");
            words.extend((count > 0).then_some("with"));
        }
        words.extend(intensity.filter(|_| count > 0 || !thunder));
        let mut met = 0;
        for (_, role, english) in self.codes() {
            if is_phenomenon(role) {
                met += 1;
                words.extend((met > 1).then_some(if met == count { "and" } else { "," }));
            }
            if role != Role::Around {
                words.push(english);
            }
        }
        words.extend(self.has(b"SH").then_some("showers"));
        words
    }
}

impl fmt::Display for Weather {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tornado = self.intensity == Intensity::Heavy && self.has(b"FC");
        let mut words = if tornado { vec!["tornado or waterspout"] } else { self.words() };
        if self.recent {
            words.insert(0, "recent");
        }
        if self.in_vicinity {
            words.push("in the vicinity");
        }
        for (i, word) in words.into_iter().enumerate() {
            match (i, word) {
                (0, word) => {
                    let (first, rest) = word.split_at(1);
                    write!(f, "{}{rest}", first.to_ascii_uppercase())?;
                }
                (_, ",") => f.write_str(",")?,
                (_, word) => write!(f, " {word}")?,
            }
        }
        Ok(())
    }
}

//! Present weather: the codes of WMO table 4678 and their English names.

use std::fmt;

use super::list::ShortList;

/// Qualifier in front of a weather group.
///
/// ```
/// use mesonet::feed::metar::{Intensity, Metar};
/// let report = Metar::parse("KBUF 312354Z 21014KT 1SM +SN BR")?;
/// let intensities: Vec<_> = report.weather.iter().map(|weather| weather.intensity).collect();
/// assert_eq!(intensities, [Intensity::Heavy, Intensity::Plain]);
/// assert!(report.weather[0].codes().eq(["SN"]));
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intensity {
    /// No sign: moderate, or a phenomenon that has no intensity.
    Plain,
    /// `-`.
    Light,
    /// `+`: heavy, or well developed.
    Heavy,
}

/// The role of a two-letter code in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// A qualifier before the phenomenon.
    Before,
    /// `SH`, `TS`: the phenomena are its contents.
    Around,
    /// Precipitation: intensity applies to it.
    Precipitation,
    /// Any other phenomenon.
    Other,
}

/// A two-letter code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WeatherCode(u8);

// Code, role, English.
const CODES: [(&str, Role, &str); 31] = [
    ("RA", Role::Precipitation, "rain"),
    ("SN", Role::Precipitation, "snow"),
    ("BR", Role::Other, "mist"),
    ("SH", Role::Around, "showers"),
    ("TS", Role::Around, "thunderstorm"),
    ("FG", Role::Other, "fog"),
    ("HZ", Role::Other, "haze"),
    ("DZ", Role::Precipitation, "drizzle"),
    ("FZ", Role::Before, "freezing"),
    ("UP", Role::Precipitation, "unknown precipitation"),
    ("BL", Role::Before, "blowing"),
    ("DR", Role::Before, "low drifting"),
    ("MI", Role::Before, "shallow"),
    ("BC", Role::Before, "patches of"),
    ("PR", Role::Before, "partial"),
    ("SG", Role::Precipitation, "snow grains"),
    ("IC", Role::Precipitation, "ice crystals"),
    ("PL", Role::Precipitation, "ice pellets"),
    ("PE", Role::Precipitation, "ice pellets"),
    ("GR", Role::Precipitation, "hail"),
    ("GS", Role::Precipitation, "small hail"),
    ("FU", Role::Other, "smoke"),
    ("VA", Role::Other, "volcanic ash"),
    ("DU", Role::Other, "dust"),
    ("SA", Role::Other, "sand"),
    ("PY", Role::Other, "spray"),
    ("PO", Role::Other, "dust whirls"),
    ("SQ", Role::Other, "squalls"),
    ("FC", Role::Other, "funnel cloud"),
    ("SS", Role::Other, "sandstorm"),
    ("DS", Role::Other, "duststorm"),
];

/// Codes in one group: a descriptor and up to three phenomena, with one to spare.
const MAX_CODES: usize = 5;

/// One present-weather group; displays in English.
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
    /// `RE`: since the last report, but no longer.
    pub recent: bool,
    codes: ShortList<WeatherCode, MAX_CODES>,
}

impl Weather {
    pub(super) const BLANK: Self = Self {
        intensity: Intensity::Plain,
        in_vicinity: false,
        recent: false,
        codes: ShortList::new(WeatherCode(0)),
    };

    /// Reads a weather group; `None` if it is not one.
    pub(in crate::feed) fn read(group: &[u8]) -> Option<Self> {
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
                                .position(|(code, ..)| code.as_bytes() == pair)
                                .is_some_and(|at| weather.codes.push(WeatherCode(at as u8)))
                        });
                    return read.then_some(weather);
                }
            };
        }
    }

    /// The two-letter codes in the group, without its qualifiers: `SH`, `RA` for `-SHRA`.
    pub fn codes(&self) -> impl Iterator<Item = &'static str> {
        self.rows().map(|(code, ..)| code)
    }

    fn rows(&self) -> impl Iterator<Item = (&'static str, Role, &'static str)> {
        self.codes.iter().map(|code| CODES[usize::from(code.0)])
    }

    fn has(&self, wanted: &str) -> bool {
        self.codes().any(|code| code == wanted)
    }

    /// The words for intensity, descriptors and phenomena, in English word order.
    fn words(&self) -> Vec<&'static str> {
        let intensity = match self.intensity {
            Intensity::Plain => None,
            Intensity::Light => Some("light"),
            Intensity::Heavy => Some("heavy"),
        };
        let is_phenomenon = |role| matches!(role, Role::Precipitation | Role::Other);
        let count = self.rows().filter(|&(_, role, _)| is_phenomenon(role)).count();
        let mut words = Vec::new();
        let (thunder, showers) = (self.has("TS"), self.has("SH"));
        if thunder {
            // The intensity applies to the precipitation; a bare thunderstorm keeps its own.
            words.extend(intensity.filter(|_| count == 0));
            words.push("thunderstorm");
            words.extend((count > 0 || showers).then_some("with"));
        }
        words.extend(intensity.filter(|_| count > 0 || !thunder));
        let mut met = 0;
        for (_, role, english) in self.rows() {
            if is_phenomenon(role) {
                met += 1;
                words.extend((met > 1).then_some(if met == count { "and" } else { "," }));
            }
            if role != Role::Around {
                words.push(english);
            }
        }
        words.extend(showers.then_some("showers"));
        words
    }
}

impl fmt::Display for Weather {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tornado = self.intensity == Intensity::Heavy && self.has("FC");
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

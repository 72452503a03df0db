//! Valid Time Event Codes (VTEC): what a US message does to a weather event.

use std::fmt;
use std::str::FromStr;

use chrono::{Datelike, NaiveDate, NaiveDateTime, NaiveTime, Timelike};

use crate::alert::Outcome;

/// The error for an invalid code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{got}\" is not a valid {what}; an example is {example}")]
pub struct VtecError {
    /// The first characters of the text that was given.
    pub got: String,
    /// What was expected.
    pub what: &'static str,
    /// An example of a valid code.
    pub example: &'static str,
}

const VTEC: &str = "VTEC";
const VTEC_EXAMPLE: &str = "/O.NEW.KCLE.SV.W.0063.260414T0016Z-260414T0115Z/";
const HVTEC: &str = "hydrologic VTEC";
const HVTEC_EXAMPLE: &str = "/RSON1.1.RS.140608T1800Z.140609T1200Z.000000T0000Z.NO/";

/// What a message does to its event in its zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VtecAction {
    /// A new event.
    New,
    /// The event continues unchanged.
    Continued,
    /// Its time changes.
    ExtendedInTime,
    /// Its area is extended by these zones.
    ExtendedInArea,
    /// Its time changes and its area is extended.
    ExtendedInBoth,
    /// Another event replaces it.
    Upgraded,
    /// It is cancelled before its end.
    Cancelled,
    /// It reaches its end: sent from half an hour before the end on.
    Expired,
    /// It is repeated, as happens every day.
    Routine,
    /// The previous message is corrected: the correction does the same to the event.
    Corrected,
}

const ACTIONS: [(&str, VtecAction); 10] = [
    ("NEW", VtecAction::New),
    ("CON", VtecAction::Continued),
    ("EXT", VtecAction::ExtendedInTime),
    ("EXA", VtecAction::ExtendedInArea),
    ("EXB", VtecAction::ExtendedInBoth),
    ("UPG", VtecAction::Upgraded),
    ("CAN", VtecAction::Cancelled),
    ("EXP", VtecAction::Expired),
    ("ROU", VtecAction::Routine),
    ("COR", VtecAction::Corrected),
];

/// An event, identified by its office, its kind and its number. Numbers start again each year.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VtecEvent {
    /// The office, by its location indicator: `KCLE`.
    pub office: [u8; 4],
    /// What is expected: `SV`, a severe thunderstorm.
    pub phenomenon: [u8; 2],
    /// How certain it is: `W` warning, `A` watch, `Y` advisory, `S` statement.
    pub significance: u8,
    /// Number among the office's events of this kind in a year.
    pub number: u16,
}

/// A valid time event code of the National Weather Service (Directive 10-1703).
///
/// A time of zeros means no time: the event has already begun, or lasts until further notice.
///
/// ```
/// use mesonet::Iso8601;
/// use mesonet::alert::{Vtec, VtecAction, VtecEvent};
/// let text = "/O.CON.KPUB.FF.W.0010.000000T0000Z-260715T2115Z/";
/// let vtec: Vtec = text.parse()?;
/// assert_eq!(vtec.action, VtecAction::Continued);
/// assert!(!vtec.is_test(), "its class is O, operational");
/// let flash_flood_warning =
///     VtecEvent { office: *b"KPUB", phenomenon: *b"FF", significance: b'W', number: 10 };
/// assert_eq!(vtec.event, flash_flood_warning);
/// assert_eq!((vtec.begin_ms, vtec.end_ms.map(Iso8601)), (None, Some(Iso8601(1_784_150_100_000))));
/// assert_eq!(vtec.to_string(), text);
/// assert!("/O.CON.KPUB.FF.W.0010/".parse::<Vtec>().is_err());
/// # Ok::<(), mesonet::alert::VtecError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vtec {
    /// Class of the product: `O` operational, `T` test, `E` experimental, `X` experimental code in
    /// an operational product.
    pub class: u8,
    /// The action.
    pub action: VtecAction,
    /// The event it applies to.
    pub event: VtecEvent,
    /// When the event begins, milliseconds since 1970.
    pub begin_ms: Option<i64>,
    /// When it ends, milliseconds since 1970.
    pub end_ms: Option<i64>,
}

impl Vtec {
    /// Whether the product is a test.
    pub fn is_test(self) -> bool {
        self.class == b'T'
    }

    /// What the code by itself says about the state of its event. An event that expires is in force
    /// until its end: EXP is sent up to half an hour before the end.
    pub fn outcome(self) -> Outcome {
        match self.action {
            VtecAction::Cancelled => Outcome::Cancelled,
            VtecAction::Upgraded => Outcome::Replaced,
            VtecAction::Expired if self.end_ms.is_none() => Outcome::Ended,
            _ => Outcome::InForce,
        }
    }
}

impl FromStr for Vtec {
    type Err = VtecError;
    fn from_str(text: &str) -> Result<Self, VtecError> {
        vtec(text).ok_or_else(|| VtecError {
            got: text.chars().take(60).collect(),
            what: VTEC,
            example: VTEC_EXAMPLE,
        })
    }
}

fn vtec(text: &str) -> Option<Vtec> {
    let inside = text.trim().strip_prefix('/')?.strip_suffix('/')?;
    let mut parts = inside.split('.');
    let mut part = || parts.next();
    let [class] = *letters::<1>(part()?)?;
    let action = part()?;
    let &(_, action) = ACTIONS.iter().find(|(name, _)| *name == action)?;
    let office = *letters::<4>(part()?)?;
    let phenomenon = *letters::<2>(part()?)?;
    let [significance] = *letters::<1>(part()?)?;
    let number = digits(part()?, 4)?.parse().ok()?;
    let (begin, end) = part()?.split_once('-')?;
    let (begin_ms, end_ms) = (time(begin)?, time(end)?);
    if part().is_some() || !b"OTEX".contains(&class) {
        return None;
    }
    let event = VtecEvent { office, phenomenon, significance, number };
    Some(Vtec { class, action, event, begin_ms, end_ms })
}

impl fmt::Display for VtecEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { office, phenomenon, significance, number } = self;
        let [office, phenomenon] = [&office[..], phenomenon].map(String::from_utf8_lossy);
        write!(f, "{office}.{phenomenon}.{}.{number:04}", char::from(*significance))
    }
}

impl fmt::Display for Vtec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let action = ACTIONS.iter().find(|(_, action)| *action == self.action);
        let action = action.map_or("", |(name, _)| name);
        let [begin, end] = [self.begin_ms, self.end_ms].map(written);
        write!(f, "/{}.{action}.{}.{begin}-{end}/", char::from(self.class), self.event)
    }
}

/// The hydrologic code that accompanies the event code of a flood (Directive 10-1703): where, why,
/// when.
///
/// ```
/// use mesonet::alert::Hvtec;
/// use mesonet::Iso8601;
/// let flood: Hvtec = "/RSON1.1.RS.140608T1800Z.140609T1200Z.000000T0000Z.NO/".parse()?;
/// assert_eq!((flood.site(), flood.severity), (Some("RSON1"), b'1'));
/// assert_eq!(flood.crest_ms.map(|ms| Iso8601(ms).to_string()).unwrap(), "2014-06-09T12:00:00Z");
/// let areal: Hvtec = "/00000.0.ER.000000T0000Z.000000T0000Z.000000T0000Z.OO/".parse()?;
/// assert_eq!((areal.site(), areal.crest_ms), (None, None));
/// # Ok::<(), mesonet::alert::VtecError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hvtec {
    site: [u8; 5],
    /// `N` none expected, `0` areal, `1` minor, `2` moderate, `3` major, `U` unknown.
    pub severity: u8,
    /// The cause: `ER` heavy rain, `RS` rain and snowmelt, `IJ` an ice jam … …
    pub cause: [u8; 2],
    /// When the flood begins, milliseconds since 1970.
    pub begin_ms: Option<i64>,
    /// When it crests, milliseconds since 1970.
    pub crest_ms: Option<i64>,
    /// When it ends, milliseconds since 1970.
    pub end_ms: Option<i64>,
    /// Comparison with the flood of record: `NO`, `NR` near, `UU` unknown, `OO` for areal floods.
    pub record: [u8; 2],
}

impl Hvtec {
    /// Returns the location id of the river forecast point; `None` for an areal flood.
    pub fn site(&self) -> Option<&str> {
        std::str::from_utf8(&self.site).ok().filter(|&site| site != "00000")
    }
}

impl FromStr for Hvtec {
    type Err = VtecError;
    fn from_str(text: &str) -> Result<Self, VtecError> {
        hvtec(text).ok_or_else(|| VtecError {
            got: text.chars().take(60).collect(),
            what: HVTEC,
            example: HVTEC_EXAMPLE,
        })
    }
}

fn hvtec(text: &str) -> Option<Hvtec> {
    let inside = text.trim().strip_prefix('/')?.strip_suffix('/')?;
    let mut parts = inside.split('.');
    let mut part = || parts.next();
    let site = *letters::<5>(part()?)?;
    let [severity] = *letters::<1>(part()?)?;
    let cause = *letters::<2>(part()?)?;
    let [begin_ms, crest_ms, end_ms] = [time(part()?)?, time(part()?)?, time(part()?)?];
    let record = *letters::<2>(part()?)?;
    if part().is_some() || !b"N0123U".contains(&severity) {
        return None;
    }
    Some(Hvtec { site, severity, cause, begin_ms, crest_ms, end_ms, record })
}

/// Returns the text as `N` capital letters and digits.
fn letters<const N: usize>(text: &str) -> Option<&[u8; N]> {
    let bytes: &[u8; N] = text.as_bytes().try_into().ok()?;
    bytes.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()).then_some(bytes)
}

fn digits(text: &str, count: usize) -> Option<&str> {
    (text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())).then_some(text)
}

/// Parses `yymmddThhnnZ`; zeros mean no time.
#[allow(clippy::option_option, reason = "an invalid text, and one that says that there is no time")]
fn time(text: &str) -> Option<Option<i64>> {
    let (date, rest) = text.split_once('T')?;
    let (date, clock) = (digits(date, 6)?, digits(rest.strip_suffix('Z')?, 4)?);
    if date == "000000" && clock == "0000" {
        return Some(None);
    }
    let number = |text: &str| text.parse::<u32>().ok();
    let year = 2000 + number(&date[..2])?.cast_signed();
    let date = NaiveDate::from_ymd_opt(year, number(&date[2..4])?, number(&date[4..])?)?;
    let clock = NaiveTime::from_hms_opt(number(&clock[..2])?, number(&clock[2..])?, 0)?;
    Some(Some(NaiveDateTime::new(date, clock).and_utc().timestamp_millis()))
}

fn written(ts_ms: Option<i64>) -> String {
    let time = ts_ms.and_then(chrono::DateTime::from_timestamp_millis);
    time.map_or_else(
        || "000000T0000Z".to_owned(),
        |time| {
            let (year, month, day) = (time.year().rem_euclid(100), time.month(), time.day());
            format!("{year:02}{month:02}{day:02}T{:02}{:02}Z", time.hour(), time.minute())
        },
    )
}

/// In JSON, a code is its text.
impl serde::Serialize for Vtec {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Vtec {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
#[path = "vtec_tests.rs"]
mod tests;

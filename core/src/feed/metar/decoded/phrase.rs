//! The content of remarks of several words.

use serde::Serialize;

/// The limits between which something varies.
///
/// ```
/// use mesonet::feed::metar::{Decoded, Range};
/// let report = Decoded::parse("KBUF 312354Z RMK VIS 3/4V1 1/2 CIG 005V010")?;
/// assert_eq!(report.remarks.variable_visibility_mi, Some(Range { least: 0.75, greatest: 1.5 }));
/// assert_eq!(report.remarks.variable_ceiling_ft, Some(Range { least: 500.0, greatest: 1000.0 }));
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Range {
    /// The lower limit.
    pub least: f64,
    /// The upper limit.
    pub greatest: f64,
}

/// The wind turned.
///
/// ```
/// use mesonet::feed::metar::{Decoded, WindShift};
/// let report = Decoded::parse("KBUF 312354Z RMK AO2 WSHFT 2315 FROPA")?;
/// let shift = WindShift { hour: Some(23), minute: 15, frontal_passage: true };
/// assert_eq!(report.remarks.wind_shift, Some(shift));
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WindShift {
    /// Hour (UTC), if it differs from the hour of the report.
    pub hour: Option<u8>,
    /// Minute.
    pub minute: u8,
    /// `FROPA`: a front passed.
    pub frontal_passage: bool,
}

/// Visibility in a direction or at another place.
///
/// ```
/// use mesonet::feed::metar::{Decoded, SectorVisibility};
/// let report = Decoded::parse("KBUF 312354Z RMK VIS NE 2 1/2 VIS 1 RWY11")?;
/// let at = |distance_mi, place: &str| SectorVisibility { distance_mi, place: place.into() };
/// assert_eq!(report.remarks.sector_visibilities, [at(2.5, "NE"), at(1.0, "RWY11")]);
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SectorVisibility {
    /// The distance.
    pub distance_mi: f64,
    /// Where.
    pub place: String,
}

/// The ceiling at another place.
///
/// ```
/// use mesonet::feed::metar::{Ceiling, Decoded};
/// let report = Decoded::parse("KBUF 312354Z RMK CIG 002 RWY11")?;
/// let low = Ceiling { height_ft: 200, place: "RWY11".into() };
/// assert_eq!(report.remarks.ceilings, [low]);
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ceiling {
    /// Its height.
    pub height_ft: u32,
    /// Where.
    pub place: String,
}

/// A layer whose amount varies.
///
/// ```
/// use mesonet::feed::metar::{Decoded, VariableSky};
/// let report = Decoded::parse("KBUF 312354Z RMK BKN014 V OVC")?;
/// let layer = VariableSky { cover: "BKN", other_cover: "OVC", base_ft: Some(1400) };
/// assert_eq!(report.remarks.variable_sky, [layer]);
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VariableSky {
    /// The amount of the body.
    pub cover: &'static str,
    /// The other amount.
    pub other_cover: &'static str,
    /// Height of the base, if it is given.
    pub base_ft: Option<u32>,
}

/// What hides a part of the sky.
///
/// ```
/// use mesonet::feed::metar::{Decoded, Obscuration};
/// let report = Decoded::parse("KBUF 312354Z RMK FU BKN020")?;
/// let smoke = Obscuration { weather: "FU".into(), cover: "BKN", base_ft: Some(2000) };
/// assert_eq!(report.remarks.obscurations, [smoke]);
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Obscuration {
    /// Its codes.
    pub weather: String,
    /// How much it hides.
    pub cover: &'static str,
    /// Height of its base; 0 at the ground.
    pub base_ft: Option<u32>,
}

/// When weather began or ended.
///
/// ```
/// use mesonet::feed::metar::{BeginEnd, Decoded, WeatherTime};
/// let report = Decoded::parse("KBUF 312354Z RMK AO2 RAB05E2330")?;
/// let rain = |event, hour, minute| WeatherTime { weather: "RA".into(), event, hour, minute };
/// let times = [rain(BeginEnd::Begin, None, 5), rain(BeginEnd::End, Some(23), 30)];
/// assert_eq!(report.remarks.weather_times, times);
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WeatherTime {
    /// Its codes, as they stand: `RA`, `FZRA`, `-SN`.
    pub weather: String,
    /// Whether it began or ended.
    pub event: BeginEnd,
    /// Hour (UTC), if it differs from the hour of the report.
    pub hour: Option<u8>,
    /// Minute.
    pub minute: u8,
}

/// Whether weather began or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BeginEnd {
    /// `B`.
    Begin,
    /// `E`.
    End,
}

/// Lightning.
///
/// ```
/// use mesonet::feed::metar::{Decoded, Lightning};
/// let report = Decoded::parse("KBUF 312354Z RMK AO2 OCNL LTGICCG DSNT NE AND SW")?;
/// let lightning = Lightning {
///     frequency: Some("OCNL"), kinds: vec!["IC", "CG"], place: "DSNT NE AND SW".into(),
/// };
/// assert_eq!(report.remarks.lightning, [lightning]);
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Lightning {
    /// `OCNL` (less than one a minute), `FRQ` (one to six), `CONS` (more), or none.
    pub frequency: Option<&'static str>,
    /// `IC` in cloud, `CC` cloud to cloud, `CG` cloud to ground, `CA` cloud to air.
    pub kinds: Vec<&'static str>,
    /// Where, in the words of the report; empty if it does not say.
    pub place: String,
}

/// A thunderstorm, cloud or virga in sight; a tornado, funnel cloud or waterspout (FMH-1, 12.7.1.a).
///
/// ```
/// use mesonet::feed::metar::{ClockTime, Decoded, Phenomenon};
/// let report = Decoded::parse(
///     "KBUF 312354Z RMK TORNADO B21 8 N MOV UNKN TORNADO E32 CB DSNT W MOV E",
/// )?;
/// let tornado = Phenomenon {
///     what: "TORNADO",
///     began: Some(ClockTime { hour: None, minute: 21 }),
///     ended: Some(ClockTime { hour: None, minute: 32 }),
///     distance_mi: Some(8.0),
///     place: "N".into(),
///     moving: Some("UNKN".into()),
/// };
/// let cloud =
///     Phenomenon { place: "DSNT W".into(), moving: Some("E".into()), ..Phenomenon::of("CB") };
/// assert_eq!(report.remarks.phenomena, [tornado, cloud]);
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Phenomenon {
    /// The word of the report: `TS`, `CB`, `TCU`, `ACSL`, `VIRGA` …; `TORNADO`, `FUNNEL CLOUD`,
    /// `WATERSPOUT`.
    pub what: &'static str,
    /// When it began, for a tornado and the like.
    pub began: Option<ClockTime>,
    /// When it ended.
    pub ended: Option<ClockTime>,
    /// How far away it is, in statute miles, for a tornado and the like.
    pub distance_mi: Option<f64>,
    /// Where, in the words of the report; empty if it does not say.
    pub place: String,
    /// Where it moves: a direction, `LTL` (little), `STNRY` or `UNKN` (unknown).
    pub moving: Option<String>,
}

impl Phenomenon {
    /// A phenomenon with a word and nothing else.
    pub fn of(what: &'static str) -> Self {
        let (began, ended, distance_mi, moving) = (None, None, None, None);
        Self { what, began, ended, distance_mi, place: String::new(), moving }
    }
}

/// A time of day in the remarks: see [`Phenomenon`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClockTime {
    /// Hour (UTC), if it differs from the hour of the report.
    pub hour: Option<u8>,
    /// Minute.
    pub minute: u8,
}

/// Types of cloud: figures of WMO code tables 0513, 0515 and 0509; `None` where they cannot be seen.
///
/// ```
/// use mesonet::feed::metar::{CloudTypes, Decoded};
/// let report = Decoded::parse("KBUF 312354Z RMK 8/6//")?;
/// let types = CloudTypes { low: Some(6), middle: None, high: None };
/// assert_eq!(report.remarks.cloud_types, Some(types));
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CloudTypes {
    /// Low clouds.
    pub low: Option<u8>,
    /// Middle clouds.
    pub middle: Option<u8>,
    /// High clouds.
    pub high: Option<u8>,
}

/// How much of the sky a kind of cloud, or of weather at the ground, covers (Canada).
///
/// ```
/// use mesonet::feed::metar::{CloudAmount, Decoded};
/// let report = Decoded::parse("CYYZ 312354Z RMK FG2SC5")?;
/// let amount = |what: &str, oktas| CloudAmount { what: what.into(), oktas };
/// assert_eq!(report.remarks.cloud_amounts, [amount("FG", 2), amount("SC", 5)]);
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CloudAmount {
    /// The cloud, or the weather: `SC`, `ACC`, `FG`.
    pub what: String,
    /// Eighths of the sky.
    pub oktas: u8,
}

/// A layer with its type of cloud (Japan and others).
///
/// ```
/// use mesonet::feed::metar::{CloudLayer, Decoded};
/// let report = Decoded::parse("RJTT 312354Z RMK 1CU030")?;
/// let layer = CloudLayer { oktas: 1, what: "CU".into(), base_ft: 3000 };
/// assert_eq!(report.remarks.cloud_layers, [layer]);
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CloudLayer {
    /// Eighths of the sky.
    pub oktas: u8,
    /// The cloud.
    pub what: String,
    /// Height of the base.
    pub base_ft: u32,
}

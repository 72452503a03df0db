//! A report with every group that can be read, for people and for callers in other languages.
//!
//! [`Metar`] holds what the service keeps of a report and needs no heap. [`Decoded`] has the same
//! values, from the same code, and everything else in the report: runway visual ranges, the trend,
//! and the remarks in words. It also names the groups that it does not understand.

mod beside;
mod display;
mod figures;
mod phrase;
mod places;
mod remarks;
mod runway;
mod tornado;
mod words;

use serde::Serialize;

use super::group::Groups;
use super::{
    Altimeter, Bound, CloudGenus, Convection, DistanceUnit, Intensity, MAX_REPORT_BYTES, Metar,
    MetarError, MetarKind, MetarVisibility, MetarWind, SkyCover, SkyLayer, SpeedUnit, Weather,
    WindFrom,
};
use beside::Beside;
pub use phrase::{
    BeginEnd, Ceiling, ClockTime, CloudAmount, CloudLayer, CloudTypes, Lightning, Obscuration,
    Phenomenon, Range, SectorVisibility, VariableSky, WeatherTime, WindShift,
};
pub use remarks::{DecodedPeakWind, DecodedPressureTendency, DecodedRemarks};
pub use runway::RunwayVisualRange;

/// Everything that a report says, with the unit in each name. Numbers are those of the report.
/// Wind, visibility and altimeter setting come in several units; they are given in the unit of the
/// report and in the unit of the service. What the report does not say is `None`, in JSON `null`;
/// the names in JSON are those of the fields in camel case.
///
/// ```
/// use mesonet::feed::metar::Decoded;
/// let report = Decoded::parse(
///     "METAR KBUF 312354Z 21014G22KT 1 1/2SM R23/2600V4500FT -SN BKN050 02/M07 A2973 RMK AO2 SNB21 \
///      SLP077 T00221067 FROIN",
/// )?;
/// assert_eq!(report.temperature_c, Some(2.2));
/// assert_eq!(report.runway_visual_ranges[0].least, Some(2600));
/// assert_eq!(report.remarks.sea_level_pressure_hpa, Some(1007.7));
/// assert_eq!(report.remarks.weather_times[0].minute, 21);
/// assert_eq!(report.not_understood, ["FROIN"]);
/// assert_eq!(
///     report.to_string(),
///     "METAR KBUF day 31 23:54Z: wind from 210° at 14 kt, gusts 22 kt; visibility 1.5 mi; light \
///      snow; broken 5000 ft; 2.2 °C, dew point -6.7 °C; altimeter 29.73 inHg",
/// );
/// let json = serde_json::to_value(&report)?;
/// assert_eq!(json["wind"]["speedKmh"], 25.928);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_excessive_bools, reason = "one group each, any of them together")]
pub struct Decoded {
    /// The groups of the report with one blank between them.
    pub text: String,
    /// `METAR` or `SPECI`, if the report says which.
    pub kind: Option<&'static str>,
    /// Station.
    pub station: String,
    /// Day of the month (UTC), 1 to 31.
    pub day: u8,
    /// Hour (UTC), 0 to 23.
    pub hour: u8,
    /// Minute, 0 to 59.
    pub minute: u8,
    /// 0 for a first report; 1 for `COR` and `CCA`, 2 for `CCB` and so on.
    pub revision: u8,
    /// `AUTO`: made without an observer.
    pub auto: bool,
    /// `NIL`: the report is missing; it has no values.
    pub nil: bool,
    /// Wind.
    pub wind: Option<Wind>,
    /// Prevailing visibility.
    pub visibility: Option<Visibility>,
    /// Visibilities in a direction, where they differ from the prevailing one.
    pub directional_visibilities: Vec<DirectionalVisibility>,
    /// `CAVOK`: visibility 10 km or more, no cloud below 5,000 ft, no weather.
    pub cavok: bool,
    /// Runway visual ranges.
    pub runway_visual_ranges: Vec<RunwayVisualRange>,
    /// Present and recent weather.
    pub weather: Vec<DecodedWeather>,
    /// `//` in place of the weather: an instrument could not tell.
    pub weather_missing: bool,
    /// Cloud layers, usually lowest first, or what replaces them.
    pub clouds: Vec<Cloud>,
    /// Height of the ceiling above the ground; a hidden sky has one too: see [`Metar::ceiling_ft`].
    pub ceiling_ft: Option<u32>,
    /// `VV`: vertical visibility, which is not the height of a cloud.
    pub vertical_visibility_ft: Option<u32>,
    /// Air temperature: in tenths if the remarks have them; see
    /// [`Metar::air_temperature_tenths_c`].
    pub temperature_c: Option<f64>,
    /// Dew point, in the same way.
    pub dew_point_c: Option<f64>,
    /// Altimeter setting.
    pub altimeter: Option<DecodedAltimeter>,
    /// `W..`: sea surface temperature.
    pub sea_surface_temperature_c: Option<i8>,
    /// `S.`: state of the sea, WMO code table 3700.
    pub sea_state: Option<u8>,
    /// `WS`: the runways with wind shear in the lowest 1,600 ft, or `ALL RWY`.
    pub wind_shear: Vec<String>,
    /// Groups on the state of runways, as reported.
    pub runway_states: Vec<String>,
    /// The trend forecast, as reported: what is expected, not what was observed.
    pub trend: Option<String>,
    /// The remarks.
    pub remarks: DecodedRemarks,
    /// Groups of the body and of the remarks that were not understood, in their order.
    pub not_understood: Vec<String>,
}

/// Wind of the body.
///
/// ```
/// use mesonet::feed::metar::{Decoded, Wind};
/// let report = Decoded::parse("UWKD 310800Z 21005MPS 180V240 9999")?;
/// let wind: Wind = report.wind.ok_or("no wind")?;
/// assert_eq!((wind.speed, wind.unit, wind.speed_kmh), (Some(5), "m/s", Some(18.0)));
/// assert_eq!((wind.turns_from_deg, wind.turns_to_deg), (Some(180), Some(240)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Wind {
    /// The direction from which it blows, from true north: 360 is north, 0 means calm.
    pub from_deg: Option<u16>,
    /// `VRB`: it has no single direction.
    pub variable: bool,
    /// Mean speed, in `unit`.
    pub speed: Option<u16>,
    /// Highest gust of the last ten minutes, in `unit`.
    pub gust: Option<u16>,
    /// The unit of the report: `kt`, `m/s` or `km/h`.
    pub unit: &'static str,
    /// Mean speed.
    pub speed_kmh: Option<f64>,
    /// Highest gust.
    pub gust_kmh: Option<f64>,
    /// The direction from which the wind varies, clockwise.
    pub turns_from_deg: Option<u16>,
    /// The direction to which it varies.
    pub turns_to_deg: Option<u16>,
}

/// Prevailing visibility.
///
/// ```
/// use mesonet::feed::metar::{Decoded, Visibility};
/// let report = Decoded::parse("KBUF 312354Z M1/4SM FG")?;
/// let visibility: Visibility = report.visibility.ok_or("no visibility")?;
/// assert_eq!((visibility.distance, visibility.unit, visibility.bound), (0.25, "mi", "less"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Visibility {
    /// The distance, in `unit`.
    pub distance: f64,
    /// The unit of the report: `mi` or `m`.
    pub unit: &'static str,
    /// How the true visibility relates to the distance: `exact`, `less` (than the distance) or
    /// `more` (the distance or more).
    pub bound: &'static str,
    /// The distance.
    pub distance_km: f64,
}

/// Visibility in a direction.
///
/// ```
/// use mesonet::feed::metar::{Decoded, DirectionalVisibility};
/// let report = Decoded::parse("EGLL 312350Z 5000 1200SW BR")?;
/// let low = DirectionalVisibility { distance_m: 1200, direction: "SW".into() };
/// assert_eq!(report.directional_visibilities, [low]);
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DirectionalVisibility {
    /// The distance.
    pub distance_m: u16,
    /// The direction, one of eight: `SW`.
    pub direction: String,
}

/// One group of weather.
///
/// ```
/// use mesonet::feed::metar::{Decoded, DecodedWeather};
/// let report = Decoded::parse("KBUF 312354Z 1SM -SHRA")?;
/// let rain: &DecodedWeather = &report.weather[0];
/// assert_eq!((&*rain.text, &*rain.description), ("-SHRA", "Light rain showers"));
/// assert_eq!((rain.intensity, &rain.codes[..]), (Some("light"), &["SH", "RA"][..]));
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DecodedWeather {
    /// The group.
    pub text: String,
    /// In English.
    pub description: String,
    /// `light`, `heavy`, or `None` for a group without a sign.
    pub intensity: Option<&'static str>,
    /// `VC`: not at the station, but within 8 to 16 km.
    pub in_vicinity: bool,
    /// `RE`: since the last report, but no longer.
    pub recent: bool,
    /// The two-letter codes: `SH`, `RA`.
    pub codes: Vec<&'static str>,
}

/// One layer of cloud, or what replaces the layers.
///
/// ```
/// use mesonet::feed::metar::{Cloud, Decoded};
/// let report = Decoded::parse("KBUF 312354Z SCT025CB")?;
/// let storm = Cloud {
///     cover: "SCT", oktas: Some(4), base_ft: Some(2500), convection: Some("CB"), genus: Some("CB"),
/// };
/// assert_eq!(report.clouds, [storm]);
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cloud {
    /// The word of the report: `FEW`, `SCT`, `BKN`, `OVC`, `VV`, `CLR`, `SKC`, `NSC`, `NCD`, `///`.
    pub cover: &'static str,
    /// The cover in eighths: see [`SkyCover::oktas`].
    pub oktas: Option<u8>,
    /// Height of the base above the ground; of `VV`, the vertical visibility.
    pub base_ft: Option<u32>,
    /// `CB` or `TCU`.
    pub convection: Option<&'static str>,
    /// The genus, if the report names exactly one: `SC`, `AC`, `CB`; `CU` for TCU.
    pub genus: Option<&'static str>,
}

/// Altimeter setting (QNH).
///
/// ```
/// use mesonet::feed::metar::{Decoded, DecodedAltimeter};
/// let report = Decoded::parse("KBUF 312354Z A2992")?;
/// let setting = DecodedAltimeter { value: 29.92, unit: "inHg", hpa: 1013.2074811900272 };
/// assert_eq!(report.altimeter, Some(setting));
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DecodedAltimeter {
    /// The setting, in `unit`.
    pub value: f64,
    /// The unit of the report: `inHg` or `hPa`.
    pub unit: &'static str,
    /// The setting.
    pub hpa: f64,
}

impl Decoded {
    /// Decodes one report, with or without its `METAR` and its closing `=`.
    ///
    /// # Errors
    /// If there is no station, or no time after it; if the text is longer than
    /// [`MAX_REPORT_BYTES`], or goes on after the `=` that ends a report.
    ///
    /// ```
    /// use mesonet::feed::metar::{Decoded, MAX_REPORT_BYTES};
    /// let refused = |text: &str| Decoded::parse(text).unwrap_err().to_string();
    /// assert!(refused("KBUF 21014KT").starts_with("\"21014KT\" is not the time of a report"));
    /// assert_eq!(
    ///     refused("KBUF 312354Z 21014KT= KROC 312354Z"),
    ///     "the text goes on after the = that ends a report: \"KROC\"; give one report at a time",
    /// );
    /// assert_eq!(
    ///     refused(&"KBUF ".repeat(1000)),
    ///     "the text has 5000 bytes; a report has 4096 at most",
    /// );
    /// # assert_eq!(MAX_REPORT_BYTES, 4096);
    /// ```
    pub fn parse(report: &str) -> Result<Self, MetarError> {
        if report.len() > MAX_REPORT_BYTES {
            return Err(MetarError::TooLong { got: report.len() });
        }
        if let Some((_, more)) = report.split_once('=')
            && let Some(group) = Groups::new(more.as_bytes()).next()
        {
            return Err(MetarError::More { got: super::excerpt(Some(group)) });
        }
        let mut beside = Beside::default();
        let metar = Metar::read(report, None, &mut |group| beside.visit(group))?;
        Ok(Self::of(&metar, report, beside))
    }

    /// Time of the report, from any time within two weeks of its receipt: see [`Metar::time_ms`].
    ///
    /// ```
    /// use mesonet::feed::metar::Decoded;
    /// use mesonet::time::parse_instant;
    /// let report = Decoded::parse("KBUF 282354Z NIL").unwrap();
    /// let received_ms = parse_instant("2023-03-01T00:02:00Z")?;
    /// assert_eq!(Ok(report.time_ms(received_ms)), parse_instant("2023-02-28T23:54:00Z"));
    /// # Ok::<(), mesonet::time::TimeError>(())
    /// ```
    pub fn time_ms(&self, reference_ms: i64) -> i64 {
        super::nearest_time_ms([self.day, self.hour, self.minute], reference_ms)
    }

    fn of(metar: &Metar, report: &str, beside: Beside) -> Self {
        let tenths = |tenths: i16| f64::from(tenths) / 10.0;
        let mut not_understood = beside.not_understood;
        let mut remarks = DecodedRemarks::of(metar);
        words::read(&mut remarks, metar, &beside.remarks, &mut not_understood);
        Self {
            text: joined(Groups::new(report.as_bytes())),
            kind: match metar.kind {
                MetarKind::Routine => Some("METAR"),
                MetarKind::Special => Some("SPECI"),
                MetarKind::Unknown => None,
            },
            station: metar.station.to_string(),
            day: metar.day,
            hour: metar.hour,
            minute: metar.minute,
            revision: metar.revision,
            auto: metar.auto,
            nil: metar.nil,
            wind: metar.wind.map(Wind::from),
            visibility: metar.visibility.map(Visibility::from),
            directional_visibilities: beside.directional_visibilities,
            cavok: metar.cavok,
            runway_visual_ranges: beside.runway_visual_ranges,
            weather: metar.weather.iter().map(DecodedWeather::from).collect(),
            weather_missing: metar.weather_missing,
            clouds: metar.sky.iter().copied().map(Cloud::from).collect(),
            ceiling_ft: metar.ceiling_ft(),
            vertical_visibility_ft: metar.vertical_visibility_ft(),
            temperature_c: metar.air_temperature_tenths_c().map(tenths),
            dew_point_c: metar.dew_point_temperature_tenths_c().map(tenths),
            altimeter: metar.altimeter.map(DecodedAltimeter::from),
            sea_surface_temperature_c: beside.sea_surface_temperature_c,
            sea_state: beside.sea_state,
            wind_shear: beside.wind_shear,
            runway_states: beside.runway_states,
            trend: (!beside.trend.is_empty()).then(|| text(&beside.trend)),
            remarks,
            not_understood,
        }
    }
}

/// A group as text. The report is a `str`, and groups are cut at blanks and control characters.
/// These are bytes of their own, so a cut never splits a letter, and the group is valid text.
fn text(group: &[u8]) -> String {
    String::from_utf8_lossy(group).into_owned()
}

/// Groups with one blank between them, as the text of them all.
fn joined<'a>(groups: impl Iterator<Item = &'a [u8]>) -> String {
    let mut all = Vec::new();
    groups.for_each(|group| add(&mut all, group));
    text(&all)
}

/// Adds a group behind others, with a blank between.
fn add(groups: &mut Vec<u8>, group: &[u8]) {
    if !groups.is_empty() {
        groups.push(b' ');
    }
    groups.extend_from_slice(group);
}

impl From<MetarWind> for Wind {
    fn from(wind: MetarWind) -> Self {
        let kmh = |speed: u16| wind.unit.kmh(speed);
        Self {
            from_deg: match wind.from {
                WindFrom::Degrees(degrees) => Some(degrees),
                WindFrom::Variable | WindFrom::Missing => None,
            },
            variable: wind.from == WindFrom::Variable,
            speed: wind.speed,
            gust: wind.gust,
            unit: match wind.unit {
                SpeedUnit::Knot => "kt",
                SpeedUnit::MetrePerSecond => "m/s",
                SpeedUnit::KilometrePerHour => "km/h",
            },
            speed_kmh: wind.speed.map(kmh),
            gust_kmh: wind.gust.map(kmh),
            turns_from_deg: wind.turns_between.map(|(from, _)| from),
            turns_to_deg: wind.turns_between.map(|(_, to)| to),
        }
    }
}

impl From<MetarVisibility> for Visibility {
    fn from(visibility: MetarVisibility) -> Self {
        Self {
            distance: visibility.distance,
            unit: match visibility.unit {
                DistanceUnit::StatuteMile => "mi",
                DistanceUnit::Metre => "m",
            },
            bound: match visibility.bound {
                Bound::Exact => "exact",
                Bound::Less => "less",
                Bound::More => "more",
            },
            distance_km: visibility.km(),
        }
    }
}

impl From<&Weather> for DecodedWeather {
    fn from(weather: &Weather) -> Self {
        let (sign, intensity) = match weather.intensity {
            Intensity::Plain => ("", None),
            Intensity::Light => ("-", Some("light")),
            Intensity::Heavy => ("+", Some("heavy")),
        };
        let codes: Vec<&'static str> = weather.codes().collect();
        let recent = if weather.recent { "RE" } else { "" };
        let vicinity = if weather.in_vicinity { "VC" } else { "" };
        Self {
            text: format!("{sign}{recent}{vicinity}{}", codes.concat()),
            description: weather.to_string(),
            intensity,
            in_vicinity: weather.in_vicinity,
            recent: weather.recent,
            codes,
        }
    }
}

impl From<SkyLayer> for Cloud {
    fn from(layer: SkyLayer) -> Self {
        Self {
            cover: cover_word(layer.cover),
            oktas: layer.cover.oktas(),
            base_ft: layer.base_ft,
            convection: layer.convection.map(|cloud| match cloud {
                Convection::Cumulonimbus => "CB",
                Convection::ToweringCumulus => "TCU",
            }),
            genus: layer.genus.map(CloudGenus::code),
        }
    }
}

fn cover_word(cover: SkyCover) -> &'static str {
    match cover {
        SkyCover::SkyClear => "SKC",
        SkyCover::Clear => "CLR",
        SkyCover::NoSignificantCloud => "NSC",
        SkyCover::NoCloudDetected => "NCD",
        SkyCover::Few => "FEW",
        SkyCover::Scattered => "SCT",
        SkyCover::Broken => "BKN",
        SkyCover::Overcast => "OVC",
        SkyCover::Obscured => "VV",
        SkyCover::Missing => "///",
    }
}

impl From<Altimeter> for DecodedAltimeter {
    fn from(altimeter: Altimeter) -> Self {
        let (value, unit) = match altimeter {
            Altimeter::HundredthsInchHg(hundredths) => (f64::from(hundredths) / 100.0, "inHg"),
            Altimeter::Hectopascal(hpa) => (f64::from(hpa), "hPa"),
        };
        Self { value, unit, hpa: altimeter.hpa() }
    }
}

#[cfg(test)]
#[path = "decoded_tests.rs"]
mod tests;

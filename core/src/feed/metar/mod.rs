//! METAR and SPECI: the aviation weather reports of WMO code forms FM 15 and FM 16, with the
//! remarks that North American stations add (FMH-1 chapter 12, MANOBS).
//!
//! [`Metar::parse`] works on the bytes of one report and allocates nothing. It reads what stations
//! send rather than what the regulations require: a group that cannot be read is left out and
//! counted in [`Metar::unread_groups`]; only a report without station or time is an error. Values
//! stay in the units of the report; [`metar_report`](super::metar_report) converts them.
//!
//! Not kept: runway visual range, state of the runway and of the sea, trend forecasts, and remarks
//! in words. [`Decoded`] has these too, and names the groups that it does not understand.

mod altimeter;
pub(super) mod awc_csv;
pub(super) mod awc_json;
pub(super) mod awc_xml;
mod body;
pub(super) mod bulletin;
mod decoded;
mod group;
mod icao;
pub(super) mod iem_asos;
mod iem_field;
mod iem_groups;
mod list;
mod mend;
pub(super) mod metar_item;
mod observed;
mod period;
mod remarks;
mod runway;
pub(super) mod series;
mod sky;
mod visibility;
mod weather;
mod wind;

use chrono::{DateTime, Datelike as _, Months, Timelike as _};

pub use super::metar_error::{MAX_REPORT_BYTES, MetarError};
pub use altimeter::Altimeter;
use body::BodyGroup;
pub use decoded::{
    BeginEnd, Ceiling, ClockTime, Cloud, CloudAmount, CloudLayer, CloudTypes, Decoded,
    DecodedAltimeter, DecodedPeakWind, DecodedPressureTendency, DecodedRemarks, DecodedWeather,
    DirectionalVisibility, Lightning, Obscuration, Phenomenon, Range, RunwayVisualRange,
    SectorVisibility, VariableSky, Visibility, WeatherTime, Wind, WindShift,
};
use group::{Groups, small_number};
pub use icao::Icao;
pub use list::ShortList;
pub use remarks::{AutomatedStation, Outages, PressureTendency, Remarks};
pub use runway::VisualRangeTendency;
use sky::MAX_LAYERS;
pub use sky::{CloudGenus, Convection, SkyCover, SkyLayer};
pub use visibility::{Bound, DistanceUnit, MetarVisibility};
pub use weather::{Intensity, Weather};
pub use wind::{MetarWind, PeakWind, SpeedUnit, WindFrom};

/// Why a report was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetarKind {
    /// `METAR`: a scheduled report.
    Routine,
    /// `SPECI`: the weather changed.
    Special,
    /// The report does not say.
    #[default]
    Unknown,
}

impl MetarKind {
    /// The kind or, if the report does not give it, the kind that the file names.
    pub(super) fn or_named(self, name: &[u8]) -> Self {
        match (self, name) {
            (Self::Unknown, b"METAR") => Self::Routine,
            (Self::Unknown, b"SPECI") => Self::Special,
            (kind, _) => kind,
        }
    }
}

/// One decoded report, in the units it was reported in.
///
/// ```
/// use mesonet::feed::metar::{Altimeter, Metar};
/// let metar = Metar::parse(
///     "KBUF 312354Z 21014G22KT 10SM -SN BKN050 OVC110 02/M07 A2973 RMK AO2 SLP077 T00221067",
/// )?;
/// assert_eq!(metar.station.as_str(), "KBUF");
/// assert_eq!((metar.day, metar.hour, metar.minute), (31, 23, 54));
/// assert_eq!(metar.wind.and_then(|wind| wind.gust), Some(22));
/// assert_eq!(metar.weather[0].to_string(), "Light snow");
/// assert_eq!(metar.ceiling_ft(), Some(5000));
/// assert_eq!(metar.altimeter, Some(Altimeter::HundredthsInchHg(2973)));
/// assert_eq!(metar.remarks.dew_point_tenths_c, Some(-67));
/// assert_eq!(metar.sea_level_pressure_tenths_hpa(), Some(10_077));
///
/// assert_eq!(
///     Metar::parse("KBUF O12354Z").unwrap_err().to_string(),
///     "\"O12354Z\" is not the time of a report; after the station come day, hour and minute, \
///      for example 231118Z",
/// );
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "one group each, any of them together")]
pub struct Metar {
    /// What the report says it is.
    pub kind: MetarKind,
    /// Station.
    pub station: Icao,
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
    /// Wind; `None` if it is missing.
    pub wind: Option<MetarWind>,
    /// Prevailing visibility.
    pub visibility: Option<MetarVisibility>,
    /// `CAVOK`: visibility 10 km or more, no cloud below 5,000 ft, no weather.
    pub cavok: bool,
    /// Present weather, and recent weather ([`Weather::recent`]).
    pub weather: ShortList<Weather, 6>,
    /// `//` in place of the weather: an instrument could not tell.
    pub weather_missing: bool,
    /// Cloud layers, usually lowest first, or what replaces them.
    pub sky: ShortList<SkyLayer, MAX_LAYERS>,
    /// Air temperature in whole degrees Celsius.
    pub temperature_c: Option<i8>,
    /// Dew point in whole degrees Celsius.
    pub dew_point_c: Option<i8>,
    /// Altimeter setting.
    pub altimeter: Option<Altimeter>,
    /// Remarks that carry data.
    pub remarks: Remarks,
    /// Groups of the body, and data groups of the remarks, that could not be read.
    pub unread_groups: u16,
}

impl Metar {
    /// Reads one report, with or without its `METAR` and its closing `=`.
    ///
    /// # Errors
    /// If there is no station, or no time after it.
    pub fn parse(report: &str) -> Result<Self, MetarError> {
        Self::read(report, None, &mut |_| {})
    }

    /// Reads one report whose time is also known from outside, `observed_ms` in milliseconds since
    /// 1970 (UTC). The report's own time counts; the known time is used if the report has none, or
    /// none that can be read.
    ///
    /// ```
    /// use mesonet::feed::metar::Metar;
    /// use mesonet::time::parse_instant;
    /// let observed_ms = parse_instant("2022-10-23T10:18:00Z")?;
    /// let metar = Metar::parse_beside("METAR HUEN 1018Z 10004KT 9999 26/21 Q1018", observed_ms);
    /// assert_eq!(metar.unwrap().time_ms(observed_ms), observed_ms);
    /// # Ok::<(), mesonet::time::TimeError>(())
    /// ```
    ///
    /// # Errors
    /// If there is no station, or if it is followed by neither a time, nor a damaged time, nor
    /// `AUTO`, `NIL` or the wind.
    pub fn parse_beside(report: &str, observed_ms: i64) -> Result<Self, MetarError> {
        Self::read(report, Some(observed_ms), &mut |_| {})
    }

    fn read<'a>(
        report: &'a str,
        observed_ms: Option<i64>,
        visit: &mut impl FnMut(BodyGroup<'a>),
    ) -> Result<Self, MetarError> {
        let mut groups = Groups::new(report.as_bytes());
        let mut kind = MetarKind::Unknown;
        let mut corrected = None;
        let station = loop {
            match groups.next() {
                Some(b"METAR") => kind = MetarKind::Routine,
                Some(b"SPECI") => kind = MetarKind::Special,
                Some(group @ (b"COR" | [b'C', b'C', b'A'..=b'Z'])) => corrected = Some(group),
                group => {
                    let station = group.and_then(Icao::read);
                    break station.ok_or_else(|| MetarError::Station { got: excerpt(group) })?;
                }
            }
        };
        if let Some(group @ (b"COR" | [b'C', b'C', b'A'..=b'Z'])) = groups.peek() {
            corrected = Some(group);
            groups.next();
        }
        let group = groups.peek();
        let no_time = || MetarError::Time { got: excerpt(group) };
        let own_time = group.and_then(time);
        let is_torn = own_time.is_none() && starts_with_torn_time(groups.clone());
        let known_time = observed_ms
            .filter(|_| is_torn || group.is_some_and(starts_body))
            .and_then(day_hour_minute);
        let (day, hour, minute) = own_time.or(known_time).ok_or_else(no_time)?;
        let mut metar = Self {
            kind,
            station,
            day,
            hour,
            minute,
            revision: 0,
            auto: false,
            nil: false,
            wind: None,
            visibility: None,
            cavok: false,
            weather: ShortList::new(Weather::BLANK),
            weather_missing: false,
            sky: ShortList::new(SkyLayer::BLANK),
            temperature_c: None,
            dew_point_c: None,
            altimeter: None,
            remarks: Remarks::default(),
            unread_groups: 0,
        };
        if let Some(group) = corrected {
            metar.correct(group);
        }
        if own_time.is_some() || is_torn {
            groups.next();
        }
        body::read(&mut metar, groups, visit);
        if metar.remarks.leave_out_contradicting_tenths(metar.temperature_c, metar.dew_point_c) {
            metar.unread(1);
        }
        Ok(metar)
    }

    /// Whether any group of the body, up to the remarks, has a value.
    fn has_body(&self) -> bool {
        self.wind.is_some()
            || self.visibility.is_some()
            || !self.sky.is_empty()
            || !self.weather.is_empty()
            || self.temperature_c.is_some()
            || self.altimeter.is_some()
    }

    /// Time of the report: in the month that brings it nearest to the reference, both in
    /// milliseconds since 1970 (UTC). If two times are equally near, the earlier one; if the
    /// reference is beyond the calendar (250,000 years), the reference itself.
    ///
    /// ```
    /// use mesonet::feed::metar::Metar;
    /// use mesonet::time::parse_instant;
    /// let received_ms = parse_instant("2023-03-01T00:02:00Z")?;
    /// let metar = Metar::parse("KBUF 282354Z NIL").unwrap();
    /// assert_eq!(Ok(metar.time_ms(received_ms)), parse_instant("2023-02-28T23:54:00Z"));
    /// # Ok::<(), mesonet::time::TimeError>(())
    /// ```
    pub fn time_ms(&self, reference_ms: i64) -> i64 {
        nearest_time_ms([self.day, self.hour, self.minute], reference_ms)
    }

    /// Air temperature in tenths of a degree Celsius: from the `T` group, or else the whole
    /// degrees.
    ///
    /// Tenths that are more than a degree away from the whole degrees of the body have lost a digit
    /// or a sign. They are left out, and their `T` group is counted in
    /// [`unread_groups`](Self::unread_groups). The other half of the group stays if it agrees.
    ///
    /// ```
    /// use mesonet::feed::metar::Metar;
    /// let tenths = |text| {
    ///     let metar = Metar::parse(text).unwrap();
    ///     (metar.air_temperature_tenths_c(), metar.dew_point_temperature_tenths_c())
    /// };
    /// assert_eq!(tenths("KBUF 312354Z 02/M07 RMK AO2 T00221067"), (Some(22), Some(-67)));
    /// assert_eq!(tenths("ETOU 221855Z 13/12 RMK AO2 T01271013"), (Some(127), Some(120)));
    /// assert_eq!(tenths("CYYZ 231118Z M01/"), (Some(-10), None));
    /// ```
    pub fn air_temperature_tenths_c(&self) -> Option<i16> {
        self.remarks.temperature_tenths_c.or(self.temperature_c.map(whole_in_tenths))
    }

    /// Dew point in tenths of a degree Celsius; see
    /// [`air_temperature_tenths_c`](Self::air_temperature_tenths_c).
    pub fn dew_point_temperature_tenths_c(&self) -> Option<i16> {
        self.remarks.dew_point_tenths_c.or(self.dew_point_c.map(whole_in_tenths))
    }

    /// Height of the ceiling above the ground in feet: the lowest layer that covers more than half
    /// of the sky, or the [vertical visibility](Self::vertical_visibility_ft) into what hides the sky.
    /// `None` if there is no ceiling.
    ///
    /// This is the ceiling as Canada and the United States define it (FMH-1, chapter 9; MANOBS): a
    /// hidden sky has a ceiling. ICAO's ceiling is of clouds only, so a hidden sky has none.
    pub fn ceiling_ft(&self) -> Option<u32> {
        self.sky.iter().filter(|layer| layer.is_ceiling()).filter_map(|layer| layer.base_ft).min()
    }

    /// Vertical visibility in feet (`VV`): how far one can see up into what hides the sky. It is
    /// not the height of a cloud.
    pub fn vertical_visibility_ft(&self) -> Option<u32> {
        let hidden = self.sky.iter().find(|layer| layer.cover == SkyCover::Obscured);
        hidden.and_then(|layer| layer.base_ft)
    }

    /// Sea-level pressure in tenths of a hectopascal.
    ///
    /// The report omits the leading 9 or 10. The value nearer to the altimeter setting is used:
    /// sea-level pressure and altimeter setting differ by some hectopascals, the two possible
    /// values by a hundred. Without a plausible altimeter setting (900 to 1100 hPa) the value
    /// nearer to 1000 hPa is used, which is wrong in the strongest highs and lows.
    ///
    /// ```
    /// use mesonet::feed::metar::Metar;
    /// let slp = |text| Metar::parse(text).unwrap().sea_level_pressure_tenths_hpa();
    /// assert_eq!(slp("CYYQ 010000Z A3000 RMK SLP183"), Some(10_183));
    /// assert_eq!(slp("CYPH 010000Z A2923 RMK SLP902"), Some(9_902));
    /// assert_eq!(slp("CYDA 010000Z A3105 RMK SLP525"), Some(10_525));
    /// assert_eq!(slp("PADK 010000Z RMK SLP499"), Some(10_499));
    /// ```
    pub fn sea_level_pressure_tenths_hpa(&self) -> Option<u16> {
        let digits = self.remarks.sea_level_pressure_digits?;
        let plausible =
            self.altimeter.map(Altimeter::hpa).filter(|hpa| (900.0..1100.0).contains(hpa));
        let nearest_to = plausible.unwrap_or(1000.0) * 10.0;
        let far = |tenths: u16| (f64::from(tenths) - nearest_to).abs();
        let (low, high) = (9_000 + digits, 10_000 + digits);
        Some(if far(low) <= far(high) { low } else { high })
    }

    fn correct(&mut self, group: &[u8]) {
        let revision = match group {
            [_, b'C', letter @ b'A'..=b'Z'] => letter - b'A' + 1,
            _ => 1,
        };
        self.revision = self.revision.max(revision);
    }

    fn unread(&mut self, groups: u16) {
        self.unread_groups = self.unread_groups.saturating_add(groups);
    }
}

/// The time nearest to a reference that has a day of the month, an hour and a minute: see
/// [`Metar::time_ms`].
fn nearest_time_ms([day, hour, minute]: [u8; 3], reference_ms: i64) -> i64 {
    let days = DateTime::from_timestamp_millis(reference_ms).and_then(|reference| {
        // From two months before to two months after: one of any three months has a 31st.
        let first = reference.date_naive().with_day(1)?.checked_sub_months(Months::new(2))?;
        Some((0..5).filter_map(move |months| {
            let month = first.checked_add_months(Months::new(months))?;
            month.with_day(u32::from(day))
        }))
    });
    days.into_iter()
        .flatten()
        .filter_map(|day| day.and_hms_opt(hour.into(), minute.into(), 0))
        .map(|instant| instant.and_utc().timestamp_millis())
        .min_by_key(|ts_ms| ts_ms.abs_diff(reference_ms))
        .unwrap_or(reference_ms)
}

fn whole_in_tenths(whole_c: i8) -> i16 {
    i16::from(whole_c) * 10
}

/// Reads `DDHHMMZ`.
fn time(group: &[u8]) -> Option<(u8, u8, u8)> {
    // Some stations leave out the Z.
    let digits = group.strip_suffix(b"Z").unwrap_or(group);
    if digits.len() != 6 {
        return None;
    }
    let field = |at: usize| small_number(&digits[at..at + 2]).map(|value| value as u8);
    let (day, hour, minute) = (field(0)?, field(2)?, field(4)?);
    ((1..=31).contains(&day) && hour < 24 && minute < 60).then_some((day, hour, minute))
}

/// Whether the first group, where the time should be, was meant as a time: it ends like a time, as
/// in `1018Z`, or starts with one, as in `231100Z,Z` and in `230930KT` before the wind.
fn starts_with_torn_time(mut groups: Groups<'_>) -> bool {
    let (Some(group), next) = (groups.next(), groups.next()) else { return false };
    let is_wind = |group| wind::wind(group).is_some();
    let digits = group.iter().filter(|byte| byte.is_ascii_digit()).count();
    let starts = group.get(..6).is_some_and(|start| time(start).is_some())
        && (!is_wind(group) || next.is_some_and(is_wind));
    digits >= 3 && (starts || group.ends_with(b"Z"))
}

/// Whether a group can only be the first after a time.
fn starts_body(group: &[u8]) -> bool {
    matches!(group, b"AUTO" | b"NIL") || wind::wind(group).is_some()
}

/// Day of the month, hour and minute of an instant.
fn day_hour_minute(ts_ms: i64) -> Option<(u8, u8, u8)> {
    let instant = DateTime::from_timestamp_millis(ts_ms)?;
    Some((instant.day() as u8, instant.hour() as u8, instant.minute() as u8))
}

/// The start of a group, for messages.
fn excerpt(group: Option<&[u8]>) -> String {
    let group = group.unwrap_or_default();
    String::from_utf8_lossy(&group[..group.len().min(20)]).into_owned()
}

#[cfg(test)]
#[path = "metar_tests.rs"]
mod tests;

#[cfg(test)]
mod reported_tests;

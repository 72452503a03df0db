//! Remarks that carry data, as FMH-1 chapter 12 (US) and MANOBS (Canada) define them.
//!
//! Remarks are free text with data groups in it, in no order common to all stations. A group that
//! has the shape of a data group is read wherever it occurs; all other words are skipped.

use super::group::{Groups, is_missing, number, signed_tenths, small_number};
use super::list::ShortList;
use super::wind::{PeakWind, peak_wind};

/// Kind of automated station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutomatedStation {
    /// `AO1`: cannot tell rain from snow.
    Ao1,
    /// `AO2`: can.
    Ao2,
}

/// Change of station pressure in three hours (`5appp`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PressureTendency {
    /// How the pressure changed: WMO code table 0200, 0 to 8.
    pub characteristic: u8,
    /// Change in tenths of a hectopascal; negative for a fall.
    pub change_tenths_hpa: i16,
}

/// Sensors that a report declares out of order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "one remark each, any of them together")]
pub struct Outages {
    /// `$`: the station needs maintenance.
    pub maintenance: bool,
    /// `PNO`: rain gauge.
    pub rain_gauge: bool,
    /// `FZRANO`: freezing-rain sensor.
    pub freezing_rain: bool,
    /// `TSNO`: lightning detector.
    pub lightning: bool,
    /// `PWINO`: present-weather identifier.
    pub present_weather: bool,
    /// `RVRNO`: runway visual range.
    pub runway_visual_range: bool,
    /// `SLPNO`: sea-level pressure.
    pub sea_level_pressure: bool,
}

/// The remarks that carry data, in the units of the report.
///
/// ```
/// use mesonet::feed::metar::{AutomatedStation, Metar, Outages, PeakWind, PressureTendency, Remarks};
/// let report = Metar::parse(
///     "KBUF 312354Z 21014KT RMK AO2 PK WND 22034/2331 SLP077 T00221067 56012 TSNO $",
/// )?;
/// let remarks: Remarks = report.remarks;
/// assert_eq!(remarks.automated, Some(AutomatedStation::Ao2));
/// assert_eq!((remarks.temperature_tenths_c, remarks.dew_point_tenths_c), (Some(22), Some(-67)));
/// let gust = PeakWind { from_degrees: Some(220), speed_kt: 34, hour: Some(23), minute: 31 };
/// assert_eq!(remarks.peak_wind, Some(gust));
/// let falling = PressureTendency { characteristic: 6, change_tenths_hpa: -12 };
/// assert_eq!(remarks.pressure_tendency, Some(falling));
/// let outages = Outages { maintenance: true, lightning: true, ..Outages::default() };
/// assert_eq!(remarks.outages, outages);
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    /// `AO1`, `AO2`.
    pub automated: Option<AutomatedStation>,
    /// Air temperature in tenths of a degree Celsius (`Tsnnnsnnn`).
    pub temperature_tenths_c: Option<i16>,
    /// Dew point in tenths of a degree Celsius.
    pub dew_point_tenths_c: Option<i16>,
    /// The three digits of `SLPnnn`: tens, units and tenths of a hectopascal. See
    /// [`Metar::sea_level_pressure_tenths_hpa`](super::Metar::sea_level_pressure_tenths_hpa).
    pub sea_level_pressure_digits: Option<u16>,
    /// Precipitation since the last hourly report in hundredths of an inch (`Pnnnn`); 0 includes a
    /// trace.
    pub hourly_precipitation_hundredths_in: Option<u16>,
    /// Precipitation of the past hour in tenths of a millimetre (`PCPN 0.8MM PAST HR`), which
    /// Canadian stations write out in words.
    pub past_hour_precipitation_tenths_mm: Option<u16>,
    /// Precipitation of 3 or 6 hours in hundredths of an inch (`6RRRR`); 0 includes a trace. See
    /// [`Metar::six_group_minutes`](super::Metar::six_group_minutes).
    pub six_group_hundredths_in: Option<u16>,
    /// Precipitation of 24 hours in hundredths of an inch (`7RRRR`); 0 includes a trace.
    pub daily_precipitation_hundredths_in: Option<u16>,
    /// Depth of snow on the ground in inches (`4/sss`).
    pub snow_depth_in: Option<u16>,
    /// Snow that fell in six hours in tenths of an inch (`931RRR`).
    pub snowfall_tenths_in: Option<u16>,
    /// Water equivalent of the snow on the ground in tenths of an inch (`933RRR`).
    pub snow_water_tenths_in: Option<u16>,
    /// Highest temperature of six hours in tenths of a degree Celsius (`1snTTT`).
    pub max_6h_tenths_c: Option<i16>,
    /// Lowest temperature of six hours in tenths of a degree Celsius (`2snTTT`).
    pub min_6h_tenths_c: Option<i16>,
    /// Highest temperature of 24 hours in tenths of a degree Celsius (`4snTTTsnTTT`).
    pub max_24h_tenths_c: Option<i16>,
    /// Lowest temperature of 24 hours in tenths of a degree Celsius.
    pub min_24h_tenths_c: Option<i16>,
    /// Change of station pressure in three hours (`5appp`).
    pub pressure_tendency: Option<PressureTendency>,
    /// Highest gust since the last hourly report (`PK WND`).
    pub peak_wind: Option<PeakWind>,
    /// Ice that grew in the past hour, in hundredths of an inch (`I1nnn`); 0 includes a trace.
    pub ice_1h_hundredths_in: Option<u16>,
    /// Ice that grew in the past 3 hours, in hundredths of an inch (`I3nnn`).
    pub ice_3h_hundredths_in: Option<u16>,
    /// Ice that grew in the past 6 hours, in hundredths of an inch (`I6nnn`).
    pub ice_6h_hundredths_in: Option<u16>,
    /// Sensors that are out of order.
    pub outages: Outages,
}

/// The result of reading a group.
pub(super) enum GroupOutcome {
    /// Data, or that it is missing.
    Taken,
    /// A word that carries no data.
    Word,
    /// It has the shape of a data group, but is not one.
    Malformed,
}

impl Remarks {
    /// Reads the groups after `RMK`; returns how many data groups were malformed.
    pub(super) fn read(&mut self, mut groups: Groups<'_>) -> u16 {
        let mut malformed = 0_u16;
        while let Some(group) = groups.next() {
            if matches!(self.group(group, &mut groups), GroupOutcome::Malformed) {
                malformed = malformed.saturating_add(1);
            }
        }
        malformed
    }

    /// Leaves out tenths that are more than a degree away from the whole degrees of the body;
    /// returns whether there are any.
    pub(super) fn leave_out_contradicting_tenths(
        &mut self,
        air_c: Option<i8>,
        dew_point_c: Option<i8>,
    ) -> bool {
        let mut any = false;
        let pairs =
            [(&mut self.temperature_tenths_c, air_c), (&mut self.dew_point_tenths_c, dew_point_c)];
        for (tenths, whole_c) in pairs {
            let is_far = |(tenths, whole_c): (i16, i8)| {
                tenths.abs_diff(super::whole_in_tenths(whole_c)) > 10
            };
            if tenths.zip(whole_c).is_some_and(is_far) {
                *tenths = None;
                any = true;
            }
        }
        any
    }

    pub(super) fn group(&mut self, group: &[u8], groups: &mut Groups<'_>) -> GroupOutcome {
        let group = match group {
            // The maintenance sign often lacks its blank, as in T02611012$.
            [group @ .., b'$'] => {
                self.outages.maintenance = true;
                group
            }
            group => group,
        };
        if let Some(parts) = glued(group) {
            for part in &parts {
                self.group(part, &mut Groups::new(b""));
            }
            return GroupOutcome::Taken;
        }
        match group {
            [b'0'..=b'9', ..] => return self.digits(group),
            // Some have a zero for the letter O, or a trailing A if an observer adds to the report
            // (AO2A).
            [b'A', b'O' | b'0', b'1', ..] => self.automated = Some(AutomatedStation::Ao1),
            [b'A', b'O' | b'0', b'2', ..] => self.automated = Some(AutomatedStation::Ao2),
            b"PNO" => self.outages.rain_gauge = true,
            b"FZRANO" => self.outages.freezing_rain = true,
            b"TSNO" => self.outages.lightning = true,
            b"PWINO" => self.outages.present_weather = true,
            b"RVRNO" => self.outages.runway_visual_range = true,
            b"SLPNO" => self.outages.sea_level_pressure = true,
            [b'S', b'L', b'P', digits @ ..] if !digits.is_empty() => {
                let read = small_number(digits).filter(|_| digits.len() == 3);
                return keep(&mut self.sea_level_pressure_digits, read, is_missing(digits));
            }
            // SLP 125.
            b"SLP"
                if groups.peek().is_some_and(|next| next.len() == 3 && number(next).is_some()) =>
            {
                let read = groups.next().and_then(small_number);
                return keep(&mut self.sea_level_pressure_digits, read, false);
            }
            // T2 SET is about thunderstorms in sight.
            [b'T', digits @ ..] if digits.len() >= 4 && digits[0].is_ascii_digit() => {
                return self.tenths(digits);
            }
            [b'P', digits @ ..] if digits.len() == 4 && !digits[0].is_ascii_alphabetic() => {
                let read = small_number(digits);
                let missing = is_missing(digits);
                return keep(&mut self.hourly_precipitation_hundredths_in, read, missing);
            }
            [b'I', hours @ (b'1' | b'3' | b'6'), thickness @ ..] if thickness.len() == 3 => {
                let slot = match hours {
                    b'1' => &mut self.ice_1h_hundredths_in,
                    b'3' => &mut self.ice_3h_hundredths_in,
                    _ => &mut self.ice_6h_hundredths_in,
                };
                return keep(slot, small_number(thickness), is_missing(thickness));
            }
            b"PCPN" => {
                if let Some(tenths_mm) = past_hour_tenths_mm(groups.clone()) {
                    self.past_hour_precipitation_tenths_mm.get_or_insert(tenths_mm);
                    // PCPN 0.8MM PAST HR.
                    groups.by_ref().take(3).for_each(drop);
                } else {
                    return GroupOutcome::Word;
                }
            }
            b"PKWND" | b"PK" if group.len() > 2 || groups.peek() == Some(b"WND") => {
                if group.len() == 2 {
                    groups.next();
                }
                let wind = groups.peek().filter(|group| group[0].is_ascii_digit());
                if wind.is_some() {
                    groups.next();
                }
                return keep(&mut self.peak_wind, wind.and_then(peak_wind), false);
            }
            b"" => {}
            _ => return GroupOutcome::Word,
        }
        GroupOutcome::Taken
    }

    /// `Tsnnnsnnn`, or `Tsnnn` if the dew point is missing.
    fn tenths(&mut self, digits: &[u8]) -> GroupOutcome {
        let read = match digits.split_at_checked(4) {
            Some((temperature, b"" | b"////")) => signed_tenths(temperature).map(|t| (t, None)),
            Some((temperature, dew_point)) => signed_tenths(temperature)
                .zip(signed_tenths(dew_point))
                .map(|(temperature, dew_point)| (temperature, Some(dew_point))),
            None => None,
        };
        let Some((temperature, dew_point)) = read else { return GroupOutcome::Malformed };
        if self.temperature_tenths_c.is_none() {
            self.temperature_tenths_c = Some(temperature);
            self.dew_point_tenths_c = dew_point;
        }
        GroupOutcome::Taken
    }

    /// Groups that start with the digit that names them. A number of another length is part of the
    /// surrounding words, such as a height or a time.
    fn digits(&mut self, group: &[u8]) -> GroupOutcome {
        match group {
            [b'4', b'/', depth @ ..] => {
                let read = small_number(depth).filter(|_| depth.len() == 3);
                keep(&mut self.snow_depth_in, read, is_missing(depth))
            }
            [b'4', extremes @ ..] if extremes.len() == 8 => {
                let (max, min) = extremes.split_at(4);
                let max = keep(&mut self.max_24h_tenths_c, signed_tenths(max), is_missing(max));
                let min = keep(&mut self.min_24h_tenths_c, signed_tenths(min), is_missing(min));
                if matches!(max, GroupOutcome::Malformed) { max } else { min }
            }
            [b'9', b'3', kind @ (b'1' | b'3'), tenths @ ..] if tenths.len() == 3 => {
                let slot = if *kind == b'1' {
                    &mut self.snowfall_tenths_in
                } else {
                    &mut self.snow_water_tenths_in
                };
                keep(slot, small_number(tenths), is_missing(tenths))
            }
            [kind, field @ ..] if field.len() == 4 => self.five_characters(*kind, field),
            _ => GroupOutcome::Word,
        }
    }

    fn five_characters(&mut self, kind: u8, field: &[u8]) -> GroupOutcome {
        let is_data = is_missing(field) || number(field).is_some();
        if !is_data {
            return GroupOutcome::Word;
        }
        let missing = is_missing(field);
        match kind {
            b'1' => keep(&mut self.max_6h_tenths_c, signed_tenths(field), missing),
            b'2' => keep(&mut self.min_6h_tenths_c, signed_tenths(field), missing),
            b'5' => keep(&mut self.pressure_tendency, pressure_tendency(field), missing),
            b'6' => keep(&mut self.six_group_hundredths_in, small_number(field), missing),
            b'7' => keep(&mut self.daily_precipitation_hundredths_in, small_number(field), missing),
            _ => GroupOutcome::Word,
        }
    }
}

/// The data groups that are glued together in one, as in `SLP169T03060211`: groups of a fixed
/// length that start with a letter. `None` for a single group, and for any other word.
fn glued(group: &[u8]) -> Option<ShortList<&[u8], 4>> {
    const SHORTEST: usize = 8;
    // Tsnnnsnnn alone.
    let is_plain = group.len() == 9 && group[0] == b'T';
    if group.len() < SHORTEST || is_plain || !group[0].is_ascii_uppercase() {
        return None;
    }
    let mut parts = ShortList::new(&b""[..]);
    let mut rest = group;
    while !rest.is_empty() {
        let (part, behind) = rest.split_at(fixed_length(rest, !parts.is_empty())?);
        if !parts.push(part) {
            return None;
        }
        rest = behind;
    }
    (parts.len() > 1).then_some(parts)
}

/// Length of the data group at the start of a text, if its first characters tell.
fn fixed_length(text: &[u8], may_be_number: bool) -> Option<usize> {
    const WORDS: [&[u8]; 10] =
        [b"SLPNO", b"FZRANO", b"PWINO", b"RVRNO", b"TSNO", b"PNO", b"AO1", b"AO2", b"A01", b"A02"];
    if let Some(word) = WORDS.iter().find(|word| text.starts_with(word)) {
        return Some(word.len());
    }
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let length = match text {
        [b'S', b'L', b'P', ..] if digits(3) >= 3 => 6,
        [b'T', b'0' | b'1', _, _, _, b'0' | b'1', ..] if digits(1) >= 8 => 9,
        [b'P', ..] if digits(1) >= 4 => 5,
        [b'1' | b'2', b'0' | b'1', ..] | [b'5'..=b'7', ..] if may_be_number && digits(0) >= 5 => 5,
        _ => return None,
    };
    Some(length)
}

/// Keeps the first value of a group: later text is less likely to be such a group.
fn keep<T>(slot: &mut Option<T>, read: Option<T>, missing: bool) -> GroupOutcome {
    match read {
        Some(value) => {
            slot.get_or_insert(value);
            GroupOutcome::Taken
        }
        None if missing => GroupOutcome::Taken,
        None => GroupOutcome::Malformed,
    }
}

/// Reads `d.dMM PAST HR`, the words after `PCPN`; other words carry no amount.
fn past_hour_tenths_mm(mut words: Groups<'_>) -> Option<u16> {
    let amount = words.next()?.strip_suffix(b"MM")?;
    let past_hour = words.next() == Some(b"PAST") && words.next() == Some(b"HR");
    match amount {
        [whole @ .., b'.', tenth @ b'0'..=b'9'] if past_hour && whole.len() <= 3 => {
            Some(small_number(whole)? * 10 + u16::from(tenth - b'0'))
        }
        _ => None,
    }
}

/// `appp`: code table 0200; 0 to 3 is a rise, 4 steady, 5 to 8 a fall.
fn pressure_tendency(field: &[u8]) -> Option<PressureTendency> {
    let (characteristic, change) = field.split_first()?;
    let change = small_number(change)? as i16;
    let change_tenths_hpa = match characteristic {
        b'0'..=b'4' => change,
        b'5'..=b'8' => -change,
        _ => return None,
    };
    Some(PressureTendency { characteristic: characteristic - b'0', change_tenths_hpa })
}

//! Wind groups: `dddff(f)Gff(f)KT`, `dddVddd`, and the peak wind of the remarks.

use super::group::{MalformedField, is_missing, small_number};
use super::icao::Icao;
use crate::unit::{knots_to_kmh, metres_per_second_to_kmh};

/// Unit in which a report gives its wind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the units")]
pub enum SpeedUnit {
    Knot,
    MetrePerSecond,
    KilometrePerHour,
}

/// The direction from which the wind blows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindFrom {
    /// Degrees from true north, 0 to 360: 360 is north, 0 means calm.
    Degrees(u16),
    /// `VRB`: no single direction.
    Variable,
    /// `///`: not observed; also `000` with a speed, which is not a direction.
    Missing,
}

/// Wind of the body: the mean of two minutes in North America, of ten under ICAO.
///
/// ```
/// use mesonet::feed::metar::{Metar, MetarWind, SpeedUnit, WindFrom};
/// let report = Metar::parse("CYYZ 032000Z 24012G20KT 210V270 15SM")?;
/// let wind = MetarWind {
///     from: WindFrom::Degrees(240),
///     speed: Some(12),
///     gust: Some(20),
///     unit: SpeedUnit::Knot,
///     turns_between: Some((210, 270)),
/// };
/// assert_eq!(report.wind, Some(wind));
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetarWind {
    /// The direction from which it blows.
    pub from: WindFrom,
    /// Mean speed, in `unit`; above the scale (`P99`) it is the end of the scale.
    pub speed: Option<u16>,
    /// Highest gust of the last ten minutes, in `unit`.
    pub gust: Option<u16>,
    /// Unit of speed and gust.
    pub unit: SpeedUnit,
    /// The two directions, clockwise, between which the wind varies (`dddVddd`), in degrees.
    pub turns_between: Option<(u16, u16)>,
}

/// Highest gust since the last hourly report (`PK WND dddff(f)/(hh)mm`), in knots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeakWind {
    /// Direction in degrees from true north, 1 to 360; `None` if the report has 000, which means
    /// nothing when the wind blows.
    pub from_degrees: Option<u16>,
    /// Speed in knots.
    pub speed_kt: u16,
    /// Hour of the gust (UTC), if it is not the hour of the report.
    pub hour: Option<u8>,
    /// Minute of the gust.
    pub minute: u8,
}

impl SpeedUnit {
    /// The unit that reports from the country of a station use, for a report that lost its unit.
    ///
    /// m/s in Russia, Belarus, Ukraine, Kazakhstan, Kyrgyzstan and Tajikistan, in China and
    /// Mongolia, by the letters that ICAO Doc 7910 gives them; knots elsewhere. The Aviation
    /// Weather Center's tables of 2022-10-22 and 23 agree: all 979 reports with a unit and one of
    /// these letters have MPS (none is from Ukraine), and no other report has MPS. None has KMH.
    pub(super) fn of_country(station: Icao) -> Self {
        let has_metres = match station.0 {
            [b'U', b'B' | b'D' | b'G', ..] => false,
            [b'U', b'T', of_country, _] => of_country == b'D',
            [letter, ..] => matches!(letter, b'U' | b'Z'),
        };
        if has_metres { Self::MetrePerSecond } else { Self::Knot }
    }

    /// A speed in this unit, in kilometres per hour.
    ///
    /// ```
    /// use mesonet::feed::metar::SpeedUnit;
    /// assert_eq!((SpeedUnit::Knot.kmh(10), SpeedUnit::MetrePerSecond.kmh(10)), (18.52, 36.0));
    /// ```
    pub fn kmh(self, speed: u16) -> f64 {
        match self {
            Self::Knot => knots_to_kmh(f64::from(speed)),
            Self::MetrePerSecond => metres_per_second_to_kmh(f64::from(speed)),
            Self::KilometrePerHour => f64::from(speed),
        }
    }

    /// Reads the end of a wind group, or the group after one that lost its end.
    pub(super) fn read(text: &[u8]) -> Option<Self> {
        match text {
            b"KT" | b"KTS" => Some(Self::Knot),
            b"MPS" => Some(Self::MetrePerSecond),
            b"KMH" => Some(Self::KilometrePerHour),
            _ => None,
        }
    }
}

/// The content of a wind group.
pub(super) enum WindGroup {
    Wind(MetarWind),
    Missing,
}

/// Reads a wind group; `None` if it is not one.
pub(super) fn wind(group: &[u8]) -> Option<WindGroup> {
    let end = group.iter().rposition(|&byte| !byte.is_ascii_uppercase())? + 1;
    let (fields, unit) = group.split_at(end);
    wind_in(fields, SpeedUnit::read(unit)?)
}

/// Whether a group is a wind, with its unit or without.
pub(super) fn is_wind(group: &[u8]) -> bool {
    wind(group).is_some() || wind_without_unit(group, SpeedUnit::Knot).is_some()
}

/// Reads a wind without its unit, `dddff` or `ddd` and speeds of two or three digits with a `G`
/// between them; `None` if it is not one. The direction is in whole tens, as it is reported, and a
/// calm has none.
pub(super) fn wind_without_unit(group: &[u8], unit: SpeedUnit) -> Option<MetarWind> {
    let is_shaped = group.len() == 5 || group.contains(&b'G');
    let is_direction = group.starts_with(b"VRB") || group.get(2) == Some(&b'0');
    match wind_in(group, unit).filter(|_| is_shaped && is_direction)? {
        WindGroup::Wind(wind) => {
            let is_calm = wind.speed == Some(0);
            let has_direction = !matches!(wind.from, WindFrom::Degrees(0) | WindFrom::Missing);
            Some(wind).filter(|_| wind.speed.is_some() && is_calm != has_direction)
        }
        WindGroup::Missing => None,
    }
}

fn wind_in(fields: &[u8], unit: SpeedUnit) -> Option<WindGroup> {
    if is_missing(fields) {
        return Some(WindGroup::Missing);
    }
    // E: estimated.
    let fields = fields.strip_prefix(b"E").unwrap_or(fields);
    let (from, speeds) = fields.split_at_checked(3)?;
    let from = match from {
        b"VRB" => WindFrom::Variable,
        b"///" => WindFrom::Missing,
        digits => WindFrom::Degrees(degrees(digits)?),
    };
    let (speed, gust) = match speeds.iter().position(|&byte| byte == b'G') {
        Some(at) => (speed(&speeds[..at]).ok()?, speed(&speeds[at + 1..]).ok()?),
        None => (speed(speeds).ok()?, None),
    };
    let blows = [speed, gust].into_iter().flatten().any(|speed| speed > 0);
    let from = if blows && from == WindFrom::Degrees(0) { WindFrom::Missing } else { from };
    Some(WindGroup::Wind(MetarWind { from, speed, gust, unit, turns_between: None }))
}

/// A speed of two or three digits, possibly above the scale, or missing.
fn speed(field: &[u8]) -> Result<Option<u16>, MalformedField> {
    if is_missing(field) {
        return Ok(None);
    }
    let digits = field.strip_prefix(b"P").unwrap_or(field);
    small_number(digits).filter(|_| matches!(digits.len(), 2 | 3)).map(Some).ok_or(MalformedField)
}

fn degrees(digits: &[u8]) -> Option<u16> {
    small_number(digits).filter(|&degrees| digits.len() == 3 && degrees <= 360)
}

/// Reads `dddVddd`.
pub(super) fn turns_between(group: &[u8]) -> Option<(u16, u16)> {
    match group {
        [from @ .., b'V', _, _, _] => Some((degrees(from)?, degrees(&group[4..])?)),
        _ => None,
    }
}

/// Reads the last group of `PK WND dddff(f)/(hh)mm`.
pub(super) fn peak_wind(group: &[u8]) -> Option<PeakWind> {
    let slash = group.iter().position(|&byte| byte == b'/')?;
    let (wind, time) = (&group[..slash], &group[slash + 1..]);
    let (from, speed) = wind.split_at_checked(3)?;
    let (hour, minute) = match time.len() {
        2 => (None, time),
        4 => (Some(small_number(&time[..2]).filter(|&hour| hour < 24)? as u8), &time[2..]),
        _ => return None,
    };
    Some(PeakWind {
        from_degrees: Some(degrees(from)?).filter(|&degrees| degrees > 0),
        // Some tables have a peak of zero in place of no peak.
        speed_kt: small_number(speed).filter(|&kt| matches!(speed.len(), 2 | 3) && kt > 0)?,
        hour,
        minute: small_number(minute).filter(|&minute| minute < 60)? as u8,
    })
}

//! The body of a report: what follows the station and time, up to the remarks.
//!
//! Not all stations keep the order of the regulations, so a group is recognized by its shape.

use super::group::{Groups, Malformed, is_missing, number, small_number};
use super::sky;
use super::visibility::{self, TEN_KM_OR_MORE};
use super::weather::Weather;
use super::wind::{self, SpeedUnit, WindGroup};
use super::{Altimeter, Metar};

/// What became of a group, for those who want more than [`Metar`] keeps.
pub(super) enum BodyGroup<'a> {
    /// It was read or skipped; the groups behind it.
    Read(&'a [u8], Groups<'a>),
    /// It could not be read.
    Unread(&'a [u8]),
    /// It belongs to a trend forecast.
    Trend(&'a [u8]),
    /// It belongs to the remarks.
    Remark(&'a [u8]),
}

/// Reads the groups after the time, remarks included, into the report, and visits each.
pub(super) fn read<'a>(
    metar: &mut Metar,
    mut groups: Groups<'a>,
    visit: &mut impl FnMut(BodyGroup<'a>),
) {
    while let Some(group) = groups.next() {
        if let Some(glued) = group.strip_prefix(b"RMK") {
            // In RMKAO2 the blank is missing.
            for groups in [Groups::new(glued), groups] {
                groups.clone().for_each(|group| visit(BodyGroup::Remark(group)));
                let malformed = metar.remarks.read(groups);
                metar.unread(malformed);
            }
            return;
        }
        let behind = groups.clone();
        if starts_trend(metar, group) {
            visit(BodyGroup::Trend(group));
            // A forecast: nothing in it was observed.
            while let Some(group) = groups.peek().filter(|group| !group.starts_with(b"RMK")) {
                visit(BodyGroup::Trend(group));
                groups.next();
            }
        } else if take(metar, group, &mut groups) {
            visit(BodyGroup::Read(group, behind));
        } else {
            visit(BodyGroup::Unread(group));
            metar.unread(1);
        }
    }
}

/// Whether a group is the state of a runway in the old form, 8 characters.
pub(super) fn is_old_runway_state(group: &[u8]) -> bool {
    // `21005MPS` is a wind.
    let is_figure = |byte: &u8| byte.is_ascii_digit() || *byte == b'/';
    group.len() == 8 && number(&group[..4]).is_some() && group[4..].iter().all(is_figure)
}

/// Whether a group and all after it, up to the remarks, are a trend forecast: its change
/// indicators, the start of its time (`FMhhmm`), and the colour state by which military stations
/// sum up an observation, behind which the colours and values that they expect follow.
fn starts_trend(metar: &Metar, group: &[u8]) -> bool {
    match group {
        b"NOSIG" | b"TEMPO" | b"BECMG" | b"INTER" | b"PROB30" | b"PROB40" => true,
        [b'F', b'M', time @ ..] => matches!(time.len(), 4 | 6) && number(time).is_some(),
        b"BLU"
        | b"BLU+"
        | b"WHT"
        | b"GRN"
        | b"YLO"
        | b"YLO1"
        | b"YLO2"
        | b"AMB"
        | b"RED"
        | [b'B', b'L', b'A', b'C', b'K', ..] => {
            metar.temperature_c.is_some() || metar.altimeter.is_some()
        }
        _ => false,
    }
}

/// Takes one group; `false` if it does not belong to the body or occurs twice.
fn take(metar: &mut Metar, group: &[u8], groups: &mut Groups<'_>) -> bool {
    match group {
        b"AUTO" => metar.auto = true,
        b"NIL" => metar.nil = true,
        b"CAVOK" => {
            metar.cavok = true;
            metar.visibility.get_or_insert(TEN_KM_OR_MORE);
        }
        b"COR" | [b'C', b'C', b'A'..=b'Z'] => metar.correct(group),
        // Windshear in the lowest 1,600 ft: WS R24, WS RWY24, WS ALL RWY.
        b"WS" => {
            while matches!(groups.peek(), Some(b"ALL" | [b'R', ..])) {
                groups.next();
            }
        }
        [b'/', ..] => return slashes(metar, group),
        [b'0'..=b'9', ..] => return digits(metar, group, groups),
        [b'V', b'R', b'B', ..] | [b'E', b'0'..=b'9' | b'/', ..] => {
            return take_wind(metar, group) || take_wind_without_unit(metar, group, groups);
        }
        b"VC" => return in_the_vicinity(metar, groups),
        [b'A', value @ ..] if value.len() == 4 && !value[0].is_ascii_alphabetic() => {
            let read = small_number(value).map(Altimeter::HundredthsInchHg);
            return set(&mut metar.altimeter, read, is_missing(value));
        }
        [b'Q', value @ ..] => {
            let value = value.strip_prefix(b"NH").unwrap_or(value);
            let read = small_number(value).filter(|_| value.len() == 4).map(Altimeter::Hectopascal);
            return set(&mut metar.altimeter, read, is_missing(value));
        }
        // Skipped: M for a missing group, as some US stations write it; visual
        // range and state of the runway; temperature and state of the sea.
        b"M" | [b'R', b'0'..=b'9' | b'/', ..] | [b'W', b'0'..=b'9' | b'M' | b'/', ..] => {}
        [b'M' | b'P', b'0'..=b'9', rest @ ..] => {
            return if group.ends_with(b"SM") {
                set(&mut metar.visibility, visibility::miles(group, None), false)
            } else if rest.contains(&b'/') {
                temperatures(metar, group)
            } else {
                set(&mut metar.visibility, visibility::metres(group), false)
            };
        }
        _ => return letters(metar, group),
    }
    true
}

/// Sky and weather: the groups made of letters.
fn letters(metar: &mut Metar, group: &[u8]) -> bool {
    if let Some(layer) = sky::layer(group) {
        metar.sky.push(layer)
    } else if let Some(weather) = Weather::read(group) {
        metar.weather.push(weather)
    } else {
        // No significant weather.
        matches!(group, b"NSW")
    }
}

/// `VC` with a blank behind it: the next group is its weather.
fn in_the_vicinity(metar: &mut Metar, groups: &mut Groups<'_>) -> bool {
    let read = groups.peek().and_then(Weather::read).filter(|weather| !weather.in_vicinity);
    let Some(mut weather) = read else { return false };
    groups.next();
    weather.in_vicinity = true;
    metar.weather.push(weather)
}

fn digits(metar: &mut Metar, group: &[u8], groups: &mut Groups<'_>) -> bool {
    if take_wind_without_unit(metar, group, groups) {
        return true;
    }
    match group {
        [.., b'K', b'T']
        | [.., b'K', b'T', b'S']
        | [.., b'M', b'P', b'S']
        | [.., b'K', b'M', b'H'] => take_wind(metar, group),
        [.., b'S', b'M'] => set(&mut metar.visibility, visibility::miles(group, None), false),
        [_, _, _, b'V', _, _, _] => {
            let read = wind::turns_between(group);
            let taken = read.is_some();
            if let Some(wind) = &mut metar.wind {
                wind.turns_between = read;
            }
            taken
        }
        [_, _, b'/', ..] => temperatures(metar, group),
        // Whole miles, with the fraction or the unit in the next group.
        [_] | [_, _] => {
            let whole = small_number(group);
            let read = groups
                .peek()
                .zip(whole)
                .and_then(|(fraction, whole)| visibility::miles(fraction, Some(whole)));
            if read.is_some() {
                groups.next();
            }
            set(&mut metar.visibility, read, false)
        }
        _ if is_old_runway_state(group) => true,
        _ if visibility::directional(group).is_some() => true,
        _ => set(&mut metar.visibility, visibility::metres(group), false),
    }
}

/// Groups that start with a slash: some of their content was not observed.
fn slashes(metar: &mut Metar, group: &[u8]) -> bool {
    if is_missing(group) {
        // Two slashes stand for the weather, four for the visibility, six and more for the sky.
        metar.weather_missing |= group.len() == 2;
        return true;
    }
    match group {
        [.., b'K', b'T'] | [.., b'M', b'P', b'S'] | [.., b'K', b'M', b'H'] => {
            take_wind(metar, group)
        }
        [missing @ .., b'S', b'M'] => is_missing(missing),
        [b'/', b'/', b'/', b'0'..=b'9', _] | [b'/', b'/', b'/', b'M', _, _] => {
            temperatures(metar, group)
        }
        _ => letters(metar, group),
    }
}

fn take_wind(metar: &mut Metar, group: &[u8]) -> bool {
    match wind::wind(group) {
        Some(WindGroup::Wind(wind)) => set(&mut metar.wind, Some(wind), false),
        Some(WindGroup::Missing) => true,
        None => false,
    }
}

/// A wind whose unit is missing or behind a blank, where only a wind can be: before all else.
fn take_wind_without_unit(metar: &mut Metar, group: &[u8], groups: &mut Groups<'_>) -> bool {
    let behind = groups.peek().and_then(SpeedUnit::read);
    let unit = behind.unwrap_or_else(|| SpeedUnit::of_country(metar.station));
    let read = wind::wind_without_unit(group, unit).filter(|_| !metar.has_body());
    if read.is_some() && behind.is_some() {
        groups.next();
    }
    set(&mut metar.wind, read, false)
}

/// `TT/TdTd`, each with `M` for minus, and each possibly missing.
fn temperatures(metar: &mut Metar, group: &[u8]) -> bool {
    let split = match group {
        [b'/', b'/', b'/', rest @ ..] => Some((&b"//"[..], rest)),
        group => {
            let slash = group.iter().position(|&byte| byte == b'/');
            slash.map(|slash| (&group[..slash], &group[slash + 1..]))
        }
    };
    let read = split.and_then(|(temperature, dew_point)| {
        Some((whole_degrees(temperature).ok()?, whole_degrees(dew_point).ok()?))
    });
    let Some((temperature, dew_point)) = read else { return false };
    let first = metar.temperature_c.is_none() && metar.dew_point_c.is_none();
    if first {
        (metar.temperature_c, metar.dew_point_c) = (temperature, dew_point);
    }
    first
}

fn whole_degrees(field: &[u8]) -> Result<Option<i8>, Malformed> {
    if field.is_empty() || is_missing(field) || matches!(field, b"XX" | b"M" | b"MM") {
        return Ok(None);
    }
    let (digits, sign) = match field {
        [b'M', digits @ ..] => (digits, -1),
        digits => (digits, 1),
    };
    let degrees = number(digits).filter(|_| digits.len() == 2).ok_or(Malformed)?;
    Ok(Some(degrees as i8 * sign))
}

/// Sets a value once; `false` if there is no value, or one was set before.
fn set<T>(slot: &mut Option<T>, read: Option<T>, missing: bool) -> bool {
    match read {
        Some(value) if slot.is_none() => {
            *slot = Some(value);
            true
        }
        Some(_) => false,
        None => missing,
    }
}

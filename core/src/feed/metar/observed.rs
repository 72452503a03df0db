//! One group of the body, recognized by its shape: not all stations keep the prescribed order.

use super::altimeter::Altimeter;
use super::group::{Groups, MalformedField, is_missing, number, small_number};
use super::runway::{is_old_state, is_runway, runway};
use super::visibility::{self, TEN_KM_OR_MORE};
use super::weather::Weather;
use super::wind::{self, SpeedUnit, WindGroup};
use super::{Metar, sky};

/// Takes one group; `false` if it does not belong to the body or occurs twice.
pub(super) fn take(metar: &mut Metar, group: &[u8], groups: &mut Groups<'_>) -> bool {
    match group {
        b"AUTO" => metar.auto = true,
        b"NIL" => metar.nil = true,
        b"CAVOK" => {
            metar.cavok = true;
            metar.visibility.get_or_insert(TEN_KM_OR_MORE);
        }
        b"COR" | [b'C', b'C', b'A'..=b'Z'] => metar.correct(group),
        b"WS" => return wind_shear(groups).count() > 0,
        [b'/', ..] => return slashes(metar, group),
        [b'0'..=b'9', ..] => return digits(metar, group, groups),
        [b'V', b'R', b'B', ..] | [b'E', b'0'..=b'9' | b'/', ..] => {
            return take_wind(metar, group) || take_wind_without_unit(metar, group, groups);
        }
        b"VC" => return in_the_vicinity(metar, groups),
        [b'A', value @ ..] if value.len() == 4 && !value[0].is_ascii_alphabetic() => {
            let read = small_number(value).map(Altimeter::HundredthsInchHg);
            return altimeter(metar, read, is_missing(value));
        }
        [b'Q', value @ ..] => {
            let value = value.strip_prefix(b"NH").unwrap_or(value);
            let read = small_number(value).filter(|_| value.len() == 4).map(Altimeter::Hectopascal);
            return altimeter(metar, read, is_missing(value));
        }
        // Skipped: M, which some US stations write for a missing group; recent weather that an
        // instrument could not tell.
        b"M" | b"RE//" => {}
        // Read elsewhere: visual range and state of the runway; temperature and state of the sea.
        [b'R', b'0'..=b'9' | b'/', ..] => return runway(group).is_some(),
        [b'W', b'0'..=b'9' | b'M' | b'/', ..] => return sea(group).is_some(),
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

/// Takes the words behind `WS`, windshear in the lowest 1,600 ft, one by one: `R24`, `RWY24`, `RWY 24`,
/// `ALL RWY`, `TKOF RWY24`.
pub(super) fn wind_shear<'a>(groups: &mut Groups<'a>) -> impl Iterator<Item = &'a [u8]> {
    let mut is_number_next = false;
    std::iter::from_fn(move || {
        let word = groups.peek()?;
        let is_of_shear = match word {
            b"ALL" | b"TKOF" | b"LDG" | b"RWY" => true,
            [b'R', b'W', b'Y', runway @ ..] | [b'R', runway @ ..] if is_runway(runway) => true,
            number => is_number_next && is_runway(number),
        };
        is_number_next = word == b"RWY";
        is_of_shear.then(|| groups.next()).flatten()
    })
}

/// The content of `Wtt/Ss`.
pub(super) struct Sea {
    /// Temperature of the surface, if it is not missing.
    pub temperature_c: Option<i8>,
    /// State of the sea, if it is given instead of the height of the waves.
    pub state: Option<u8>,
}

/// Reads `Wtt/Ss`, `W///Ss` or, with a height of waves in place of the state, `Wtt/Hhhh`.
pub(super) fn sea(group: &[u8]) -> Option<Sea> {
    let rest = group.strip_prefix(b"W")?;
    let behind = rest.windows(2).position(|pair| matches!(pair, b"/S" | b"/H"));
    let slash = behind.or_else(|| rest.iter().position(|&byte| byte == b'/'));
    let slash = slash.unwrap_or(rest.len());
    let temperature_c = whole_degrees(&rest[..slash]).ok()?;
    let is_empty = |field: &[u8]| field.is_empty() || is_missing(field);
    let state = match rest.get(slash + 1..).unwrap_or_default() {
        [b'S', state @ b'0'..=b'9'] => Some(state - b'0'),
        [b'H', height @ ..] if height.len() <= 3 && number(height).is_some() => None,
        [b'S' | b'H', missing @ ..] | missing if is_empty(missing) => None,
        _ => return None,
    };
    Some(Sea { temperature_c, state })
}

/// Takes an altimeter setting. Some stations follow two practices and give two settings: then the
/// first counts, and the second is the same in another unit or cannot be read.
fn altimeter(metar: &mut Metar, read: Option<Altimeter>, missing: bool) -> bool {
    const ROUNDING_HPA: f64 = 1.5;
    let is_same = |(first, second): (Altimeter, Altimeter)| {
        std::mem::discriminant(&first) != std::mem::discriminant(&second)
            && (first.hpa() - second.hpa()).abs() <= ROUNDING_HPA
    };
    metar.altimeter.zip(read).is_some_and(is_same) || set(&mut metar.altimeter, read, missing)
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
        _ if is_old_state(group) => true,
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

/// A wind whose unit is missing or behind a blank, at a place where only a wind can be: before all
/// other groups.
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

fn whole_degrees(field: &[u8]) -> Result<Option<i8>, MalformedField> {
    if field.is_empty() || is_missing(field) || matches!(field, b"XX" | b"M" | b"MM") {
        return Ok(None);
    }
    let (digits, sign) = match field {
        [b'M', digits @ ..] => (digits, -1),
        digits => (digits, 1),
    };
    let degrees = number(digits).filter(|_| digits.len() == 2).ok_or(MalformedField)?;
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

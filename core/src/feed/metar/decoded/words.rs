//! Reads remarks of several words, and the groups that [`Remarks`] leaves to people.

use super::super::group::{Groups, number, small_number};
use super::super::remarks::{GroupOutcome, Remarks};
use super::super::{Metar, SkyLayer, Weather, sky, visibility};
use super::figures::{hour_minute, miles};
use super::phrase::{
    BeginEnd, Ceiling, CloudAmount, CloudLayer, CloudTypes, Lightning, Obscuration, Phenomenon,
    Range, SectorVisibility, VariableSky, WeatherTime, WindShift,
};
use super::remarks::DecodedRemarks;
use super::{cover_word, places, text, tornado};

/// Clouds that Canadian and Japanese remarks name.
const CLOUDS: [&[u8]; 15] = [
    b"CI", b"CC", b"CS", b"AC", b"ACC", b"AS", b"NS", b"SC", b"ST", b"SF", b"CU", b"CF", b"TCU",
    b"CB", b"FS",
];

/// What is seen at a place.
const PHENOMENA: [&str; 12] =
    ["TS", "CB", "CBMAM", "TCU", "ACC", "ACSL", "SCSL", "CCSL", "VIRGA", "ROTOR", "VCSH", "VCTS"];

/// Reads the groups behind `RMK`, with one blank between them, into the remarks, and lists groups that
/// mean nothing here.
pub(super) fn read(
    remarks: &mut DecodedRemarks,
    metar: &Metar,
    joined: &[u8],
    not_understood: &mut Vec<String>,
) {
    let mut groups = Groups::new(joined);
    // Says which groups are data; their values are in the remarks already.
    let mut data = Remarks::default();
    while let Some(group) = groups.next() {
        let mut ahead = groups.clone();
        let behind = groups.clone();
        // The sign of maintenance often lacks its blank.
        let bare = group.strip_suffix(b"$").filter(|bare| !bare.is_empty()).unwrap_or(group);
        if phrase(remarks, bare, &mut ahead).is_some() {
            groups = ahead;
        } else if !matches!(data.group(group, &mut groups), GroupOutcome::Taken) {
            not_understood.push(text(group));
            // Together with the group that was read as its value: PK WND 24046.
            not_understood.extend(behind.until(&groups).map(text));
        }
    }
    let tenths = [
        (data.temperature_tenths_c, metar.remarks.temperature_tenths_c),
        (data.dew_point_tenths_c, metar.remarks.dew_point_tenths_c),
    ];
    if tenths.iter().any(|(stated, kept)| stated.is_some() && kept.is_none()) {
        // They contradict the body.
        let group = Groups::new(joined).find(|group| group.starts_with(b"T") && group.len() >= 5);
        not_understood.extend(group.map(text));
    }
}

/// Takes a phrase that begins with a group; if there is no phrase, leaves the groups where they
/// are.
fn phrase(remarks: &mut DecodedRemarks, group: &[u8], groups: &mut Groups<'_>) -> Option<()> {
    match group {
        b"WSHFT" => {
            let (hour, minute) = hour_minute(groups.next()?)?;
            let frontal_passage = take_word(groups, b"FROPA");
            remarks.wind_shift = Some(WindShift { hour, minute, frontal_passage });
        }
        b"TWR" | b"SFC" if groups.peek() == Some(b"VIS") => {
            groups.next();
            let miles = Some(take_miles(groups)?);
            if group == b"TWR" {
                remarks.tower_visibility_mi = miles;
            } else {
                remarks.surface_visibility_mi = miles;
            }
        }
        b"VIS" => visibility(remarks, groups)?,
        b"CIG" => ceiling(remarks, groups)?,
        b"OCNL" | b"FRQ" | b"CONS" => {
            let kinds = lightning_kinds(groups.next()?)?;
            let frequency = Some(match group {
                b"OCNL" => "OCNL",
                b"FRQ" => "FRQ",
                _ => "CONS",
            });
            let place = places::take(groups);
            remarks.lightning.push(Lightning { frequency, kinds, place });
        }
        [b'L', b'T', b'G', ..] => {
            let kinds = lightning_kinds(group)?;
            let place = places::take(groups);
            remarks.lightning.push(Lightning { frequency: None, kinds, place });
        }
        b"GR" => {
            // LESS THAN 1/4, or M1/4.
            let is_less = take_word(groups, b"LESS") && take_word(groups, b"THAN")
                || groups.peek().is_some_and(|size| size.starts_with(b"M"));
            remarks.hailstone_in = Some(take_miles(groups)?);
            remarks.hailstone_bound = Some(if is_less { "less" } else { "exact" });
        }
        b"PRESRR" => remarks.pressure_change = Some("rising rapidly"),
        b"PRESFR" => remarks.pressure_change = Some("falling rapidly"),
        b"SNINCR" => {
            let (from, to) = split(groups.next()?, b'/')?;
            let [grown, depth] = [small_number(from)?, small_number(to)?];
            remarks.snow_increase_1h_in = Some(grown);
            remarks.snow_increase_depth_in = Some(depth);
        }
        b"DENSITY" if take_word(groups, b"ALT") => {
            let height = groups.next()?.strip_suffix(b"FT")?;
            let (digits, sign) =
                height.strip_prefix(b"-").map_or((height, 1), |digits| (digits, -1));
            remarks.density_altitude_ft = Some(number(digits)? as i32 * sign);
        }
        b"ACFT" if take_word(groups, b"MSHP") => remarks.notes.push("ACFT MSHP".to_owned()),
        b"FIRST" | b"LAST" | b"NOSPECI" => remarks.notes.push(text(group)),
        b"VISNO" | b"CHINO" => {
            let what = if group == b"VISNO" { "visibility" } else { "ceiling" };
            let place = site(groups);
            let place = place.map_or_else(String::new, |place| format!(" {place}"));
            remarks.outages.push(format!("{what}{place}"));
        }
        [b'8', b'/', low, middle, high] => {
            let [low, middle, high] = [figure(*low)?, figure(*middle)?, figure(*high)?];
            remarks.cloud_types = Some(CloudTypes { low, middle, high });
        }
        [b'9', b'8', minutes @ ..] if minutes.len() == 3 => {
            remarks.sunshine_minutes = Some(small_number(minutes)?);
        }
        [b'A', hundredths @ ..] if hundredths.len() == 4 => {
            let hundredths =
                small_number(hundredths).filter(|value| (2500..=3200).contains(value))?;
            remarks.altimeter_in_hg = Some(f64::from(hundredths) / 100.0);
        }
        [b'Q', b'F', b'E', pressure @ ..] => qfe(remarks, pressure)?,
        _ => {
            return weather_times(remarks, group)
                .or_else(|| phenomenon(remarks, group, groups))
                .or_else(|| tornado::take(remarks, group, groups))
                .or_else(|| variable_sky(remarks, group, groups))
                .or_else(|| obscuration(remarks, group, groups))
                .or_else(|| cloud_amounts(remarks, group))
                .or_else(|| cloud_layer(remarks, group));
        }
    }
    Some(())
}

fn take_word(groups: &mut Groups<'_>, word: &[u8]) -> bool {
    let found = groups.peek() == Some(word);
    if found {
        groups.next();
    }
    found
}

fn split(field: &[u8], by: u8) -> Option<(&[u8], &[u8])> {
    let at = field.iter().position(|&byte| byte == by)?;
    Some((&field[..at], &field[at + 1..]))
}

/// A code figure; the inner `None` is a figure that cannot be told.
#[allow(clippy::option_option, reason = "not a figure, and a figure that is missing")]
fn figure(byte: u8) -> Option<Option<u8>> {
    match byte {
        b'0'..=b'9' => Some(Some(byte - b'0')),
        b'/' => Some(None),
        _ => None,
    }
}

fn take_miles(groups: &mut Groups<'_>) -> Option<f64> {
    let first = groups.next()?;
    let first = first.strip_prefix(b"M").unwrap_or(first);
    let distance = miles(first)?;
    let fraction = groups.peek().filter(|_| !first.contains(&b'/')).and_then(visibility::fraction);
    if fraction.is_some() {
        groups.next();
    }
    Some(distance + fraction.unwrap_or_default())
}

/// A place by its name, one word that begins with a runway's, or a direction.
fn site(groups: &mut Groups<'_>) -> Option<String> {
    let word = groups.peek()?;
    let is_site = places::is_sector(word) || word.starts_with(b"RWY") || word.starts_with(b"RY");
    if !is_site {
        return None;
    }
    groups.next();
    let number = groups.peek().filter(|number| word == b"RWY" && number[0].is_ascii_digit());
    let Some(number) = number else { return Some(text(word)) };
    groups.next();
    Some(format!("{} {}", text(word), text(number)))
}

fn visibility(remarks: &mut DecodedRemarks, groups: &mut Groups<'_>) -> Option<()> {
    if groups.peek().is_some_and(places::is_sector) {
        let place = text(groups.next()?);
        let distance_mi = take_miles(groups)?;
        remarks.sector_visibilities.push(SectorVisibility { distance_mi, place });
        return Some(());
    }
    // n n/nVn n/n: each of the numbers may be in two groups.
    let first = groups.next()?;
    let (whole, group) = match split(first, b'V') {
        Some(_) => (0.0, first),
        None => (miles(first)?, groups.peek().unwrap_or_default()),
    };
    if let Some((from, to)) = split(group, b'V') {
        if group != first {
            groups.next();
        }
        let from = whole + miles(from.strip_prefix(b"M").unwrap_or(from))?;
        let rest = groups.peek().filter(|_| !to.contains(&b'/')).and_then(visibility::fraction);
        if rest.is_some() {
            groups.next();
        }
        let to = miles(to)? + rest.unwrap_or_default();
        remarks.variable_visibility_mi = Some(Range { least: from, greatest: to });
        return Some(());
    }
    let fraction = visibility::fraction(group);
    if fraction.is_some() {
        groups.next();
    }
    let distance_mi = whole + fraction.unwrap_or_default();
    let place = site(groups)?;
    remarks.sector_visibilities.push(SectorVisibility { distance_mi, place });
    Some(())
}

fn ceiling(remarks: &mut DecodedRemarks, groups: &mut Groups<'_>) -> Option<()> {
    let height = groups.next()?;
    let feet = |field: &[u8]| {
        small_number(field).filter(|_| field.len() == 3).map(|hundreds| u32::from(hundreds) * 100)
    };
    if let Some((from, to)) = split(height, b'V') {
        let [from, to] = [feet(from)?, feet(to)?].map(f64::from);
        remarks.variable_ceiling_ft = Some(Range { least: from, greatest: to });
    } else {
        let height_ft = feet(height)?;
        remarks.ceilings.push(Ceiling { height_ft, place: site(groups)? });
    }
    Some(())
}

fn lightning_kinds(group: &[u8]) -> Option<Vec<&'static str>> {
    let kind = |pair: &[u8]| {
        Some(match pair {
            b"IC" => "IC",
            b"CC" => "CC",
            b"CG" => "CG",
            b"CA" => "CA",
            _ => return None,
        })
    };
    let mut rest = group.strip_prefix(b"LTG")?;
    let mut kinds = Vec::new();
    while !rest.is_empty() {
        kinds.push(kind(rest.get(..2)?)?);
        // Two kinds may share a letter, as in ICCCG.
        let is_shared = rest.len() == 3 && kind(&rest[1..]).is_some();
        rest = &rest[if is_shared { 1 } else { 2 }..];
    }
    Some(kinds)
}

/// `RAB05E30SNB20`: weather, then each time it began and ended.
fn weather_times(remarks: &mut DecodedRemarks, group: &[u8]) -> Option<()> {
    let mut times = Vec::new();
    let mut rest = group;
    while !rest.is_empty() {
        let is_time = |at: &usize| {
            matches!(rest[*at], b'B' | b'E') && rest.get(at + 1).is_some_and(u8::is_ascii_digit)
        };
        let at = (1..rest.len()).find(is_time)?;
        let weather = Weather::read(&rest[..at]).map(|_| text(&rest[..at]))?;
        rest = &rest[at..];
        while let [event @ (b'B' | b'E'), time @ ..] = rest {
            let digits = time.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let Some((hour, minute)) = time.get(..digits).and_then(hour_minute) else { break };
            let event = if *event == b'B' { BeginEnd::Begin } else { BeginEnd::End };
            times.push(WeatherTime { weather: weather.clone(), event, hour, minute });
            rest = &time[digits..];
        }
        if times.last().is_none_or(|last| last.weather != weather) {
            return None;
        }
    }
    remarks.weather_times.extend(times);
    Some(())
}

fn phenomenon(remarks: &mut DecodedRemarks, group: &[u8], groups: &mut Groups<'_>) -> Option<()> {
    let what = PHENOMENA.into_iter().find(|what| what.as_bytes() == group)?;
    let place = places::take(groups);
    let moving = places::take_movement(groups);
    // A thunderstorm at the station is weather of the body.
    if place.is_empty() && what == "TS" {
        return None;
    }
    remarks.phenomena.push(Phenomenon { place, moving, ..Phenomenon::of(what) });
    Some(())
}

/// A layer, or its amount alone.
fn amount(group: &[u8]) -> Option<SkyLayer> {
    let covers = [&b"FEW"[..], b"SCT", b"BKN", b"OVC"];
    let is_amount = covers.iter().any(|cover| group.starts_with(cover));
    let height = &group[group.len().min(3)..];
    let is_layer = height.is_empty() || height.len() == 3 && number(height).is_some();
    if !is_amount || !is_layer {
        return None;
    }
    let base_ft = small_number(height).map(|hundreds| u32::from(hundreds) * 100);
    Some(SkyLayer { cover: sky::SkyCover::read(&group[..3])?, base_ft, ..SkyLayer::BLANK })
}

fn variable_sky(remarks: &mut DecodedRemarks, group: &[u8], groups: &mut Groups<'_>) -> Option<()> {
    let from = amount(group)?;
    if !take_word(groups, b"V") {
        return None;
    }
    let to = amount(groups.next()?)?;
    let base_ft = from.base_ft.or(to.base_ft);
    let [cover, other_cover] = [from, to].map(|layer| cover_word(layer.cover));
    remarks.variable_sky.push(VariableSky { cover, other_cover, base_ft });
    Some(())
}

fn obscuration(remarks: &mut DecodedRemarks, group: &[u8], groups: &mut Groups<'_>) -> Option<()> {
    Weather::read(group)?;
    let layer = amount(groups.next()?).filter(|layer| layer.base_ft.is_some())?;
    let (weather, cover) = (text(group), cover_word(layer.cover));
    remarks.obscurations.push(Obscuration { weather, cover, base_ft: layer.base_ft });
    Some(())
}

fn cloud_amounts(remarks: &mut DecodedRemarks, group: &[u8]) -> Option<()> {
    let mut amounts = Vec::new();
    let mut rest = group;
    while !rest.is_empty() {
        let letters = rest.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
        let (what, behind) = rest.split_at(letters);
        let (&eighths @ b'0'..=b'8', behind) = behind.split_first()? else { return None };
        let is_known = CLOUDS.contains(&what) || what.len() == 2 && Weather::read(what).is_some();
        if !is_known {
            return None;
        }
        amounts.push(CloudAmount { what: text(what), oktas: eighths - b'0' });
        rest = behind;
    }
    remarks.cloud_amounts.extend(amounts);
    Some(())
}

fn cloud_layer(remarks: &mut DecodedRemarks, group: &[u8]) -> Option<()> {
    let (&eighths @ b'0'..=b'8', rest) = group.split_first()? else { return None };
    let (what, height) = rest.split_at_checked(rest.len().checked_sub(3)?)?;
    let hundreds = small_number(height).filter(|_| CLOUDS.contains(&what))?;
    remarks.cloud_layers.push(CloudLayer {
        oktas: eighths - b'0',
        what: text(what),
        base_ft: u32::from(hundreds) * 100,
    });
    Some(())
}

/// `753`, `642.5` (mm of mercury) or `753/1004` (and hectopascals).
fn qfe(remarks: &mut DecodedRemarks, pressure: &[u8]) -> Option<()> {
    let (mm, hpa) = match split(pressure, b'/') {
        Some((mm, hpa)) => (mm, Some(small_number(hpa).filter(|hpa| (300..1200).contains(hpa))?)),
        None => (pressure, None),
    };
    let (whole, tenth) = match split(mm, b'.') {
        Some((whole, [tenth @ b'0'..=b'9'])) => (whole, tenth - b'0'),
        Some(_) => return None,
        None => (mm, 0),
    };
    let whole = small_number(whole).filter(|mm| (200..900).contains(mm))?;
    remarks.qfe_mm_hg = Some(f64::from(whole * 10 + u16::from(tenth)) / 10.0);
    remarks.qfe_hpa = hpa;
    Some(())
}

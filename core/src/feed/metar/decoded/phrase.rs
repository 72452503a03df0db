//! Remarks of several words, and the groups that [`Remarks`] leaves to people.

use serde::Serialize;

use super::super::group::{Groups, number, small_number};
use super::super::remarks::{Outcome, Remarks};
use super::super::{Metar, SkyLayer, Weather, sky, visibility};
use super::remarks::DecodedRemarks;
use super::{cover_word, places, text};

/// The ends between which something varies.
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
    /// The least.
    pub least: f64,
    /// The greatest.
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
    /// Hour (UTC), if it is not that of the report.
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
    /// Hour (UTC), if it is not that of the report.
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

/// A thunderstorm, cloud or virga in sight.
///
/// ```
/// use mesonet::feed::metar::{Decoded, Phenomenon};
/// let report = Decoded::parse("KBUF 312354Z RMK CB DSNT W MOV E")?;
/// let cloud = Phenomenon { what: "CB", place: "DSNT W".into(), moving: Some("E".into()) };
/// assert_eq!(report.remarks.phenomena, [cloud]);
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Phenomenon {
    /// The word of the report: `TS`, `CB`, `TCU`, `ACSL`, `VIRGA` …
    pub what: &'static str,
    /// Where, in the words of the report; empty if it does not say.
    pub place: String,
    /// Where it moves: a direction, `LTL` (little) or `STNRY`.
    pub moving: Option<String>,
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

/// Clouds that Canadian and Japanese remarks name.
const CLOUDS: [&[u8]; 15] = [
    b"CI", b"CC", b"CS", b"AC", b"ACC", b"AS", b"NS", b"SC", b"ST", b"SF", b"CU", b"CF", b"TCU",
    b"CB", b"FS",
];

/// What is seen at a place.
const PHENOMENA: [&str; 14] = [
    "TS",
    "CB",
    "CBMAM",
    "TCU",
    "ACC",
    "ACSL",
    "SCSL",
    "CCSL",
    "VIRGA",
    "ROTOR",
    "VCSH",
    "VCTS",
    "TORNADO",
    "WATERSPOUT",
];

/// Reads the groups behind `RMK` into the remarks, and lists those that mean nothing here.
pub(super) fn read(
    remarks: &mut DecodedRemarks,
    metar: &Metar,
    groups: &[String],
    not_understood: &mut Vec<String>,
) {
    let joined = groups.join(" ");
    let mut groups = Groups::new(joined.as_bytes());
    // Says which groups are data; their values are in the remarks already.
    let mut data = Remarks::default();
    while let Some(group) = groups.next() {
        let mut ahead = groups.clone();
        // The sign of maintenance often lacks its blank.
        let bare = group.strip_suffix(b"$").filter(|bare| !bare.is_empty()).unwrap_or(group);
        if phrase(remarks, bare, &mut ahead).is_some() {
            groups = ahead;
        } else if !matches!(data.group(group, &mut groups), Outcome::Taken) {
            not_understood.push(text(group));
        }
    }
    let tenths = [
        (data.temperature_tenths_c, metar.remarks.temperature_tenths_c),
        (data.dew_point_tenths_c, metar.remarks.dew_point_tenths_c),
    ];
    if tenths.iter().any(|(stated, kept)| stated.is_some() && kept.is_none()) {
        // They contradict the body.
        let group = joined.split(' ').find(|group| group.starts_with('T') && group.len() >= 5);
        not_understood.extend(group.map(str::to_owned));
    }
}

/// Takes a phrase that begins with a group; leaves the groups where they are if it is none.
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
        b"GR" => remarks.hailstone_in = Some(take_miles(groups)?),
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

/// `mm`, or `hhmm`.
fn hour_minute(field: &[u8]) -> Option<(Option<u8>, u8)> {
    let (hour, minute) = match field.len() {
        2 => (None, field),
        4 => (Some(small_number(&field[..2]).filter(|&hour| hour < 24)? as u8), &field[2..]),
        _ => return None,
    };
    Some((hour, small_number(minute).filter(|&minute| minute < 60)? as u8))
}

/// A code figure; `None` within for one that cannot be told.
#[allow(clippy::option_option, reason = "not a figure, and a figure that is missing")]
fn figure(byte: u8) -> Option<Option<u8>> {
    match byte {
        b'0'..=b'9' => Some(Some(byte - b'0')),
        b'/' => Some(None),
        _ => None,
    }
}

/// A distance in miles, or a length in inches: `2`, `1/2`, `1 1/2`.
fn miles(field: &[u8]) -> Option<f64> {
    if field.contains(&b'/') {
        return visibility::fraction(field);
    }
    small_number(field).filter(|_| field.len() <= 2).map(f64::from)
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
    let (pairs, odd) = group.strip_prefix(b"LTG")?.as_chunks::<2>();
    let kind = |pair: &[u8; 2]| {
        Some(match pair {
            b"IC" => "IC",
            b"CC" => "CC",
            b"CG" => "CG",
            b"CA" => "CA",
            _ => return None,
        })
    };
    odd.is_empty().then(|| pairs.iter().map(kind).collect())?
}

/// `RAB05E30SNB20`: weather, then when it began and ended, as often as it did.
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
    remarks.phenomena.push(Phenomenon { what, place, moving });
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
    Some(SkyLayer { cover: sky::SkyCover::read(&group[..3])?, base_ft, convection: None })
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

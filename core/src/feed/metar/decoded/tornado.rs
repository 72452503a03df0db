//! Tornado, funnel cloud and waterspout: `TORNADO B13 6 NE MOV E` (FMH-1, 12.7.1.a).

use super::super::group::Groups;
use super::super::visibility;
use super::figures::{hour_minute, miles};
use super::phrase::{ClockTime, Phenomenon};
use super::remarks::DecodedRemarks;
use super::{places, text};

/// Takes the phrase that begins with a group: the phenomenon, when it began or ended, how far away
/// and where it is, and where it moves. A phrase with only a time of its end refers to the last
/// phenomenon that has not ended.
pub(super) fn take(
    remarks: &mut DecodedRemarks,
    group: &[u8],
    groups: &mut Groups<'_>,
) -> Option<()> {
    let mut seen = Phenomenon::of(match group {
        b"TORNADO" | b"TORNADOES" | b"TORNADOS" => "TORNADO",
        b"WATERSPOUT" | b"WATERSPOUTS" => "WATERSPOUT",
        b"FUNNEL" => {
            groups.next().filter(|word| matches!(*word, b"CLOUD" | b"CLOUDS" | b"CLD"))?;
            "FUNNEL CLOUD"
        }
        _ => return None,
    });
    while let Some((began, ended)) = groups.peek().and_then(begin_end) {
        groups.next();
        seen.began = began.or(seen.began);
        seen.ended = ended.or(seen.ended);
    }
    take_distance(&mut seen, groups);
    if seen.place.is_empty() {
        seen.place = places::take(groups);
    }
    seen.moving = places::take_movement(groups);

    let is_end_alone = seen.began.is_none()
        && seen.ended.is_some()
        && seen.place.is_empty()
        && seen.distance_mi.is_none();
    let is_open = |of: &&mut Phenomenon| of.what == seen.what && of.ended.is_none();
    match remarks.phenomena.iter_mut().rev().find(is_open).filter(|_| is_end_alone) {
        Some(open) => {
            open.ended = seen.ended;
            open.moving = open.moving.take().or(seen.moving);
        }
        None => remarks.phenomena.push(seen),
    }
    Some(())
}

/// `B13`, `E1325`, `B13E25`.
fn begin_end(group: &[u8]) -> Option<(Option<ClockTime>, Option<ClockTime>)> {
    let time = |field: &[u8]| hour_minute(field).map(|(hour, minute)| ClockTime { hour, minute });
    match group {
        [b'B', times @ ..] => match times.iter().position(|&byte| byte == b'E') {
            Some(at) => Some((Some(time(&times[..at])?), Some(time(&times[at + 1..])?))),
            None => Some((Some(time(times)?), None)),
        },
        [b'E', ended @ ..] => Some((None, Some(time(ended)?))),
        _ => None,
    }
}

/// `6`, `1/2`, `5 1/2`, if a direction follows, and `6NE`.
fn take_distance(seen: &mut Phenomenon, groups: &mut Groups<'_>) {
    let mut ahead = groups.clone();
    let (number, mut direction) = number_and_rest(ahead.next().unwrap_or_default());
    let Some(mut distance_mi) = miles(number) else { return };
    let next = number_and_rest(ahead.peek().unwrap_or_default());
    if direction.is_empty()
        && !number.contains(&b'/')
        && let Some(fraction) = visibility::fraction(next.0)
    {
        distance_mi += fraction;
        direction = next.1;
        ahead.next();
    }
    // The unit is always SM.
    if direction.is_empty() && ahead.peek() == Some(b"SM") {
        ahead.next();
    }
    if places::is_sector(direction) {
        seen.place = text(direction);
    } else if !direction.is_empty() || !ahead.peek().is_some_and(places::is_sector) {
        return;
    }
    seen.distance_mi = Some(distance_mi);
    *groups = ahead;
}

/// The number at the start of a group, and what is behind it.
fn number_and_rest(group: &[u8]) -> (&[u8], &[u8]) {
    group.split_at(group.iter().take_while(|&&byte| matches!(byte, b'0'..=b'9' | b'/')).count())
}

//! The body of a report: what follows the station and time, up to the remarks.

use super::group::{Groups, number};
use super::observed::take;
use super::remarks::GroupOutcome;
use super::runway::{RunwayGroup, is_old_state, runway};
use super::{Metar, mend, visibility};

/// What became of a group, for callers that need more than [`Metar`] keeps.
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
///
/// The body ends at the change indicator of a trend forecast, however it is spelt. It also ends at
/// the first group behind the altimeter setting that cannot be read: this may have been a change
/// indicator, and what follows may be a forecast. Data groups of the remarks are read wherever they
/// stand, with or without `RMK`.
pub(super) fn read<'a>(
    metar: &mut Metar,
    groups: Groups<'a>,
    visit: &mut impl FnMut(BodyGroup<'a>),
) {
    let mut body = Body { metar, visit, part: BodyPart::Observed, directional: Directional::None };
    body.read(groups);
    if let Directional::One(metres) = body.directional
        && metar.visibility.is_none()
    {
        // 4000E alone, the older form of the code: the least visibility in place of the prevailing one.
        metar.visibility = Some(visibility::of_metres(metres));
    }
}

/// Where in the body a group stands.
#[derive(Clone, Copy, PartialEq)]
enum BodyPart {
    /// What was observed, up to the altimeter setting.
    Observed,
    /// The altimeter setting has been read, or a group that stands behind it.
    Supplement,
    /// A trend forecast.
    Trend,
    /// Behind a group that cannot be read.
    Unknown,
}

/// Visibilities in a direction.
#[derive(Clone, Copy)]
enum Directional {
    None,
    One(u16),
    Several,
}

struct Body<'m, V> {
    metar: &'m mut Metar,
    visit: V,
    part: BodyPart,
    directional: Directional,
}

impl<'a, V: FnMut(BodyGroup<'a>)> Body<'_, V> {
    fn read(&mut self, mut groups: Groups<'a>) {
        while let Some(group) = groups.next() {
            if let Some(glued) = group.strip_prefix(b"RMK") {
                // In RMKAO2 the blank is missing.
                self.remarks(Groups::new(glued));
                return self.remarks(groups);
            }
            if self.part != BodyPart::Observed && is_station_type(group) {
                // The RMK before AO2 is lost.
                self.remarks(Groups::new(group));
                return self.remarks(groups);
            }
            if is_remark(group, &groups) {
                self.remark(group, &mut groups);
                continue;
            }
            if self.starts_trend(group) {
                self.part = BodyPart::Trend;
            }
            match self.part {
                BodyPart::Trend => (self.visit)(BodyGroup::Trend(group)),
                BodyPart::Unknown => self.unread(group),
                BodyPart::Observed | BodyPart::Supplement => {
                    if self.group(group, &mut groups) {
                        return self.remarks(groups);
                    }
                }
            }
        }
    }

    /// Reads a group of the body; returns whether the remarks begin at its end.
    fn group(&mut self, group: &'a [u8], groups: &mut Groups<'a>) -> bool {
        // Otherwise, if the dew point is behind a blank, only the temperature would be read.
        let is_split = matches!(group, [.., digit, b'/'] if digit.is_ascii_digit());
        if is_split && self.mended(group, groups) || self.take(group, groups) {
            return false;
        }
        if let Some(parts) = mend::cut(group) {
            for part in &parts {
                if *part == b"RMK" {
                    return true;
                }
                if self.starts_trend(part) {
                    self.part = BodyPart::Trend;
                    (self.visit)(BodyGroup::Trend(part));
                } else if !self.take(part, &mut Groups::new(b"")) {
                    self.not_read(part);
                }
            }
        } else if !self.mended(group, groups) {
            self.not_read(group);
        }
        false
    }

    /// Takes a group that belongs to the body.
    fn take(&mut self, group: &'a [u8], groups: &mut Groups<'a>) -> bool {
        let behind = groups.clone();
        let taken = take(self.metar, group, groups);
        if taken {
            self.directional = match (visibility::directional(group), self.directional) {
                (Some((metres, _)), Directional::None) => Directional::One(metres),
                (Some(_), _) => Directional::Several,
                (None, so_far) => so_far,
            };
            self.taken(group);
            (self.visit)(BodyGroup::Read(group, behind));
        }
        taken
    }

    /// Takes a group that cannot be read as it stands because of a blank or a wrong letter.
    fn mended(&mut self, group: &'a [u8], groups: &mut Groups<'a>) -> bool {
        let Some(mended) = mend::mended(group, groups.peek()) else { return false };
        let behind = groups.clone();
        let taken = take(self.metar, mended.group(), &mut Groups::new(b""));
        if taken {
            self.taken(mended.group());
            (self.visit)(BodyGroup::Read(group, behind));
            if mended.is_joined {
                groups.next();
            }
        }
        taken
    }

    fn taken(&mut self, group: &[u8]) {
        if is_of_supplement(group) {
            self.part = BodyPart::Supplement;
        }
    }

    /// A group that cannot be read. Behind the altimeter setting it ends the body, unless it is a
    /// second setting.
    fn not_read(&mut self, group: &'a [u8]) {
        self.unread(group);
        if self.part == BodyPart::Supplement && !is_altimeter(group) {
            self.part = BodyPart::Unknown;
        }
    }

    fn unread(&mut self, group: &'a [u8]) {
        (self.visit)(BodyGroup::Unread(group));
        self.metar.unread(1);
    }

    /// Reads data of the remarks that appears in the body.
    fn remark(&mut self, group: &'a [u8], groups: &mut Groups<'a>) {
        let behind = groups.clone();
        let outcome = self.metar.remarks.group(group, groups);
        self.metar.unread(u16::from(matches!(outcome, GroupOutcome::Malformed)));
        let taken = std::iter::once(group).chain(behind.until(groups));
        taken.for_each(|group| (self.visit)(BodyGroup::Remark(group)));
    }

    fn remarks(&mut self, groups: Groups<'a>) {
        groups.clone().for_each(|group| (self.visit)(BodyGroup::Remark(group)));
        let malformed = self.metar.remarks.read(groups);
        self.metar.unread(malformed);
    }

    /// Whether a group and all after it, up to the remarks, are a trend forecast. It starts with a
    /// change indicator, with a time (`FMhhmm`), or with the colour state by which military
    /// stations sum up an observation: the colours and values that they expect follow it.
    fn starts_trend(&self, group: &[u8]) -> bool {
        match group {
            [b'F', b'M', time @ ..] => matches!(time.len(), 4 | 6) && number(time).is_some(),
            [b'T', b'L', time @ ..] | [b'A', b'T', time @ ..] if time.len() == 4 => {
                number(time).is_some()
            }
            // The end of weather is expected, not observed.
            b"NSW" => self.part == BodyPart::Supplement,
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
                self.metar.temperature_c.is_some() || self.metar.altimeter.is_some()
            }
            _ => mend::is_change_indicator(group),
        }
    }
}

/// Whether a group stands behind the altimeter setting, or is it: recent weather, windshear, the state
/// of the sea and of the runways.
fn is_of_supplement(group: &[u8]) -> bool {
    match group {
        b"WS" | [b'R', b'E', ..] | [b'W', b'0'..=b'9' | b'M' | b'/', ..] => true,
        [b'R', ..] => matches!(runway(group), Some(RunwayGroup::State)),
        _ => is_altimeter(group) || is_old_state(group),
    }
}

fn is_altimeter(group: &[u8]) -> bool {
    match group {
        [b'A', value @ ..] => value.len() == 4 && !value[0].is_ascii_alphabetic(),
        [b'Q', ..] => true,
        _ => false,
    }
}

/// Whether a group is the kind of an automated station, which starts the remarks.
fn is_station_type(group: &[u8]) -> bool {
    matches!(group, [b'A', b'O' | b'0', b'1' | b'2'] | [b'A', b'O' | b'0', b'1' | b'2', b'A'])
}

/// Whether a group can only be data of the remarks, wherever it stands: sea-level pressure, and the
/// temperatures in tenths.
fn is_remark(group: &[u8], behind: &Groups<'_>) -> bool {
    let are_digits = |field: &[u8]| field.iter().all(u8::is_ascii_digit);
    match group {
        b"SLPNO" => true,
        b"SLP" => behind.peek().is_some_and(|next| next.len() == 3 && are_digits(next)),
        [b'S', b'L', b'P', digits @ ..] => digits.len() == 3 && are_digits(digits),
        [b'T', digits @ ..] => {
            digits.len() == 8
                && are_digits(digits)
                && matches!((digits[0], digits[4]), (b'0' | b'1', b'0' | b'1'))
        }
        _ => false,
    }
}

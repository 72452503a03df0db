//! The additional data of a record: sections with an identifier and fields of fixed width.

use super::{ReportType, number, push, push_qualified, tenths, verdict};
use crate::feed::collect::{Measurement, ReadingCollector};
use crate::feed::metar::Weather;
use crate::feed::ncei::synop_weather::{automatic, manned};
use crate::feed::summary::{RefusalReason, Tally};
use crate::observation::IntervalType::{Average, Cumulative, Max, Min, Unknown};
use crate::observation::{IntervalType, Qualifier, Quality, Variable};

/// Length of the fields that follow an identifier, by its two letters. If sections with the same
/// letters differ, they are listed with their number.
const SECTIONS: &[(&str, usize)] = &[
    // Precipitation, snow, weather.
    ("AA", 8),
    ("AB", 7),
    ("AC", 3),
    ("AD", 19),
    ("AE", 12),
    ("AG", 4),
    ("AH", 15),
    ("AI", 15),
    ("AJ", 14),
    ("AK", 12),
    ("AL", 7),
    ("AM", 18),
    ("AN", 9),
    ("AO", 8),
    ("AP", 6),
    ("AT", 9),
    ("AU", 8),
    ("AW", 3),
    ("AX", 6),
    ("AY", 5),
    ("AZ", 5),
    // The reference network, and networks of volunteers.
    ("CB", 10),
    ("CF", 6),
    ("CG", 8),
    ("CH", 15),
    ("CI", 28),
    ("CN1", 18),
    ("CN2", 18),
    ("CN3", 16),
    ("CN4", 19),
    ("CO1", 5),
    ("CO", 8),
    ("CR", 7),
    ("CT", 7),
    ("CU", 13),
    ("CV", 26),
    ("CW", 14),
    ("CX", 26),
    // Runway visual range, clouds, sunshine, radiation, the ground.
    ("ED", 8),
    ("GA", 13),
    ("GD", 12),
    ("GE", 19),
    ("GF", 23),
    ("GG", 15),
    ("GH", 28),
    ("GJ", 5),
    ("GK", 4),
    ("GL", 6),
    ("GM", 30),
    ("GN", 28),
    ("GO", 19),
    ("GP", 31),
    ("GQ", 14),
    ("GR", 14),
    ("IA1", 3),
    ("IA2", 9),
    ("IB1", 27),
    ("IB2", 13),
    ("IC", 25),
    // Temperature, pressure, weather, wind, humidity.
    ("KA", 10),
    ("KB", 10),
    ("KC", 14),
    ("KD", 9),
    ("KE", 12),
    ("KF", 6),
    ("KG", 11),
    ("MA", 12),
    ("MD", 11),
    ("ME", 6),
    ("MF", 12),
    ("MG", 12),
    ("MH", 12),
    ("MK", 24),
    ("MV", 3),
    ("MW", 3),
    ("OA", 8),
    ("OB", 28),
    ("OC", 5),
    ("OD", 11),
    ("OE", 16),
    ("RH", 9),
    // Sea, soil, ice, water level.
    ("SA", 5),
    ("ST", 17),
    ("UA", 10),
    ("UG", 9),
    ("WA", 6),
    ("WD", 20),
    ("WG", 11),
    ("WJ", 19),
];

/// Length of the fields of a section; `None` for none that the document defines.
fn length(identifier: [u8; 3]) -> Option<usize> {
    let is_identifier = identifier[2].is_ascii_digit();
    let row = SECTIONS.iter().find(|(name, _)| identifier.starts_with(name.as_bytes()));
    row.filter(|_| is_identifier).map(|&(_, length)| length)
}

/// Adds the readings of the sections of one record.
pub(super) struct Sections<'s, 't> {
    kind: ReportType,
    is_hourly: bool,
    to: &'s mut ReadingCollector<'t>,
    without_variable: &'s mut Tally,
    weather: Weathers,
}

impl<'s, 't> Sections<'s, 't> {
    pub(super) fn new(
        kind: ReportType,
        is_hourly: bool,
        to: &'s mut ReadingCollector<'t>,
        without_variable: &'s mut Tally,
    ) -> Self {
        Self { kind, is_hourly, to, without_variable, weather: Weathers::default() }
    }

    /// Reads the part of a record that follows the mandatory section.
    pub(super) fn read(&mut self, variable_part: &[u8]) -> Result<(), RefusalReason> {
        let Some(mut rest) = variable_part.strip_prefix(b"ADD") else { return Ok(()) };
        while let Some((identifier, after)) = rest.split_first_chunk::<3>() {
            // Remarks, the quality section, the original observation.
            if matches!(identifier, b"REM" | b"EQD" | b"QNN") {
                break;
            }
            let fields = length(*identifier).and_then(|length| after.split_at_checked(length));
            let Some((fields, next)) = fields else {
                self.count(identifier, "");
                break;
            };
            self.section(*identifier, fields)?;
            rest = next;
        }
        Ok(())
    }

    /// Reads a section on its own; a section of another length is counted.
    pub(super) fn alone(
        &mut self,
        identifier: [u8; 3],
        fields: &[u8],
    ) -> Result<(), RefusalReason> {
        if length(identifier) == Some(fields.len()) {
            return self.section(identifier, fields);
        }
        self.count(&identifier, "");
        Ok(())
    }

    /// The present weather.
    pub(super) fn into_weather(self) -> Option<Vec<String>> {
        self.weather.words()
    }

    fn section(&mut self, identifier: [u8; 3], fields: &[u8]) -> Result<(), RefusalReason> {
        use Variable::{
            AirTemperature, AltimeterSetting, BarometricPressure, CloudBaseHeight, CloudCover,
            PressureTendency, PressureTendencyCharacter, RelativeHumidity, SeaSurfaceTemperature,
            SnowDepth, Snowfall, WaveHeight, WindGust, WindSpeed,
        };
        let field = |from: usize, to: usize| number(&fields[from..to]);
        let quality = |at: usize| verdict(fields[at]);
        let hours = |from, to| Ok::<_, RefusalReason>(field(from, to)?.map(|hours| hours * 60.0));
        match [identifier[0], identifier[1]] {
            [b'A', b'A'] => self.precipitation(identifier, fields)?,
            [b'A', b'J'] => {
                let depth = field(0, 4)?.filter(|_| fields[4] != b'1');
                let is_trace = fields[4] == b'3' && depth == Some(0.0);
                let qualifier = is_trace.then_some(Qualifier::Trace);
                let of = Measurement::instantaneous(SnowDepth, "cm");
                push_qualified(self.to, of, depth, quality(5), qualifier);
            }
            [b'A', b'L'] => {
                let (minutes, depth) = (hours(0, 2)?, field(2, 5)?);
                self.over(Snowfall, Cumulative, minutes, "cm", depth, quality(6));
            }
            [b'K', b'A'] => {
                let of = match fields[3] {
                    b'M' | b'P' => Max,
                    b'N' | b'O' => Min,
                    _ => return Ok(()),
                };
                let (minutes, value) = (hours(0, 3)?.map(tenths), field(4, 9)?.map(tenths));
                self.over(AirTemperature, of, minutes, "°C", value, quality(9));
            }
            [b'M', b'A'] => {
                let of = Measurement::instantaneous(AltimeterSetting, "hPa");
                push(self.to, of, field(0, 5)?.map(tenths), quality(5));
                let value = field(6, 11)?.map(tenths);
                let of = Measurement::instantaneous(BarometricPressure, "hPa");
                push(self.to, of, value, quality(11));
            }
            [b'M', b'D'] => {
                let character = field(0, 1)?.filter(|&code| code <= 8.0);
                let of = Measurement::new(PressureTendencyCharacter, Unknown, 180, "1");
                push(self.to, of, character, quality(1));
                let change = field(2, 5)?.map(tenths).zip(character);
                let change = change.map(|(change, code)| if code > 4.0 { -change } else { change });
                let of = Measurement::new(PressureTendency, Cumulative, 180, "hPa");
                push(self.to, of, change, quality(5));
            }
            [b'G', b'A'] => {
                let index = usize::from(identifier[2].wrapping_sub(b'1'));
                let code = field(0, 2)?;
                let oktas = code.filter(|&code| code <= 9.0).map(|code| code.min(8.0));
                if let Some(of) = Measurement::layer(CloudCover, "okta", index) {
                    push(self.to, of, oktas, quality(2));
                }
                let base = field(3, 9)?.filter(|_| code != Some(0.0) && code != Some(9.0));
                if let Some(of) = Measurement::layer(CloudBaseHeight, "m", index) {
                    push(self.to, of, base, quality(9));
                }
            }
            [b'O', b'A'] => {
                let (minutes, value) = (hours(1, 3)?, field(3, 7)?.map(tenths));
                let (variable, of) = match fields[0] {
                    b'1' | b'2' => (WindSpeed, Average),
                    b'3' | b'4' => (WindGust, Max),
                    b'5' => (WindSpeed, Max),
                    _ => {
                        self.count(&identifier, "");
                        return Ok(());
                    }
                };
                self.over(variable, of, minutes, "m/s", value, quality(7));
            }
            [b'O', b'C'] => {
                let minutes = self.kind.is_aviation().then_some(10.0);
                self.over(WindGust, Max, minutes, "m/s", field(0, 4)?.map(tenths), quality(4));
            }
            [b'R', b'H'] => {
                let of = match fields[3] {
                    b'M' => Average,
                    b'X' => Max,
                    b'N' => Min,
                    _ => return Ok(()),
                };
                self.over(RelativeHumidity, of, hours(0, 3)?, "%", field(4, 7)?, quality(8));
            }
            [b'S', b'A'] => {
                let of = Measurement::instantaneous(SeaSurfaceTemperature, "°C");
                push(self.to, of, field(0, 4)?.map(tenths), quality(4));
            }
            [b'U', b'A'] => {
                let of = Measurement::instantaneous(WaveHeight, "m");
                push(self.to, of, field(3, 6)?.map(tenths), quality(6));
            }
            [b'A', b'U'] => self.weather.structured(fields),
            [b'M', b'W'] => Weathers::coded(&mut self.weather.manned, manned, fields),
            [b'A', b'W'] => Weathers::coded(&mut self.weather.automatic, automatic, fields),
            _ => self.count(&identifier, ""),
        }
        Ok(())
    }

    fn precipitation(&mut self, identifier: [u8; 3], fields: &[u8]) -> Result<(), RefusalReason> {
        let hours = number(&fields[0..2])?;
        let depth = number(&fields[2..6])?.map(tenths);
        let depth = match fields[6] {
            b'2' => Some(depth.unwrap_or(0.0)),
            b'1' | b'4'..=b'8' | b'I' | b'J' => {
                let condition = format!(" condition {}", char::from(fields[6]));
                self.count(&identifier, &condition);
                return Ok(());
            }
            _ => depth,
        };
        if self.kind.is_aviation() && hours == Some(1.0) && !self.is_hourly && depth.is_some() {
            self.count(&identifier, " since the last hourly report");
            return Ok(());
        }
        let is_trace = fields[6] == b'2' && depth == Some(0.0);
        let qualifier = is_trace.then_some(Qualifier::Trace);
        let of = over(Variable::Precipitation, Cumulative, hours.map(|hours| hours * 60.0), "mm");
        push_qualified(self.to, of, depth, verdict(fields[7]), qualifier);
        Ok(())
    }

    /// Adds a value for a period.
    fn over(
        &mut self,
        variable: Variable,
        of: IntervalType,
        minutes: Option<f64>,
        unit: &str,
        value: Option<f64>,
        quality: Quality,
    ) {
        push(self.to, over(variable, of, minutes, unit), value, quality);
    }

    /// Counts a section under its two letters.
    fn count(&mut self, identifier: &[u8], what: &str) {
        let name = String::from_utf8_lossy(&identifier[..2]);
        self.without_variable.add(&format!("{name}{what}"));
    }
}

/// What a value for a period measures. Without a period, its interval is Unknown.
fn over(variable: Variable, of: IntervalType, minutes: Option<f64>, unit: &str) -> Measurement<'_> {
    let (of, minutes) = match minutes {
        Some(minutes) if minutes > 0.0 => (of, minutes as i32),
        _ => (Unknown, 0),
    };
    Measurement::new(variable, of, minutes, unit)
}

/// Present weather, for each of the three ways to report it; empty if there is no weather, `None`
/// if the record does not say.
#[derive(Default)]
struct Weathers {
    /// Groups as in a METAR.
    structured: Option<Vec<String>>,
    manned: Option<Vec<String>>,
    automatic: Option<Vec<String>>,
}

impl Weathers {
    /// A group in parts: intensity, descriptor, precipitation, obscuration, other, and whether it
    /// continues the group before.
    fn structured(&mut self, fields: &[u8]) {
        const DESCRIPTORS: [&str; 9] = ["", "MI", "PR", "BC", "DR", "BL", "SH", "TS", "FZ"];
        const PRECIPITATION: [&str; 10] =
            ["", "DZ", "RA", "SN", "SG", "IC", "PL", "GR", "GS", "UP"];
        const OBSCURATION: [&str; 9] = ["", "BR", "FG", "FU", "VA", "DU", "SA", "HZ", "PY"];
        const OTHER: [&str; 6] = ["", "PO", "SQ", "FC", "SS", "DS"];
        let groups = self.structured.get_or_insert_default();
        if is_doubted(fields[7]) {
            return;
        }
        let code = |codes: &[&'static str], digit: u8| {
            codes.get(usize::from(digit.wrapping_sub(b'0'))).copied().unwrap_or("")
        };
        let precipitation = if fields[2] == b'0' { code(&PRECIPITATION, fields[3]) } else { "" };
        let group = [
            code(&["", "-", "", "+", "VC"], fields[0]),
            code(&DESCRIPTORS, fields[1]),
            precipitation,
            code(&OBSCURATION, fields[4]),
            code(&OTHER, fields[5]),
        ]
        .concat();
        match groups.last_mut() {
            Some(last) if fields[6] == b'3' => {
                let codes = group.trim_start_matches(['-', '+']);
                // The sign may be in a later part, with the precipitation.
                if !last.starts_with(['-', '+']) {
                    last.insert_str(0, &group[..group.len() - codes.len()]);
                }
                last.push_str(codes);
            }
            _ => groups.push(group),
        }
    }

    /// A number of a code table.
    fn coded(
        words: &mut Option<Vec<String>>,
        table: fn(u8) -> Option<&'static str>,
        fields: &[u8],
    ) {
        let words = words.get_or_insert_default();
        let code = std::str::from_utf8(&fields[..2]).ok().and_then(|code| code.parse().ok());
        let word = code.filter(|_| !is_doubted(fields[2])).and_then(table);
        words.extend(word.map(str::to_owned));
    }

    fn words(self) -> Option<Vec<String>> {
        let shown = |groups: Vec<String>| {
            let read = groups.iter().filter_map(|group| Weather::read(group.as_bytes()));
            read.map(|weather| weather.to_string()).collect()
        };
        let mut words = self.structured.map(shown).or(self.manned).or(self.automatic)?;
        let mut seen = std::collections::HashSet::new();
        words.retain(|word: &String| seen.insert(word.clone()));
        Some(words)
    }
}

/// Whether present weather is suspect or erroneous.
fn is_doubted(code: u8) -> bool {
    matches!(code, b'2' | b'3' | b'6' | b'7')
}

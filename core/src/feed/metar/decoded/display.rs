//! A report on one line.

use std::fmt;

use super::{Cloud, Decoded, DecodedAltimeter, Visibility, Wind};

/// One line of English: what the body says, with the tenths from the remarks. `METAR` or `SPECI`
/// comes first if the report has it.
impl fmt::Display for Decoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(kind) = self.kind {
            write!(f, "{kind} ")?;
        }
        let Self { station, day, hour, minute, .. } = self;
        write!(f, "{station} day {day} {hour:02}:{minute:02}Z:")?;
        let mut said = Parts { f, any: false };
        if self.revision > 0 {
            said.add(format_args!("corrected"))?;
        }
        if self.nil {
            said.add(format_args!("no report"))?;
        }
        if let Some(wind) = &self.wind {
            said.add(format_args!("{wind}"))?;
        }
        if self.cavok {
            said.add(format_args!("ceiling and visibility OK"))?;
        } else if let Some(visibility) = &self.visibility {
            said.add(format_args!("{visibility}"))?;
        }
        for (at, weather) in self.weather.iter().enumerate() {
            let (first, rest) = weather.description.split_at(1);
            let first = first.to_ascii_lowercase();
            said.add_to_list(at, format_args!("{first}{rest}"))?;
        }
        for (at, cloud) in self.clouds.iter().enumerate() {
            said.add_to_list(at, format_args!("{cloud}"))?;
        }
        match (self.temperature_c, self.dew_point_c) {
            (Some(air), Some(dew)) => said.add(format_args!("{air} °C, dew point {dew} °C"))?,
            (Some(air), None) => said.add(format_args!("{air} °C"))?,
            (None, Some(dew)) => said.add(format_args!("dew point {dew} °C"))?,
            (None, None) => {}
        }
        match self.altimeter {
            Some(DecodedAltimeter { value, unit: "inHg", .. }) => {
                said.add(format_args!("altimeter {value:.2} inHg"))?;
            }
            Some(DecodedAltimeter { value, unit, .. }) => {
                said.add(format_args!("altimeter {value} {unit}"))?;
            }
            None => {}
        }
        if said.any { Ok(()) } else { said.add(format_args!("no values")) }
    }
}

/// The parts of the line behind its head.
struct Parts<'f, 'w> {
    f: &'f mut fmt::Formatter<'w>,
    any: bool,
}

impl Parts<'_, '_> {
    fn add(&mut self, part: fmt::Arguments<'_>) -> fmt::Result {
        self.f.write_str(if self.any { "; " } else { " " })?;
        self.any = true;
        self.f.write_fmt(part)
    }

    /// Adds the entry of a list, which is one part.
    fn add_to_list(&mut self, at: usize, entry: fmt::Arguments<'_>) -> fmt::Result {
        if at == 0 {
            return self.add(entry);
        }
        self.f.write_str(", ")?;
        self.f.write_fmt(entry)
    }
}

impl fmt::Display for Wind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = self.unit;
        match (self.speed, self.from_deg) {
            (Some(0), _) => f.write_str("calm")?,
            (Some(speed), Some(from)) => write!(f, "wind from {from}° at {speed} {unit}")?,
            (Some(speed), None) if self.variable => write!(f, "wind variable at {speed} {unit}")?,
            (Some(speed), None) => write!(f, "wind {speed} {unit}")?,
            (None, Some(from)) => write!(f, "wind from {from}°")?,
            (None, None) => f.write_str("wind not observed")?,
        }
        if let Some((from, to)) = self.turns_from_deg.zip(self.turns_to_deg) {
            write!(f, ", turning between {from}° and {to}°")?;
        }
        self.gust.map_or(Ok(()), |gust| write!(f, ", gusts {gust} {unit}"))
    }
}

impl fmt::Display for Visibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { distance, unit, .. } = self;
        match self.bound {
            "less" => write!(f, "visibility less than {distance} {unit}"),
            "more" => write!(f, "visibility {distance} {unit} or more"),
            _ => write!(f, "visibility {distance} {unit}"),
        }
    }
}

impl fmt::Display for Cloud {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self.cover {
            "SKC" => "clear sky",
            "CLR" => "no clouds in reach of the instrument",
            "NSC" => "no significant clouds",
            "NCD" => "no clouds detected",
            "FEW" => "few",
            "SCT" => "scattered",
            "BKN" => "broken",
            "OVC" => "overcast",
            "VV" => "vertical visibility",
            _ => "clouds",
        };
        f.write_str(words)?;
        if let Some(base_ft) = self.base_ft {
            write!(f, " {base_ft} ft")?;
        }
        match self.convection {
            Some("CB") => f.write_str(" cumulonimbus"),
            Some(_) => f.write_str(" towering cumulus"),
            None => Ok(()),
        }
    }
}

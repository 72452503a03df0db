//! A report on one line.

use std::fmt;

use super::{Cloud, Decoded, Visibility, Wind};

/// One line of English: what the body says, with the tenths from the remarks. `METAR` or `SPECI`
/// comes first if the report has it.
impl fmt::Display for Decoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(kind) = self.kind {
            write!(f, "{kind} ")?;
        }
        let Self { station, day, hour, minute, .. } = self;
        write!(f, "{station} day {day} {hour:02}:{minute:02}Z:")?;
        let mut said: Vec<String> = Vec::new();
        if self.revision > 0 {
            said.push("corrected".to_owned());
        }
        if self.nil {
            said.push("no report".to_owned());
        }
        said.extend(self.wind.as_ref().map(Wind::to_string));
        if self.cavok {
            said.push("ceiling and visibility OK".to_owned());
        } else {
            said.extend(self.visibility.as_ref().map(Visibility::to_string));
        }
        if !self.weather.is_empty() {
            let weather = self.weather.iter().map(|weather| lower(&weather.description));
            said.push(weather.collect::<Vec<_>>().join(", "));
        }
        if !self.clouds.is_empty() {
            let clouds = self.clouds.iter().map(Cloud::to_string);
            said.push(clouds.collect::<Vec<_>>().join(", "));
        }
        match (self.temperature_c, self.dew_point_c) {
            (Some(air), Some(dew)) => said.push(format!("{air} °C, dew point {dew} °C")),
            (Some(air), None) => said.push(format!("{air} °C")),
            (None, Some(dew)) => said.push(format!("dew point {dew} °C")),
            (None, None) => {}
        }
        if let Some(altimeter) = self.altimeter {
            said.push(match altimeter.unit {
                "inHg" => format!("altimeter {:.2} inHg", altimeter.value),
                unit => format!("altimeter {} {unit}", altimeter.value),
            });
        }
        if said.is_empty() {
            said.push("no values".to_owned());
        }
        write!(f, " {}", said.join("; "))
    }
}

fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
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

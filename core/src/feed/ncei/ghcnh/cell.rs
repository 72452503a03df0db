//! The meaning of a value in a row, from its column and the attributes beside it.

use crate::feed::collect::Measurement;
use crate::feed::metar::Weather;
use crate::observation::IntervalType::{Average, Cumulative, Instantaneous, Max, Unknown};
use crate::observation::{
    BaseQuality, GHCNH_CHECKS, ISD, IntervalType, Qualifier, Quality, ReasonQuality, Variable,
};

/// The ceiling given for a sky without one.
const NO_CEILING_M: f64 = 22_000.0;

/// What a column measures.
#[derive(Clone, Copy)]
pub(super) enum ColumnKind {
    /// A variable, its interval, its unit.
    Value(Variable, IntervalType, i32, &'static str),
    WindSpeed,
    WindDirection,
    WindGust,
    /// Over a number of minutes.
    Precipitation(i32),
    Ceiling,
    /// Of the layer at an index.
    CloudCover(usize),
    /// Of the layer at an index.
    CloudBase(usize),
    /// Present weather, and its rank among the ways to report it.
    Weather(usize),
    /// Not a variable of the service.
    None,
}

impl ColumnKind {
    pub(super) fn of(name: &str) -> Self {
        use ColumnKind::Value;
        match name {
            "temperature" => Value(Variable::AirTemperature, Instantaneous, 0, "°C"),
            "dew_point_temperature" => Value(Variable::DewPointTemperature, Instantaneous, 0, "°C"),
            "wet_bulb_temperature" => Value(Variable::WetBulbTemperature, Instantaneous, 0, "°C"),
            "station_level_pressure" => {
                Value(Variable::BarometricPressure, Instantaneous, 0, "hPa")
            }
            "sea_level_pressure" => Value(Variable::Mslp, Instantaneous, 0, "hPa"),
            "relative_humidity" => Value(Variable::RelativeHumidity, Instantaneous, 0, "%"),
            "snow_depth" => Value(Variable::SnowDepth, Instantaneous, 0, "mm"),
            "visibility" => Value(Variable::Visibility, Instantaneous, 0, "km"),
            "altimeter" => Value(Variable::AltimeterSetting, Instantaneous, 0, "hPa"),
            "pressure_3hr_change" => Value(Variable::PressureTendency, Cumulative, 180, "hPa"),
            "wind_speed" => Self::WindSpeed,
            "wind_direction" => Self::WindDirection,
            "wind_gust" => Self::WindGust,
            "ceiling_height" => Self::Ceiling,
            "precipitation" => Self::Precipitation(60),
            _ if name.starts_with("pres_wx_AU") => Self::Weather(0),
            _ if name.starts_with("pres_wx_MW") => Self::Weather(1),
            _ if name.starts_with("pres_wx_AW") => Self::Weather(2),
            _ => layer(name)
                .or_else(|| precipitation_minutes(name).map(Self::Precipitation))
                .unwrap_or(Self::None),
        }
    }
}

/// Kind of `sky_cover_1`, `sky_cover_baseht_1`.
fn layer(name: &str) -> Option<ColumnKind> {
    let of_layer = name.strip_prefix("sky_cover_")?;
    let of_base = of_layer.strip_prefix("baseht_");
    let index = of_base.unwrap_or(of_layer).parse::<usize>().ok()?.checked_sub(1)?;
    Some(if of_base.is_some() {
        ColumnKind::CloudBase(index)
    } else {
        ColumnKind::CloudCover(index)
    })
}

/// Minutes of `precipitation_3_hour`, `precipitation_15_minute`.
fn precipitation_minutes(name: &str) -> Option<i32> {
    let (count, unit) = name.strip_prefix("precipitation_")?.split_once('_')?;
    let count: i32 = count.parse().ok().filter(|count| (1..=60).contains(count))?;
    match unit {
        "hour" => Some(count * 60),
        "minute" => Some(count),
        _ => None,
    }
}

/// A variable and the positions of its value and attributes.
pub(super) struct GhcnhColumn {
    pub name: String,
    pub kind: ColumnKind,
    pub value: usize,
    pub measurement: Option<usize>,
    pub quality: Option<usize>,
    pub report_type: Option<usize>,
    pub source: Option<usize>,
}

/// The result of reading a value.
pub(super) enum CellOutcome {
    Value(Measurement<'static>, f64),
    /// The cell says that there is no value.
    Nothing,
    /// The value is left out, for this reason.
    Left(&'static str),
    /// The value is not a number.
    Unread,
}

/// A value of a row with its attributes.
pub(super) struct GhcnhCell<'a> {
    pub value: &'a str,
    pub column: &'a GhcnhColumn,
    pub row: &'a [&'a str],
    pub minute: u8,
}

impl GhcnhCell<'_> {
    fn attribute(&self, at: Option<usize>) -> &str {
        at.map_or("", |at| self.row[at])
    }

    /// The first character of the measurement code; the rest is its description.
    fn measurement(&self) -> Option<char> {
        self.attribute(self.column.measurement).chars().next()
    }

    /// The two digits of the report type, FM-15 or FM15-METAR.
    fn fm(&self) -> &str {
        let code = self.attribute(self.column.report_type);
        let code = code.strip_prefix("FM").unwrap_or("").trim_start_matches('-');
        code.get(..2).unwrap_or("")
    }

    fn source(&self) -> u16 {
        self.attribute(self.column.source).parse().unwrap_or(0)
    }

    fn wind_interval(&self) -> (IntervalType, i32) {
        match (self.measurement(), self.fm()) {
            (Some('H'), _) => (Average, 5),
            (Some('R'), _) => (Average, 60),
            (Some('T'), _) => (Average, 180),
            (Some('Q'), _) => (Unknown, 0),
            (_, "15" | "16") => (Average, 2),
            (_, "12" | "13" | "14" | "18") => (Average, 10),
            _ => (Unknown, 0),
        }
    }

    pub(super) fn measured(&self, columns: &[GhcnhColumn]) -> CellOutcome {
        use Variable::{
            CeilingHeight, CloudBaseHeight, CloudCover, Precipitation, WindDirection, WindGust,
            WindSpeed,
        };
        let value = match self.column.kind {
            // BKN:07, with the cover in oktas; 9 is a hidden sky.
            ColumnKind::CloudCover(_) => self.value.rsplit(':').next().unwrap_or(""),
            _ => self.value,
        };
        let number = value.parse::<f64>().ok().filter(|value| value.is_finite());
        let is_variable = self.measurement() == Some('V') || self.value == "VRB";
        let Some(number) = number else {
            let is_word = matches!(self.column.kind, ColumnKind::WindDirection) && is_variable;
            return if is_word { CellOutcome::Nothing } else { CellOutcome::Unread };
        };
        let measured = match self.column.kind {
            ColumnKind::Value(variable, of, minutes, unit) => {
                Measurement::new(variable, of, minutes, unit)
            }
            ColumnKind::WindSpeed => {
                let (of, minutes) = self.wind_interval();
                Measurement::new(WindSpeed, of, minutes, "m/s")
            }
            ColumnKind::WindDirection => {
                let speed = columns.iter().find(|one| matches!(one.kind, ColumnKind::WindSpeed));
                let speed = speed.and_then(|speed| self.row[speed.value].parse::<f64>().ok());
                if is_variable || number == 0.0 && speed != Some(0.0) {
                    return CellOutcome::Nothing;
                }
                let (of, minutes) = self.wind_interval();
                Measurement::new(WindDirection, of, minutes, "°")
            }
            ColumnKind::WindGust if matches!(self.fm(), "15" | "16") => {
                Measurement::new(WindGust, Max, 10, "m/s")
            }
            ColumnKind::WindGust => Measurement::new(WindGust, Unknown, 0, "m/s"),
            ColumnKind::Ceiling if number >= NO_CEILING_M => return CellOutcome::Nothing,
            ColumnKind::Ceiling => Measurement::instantaneous(CeilingHeight, "m"),
            ColumnKind::Precipitation(minutes) => match self.precipitation_minutes(minutes) {
                Ok(minutes) => Measurement::new(Precipitation, Cumulative, minutes, "mm"),
                Err(why) => return CellOutcome::Left(why),
            },
            ColumnKind::CloudCover(index) => {
                let of = Measurement::layer(CloudCover, "okta", index);
                let of = of.filter(|_| (0.0..=9.0).contains(&number));
                return of
                    .map_or(CellOutcome::Nothing, |of| CellOutcome::Value(of, number.min(8.0)));
            }
            ColumnKind::CloudBase(index) => match Measurement::layer(CloudBaseHeight, "m", index) {
                Some(of) => of,
                None => return CellOutcome::Nothing,
            },
            ColumnKind::Weather(_) | ColumnKind::None => return CellOutcome::Nothing,
        };
        CellOutcome::Value(measured, number)
    }

    /// The minutes that an amount covers, or why they are not known.
    fn precipitation_minutes(&self, minutes: i32) -> Result<i32, &'static str> {
        let code = self.attribute(self.column.measurement);
        if self.source() == 382 {
            if self.attribute(self.column.quality).contains(['A', 'M', 'D']) {
                return Err("of an accumulated, missing or deleted period");
            }
            if let Ok(hours @ 1..=48) = code.parse::<i32>() {
                return Ok(hours * 60);
            }
            return Ok(minutes);
        }
        match self.measurement() {
            Some('1') => return Err("impossible or inaccurate"),
            Some('4'..='8') => return Err("of an accumulated, missing or deleted period"),
            Some('I' | 'J') => return Err("incomplete"),
            _ => {}
        }
        let is_hourly = matches!(self.minute, 0 | 45..=59);
        match self.fm() {
            "15" if minutes == 60 && is_hourly => Ok(minutes),
            "15" | "16" if minutes == 60 => Err("since the last hourly report"),
            _ => Ok(minutes),
        }
    }

    /// The qualifier from the measurement code: precipitation (code 2) or the depth of snow (3) is
    /// a trace.
    pub(super) fn qualifier(&self) -> Option<Qualifier> {
        let trace = match self.column.kind {
            ColumnKind::Precipitation(_) if self.source() != 382 => '2',
            ColumnKind::Value(Variable::SnowDepth, ..) => '3',
            _ => return None,
        };
        (self.measurement() == Some(trace)).then_some(Qualifier::Trace)
    }

    pub(super) fn quality(&self) -> Quality {
        let code = self.attribute(self.column.quality);
        let source = self.source();
        if source == 382 && code.is_empty() {
            return Quality::GOOD;
        }
        let is_humidity =
            matches!(self.column.kind, ColumnKind::Value(Variable::RelativeHumidity, ..));
        let base = code
            .chars()
            .map(|flag| match flag {
                'o' if is_humidity => BaseQuality::Error,
                _ if source == 382 => BaseQuality::Doubtful,
                'a'..='z' => GHCNH_CHECKS.quality(flag).base,
                _ => of_source(source, flag),
            })
            .min();
        match base.unwrap_or(BaseQuality::Unknown) {
            BaseQuality::Unknown => Quality::UNCHECKED,
            BaseQuality::Good => Quality::GOOD,
            base => Quality { base, reason: ReasonQuality::Unknown },
        }
    }

    /// Present weather in English: `-SN:03` is a group of a METAR with its number.
    pub(super) fn weather(&self) -> Option<String> {
        let base = self.quality().base;
        let group = self.value.split(':').next().unwrap_or("");
        let weather = Weather::read(group.as_bytes()).filter(|weather| !weather.recent)?;
        (base >= BaseQuality::Good).then(|| weather.to_string())
    }
}

/// The code of a source that the network merges.
fn of_source(source: u16, flag: char) -> BaseQuality {
    match (source, flag) {
        (313..=315 | 322 | 335 | 343 | 344 | 346, _) => ISD.quality(flag).base,
        (220..=223 | 347 | 348, '1') | (345, '0') => BaseQuality::Good,
        (220..=223 | 347 | 348, '2') | (345, '1') => BaseQuality::Doubtful,
        (220..=223 | 345 | 347 | 348, '3') => BaseQuality::Error,
        (220..=223 | 347 | 348, '5') => BaseQuality::Suppressed,
        _ => BaseQuality::Unknown,
    }
}

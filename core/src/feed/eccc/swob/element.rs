//! The meaning of the name of a SWOB element: variable, interval, sensor.

use crate::observation::IntervalType::{
    Average, Cumulative, Instantaneous, Max, Median, Min, Unknown,
};
use crate::observation::Variable::MaxWindDirection;
use crate::observation::{IntervalType, Variable};

/// What an element measures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ElementMeaning {
    pub variable: Variable,
    pub interval_type: IntervalType,
    pub interval_minutes: i32,
    /// Number of the sensor; 0 if the station has only one, or for the combined value of several.
    pub sensor: u8,
    /// Height of the wind sensor, if the element is a wind.
    pub height: Option<WindHeight>,
    /// Rank among elements with the same meaning: the lower rank is preferred.
    pub rank: u8,
}

/// Where the wind is measured, according to the name of the element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WindHeight {
    /// Not given.
    Unspecified,
    /// Metres above ground.
    Metres(u16),
    /// At something else: the precipitation gauge.
    Elsewhere,
}

/// How a value represents its period.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Statistic {
    None,
    Average,
    Max,
    Min,
    Median,
    Total,
    /// Maximum of the short means; buoys give it as a gust.
    MaxAverage,
}

/// The meaning of an element's name; `None` if the service has no variable for it.
pub(super) fn meaning(name: &str) -> Option<ElementMeaning> {
    let (name, sensor) = split_sensor(name);
    let (statistic, name) = split_statistic(name);
    let (base, period) = split_period(name)?;
    let (variable, interval_type, height, rank) = match base.split_once("_spd") {
        Some(("wnd", height)) => wind_speed(statistic, height, 1)?,
        Some(("wnd_gst", height)) => wind_speed(statistic, height, 0)?,
        Some(_) => return None,
        None if base.starts_with(DIRECTION) => {
            wind_direction(statistic, &base[DIRECTION.len()..], period)?
        }
        None => {
            let (variable, kind) = other(base, statistic)?;
            // The direction of the waves with the most energy, as at other buoys.
            (variable, kind, None, u8::from(base == "wave_dir"))
        }
    };
    let interval_minutes = match (interval_type, period) {
        (Instantaneous, None) => 0,
        (Instantaneous, Some(_)) | (_, None) => return None,
        // The waves of a buoy are for a period that ended before the report.
        (_, Some(period)) if period.end == End::Ago && !base.contains("wave_") => return None,
        (_, Some(period)) if (period.end == End::MaxSpeed) != (variable == MaxWindDirection) => {
            return None;
        }
        (_, Some(period)) => period.minutes,
    };
    Some(ElementMeaning { variable, interval_type, interval_minutes, sensor, height, rank })
}

type WindMeaning = (Variable, IntervalType, Option<WindHeight>, u8);

fn wind_speed(statistic: Statistic, height: &str, rank: u8) -> Option<WindMeaning> {
    let height = wind_height(height);
    let at_10m = height == WindHeight::Metres(10);
    let gust = if at_10m { Variable::WindGust10m } else { Variable::WindGust };
    let speed = if at_10m { Variable::WindSpeed10m } else { Variable::WindSpeed };
    let (variable, kind) = match statistic {
        Statistic::Max | Statistic::MaxAverage => (gust, Max),
        // A gust that is not a maximum over its period is not defined.
        _ if rank == 0 => return None,
        Statistic::Average => (speed, Average),
        Statistic::None => (speed, Instantaneous),
        Statistic::Min | Statistic::Median | Statistic::Total => return None,
    };
    Some((variable, kind, Some(height), rank))
}

const DIRECTION: &str = "wnd_dir";

fn wind_direction(
    statistic: Statistic,
    height: &str,
    period: Option<Period>,
) -> Option<WindMeaning> {
    let of_max = period.is_some_and(|period| period.end == End::MaxSpeed);
    let (variable, kind) = match statistic {
        Statistic::None if of_max => (MaxWindDirection, Max),
        Statistic::None => (Variable::WindDirection, Instantaneous),
        Statistic::Average => (Variable::WindDirection, Average),
        _ => return None,
    };
    Some((variable, kind, Some(wind_height(height)), 0))
}

fn wind_height(text: &str) -> WindHeight {
    if text.is_empty() {
        return WindHeight::Unspecified;
    }
    let metres = text.strip_prefix('_').and_then(|text| text.strip_suffix('m'));
    metres.and_then(|metres| metres.parse().ok()).map_or(WindHeight::Elsewhere, WindHeight::Metres)
}

fn other(base: &str, statistic: Statistic) -> Option<(Variable, IntervalType)> {
    let state = match base {
        "air_temp" => Variable::AirTemperature,
        "dwpt_temp" => Variable::DewPointTemperature,
        "wetblb_temp" => Variable::WetBulbTemperature,
        "rel_hum" => Variable::RelativeHumidity,
        "mslp" => Variable::Mslp,
        "stn_pres" => Variable::BarometricPressure,
        "vis" => Variable::Visibility,
        "snw_dpth" => Variable::SnowDepth,
        "sea_sfc_temp" => Variable::SeaSurfaceTemperature,
        "wv_hgt" => Variable::WaveHeight,
        "vert_vis" => Variable::CeilingHeight,
        "altmetr_setng" => Variable::AltimeterSetting,
        "snw_dpth_wtr_equiv" => Variable::SnowWaterEquivalent,
        "cum_pcpn_gag_wt" | "cum_pcpn_gag_wt_fltrd" => Variable::PrecipitationGaugeWeight,
        "cum_pcpn_amt" => Variable::PrecipitationSinceReset,
        "pcpn_rt" => Variable::PrecipitationRate,
        "photosnthticly_actv_radn" => Variable::PhotosyntheticRadiation,
        "refltd_shrtwv_radn" => Variable::ReflectedShortwaveRadiation,
        "fire_wx_indx" => Variable::FireWeatherIndex,
        _ => {
            return Some(match (base, statistic) {
                ("pcpn_amt", Statistic::None) => (Variable::Precipitation, Cumulative),
                ("rnfl_amt", Statistic::None) => (Variable::Rainfall, Cumulative),
                ("pres_tend_amt", Statistic::None) => (Variable::PressureTendency, Cumulative),
                // No interval type fits a code.
                ("pres_tend_char", Statistic::None) => {
                    (Variable::PressureTendencyCharacter, Unknown)
                }
                ("snwfl_amt", Statistic::None) => (Variable::Snowfall, Cumulative),
                ("globl_solr_radn", Statistic::None) => (Variable::SolarRadiation, Instantaneous),
                ("globl_solr_radn", Statistic::Average) => {
                    (Variable::AvgGlobalSolarRadiation, Average)
                }
                ("globl_solr_radn", Statistic::Total) => {
                    (Variable::CumulativeGlobalSolarRadiation, Cumulative)
                }
                ("sig_wave_hgt", Statistic::None | Statistic::Average) => {
                    (Variable::WaveHeight, Average)
                }
                ("pk_wave_hgt", Statistic::None | Statistic::Max)
                | ("wave_hgt", Statistic::Max) => (Variable::WaveHeightMax, Max),
                ("wave_pd", Statistic::Average) => (Variable::WavePeriodAverage, Average),
                ("pk_wave_pd", Statistic::None) => (Variable::WavePeriodPeak, Average),
                ("pk_wave_dir" | "wave_dir", Statistic::Average) => {
                    (Variable::WaveDirection, Average)
                }
                _ => return None,
            });
        }
    };
    let kind = match statistic {
        Statistic::None => Instantaneous,
        Statistic::Average => Average,
        Statistic::Max => Max,
        Statistic::Min => Min,
        Statistic::Median => Median,
        Statistic::Total | Statistic::MaxAverage => return None,
    };
    Some((state, kind))
}

/// `air_temp_2` comes from the second sensor.
fn split_sensor(name: &str) -> (&str, u8) {
    match name.rsplit_once('_') {
        Some((rest, number)) if number.len() == 1 => match number.parse() {
            Ok(number) => (rest, number),
            Err(_) => (name, 0),
        },
        _ => (name, 0),
    }
}

fn split_statistic(name: &str) -> (Statistic, &str) {
    [
        ("max_avg_", Statistic::MaxAverage),
        ("avg_", Statistic::Average),
        ("max_", Statistic::Max),
        ("min_", Statistic::Min),
        ("medn_", Statistic::Median),
        ("tot_", Statistic::Total),
    ]
    .into_iter()
    .find_map(|(prefix, statistic)| Some((statistic, name.strip_prefix(prefix)?)))
    .unwrap_or((Statistic::None, name))
}

/// The period that a value covers.
#[derive(Clone, Copy)]
struct Period {
    minutes: i32,
    end: End,
}

/// What the name says after the period.
#[derive(Clone, Copy, PartialEq)]
enum End {
    /// Nothing: it ends with the report.
    Report,
    /// It ended before the report.
    Ago,
    /// The value is that of the moment of the period's greatest speed.
    MaxSpeed,
}

/// Splits `air_temp_pst24hrs`; `None` if the text after `_pst` is not a period.
fn split_period(name: &str) -> Option<(&str, Option<Period>)> {
    let Some((base, text)) = name.split_once("_pst") else { return Some((name, None)) };
    // Other text after a period makes it another element: `max_wnd_spd_pst1hr_tm`.
    let (text, end) = match text.split_once('_') {
        None => (text, End::Report),
        Some((text, "max_spd")) => (text, End::MaxSpeed),
        Some((text, after)) => {
            minutes(after.strip_suffix("_ago")?)?;
            (text, End::Ago)
        }
    };
    Some((base, Some(Period { minutes: minutes(text)?, end })))
}

/// The minutes of `10mts`, `1mt`, `1hr`, `24hrs`.
fn minutes(text: &str) -> Option<i32> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    // Four digits exceed any period and do not overflow.
    let count: i32 = text.get(..digits).filter(|_| digits <= 4)?.parse().ok()?;
    let minutes = match &text[digits..] {
        "mt" | "mts" => count,
        "hr" | "hrs" => count * 60,
        _ => return None,
    };
    (minutes > 0).then_some(minutes)
}

#[cfg(test)]
#[path = "element_tests.rs"]
mod tests;

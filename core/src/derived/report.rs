//! Adds to a report the variables of the interface that it lacks and that can be derived.

use super::{
    derive_with_quality, dew_point_c, heat_index_c, humidex, mean_sea_level_pressure_hpa,
    relative_humidity_pct, roughness_m, wet_bulb_c, wind_at_10m, wind_chill_c,
};
use crate::observation::IntervalType::{Average, Instantaneous};
use crate::observation::{IntervalType, Reading, Report, SeriesKey, Station, Variable};

/// The longest mean that counts as the moment of a report: surface wind is the mean of 10 minutes
/// (WMO-No. 8, part I, chapter 5), and temperature, humidity and pressure are means of 1 minute.
const MOMENT_MINUTES: i32 = 10;
/// The longest mean that is used in a formula at all: the mean of a formula is not the formula of
/// the means, and over a day the two are far apart.
const LONGEST_MEAN_MINUTES: i32 = 60;
/// Stations up to this altitude have their pressure reduced to sea level by the formula for
/// low-level stations (WMO-No. 8, part I, chapter 3); higher ones report a pressure surface
/// instead, because the reduction says more about the formula than about the air.
pub(crate) const MSLP_ALTITUDE_MAX_M: f64 = 750.0;

/// Canada shows the humidex only if it is at least this much above the temperature (Environment
/// and Climate Change Canada, glossary of the climate data).
const HUMIDEX_ABOVE: f64 = 1.0;

/// Adds to a report the calculated readings that can be derived from it and that it lacks.
///
/// - `windSpeed10m` and `windGust10m` from each `windSpeed` and `windGust`, with the same interval,
///   if the station's sensor height and exposure class are known;
/// - `dewPointTemperature` and `relativeHumidity`, each from the other and `airTemperature`;
/// - `wetBulbTemperature` from those and `barometricPressure`;
/// - `heatIndex` from `airTemperature` and `relativeHumidity`, from 20 °C up;
/// - `humidex` from `airTemperature` and `dewPointTemperature`, from 20 °C up, if it is at least 1
///   above the temperature, as Canada shows it;
/// - `windChill`, the Canadian one, from `airTemperature` and `windSpeed10m`, up to 0 °C;
/// - `mslp` from `barometricPressure` and `airTemperature`, at stations of known altitude up to
///   750 m.
///
/// Inputs are instantaneous values and means of at most an hour, in canonical units; extremes and
/// totals are not combined. If one interval has all inputs, the derived value has that interval,
/// or the most instantaneous one if there are several; otherwise values and means of at most 10
/// minutes are combined and the derived value is instantaneous. Reported inputs are preferred to
/// calculated ones.
///
/// The quality is the worst of the inputs ([`derive_with_quality`]). A reported value is never
/// replaced, and no derived value of the same variable is added to it, whatever its quality. So a
/// second call adds nothing. The readings are expected to be final: convert and check them first.
///
/// ```
/// use mesonet::{IntervalType, LonLat, Quality, Reading, Report, SeriesKey, Station, StationId, Variable};
/// use mesonet::derived::derive_report;
/// let station = Station {
///     id: StationId::new("EXAMPLE", "1"),
///     network: "EXAMPLE".to_owned(),
///     native_id: "1".to_owned(),
///     name: "Field".to_owned(),
///     station_type: None,
///     coordinates: LonLat::new(-79.63, 43.68)?,
///     sensor_height_m: 0.0,
///     altitude_m: Some(173.0),
///     identifiers: mesonet::observation::Identifiers::default(),
///     earlier_places: mesonet::observation::EarlierPlaces::default(),
/// };
/// let reading = |variable, value| Reading {
///     series: SeriesKey::new(variable, IntervalType::Instantaneous, 0),
///     value,
///     quality: Quality::GOOD,
///     qualifier: None,
/// };
/// let mut report = Report {
///     station: station.id,
///     ts_ms: 0,
///     revision: 0,
///     present_weather: None,
///     text: None,
///     readings: vec![
///         reading(Variable::AirTemperature, 25.0),
///         reading(Variable::RelativeHumidity, 85.0),
///     ],
/// };
/// derive_report(&mut report, &station);
/// let dew_point = &report.readings[2];
/// assert_eq!(dew_point.series.variable, Variable::DewPointTemperature);
/// assert!(dew_point.series.calculated);
/// assert_eq!(dew_point.value.round(), 22.0);
/// # Ok::<(), mesonet::geo::GeoError>(())
/// ```
pub fn derive_report(report: &mut Report, station: &Station) {
    use Variable::{
        AirTemperature, BarometricPressure, DewPointTemperature, HeatIndex, Humidex, Mslp,
        RelativeHumidity, WetBulbTemperature, WindChill, WindGust, WindGust10m, WindSpeed,
        WindSpeed10m,
    };
    let readings = &mut report.readings;
    winds_at_10m(readings, station, WindSpeed, WindSpeed10m);
    winds_at_10m(readings, station, WindGust, WindGust10m);
    add(readings, DewPointTemperature, [AirTemperature, RelativeHumidity], |[air_c, pct]| {
        dew_point_c(air_c, pct)
    });
    add(readings, RelativeHumidity, [AirTemperature, DewPointTemperature], |[air_c, dew_c]| {
        relative_humidity_pct(air_c, dew_c)
    });
    let wet_bulb_inputs = [BarometricPressure, AirTemperature, DewPointTemperature];
    add(readings, WetBulbTemperature, wet_bulb_inputs, |[hpa, air_c, dew_c]| {
        wet_bulb_c(hpa, air_c, dew_c)
    });
    add(readings, HeatIndex, [AirTemperature, RelativeHumidity], |[air_c, pct]| {
        heat_index_c(air_c, pct)
    });
    add(readings, Humidex, [AirTemperature, DewPointTemperature], |[air_c, dew_c]| {
        humidex(air_c, dew_c).filter(|humidex| humidex - air_c >= HUMIDEX_ABOVE)
    });
    add(readings, WindChill, [AirTemperature, WindSpeed10m], |[air_c, kmh]| {
        wind_chill_c(air_c, kmh)
    });
    if let Some(altitude_m) = station.altitude_m.filter(|&m| m <= MSLP_ALTITUDE_MAX_M) {
        add(readings, Mslp, [BarometricPressure, AirTemperature], |[hpa, air_c]| {
            mean_sea_level_pressure_hpa(hpa, altitude_m, air_c)
        });
    }
}

fn winds_at_10m(readings: &mut Vec<Reading>, station: &Station, from: Variable, to: Variable) {
    let Some(roughness_m) = station.station_type.map(roughness_m) else { return };
    let derived: Vec<_> = readings
        .iter()
        .filter(|reading| reading.series.variable == from && is_canonical(&reading.series))
        .filter(|reading| {
            let SeriesKey { interval_type, interval_minutes, .. } = reading.series;
            !readings.iter().any(|other| {
                other.series.variable == to
                    && other.series.interval_type == interval_type
                    && other.series.interval_minutes == interval_minutes
            })
        })
        .filter_map(|reading| {
            let (value, quality) =
                derive_with_quality([(reading.value, reading.quality)], |[speed]| {
                    wind_at_10m(speed, station.sensor_height_m, roughness_m)
                })?;
            let SeriesKey { interval_type, interval_minutes, .. } = reading.series;
            let series = SeriesKey::new(to, interval_type, interval_minutes).calculated();
            Some(Reading { series, value, quality, qualifier: None })
        })
        .collect();
    readings.extend(derived);
}

/// Adds a variable if the report has no value of it that a formula could use.
fn add<const N: usize>(
    readings: &mut Vec<Reading>,
    variable: Variable,
    inputs: [Variable; N],
    formula: impl FnOnce([f64; N]) -> Option<f64>,
) {
    if readings.iter().any(|reading| reading.series.variable == variable && is_input(reading)) {
        return;
    }
    let Some(inputs) = together(readings, inputs) else { return };
    let [first, rest @ ..] = &inputs[..] else { return };
    let agree = rest.iter().all(|input| interval(input) == interval(first));
    let (kind, minutes) = if agree { interval(first) } else { (Instantaneous, 0) };
    let derived = derive_with_quality(inputs.map(|input| (input.value, input.quality)), formula);
    readings.extend(derived.map(|(value, quality)| Reading {
        series: SeriesKey::new(variable, kind, minutes).calculated(),
        value,
        quality,
        qualifier: None,
    }));
}

/// One reading of each variable, all with the same interval or all at the moment of the report.
fn together<const N: usize>(
    readings: &[Reading],
    variables: [Variable; N],
) -> Option<[&Reading; N]> {
    let best = |variable, fits: &dyn Fn(&Reading) -> bool| {
        readings
            .iter()
            .filter(|reading| reading.series.variable == variable && is_input(reading))
            .filter(|reading| fits(reading))
            .min_by(|one, other| one.series.compare_preference(&other.series))
    };
    let all = |fits: &dyn Fn(&Reading) -> bool| {
        let found: Option<Vec<_>> =
            variables.iter().map(|&variable| best(variable, fits)).collect();
        <[&Reading; N]>::try_from(found?).ok()
    };
    let mut of_first: Vec<_> = readings
        .iter()
        .filter(|reading| Some(&reading.series.variable) == variables.first() && is_input(reading))
        .collect();
    of_first.sort_by(|one, other| one.series.compare_preference(&other.series));
    of_first
        .into_iter()
        .find_map(|first| all(&|reading| interval(reading) == interval(first)))
        .or_else(|| all(&|reading| reading.series.interval_minutes <= MOMENT_MINUTES))
}

fn interval(reading: &Reading) -> (IntervalType, i32) {
    (reading.series.interval_type, reading.series.interval_minutes)
}

/// Whether a derived value may have been computed from the readings of a series: the series has the
/// same interval, or counts as the moment.
#[cfg(all(feature = "store", feature = "checks"))]
pub(crate) fn is_input_of(input: &SeriesKey, derived: &SeriesKey) -> bool {
    let interval = |key: &SeriesKey| (key.interval_type, key.interval_minutes);
    is_canonical(input)
        && (interval(input) == interval(derived)
            || is_momentary(input) && input.interval_minutes <= MOMENT_MINUTES)
}

fn is_canonical(key: &SeriesKey) -> bool {
    key.reported_unit == key.variable.unit().symbol() && key.bucket.is_empty()
}

/// Whether a formula can use the reading: a value or a mean, in the canonical unit.
fn is_input(reading: &Reading) -> bool {
    is_momentary(&reading.series) && is_canonical(&reading.series)
}

fn is_momentary(key: &SeriesKey) -> bool {
    match key.interval_type {
        Instantaneous => key.interval_minutes == 0,
        Average => key.interval_minutes <= LONGEST_MEAN_MINUTES,
        _ => false,
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;

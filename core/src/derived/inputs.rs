//! The variables that others are derived from.

use crate::observation::Variable;
use crate::observation::Variable::{
    AirTemperature, BarometricPressure, DewPointTemperature, HeatIndex, Humidex, Mslp,
    RelativeHumidity, WetBulbTemperature, WindChill, WindGust, WindGust10m, WindSpeed,
    WindSpeed10m,
};

/// The variables that the service derives, each with its inputs, and listed after its inputs.
///
/// `barometricPressure` is derived from the altimeter setting, which is not a variable, so it has
/// no inputs here.
///
/// ```
/// use mesonet::Variable;
/// use mesonet::derived::DERIVED_INPUTS;
/// let wind_chill = DERIVED_INPUTS.iter().find(|(derived, _)| *derived == Variable::WindChill);
/// let inputs = [Variable::AirTemperature, Variable::WindSpeed10m];
/// assert_eq!(wind_chill, Some(&(Variable::WindChill, &inputs[..])));
/// ```
pub const DERIVED_INPUTS: &[(Variable, &[Variable])] = &[
    (BarometricPressure, &[]),
    (WindSpeed10m, &[WindSpeed]),
    (WindGust10m, &[WindGust]),
    (DewPointTemperature, &[AirTemperature, RelativeHumidity]),
    (RelativeHumidity, &[AirTemperature, DewPointTemperature]),
    (WetBulbTemperature, &[BarometricPressure, AirTemperature, DewPointTemperature]),
    (HeatIndex, &[AirTemperature, RelativeHumidity]),
    (Humidex, &[AirTemperature, DewPointTemperature]),
    (WindChill, &[AirTemperature, WindSpeed10m]),
    (Mslp, &[BarometricPressure, AirTemperature]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derived::derive_report;
    use crate::geo::LonLat;
    use crate::observation::{EarlierPlaces, Identifiers};
    use crate::observation::{
        IntervalType, Quality, Reading, Report, SeriesKey, Station, StationId, StationType,
    };

    /// The variables that are derived from a report of others.
    fn derived_from(variables: &[Variable]) -> Vec<Variable> {
        let station = Station {
            id: StationId::new("TEST", "A"),
            network: "TEST".to_owned(),
            native_id: "A".to_owned(),
            name: "A".to_owned(),
            station_type: Some(StationType::OpenCountry),
            coordinates: LonLat::new(-100.0, 50.0).unwrap(),
            sensor_height_m: 10.0,
            altitude_m: Some(100.0),
            identifiers: Identifiers::default(),
            earlier_places: EarlierPlaces::default(),
        };
        let reading = |&variable: &Variable| {
            let (kind, minutes, value) = match variable {
                WindSpeed | WindSpeed10m | WindGust => (IntervalType::Average, 2, 20.0),
                BarometricPressure => (IntervalType::Instantaneous, 0, 1000.0),
                // Cold enough for wind chill where wind is asked for, warm enough for heat index.
                AirTemperature if variables.contains(&WindSpeed10m) => {
                    (IntervalType::Instantaneous, 0, -10.0)
                }
                AirTemperature => (IntervalType::Instantaneous, 0, 30.0),
                DewPointTemperature => (IntervalType::Instantaneous, 0, 20.0),
                RelativeHumidity => (IntervalType::Instantaneous, 0, 60.0),
                other => panic!("{other} is not an input"),
            };
            let series = SeriesKey::new(variable, kind, minutes);
            Reading { series, value, quality: Quality::UNCHECKED, qualifier: None }
        };
        let mut report = Report {
            station: station.id,
            ts_ms: 0,
            revision: 0,
            present_weather: None,
            text: None,
            readings: variables.iter().map(reading).collect(),
        };
        derive_report(&mut report, &station);
        let derived = report.readings.iter().filter(|reading| reading.series.calculated);
        derived.map(|reading| reading.series.variable).collect()
    }

    #[test]
    fn each_variable_is_derived_from_its_inputs_and_not_without_one_of_them() {
        for (variable, inputs) in DERIVED_INPUTS.iter().filter(|(_, inputs)| !inputs.is_empty()) {
            assert!(derived_from(inputs).contains(variable), "{variable} from {inputs:?}");
            for left_out in *inputs {
                let rest: Vec<_> =
                    inputs.iter().copied().filter(|input| input != left_out).collect();
                assert!(!derived_from(&rest).contains(variable), "{variable} from {rest:?}");
            }
        }
    }

    #[test]
    fn nothing_else_is_derived() {
        let all = [AirTemperature, DewPointTemperature, WindSpeed, WindGust, BarometricPressure];
        for variable in derived_from(&all) {
            assert!(DERIVED_INPUTS.iter().any(|&(known, _)| known == variable), "{variable}");
        }
    }
}

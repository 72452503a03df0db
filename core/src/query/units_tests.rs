use super::*;
use crate::observation::IntervalType;

fn shown(variable: Variable, unit: &str, value: f64) -> (f64, String) {
    let units = AnswerUnits::of(UnitSystem::Metric).with(variable, unit).unwrap();
    let shown = units.of_variable(variable);
    (shown.value(value), shown.symbol().to_owned())
}

#[test]
fn a_system_has_a_unit_for_every_variable_and_metric_is_that_of_the_record() {
    for system in UnitSystem::ALL {
        assert_eq!(system.name().parse(), Ok(system));
        let units = AnswerUnits::of(system);
        for &variable in Variable::ALL {
            assert!(conversion(variable, units.unit(variable)).is_ok(), "{system} {variable}");
        }
    }
    let metric = AnswerUnits::of(UnitSystem::Metric);
    for &variable in Variable::ALL {
        let shown = metric.of_variable(variable);
        assert!(shown.is_as_recorded() && shown.symbol() == variable.unit().symbol());
        assert_eq!(shown.value(0.1 + 0.2), 0.1 + 0.2, "not rounded");
    }
}

/// Reports as their publishers wrote them, on record in the canonical unit, shown as written.
#[test]
fn what_was_reported_in_a_unit_comes_back_in_it() {
    use Variable::*;
    for (variable, on_record, unit, expected) in [
        (WindSpeed, 22.224, "kt", 12.0),
        (WindSpeed10m, 22.2, "kt", 12.0),
        (WindSpeed, 22.224, "mph", 13.8),
        (WindSpeed, 29.52, "m/s", 8.2),
        (AirTemperature, 29.0, "°F", 84.2),
        (AirTemperature, -40.0, "°F", -40.0),
        (AirTemperature, 29.1, "K", 302.25),
        (AltimeterSetting, 1_012.868_852_325_963_1, "inHg", 29.91),
        (Mslp, 1012.5, "inHg", 29.899),
        (Mslp, 1013.25, "Pa", 101_325.0),
        (PressureTendency, -0.1, "inHg", -0.003),
        (Visibility, 0.402_336, "mi", 0.25),
        (Visibility, 16.09344, "SM", 10.0),
        (Visibility, 0.402_336, "m", 402.336),
        (Precipitation, 0.254, "in", 0.01),
        (Precipitation, 12.3, "m", 0.0123),
        (Precipitation, 12.3, "kg/m²", 12.3),
        (PrecipitationRate, 3.6, "m/s", 1e-6),
        (SnowDepth, 25.4, "in", 10.0),
        (CeilingHeight, 7620.0, "ft", 25_000.0),
        (CumulativeGlobalSolarRadiation, 1234.5, "J/m²", 1_234_500.0),
        (WindDirection, 45.0, "gon", 50.0),
        (RelativeHumidity, 55.0, "1", 0.55),
    ] {
        assert_eq!(shown(variable, unit, on_record).0, expected, "{variable} in {unit}");
    }
    assert_eq!(shown(AirTemperature, "F", 0.0), (32.0, "°F".to_owned()));
    assert_eq!(shown(AirTemperature, "degC", 0.05), (0.05, "°C".to_owned()));
    assert!(shown(AirTemperature, "K", f64::NAN).0.is_nan());
    assert_eq!(shown(WindSpeed, "cm/s", 0.0).0, 0.0);
}

#[test]
fn significant_digits_hold_for_any_size() {
    let round = |value| Rounding::Significant(6).round(value, 0);
    for (value, expected) in [
        (1.234_567_89e-9, 1.234_57e-9),
        (123_456_789.0, 123_457_000.0),
        (-0.000_123_456_789, -0.000_123_457),
        (f64::MAX, f64::MAX),
        (f64::MIN_POSITIVE, f64::MIN_POSITIVE),
        (f64::INFINITY, f64::INFINITY),
    ] {
        let found = round(value);
        assert!(
            found == expected || (found / expected - 1.0).abs() < 1e-5,
            "{value} {found} {expected}"
        );
    }
}

#[test]
fn a_unit_that_does_not_fit_is_refused_with_those_that_do() {
    let refused = |variable, unit: &str| {
        AnswerUnits::of(UnitSystem::Si).with(variable, unit).unwrap_err().to_string()
    };
    assert_eq!(
        refused(Variable::Mslp, "ft"),
        "invalid unit ft (foot) of mslp; allowed are Pa, hPa, kPa, mbar, inHg, mmHg"
    );
    // Degrees of what?
    assert_eq!(
        refused(Variable::AirTemperature, "deg"),
        "invalid unit \"deg\" of airTemperature; allowed are °C, K, °F"
    );
    assert_eq!(
        refused(Variable::UvIndex, "%"),
        "invalid unit % (per cent) of uvIndex; allowed are 1"
    );
    assert!(refused(Variable::Snowfall, "kg/m²").contains("allowed are m, km, cm, mm,"));
    assert!(refused(Variable::AirTemperature, "").starts_with("invalid unit \"\""));
    assert!(refused(Variable::AirTemperature, &"x".repeat(10_000)).len() < 200);
}

#[test]
fn values_in_a_unit_that_was_not_certain_stay_as_reported() {
    let units = AnswerUnits::of(UnitSystem::Us);
    let wind = SeriesKey::new(Variable::WindSpeed, IntervalType::Average, 2);
    assert_eq!(units.of_series(&wind).symbol(), "mph");
    let unclear = SeriesKey { reported_unit: "F".into(), ..wind };
    let shown = units.of_series(&unclear);
    assert_eq!((shown.value(6.05), shown.symbol()), (6.05, "F"));
}

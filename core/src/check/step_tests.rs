use super::super::config::Config;
use super::*;
use crate::observation::Variable;
use crate::time::{HOUR_MS, MINUTE_MS};

type StepResult = Result<Option<Quality>, BeyondReach>;

const PASSED: StepResult = Ok(None);

#[allow(clippy::unnecessary_wraps, reason = "the type it is compared with")]
const fn tripped(base: BaseQuality, reason: ReasonQuality) -> StepResult {
    Ok(Some(Quality { base, reason }))
}

/// WMO's table, as a deployment may configure it.
const WMO: &str = "[step.airTemperature]\ndirectional = true\nsource = \"WMO-No. 305 VI.21\"\n\
    doubtful = { hours = [1, 2, 3, 6, 12], limits = [4, 7, 9, 15, 25] }\n\
    instrumentation = { hours = [1], limits = [3] }\n";

#[test]
fn a_step_has_the_published_limits_of_its_elapsed_time() {
    let config = Config::from_toml(WMO).unwrap();
    let air = &config.step[&Variable::AirTemperature];
    for (hours, limit) in [(2, 7.0), (3, 9.0), (6, 15.0), (12, 25.0)] {
        assert_eq!(step(limit, hours * HOUR_MS, air), PASSED, "{hours} h");
        let beyond = step(limit + 0.1, hours * HOUR_MS, air);
        assert_eq!(beyond, tripped(BaseQuality::Doubtful, ReasonQuality::Increase), "{hours} h");
    }
    assert_eq!(step(-4.1, HOUR_MS, air), tripped(BaseQuality::Doubtful, ReasonQuality::Decrease));
    assert_eq!(step(-4.1, MINUTE_MS, air), tripped(BaseQuality::Doubtful, ReasonQuality::Decrease));
    assert_eq!(step(30.0, 12 * HOUR_MS + 1, air), Err(BeyondReach));
}

#[test]
fn both_levels_of_a_step_can_be_reached() {
    // A bug seen elsewhere: if one level is tested first, the other is unreachable.
    let config = Config::from_toml(WMO).unwrap();
    let air = &config.step[&Variable::AirTemperature];
    assert_eq!(step(3.0, HOUR_MS, air), PASSED);
    assert_eq!(
        step(3.1, HOUR_MS, air),
        tripped(BaseQuality::Instrumentation, ReasonQuality::Increase)
    );
    assert_eq!(step(4.1, HOUR_MS, air), tripped(BaseQuality::Doubtful, ReasonQuality::Increase));
}

#[test]
fn the_default_limits_are_those_of_madis_in_an_hour() {
    let config = Config::default();
    for (variable, limit) in [
        (Variable::AirTemperature, 19.4),
        (Variable::DewPointTemperature, 19.4),
        (Variable::Mslp, 10.0),
        (Variable::BarometricPressure, 10.0),
    ] {
        let limits = &config.step[&variable];
        assert_eq!(step(limit, HOUR_MS, limits), PASSED, "{variable}");
        let fell = tripped(BaseQuality::Instrumentation, ReasonQuality::Decrease);
        assert_eq!(step(-limit - 0.1, HOUR_MS, limits), fell, "{variable}");
    }
    let humidity = &config.step[&Variable::RelativeHumidity];
    assert_eq!(step(50.0, HOUR_MS, humidity), PASSED);
    let jump = tripped(BaseQuality::Instrumentation, ReasonQuality::Change);
    assert_eq!(step(50.1, HOUR_MS, humidity), jump);
    assert_eq!(step(-50.1, HOUR_MS, humidity), jump);
}

#[test]
fn a_spike_sticks_out_on_one_side_and_alike() {
    let config = Config::default();
    let limits = &config.spike[&Variable::AirTemperature];
    let hourly = [HOUR_MS; 2];
    let stuck_out = tripped(BaseQuality::Instrumentation, ReasonQuality::Change);
    assert_eq!(spike([10.0, 18.0, 10.5], hourly, limits), stuck_out);
    assert_eq!(spike([10.0, 2.0, 10.5], hourly, limits), stuck_out);
    // A change that stays, and one that continues.
    assert_eq!(spike([10.0, 18.0, 17.0], hourly, limits), PASSED);
    assert_eq!(spike([10.0, 15.0, 20.0], hourly, limits), PASSED);
    // Exactly the limit of 4 on each side is not a spike.
    assert_eq!(spike([10.0, 14.0, 10.0], hourly, limits), PASSED);
    assert_eq!(spike([10.0, 14.1, 10.0], hourly, limits), stuck_out);
    // |a − b| just below 0.35 (a + b): a = 8, b = 3.852.
    assert_eq!(spike([10.0, 18.0, 14.14], hourly, limits), stuck_out);
    assert_eq!(spike([10.0, 18.0, 14.16], hourly, limits), PASSED);
}

#[test]
fn a_spike_depends_on_the_elapsed_time() {
    let limits = &Config::default().spike[&Variable::AirTemperature];
    let values = [10.0, 16.0, 10.0];
    assert!(spike(values, [HOUR_MS; 2], limits).unwrap().is_some());
    assert!(spike(values, [2 * HOUR_MS; 2], limits).unwrap().is_none());
    assert!(spike(values, [10 * MINUTE_MS; 2], limits).unwrap().is_some());
    assert_eq!(spike(values, [HOUR_MS, 4 * HOUR_MS], limits), Err(BeyondReach));
}

use super::outcome::{CheckOutcome, Tally};
use super::*;
use crate::observation::IntervalType::{Average, Instantaneous, Max, Min};
use crate::observation::{BaseQuality, IntervalType, ReasonQuality, Variable};
use crate::time::{DAY_MS, HOUR_MS, MINUTE_MS};

/// A series with its columns, from (minutes, value).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Column {
    pub(super) key: SeriesKey,
    pub(super) ts_ms: Vec<i64>,
    pub(super) value: Vec<f64>,
    pub(super) source: Vec<Quality>,
}

impl Column {
    pub(super) fn new(
        variable: Variable,
        kind: IntervalType,
        minutes: i32,
        of: &[(i64, f64)],
    ) -> Self {
        Self {
            key: SeriesKey::new(variable, kind, minutes),
            ts_ms: of.iter().map(|&(at, _)| at * MINUTE_MS).collect(),
            value: of.iter().map(|&(_, value)| value).collect(),
            source: vec![Quality::UNCHECKED; of.len()],
        }
    }

    pub(super) fn moment(variable: Variable, of: &[(i64, f64)]) -> Self {
        Self::new(variable, Instantaneous, 0, of)
    }

    fn with_source(mut self, source: Quality) -> Self {
        self.source.fill(source);
        self
    }

    pub(super) fn readings(&self) -> SeriesReadings<'_> {
        let Self { key, ts_ms, value, source } = self;
        SeriesReadings { key, ts_ms, value, source }
    }
}

pub(super) fn site() -> StationSite {
    StationSite { coordinates: LonLat::new(-100.0, 50.0).unwrap(), altitude_m: Some(300.0) }
}

pub(super) fn verdicts(columns: &[Column]) -> Vec<Vec<Quality>> {
    verdicts_at(&site(), columns)
}

fn verdicts_at(site: &StationSite, columns: &[Column]) -> Vec<Vec<Quality>> {
    let series: Vec<_> = columns.iter().map(Column::readings).collect();
    Checker::shared().check_station(site, &series).unwrap()
}

pub(super) fn quality(base: BaseQuality, reason: ReasonQuality) -> Quality {
    Quality { base, reason }
}

#[test]
fn every_reason_of_the_interface_is_reached() {
    use Variable::{
        AirTemperature, DewPointTemperature, RelativeHumidity, WindDirection, WindSpeed,
    };
    let no_reason = quality(BaseQuality::Doubtful, ReasonQuality::Unknown);
    let pressure = |mslp| {
        [
            Column::moment(Variable::BarometricPressure, &[(0, 977.8)]),
            Column::moment(Variable::Mslp, &[(0, mslp)]),
            Column::moment(AirTemperature, &[(0, 10.0)]),
        ]
    };
    let extremes = [
        Column::new(AirTemperature, Average, 60, &[(0, 12.0)]),
        Column::new(AirTemperature, Max, 60, &[(0, 11.0)]),
    ];
    let calm = [
        Column::new(WindSpeed, Average, 2, &[(0, 0.0)]),
        Column::new(WindDirection, Average, 2, &[(0, 90.0)]),
    ];
    let humid = [
        Column::moment(AirTemperature, &[(0, 10.0)]),
        Column::moment(DewPointTemperature, &[(0, 12.0)]),
    ];
    let stuck: Vec<_> = (0..30).map(|hour| (hour * 60, 7.1)).collect();
    let air = |of: &[(i64, f64)]| vec![Column::moment(AirTemperature, of)];
    let found: Vec<Quality> = [
        air(&[(0, 7.0)]),
        air(&[(0, f64::NAN)]),
        air(&[(0, f64::INFINITY)]),
        air(&[(0, 9999.0)]),
        air(&[(0, 140.0)]),
        air(&stuck),
        vec![Column::moment(RelativeHumidity, &[(0, 20.0), (60, 90.0)])],
        air(&[(0, 0.0), (60, 25.0)]),
        air(&[(0, 0.0), (60, -25.0)]),
        calm.to_vec(),
        humid.to_vec(),
        pressure(1050.0).to_vec(),
        extremes.to_vec(),
        air(&[(0, 7.0)]).into_iter().map(|of| of.with_source(no_reason)).collect(),
    ]
    .iter()
    .flat_map(|columns| verdicts(columns))
    .flatten()
    .collect();
    for reason in ReasonQuality::ALL {
        assert!(found.iter().any(|quality| quality.reason == reason), "{reason}");
    }
    for base in BaseQuality::ALL.into_iter().skip(1).take(6) {
        assert!(found.iter().any(|quality| quality.base == base), "{base}");
    }
}

#[test]
fn the_verdict_of_a_source_is_kept_and_never_improved() {
    let verdict_of = |base, value| {
        let source = quality(base, ReasonQuality::Unknown);
        let column = Column::moment(Variable::AirTemperature, &[(0, value)]).with_source(source);
        verdicts(&[column])[0][0]
    };
    let by_source = |base| quality(base, ReasonQuality::Unknown);
    let impossible = quality(BaseQuality::Error, ReasonQuality::Range);
    // Good is not checked again.
    assert_eq!(verdict_of(BaseQuality::Good, 140.0), by_source(BaseQuality::Good));
    // Unknown is not a verdict.
    assert_eq!(verdict_of(BaseQuality::Unknown, 140.0), impossible);
    assert_eq!(verdict_of(BaseQuality::Unknown, 7.0), Quality::GOOD);
    // Any other verdict is kept, unless a check finds worse.
    for base in [BaseQuality::Doubtful, BaseQuality::Inconsistent, BaseQuality::Instrumentation] {
        assert_eq!(verdict_of(base, 7.0), by_source(base));
        assert_eq!(verdict_of(base, 140.0), impossible);
    }
    for base in [BaseQuality::Suppressed, BaseQuality::Missing, BaseQuality::Error] {
        assert_eq!(verdict_of(base, 140.0), by_source(base));
    }
}

#[test]
fn a_value_that_no_check_can_judge_is_unknown() {
    let index = Column::moment(Variable::HeatIndex, &[(0, 30.0)]);
    assert_eq!(verdicts(&[index])[0][0], Quality::UNCHECKED);
    let mut fahrenheit = Column::moment(Variable::AirTemperature, &[(0, 70.0)]);
    fahrenheit.key.reported_unit = "°F".into();
    assert_eq!(verdicts(&[fahrenheit])[0][0], Quality::UNCHECKED);
}

#[test]
fn a_pressure_or_a_flux_of_999_is_not_a_sentinel() {
    for variable in [Variable::Mslp, Variable::BarometricPressure, Variable::SolarRadiation] {
        let column = Column::moment(variable, &[(0, 999.0)]);
        assert_eq!(verdicts(&[column])[0][0], Quality::GOOD, "{variable}");
    }
}

#[test]
fn refused_values_are_not_compared_with_others() {
    // 140 is impossible: the steps go from 10 to 11. It does not contradict the dew point either.
    let air = Column::moment(Variable::AirTemperature, &[(0, 10.0), (60, -140.0), (120, 11.0)]);
    let dew = Column::moment(Variable::DewPointTemperature, &[(0, 9.0), (60, 9.5), (120, 9.0)]);
    let found = verdicts(&[air.clone(), dew]);
    let impossible = quality(BaseQuality::Error, ReasonQuality::Range);
    assert_eq!(found[0], [Quality::GOOD, impossible, Quality::GOOD]);
    assert_eq!(found[1], [Quality::GOOD; 3]);
    // The same for a value that its source calls Error.
    let mut refused =
        Column::moment(Variable::AirTemperature, &[(0, 10.0), (60, 40.0), (120, 11.0)]);
    refused.source[1] = quality(BaseQuality::Error, ReasonQuality::Unknown);
    assert_eq!(verdicts(&[refused])[0][2], Quality::GOOD);
}

#[test]
fn the_reading_after_a_spike_is_not_a_step() {
    let air = Column::moment(
        Variable::AirTemperature,
        &[(0, 10.0), (60, 35.0), (120, 10.0), (180, 10.1)],
    );
    let found = verdicts(&[air]);
    let spike = quality(BaseQuality::Instrumentation, ReasonQuality::Change);
    assert_eq!(found[0], [Quality::GOOD, spike, Quality::GOOD, Quality::GOOD]);
}

#[test]
fn the_wet_bulb_lies_between_dew_point_and_air() {
    use ReasonQuality::{GreaterThan, LessThan, None};
    let of = |wet_bulb| {
        let columns = [
            Column::moment(Variable::AirTemperature, &[(0, 20.1)]),
            Column::moment(Variable::WetBulbTemperature, &[(0, wet_bulb)]),
            Column::moment(Variable::DewPointTemperature, &[(0, 10.1)]),
        ];
        verdicts(&columns).concat().iter().map(|verdict| verdict.reason).collect::<Vec<_>>()
    };
    assert_eq!(of(15.1), [None, None, None]);
    assert_eq!(of(20.4), [LessThan, GreaterThan, None]);
    assert_eq!(of(9.8), [None, LessThan, GreaterThan]);
}

#[test]
fn extremes_hold_their_average_and_each_other() {
    use ReasonQuality::{AverageInconsistent, GreaterThan, LessThan, None};
    let of = |min, average, max| {
        let columns = [
            Column::new(Variable::AirTemperature, Min, 60, &[(0, min)]),
            Column::new(Variable::AirTemperature, Average, 60, &[(0, average)]),
            Column::new(Variable::AirTemperature, Max, 60, &[(0, max)]),
        ];
        verdicts(&columns).concat().iter().map(|verdict| verdict.reason).collect::<Vec<_>>()
    };
    assert_eq!(of(1.0, 2.0, 3.0), [None, None, None]);
    assert_eq!(of(1.0, 4.0, 3.0), [None, AverageInconsistent, LessThan]);
    assert_eq!(of(1.0, 0.0, 3.0), [GreaterThan, AverageInconsistent, None]);
}

#[test]
fn rain_and_waves_are_bounded() {
    let of = |lower: Variable, upper: Variable, kind| {
        let columns =
            [Column::new(lower, kind, 60, &[(0, 3.0)]), Column::new(upper, kind, 60, &[(0, 2.0)])];
        verdicts(&columns).concat()
    };
    let greater = quality(BaseQuality::Inconsistent, ReasonQuality::GreaterThan);
    let less = quality(BaseQuality::Inconsistent, ReasonQuality::LessThan);
    let rain = of(Variable::Rainfall, Variable::Precipitation, IntervalType::Cumulative);
    assert_eq!(rain, [greater, less]);
    assert_eq!(of(Variable::WaveHeight, Variable::WaveHeightMax, Max), [greater, less]);
}

/// Instantaneous values and means follow from the one before; extremes and totals do not.
#[test]
fn extremes_and_totals_are_not_steps_and_only_totals_have_amounts() {
    use BaseQuality::{Doubtful, Good, Instrumentation};
    let step = |kind| {
        let column = Column::new(Variable::AirTemperature, kind, 60, &[(0, 0.0), (60, 25.0)]);
        verdicts(&[column])[0][1].base
    };
    for kind in [Instantaneous, Average, IntervalType::Median] {
        assert_eq!(step(kind), Instrumentation, "{kind}");
    }
    for kind in [Max, Min, IntervalType::Cumulative, IntervalType::Unknown] {
        assert_eq!(step(kind), Good, "{kind}");
    }
    let amount = |kind, mm| {
        verdicts(&[Column::new(Variable::Precipitation, kind, 60, &[(0, mm)])])[0][0].base
    };
    assert_eq!(amount(IntervalType::Cumulative, 350.0), Good);
    assert_eq!(amount(IntervalType::Cumulative, 350.1), Doubtful);
    assert_eq!(amount(IntervalType::Cumulative, 401.1), BaseQuality::Error);
    assert_ne!(amount(Max, 350.1), Doubtful);
}

/// If two checks find the same base quality, the first gives the reason; if the source found the
/// same, its reason stays.
#[test]
fn of_equal_verdicts_the_first_gives_the_reason_and_the_source_before_all() {
    let inert = quality(BaseQuality::Instrumentation, ReasonQuality::Inert);
    let change = quality(BaseQuality::Instrumentation, ReasonQuality::Change);
    let mut tally = Tally::default();
    tally.add(Check::Spike, CheckOutcome::Tripped(change));
    tally.add(Check::Persistence, CheckOutcome::Tripped(inert));
    assert_eq!(tally.verdict(Quality::UNCHECKED), (change, Some(Check::Spike)));
    let said = quality(BaseQuality::Instrumentation, ReasonQuality::Unknown);
    assert_eq!(tally.verdict(said), (said, None));
    let better = quality(BaseQuality::Good, ReasonQuality::Unknown);
    assert_eq!(tally.verdict(better), (better, None));
    tally.add(
        Check::Average,
        CheckOutcome::Tripped(quality(BaseQuality::Doubtful, ReasonQuality::Range)),
    );
    assert_eq!(tally.verdict(said).1, Some(Check::Average));
    // Being a number says nothing yet.
    let mut tally = Tally::default();
    tally.add(Check::Value, CheckOutcome::Passed);
    tally.add(Check::Step, CheckOutcome::NotRun(NotRun::NoPrevious));
    assert_eq!((tally.ran(), tally.verdict(Quality::UNCHECKED).0), (false, Quality::UNCHECKED));
    tally.add(Check::Range, CheckOutcome::Passed);
    assert_eq!((tally.ran(), tally.verdict(Quality::UNCHECKED).0), (true, Quality::GOOD));
}

#[test]
fn the_gust_of_a_shorter_period_is_not_compared() {
    let mean = Column::new(Variable::WindSpeed, Average, 60, &[(0, 40.0)]);
    let gust = Column::new(Variable::WindGust, Max, 10, &[(0, 30.0)]);
    assert_eq!(verdicts(&[mean, gust]).concat()[0], Quality::GOOD);
    let mean = Column::new(Variable::WindSpeed, Average, 2, &[(0, 40.0)]);
    let gust = Column::new(Variable::WindGust, Max, 10, &[(0, 30.0)]);
    let found = verdicts(&[mean, gust]).concat();
    assert_eq!(found[0], quality(BaseQuality::Inconsistent, ReasonQuality::GreaterThan));
    assert_eq!(found[1], quality(BaseQuality::Inconsistent, ReasonQuality::LessThan));
}

#[test]
fn arctic_cold_and_hurricanes_are_not_error() {
    let yukon =
        StationSite { coordinates: LonLat::new(-140.4, 62.4).unwrap(), altitude_m: Some(649.0) };
    // January 2021.
    let january = 1_610_000_000_000 / MINUTE_MS;
    let cold: Vec<_> = [-50.0, -50.4, -51.0, -63.0]
        .into_iter()
        .zip(0..)
        .map(|(value, hour)| (january + hour * 360, value))
        .collect();
    let found = verdicts_at(&yukon, &[Column::moment(Variable::AirTemperature, &cold)]);
    assert_eq!(found[0], [Quality::GOOD; 4]);
    let keys =
        StationSite { coordinates: LonLat::new(-80.7, 24.8).unwrap(), altitude_m: Some(2.0) };
    for deepest in [892.0, 882.0] {
        let columns = [Column::moment(Variable::Mslp, &[(0, 940.0), (60, deepest), (120, 935.0)])];
        let found = verdicts_at(&keys, &columns);
        assert!(found[0].iter().all(|verdict| verdict.base > BaseQuality::Error));
    }
}

#[test]
fn mismatched_columns_are_refused() {
    let air = Column::moment(Variable::AirTemperature, &[(0, 10.0), (60, 11.0)]);
    let checker = Checker::shared();
    let [short, half] = [
        SeriesReadings { value: &[10.0], ..air.readings() },
        SeriesReadings { source: &[Quality::GOOD], ..air.readings() },
    ];
    let error = checker.check_station(&site(), &[air.readings(), short]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "series 1: array lengths must match; got 2 for times, 1 for values, 2 for source verdicts"
    );
    let short = SeriesReadings { source: &[], ..short };
    let error = checker.explain(&site(), &[short], 0, 0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "series 0: array lengths must match; got 2 for times, 1 for values"
    );
    assert!(checker.check_station(&site(), &[half]).is_err());
    let twice = Column::moment(Variable::AirTemperature, &[(60, 10.0), (60, 11.0)]);
    let error = checker.check_station(&site(), &[twice.readings()]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "series 0: times must ascend; reading 1 is not later than the one before"
    );
    let error = checker.explain(&site(), &[air.readings()], 0, 2).unwrap_err();
    assert_eq!(error, CheckError::NoSuchReading { series: 0, reading: 2 });
}

#[test]
fn readings_without_verdicts_of_their_source_are_unchecked() {
    let air = Column::moment(Variable::AirTemperature, &[(0, 10.0), (60, 140.0), (120, f64::NAN)]);
    let plain = SeriesReadings { source: &[], ..air.readings() };
    let checker = Checker::shared();
    let found = checker.check_station(&site(), &[plain]).unwrap();
    assert_eq!(found, checker.check_station(&site(), &[air.readings()]).unwrap());
    assert_eq!(found[0].len(), 3);
    let explained = checker.explain(&site(), &[plain], 0, 1).unwrap();
    assert_eq!((explained.source, explained.verdict), (Quality::UNCHECKED, found[0][1]));
    assert_eq!(checker.check_station(&site(), &[]), Ok(vec![]));
}

#[test]
fn limits_of_a_text_replace_the_shared_ones() {
    assert_eq!(*Checker::shared(), Checker::new(Config::default()));
    let text = "without = [\"step.airTemperature\"]";
    let checker = Checker::with_limits(Some(text)).unwrap();
    assert_eq!(checker.config(), &Config::from_toml(text).unwrap());
    assert_ne!(*checker, *Checker::shared());
    assert_eq!(Checker::with_limits(Some("x")).map(drop), Config::from_toml("x").map(drop));
}

#[test]
fn the_reach_of_the_default_limits() {
    let reach = Checker::default().reach();
    assert_eq!(reach, Reach { back_ms: 7 * DAY_MS, ahead_ms: 3 * HOUR_MS });
    let none = Checker::new(Config::none()).reach();
    assert_eq!(none, Reach { back_ms: 0, ahead_ms: 0 });
}

#[test]
fn verdicts_go_into_buffers_of_the_right_lengths() {
    let column = Column::moment(Variable::AirTemperature, &[(0, 10.0), (60, 200.0)]);
    let series = [column.readings()];
    let checker = Checker::default();
    let expected = checker.check_station(&site(), &series).unwrap();
    let mut room = [Quality::UNCHECKED; 3];
    let mut into = |lengths: &[usize]| {
        let mut rest = &mut room[..];
        let mut out = Vec::new();
        for &length in lengths {
            let (own, others) = rest.split_at_mut(length);
            rest = others;
            out.push(own);
        }
        let done = checker.check_station_into(&site(), &series, &mut out);
        done.map(|()| out[0].to_vec()).map_err(|error| error.to_string())
    };
    assert_eq!(into(&[2]).unwrap(), expected[0]);
    for lengths in [&[][..], &[1], &[3], &[2, 1]] {
        let error = into(lengths).unwrap_err();
        assert!(error.contains("for verdicts"), "{error}");
    }
}

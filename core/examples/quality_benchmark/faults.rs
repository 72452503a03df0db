//! Faults that occur in sensors and feeds, put into real reports.

use mesonet::time::HOUR_MS;
use mesonet::{IntervalType, Reading, Report, SeriesKey, Variable};

/// The values that a fault changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    AirTemperature,
    DewPoint,
    /// Only the sea level pressure.
    SeaLevel,
    /// The altimeter setting, and the station pressure that is calculated from it.
    Altimeter,
    /// The sensor behind both pressures.
    Barometer,
    /// The mean wind and its gusts.
    Wind,
    /// Every instantaneous value and mean of the report.
    Report,
}

impl Target {
    pub fn name(self) -> &'static str {
        match self {
            Self::AirTemperature => "air temperature",
            Self::DewPoint => "dew point",
            Self::SeaLevel => "mslp",
            Self::Altimeter => "altimeter",
            Self::Barometer => "mslp and altimeter",
            Self::Wind => "wind speed",
            Self::Report => "whole report",
        }
    }

    /// The variables that are changed.
    pub fn variables(self) -> &'static [Variable] {
        use Variable::{
            AirTemperature, AltimeterSetting, BarometricPressure, DewPointTemperature, Mslp,
            WindGust, WindGust10m, WindSpeed, WindSpeed10m,
        };
        match self {
            Self::AirTemperature => &[AirTemperature],
            Self::DewPoint => &[DewPointTemperature],
            Self::SeaLevel => &[Mslp],
            Self::Altimeter => &[AltimeterSetting, BarometricPressure],
            Self::Barometer => &[Mslp, BarometricPressure, AltimeterSetting],
            Self::Wind => &[WindSpeed, WindSpeed10m, WindGust, WindGust10m],
            Self::Report => &[
                AirTemperature,
                DewPointTemperature,
                Mslp,
                BarometricPressure,
                WindSpeed,
                WindSpeed10m,
            ],
        }
    }

    /// The smallest change that makes a value of a variable wrong.
    pub fn matters(variable: Variable) -> f64 {
        match variable {
            Variable::WindSpeed | Variable::WindSpeed10m => 7.0,
            Variable::WindGust | Variable::WindGust10m => f64::INFINITY,
            Variable::Mslp | Variable::BarometricPressure | Variable::AltimeterSetting => 1.0,
            _ => 1.5,
        }
    }
}

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FaultKind {
    /// One report is off.
    Spike(f64),
    /// All values are suddenly off by the same amount, and just as suddenly right again.
    Step(f64),
    /// The error grows evenly, up to this amount.
    Drift(f64),
    /// The first value is repeated.
    Stuck,
    /// The number is in another unit: `number · factor + offset`.
    Unit(&'static str, f64, f64),
    /// The minus sign is lost or added.
    Sign,
    /// Air temperature and dew point are swapped.
    Swapped,
    /// The values are from this many hours before.
    Late(i64),
    /// Noise of this standard deviation is added.
    Noise(f64),
}

/// A fault to be put into many reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InjectedFault {
    pub kind: FaultKind,
    pub target: Target,
    /// How long it lasts; 0 for one report.
    pub hours: i64,
}

impl InjectedFault {
    pub fn name(&self) -> String {
        let what = match self.kind {
            FaultKind::Spike(by) => format!("spike of {by:+}"),
            FaultKind::Step(by) => format!("step of {by:+}"),
            FaultKind::Drift(to) => format!("drift to {to:+}"),
            FaultKind::Stuck => "stuck".to_owned(),
            FaultKind::Unit(name, ..) => name.to_owned(),
            FaultKind::Sign => "wrong sign".to_owned(),
            FaultKind::Swapped => "T and Td swapped".to_owned(),
            FaultKind::Late(hours) => format!("{hours} h late"),
            FaultKind::Noise(deviation) => format!("noise of {deviation}"),
        };
        if self.hours == 0 { what } else { format!("{what}, {} h", self.hours) }
    }
}

/// The faults of the table.
pub fn all() -> Vec<InjectedFault> {
    use FaultKind::{Drift, Late, Noise, Sign, Spike, Step, Stuck, Swapped, Unit};
    use Target::{AirTemperature, Altimeter, Barometer, DewPoint, SeaLevel, Wind};
    let fault = |kind, target, hours| InjectedFault { kind, target, hours };
    vec![
        fault(Spike(8.0), AirTemperature, 0),
        fault(Spike(-8.0), AirTemperature, 0),
        fault(Step(5.0), AirTemperature, 6),
        fault(Step(10.0), AirTemperature, 6),
        fault(Step(-10.0), AirTemperature, 24),
        fault(Drift(8.0), AirTemperature, 120),
        fault(Stuck, AirTemperature, 12),
        fault(Unit("°F as °C", 1.8, 32.0), AirTemperature, 6),
        fault(Sign, AirTemperature, 0),
        fault(Swapped, AirTemperature, 0),
        fault(Swapped, AirTemperature, 6),
        fault(Noise(4.0), AirTemperature, 24),
        fault(Spike(8.0), DewPoint, 0),
        fault(Spike(-8.0), DewPoint, 0),
        fault(Step(5.0), DewPoint, 6),
        fault(Step(-10.0), DewPoint, 6),
        fault(Drift(-8.0), DewPoint, 120),
        fault(Stuck, DewPoint, 12),
        fault(Unit("°F as °C", 1.8, 32.0), DewPoint, 6),
        fault(Sign, DewPoint, 0),
        fault(Noise(4.0), DewPoint, 24),
        fault(Spike(10.0), SeaLevel, 0),
        fault(Step(5.0), SeaLevel, 24),
        fault(Step(20.0), SeaLevel, 24),
        fault(Drift(10.0), SeaLevel, 120),
        fault(Stuck, SeaLevel, 12),
        fault(Unit("inHg as hPa", 0.029_529_98, 0.0), SeaLevel, 6),
        fault(Noise(3.0), SeaLevel, 24),
        fault(Spike(10.0), Altimeter, 0),
        fault(Step(5.0), Altimeter, 24),
        fault(Step(20.0), Altimeter, 24),
        fault(Spike(10.0), Barometer, 0),
        fault(Step(5.0), Barometer, 24),
        fault(Step(20.0), Barometer, 24),
        fault(Stuck, Barometer, 12),
        fault(Spike(60.0), Wind, 0),
        fault(Step(30.0), Wind, 6),
        fault(Stuck, Wind, 12),
        fault(Unit("m/s as km/h", 1.0 / 3.6, 0.0), Wind, 24),
        fault(Unit("kt as km/h", 1.0 / 1.852, 0.0), Wind, 24),
        fault(Unit("kt as m/s", 1.943_844, 0.0), Wind, 24),
        fault(Late(6), Target::Report, 24),
    ]
}

/// A small xorshift generator: the same faults in every run.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number from 0 to 1.
    pub fn next(&mut self) -> f64 {
        for _ in 0..2 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
        }
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn below(&mut self, count: usize) -> usize {
        ((self.next() * count as f64) as usize).min(count.saturating_sub(1))
    }

    /// Approximately normal, with a deviation of 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() - 6.0
    }
}

/// A value that a fault has made wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wrong {
    pub variable: Variable,
    pub ts_ms: i64,
}

/// Whether faults are put into a value.
pub fn is_of_the_moment(series: &SeriesKey) -> bool {
    matches!(series.interval_type, IntervalType::Instantaneous | IntervalType::Average)
        || matches!(series.variable, Variable::WindGust | Variable::WindGust10m)
}

/// The value of a variable in a report.
pub fn value_of(report: &Report, variable: Variable) -> Option<f64> {
    let of = |reading: &&Reading| {
        reading.series.variable == variable && is_of_the_moment(&reading.series)
    };
    report.readings.iter().find(of).map(|reading| reading.value)
}

/// Puts a fault into the reports of a station, ascending in time, from a given report on. Returns
/// the values that are wrong now; none if the fault would not show: a constant series cannot be
/// stuck.
pub fn put(
    fault: &InjectedFault,
    reports: &mut [Report],
    at: usize,
    random: &mut Random,
) -> Vec<Wrong> {
    let start_ms = reports[at].ts_ms;
    let end_ms = start_ms + fault.hours * HOUR_MS;
    let within = at..reports.partition_point(|report| report.ts_ms <= end_ms);
    let before = reports[..within.end].to_vec();
    if !shows(fault, &before[within.clone()]) {
        return Vec::new();
    }
    let mut wrong = Vec::new();
    for i in within {
        let ts_ms = reports[i].ts_ms;
        let part = (ts_ms - start_ms) as f64 / (end_ms - start_ms).max(1) as f64;
        let noise = random.normal();
        let (air, dew) = (
            value_of(&before[i], Variable::AirTemperature),
            value_of(&before[i], Variable::DewPointTemperature),
        );
        for reading in &mut reports[i].readings {
            let variable = reading.series.variable;
            let of = fault.target.variables().contains(&variable)
                || (fault.kind == FaultKind::Swapped && variable == Variable::DewPointTemperature);
            if !of || !is_of_the_moment(&reading.series) {
                continue;
            }
            let old = reading.value;
            let new = match fault.kind {
                FaultKind::Spike(by) | FaultKind::Step(by) => Some(old + by),
                FaultKind::Drift(to) => Some(old + to * part),
                FaultKind::Stuck => value_of(&before[at], variable),
                FaultKind::Unit(_, factor, offset) => Some(old * factor + offset),
                FaultKind::Sign => Some(-old),
                FaultKind::Swapped if variable == Variable::AirTemperature => dew,
                FaultKind::Swapped => air,
                FaultKind::Late(hours) => {
                    let of_ms = ts_ms - hours * HOUR_MS;
                    let late = before.partition_point(|report| report.ts_ms <= of_ms);
                    late.checked_sub(1).and_then(|late| value_of(&before[late], variable))
                }
                FaultKind::Noise(deviation) => Some(old + deviation * noise),
            };
            let Some(new) = new else { continue };
            // To the resolution of the reported values.
            let fine = if variable.unit().symbol() == "km/h" { 1.852 } else { 0.1 };
            let new = (new / fine).round() * fine;
            let new = if variable.unit().symbol() == "km/h" { new.max(0.0) } else { new };
            reading.value = if fine == 0.1 { (new * 10.0).round() / 10.0 } else { new };
            // A stuck value is wrong even where the true value happens to equal it.
            let least = Target::matters(variable);
            let is_stuck = fault.kind == FaultKind::Stuck && i > at && least.is_finite();
            if is_stuck || (reading.value - old).abs() >= least {
                wrong.push(Wrong { variable, ts_ms });
            }
        }
    }
    wrong
}

/// Whether a fault would show in these reports.
fn shows(fault: &InjectedFault, reports: &[Report]) -> bool {
    let of = |variable| reports.iter().filter_map(move |report| value_of(report, variable));
    let range = |variable| {
        let (low, high) = of(variable)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        high - low
    };
    let variable = fault.target.variables()[0];
    if of(variable).next().is_none() {
        return false;
    }
    match (fault.kind, fault.target) {
        (FaultKind::Stuck, Target::Wind) => {
            let mean = of(variable).sum::<f64>() / of(variable).count() as f64;
            let first = of(variable).next().is_some_and(|first| first > 5.6);
            first && mean >= 10.0 && range(variable) >= 7.0
        }
        (FaultKind::Stuck, _) => range(variable) >= 2.0,
        (FaultKind::Unit(..), Target::Wind) => of(variable).fold(0.0, f64::max) >= 15.0,
        _ => true,
    }
}

//! What else a station measured while one of its series jumped.

use super::limits::JumpLimits;
use super::relation::is_comparable;
use crate::observation::IntervalType::{Average, Cumulative, Instantaneous, Median};
use crate::observation::{SeriesKey, Variable};

/// Below this speed a direction says little, in km/h: 2 m/s.
const LIGHT_WIND_KMH: f64 = 7.2;

/// A series whose change explains a jump of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Witness {
    pub series: usize,
    /// How much the series must change; for an amount, how large it must be.
    pub limit: f64,
    kind: WitnessKind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum WitnessKind {
    Value,
    /// A direction, together with the series of the speed.
    Direction(Option<usize>),
    Amount,
}

impl Witness {
    /// The series of a station that can explain a jump. Calculated ones cannot: they may be
    /// calculated from what jumped.
    pub(super) fn of(limits: &JumpLimits, keys: &[&SeriesKey]) -> Vec<Self> {
        let steady = |key: &SeriesKey| {
            matches!(key.interval_type, Instantaneous | Average | Median) && is_comparable(key)
        };
        let speed = keys.iter().position(|key| steady(key) && key.variable == Variable::WindSpeed);
        let witness = |(series, key): (usize, &&SeriesKey)| {
            let &(_, limit) =
                limits.explained_by.iter().find(|&&(variable, _)| variable == key.variable)?;
            let hourly = key.interval_type == Cumulative && key.interval_minutes <= 60;
            let kind = match key.variable {
                _ if key.calculated || !is_comparable(key) => return None,
                Variable::WindDirection if steady(key) => WitnessKind::Direction(speed),
                _ if steady(key) => WitnessKind::Value,
                _ if hourly => WitnessKind::Amount,
                _ => return None,
            };
            Some(Self { series, limit, kind })
        };
        keys.iter().enumerate().filter_map(witness).collect()
    }

    /// Whether the series changed enough between two moments to explain a jump. `at` gives the
    /// value of a series at a moment.
    pub(super) fn explains(
        &self,
        at: impl Fn(usize, i64) -> Option<f64>,
        before_ms: i64,
        now_ms: i64,
    ) -> bool {
        let Some(now) = at(self.series, now_ms) else { return false };
        if self.kind == WitnessKind::Amount {
            return now >= self.limit;
        }
        let Some(before) = at(self.series, before_ms) else { return false };
        let change = (now - before).abs();
        match self.kind {
            WitnessKind::Direction(speed) => {
                let blows = speed
                    .and_then(|speed| at(speed, now_ms))
                    .is_some_and(|speed| speed >= LIGHT_WIND_KMH);
                // 0 is a calm.
                blows && now > 0.0 && before > 0.0 && change.min(360.0 - change) >= self.limit
            }
            _ => change >= self.limit,
        }
    }
}

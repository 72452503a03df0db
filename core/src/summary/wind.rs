//! The wind of a period: its prevailing direction, the mean of its vectors, and its peak.

use super::columns::{SeriesColumns, WindowReading};
use super::hours::Hours;
use super::rules::{Role, Rules};
use super::{Coverage, Extreme};
use crate::observation::{BaseQuality, Qualifier, Quality, SeriesKey, Variable};
use crate::time::HalfOpenWindow;

/// The number of sectors of a prevailing direction. Reports round directions to tens of degrees;
/// each of twelve sectors holds three of these, while of sixteen some hold two and others three.
pub const SECTORS: usize = 12;

/// The wind of a period.
#[derive(Clone, Debug, PartialEq)]
pub struct WindSummary {
    /// How many readings of the speed counted; those of the series that is the most instantaneous.
    pub readings: u32,
    /// How many of them were calm.
    pub calm: u32,
    /// How many had a speed and no direction.
    pub variable: u32,
    /// How many came from each sector; the first is centred on north, the others follow clockwise.
    pub sectors: [u32; SECTORS],
    /// The sum of their speeds in km/h.
    pub sector_kmh: [f64; SECTORS],
    /// The sums of the vectors, eastward and northward, in km/h.
    pub vector_kmh: [f64; 2],
    /// The worst verdict on speeds and directions; Unknown without a reading.
    pub quality: Quality,
    /// How much of the period is known.
    pub coverage: Coverage,
    /// The greatest gust or peak wind.
    pub peak: Option<PeakWind>,
}

/// The sector that the wind came from most often.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrevailingWind {
    /// The centre of the sector in degrees: 30, 60, … 360.
    pub from_degrees: f64,
    /// The share of the readings, calm ones included, in percent.
    pub share_percent: f64,
    /// The mean speed in the sector in km/h.
    pub mean_kmh: f64,
}

/// The mean of the wind vectors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResultantWind {
    /// Where it comes from, in degrees up to 360; `None` if the vectors cancel out.
    pub from_degrees: Option<f64>,
    /// Its speed in km/h.
    pub speed_kmh: f64,
}

/// The peak wind of a period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PeakWind {
    /// The speed in km/h and what made it.
    pub speed: Extreme,
    /// Its variable: `peakWindSpeed`, `windGust` or `windGust10m`.
    pub variable: Variable,
    /// Where it came from in degrees, if a report says so.
    pub from_degrees: Option<f64>,
}

impl WindSummary {
    /// Returns the prevailing wind; `None` if no reading has a direction. Of two sectors with as many
    /// readings, the one with more wind.
    pub fn prevailing(&self) -> Option<PrevailingWind> {
        let mut best = 0;
        for at in 1..SECTORS {
            let order = self.sectors[at].cmp(&self.sectors[best]);
            if order.then(self.sector_kmh[at].total_cmp(&self.sector_kmh[best])).is_gt() {
                best = at;
            }
        }
        let count = self.sectors[best];
        (count > 0).then(|| PrevailingWind {
            from_degrees: if best == 0 { 360.0 } else { best as f64 * 360.0 / SECTORS as f64 },
            share_percent: f64::from(count) * 100.0 / f64::from(self.readings),
            mean_kmh: self.sector_kmh[best] / f64::from(count),
        })
    }

    /// Returns the resultant wind; `None` if no reading is calm or has a direction.
    pub fn resultant(&self) -> Option<ResultantWind> {
        // Less than this is what rounding leaves of vectors that cancel out.
        const NOTHING_KMH: f64 = 1e-6;
        let vectors = self.readings - self.variable;
        (vectors > 0).then(|| {
            let [east, north] = self.vector_kmh.map(|sum| sum / f64::from(vectors));
            let speed_kmh = libm::hypot(east, north);
            let degrees = libm::atan2(-east, -north).to_degrees();
            let degrees = if degrees <= 0.0 { degrees + 360.0 } else { degrees };
            let from_degrees = (speed_kmh > NOTHING_KMH).then_some(degrees);
            ResultantWind { from_degrees, speed_kmh }
        })
    }
}

/// The columns of a station, in the order of their variables and then of preference; each with its
/// place in the order of preference.
pub(super) type Ordered<'s, 'a> = &'s [(SeriesColumns<'a>, usize)];

fn of_variable<'s, 'a>(columns: Ordered<'s, 'a>, variable: Variable) -> Ordered<'s, 'a> {
    let is_before = |of: &(SeriesColumns<'_>, usize)| of.0.series.key.variable < variable;
    let start = columns.partition_point(is_before);
    let is_of = |of: &(SeriesColumns<'_>, usize)| of.0.series.key.variable == variable;
    let len = columns[start..].partition_point(is_of);
    &columns[start..start + len]
}

/// Summarises the wind of a station.
pub(super) fn summarize(
    columns: Ordered<'_, '_>,
    window: HalfOpenWindow,
    rules: Rules,
    hours: &mut Hours,
) -> Option<WindSummary> {
    let mut wind = WindSummary {
        readings: 0,
        calm: 0,
        variable: 0,
        sectors: [0; SECTORS],
        sector_kmh: [0.0; SECTORS],
        vector_kmh: [0.0; 2],
        quality: Quality::UNCHECKED,
        coverage: Coverage::of(0, window),
        peak: peak(columns, window, rules, hours),
    };
    hours.begin(window);
    let directions = of_variable(columns, Variable::WindDirection);
    for variable in [Variable::WindSpeed, Variable::WindSpeed10m] {
        let mut chosen = None;
        for (of, preference) in of_variable(columns, variable) {
            if chosen.is_some_and(|chosen| chosen != *preference) {
                break;
            }
            let readings = of.in_window(window, Role::State, rules);
            for counted in states(of, readings) {
                chosen = Some(*preference);
                hours.add_interval(counted.interval_ms);
                wind.add(of, counted, directions);
            }
        }
        if chosen.is_some() {
            break;
        }
    }
    wind.coverage = Coverage::of(hours.minutes(), window);
    (wind.readings > 0 || wind.peak.is_some()).then_some(wind)
}

/// The usable readings, if they say what the state was.
fn states(
    of: &SeriesColumns<'_>,
    readings: impl Iterator<Item = WindowReading>,
) -> impl Iterator<Item = WindowReading> {
    let is_state = super::rules::role_of(&of.series.key) == Some(Role::State);
    readings.filter(move |counted| is_state && counted.is_usable)
}

impl WindSummary {
    fn add(&mut self, of: &SeriesColumns<'_>, counted: WindowReading, directions: Ordered<'_, '_>) {
        let speed_kmh = counted.value;
        self.readings += 1;
        self.quality = self.quality.worse(of.quality[counted.at].quality());
        if speed_kmh == 0.0 {
            self.calm += 1;
            return;
        }
        let Some((degrees, quality)) = direction_at(directions, &of.series.key, counted.ts_ms)
        else {
            self.variable += 1;
            return;
        };
        self.quality = self.quality.worse(quality);
        let width = 360.0 / SECTORS as f64;
        let sector = libm::floor((degrees + width / 2.0) / width).rem_euclid(SECTORS as f64);
        self.sectors[sector as usize % SECTORS] += 1;
        self.sector_kmh[sector as usize % SECTORS] += speed_kmh;
        let (sin, cos) = libm::sincos(degrees.to_radians());
        self.vector_kmh[0] -= speed_kmh * sin;
        self.vector_kmh[1] -= speed_kmh * cos;
    }
}

/// The direction at a time: of the series that is measured as the speed, else of another.
fn direction_at(
    directions: Ordered<'_, '_>,
    speed: &SeriesKey,
    ts_ms: i64,
) -> Option<(f64, Quality)> {
    let is_like = |key: &SeriesKey| {
        (key.interval_type, key.interval_minutes) == (speed.interval_type, speed.interval_minutes)
    };
    let found = |of: &SeriesColumns<'_>| {
        super::rules::role_of(&of.series.key)?;
        let at = of.ts_ms.binary_search(&ts_ms).ok()?;
        let quality = of.quality[at].quality();
        (quality.base > BaseQuality::Error && of.value[at].is_finite())
            .then_some((of.value[at], quality))
    };
    let mut same = directions.iter().filter(|(of, _)| is_like(&of.series.key));
    let mut others = directions.iter().filter(|(of, _)| !is_like(&of.series.key));
    same.find_map(|(of, _)| found(of)).or_else(|| others.find_map(|(of, _)| found(of)))
}

/// The greatest of peak winds and gusts. A peak wind wins over a gust of the same speed, because it
/// has the time and the direction. Gusts at 10 m count where there are none at the sensor: they may
/// be calculated from these.
fn peak(
    columns: Ordered<'_, '_>,
    window: HalfOpenWindow,
    rules: Rules,
    hours: &mut Hours,
) -> Option<PeakWind> {
    use Variable::{PeakWindSpeed, WindGust, WindGust10m};
    hours.begin(window);
    let mut best: Option<PeakWind> = None;
    let mut has_gust = false;
    for variable in [PeakWindSpeed, WindGust, WindGust10m] {
        if variable == WindGust10m && has_gust {
            break;
        }
        for (of, _) in of_variable(columns, variable) {
            let Some(role) = super::rules::role_of(&of.series.key) else { continue };
            for counted in of.in_window(window, role, rules).filter(|counted| counted.is_usable) {
                has_gust |= variable == WindGust;
                hours.add_interval(counted.interval_ms);
                let is_greater = best.is_none_or(|best| {
                    let speed = best.speed;
                    counted.value > speed.value
                        || counted.value == speed.value
                            && variable == best.variable
                            && counted.ts_ms < speed.from.ts_ms
                });
                if is_greater {
                    let speed = Extreme {
                        value: counted.value,
                        quality: of.quality[counted.at].quality(),
                        qualifier: Qualifier::of_code(of.qualifier[counted.at]),
                        from: of.source(counted.ts_ms),
                        coverage: Coverage::of(0, window),
                    };
                    best = Some(PeakWind { speed, variable, from_degrees: None });
                }
            }
        }
    }
    let mut peak = best?;
    peak.speed.coverage = Coverage::of(hours.minutes(), window);
    let mut key = SeriesKey::new(peak.variable, peak.speed.from.interval_type, 0);
    key.interval_minutes = peak.speed.from.interval_minutes;
    // The direction of a peak wind; else that of the greatest wind, then that of the wind.
    let variables: &[Variable] = match peak.variable {
        PeakWindSpeed => &[Variable::PeakWindDirection],
        _ => &[Variable::MaxWindDirection, Variable::WindDirection],
    };
    peak.from_degrees = variables
        .iter()
        .find_map(|&variable| {
            direction_at(of_variable(columns, variable), &key, peak.speed.from.ts_ms)
        })
        .map(|(degrees, _)| degrees);
    Some(peak)
}

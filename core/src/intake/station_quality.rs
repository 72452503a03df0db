//! The quality of a station over days: the verdicts on its readings, and the comparison with its
//! neighbours.

use std::collections::BTreeMap;

use super::Intake;
use super::known::Neighbourhood;
use crate::check::Comparison;
use crate::observation::{Quality, StationId, Variable};
use crate::store::{Directory, Reader, Selection, StoreError};
use crate::time::{ClosedWindow, DAY_MS, Iso8601};

/// The verdicts on a station in a window, and the comparison with its neighbours.
///
/// It is serialized as an object with camelCase keys.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StationQuality {
    /// The station.
    pub station_id: StationId,
    /// Its name.
    pub name: String,
    /// Start of the window.
    pub start: Iso8601,
    /// End of the window, included.
    pub end: Iso8601,
    /// The variables that it reported in the window, by name.
    pub variables: Vec<VariableQuality>,
}

/// The quality of one variable.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct VariableQuality {
    /// Name of the variable.
    #[serde(rename = "type")]
    pub variable: &'static str,
    /// The verdicts on its readings, of all its series, by month.
    pub months: Vec<MonthOfVerdicts>,
    /// The comparison with neighbours; absent if no reading could be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<AgainstNeighbours>,
}

/// The verdicts of a month.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MonthOfVerdicts {
    /// Year and month in UTC, as in `2024-08`.
    #[cfg_attr(feature = "openapi", schema(pattern = "^[0-9]{4}-[0-9]{2}$"))]
    pub month: String,
    /// The number of readings.
    pub readings: u64,
    /// Each verdict that occurred, worst first.
    pub verdicts: Vec<VerdictRate>,
}

/// The number of times that a verdict was given.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct VerdictRate {
    /// The verdict.
    pub quality: Quality,
    /// The number of readings.
    pub readings: u64,
    /// Their share of the readings of the month, from 0 to 1.
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 1))]
    pub share: f64,
}

/// Differences of a station from its neighbours, station minus neighbours, in the unit of the
/// variable, rounded to hundredths. For station pressures, the differences are between altimeter
/// settings.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AgainstNeighbours {
    /// The unit of the differences.
    pub unit: &'static str,
    /// The number of readings that were compared.
    pub compared: u64,
    /// The mean of the differences.
    pub mean_difference: f64,
    /// Their median; a few wrong readings do not move it.
    pub median_difference: f64,
    /// Their standard deviation; 0 for a single difference.
    pub spread: f64,
    /// The median of the differences in standard deviations. Beyond 3 or so, it is the station that
    /// is unlike its neighbours, not its weather.
    pub median_standardized_difference: f64,
    /// The share that the neighbour check calls Doubtful, from 0 to 1.
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 1))]
    pub share_flagged: f64,
    /// The same for each day in UTC that has readings.
    pub days: Vec<DayAgainstNeighbours>,
}

/// Differences of one day.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DayAgainstNeighbours {
    /// The day, as in `2024-08-03`.
    #[cfg_attr(feature = "openapi", schema(format = Date))]
    pub day: String,
    /// The number of readings that were compared.
    pub compared: u64,
    /// The mean of the differences.
    pub mean_difference: f64,
    /// Their median.
    pub median_difference: f64,
    /// The share that the neighbour check calls Doubtful, from 0 to 1.
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 1))]
    pub share_flagged: f64,
}

/// The longest window of a report, 31 days: the neighbours are read for each day.
pub const STATION_QUALITY_MAX_MS: i64 = 31 * DAY_MS;

impl Intake {
    /// Reports on the quality of a station in a window: the rate of each verdict by variable and
    /// month, and the comparison with neighbours of each variable that is compared. The comparison
    /// is made again, as for an explanation, so differences below the threshold show too: a
    /// barometer that is 2 hPa off is not Doubtful, but its median shows the error.
    ///
    /// Returns `None` if there is no such station. A window longer than
    /// [`STATION_QUALITY_MAX_MS`] is cut at its start.
    ///
    /// # Errors
    /// The store cannot be read.
    ///
    /// ```
    /// use mesonet::intake::{AgainstNeighbours, DayAgainstNeighbours, FeedFile, Intake};
    /// use mesonet::intake::{MonthOfVerdicts, STATION_QUALITY_MAX_MS, StationQuality, VariableQuality};
    /// use mesonet::intake::VerdictRate;
    /// use mesonet::{ClosedWindow, MemoryStore, StationId};
    /// // Seven stations 11 km apart; the barometer of one is 10 hPa low.
    /// let mut csv = "raw_text,station_id,observation_time,latitude,longitude,elevation_m\n".to_owned();
    /// for i in 0..7 {
    ///     let altimeter = if i == 3 { "A2950" } else { "A2980" };
    ///     let text = format!("K00{i} 031200Z 20010KT 20/10 {altimeter}");
    ///     csv += &format!("{text},K00{i},2024-08-03T12:00:00Z,45.{i},-100.0,200\n");
    /// }
    /// let (intake, store, end_ms) = (Intake::default(), MemoryStore::default(), 1_722_686_400_000);
    /// intake.read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", end_ms))?;
    /// let window = ClosedWindow::new(end_ms - STATION_QUALITY_MAX_MS, end_ms)?;
    /// let found = intake.station_quality(&store, StationId::new("METAR", "K003"), window)?;
    /// let StationQuality { variables, .. } = found.unwrap();
    /// let pressure = |of: &&VariableQuality| of.variable == "barometricPressure";
    /// let VariableQuality { months, neighbours, .. } = variables.iter().find(pressure).unwrap();
    /// let MonthOfVerdicts { month, verdicts, .. } = &months[0];
    /// assert_eq!(month, "2024-08");
    /// assert!(matches!(verdicts[..], [VerdictRate { readings: 1, share: 1.0, .. }]));
    /// let AgainstNeighbours { unit, median_difference, days, .. } = neighbours.as_ref().unwrap();
    /// assert!(*unit == "hPa" && (-11.0..-9.0).contains(median_difference));
    /// assert!(matches!(days[..], [DayAgainstNeighbours { compared: 1, share_flagged: 1.0, .. }]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn station_quality(
        &self,
        store: &dyn Reader,
        station_id: StationId,
        window: ClosedWindow,
    ) -> Result<Option<StationQuality>, StoreError> {
        let directory = store.directory()?;
        let Some(place) = directory.stations.place(station_id) else { return Ok(None) };
        let (start_ms, end_ms) = (window.start_ms(), window.end_ms());
        let start_ms = start_ms.max(end_ms.saturating_sub(STATION_QUALITY_MAX_MS));
        let mut months = verdicts(store, station_id, (start_ms, end_ms))?;
        let mut compared = self.comparisons(store, &directory, place, (start_ms, end_ms))?;
        let variables = Variable::ALL.iter().filter_map(|variable| {
            let found = compared.remove(variable).unwrap_or_default();
            Some(VariableQuality {
                variable: variable.name(),
                months: rates(months.remove(variable)?),
                neighbours: against_neighbours(*variable, &found),
            })
        });
        let mut variables: Vec<_> = variables.collect();
        variables.sort_by_key(|of| of.variable);
        Ok(Some(StationQuality {
            station_id,
            name: directory.stations[place].station.name.clone(),
            start: Iso8601(start_ms),
            end: Iso8601(end_ms),
            variables,
        }))
    }

    /// Compares the readings of a station with its neighbours, one day after another.
    fn comparisons(
        &self,
        store: &dyn Reader,
        directory: &Directory,
        place: usize,
        (start_ms, end_ms): (i64, i64),
    ) -> Result<BTreeMap<Variable, Vec<(i64, Comparison)>>, StoreError> {
        let nearby = self.nearby(directory);
        let (checker, nearby) = (&self.checker, &*nearby);
        let neighbourhood = Neighbourhood { checker, record: store, directory, nearby };
        let mut found: BTreeMap<Variable, Vec<_>> = BTreeMap::new();
        let mut from_ms = start_ms;
        while from_ms <= end_ms {
            let to_ms = from_ms.saturating_add(DAY_MS - 1).min(end_ms);
            neighbourhood.comparisons(place, (from_ms, to_ms), |variable, ts_ms, comparison| {
                found.entry(variable).or_default().push((ts_ms, comparison));
            })?;
            if to_ms == i64::MAX {
                break;
            }
            from_ms = to_ms + 1;
        }
        Ok(found)
    }
}

type ByMonth = BTreeMap<String, BTreeMap<(u8, u8), (Quality, u64)>>;

/// Counts the verdicts by variable and month.
fn verdicts(
    store: &dyn Reader,
    station: StationId,
    (start_ms, end_ms): (i64, i64),
) -> Result<BTreeMap<Variable, ByMonth>, StoreError> {
    let mut found: BTreeMap<Variable, ByMonth> = BTreeMap::new();
    let Ok(window) = ClosedWindow::new(start_ms, end_ms) else { return Ok(found) };
    let stations = &[station];
    let selection = Selection { stations, variables: Variable::ALL, window };
    store.scan(&selection, &mut |_, slices| {
        for slice in slices {
            let months = found.entry(slice.series.key.variable).or_default();
            let days = slice.ts_ms.chunk_by(|a, b| a.div_euclid(DAY_MS) == b.div_euclid(DAY_MS));
            let mut from = 0;
            for day in days {
                let counts = months.entry(calendar(day[0], 7)).or_default();
                for code in &slice.quality[from..from + day.len()] {
                    let quality = code.quality();
                    let key = (quality.base as u8, quality.reason as u8);
                    counts.entry(key).or_insert((quality, 0)).1 += 1;
                }
                from += day.len();
            }
        }
    })?;
    Ok(found)
}

/// The first letters of a time: 7 for its month, 10 for its day.
fn calendar(ts_ms: i64, letters: usize) -> String {
    Iso8601(ts_ms).to_string().chars().take(letters).collect()
}

fn rates(months: ByMonth) -> Vec<MonthOfVerdicts> {
    let rates = |(month, counts): (String, BTreeMap<_, (Quality, u64)>)| {
        let readings: u64 = counts.values().map(|&(_, count)| count).sum();
        let rate = |(quality, count): (Quality, u64)| VerdictRate {
            quality,
            readings: count,
            share: share(count as f64, readings as f64),
        };
        MonthOfVerdicts { month, readings, verdicts: counts.into_values().map(rate).collect() }
    };
    months.into_iter().map(rates).collect()
}

fn against_neighbours(
    variable: Variable,
    found: &[(i64, Comparison)],
) -> Option<AgainstNeighbours> {
    let all = Differences::of(found)?;
    let standardized = found.iter().map(|(_, of)| of.standardized).collect();
    let mut by_day: BTreeMap<i64, Vec<(i64, Comparison)>> = BTreeMap::new();
    for &(ts_ms, comparison) in found {
        by_day.entry(ts_ms.div_euclid(DAY_MS)).or_default().push((ts_ms, comparison));
    }
    let day = |found: &Vec<(i64, Comparison)>| {
        let of = Differences::of(found)?;
        Some(DayAgainstNeighbours {
            day: calendar(found[0].0, 10),
            compared: of.count,
            mean_difference: of.mean,
            median_difference: of.median,
            share_flagged: of.share_flagged,
        })
    };
    Some(AgainstNeighbours {
        unit: variable.unit().symbol(),
        compared: all.count,
        mean_difference: all.mean,
        median_difference: all.median,
        spread: all.spread,
        median_standardized_difference: hundredths(median(standardized)),
        share_flagged: all.share_flagged,
        days: by_day.values().filter_map(day).collect(),
    })
}

struct Differences {
    count: u64,
    mean: f64,
    median: f64,
    spread: f64,
    share_flagged: f64,
}

impl Differences {
    fn of(found: &[(i64, Comparison)]) -> Option<Self> {
        if found.is_empty() {
            return None;
        }
        let n = found.len() as f64;
        let differences: Vec<f64> = found.iter().map(|(_, of)| of.difference).collect();
        let mean = differences.iter().sum::<f64>() / n;
        let squares: f64 = differences.iter().map(|value| (value - mean) * (value - mean)).sum();
        let flagged = found.iter().filter(|(_, of)| of.is_unlike).count();
        Some(Self {
            count: found.len() as u64,
            mean: hundredths(mean),
            median: hundredths(median(differences)),
            spread: hundredths(libm::sqrt(squares / (n - 1.0).max(1.0))),
            share_flagged: share(flagged as f64, n),
        })
    }
}

/// Rounds to hundredths: reported values have tenths, and their mean little more.
fn hundredths(value: f64) -> f64 {
    libm::rint(value * 100.0) / 100.0
}

/// A share of some number, in hundredths of a percent.
fn share(part: f64, whole: f64) -> f64 {
    libm::rint(part / whole * 10_000.0) / 10_000.0
}

/// The median of at least one number.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let (low, high) = ((values.len() - 1) / 2, values.len() / 2);
    f64::midpoint(values[low], values[high])
}

#[cfg(test)]
#[path = "station_quality_tests.rs"]
mod tests;

//! The tables of `docs/quality.md` match the code: each is generated here from the default limits,
//! and the file must contain it.

use std::fmt::Write as _;

use super::limits::{Band, Curve, ValueBounds};
use super::{Check, Config};
use crate::observation::{
    BUFR_033020, BaseQuality, Crosswalk, MADIS, QARTOD, SWOB_QA_SUMMARY, Variable,
};
use crate::time::HOUR_MS;

fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut text = format!("| {} |\n|{}\n", head.join(" | "), " --- |".repeat(head.len()));
    for row in rows {
        writeln!(text, "| {} |", row.join(" | ")).unwrap();
    }
    text
}

#[track_caller]
fn is_in_the_document(table: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/quality.md");
    let document = std::fs::read_to_string(path).unwrap();
    assert!(document.contains(table), "docs/quality.md must contain this table:\n\n{table}");
}

fn bounds(of: Option<ValueBounds>) -> String {
    match of {
        None => "–".to_owned(),
        Some(ValueBounds { min, max }) if max == f64::INFINITY => format!("< {min}"),
        Some(ValueBounds { min, max }) => format!("{min} to {max}"),
    }
}

fn hours(ms: i64) -> String {
    (ms as f64 / HOUR_MS as f64).to_string()
}

fn points(curve: &Curve) -> String {
    let point = |&(ms, limit): &(i64, f64)| format!("{limit} in {} h", hours(ms));
    curve.points().iter().map(point).collect::<Vec<_>>().join(", ")
}

fn unit(variable: Variable) -> String {
    variable.unit().symbol().to_owned()
}

#[test]
fn the_checks_in_their_order() {
    let says = |check| match check {
        Check::Value => ("the value is a number and no sentinel", "Missing: Missing, ValueType"),
        Check::Range => ("in the limits of variable, latitude, season", "Error, Doubtful: Range"),
        Check::Record => ("within the extremes on record", "Doubtful: Range"),
        Check::Spike => ("does not stick out", "Instrumentation: Change"),
        Check::Step => (
            "did not change too fast for the elapsed time",
            "Instrumentation (or Doubtful): Increase, Decrease, Change",
        ),
        Check::Jump => {
            ("did not jump and stay there, without a sign of why", "Doubtful: Increase, Decrease")
        }
        Check::Persistence => ("is not stuck", "Instrumentation: Inert"),
        Check::DewPoint => ("dew point ≤ air temperature", "Inconsistent: GreaterThan, LessThan"),
        Check::WetBulb => {
            ("dew point ≤ wet bulb ≤ air temperature", "Inconsistent: GreaterThan, LessThan")
        }
        Check::PressureOrder => (
            "station pressure ≤ sea level pressure, ≥ below sea level; only measured ones",
            "Inconsistent: GreaterThan, LessThan",
        ),
        Check::PressureReduction => {
            ("sea level pressure near the reduced station pressure", "Inconsistent: Difference")
        }
        Check::WindGust => (
            "mean ≤ gust of a period that holds it, and not far below",
            "Inconsistent: GreaterThan, LessThan, Difference",
        ),
        Check::CalmWind => ("direction 0 in a calm and only then", "Inconsistent: Disagree"),
        Check::Rainfall => ("rainfall ≤ precipitation", "Inconsistent: GreaterThan, LessThan"),
        Check::WaveHeight => {
            ("wave height ≤ maximum wave height", "Inconsistent: GreaterThan, LessThan")
        }
        Check::Average => (
            "minimum ≤ average ≤ maximum of variable and period",
            "Inconsistent: AverageInconsistent, GreaterThan, LessThan",
        ),
        Check::Neighbours => ("like the stations around", "Doubtful: Disagree"),
        Check::NeighbourChange => {
            ("did not change unlike the stations around", "Doubtful: Disagree")
        }
    };
    let rows = (1..).zip(Check::ALL).map(|(place, check): (usize, _)| {
        let (rule, verdict) = says(check);
        vec![place.to_string(), format!("`{check}`"), rule.to_owned(), verdict.to_owned()]
    });
    is_in_the_document(&table(&["", "Check", "Passes what is", "Says"], rows));
}

#[test]
fn the_physical_limits() {
    let config = Config::default();
    let rows = config.physical.iter().map(|(&variable, limits)| {
        let of = bounds(Some(limits.bounds));
        let of = if limits.at_sea_level { format!("{of} at sea level") } else { of };
        let amounts = limits.amounts.as_ref();
        let amounts =
            amounts.map(|of| format!("{} in an hour, {} in a day", of.per_hour.0, of.per_day.0));
        let amounts = amounts.unwrap_or_else(|| "–".to_owned());
        vec![variable.to_string(), unit(variable), of, amounts, limits.source.clone()]
    });
    let head = ["Variable", "Unit", "Error outside of", "Error above", "Source"];
    is_in_the_document(&table(&head, rows));
}

#[test]
fn the_range_limits() {
    let config = Config::default();
    let rows = config.range.iter().flat_map(|(&variable, limits)| {
        let bands: [(&str, Option<Band>); 5] = [
            ("> 45°, winter", limits.high_winter),
            ("> 45°, summer", limits.high_summer),
            ("≤ 45°, winter", limits.low_winter),
            ("≤ 45°, summer", limits.low_summer),
            ("always", limits.always),
        ];
        let row = move |(name, band): (&str, Option<Band>)| {
            let Band { doubtful, error } = band?;
            let source = limits.source.clone();
            let (name, unit) = (name.to_owned(), unit(variable));
            let variable = variable.to_string();
            Some(vec![variable, unit, name, bounds(doubtful), bounds(error), source])
        };
        bands.into_iter().filter_map(row)
    });
    let head = ["Variable", "Unit", "Band", "Doubtful outside of", "Error outside of", "Source"];
    is_in_the_document(&table(&head, rows));
}

#[test]
fn the_amounts_and_records() {
    let config = Config::default();
    let rows = config.accumulation.iter().map(|(variable, limits)| {
        let [hour, day] = [limits.per_hour.0, limits.per_day.0].map(|limit| limit.to_string());
        vec![variable.to_string(), unit(*variable), hour, day, limits.source.clone()]
    });
    is_in_the_document(&table(&["Variable", "Unit", "In an hour", "In a day", "Source"], rows));
    let rows = config.record.iter().map(|(variable, limits)| {
        let record = bounds(Some(limits.bounds));
        vec![variable.to_string(), unit(*variable), record, limits.source.clone()]
    });
    is_in_the_document(&table(&["Variable", "Unit", "On record", "Source"], rows));
}

#[test]
fn the_spikes_and_steps() {
    let config = Config::default();
    let rows = config.spike.iter().map(|(variable, limits)| {
        let (ratio, limit) = (limits.ratio.to_string(), points(&limits.curve));
        vec![variable.to_string(), unit(*variable), ratio, limit, limits.source.clone()]
    });
    is_in_the_document(&table(
        &["Variable", "Unit", "Ratio", "Limit on each side", "Source"],
        rows,
    ));
    let rows = config.step.iter().map(|(variable, limits)| {
        let reason = if limits.directional { "Increase, Decrease" } else { "Change" };
        let of = |curve: &Option<Curve>| curve.as_ref().map_or("–".to_owned(), points);
        let limit = of(&limits.instrumentation);
        vec![variable.to_string(), unit(*variable), limit, reason.to_owned(), limits.source.clone()]
    });
    is_in_the_document(&table(
        &["Variable", "Unit", "Instrumentation beyond", "Reason", "Source"],
        rows,
    ));
    assert!(
        config.step.values().all(|limits| limits.doubtful.is_none()),
        "the table has no column"
    );
}

#[test]
fn the_jumps() {
    let config = Config::default();
    let rows = config.jump.iter().map(|(variable, limits)| {
        let by = |(variable, limit): &(Variable, f64)| {
            format!("{variable} {limit} {}", variable.unit().symbol())
        };
        vec![
            variable.to_string(),
            unit(*variable),
            points(&limits.curve),
            limits.spread.to_string(),
            hours(limits.history_ms),
            hours(limits.hold_ms),
            limits.explained_by.iter().map(by).collect::<Vec<_>>().join(", "),
            limits.source.clone(),
        ]
    });
    let head = [
        "Variable",
        "Unit",
        "Off the usual by",
        "Deviations",
        "History, h",
        "Held, h",
        "Explained by",
        "Source",
    ];
    is_in_the_document(&table(&head, rows));
}

#[test]
fn the_persistence() {
    let config = Config::default();
    let rows = config.persistence.iter().map(|(variable, limits)| {
        let row = |row: &super::limits::Repeats| {
            format!("{}: {} and {} h", row.step.0, row.repeats, hours(row.hours.ms))
        };
        let repeats = limits.resolution.iter().map(row).collect::<Vec<_>>().join("; ");
        let exempt = match (limits.exempt_to, limits.exempt_from, limits.exempt_between) {
            (to, ..) if to.is_finite() => format!("≤ {to}"),
            (_, from, _) if from.is_finite() => format!("≥ {from}"),
            (.., between @ Some(_)) => bounds(between),
            _ => "–".to_owned(),
        };
        let window = hours(limits.window_ms);
        let (unit, source) = (unit(*variable), limits.source.clone());
        vec![variable.to_string(), unit, repeats, exempt, window, source]
    });
    let head =
        ["Variable", "Unit", "Resolution: repeats and time", "Exempt", "Window, h", "Source"];
    is_in_the_document(&table(&head, rows));
}

#[test]
fn the_consistency() {
    let rules = Config::default().consistency;
    let precise = |check: Check, limits: Option<super::limits::PrecisionLimits>| {
        let limits = limits.unwrap();
        let row = |(precision, limit): &(f64, f64)| format!("{limit} at {precision}");
        let tolerance = limits.rows.iter().map(row).collect::<Vec<_>>().join(", ");
        vec![format!("`{check}`"), tolerance, "°C by precision".to_owned(), limits.source]
    };
    let plain = |check: Check, limits: Option<super::limits::RuleLimits>, unit: &str| {
        let limits = limits.unwrap();
        let limit = limits.limit.0.to_string();
        vec![format!("`{check}`"), limit, unit.to_owned(), limits.source]
    };
    let rows = [
        precise(Check::DewPoint, rules.dew_point),
        precise(Check::WetBulb, rules.wet_bulb),
        plain(Check::PressureOrder, rules.pressure_order, "of the station pressure"),
        plain(Check::PressureReduction, rules.pressure_reduction, "hPa"),
        plain(Check::WindGust, rules.wind_gust, "km/h, gust above mean"),
        plain(Check::CalmWind, rules.calm_wind, "km/h, speed of a calm"),
        plain(Check::Rainfall, rules.rainfall, "mm"),
        plain(Check::WaveHeight, rules.wave_height, "m"),
        plain(Check::Average, rules.average, "unit of the variable"),
    ];
    is_in_the_document(&table(&["Check", "Tolerance or limit", "Of", "Source"], rows));
}

#[test]
fn the_neighbours_and_sentinels() {
    let config = Config::default();
    let rows = config.neighbours.iter().map(|(variable, limits)| {
        vec![
            variable.to_string(),
            unit(*variable),
            limits.compare.radius_km.to_string(),
            format!("{} to {}", limits.compare.at_least, limits.compare.nearest),
            limits.compare.deviation.to_string(),
            limits.compare.variance_per_km.to_string(),
            limits.compare.km_per_m.to_string(),
            limits.compare.lapse_per_m.map_or("–".to_owned(), |lapse| lapse.to_string()),
            limits.compare.change_per_hour.to_string(),
            limits.compare.threshold.to_string(),
            limits.source.clone(),
        ]
    });
    let head = [
        "Variable",
        "Unit",
        "Radius, km",
        "Neighbours",
        "Deviation",
        "Variance per km",
        "km per m",
        "Lapse, per m",
        "Change per h",
        "Threshold",
        "Source",
    ];
    is_in_the_document(&table(&head, rows));
    let rows = config.neighbour_change.iter().map(|(variable, limits)| {
        let numbers = [
            limits.limit,
            limits.threshold,
            limits.deviation,
            limits.variance_per_km,
            limits.change_per_hour,
            limits.level,
        ];
        let mut row = vec![variable.to_string(), unit(*variable)];
        row.extend(numbers.map(|number| number.to_string()));
        row.extend([hours(limits.within.ms), hours(limits.hold.ms)]);
        row.extend([limits.agree.to_string(), limits.source.clone()]);
        row
    });
    let head = [
        "Variable",
        "Unit",
        "Off by",
        "Threshold",
        "Deviation",
        "Variance per km",
        "Change per h",
        "Level",
        "Within, h",
        "Held, h",
        "Agree",
        "Source",
    ];
    is_in_the_document(&table(&head, rows));
    let joined =
        |values: &[f64]| values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let all = vec!["all".to_owned(), joined(&config.value.sentinels)];
    let real = config
        .value
        .allowed
        .iter()
        .map(|(key, values)| vec![format!("but not of {}", key.0), joined(values)]);
    is_in_the_document(&table(&["Variable", "Stands for no value"], [all].into_iter().chain(real)));
}

#[test]
fn the_crosswalks() {
    fn flags<F: Copy + PartialEq + ToString>(scheme: &Crosswalk<F>, base: BaseQuality) -> String {
        let all = scheme.rows().iter().filter(|row| row.1 == base);
        let all: Vec<_> = all.map(|row| row.0.to_string()).collect();
        if all.is_empty() { "none".to_owned() } else { all.join(", ") }
    }
    let rows = BaseQuality::ALL.map(|base| {
        vec![
            base.to_string(),
            flags(&SWOB_QA_SUMMARY, base),
            flags(&BUFR_033020, base),
            flags(&MADIS, base),
            flags(&QARTOD, base),
        ]
    });
    let head = ["Base quality", "SWOB `qa_summary`", "BUFR 0 33 020", "MADIS", "QARTOD"];
    is_in_the_document(&table(&head, rows));
}

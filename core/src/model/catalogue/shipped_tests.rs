//! The catalogue that ships, compared with the publications of the centres and with the values that
//! its parameters can have.

use std::path::Path;

use super::*;
use crate::grib;
use crate::grid::Encoding;

/// Values that must fit a fixed packing, by category and number of discipline 0: some were measured
/// or computed (see the comments); the others lie well beyond all such values.
const POSSIBLE: [(&str, f64, f64); 28] = [
    ("0.0", 150.0, 350.0),
    ("0.4", 150.0, 350.0),
    ("0.5", 150.0, 350.0),
    ("0.6", 120.0, 330.0),
    ("0.7", 0.0, 120.0),
    // A model of 3 km makes 0.04 kg/kg over warm water.
    ("1.0", -0.001, 0.05),
    ("1.1", -20.0, 200.0),
    ("1.3", 0.0, 120.0),
    // 500 mm an hour for a quarter of an hour.
    ("1.7", 0.0, 0.12),
    ("1.11", 0.0, 50.0),
    ("1.39", -50.0, 100.0),
    ("2.0", 0.0, 360.0),
    ("2.1", 0.0, 200.0),
    ("2.2", -200.0, 200.0),
    ("2.3", -200.0, 200.0),
    ("2.22", 0.0, 200.0),
    ("3.1", 85_000.0, 110_000.0),
    ("3.192", 85_000.0, 110_000.0),
    ("3.198", 85_000.0, 110_000.0),
    ("3.18", 0.0, 10_000.0),
    ("3.196", 0.0, 10_000.0),
    ("6.1", 0.0, 100.0),
    ("6.13", 0.0, 30_000.0),
    ("7.6", 0.0, 20_000.0),
    ("7.7", -3_000.0, 50.0),
    ("16.196", -50.0, 100.0),
    ("19.0", 0.0, 200_000.0),
    ("4.4", 150.0, 350.0),
];

/// Whether the integers of a packing reach to a value; the least integer stands for no value.
fn holds(encoding: Encoding, value: f64) -> bool {
    ((value - encoding.offset()) / encoding.scale()).round().abs() <= 32_767.0
}

/// The older tables of the bundled samples, whose encodings are part of published test vectors.
const SAMPLES: [&str; 2] = ["nam211", "safrica"];

#[test]
fn no_fixed_packing_refuses_a_value_that_is_possible() {
    let catalogue = Catalogue::default();
    let mut checked = 0;
    for source in catalogue.iter().filter(|source| !SAMPLES.contains(&source.name())) {
        for product in source.products() {
            let Some(encoding) = product.encoding() else { continue };
            let grib::Parameter { discipline, category, number, .. } = product.parameter();
            let name = format!("{} {}", source.name(), product.name());
            if discipline != 0 || product.field_kind().starts_with("probability") {
                continue;
            }
            let key = format!("{category}.{number}");
            let mut limits: Vec<(f64, f64)> = POSSIBLE
                .iter()
                .filter(|(parameter, ..)| *parameter == key)
                .map(|&(_, least, greatest)| (least, greatest))
                .collect();
            let fine =
                ["hrrr_pressure", "nam_conus", "nam_alaska", "nam_hawaii", "nam_puerto_rico"];
            limits.extend(match &*key {
                // ECMWF writes the pressure at sea level as a pressure.
                "3.0" if product.name() == "pressure_msl" => Some((85_000.0, 110_000.0)),
                "3.0" => Some((40_000.0, 110_000.0)),
                // 1 hPa is 50 km up, and a deep low has 1015 hPa below the ground.
                "3.5" if product.has_levels() => Some((-1_500.0, 50_500.0)),
                "3.5" if product.name() == "orography" => Some((-500.0, 9_000.0)),
                "3.5" => Some((-500.0, 30_000.0)),
                // An updraught of 50 m/s at 500 hPa is −340 Pa/s.
                "2.8" if fine.contains(&source.name()) => Some((-400.0, 400.0)),
                "2.8" => Some((-80.0, 80.0)),
                "2.12" | "2.13" => Some((-0.005, 0.005)),
                // A tropical cyclone that rests over mountains brings 2 m in a run; the greatest
                // fall measured in an hour is 401 mm, in a day 1,825 mm.
                "1.8" | "1.52" => match product.interval().as_deref() {
                    Some("1h") => Some((0.0, 600.0)),
                    Some("3h") => Some((0.0, 1_000.0)),
                    _ => Some((0.0, 3_000.0)),
                },
                // RAP of 2022-11-17 has 4,743 kg/m² on a glacier.
                "1.13" if product.interval().is_none() => Some((0.0, 10_000.0)),
                "1.13" => Some((0.0, 600.0)),
                "7.8" => Some((-3_000.0, 5_000.0)),
                _ => None,
            });
            for (least, greatest) in limits {
                for value in [least, greatest] {
                    assert!(holds(encoding, value), "{name}: {value} {}", product.unit());
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 800, "{checked}");
}

/// The fields of NCEP's file of RAP on grid 130 of 2022-11-17T00Z, hour 0, by parameter and level, with
/// their least and greatest values.
#[test]
fn rap_on_pressure_levels_takes_what_is_in_ncep_s_file() {
    let path = "../tests/data/grib/inventories/rap_awp130_20221117T00Z_f000.tsv";
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let catalogue = Catalogue::default();
    let source = catalogue.get("rap_pressure").unwrap();
    let mut taken: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [template, parameter, level, second, process, least, greatest] = columns[..] else {
            panic!("{line}");
        };
        let template = template.parse().unwrap();
        let field = grib::ProductSection {
            template,
            kind: grib::FieldKind::Deterministic,
            process: process.parse().unwrap(),
            constituent: None,
            level: level.parse().unwrap(),
            second_level: (second != "-").then(|| second.parse().unwrap()),
            valid_ms: 0,
            statistic: (template == 8).then_some(1),
            interval_ms: 0,
            rest: 0,
        };
        let parameter = parameter.parse().unwrap();
        for product in source.products().iter().filter(|one| one.is_of(parameter, &field, 0)) {
            for value in [least, greatest].map(|value| value.parse::<f64>().unwrap()) {
                assert!(holds(product.encoding().unwrap(), value), "{}", product.name());
            }
            let level_hpa = field.level.value.unwrap_or_default() / 100.0;
            taken.entry(product.name()).or_default().push(level_hpa);
        }
    }
    for product in source.products() {
        let levels = taken.get(product.name()).unwrap_or_else(|| panic!("{}", product.name()));
        match product.levels_hpa() {
            Some(own) => {
                let mut levels = levels.clone();
                levels.sort_by(|one, other| other.total_cmp(one));
                assert_eq!(levels, own, "{}", product.name());
            }
            // At hour 0 an accumulation is from the start of the run, and there are two of them.
            None if product.interval().is_some() => {}
            None => assert_eq!(levels.len(), 1, "{}", product.name()),
        }
    }
}

/// The mean of HREF is written as a weighted mean, and its probabilities are those of a neighbourhood,
/// which is a type of process of its own: a plain product would take neither.
#[test]
fn href_takes_what_ncep_s_program_writes() {
    let catalogue = Catalogue::default();
    let taken = |model: &str, parameter: &str, kind: &str, process, level: &str, hours: i64| {
        let field = grib::ProductSection {
            template: 12,
            kind: kind.parse().unwrap(),
            process,
            constituent: None,
            level: level.parse().unwrap(),
            second_level: None,
            valid_ms: hours * crate::time::HOUR_MS,
            statistic: (hours > 0).then_some(1),
            interval_ms: hours * crate::time::HOUR_MS,
            rest: 0,
        };
        let parameter = parameter.parse().unwrap();
        let source = catalogue.get(model).unwrap();
        let names: Vec<String> = (source.products().iter())
            .filter(|product| product.is_of(parameter, &field, 0))
            .map(|product| product.name().to_owned())
            .collect();
        names.join(" ")
    };
    assert_eq!(taken("href", "7:0.3.192", "weighted-mean", 4, "101:0", 0), "pressure_msl_eta");
    assert_eq!(taken("href", "7:0.1.8", "weighted-mean", 4, "1:0", 3), "precipitation_3h");
    assert_eq!(taken("href", "7:0.1.8", "mean", 4, "1:0", 3), "");
    let above = |process, hours| {
        taken("href_probability", "7:0.1.8", "probability:above:12.7", process, "1:0", hours)
    };
    assert_eq!(above(194, 3), "precipitation_3h_above_12_7");
    assert_eq!(above(194, 24), "precipitation_24h_above_12_7");
    assert_eq!(above(4, 3), "");
}

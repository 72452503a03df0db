//! `tests/vectors/units.json` and `docs/units.md` against the Rust library.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use mesonet::observation::to_canonical;
use mesonet::unit::{Conversion, Dimension, Resolution, UnitError, Vocabulary};
use mesonet::{Unit, Variable};
use serde_json::Value;

use super::{list, number, text};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package has a parent").to_owned()
}

/// Returns a symbol; for dimensionless numbers, whose symbol is empty, "1".
fn symbol(unit: Unit) -> &'static str {
    if unit == Unit::One { "1" } else { unit.symbol() }
}

fn unit(value: &Value) -> Unit {
    let wanted = value.as_str().unwrap();
    Unit::ALL.iter().copied().find(|&unit| symbol(unit) == wanted).unwrap()
}

fn vocabulary(case: &Value) -> Option<Vocabulary> {
    case["vocabulary"].as_str().map(|name| name.parse().unwrap())
}

#[track_caller]
fn assert_close(got: f64, case: &Value, tolerance: f64) {
    let wanted = number(&case["expected"]);
    let equal = got.to_bits() == wanted.to_bits() || got == wanted && got != 0.0;
    let close = (got - wanted).abs() <= tolerance && (tolerance > 0.0 || got == 0.0);
    assert!(equal || close || got.is_nan() && wanted.is_nan(), "got {got}: {case}");
}

fn assert_converts(case: &Value, between: fn(Unit, Unit) -> Result<Conversion, UnitError>) {
    let conversion = between(unit(&case["from"]), unit(&case["to"])).unwrap();
    let (value, tolerance) = (number(&case["value"]), number(&case["tolerance"]));
    assert_close(conversion.apply(value), case, tolerance);
    // Nine, so that a vector loop and its remainder both run.
    let (values, mut out) = ([value; 9], [0.0; 9]);
    conversion.apply_into(&values, &mut out).unwrap();
    let mut in_place = values;
    conversion.apply_in_place(&mut in_place);
    for got in out.into_iter().chain(in_place) {
        assert_close(got, case, tolerance);
    }
    let mut singles = [value as f32; 9];
    conversion.apply_in_place(&mut singles);
    let wanted = number(&case["expected"]) as f32;
    for got in singles {
        let near = (got - wanted).abs() <= wanted.abs() * 2.0 * f32::EPSILON + 1e-5;
        let same = got.to_bits() == wanted.to_bits() || got.is_nan() && wanted.is_nan();
        assert!(same || near, "got {got} in f32: {case}");
    }
}

#[test]
fn units() {
    let file = fs::read_to_string(root().join("tests/vectors/units.json")).unwrap();
    let file: Value = serde_json::from_str(&file).unwrap();
    let mut ran = 0;
    for case in list(&file, "conversions") {
        assert_converts(case, Conversion::between);
        assert_converts(case, Conversion::of_liquid_water);
        ran += 1;
    }
    for case in list(&file, "liquid_water") {
        assert_converts(case, Conversion::of_liquid_water);
        ran += 1;
    }
    for case in list(&file, "refused") {
        let error = Conversion::between(unit(&case["from"]), unit(&case["to"])).unwrap_err();
        assert_eq!(error.to_string(), text(case, "message"), "{case}");
        ran += 1;
    }
    for case in list(&file, "resolutions") {
        let got = Unit::resolve(text(case, "text"), vocabulary(case));
        match got {
            Resolution::Exact(unit) => assert_eq!(symbol(unit), case["exact"], "{case}"),
            Resolution::Ambiguous(units) => {
                let units: Vec<_> = units.iter().map(|&unit| symbol(unit)).collect();
                assert_eq!(Value::from(units), case["ambiguous"], "{case}");
            }
            Resolution::Unknown => assert_eq!(case["unknown"], true, "{case}"),
        }
        ran += 1;
    }
    for case in list(&file, "canonical") {
        let variable: Variable = text(case, "variable").parse().unwrap();
        let (value, reported) = (number(&case["value"]), text(case, "unit"));
        let (stored, stored_unit) = to_canonical(variable, value, reported, vocabulary(case));
        assert_close(stored, case, 0.0);
        assert_eq!(stored_unit, text(case, "expectedUnit"), "{case}");
        ran += 1;
    }
    assert_eq!(ran, file["cases"].as_u64().unwrap(), "cases run, cases in the file");
}

/// Compares the tables of `docs/units.md` with those of the library. `MESONET_WRITE_DOCS=1` writes
/// them to the file.
#[test]
fn the_document_of_units_has_the_tables_of_the_code() {
    let path = root().join("docs/units.md");
    let mut document = fs::read_to_string(&path).unwrap();
    for (name, table) in [
        ("variables", variables()),
        ("units", sizes()),
        ("aliases", aliases()),
        ("ambiguous", ambiguous()),
    ] {
        let (start, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->\n"));
        let from = document.find(&start).expect("the mark of the table") + start.len();
        let to = document.find(&end).expect("the mark of the table's end");
        if std::env::var_os("MESONET_WRITE_DOCS").is_some() {
            document.replace_range(from..to, &table);
            fs::write(&path, &document).unwrap();
        } else {
            let same = document[from..to] == table;
            assert!(same, "{name} in docs/units.md is not that of the code; it should be\n{table}");
        }
    }
}

fn variables() -> String {
    let mut table = String::from("| Unit | Variables |\n| --- | --- |\n");
    let mut units: Vec<Unit> = Vec::new();
    for variable in Variable::ALL {
        if !units.contains(&variable.unit()) {
            units.push(variable.unit());
        }
    }
    for unit in units {
        let of_unit = Variable::ALL.iter().filter(|variable| variable.unit() == unit);
        let names: Vec<_> = of_unit.map(|variable| variable.name()).collect();
        let symbol = if unit == Unit::One { "(none)" } else { unit.symbol() };
        writeln!(table, "| {symbol} | {} |", names.join(", ")).unwrap();
    }
    table
}

fn sizes() -> String {
    let mut table = String::new();
    let mut last: Option<Dimension> = None;
    for &unit in Unit::ALL {
        let dimension = unit.dimension();
        if last != Some(dimension) {
            let title = if last.is_none() { "" } else { "\n" };
            write!(table, "{title}**{dimension}**, in {}\n\n", dimension.base()).unwrap();
            table.push_str("| Symbol | Unit | Size | Definition |\n| --- | --- | --- | --- |\n");
            last = Some(dimension);
        }
        let (num, den) = unit.size();
        let mut size = if den == 1 { num.to_string() } else { format!("{num}/{den}") };
        if unit == Unit::Radian {
            size.push_str("/π");
        }
        if unit.zero() != 0.0 {
            write!(size, ", from {}", unit.zero()).unwrap();
        }
        let (symbol, name, definition) = (symbol(unit), unit.name(), unit.definition());
        writeln!(table, "| {symbol} | {name} | {size} | {definition} |").unwrap();
    }
    table
}

fn aliases() -> String {
    let mut table = String::from("| Unit |");
    for vocabulary in Vocabulary::ALL {
        write!(table, " {} |", vocabulary.name()).unwrap();
    }
    table.push_str("\n| --- | --- | --- | --- | --- | --- | --- |\n");
    for &unit in Unit::ALL {
        write!(table, "| {} |", symbol(unit)).unwrap();
        for vocabulary in Vocabulary::ALL {
            let texts: Vec<_> = unit.aliases(vocabulary).map(|text| format!("`{text}`")).collect();
            write!(table, " {} |", texts.join(" ")).unwrap();
        }
        table.push('\n');
    }
    table
}

fn ambiguous() -> String {
    let mut table = String::from(
        "| Text | May be | Ambiguous within | Clear in |\n| --- | --- | --- | --- |\n",
    );
    for (text, units) in Unit::ambiguous_texts() {
        let units: Vec<_> = units.iter().map(|&unit| symbol(unit)).collect();
        let (mut within, mut clear) = (Vec::new(), Vec::new());
        for vocabulary in Vocabulary::ALL {
            match Unit::resolve(text, Some(vocabulary)) {
                Resolution::Ambiguous(_) => within.push(vocabulary.name().to_owned()),
                Resolution::Exact(unit) => {
                    clear.push(format!("{}: {}", vocabulary.name(), symbol(unit)));
                }
                Resolution::Unknown => {}
            }
        }
        let (units, within, clear) = (units.join(", "), within.join(", "), clear.join(", "));
        writeln!(table, "| `{text}` | {units} | {within} | {clear} |").unwrap();
    }
    table
}

use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;

use super::*;
use crate::grib;

fn file(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
    let mut bytes = Vec::new();
    GzDecoder::new(File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
    bytes
}

fn entry(fields: &str) -> String {
    format!("[own]\ntitle = \"t\"\nunit = \"K\"\nscale = 0.1\nfields = [{fields}]\n")
}

#[test]
fn the_catalogue_that_ships_is_whole() {
    let catalogue = RasterCatalogue::default();
    assert_eq!(catalogue.iter().count(), 9);
    let mut named = Vec::new();
    for product in catalogue.iter() {
        assert!(product.encoding().decode(32767) > 30.0, "{}", product.name());
        for rule in product.fields() {
            named.push((rule.parameter, rule.duration));
        }
    }
    let all = named.len();
    named.sort_unstable();
    named.dedup();
    assert_eq!((named.len(), all), (25, 25), "no field is of two products");
}

#[test]
fn durations_are_those_of_the_fields_shortest_first() {
    let catalogue = RasterCatalogue::default();
    let names = |name| -> Vec<String> {
        let durations = catalogue.get(name).unwrap().durations();
        durations
            .iter()
            .map(|span| span.map_or("instant".into(), |span| span.to_string()))
            .collect()
    };
    assert_eq!(names("hailSize"), ["instant", "30min", "1h", "2h", "4h", "6h", "24h"]);
    assert_eq!(names("reflectivity"), ["instant"]);
    assert_eq!(names("lightningDensity"), ["1min", "5min", "15min", "30min"]);
}

#[test]
fn a_field_is_found_by_its_parameter() {
    let sample = "server-example/sample/\
                  mrms_20230406T120039Z_reflectivity_at_lowest_altitude.grib2.gz";
    let bytes = file(sample);
    let field = grib::fields(&bytes).next().unwrap().unwrap();
    let catalogue = RasterCatalogue::default();
    let found = catalogue.products_of(&field).unwrap();
    let found: Vec<_> = found.iter().map(|(product, span)| (product.name(), *span)).collect();
    assert_eq!(found, [("reflectivity", None)]);
}

#[test]
fn an_echo_and_none_have_no_mean() {
    let entry = |parameter: &str, overviews: &str| {
        RasterCatalogue::from_toml(&format!(
            "[radar]\ntitle = \"x\"\nunit = \"dBZ\"\nscale = 0.1\noverviews = \"{overviews}\"\n\
             fields = [{{ parameter = \"{parameter}\" }}]"
        ))
    };
    let error = entry("161:209.3.57", "average").unwrap_err().to_string();
    assert!(
        error.ends_with("overviews must be max or nearest where \"no echo\" is a value"),
        "{error}"
    );
    let radar = entry("161:209.3.57", "max").unwrap();
    assert_eq!(radar.get("radar").unwrap().no_echo(), Some(-99.0));
    let rain = entry("161:209.6.2", "average").unwrap();
    assert_eq!(rain.get("radar").unwrap().no_echo(), None);
}

#[test]
fn level_and_interval_count_if_they_are_stated() {
    // The least relative humidity at 2 m over 12 hours.
    let bytes = file("tests/data/grib/ndfd_20231102T11Z_minrh_scan80.grib2.gz");
    let field = grib::fields(&bytes).next().unwrap().unwrap();
    let durations = |fields: &str| -> Vec<String> {
        let catalogue = RasterCatalogue::from_toml(&entry(fields)).unwrap();
        let found = catalogue.products_of(&field).unwrap();
        found.iter().map(|(_, span)| span.unwrap().to_string()).collect()
    };
    let parameter = "parameter = \"8:0.1.198\"";
    assert_eq!(durations(&format!("{{ {parameter}, duration = \"12h\" }}")), ["12h"]);
    assert_eq!(durations(&format!("{{ {parameter}, duration = \"6h\" }}")), [""; 0]);
    assert_eq!(durations(&format!("{{ {parameter} }}")), [""; 0]);
    let at = |level| format!("{{ {parameter}, duration = \"12h\", level = \"{level}\" }}");
    assert_eq!(durations(&at("103:2")), ["12h"]);
    assert_eq!(durations(&at("103:10")), [""; 0]);
}

#[test]
fn own_entries_override_those_that_ship() {
    let own = "without = [\"echoTop\"]\n[hailSize]\ntitle = \"Hail\"\nunit = \"cm\"\nscale = 0.01\n\
               fields = [{ parameter = \"161:209.3.28\" }]\n";
    let catalogue = RasterCatalogue::from_toml(own).unwrap();
    assert_eq!(catalogue.get("echoTop"), None);
    let hail = catalogue.get("hailSize").unwrap();
    assert_eq!((hail.unit(), hail.durations()), ("cm", vec![None]));
    assert_eq!(hail.overviews(), Resampling::Average);
    assert!(catalogue.get("reflectivity").is_some());
}

#[test]
fn files_are_kept_for_ever_unless_the_catalogue_says_how_long() {
    let day_ms = 86_400_000;
    for product in RasterCatalogue::default().iter() {
        let spans: Vec<_> = product.durations().iter().map(|span| product.keep_ms(*span)).collect();
        assert!(spans.iter().all(Option::is_none) && product.keep_bytes().is_none());
    }
    let two = "{ parameter = \"1:2.3.4\" }, { parameter = \"1:2.3.5\", duration = \"60min\" }";
    let kept = |keep: &str| -> (Vec<Option<i64>>, Option<u64>) {
        let catalogue = RasterCatalogue::from_toml(&format!("{}{keep}\n", entry(two))).unwrap();
        let own = catalogue.get("own").unwrap();
        (own.durations().iter().map(|span| own.keep_ms(*span)).collect(), own.keep_bytes())
    };
    assert_eq!(kept("keep = \"3d\""), (vec![Some(3 * day_ms); 2], None));
    assert_eq!(kept("keep = { 1h = \"400d\" }"), (vec![None, Some(400 * day_ms)], None));
    let each = "keep = { instant = \"12h\", \"60min\" = \"1d\" }\nkeep_bytes = 0";
    assert_eq!(kept(each), (vec![Some(day_ms / 2), Some(day_ms)], Some(0)));
    for (keep, expected) in [
        ("keep = \"3\"", "line 1 in [own] of the products: keep: \"3\" is not a span"),
        ("keep = \"0d\"", "keep: \"0d\" is not a span; allowed is a positive whole number"),
        ("keep = \"-1d\"", "keep: \"-1d\" is not a span"),
        ("keep = 3", "keep must be a span, for example \"7d\", or a table of spans by duration"),
        ("keep = { 1h = 3 }", "keep must be a span, for example \"7d\", or a table of spans by"),
        (
            "keep = { 2h = \"3d\" }",
            "keep names the duration 2h; those of the product are instant, 1h",
        ),
        (
            "keep = { a = \"3d\" }",
            "keep names the duration a; those of the product are instant, 1h",
        ),
        ("keep = { 1h = \"3\" }", "keep: \"3\" is not a span"),
        ("keep = { 1h = \"3d\", 60min = \"4d\" }", "keep names the duration 1h twice"),
        ("keep_bytes = -1", "line 6 in [own] of the products: invalid value: integer `-1`"),
        ("keep_runs = 3", "unknown field `keep_runs`"),
    ] {
        let text = format!("{}{keep}\n", entry(two));
        let error = RasterCatalogue::from_toml(&text).unwrap_err().to_string();
        assert!(error.contains(expected), "{keep}: {error}");
    }
}

#[test]
fn entries_that_make_no_sense_are_refused() {
    let good = entry("{ parameter = \"1:2.3.4\" }");
    let refusal = |text: &str| RasterCatalogue::from_toml(text).unwrap_err().to_string();
    assert!(RasterCatalogue::from_toml(&good).is_ok());
    for (from, to, expected) in [
        (
            "own",
            "\"a/b\"",
            "line 1 in [a/b] of the products: a type must be 1 to 64 letters, digits, - or _",
        ),
        (
            "scale = 0.1",
            "scale = 0",
            "line 1 in [own] of the products: scale must be above 0; got 0",
        ),
        (
            "scale = 0.1",
            "scale = inf",
            "line 1 in [own] of the products: scale must be finite and not 0; got inf",
        ),
        (
            "\"K\"",
            "\"K\\n\"",
            "line 1 in [own] of the products: unit must be up to 200 bytes without control \
          characters",
        ),
        (
            "{ parameter = \"1:2.3.4\" }",
            "",
            "line 1 in [own] of the products: 0 fields; allowed: 1 to 1000",
        ),
    ] {
        assert_eq!(refusal(&good.replace(from, to)), expected);
    }
    assert_eq!(
        refusal("without = [\"snow\"]"),
        "snow of the products: unknown product in \"without\""
    );
    for (text, part) in [
        ("[own", "line 1 of the products"),
        (&*good.replace("1:2.3.4", "1.2.3.4"), "invalid parameter \"1.2.3.4\": it must be"),
        (&*good.replace("title", "titel"), "titel"),
        (&*entry("{ parameter = \"1:2.3.4\", duration = \"1m\" }"), "invalid duration \"1m\""),
        (&*entry("{ parameter = \"1:2.3.4\", level = \"x\" }"), "invalid level \"x\""),
    ] {
        let refusal = refusal(text);
        assert!(refusal.contains(part), "{refusal}");
    }
}

use super::*;
use crate::access::Plan;
use crate::grib;
use crate::time::HOUR_MS;

const START_MS: i64 = 1_537_142_400_000;

fn catalogue(text: &str) -> Result<Catalogue, String> {
    Catalogue::from_toml(text).map_err(|error| error.to_string())
}

fn caller(plan: Plan) -> ModelCaller {
    ModelCaller { plan, organisations: Vec::new() }
}

fn field(
    level: &str,
    valid_h: i64,
    statistic: Option<u8>,
    interval_h: i64,
) -> grib::ProductSection {
    grib::ProductSection {
        template: 0,
        kind: grib::FieldKind::Deterministic,
        process: 2,
        constituent: None,
        level: level.parse().unwrap(),
        second_level: None,
        valid_ms: START_MS + valid_h * HOUR_MS,
        statistic,
        interval_ms: interval_h * HOUR_MS,
        rest: 0,
    }
}

#[test]
fn the_catalogue_that_ships_has_the_sources_of_the_sample_open_to_everyone() {
    let catalogue = Catalogue::default();
    let names: Vec<&str> = catalogue.iter().map(Source::name).collect();
    assert_eq!(
        names.join(" "),
        "aifs arome arpege ecmwf ecmwf_ens gdps gefs gefs_mean geps gfs gfs_0p50 hrdpa hrdps href \
         href_probability hrrr hrrr_pressure icon_d2 icon_eu mrms nam nam211 nam_alaska nam_conus \
         nam_hawaii nam_puerto_rico nbm ndfd rap rap_pressure rdpa rdps reps rtma rtma_precipitation \
         safrica urma"
    );
    for name in ["nam211", "safrica"] {
        assert!(catalogue.get(name).unwrap().access().is_open());
    }
    assert_eq!(catalogue.get("mrms").unwrap().access().plan, Plan::Pro);
    assert_eq!(catalogue.get("hrrr").unwrap().access().plan, Plan::Free);
}

#[test]
fn a_table_overrides_that_of_the_same_name_and_some_can_be_left_out() {
    let text = r#"
        without = ["mrms"]
        [nam211]
        title = "mine"
        products = [{ name = "t", unit = "K", scale = 0.1, parameter = "7:0.0.0", level = "1" }]
    "#;
    let catalogue = catalogue(text).unwrap();
    assert!(catalogue.get("mrms").is_none() && catalogue.get("hrrr").is_some());
    let source = catalogue.get("nam211").unwrap();
    assert_eq!((source.title(), source.products().len(), source.keep_runs()), ("mine", 1, 8));
    // A source that does not state its access needs an account.
    assert_eq!(source.access().plan, Plan::Free);
}

#[test]
fn what_makes_no_sense_is_refused_with_its_place_and_what_is_allowed() {
    let product = |more: &str| {
        format!(
            "[m]\ntitle = \"m\"\nproducts = [{{ name = \"t\", unit = \"K\", scale = 0.1, parameter = \
             \"7:0.0.0\", level = \"100\"{more} }}]"
        )
    };
    for (text, reason) in [
        ("[m", "line 1 of the models: "),
        ("\n[m]\ntitel = \"m\"", "line 3 in [m] of the models: unknown field `titel`"),
        ("[a]\ntitle = \"a\"\nproducts = [\n  { name = 1 },\n]", "line 4 in [a] of the models: "),
        ("without = [\"x\"]", "x of the models: unknown source in \"without\""),
        (
            "[m]\ntitle = \"m\"\nproducts = []",
            "line 1 in [m] of the models: 0 products; allowed: 1 to 1024",
        ),
        (&product("").replace("[m]", "[coverage]"), "this name is part of a path of the service"),
        (&product("").replace("[m]", "[\"a/b\"]"), "invalid model name \"a/b\""),
        (&product("").replace("0.1", "0"), "product t: scale must be above 0; got 0"),
        (&product("").replace("\"t\"", "\"../t\""), "invalid product name \"../t\""),
        (&product("").replace("\"t\"", "\"valid_time\""), "is the name of a coordinate"),
        (&product("").replace("7:0.0.0", "7"), "invalid parameter \"7\""),
        (&product(", interval = \"0h\""), "invalid interval \"0h\": it must be"),
        (&product(", statistic = \"average\""), "product t: a statistic needs an interval"),
        (&product(", levels_hpa = [-1]"), "must be pressures"),
        (
            &product(", levels_hpa = [850]").replace("\"100\"", "\"1\""),
            "product t: levels_hpa is only allowed with level = \"100\"",
        ),
        (&format!("{}\nhours = \"0-3\"", product("")), "product t needs levels_hpa"),
        (&format!("{}\nhours = \"x\"", product("")), "data did not match"),
        (&format!("{}\nkeep_runs = 0", product("")), "keep_runs must be 1 or more; got 0"),
        (
            &format!("{}\nwinds = [[\"t\", \"v\"]]", product("")),
            "winds names v, which is not a product",
        ),
    ] {
        let error = catalogue(text).unwrap_err();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn a_field_is_recognised_by_parameter_level_and_interval() {
    let catalogue = Catalogue::default();
    let source = catalogue.get("hrrr").unwrap();
    let of = |parameter: &str, field: &grib::ProductSection| -> Vec<&str> {
        let parameter = parameter.parse().unwrap();
        let is_of = |product: &&SourceProduct| product.is_of(parameter, field, START_MS);
        source.products().iter().filter(is_of).map(SourceProduct::name).collect()
    };
    assert_eq!(of("7:0.0.0", &field("103:2", 1, None, 0)), ["temperature_2m"]);
    assert_eq!(of("7:0.0.0", &field("103:3", 1, None, 0)), [""; 0]);
    assert_eq!(of("54:0.0.0", &field("103:2", 1, None, 0)), [""; 0]);
    // A maximum over an hour is not an instantaneous temperature.
    assert_eq!(of("7:0.0.0", &field("103:2", 1, Some(2), 1)), [""; 0]);
    assert_eq!(of("7:0.1.8", &field("1:0", 12, Some(1), 12)), ["precipitation"]);
    assert_eq!(of("7:0.1.8", &field("1:0", 12, Some(1), 1)), ["precipitation_1h"]);
    assert_eq!(of("7:0.1.8", &field("1:0", 1, Some(1), 1)), ["precipitation", "precipitation_1h"]);
    assert_eq!(of("7:0.1.8", &field("1:0", 12, Some(0), 12)), [""; 0]);
}

#[test]
fn a_pressure_level_is_a_surface_not_a_layer() {
    let catalogue = Catalogue::default();
    let product = catalogue.get("nam211").unwrap().product("temperature").unwrap();
    let parameter = "7:0.0.0".parse().unwrap();
    let mut field = field("100:50000", 0, None, 0);
    assert!(product.has_levels() && product.is_of(parameter, &field, START_MS));
    field.second_level = Some(grib::Level { kind: 100, value: Some(40_000.0) });
    assert!(!product.is_of(parameter, &field, START_MS));
}

#[test]
fn levels_are_from_the_ground_up() {
    let catalogue = Catalogue::default();
    let levels = catalogue.get("gfs").unwrap().product("u_wind").unwrap().levels_hpa().unwrap();
    assert_eq!((levels.len(), levels[0], levels[25]), (26, 1000.0, 10.0));
}

#[test]
fn a_wind_has_two_components() {
    let catalogue = Catalogue::default();
    let source = catalogue.get("hrrr").unwrap();
    let both = ["u_wind_10m", "v_wind_10m"];
    assert_eq!(source.wind_of("u_wind_10m"), Some((WindComponent::U, both)));
    assert_eq!(source.wind_of("v_wind_10m"), Some((WindComponent::V, both)));
    assert_eq!(source.wind_of("visibility"), None);
}

#[test]
fn a_rule_of_a_product_holds_for_tiles_and_series_and_not_for_points() {
    let catalogue = Catalogue::default();
    let source = catalogue.get("nam211").unwrap();
    let may = |plan, use_, product| source.allows(&caller(plan), use_, [product]);
    for use_ in [ModelUse::Tiles, ModelUse::Series] {
        assert_eq!(may(Plan::None, use_, "temperature"), Ok(()));
        assert_eq!(may(Plan::None, use_, "lifted_index"), Err(access::Refusal::Anonymous));
        assert_eq!(may(Plan::Free, use_, "lifted_index"), Ok(()));
    }
    assert_eq!(may(Plan::None, ModelUse::Point, "lifted_index"), Ok(()));
    let radar = catalogue.get("mrms").unwrap();
    let refused = radar.allows(&caller(Plan::Free), ModelUse::Listing, []);
    assert_eq!(refused, Err(access::Refusal::Lacking));
}

#[test]
fn capabilities_have_each_source_and_each_product_with_a_rule_of_its_own() {
    let text = r#"
        without = ["*"]
        [mrms]
        title = "radar"
        access = { plan = "pro" }
        products = [{ name = "x", unit = "1", scale = 1.0, parameter = "161:209.3.57", level = "102" }]
        [closed]
        title = "closed"
        access = { plan = "free", organisations = ["acme"] }
        products = [{ name = "x", unit = "1", scale = 1.0, parameter = "7:0.0.0", level = "1", tiles_and_series = { plan = "pro" } }]
    "#;
    let catalogue = catalogue(text).unwrap();
    let member = ModelCaller { plan: Plan::Free, organisations: vec!["acme".to_owned()] };
    let shown = catalogue.capabilities(&member, BTreeMap::from([("maxValues", Some(5))]));
    assert_eq!(
        serde_json::to_string(&shown).unwrap(),
        r#"{"products":{"models.closed":{"allowed":true,"requires":"free","requiresStanding":"organization"},"models.closed.x":{"allowed":false,"requires":"pro","requiresStanding":"none"},"models.mrms":{"allowed":false,"requires":"pro","requiresStanding":"none"}},"limits":{"maxValues":5}}"#
    );
}

use super::*;

#[track_caller]
fn refused(text: &str) -> String {
    Config::from_toml(text).unwrap_err().to_string()
}

#[test]
fn the_default_limits_are_read_and_each_has_a_source() {
    let config = Config::default();
    assert!(!config.range.is_empty() && !config.step.is_empty() && !config.neighbours.is_empty());
    assert!(!config.value.source.is_empty());
    assert!(config.range.values().all(|limits| !limits.source.is_empty()));
    assert!(config.step.values().all(|limits| !limits.source.is_empty()));
    assert!(config.persistence.values().all(|limits| !limits.source.is_empty()));
    assert_eq!(Config::from_toml("").unwrap(), config);
}

#[test]
fn an_entry_replaces_the_one_of_its_name_and_no_other() {
    let text = "[step.mslp]\ndirectional = false\ndoubtful = { hours = [1], limits = [5] }\nsource = \"own\"\n";
    let (changed, shipped) = (Config::from_toml(text).unwrap(), Config::default());
    let step = &changed.step[&Variable::Mslp];
    assert_eq!(
        (step.directional, &step.instrumentation, step.source.as_str()),
        (false, &None, "own")
    );
    assert_eq!(
        changed.step[&Variable::RelativeHumidity],
        shipped.step[&Variable::RelativeHumidity]
    );
    assert_eq!(changed.range, shipped.range);
    assert_eq!(changed.consistency, shipped.consistency);
}

#[test]
fn entries_can_be_left_out() {
    let text = "without = [\"range.airTemperature\", \"consistency.calmWind\"]";
    let config = Config::from_toml(text).unwrap();
    assert!(!config.range.contains_key(&Variable::AirTemperature));
    assert!(config.consistency.calm_wind.is_none());
    assert!(config.consistency.wind_gust.is_some());
    assert_eq!(
        refused("\nwithout = [\n  \"range.airTemperature\",\n  \"range.nothing\"]"),
        "line 4 of the limits: \"range.nothing\" is not an entry that can be left out; allowed are \
         those of the limits that ship, for example step.airTemperature"
    );
}

#[test]
fn each_default_entry_can_be_left_out() {
    let shipped: toml::Table = DEFAULT_LIMITS_TOML.parse().unwrap();
    let mut entries = 0;
    for (section, limits) in shipped.iter().filter(|(section, _)| *section != "value") {
        for entry in limits.as_table().unwrap().keys() {
            let name = format!("{section}.{entry}");
            let without = Config::from_toml(&format!("without = [\"{name}\"]")).unwrap();
            assert_ne!(without, Config::default(), "{name}");
            // It is gone, so it cannot be left out again.
            let twice = refused(&format!("without = [\"{name}\", \"{name}\"]"));
            assert!(twice.contains(&format!("\"{name}\" is not an entry")), "{twice}");
            entries += 1;
        }
    }
    assert!(entries > 60, "{entries}");
}

#[test]
fn nonsense_is_refused_with_its_line() {
    let range = |bands: &str| {
        refused(&format!("# own\n[range.airTemperature]\nalways = {bands}\nsource = \"own\"\n"))
    };
    assert_eq!(
        range("{ doubtful = [40, -40] }"),
        "line 3 of the limits: the lower bound must be below the upper; got [40, -40]"
    );
    assert_eq!(
        range("{ doubtful = [-50, 50], error = [-40, 60] }"),
        "line 3 of the limits: the error bounds must not lie inside the doubtful ones; got error \
         [-40, 60] and doubtful [-50, 50]"
    );
    assert_eq!(
        range("{ error = [nan, 60] }"),
        "line 3 of the limits: a bound must be a number; got [NaN, 60]"
    );
    assert_eq!(range("{ }"), "line 3 of the limits: a band must have doubtful or error bounds");
    assert!(range("{ wrong = [1, 2] }").starts_with("line 3 of the limits: unknown field `wrong`"));
    assert!(range("{ error = [1] }").starts_with("line 3 of the limits: invalid length 1"));
}

#[test]
fn unknown_names_are_refused_with_those_that_are_allowed() {
    assert!(refused("\n[range.airTemperatur]\nsource = \"own\"\n").starts_with(
        "line 2 of the limits: \"airTemperatur\" is not a variable name; allowed are \
             airTemperature, "
    ));
    assert!(refused("[ranges.mslp]\n").starts_with("line 1 of the limits: unknown field `ranges`"));
    assert!(
        refused("[consistency.dewpoint]\nlimit = 1\n").starts_with(
            "line 1 of the limits: unknown field `dewpoint`, expected one of `dewPoint`"
        )
    );
    assert!(refused("x = = 1").starts_with("line 1 of the limits: "));
}

#[test]
fn a_limit_without_a_source_is_refused() {
    let message = refused("[record.mslp]\nbounds = [870, 1083.3]\n");
    assert_eq!(message, "line 1 of the limits: missing field `source`");
}

#[test]
fn spans_and_curves_that_make_no_sense_are_refused() {
    let step = |curve: &str| {
        refused(&format!("[step.mslp]\ndirectional = true\ndoubtful = {curve}\nsource = \"own\"\n"))
    };
    assert_eq!(
        step("{ hours = [-1], limits = [3] }"),
        "line 3 of the limits: hours must be more than 0 and at most 8784; got -1"
    );
    assert_eq!(
        step("{ hours = [nan], limits = [3] }"),
        "line 3 of the limits: hours must be more than 0 and at most 8784; got NaN"
    );
    assert_eq!(
        step("{ hours = [1], limits = [-3] }"),
        "line 3 of the limits: a limit must be a finite number that is not negative; got -3"
    );
    assert_eq!(
        step("{ hours = [1, 2], limits = [3] }"),
        "line 3 of the limits: hours and limits must have the same length, at least 1; got 2 and 1"
    );
    assert_eq!(
        step("{ hours = [2, 1], limits = [3, 4] }"),
        "line 3 of the limits: hours must increase, and limits must not decrease"
    );
}

#[test]
fn persistence_and_neighbours_that_make_no_sense_are_refused() {
    let persistence = |rest: &str| {
        refused(&format!("[persistence.mslp]\nsource = \"own\"\nwindow_hours = 24\n{rest}"))
    };
    let row = "resolution = [{ step = 1, repeats = 10, hours = 10 }]\n";
    assert!(persistence("resolution = []").ends_with("resolution must have at least one row"));
    assert!(
        persistence("resolution = [{ step = 1, repeats = 10, hours = 25 }]")
            .ends_with("window_hours must not be less than the hours of a resolution")
    );
    assert!(
        persistence("resolution = [{ step = 0, repeats = 10, hours = 5 }]")
            .ends_with("a step must be more than 0 and repeats at least 2; got 0 and 10")
    );
    assert!(
        persistence(&format!("{row}exempt_to = 5\nexempt_from = 4"))
            .ends_with("exempt_to must be below exempt_from; got 5 and 4")
    );
    assert!(persistence(&format!("{row}exempt_to = nan")).contains("exempt_to must be below"));
    let neighbours = |rest: &str| {
        refused(&format!(
            "[neighbours.mslp]\nsource = \"own\"\ndeviation = 1\nvariance_per_km = 1\nkm_per_m = 0\n\
             change_per_hour = 1\nbeside_hours = 1\nthreshold = 4\n{rest}"
        ))
    };
    for (nearest, at_least) in [(10, 1), (3, 4), (21, 4)] {
        let text = format!(
            "radius_km = 10\nbetween_hours = 2\nnearest = {nearest}\nat_least = {at_least}"
        );
        assert!(neighbours(&text).ends_with(&format!(
            "at_least must be 2 or more, and nearest from at_least to 20; got {at_least} and {nearest}"
        )));
    }
    let enough = "nearest = 10\nat_least = 4";
    for radius_km in [0, 10_001] {
        assert!(neighbours(&format!("radius_km = {radius_km}\nbetween_hours = 2\n{enough}")).ends_with(
            "radius_km, deviation and threshold must be more than 0, and radius_km at most 10000"
        ));
    }
    assert!(
        neighbours(&format!("radius_km = 100\nbetween_hours = 25\n{enough}"))
            .ends_with("between_hours and beside_hours must be at most 24")
    );
}

#[test]
fn a_curve_is_flat_interpolated_and_ends() {
    let limits = &Config::default().step[&Variable::AirTemperature];
    let curve = limits.instrumentation.as_ref().unwrap();
    let at = |minutes: i64| curve.at(minutes * crate::time::MINUTE_MS);
    assert_eq!((at(1), at(60)), (Some(19.4), Some(19.4)));
    assert_eq!((at(90), at(120)), (Some(20.9), Some(22.4)));
    assert_eq!((at(180), at(360)), (Some(24.4), Some(30.4)));
    assert_eq!((at(540), at(720)), (Some(35.4), Some(40.4)));
    assert_eq!(at(721), None);
}

#[test]
fn a_lone_carriage_return_is_refused_with_a_reason() {
    assert_eq!(
        Config::from_toml("\r").unwrap_err().to_string(),
        "line 1 of the limits: carriage return must be followed by newline, expected newline"
    );
}

//! Checks the `.prj` of a shapefile.

/// Longest text that is accepted, in bytes.
const MAX_BYTES: usize = 1 << 16;

/// One degree in radians, as rounded in such texts.
const DEGREE: f64 = 0.017_453_292_5;

/// Names by ESRI and OGC of the datums whose longitudes and latitudes are used as they are. NAD 83
/// is within about two metres of WGS 84.
const DATUMS: [&str; 7] = [
    "WGS_1984",
    "WGS84",
    "World_Geodetic_System_1984",
    "North_American_1983",
    "North_American_Datum_1983",
    "North_American_1983_CSRS",
    "NAD83_Canadian_Spatial_Reference_System",
];

/// The error for an unsupported coordinate system.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the .prj of a shapefile must define geographic coordinates in degrees from Greenwich on WGS 84 \
     or NAD 83; got {0}"
)]
pub struct ProjectionError(pub String);

/// Checks that a `.prj` (well-known text) defines longitudes and latitudes on WGS 84 or NAD 83.
pub(super) fn check(prj: &str) -> Result<(), ProjectionError> {
    let prj = prj.trim_start_matches('\u{feff}').trim();
    let refuse = |got: String| Err(ProjectionError(got));
    if prj.len() > MAX_BYTES {
        return refuse(format!("{} bytes", prj.len()));
    }
    if !prj.starts_with("GEOGCS[") {
        return refuse(match prj.split_once(',') {
            _ if prj.is_empty() => "nothing".to_owned(),
            Some((system, _)) => format!("{system}]"),
            None => format!("\"{}\"", prj.chars().take(60).collect::<String>()),
        });
    }
    let datum = member(prj, "DATUM").map_or("", |(name, _)| name);
    if !DATUMS.contains(&datum.strip_prefix("D_").unwrap_or(datum)) {
        return refuse(format!("DATUM[\"{datum}\"]"));
    }
    let number = |keyword| member(prj, keyword).and_then(|(_, number)| number);
    if number("PRIMEM").is_some_and(|degrees| degrees != 0.0) {
        return refuse(format!("PRIMEM {}", number("PRIMEM").unwrap_or_default()));
    }
    match number("UNIT") {
        Some(radians) if (radians - DEGREE).abs() < 1e-9 => Ok(()),
        Some(radians) => refuse(format!("UNIT {radians}")),
        None => refuse("no UNIT".to_owned()),
    }
}

/// Returns the name and the first number of `KEYWORD["name",number…`.
fn member<'a>(prj: &'a str, keyword: &str) -> Option<(&'a str, Option<f64>)> {
    let (_, rest) = prj.split_once(&format!("{keyword}[\""))?;
    let (name, rest) = rest.split_once('"')?;
    let number = rest
        .trim_start()
        .strip_prefix(',')
        .and_then(|rest| rest.split([',', ']']).next()?.trim().parse().ok());
    Some((name, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAD_83: &str = r#"GEOGCS["GCS_North_American_1983",DATUM["D_North_American_1983",SPHEROID["GRS_1980",6378137.0,298.257222101]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]"#;

    #[test]
    fn longitudes_and_latitudes_on_wgs_84_and_nad_83_are_read() {
        let csrs = NAD_83.replace("D_North_American_1983", "D_North_American_1983_CSRS");
        let wgs = NAD_83.replace("D_North_American_1983", "WGS_1984");
        for good in [NAD_83, &csrs, &wgs, &format!("\u{feff}{NAD_83}\n")] {
            assert_eq!(check(good), Ok(()));
        }
    }

    #[test]
    fn anything_else_is_refused_with_what_it_is() {
        let lambert =
            format!(r#"PROJCS["Canada_Lambert_Conformal_Conic",{NAD_83},UNIT["Meter",1.0]]"#);
        let paris = NAD_83.replace(r#""Greenwich",0.0"#, r#""Paris",2.33722917"#);
        let grads = NAD_83.replace("0.0174532925199433", "0.015707963267949");
        let old = NAD_83.replace("D_North_American_1983", "D_North_American_1927");
        for (bad, got) in [
            ("", "nothing"),
            ("EPSG:4326", "\"EPSG:4326\""),
            (&*lambert, "PROJCS[\"Canada_Lambert_Conformal_Conic\"]"),
            (&*paris, "PRIMEM 2.33722917"),
            (&*grads, "UNIT 0.015707963267949"),
            (&*old, "DATUM[\"D_North_American_1927\"]"),
            ("GEOGCS[\"WGS 84\",DATUM[\"WGS_1984\"]]", "no UNIT"),
            ("GEOGCS[\"x\"", "DATUM[\"\"]"),
            (&*"x".repeat(70_000), "70000 bytes"),
        ] {
            let text = check(bad).unwrap_err().to_string();
            assert!(text.ends_with(&format!("NAD 83; got {got}")), "{text}");
        }
    }
}

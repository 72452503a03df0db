use super::*;

/// For each grid, `CRS.from_cf` of pyproj 3.7.2 gives a projection that places the cells within
/// 1e-12 degrees of the positions of `NativeGrid`.
#[test]
fn grid_mappings_are_those_of_the_conventions() {
    let mapping = |definition: &str| {
        grid_mapping(serde_json::from_str::<GridProjection>(definition).unwrap()).to_string()
    };
    for (definition, wanted) in [
        (
            r#"{"projection":"lambert_conformal","radius_m":6371229.0,"origin_lat":25.0,"central_lon":265.0,"parallels":[25.0,25.0]}"#,
            r#"{"earth_radius":6371229.0,"false_easting":0.0,"false_northing":0.0,"grid_mapping_name":"lambert_conformal_conic","latitude_of_projection_origin":25.0,"longitude_of_central_meridian":265.0,"standard_parallel":25.0}"#,
        ),
        (
            r#"{"projection":"lambert_conformal","radius_m":6371229.0,"origin_lat":-30.0,"central_lon":25.0,"parallels":[-20.0,-40.0]}"#,
            r#"{"earth_radius":6371229.0,"false_easting":0.0,"false_northing":0.0,"grid_mapping_name":"lambert_conformal_conic","latitude_of_projection_origin":-30.0,"longitude_of_central_meridian":25.0,"standard_parallel":[-20.0,-40.0]}"#,
        ),
        (
            r#"{"projection":"polar_stereographic","radius_m":6371229.0,"south":false,"central_lon":249.0,"true_lat":60.0}"#,
            r#"{"earth_radius":6371229.0,"false_easting":0.0,"false_northing":0.0,"grid_mapping_name":"polar_stereographic","latitude_of_projection_origin":90.0,"standard_parallel":60.0,"straight_vertical_longitude_from_pole":249.0}"#,
        ),
        (
            r#"{"projection":"polar_stereographic","radius_m":6371189.0,"south":true,"central_lon":28.0,"true_lat":60.0}"#,
            r#"{"earth_radius":6371189.0,"false_easting":0.0,"false_northing":0.0,"grid_mapping_name":"polar_stereographic","latitude_of_projection_origin":-90.0,"standard_parallel":-60.0,"straight_vertical_longitude_from_pole":28.0}"#,
        ),
        (
            r#"{"projection":"mercator","radius_m":6371200.0,"central_lon":200.0,"true_lat":20.0}"#,
            r#"{"earth_radius":6371200.0,"false_easting":0.0,"false_northing":0.0,"grid_mapping_name":"mercator","longitude_of_projection_origin":200.0,"standard_parallel":20.0}"#,
        ),
        (
            r#"{"projection":"lat_lon"}"#,
            r#"{"earth_radius":6371229.0,"grid_mapping_name":"latitude_longitude"}"#,
        ),
        (
            r#"{"projection":"rotated_lat_lon","south_pole_lat":-36.08852,"south_pole_lon":245.305142}"#,
            r#"{"earth_radius":6371229.0,"grid_mapping_name":"rotated_latitude_longitude","grid_north_pole_latitude":36.08852,"grid_north_pole_longitude":65.30514199999999,"north_pole_grid_longitude":0.0}"#,
        ),
    ] {
        assert_eq!(mapping(definition), wanted);
    }
}

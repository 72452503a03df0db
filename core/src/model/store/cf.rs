//! The positions of the cells of a run, following the CF conventions: the coordinates along rows
//! and columns, and their grid mapping.
//!
//! Source: CF conventions 1.12, sections 4.1, 4.2 and 5.6, appendix F.

use std::path::Path;

use serde_json::{Value, json};

use super::arrays::{Files, add_document, coordinate};
use super::definition::{ProductDefinition, RunDefinition};
use crate::grid;
use crate::grid::{
    EllipsoidMap, GLOBE_RADIUS_M, GridProjection, LatLonGlobe, NativeGrid, Projection,
};
use crate::model::RunStoreError;

/// The name of the array whose attributes hold the grid mapping.
pub(super) const GRID_MAPPING: &str = "crs";

/// The version of the conventions that the run follows.
pub(super) const CONVENTIONS: &str = "CF-1.12";

/// The name of the coordinate of the members of an ensemble.
pub(super) const MEMBERS: &str = "member";

/// The name of the coordinate of the start of the run.
pub(super) const REFERENCE_TIME: &str = "forecast_reference_time";

/// The unit of instants.
pub(super) const SINCE_1970: &str = "milliseconds since 1970-01-01T00:00:00Z";

/// Returns the names of the row and column axes, which are also those of their coordinates.
pub(super) fn axis_names(grid: &grid::Definition) -> [&'static str; 2] {
    match grid.projection {
        GridProjection::Map(_) | GridProjection::Ellipsoid(_) => ["y", "x"],
        GridProjection::Globe(LatLonGlobe::LatLon | LatLonGlobe::Gaussian { .. }) => ["lat", "lon"],
        GridProjection::Globe(LatLonGlobe::RotatedLatLon { .. }) => ["rlat", "rlon"],
    }
}

/// Refuses products with the name of an array that is written here.
pub(super) fn check_names(run: &RunDefinition) -> Result<(), RunStoreError> {
    let taken = axis_names(&run.grid);
    for product in &run.products {
        let name = product.shared_name();
        if [GRID_MAPPING, MEMBERS, REFERENCE_TIME].contains(&name) || taken.contains(&name) {
            let cause = format!("\"{name}\" is the name of a coordinate: no product may have it");
            return Err(RunStoreError::Definition(cause));
        }
    }
    Ok(())
}

/// Adds the start of the run.
pub(super) fn add_reference_time(files: &mut Files, run: &RunDefinition) {
    let document = json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": [],
        "data_type": "int64",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": []}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "attributes": {
            "standard_name": REFERENCE_TIME,
            "units": SINCE_1970,
            "calendar": "standard",
        },
        "dimension_names": [],
    });
    add_document(files, REFERENCE_TIME, &document);
    let start = run.run.start_ms().to_le_bytes();
    files.push((Path::new(REFERENCE_TIME).join("c"), start.to_vec()));
}

/// Returns the attributes of a product's array that are for readers who follow the conventions.
pub(super) fn product_attributes(run: &RunDefinition, product: &ProductDefinition) -> Value {
    let encoding = product.encoding;
    let mut attributes = json!({
        "units": product.unit,
        "scale_factor": encoding.scale(),
        "add_offset": encoding.offset(),
        "_FillValue": encoding.nodata(),
        // The most by which packing changes a value, in the unit of the value.
        "packing_error": encoding.scale().abs() / 2.0,
        "grid_mapping": GRID_MAPPING,
        "coordinates": REFERENCE_TIME,
    });
    for (name, text) in &product.attributes {
        // The names of winds depend on the axes that they are along.
        let text = match text.as_str() {
            "eastward_wind" if run.grid.grid_relative_winds => "x_wind",
            "northward_wind" if run.grid.grid_relative_winds => "y_wind",
            text => text,
        };
        if attributes.get(name).is_none() {
            attributes[name.as_str()] = json!(text);
        }
    }
    attributes
}

/// Adds the coordinates and the grid mapping.
pub(super) fn add_location(
    files: &mut Files,
    definition: &grid::Definition,
) -> Result<(), RunStoreError> {
    let grid = NativeGrid::new(*definition)?;
    let (first_x, _) = grid.first_xy();
    let [rows, columns] = axis_names(definition);
    let [of_rows, of_columns] = axis_attributes(definition);
    let along_rows: Vec<f64> = (0..grid.rows()).map(|row| grid.row_coordinate(row)).collect();
    let x = |column| first_x + column as f64 * definition.column_step;
    let along_columns: Vec<f64> = (0..grid.columns()).map(x).collect();
    for (name, attributes, along) in
        [(rows, of_rows, along_rows), (columns, of_columns, along_columns)]
    {
        let bytes: Vec<u8> = along.iter().flat_map(|at| at.to_le_bytes()).collect();
        coordinate(files, name, ("float64", bytes), along.len(), &attributes);
    }
    // An array of a single number, of which only the attributes matter: it is never written.
    let document = json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": [],
        "data_type": "int8",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": []}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0,
        "codecs": [{"name": "bytes"}],
        "attributes": grid_mapping(definition.projection),
        "dimension_names": [],
    });
    add_document(files, GRID_MAPPING, &document);
    Ok(())
}

/// The attributes of the axes of rows and columns.
fn axis_attributes(grid: &grid::Definition) -> [Value; 2] {
    let [y, x] = match grid.projection {
        GridProjection::Map(_) | GridProjection::Ellipsoid(_) => {
            [("projection_y_coordinate", "m"), ("projection_x_coordinate", "m")]
        }
        GridProjection::Globe(LatLonGlobe::LatLon | LatLonGlobe::Gaussian { .. }) => {
            [("latitude", "degrees_north"), ("longitude", "degrees_east")]
        }
        GridProjection::Globe(LatLonGlobe::RotatedLatLon { .. }) => {
            [("grid_latitude", "degrees"), ("grid_longitude", "degrees")]
        }
    };
    [("Y", y), ("X", x)]
        .map(|(axis, (name, unit))| json!({"standard_name": name, "units": unit, "axis": axis}))
}

fn grid_mapping(projection: GridProjection) -> Value {
    match projection {
        GridProjection::Ellipsoid(EllipsoidMap { projection, flattening }) => {
            let mut mapping = grid_mapping(GridProjection::Map(projection));
            if let Some(mapping) = mapping.as_object_mut() {
                let major = mapping.remove("earth_radius");
                mapping.insert("semi_major_axis".to_owned(), json!(major));
                mapping.insert("inverse_flattening".to_owned(), json!(1.0 / flattening));
            }
            mapping
        }
        GridProjection::Map(Projection::LambertConformal {
            radius_m,
            origin_lat,
            central_lon,
            parallels: [first, second],
        }) => json!({
            "grid_mapping_name": "lambert_conformal_conic",
            "standard_parallel": if first == second { json!(first) } else { json!([first, second]) },
            "longitude_of_central_meridian": central_lon,
            "latitude_of_projection_origin": origin_lat,
            "false_easting": 0.0,
            "false_northing": 0.0,
            "earth_radius": radius_m,
        }),
        GridProjection::Map(Projection::PolarStereographic {
            radius_m,
            south,
            central_lon,
            true_lat,
        }) => {
            let side = if south { -1.0 } else { 1.0 };
            json!({
                "grid_mapping_name": "polar_stereographic",
                "straight_vertical_longitude_from_pole": central_lon,
                "latitude_of_projection_origin": side * 90.0,
                "standard_parallel": side * true_lat.abs(),
                "false_easting": 0.0,
                "false_northing": 0.0,
                "earth_radius": radius_m,
            })
        }
        GridProjection::Map(Projection::Mercator { radius_m, central_lon, true_lat }) => json!({
            "grid_mapping_name": "mercator",
            "longitude_of_projection_origin": central_lon,
            "standard_parallel": true_lat,
            "false_easting": 0.0,
            "false_northing": 0.0,
            "earth_radius": radius_m,
        }),
        GridProjection::Globe(LatLonGlobe::LatLon | LatLonGlobe::Gaussian { .. }) => json!({
            "grid_mapping_name": "latitude_longitude",
            "earth_radius": GLOBE_RADIUS_M,
        }),
        GridProjection::Globe(LatLonGlobe::RotatedLatLon { south_pole_lat, south_pole_lon }) => {
            // The moved North Pole, on the other side of the globe.
            let pole_lon =
                if south_pole_lon > 0.0 { south_pole_lon - 180.0 } else { south_pole_lon + 180.0 };
            json!({
                "grid_mapping_name": "rotated_latitude_longitude",
                "grid_north_pole_latitude": 0.0 - south_pole_lat,
                "grid_north_pole_longitude": pole_lon,
                "north_pole_grid_longitude": 0.0,
                "earth_radius": GLOBE_RADIUS_M,
            })
        }
    }
}

#[cfg(test)]
#[path = "cf_tests.rs"]
mod tests;

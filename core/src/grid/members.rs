//! Definitions of grids from other languages, by the names of their members.

use std::fmt;

use super::{
    Definition, EllipsoidMap, GridDefinitionError, GridProjection, LatLonGlobe, Projection,
};

/// A member of a definition, such as one in a Python dictionary or a JavaScript object.
#[derive(Clone, Debug, PartialEq)]
pub enum MemberValue {
    /// No member of the name.
    Missing,
    /// A number.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// A string.
    Text(String),
    /// Two numbers.
    Pair([f64; 2]),
    /// Anything else.
    Other,
}

impl Definition {
    /// Returns the definition with these members, which are named as in its JSON. Other members are
    /// never requested.
    ///
    /// # Errors
    /// If a member is missing or has the wrong type. Whether the numbers form a valid grid is
    /// checked by [`NativeGrid`].
    ///
    /// ```
    /// use mesonet::grid;
    /// let definition = grid::Definition::from_members(|name| match name {
    ///     "rows" => grid::MemberValue::Number(73.0),
    ///     "columns" => grid::MemberValue::Number(144.0),
    ///     "projection" => grid::MemberValue::Text("lat_lon".to_owned()),
    ///     "first_lat" => grid::MemberValue::Number(90.0),
    ///     _ => grid::MemberValue::Missing,
    /// });
    /// assert_eq!(
    ///     definition.unwrap_err().to_string(),
    ///     "first_lon of a grid must be a number; got nothing",
    /// );
    /// ```
    ///
    /// [`NativeGrid`]: super::NativeGrid
    pub fn from_members(member: impl Fn(&str) -> MemberValue) -> Result<Self, GridDefinitionError> {
        let members = Members(member);
        Ok(Self {
            rows: members.count("rows")?,
            columns: members.count("columns")?,
            projection: members.projection()?,
            first_lon: members.number("first_lon")?,
            first_lat: members.number("first_lat")?,
            column_step: members.number("column_step")?,
            row_step: members.number("row_step")?,
            grid_relative_winds: members.flag("grid_relative_winds")?,
        })
    }
}

struct Members<M>(M);

impl<M: Fn(&str) -> MemberValue> Members<M> {
    fn number(&self, name: &'static str) -> Result<f64, GridDefinitionError> {
        match (self.0)(name) {
            MemberValue::Number(number) => Ok(number),
            got => Err(GridDefinitionError::Member { name, allowed: "a number", got }),
        }
    }

    fn flag(&self, name: &'static str) -> Result<bool, GridDefinitionError> {
        match (self.0)(name) {
            MemberValue::Flag(flag) => Ok(flag),
            got => Err(GridDefinitionError::Member { name, allowed: "true or false", got }),
        }
    }

    fn count(&self, name: &'static str) -> Result<usize, GridDefinitionError> {
        match (self.0)(name) {
            MemberValue::Number(number)
                if libm::trunc(number) == number
                    && (0.0..=f64::from(u32::MAX)).contains(&number) =>
            {
                Ok(number as usize)
            }
            got => {
                let allowed = "a whole number that is not negative";
                Err(GridDefinitionError::Member { name, allowed, got })
            }
        }
    }

    fn pair(&self, name: &'static str) -> Result<[f64; 2], GridDefinitionError> {
        match (self.0)(name) {
            MemberValue::Pair(pair) => Ok(pair),
            got => Err(GridDefinitionError::Member { name, allowed: "two numbers", got }),
        }
    }

    /// A map of a sphere, or of an ellipsoid if a flattening is given.
    fn map(&self, projection: Projection) -> Result<GridProjection, GridDefinitionError> {
        if let MemberValue::Missing = (self.0)("flattening") {
            return Ok(GridProjection::Map(projection));
        }
        let flattening = self.number("flattening")?;
        Ok(GridProjection::Ellipsoid(EllipsoidMap { projection, flattening }))
    }

    fn projection(&self) -> Result<GridProjection, GridDefinitionError> {
        let name = "projection";
        let got = (self.0)(name);
        let known = if let MemberValue::Text(text) = &got { text.as_str() } else { "" };
        Ok(match known {
            "lambert_conformal" => self.map(Projection::LambertConformal {
                radius_m: self.number("radius_m")?,
                origin_lat: self.number("origin_lat")?,
                central_lon: self.number("central_lon")?,
                parallels: self.pair("parallels")?,
            })?,
            "polar_stereographic" => self.map(Projection::PolarStereographic {
                radius_m: self.number("radius_m")?,
                south: self.flag("south")?,
                central_lon: self.number("central_lon")?,
                true_lat: self.number("true_lat")?,
            })?,
            "mercator" => self.map(Projection::Mercator {
                radius_m: self.number("radius_m")?,
                central_lon: self.number("central_lon")?,
                true_lat: self.number("true_lat")?,
            })?,
            "lat_lon" => GridProjection::Globe(LatLonGlobe::LatLon),
            "gaussian" => {
                let parallels = self.count("parallels")?;
                GridProjection::Globe(LatLonGlobe::Gaussian { parallels })
            }
            "rotated_lat_lon" => GridProjection::Globe(LatLonGlobe::RotatedLatLon {
                south_pole_lat: self.number("south_pole_lat")?,
                south_pole_lon: self.number("south_pole_lon")?,
            }),
            _ => {
                let allowed = "lambert_conformal, polar_stereographic, mercator, lat_lon, \
                               gaussian or rotated_lat_lon";
                return Err(GridDefinitionError::Member { name, allowed, got });
            }
        })
    }
}

/// The form shown in messages.
impl fmt::Display for MemberValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("nothing"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Flag(flag) => write!(f, "{flag}"),
            // Strings come from outside; a long string is cut.
            Self::Text(text) => write!(f, "\"{}\"", text.chars().take(80).collect::<String>()),
            Self::Pair([one, other]) => write!(f, "[{one}, {other}]"),
            Self::Other => f.write_str("a value of another type"),
        }
    }
}

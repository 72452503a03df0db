//! The filter that selects series of a station.

use crate::observation::{IntervalType, SeriesKey, Variable};

/// Selects series by their properties: a series matches if every given property is equal.
///
/// Names are compared exactly and case-sensitively; an unknown variable name matches nothing.
///
/// ```
/// use mesonet::{IntervalType, SeriesKey, Variable};
/// use mesonet::observation::SeriesFilter;
/// let wind = SeriesKey::new(Variable::WindSpeed, IntervalType::Average, 10);
/// let any_wind = SeriesFilter::from(Variable::WindSpeed);
/// assert_eq!(any_wind.name.as_deref(), Some("windSpeed"));
/// assert!(any_wind.matches(&wind));
/// let two_minute = SeriesFilter { interval_minutes: Some(2), ..any_wind };
/// assert!(!two_minute.matches(&wind));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SeriesFilter {
    /// Name of the variable.
    pub name: Option<String>,
    /// How a value represents its interval.
    pub interval_type: Option<IntervalType>,
    /// Length of averaging or accumulation.
    pub interval_minutes: Option<i32>,
    /// Whether the service derived the values.
    pub calculated: Option<bool>,
    /// Unit of the values.
    pub reported_unit: Option<String>,
    /// Label of the bucket; an empty label selects series that are not grouped.
    #[serde(rename = "groupBucketName")]
    pub bucket: Option<String>,
}

impl From<Variable> for SeriesFilter {
    /// Selects all series of a variable.
    fn from(variable: Variable) -> Self {
        Self { name: Some(variable.name().to_owned()), ..Self::default() }
    }
}

impl SeriesFilter {
    /// Whether a series matches.
    pub fn matches(&self, key: &SeriesKey) -> bool {
        self.name.as_deref().is_none_or(|name| name == key.variable.name())
            && self.interval_type.is_none_or(|kind| kind == key.interval_type)
            && self.interval_minutes.is_none_or(|minutes| minutes == key.interval_minutes)
            && self.calculated.is_none_or(|calculated| calculated == key.calculated)
            && self.reported_unit.as_deref().is_none_or(|unit| unit == key.reported_unit)
            && self.bucket.as_deref().is_none_or(|bucket| bucket == key.bucket)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::Variable;

    #[test]
    fn each_part_narrows_the_choice() {
        let key = SeriesKey {
            bucket: "0.5-1 mm".into(),
            ..SeriesKey::new(Variable::Precipitation, IntervalType::Cumulative, 60)
        };
        let own = SeriesFilter {
            name: Some("precipitation".into()),
            interval_type: Some(IntervalType::Cumulative),
            interval_minutes: Some(60),
            calculated: Some(false),
            reported_unit: Some("mm".into()),
            bucket: Some("0.5-1 mm".into()),
        };
        assert!(SeriesFilter::default().matches(&key));
        assert!(own.matches(&key));
        let others = [
            SeriesFilter { name: Some("Precipitation".into()), ..own.clone() },
            SeriesFilter { interval_type: Some(IntervalType::Max), ..own.clone() },
            SeriesFilter { interval_minutes: Some(0), ..own.clone() },
            SeriesFilter { calculated: Some(true), ..own.clone() },
            SeriesFilter { reported_unit: Some("cm".into()), ..own.clone() },
            SeriesFilter { bucket: Some(String::new()), ..own },
        ];
        assert!(others.iter().all(|other| !other.matches(&key)));
    }
}

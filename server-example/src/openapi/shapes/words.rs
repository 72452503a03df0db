//! Enumerations whose words the library lists.

use mesonet::{
    BaseQuality, IntervalType as Interval, ReasonQuality, access, check, observation, zone,
};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};

/// Declares a type whose schema is the list of some words.
macro_rules! words {
    ($($name:ident: $words:expr, $about:literal;)*) => {$(
        #[doc = $about]
        pub struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                let words = ObjectBuilder::new().schema_type(Type::String).enum_values(Some($words));
                words.description(Some($about)).into()
            }
        }

        impl ToSchema for $name {}
    )*};
}

words! {
    IntervalType: Interval::ALL.map(Interval::name), "How a series is measured over its interval.";
    BaseQualityCode: BaseQuality::ALL.map(BaseQuality::name), "A verdict, worst to best.";
    ReasonQualityCode: ReasonQuality::ALL.map(ReasonQuality::name), "Why a verdict was given.";
    Plan: access::Plan::ALL.map(access::Plan::name), "A plan, the lowest first.";
    Check: check::Check::ALL.map(check::Check::name), "A quality check, in the order of running.";
    Qualifier: observation::Qualifier::ALL.map(observation::Qualifier::name),
        "What a report says beside a value.";
    ZoneKind: zone::ZoneKind::ALL.map(zone::ZoneKind::name), "A kind of zones.";
}

/// A UUID.
pub struct Uuid;

impl PartialSchema for Uuid {
    fn schema() -> RefOr<Schema> {
        let uuid = SchemaFormat::Custom("uuid".to_owned());
        ObjectBuilder::new().schema_type(Type::String).format(Some(uuid)).into()
    }
}

impl ToSchema for Uuid {}

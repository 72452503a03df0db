//! Schemas of types that are written in the form of another type.

/// Describes a type by the form in which it is written.
macro_rules! described_as {
    ($type:ty, $form:ty) => {
        #[cfg(feature = "openapi")]
        impl utoipa::PartialSchema for $type {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                <$form as utoipa::PartialSchema>::schema()
            }
        }

        #[cfg(feature = "openapi")]
        impl utoipa::ToSchema for $type {
            fn name() -> std::borrow::Cow<'static, str> {
                <$form as utoipa::ToSchema>::name()
            }

            fn schemas(
                found: &mut Vec<(String, utoipa::openapi::RefOr<utoipa::openapi::schema::Schema>)>,
            ) {
                <$form as utoipa::ToSchema>::schemas(found);
            }
        }
    };
}

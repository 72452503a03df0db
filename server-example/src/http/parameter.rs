//! The parameters of addresses: the name, the allowed values, and the purpose of each.

use mesonet::Variable;
use mesonet::unit::MAX_UNIT_BYTES;
use serde_json::Value;
use utoipa::openapi::path::{
    Parameter as Described, ParameterBuilder, ParameterIn, ParameterStyle,
};
use utoipa::openapi::schema::{
    ArrayBuilder, KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type,
};
use utoipa::openapi::{RefOr, Required};

/// A parameter of the query string or of the path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    form: Form,
    about: &'static str,
    is_required: bool,
    example: &'static str,
    default: &'static str,
}

/// What a parameter may hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// An RFC 3339 instant.
    Instant,
    /// `true` or `false`.
    Truth,
    /// A text with 1 to a maximum number of characters.
    Text(usize),
    /// A text of a pattern.
    Matching(&'static str),
    /// A whole number, both bounds included.
    Whole(i64, i64),
    /// A number, both bounds included.
    Number(f64, f64),
    /// One of some words.
    OneOf(&'static [&'static str]),
    /// A minimum to a maximum number of texts of a pattern, comma-separated. Without a maximum where
    /// repeated texts count once: no length is too long then.
    List(&'static str, usize, Option<usize>),
    /// Names of variables, repeated or comma-separated.
    Variables,
    /// A unit for each variable that is named: one parameter each, [`UNIT_PREFIX`] and its name.
    Units,
}

/// Before the name of a variable in the name of a parameter for its unit.
pub const UNIT_PREFIX: &str = "unit.";
/// Two lists in one.
pub const fn join<const A: usize, const B: usize, const N: usize>(
    first: [Parameter; A],
    second: [Parameter; B],
) -> [Parameter; N] {
    assert!(A + B == N);
    let mut both = [first[0]; N];
    let mut at = 1;
    while at < N {
        both[at] = if at < A { first[at] } else { second[at - A] };
        at += 1;
    }
    both
}

impl Parameter {
    /// A parameter that may be left out.
    pub const fn new(name: &'static str, form: Form, about: &'static str) -> Self {
        Self { name, form, about, is_required: false, example: "", default: "" }
    }

    /// The same, but required.
    pub const fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    /// The same, with a value that the sample has an answer for.
    pub const fn example(self, example: &'static str) -> Self {
        Self { example, ..self }
    }

    /// The same without an example, for an endpoint where it stands for something else.
    pub const fn without_example(self) -> Self {
        Self { example: "", ..self }
    }

    /// The same, with the default value.
    pub const fn default(self, default: &'static str) -> Self {
        Self { default, ..self }
    }

    /// Describes the parameter as one of the query string.
    pub fn in_query(&self) -> Described {
        let described = self.described(ParameterIn::Query, self.is_required);
        let explode = match self.form {
            // With commas.
            Form::List(..) => Some(false),
            Form::Variables | Form::Units => Some(true),
            _ => None,
        };
        described.style(explode.map(|_| ParameterStyle::Form)).explode(explode).build()
    }

    /// Describes the parameter as a part of the path.
    pub fn in_path(&self) -> Described {
        self.described(ParameterIn::Path, true).build()
    }

    fn described(&self, place: ParameterIn, is_required: bool) -> ParameterBuilder {
        ParameterBuilder::new()
            .name(self.name)
            .parameter_in(place)
            .required(if is_required { Required::True } else { Required::False })
            .description(Some(self.about))
            .schema(Some(self.schema()))
            .example((!self.example.is_empty()).then(|| self.value(self.example)))
    }

    fn schema(&self) -> RefOr<Schema> {
        let of = |kind| ObjectBuilder::new().schema_type(kind);
        let text = || of(Type::String);
        let default = (!self.default.is_empty()).then(|| self.value(self.default));
        let object = match self.form {
            Form::Instant => text().format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime))),
            Form::Truth => of(Type::Boolean),
            Form::Text(most) => text().min_length(Some(1)).max_length(Some(most)),
            Form::Matching(pattern) => text().pattern(Some(pattern)),
            Form::Whole(least, most) => of(Type::Integer).minimum(Some(least)).maximum(Some(most)),
            Form::Number(least, most) => of(Type::Number).minimum(Some(least)).maximum(Some(most)),
            Form::OneOf(words) => text().enum_values(Some(words.iter().copied())),
            Form::List(pattern, least, most) => {
                let item = text().min_length(Some(1)).pattern(Some(pattern));
                let list = ArrayBuilder::new().items(item).min_items(Some(least));
                return list.max_items(most).into();
            }
            Form::Variables => {
                let names = Variable::ALL.iter().map(|variable| variable.name());
                return ArrayBuilder::new()
                    .items(text().enum_values(Some(names)))
                    .min_items(Some(1))
                    .into();
            }
            Form::Units => {
                let names: Vec<&str> =
                    Variable::ALL.iter().map(|variable| variable.name()).collect();
                let pattern = format!("^unit\\.({})$", names.join("|"));
                let text = text().min_length(Some(1)).max_length(Some(MAX_UNIT_BYTES));
                return of(Type::Object)
                    .property_names(Some(ObjectBuilder::new().pattern(Some(pattern))))
                    .additional_properties(Some(text))
                    .into();
            }
        };
        object.default(default).into()
    }

    fn value(&self, text: &str) -> Value {
        match self.form {
            Form::List(..) | Form::Variables => text.split(',').map(Value::from).collect(),
            Form::Truth | Form::Whole(..) | Form::Number(..) => {
                serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
            }
            _ => Value::from(text),
        }
    }
}

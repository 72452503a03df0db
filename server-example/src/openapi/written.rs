//! Schemas as serde writes the types. Derived schemas are wider: they name texts that have a type of
//! their own, keep flattened parts apart, and allow null where a member is left out.

use std::collections::BTreeMap;

use utoipa::openapi::schema::{
    AdditionalProperties, ArrayItems, Object, OneOf, Schema, SchemaType, Type,
};
use utoipa::openapi::{Ref, RefOr};

/// Types of one text or number. Their schemas stand in place of references.
const UNNAMED: [&str; 4] = ["Iso8601", "RunStamp", "SeriesId", "ZoneCode"];

/// The side that writes a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// A caller may send null in place of nothing.
    Caller,
    /// The server leaves out what it does not have, unless the member is required.
    Server,
}

/// Narrows derived schemas to what is written.
pub fn written(
    schemas: Vec<(String, RefOr<Schema>)>,
    by: Writer,
) -> impl Iterator<Item = (String, RefOr<Schema>)> {
    let is_unnamed = |(name, _): &(String, _)| UNNAMED.contains(&&**name);
    let (unnamed, named): (Vec<_>, Vec<_>) = schemas.into_iter().partition(is_unnamed);
    let narrow = Narrow { unnamed: unnamed.into_iter().collect(), by };
    named.into_iter().map(move |(name, mut schema)| {
        narrow.schema(&mut schema);
        if let Some(object) = members(&schema) {
            schema = object.into();
        }
        (name, schema)
    })
}

struct Narrow {
    unnamed: BTreeMap<String, RefOr<Schema>>,
    by: Writer,
}

impl Narrow {
    fn schema(&self, schema: &mut RefOr<Schema>) {
        match schema {
            RefOr::Ref(reference) => {
                first_paragraph(&mut reference.description);
                if let Some(object) = self.in_place(reference) {
                    *schema = object.into();
                }
            }
            RefOr::T(Schema::Object(object)) => self.object(object),
            RefOr::T(Schema::Array(array)) => {
                array.description.as_mut().map(first_paragraph);
                if let ArrayItems::RefOrSchema(items) = &mut array.items {
                    self.schema(items);
                }
            }
            RefOr::T(Schema::OneOf(one_of)) => {
                one_of.description.as_mut().map(first_paragraph);
                one_of.items.iter_mut().for_each(|item| self.schema(item));
                if let Some(object) = text_or_null(one_of) {
                    *schema = object.into();
                }
            }
            RefOr::T(Schema::AllOf(all_of)) => {
                all_of.description.as_mut().map(first_paragraph);
                all_of.items.iter_mut().for_each(|item| self.schema(item));
                if let Some(object) = members(schema) {
                    *schema = object.into();
                }
            }
            RefOr::T(_) => {}
        }
    }

    fn object(&self, object: &mut Object) {
        object.description.as_mut().map(first_paragraph);
        for (name, member) in &mut object.properties {
            self.schema(member);
            if self.by == Writer::Server && !object.required.contains(name) {
                without_null(member);
            }
        }
        if let Some(AdditionalProperties::RefOr(values)) =
            object.additional_properties.as_deref_mut()
        {
            self.schema(values);
        }
    }

    /// The schema of an unnamed type, with the description of the member that has it.
    fn in_place(&self, reference: &Ref) -> Option<Object> {
        let name = reference.ref_location.rsplit('/').next()?;
        let RefOr::T(Schema::Object(object)) = self.unnamed.get(name)? else { return None };
        let mut object = object.clone();
        object.description = Some(reference.description.clone()).filter(|text| !text.is_empty());
        Some(object)
    }
}

/// What follows the first paragraph of a comment is for who uses the library.
fn first_paragraph(text: &mut String) {
    if let Some(end) = text.find("\n\n") {
        text.truncate(end);
    }
}

fn is_null(schema: &RefOr<Schema>) -> bool {
    matches!(schema, RefOr::T(Schema::Object(object)) if object.schema_type == Type::Null.into())
}

/// Null, or an object that has nothing but a description.
fn is_memberless(part: &RefOr<Schema>) -> bool {
    let is_object = |object: &Object| {
        object.schema_type == Type::Object.into() && object.additional_properties.is_none()
    };
    is_null(part) || matches!(part, RefOr::T(Schema::Object(object)) if is_object(object))
}

/// A text or number, or null, as one object.
fn text_or_null(one_of: &OneOf) -> Option<Object> {
    let [RefOr::T(Schema::Object(object)), null] = &*one_of.items else { return None };
    let SchemaType::Type(form) = &object.schema_type else { return None };
    let is_one = is_null(null) && object.properties.is_empty();
    let mut object = object.clone();
    object.schema_type = SchemaType::from_iter([form.clone(), Type::Null]);
    is_one.then_some(object)
}

fn without_null(member: &mut RefOr<Schema>) {
    let schema_type = match member {
        RefOr::T(Schema::Object(object)) => &mut object.schema_type,
        RefOr::T(Schema::Array(array)) => &mut array.schema_type,
        RefOr::T(Schema::OneOf(one_of)) => {
            one_of.items.retain(|item| !is_null(item));
            if one_of.items.len() == 1 {
                *member = one_of.items.remove(0);
            }
            return;
        }
        _ => return,
    };
    if let SchemaType::Array(types) = schema_type
        && let [one, Type::Null] = &**types
    {
        *schema_type = one.clone().into();
    }
}

/// The object that parts make together: of `allOf` with the members of all, of `oneOf` with the
/// members of any, of which those are required that each part has. `None` if a part has another form.
fn members(schema: &RefOr<Schema>) -> Option<Object> {
    let RefOr::T(schema) = schema else { return None };
    let (parts, description, any) = match schema {
        Schema::Object(object) => return (!object.properties.is_empty()).then(|| object.clone()),
        Schema::AllOf(all_of) => (&all_of.items, &all_of.description, false),
        Schema::OneOf(one_of) => (&one_of.items, &one_of.description, true),
        _ => return None,
    };
    let nothing = |part: &RefOr<Schema>| is_memberless(part).then(Object::new);
    let parts = parts.iter().map(|part| members(part).or_else(|| nothing(part)));
    let parts = parts.collect::<Option<Vec<Object>>>()?;
    let mut whole = parts.first()?.clone();
    for part in &parts[1..] {
        if any {
            whole.required.retain(|name| part.required.contains(name));
        } else {
            whole.required.extend_from_slice(&part.required);
        }
        let new = part.properties.iter().filter(|(name, _)| !whole.properties.contains_key(*name));
        let new: Vec<_> = new.map(|(name, member)| (name.clone(), member.clone())).collect();
        whole.properties.extend(new);
    }
    whole.description.clone_from(description);
    (!whole.properties.is_empty()).then_some(whole)
}

//! The members of a JSON body: their names and kinds, checked before the body is used.
//!
//! Otherwise the error of the deserializer would name a type of the program (`i32`), and not the
//! member.

use std::fmt;

use mesonet::{BaseQuality, IntervalType};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::names::check_member;
use super::parameter::Parameter;
use crate::http::error::ApiError;

/// A member of a body, or of an object in it.
pub struct Member {
    /// Its name, which has the same meaning everywhere.
    pub name: &'static str,
    /// What it holds; `null` is nothing.
    pub kind: MemberKind,
    /// Whether the body must have it.
    pub is_required: bool,
}

/// What a request may have, as an extension of each request.
#[derive(Clone, Copy)]
pub struct Requested {
    /// Its query parameters.
    pub query: &'static [Parameter],
    /// The members of its JSON body and of the objects in it.
    pub body: &'static [Member],
}

/// What a member holds.
#[derive(Clone, Copy)]
pub enum MemberKind {
    /// A text.
    Text,
    /// A list of texts.
    Texts,
    /// A whole number of 32 bits.
    Whole,
    /// A number.
    Number,
    /// `true` or `false`.
    Truth,
    /// The name of an interval type.
    IntervalType,
    /// The name of a base quality.
    BaseQuality,
    /// An object with members.
    Object,
    /// A list of objects with members.
    Objects,
}

impl Member {
    /// A member that may be left out.
    pub const fn new(name: &'static str, kind: MemberKind) -> Self {
        Self { name, kind, is_required: false }
    }

    /// A member that must be there.
    pub const fn required(name: &'static str, kind: MemberKind) -> Self {
        Self { name, kind, is_required: true }
    }
}

impl MemberKind {
    /// What is allowed, in words.
    fn words(self) -> String {
        match self {
            Self::Text => "a text".to_owned(),
            Self::Texts => "a list of texts".to_owned(),
            Self::Whole => format!("a whole number from {} to {}", i32::MIN, i32::MAX),
            Self::Number => "a number".to_owned(),
            Self::Truth => "true or false".to_owned(),
            Self::IntervalType => {
                format!("one of {}", IntervalType::ALL.map(IntervalType::name).join(", "))
            }
            Self::BaseQuality => {
                format!("one of {}", BaseQuality::ALL.map(BaseQuality::name).join(", "))
            }
            Self::Object => "an object".to_owned(),
            Self::Objects => "a list of objects".to_owned(),
        }
    }
}

/// Checks the names and kinds of the members of a body.
///
/// # Errors
/// 400: the body is not JSON, or a member is missing, given twice or of the wrong kind, or has
/// almost the name of a known one.
pub fn check(body: &[u8], members: &'static [Member]) -> Result<(), ApiError> {
    let mut fault = None;
    let mut json = serde_json::Deserializer::from_slice(body);
    let value = Value { members, of: Of::Body, fault: &mut fault };
    let read = value.deserialize(&mut json).and_then(|()| json.end());
    if let Some(fault) = fault {
        return Err(fault);
    }
    read.map_err(|error| {
        ApiError::BadRequest(format!(
            "the body must be a JSON object of the expected form: {error}"
        ))
    })
}

/// The owner of the value that is being read.
#[derive(Clone, Copy)]
enum Of {
    /// The body itself.
    Body,
    /// A member.
    Member(&'static Member),
    /// An item of a list.
    Item(&'static Member),
}

/// Reads a value and forgets it. The first fault ends the reading.
struct Value<'a> {
    members: &'static [Member],
    of: Of,
    fault: &'a mut Option<ApiError>,
}

impl Value<'_> {
    fn refuse<E: Error>(&mut self, fault: ApiError) -> E {
        *self.fault = Some(fault);
        E::custom("refused")
    }

    /// Refuses values of other kinds.
    fn is<E: Error>(
        mut self,
        allowed: impl Fn(MemberKind) -> bool,
        got: impl fmt::Display,
    ) -> Result<(), E> {
        let (member, kind) = match self.of {
            Of::Body => return Ok(()),
            Of::Member(member) => (member, member.kind),
            Of::Item(member) if matches!(member.kind, MemberKind::Texts) => {
                (member, MemberKind::Text)
            }
            Of::Item(member) => (member, MemberKind::Object),
        };
        if allowed(kind) {
            return Ok(());
        }
        let (name, words) = (member.name, member.kind.words());
        let within = if matches!(self.of, Of::Item(_)) { " in it" } else { "" };
        let text = format!("{name} must be {words}; got {got}{within}");
        Err(self.refuse(ApiError::BadRequest(text)))
    }

    /// Refuses a whole number where none is allowed, or one that does not fit.
    fn whole<E: Error>(self, got: impl fmt::Display, fits: bool) -> Result<(), E> {
        let is_allowed = |kind| match kind {
            MemberKind::Number => true,
            MemberKind::Whole => fits,
            _ => false,
        };
        self.is(is_allowed, got)
    }
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        match self.of {
            Of::Member(member) if !member.is_required => Ok(()),
            _ => self.is(|_| false, "null"),
        }
    }

    fn visit_bool<E: Error>(self, got: bool) -> Result<(), E> {
        self.is(|kind| matches!(kind, MemberKind::Truth), got)
    }

    fn visit_i64<E: Error>(self, got: i64) -> Result<(), E> {
        self.whole(got, i32::try_from(got).is_ok())
    }

    fn visit_u64<E: Error>(self, got: u64) -> Result<(), E> {
        self.whole(got, i32::try_from(got).is_ok())
    }

    fn visit_f64<E: Error>(self, got: f64) -> Result<(), E> {
        self.is(|kind| matches!(kind, MemberKind::Number), got)
    }

    fn visit_str<E: Error>(self, got: &str) -> Result<(), E> {
        let is_allowed = |kind| match kind {
            MemberKind::Text => true,
            MemberKind::IntervalType => got.parse::<IntervalType>().is_ok(),
            MemberKind::BaseQuality => got.parse::<BaseQuality>().is_ok(),
            _ => false,
        };
        self.is(is_allowed, format_args!("\"{got}\""))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Self { members: known, of, fault } = self;
        let list = Value { members: known, of, fault: &mut *fault };
        list.is(|kind| matches!(kind, MemberKind::Texts | MemberKind::Objects), "a list")?;
        let Of::Member(member) = of else { return Ok(()) };
        let of = Of::Item(member);
        while items.next_element_seed(Value { members: known, of, fault: &mut *fault })?.is_some() {
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let Self { members: known, of, fault } = self;
        let object = Value { members: known, of, fault: &mut *fault };
        object.is(|kind| matches!(kind, MemberKind::Object), "an object")?;
        let mut given: Vec<&str> = Vec::new();
        while let Some(name) = members.next_key::<String>()? {
            let mut value = Value { members: known, of, fault: &mut *fault };
            let Some(member) = known.iter().find(|member| member.name == name) else {
                let names = known.iter().map(|member| member.name);
                check_member(&name, names).map_err(|fault| value.refuse(fault))?;
                members.next_value::<IgnoredAny>()?;
                continue;
            };
            if given.contains(&member.name) {
                let text = format!("{name} is given twice; it must be given only once");
                return Err(value.refuse(ApiError::BadRequest(text)));
            }
            given.push(member.name);
            value.of = Of::Member(member);
            members.next_value_seed(value)?;
        }
        let mut needed = known.iter().filter(|member| member.is_required);
        match needed.find(|member| !given.contains(&member.name)) {
            Some(member) if matches!(of, Of::Body) => {
                let text = format!("{} is required in the body", member.name);
                let mut body = Value { members: known, of, fault };
                Err(body.refuse(ApiError::BadRequest(text)))
            }
            _ => Ok(()),
        }
    }
}

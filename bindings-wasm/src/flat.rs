//! A value as numbers and one text, which `js/src/flat.ts` reads in place: a report of METAR in a
//! twentieth of the time that JSON takes.
//!
//! The members of a value follow one another as they are declared. A number is itself, and NaN where
//! there is none; a boolean is 0 or 1; a text is its number of UTF-16 units, and stands behind the
//! texts before it; a list is its length and its elements; a structure is its members, and behind a 1 if
//! there might be none.

use std::fmt::{self, Write as _};

use serde::ser::{Impossible, Serialize, SerializeSeq, SerializeStruct, Serializer};

/// Where the numbers begin that describe a value: in front of them are the address of the text and
/// its number of bytes.
const HEAD: usize = 2;

/// Room for a value, which the next one uses again.
#[derive(Default)]
pub struct Flat {
    numbers: Vec<f64>,
    texts: String,
    /// Whether there might be none of the value that comes next.
    is_optional: bool,
}

impl Flat {
    /// Takes a value in place of the one before.
    pub fn set(&mut self, value: &impl Serialize) -> fmt::Result {
        self.numbers.clear();
        self.texts.clear();
        self.numbers.resize(HEAD, 0.0);
        value.serialize(self)
    }

    /// Adds a number.
    pub fn add(&mut self, number: f64) {
        self.numbers.push(number);
    }

    /// Adds what something says of itself.
    pub fn add_text(&mut self, text: &impl fmt::Display) -> fmt::Result {
        let start = self.texts.len();
        write!(self.texts, "{text}")?;
        let units = utf16_units(&self.texts[start..]);
        self.add(units);
        Ok(())
    }

    /// The address of the numbers.
    pub fn address(&mut self) -> usize {
        self.numbers[0] = self.texts.as_ptr() as usize as f64;
        self.numbers[1] = self.texts.len() as f64;
        self.numbers.as_ptr() as usize
    }
}

/// The length of a text in JavaScript.
fn utf16_units(text: &str) -> f64 {
    let units = if text.is_ascii() { text.len() } else { text.encode_utf16().count() };
    units as f64
}

/// Methods for numbers, all of which a double holds.
macro_rules! numbers {
    ($($method:ident: $number:ty),*) => {$(
        fn $method(self, number: $number) -> fmt::Result {
            self.add(number.into());
            Ok(())
        }
    )*};
}

/// Methods for what no report has.
macro_rules! refused {
    ($($method:ident($($of:ty),*) -> $ok:ty),* $(,)?) => {$(
        fn $method(self, $(_: $of),*) -> Result<$ok, fmt::Error> {
            Err(fmt::Error)
        }
    )*};
}

type No = Impossible<(), fmt::Error>;

impl Serializer for &mut Flat {
    type Ok = ();
    type Error = fmt::Error;
    type SerializeSeq = Self;
    type SerializeTuple = No;
    type SerializeTupleStruct = No;
    type SerializeTupleVariant = No;
    type SerializeMap = No;
    type SerializeStruct = Self;
    type SerializeStructVariant = No;

    numbers!(
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_f32: f32,
        serialize_f64: f64
    );

    fn serialize_str(self, text: &str) -> fmt::Result {
        self.texts.push_str(text);
        self.add(utf16_units(text));
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> fmt::Result {
        self.serialize_str(name)
    }

    fn serialize_none(self) -> fmt::Result {
        self.add(f64::NAN);
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> fmt::Result {
        self.is_optional = true;
        value.serialize(&mut *self)?;
        self.is_optional = false;
        Ok(())
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self, fmt::Error> {
        self.add(length.ok_or(fmt::Error)? as f64);
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, fmt::Error> {
        if std::mem::take(&mut self.is_optional) {
            self.add(1.0);
        }
        Ok(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> fmt::Result {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> fmt::Result {
        Err(fmt::Error)
    }

    refused!(
        serialize_i64(i64) -> (),
        serialize_u64(u64) -> (),
        serialize_char(char) -> (),
        serialize_bytes(&[u8]) -> (),
        serialize_unit() -> (),
        serialize_unit_struct(&'static str) -> (),
        serialize_tuple(usize) -> No,
        serialize_tuple_struct(&'static str, usize) -> No,
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> No,
        serialize_map(Option<usize>) -> No,
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> No,
    );
}

impl SerializeSeq for &mut Flat {
    type Ok = ();
    type Error = fmt::Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> fmt::Result {
        value.serialize(&mut **self)
    }

    fn end(self) -> fmt::Result {
        Ok(())
    }
}

impl SerializeStruct for &mut Flat {
    type Ok = ();
    type Error = fmt::Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        _: &'static str,
        value: &T,
    ) -> fmt::Result {
        value.serialize(&mut **self)
    }

    fn end(self) -> fmt::Result {
        Ok(())
    }
}

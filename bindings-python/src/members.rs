//! The members of a structure as Python objects, one at a time: a report has thirty, and a caller asks
//! for few.

use std::fmt::{self, Display};

use pyo3::IntoPyObjectExt as _;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use serde::ser::{Error as _, Impossible, Serialize, SerializeSeq, SerializeStruct, Serializer};

/// The member of a structure that has a name in JSON; an error if there is none.
///
/// Numbers, booleans, texts and `None` are themselves. Lists and structures are tuples, the latter of
/// their members in the order in which they are declared.
pub fn member<'py>(
    py: Python<'py>,
    of: &impl Serialize,
    name: &str,
) -> PyResult<Bound<'py, PyAny>> {
    of.serialize(Object { py, only: Some(name) })?.get_item(0)
}

/// Makes one object.
#[derive(Clone, Copy)]
struct Object<'py, 'n> {
    py: Python<'py>,
    /// Of a structure, only the member of this name.
    only: Option<&'n str>,
}

/// The elements of a list, or the members of a structure.
struct Parts<'py, 'n> {
    of: Object<'py, 'n>,
    made: Vec<Bound<'py, PyAny>>,
}

/// An error of the interpreter on its way through serde.
#[derive(Debug)]
struct InterpreterError(PyErr);

impl Display for InterpreterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for InterpreterError {}

impl serde::ser::Error for InterpreterError {
    fn custom<T: Display>(message: T) -> Self {
        Self(PyTypeError::new_err(message.to_string()))
    }
}

impl From<PyErr> for InterpreterError {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

impl From<InterpreterError> for PyErr {
    fn from(InterpreterError(error): InterpreterError) -> Self {
        error
    }
}

/// Methods for values that Python has too.
macro_rules! same {
    ($($method:ident: $of:ty),* $(,)?) => {$(
        fn $method(self, value: $of) -> Result<Self::Ok, InterpreterError> {
            Ok(value.into_bound_py_any(self.py)?)
        }
    )*};
}

/// Methods for what no report has.
macro_rules! unexpected {
    ($($method:ident($($of:ty),*) -> $ok:ty),* $(,)?) => {$(
        fn $method(self, $(_: $of),*) -> Result<$ok, InterpreterError> {
            Err(InterpreterError::custom(concat!(stringify!($method), ": no member is of this kind")))
        }
    )*};
}

type No<'py> = Impossible<Bound<'py, PyAny>, InterpreterError>;

impl<'py, 'n> Serializer for Object<'py, 'n> {
    type Ok = Bound<'py, PyAny>;
    type Error = InterpreterError;
    type SerializeSeq = Parts<'py, 'n>;
    type SerializeTuple = No<'py>;
    type SerializeTupleStruct = No<'py>;
    type SerializeTupleVariant = No<'py>;
    type SerializeMap = No<'py>;
    type SerializeStruct = Parts<'py, 'n>;
    type SerializeStructVariant = No<'py>;

    same!(
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32,
        serialize_i64: i64, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32,
        serialize_u64: u64, serialize_f32: f32, serialize_f64: f64, serialize_str: &str,
    );

    fn serialize_none(self) -> Result<Self::Ok, InterpreterError> {
        Ok(self.py.None().into_bound(self.py))
    }

    fn serialize_some<T: Serialize + ?Sized>(
        self,
        value: &T,
    ) -> Result<Self::Ok, InterpreterError> {
        value.serialize(self)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
    ) -> Result<Self::Ok, InterpreterError> {
        self.serialize_str(name)
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Parts<'py, 'n>, InterpreterError> {
        Ok(Parts { of: self, made: Vec::with_capacity(length.unwrap_or_default()) })
    }

    fn serialize_struct(
        self,
        _: &'static str,
        length: usize,
    ) -> Result<Parts<'py, 'n>, InterpreterError> {
        Ok(Parts { of: self, made: Vec::with_capacity(length) })
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Self::Ok, InterpreterError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: &T,
    ) -> Result<Self::Ok, InterpreterError> {
        Err(InterpreterError::custom(name))
    }

    unexpected!(
        serialize_char(char) -> Self::Ok,
        serialize_bytes(&[u8]) -> Self::Ok,
        serialize_unit() -> Self::Ok,
        serialize_unit_struct(&'static str) -> Self::Ok,
        serialize_tuple(usize) -> No<'py>,
        serialize_tuple_struct(&'static str, usize) -> No<'py>,
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> No<'py>,
        serialize_map(Option<usize>) -> No<'py>,
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> No<'py>,
    );
}

impl<'py> Parts<'py, '_> {
    fn add<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), InterpreterError> {
        self.made.push(value.serialize(Object { only: None, ..self.of })?);
        Ok(())
    }

    fn tuple(self) -> Result<Bound<'py, PyAny>, InterpreterError> {
        Ok(PyTuple::new(self.of.py, self.made)?.into_any())
    }
}

impl<'py> SerializeSeq for Parts<'py, '_> {
    type Ok = Bound<'py, PyAny>;
    type Error = InterpreterError;

    fn serialize_element<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
    ) -> Result<(), InterpreterError> {
        self.add(value)
    }

    fn end(self) -> Result<Self::Ok, InterpreterError> {
        self.tuple()
    }
}

impl<'py> SerializeStruct for Parts<'py, '_> {
    type Ok = Bound<'py, PyAny>;
    type Error = InterpreterError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), InterpreterError> {
        if self.of.only.is_none_or(|only| only == name) { self.add(value) } else { Ok(()) }
    }

    fn end(self) -> Result<Self::Ok, InterpreterError> {
        self.tuple()
    }
}

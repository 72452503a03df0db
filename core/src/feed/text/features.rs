//! Features of a GeoJSON document, one at a time, in bounded memory.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::de::IoRead;
use serde_json::{Map, Value};

use crate::feed::summary::{FeedError, FilePlace, RefusalReason, Summary};

/// A feature of a document.
pub(in crate::feed) type Feature = Map<String, Value>;

/// Reads the features of a `FeatureCollection`, or a single `Feature`, and visits the result for
/// each. A feature that cannot be read is counted and listed in the summary, with its byte offset.
///
/// # Errors
/// If the source fails; if the text is not JSON, or a feature is longer than `max_feature_bytes`:
/// the start of the next could then not be found; if the document holds no features.
pub(in crate::feed) fn read_features<T>(
    input: impl BufRead,
    max_feature_bytes: usize,
    read: impl Fn(&Feature, &mut Summary) -> Result<T, RefusalReason>,
    mut visit: impl FnMut(T),
) -> Result<Summary, FeedError> {
    let mut summary = Summary::default();
    each_feature(
        input,
        max_feature_bytes,
        &mut |byte, feature| match read(feature, &mut summary) {
            Ok(item) => {
                visit(item);
                summary.read += 1;
            }
            Err(reason) => {
                let id = feature.get("id").and_then(Value::as_str).unwrap_or("");
                summary.refuse(FilePlace::Byte(byte), id.as_bytes(), reason);
            }
        },
    )?;
    Ok(summary)
}

/// Visits the features of a document, each with its byte offset. A feature that is not an object is
/// visited as an empty one.
fn each_feature(
    input: impl BufRead,
    max_feature_bytes: usize,
    each: &mut dyn FnMut(u64, &Feature),
) -> Result<(), FeedError> {
    let ration = Ration::of(max_feature_bytes);
    let mut json = ration.json(input);
    let document = Document { ration: &ration, each };
    ration.ended(document.deserialize(&mut json).and_then(|()| json.end()), "feature")
}

/// Visits the objects of an array, each with its byte offset. An element that is not an object is
/// visited as an empty one.
///
/// # Errors
/// If the source fails; if the text is not a JSON array, or an object is longer than
/// `max_report_bytes`.
pub(in crate::feed) fn each_element(
    input: impl BufRead,
    max_report_bytes: usize,
    each: &mut dyn FnMut(u64, &Map<String, Value>),
) -> Result<(), FeedError> {
    let ration = Ration::of(max_report_bytes);
    let mut json = ration.json(input);
    let mut document = Document { ration: &ration, each };
    let elements = Features(&mut document);
    ration.ended(elements.deserialize(&mut json).and_then(|()| json.end()), "report")
}

/// A document of features; each is handed out with its byte offset.
struct Document<'d> {
    ration: &'d Ration,
    each: &'d mut dyn FnMut(u64, &Feature),
}

impl<'de> DeserializeSeed<'de> for Document<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a FeatureCollection or a Feature")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<(), A::Error> {
        let mut single = Map::new();
        let mut has_features = false;
        while let Some(name) = members.next_key::<String>()? {
            match name.as_str() {
                "features" => {
                    has_features = true;
                    members.next_value_seed(Features(&mut self))?;
                }
                "id" | "geometry" | "properties" => {
                    single.insert(name, members.next_value()?);
                }
                _ => {
                    members.next_value::<IgnoredAny>()?;
                }
            }
            self.ration.renew();
        }
        if single.contains_key("properties") && !has_features {
            (self.each)(0, &single);
        } else if !has_features {
            return Err(A::Error::custom("neither features nor properties"));
        }
        Ok(())
    }
}

/// The member `features`.
struct Features<'f, 'd>(&'f mut Document<'d>);

impl<'de> DeserializeSeed<'de> for Features<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Features<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut features: A) -> Result<(), A::Error> {
        let Document { ration, each } = self.0;
        loop {
            ration.renew();
            let byte = ration.byte();
            match features.next_element::<Value>()? {
                Some(Value::Object(feature)) => each(byte, &feature),
                Some(_) => each(byte, &Map::new()),
                None => return Ok(()),
            }
        }
    }
}

/// How many bytes may be read until the next part of the document: the parser keeps a part in
/// memory, and the document determines its size.
struct Ration {
    each: usize,
    left: Cell<usize>,
    read: Cell<u64>,
    used_up: Cell<bool>,
}

impl Ration {
    fn of(each: usize) -> Rc<Self> {
        let (left, read, used_up) = (Cell::new(each), Cell::default(), Cell::default());
        Rc::new(Self { each, left, read, used_up })
    }

    fn json<R: BufRead>(
        self: &Rc<Self>,
        input: R,
    ) -> serde_json::Deserializer<IoRead<LimitedReader<R>>> {
        serde_json::Deserializer::from_reader(LimitedReader { input, ration: Rc::clone(self) })
    }

    fn ended(&self, read: Result<(), serde_json::Error>, part: &str) -> Result<(), FeedError> {
        match read {
            Ok(()) => Ok(()),
            Err(_) if self.is_used_up() => Err(FeedError::Json {
                byte: self.byte(),
                message: format!("more than {} bytes without the end of a {part}", self.each),
            }),
            Err(error) if error.is_io() => Err(io::Error::from(error).into()),
            Err(error) => Err(FeedError::Json { byte: self.byte(), message: error.to_string() }),
        }
    }

    fn renew(&self) {
        self.left.set(self.each);
    }

    fn byte(&self) -> u64 {
        self.read.get()
    }

    fn is_used_up(&self) -> bool {
        self.used_up.get()
    }
}

struct LimitedReader<R> {
    input: R,
    ration: Rc<Ration>,
}

impl<R: BufRead> Read for LimitedReader<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let left = self.ration.left.get();
        let bytes = self.input.fill_buf()?;
        let count = bytes.len().min(to.len()).min(left);
        if count == 0 && !bytes.is_empty() && !to.is_empty() {
            self.ration.used_up.set(true);
            return Err(io::Error::other("the ration is used up"));
        }
        to[..count].copy_from_slice(&bytes[..count]);
        self.input.consume(count);
        self.ration.left.set(left - count);
        self.ration.read.set(self.ration.read.get() + count as u64);
        Ok(count)
    }
}

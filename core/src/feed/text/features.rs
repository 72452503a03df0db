//! Features of a GeoJSON document, one at a time, in bounded memory.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
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
    let ration = Rc::new(Ration {
        each: max_feature_bytes,
        left: Cell::new(max_feature_bytes),
        read: Cell::default(),
        used_up: Cell::default(),
    });
    let input = Rationed { input, ration: Rc::clone(&ration) };
    let mut json = serde_json::Deserializer::from_reader(input);
    let document = Document { ration: &ration, each };
    match document.deserialize(&mut json).and_then(|()| json.end()) {
        Ok(()) => Ok(()),
        Err(_) if ration.is_used_up() => Err(FeedError::Json {
            byte: ration.byte(),
            message: format!("more than {max_feature_bytes} bytes without the end of a feature"),
        }),
        Err(error) if error.is_io() => Err(io::Error::from(error).into()),
        Err(error) => Err(FeedError::Json { byte: ration.byte(), message: error.to_string() }),
    }
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
        f.write_str("an array of features")
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

struct Rationed<R> {
    input: R,
    ration: Rc<Ration>,
}

impl<R: BufRead> Read for Rationed<R> {
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

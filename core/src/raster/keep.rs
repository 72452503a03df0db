//! How long the files of a product are kept, as its catalogue says.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::duration::ProductDuration;
use crate::time::parse_window;

/// The name of an instant among durations.
const INSTANT: &str = "instant";

/// `keep` as written: one span, or one for each duration.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "keep must be a span, for example \"7d\", or a table of spans by duration, for example \
                 { 1h = \"7d\", 24h = \"400d\" }"
)]
pub(super) enum KeepToml {
    All(String),
    Each(BTreeMap<String, String>),
}

/// How long files are kept, in milliseconds, by duration. A duration that is absent keeps them all.
pub(super) type Keep = BTreeMap<Option<ProductDuration>, i64>;

/// Reads `keep` for the durations of a product.
pub(super) fn keep_of(
    written: KeepToml,
    durations: &[Option<ProductDuration>],
) -> Result<Keep, String> {
    let span = |text: &str| parse_window(text).map_err(|error| format!("keep: {error}"));
    let each = match written {
        KeepToml::All(text) => {
            let span_ms = span(&text)?;
            return Ok(durations.iter().map(|&duration| (duration, span_ms)).collect());
        }
        KeepToml::Each(each) => each,
    };
    let mut keep = Keep::new();
    for (name, text) in each {
        let duration = match &*name {
            INSTANT => Some(None),
            name => name.parse().ok().map(Some),
        };
        let Some(duration) = duration.filter(|duration| durations.contains(duration)) else {
            let names: Vec<String> = durations.iter().copied().map(name_of).collect();
            return Err(format!(
                "keep names the duration {name}; those of the product are {}",
                names.join(", ")
            ));
        };
        if keep.insert(duration, span(&text)?).is_some() {
            return Err(format!("keep names the duration {} twice", name_of(duration)));
        }
    }
    Ok(keep)
}

fn name_of(duration: Option<ProductDuration>) -> String {
    duration.map_or_else(|| INSTANT.to_owned(), |duration| duration.to_string())
}

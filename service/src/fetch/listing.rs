//! Reads the folder listings of web servers (Apache's `mod_autoindex`, nginx's `autoindex`).

use std::collections::BTreeMap;

use mesonet::time::parse_instant;
use sha2::{Digest, Sha256};

/// Maximum number of entries of a listing.
pub(super) const MAX_ENTRIES: usize = 100_000;

/// Longest name of an entry: the longest file name.
const MAX_NAME_BYTES: usize = 255;

/// Length of the text after a name that is searched for a date.
const MAX_TAIL_BYTES: usize = 200;

/// A file or folder of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListingEntry {
    /// Name, without the slash of a folder.
    pub name: String,
    pub is_folder: bool,
    /// When it was last changed, to the minute, if the listing says so.
    pub modified_ms: Option<i64>,
    /// A digest of name, time and size: a changed file has another stamp.
    pub stamp: u64,
}

impl ListingEntry {
    /// Whether a change after the listing would show. Times are to the minute, so a file may change
    /// twice within a minute and look the same.
    pub(super) fn is_settled(&self, listed_ms: i64) -> bool {
        self.modified_ms.is_none_or(|modified_ms| modified_ms.saturating_add(62_000) <= listed_ms)
    }
}

/// Reads the entries of a listing, sorted by name. Links to anything but a file or folder directly
/// below are left out; times are read as UTC.
///
/// # Errors
/// More entries than [`MAX_ENTRIES`].
pub(super) fn read_listing(page: &str) -> Result<Vec<ListingEntry>, TooManyEntries> {
    let mut entries = BTreeMap::new();
    let mut current: Option<(&str, String)> = None;
    let mut keep = |current: Option<(&str, String)>| {
        if let Some(entry) = current.and_then(|(href, tail)| entry(href, &tail)) {
            // A theme may link a name twice, by its icon and by its text.
            if entry.modified_ms.is_some() || !entries.contains_key(&entry.name) {
                entries.insert(entry.name.clone(), entry);
            }
        }
        if entries.len() > MAX_ENTRIES { Err(TooManyEntries) } else { Ok(()) }
    };
    // Each piece is a tag and the text up to the next tag.
    for piece in page.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').unwrap_or((piece, ""));
        if let Some(attributes) =
            tag.strip_prefix(['a', 'A']).filter(|rest| rest.starts_with(char::is_whitespace))
        {
            keep(current.take())?;
            current = href(attributes).map(|href| (href, String::new()));
        } else if let Some((_, tail)) = &mut current
            && tail.len() + text.len() < MAX_TAIL_BYTES
        {
            tail.push(' ');
            tail.push_str(text);
        }
    }
    keep(current)?;
    Ok(entries.into_values().collect())
}

/// A listing is longer than any real one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a listing has more than {MAX_ENTRIES} entries, which is the limit")]
pub(super) struct TooManyEntries;

/// The target of a link.
fn href(attributes: &str) -> Option<&str> {
    let at = attributes.to_ascii_lowercase().find("href")?;
    let value = attributes[at + 4..].trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|c| ['"', '\''].contains(c))?;
    value[1..].split_once(quote).map(|(href, _)| href)
}

fn entry(href: &str, tail: &str) -> Option<ListingEntry> {
    let href = href.strip_prefix("./").unwrap_or(href);
    let (name, is_folder) = href.strip_suffix('/').map_or((href, false), |name| (name, true));
    // A name without separator, scheme, query or escape cannot lead elsewhere.
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+@,=".contains(&byte);
    if name.is_empty()
        || name.len() > MAX_NAME_BYTES
        || name.starts_with('.')
        || !name.bytes().all(plain)
    {
        return None;
    }
    let words: Vec<&str> = tail.split_whitespace().collect();
    let dated = words.windows(2).position(|pair| minute_ms(pair[0], pair[1]).is_some());
    let modified_ms = dated.and_then(|at| minute_ms(words[at], words[at + 1]));
    // The day, the time and the size, but not the description, which may differ each time.
    let told = dated.map_or(String::new(), |at| words[at..words.len().min(at + 3)].join(" "));
    let digest = Sha256::digest(format!("{href} {told}"));
    let stamp = digest.iter().take(8).fold(0, |stamp, &byte| stamp << 8 | u64::from(byte));
    Some(ListingEntry { name: name.to_owned(), is_folder, modified_ms, stamp })
}

/// `2024-08-03 17:55` (Apache) and `03-Aug-2024 17:55` (nginx, older Apache).
fn minute_ms(day: &str, time: &str) -> Option<i64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let time = match time.len() {
        5 => format!("{time}:00"),
        8 => time.to_owned(),
        _ => return None,
    };
    let parts: Vec<&str> = day.split('-').collect();
    let day = match parts[..] {
        [year, month, day] if year.len() == 4 => format!("{year}-{month}-{day}"),
        [day, month, year] if year.len() == 4 => {
            let month = MONTHS.iter().position(|name| *name == month)? + 1;
            format!("{year}-{month:02}-{day}")
        }
        _ => return None,
    };
    parse_instant(&format!("{day}T{time}Z")).ok()
}

#[cfg(test)]
#[path = "listing_tests.rs"]
mod tests;

//! Lists for an answer: the first few, and how many there are.

use serde::Serialize;

use super::shown::shown_fault;

/// Number of faults and refusals that are kept with their text; further ones are only counted.
const MAX_LISTED: usize = 100;

/// What went wrong with a file, or with a report in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct FileFault {
    /// The file.
    pub file: String,
    /// What was wrong.
    pub error: String,
}

impl FileFault {
    /// The fault of a file. The length of the text is limited: it may repeat content of the file.
    pub fn new(file: String, error: &str) -> Self {
        Self { file, error: shown_fault(error) }
    }
}

/// How many there are, and the first of them: the form of [`FirstFew`] under a name of its own.
#[derive(utoipa::ToSchema)]
#[schema(description = "How many there are, and the first of them.")]
#[expect(dead_code, reason = "only its form is used")]
pub struct Faults {
    count: u64,
    first: Vec<FileFault>,
}

/// The first few items, and how many there are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FirstFew<T> {
    /// How many there are.
    pub count: u64,
    /// The first few.
    pub first: Vec<T>,
}

impl<T> Default for FirstFew<T> {
    fn default() -> Self {
        Self { count: 0, first: Vec::new() }
    }
}

impl<T> FirstFew<T> {
    /// Adds an item, created only if it is kept.
    pub fn add(&mut self, item: impl FnOnce() -> T) {
        self.count += 1;
        if self.first.len() < MAX_LISTED {
            self.first.push(item());
        }
    }
}

//! What is noted about a record: texts under names.

use std::sync::Arc;

use mesonet::store::StoreError;

use crate::link::{Link, Options};
use crate::rows::MarkRow;
use crate::{schema, sql};

/// Returns a mark of a record without opening it.
///
/// # Errors
/// ClickHouse cannot be reached or refuses, or the tables are of another version.
pub fn read_mark(options: &Options, name: &str) -> Result<Option<String>, StoreError> {
    let link = Link::new(options)?.within(&options.database);
    schema::check(&link)?;
    Marks::new(Arc::new(link)).get(name)
}

#[derive(Debug)]
pub(crate) struct Marks {
    link: Arc<Link>,
}

impl Marks {
    pub(crate) fn new(link: Arc<Link>) -> Self {
        Self { link }
    }

    pub(crate) fn get(&self, name: &str) -> Result<Option<String>, StoreError> {
        Ok(self.newest(name)?.map(|row| row.value))
    }

    /// One caller at a time.
    pub(crate) fn set(&self, name: &str, value: &str) -> Result<(), StoreError> {
        let change = self.newest(name)?.map_or(0, |row| row.change) + 1;
        let row = MarkRow { name: name.to_owned(), change, value: value.to_owned() };
        self.link.insert("marks", vec![row])
    }

    fn newest(&self, name: &str) -> Result<Option<MarkRow>, StoreError> {
        Ok(self.link.rows(self.link.query(sql::MARKS).bind(name))?.into_iter().next())
    }
}

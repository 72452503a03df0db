//! What is noted about a record: texts under names.

use std::sync::Arc;

use mesonet::store::StoreError;

use crate::link::{At, InsertedRows, Link, TablePlace};
use crate::options::Options;
use crate::rows::MarkRow;
use crate::{schema, sql};

/// Returns a mark of a record without opening it.
///
/// # Errors
/// ClickHouse cannot be reached or refuses, or the tables are of another version.
pub fn read_mark(options: &Options, name: &str) -> Result<Option<String>, StoreError> {
    Marks::new(Arc::new(schema::open(options)?)).get(name)
}

const MARKS: TablePlace = TablePlace { table: "marks", shard: None };

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

    /// Only one caller may write at a time. Returns where the mark was written.
    pub(crate) fn set(&self, name: &str, value: &str) -> Result<At, StoreError> {
        let change = self.newest(name)?.map_or(0, |row| row.change) + 1;
        let row = MarkRow { name: name.to_owned(), change, value: value.to_owned() };
        let condition = format!("change = {change} AND hex(name) = '{}'", sql::hex(name));
        self.link.insert(MARKS, vec![row], &InsertedRows { condition, rows: 1 })
    }

    fn newest(&self, name: &str) -> Result<Option<MarkRow>, StoreError> {
        let query = self.link.query(sql::MARKS).bind(name);
        Ok(self.link.rows(MARKS, None, &query)?.into_iter().next())
    }
}

//! API keys, as hashes, for all servers of a record.

use std::collections::BTreeMap;

use mesonet::store::StoreError;

use crate::link::{InsertedRows, Link, TablePlace};
use crate::options::Options;
use crate::rows::ApiKeyRow;
use crate::{schema, sql};

const API_KEYS: TablePlace = TablePlace { table: "api_keys", shard: None };

/// Most keys of one insert.
const BLOCK: usize = 500;

/// The values on the wire for an instant that never comes and for an instant before all others.
const NEVER: i64 = i64::MAX;
const NOT_YET: i64 = i64::MIN;

/// What is known of a key. Instants are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// SHA-256 of the key, in hexadecimal digits. The key itself is not kept.
    pub digest: String,
    /// A label for people: the owner of the key.
    pub label: String,
    /// When it was issued.
    pub issued_ms: i64,
    /// When it expires, if ever.
    pub expires_ms: Option<i64>,
    /// When it was revoked, if it was.
    pub revoked_ms: Option<i64>,
    /// When it was last used, if it was.
    pub last_used_ms: Option<i64>,
}

/// The API keys of a record.
///
/// Any number of processes may issue and revoke keys at the same time, including processes that do
/// not write the record. A read merges what each of them has [put](Self::put). So no process
/// overwrites another, and a revoked key stays revoked.
#[derive(Debug)]
pub struct ApiKeys {
    link: Link,
}

impl ApiKeys {
    /// Connects to a database that [`migrate`](crate::migrate) has made.
    ///
    /// # Errors
    /// ClickHouse cannot be reached or refuses, or the tables are of another version.
    pub fn open(options: &Options) -> Result<Self, StoreError> {
        Ok(Self { link: schema::open(options)? })
    }

    /// Lists all keys that were put before, by their digests.
    ///
    /// # Errors
    /// ClickHouse cannot be reached or refuses.
    pub fn list(&self) -> Result<Vec<ApiKey>, StoreError> {
        let rows = self.link.rows(API_KEYS, None, &self.link.query(sql::API_KEYS))?;
        Ok(joined(rows))
    }

    /// Adds what is known of keys. A key that exists already keeps the earlier issue, expiry and
    /// revocation, and gets the later use. Every server sees the change at its next
    /// [list](Self::list).
    ///
    /// # Errors
    /// ClickHouse cannot be reached or refuses. Some of the keys may have been written by then; all
    /// of them can be put again.
    pub fn put(&self, keys: &[ApiKey]) -> Result<(), StoreError> {
        for block in keys.chunks(BLOCK) {
            let rows: Vec<ApiKeyRow> = block.iter().map(ApiKeyRow::from).collect();
            // A later use may replace the row before it is counted.
            let condition = |row: &ApiKeyRow| {
                let ApiKeyRow { digest, revoked_ms, last_used_ms, .. } = row;
                let digest = sql::hex(digest);
                format!(
                    "(hex(digest) = '{digest}' AND revoked_ms = toInt64('{revoked_ms}') \
                     AND last_used_ms >= toInt64('{last_used_ms}'))"
                )
            };
            let condition = rows.iter().map(condition).collect::<Vec<_>>().join(" OR ");
            let found = InsertedRows { condition, rows: rows.len() };
            self.link.insert(API_KEYS, rows, &found)?;
            // A failed attempt may have left rows, and on one replica only.
            self.link.confirm(API_KEYS, &found)?;
        }
        Ok(())
    }
}

impl From<&ApiKey> for ApiKeyRow {
    fn from(key: &ApiKey) -> Self {
        Self {
            digest: key.digest.clone(),
            label: key.label.clone(),
            issued_ms: key.issued_ms,
            expires_ms: key.expires_ms.unwrap_or(NEVER),
            revoked_ms: key.revoked_ms.unwrap_or(NEVER),
            last_used_ms: key.last_used_ms.unwrap_or(NOT_YET),
        }
    }
}

/// Merges all rows of each key into one.
fn joined(rows: Vec<ApiKeyRow>) -> Vec<ApiKey> {
    let mut keys: BTreeMap<String, ApiKeyRow> = BTreeMap::new();
    for row in rows {
        match keys.get_mut(&row.digest) {
            None => {
                keys.insert(row.digest.clone(), row);
            }
            // The label is that of the earliest row.
            Some(known) => {
                known.issued_ms = known.issued_ms.min(row.issued_ms);
                known.expires_ms = known.expires_ms.min(row.expires_ms);
                known.revoked_ms = known.revoked_ms.min(row.revoked_ms);
                known.last_used_ms = known.last_used_ms.max(row.last_used_ms);
            }
        }
    }
    let is_set = |ms: i64| ![NEVER, NOT_YET].contains(&ms);
    let key = |row: ApiKeyRow| ApiKey {
        digest: row.digest,
        label: row.label,
        issued_ms: row.issued_ms,
        expires_ms: Some(row.expires_ms).filter(|&ms| is_set(ms)),
        revoked_ms: Some(row.revoked_ms).filter(|&ms| is_set(ms)),
        last_used_ms: Some(row.last_used_ms).filter(|&ms| is_set(ms)),
    };
    keys.into_values().map(key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(revoked_ms: Option<i64>, last_used_ms: Option<i64>) -> ApiKey {
        let (digest, label) = ("ab".repeat(32), "a network".to_owned());
        ApiKey { digest, label, issued_ms: 1, expires_ms: None, revoked_ms, last_used_ms }
    }

    /// Servers may put what they know in any order.
    #[test]
    fn what_is_known_of_a_key_is_joined_in_any_order() {
        let known = [
            key(None, None),
            key(None, Some(7)),
            key(Some(9), Some(5)),
            key(Some(8), None),
            key(None, Some(6)),
        ];
        for first in 0..known.len() {
            let rows = (0..known.len()).map(|at| &known[(first + at) % known.len()]);
            let rows = rows.map(ApiKeyRow::from).collect();
            assert_eq!(joined(rows), [key(Some(8), Some(7))], "{first}");
        }
        assert_eq!(joined(vec![ApiKeyRow::from(&known[0])]), [key(None, None)]);
    }
}

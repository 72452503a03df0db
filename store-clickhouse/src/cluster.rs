//! A cluster: its shards, and the order in which its nodes are asked.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::OnceLock;

use crate::options::Options;

/// How many replicas must have a block before it is acknowledged.
pub(crate) const QUORUM: usize = 2;

/// The cluster as it was when its tables were made.
pub(crate) struct Cluster {
    name: String,
    /// The macros `{shard}` of its shards, in the order used to divide the stations.
    shards: OnceLock<Vec<String>>,
    /// Where to begin to look for a node, so that processes begin at different ones.
    pub(crate) first: usize,
    pub(crate) quorum_timeout_ms: String,
}

impl Cluster {
    pub(crate) fn new(name: &str, options: &Options) -> Result<Self, String> {
        let of_path = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        for (what, text) in [("a cluster", name), ("its database", options.database.as_str())] {
            if text.is_empty() || !text.chars().all(of_path) {
                return Err(format!(
                    "{text:?} cannot be the name of {what}; use letters, digits, _, - and ."
                ));
            }
        }
        if options.urls.is_empty() {
            return Err("no addresses".to_owned());
        }
        let first = RandomState::new().build_hasher().finish() as usize % options.urls.len();
        let quorum_timeout_ms = (options.timeout.as_millis() * 3 / 4).to_string();
        Ok(Self { name: name.to_owned(), shards: OnceLock::new(), first, quorum_timeout_ms })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn shards(&self) -> usize {
        self.shards.get().map_or(1, Vec::len)
    }

    pub(crate) fn set_shards(&self, shards: Vec<String>) {
        // A second caller has read the same shards.
        let _ = self.shards.set(shards);
    }

    pub(crate) fn shard(&self, number: usize) -> &str {
        self.shards.get().and_then(|shards| shards.get(number)).map_or("", String::as_str)
    }
}

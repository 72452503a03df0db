//! What operators learn from a server: metrics, and traces of requests.

pub mod metrics;
pub mod traces;

//! What is told to those who run a server: figures, and traces of requests.

pub mod metrics;
pub mod traces;

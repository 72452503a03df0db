//! The whole sample.

//! The WebAssembly module behind the npm package `mesonet`.
//!
//! Flat on purpose: numbers and typed arrays, one file per module of the core. JavaScript's
//! numbers are coerced silently at this boundary (70000 becomes 4464), so it is not for users: the
//! TypeScript facade in `js/src` checks every argument first. Names, codes, limits and messages
//! come from the core.

mod crosswalk;
mod derived;
mod quality;
mod tile;
mod unit;
mod wind;

//! Stores and the examples.

mod dense_network;
mod embedded_lost;
mod embedded_upkeep;
mod examples;

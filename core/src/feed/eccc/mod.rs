//! Feeds of Environment and Climate Change Canada.

pub(super) mod geomet;
pub(super) mod hourly;
pub(super) mod point_observation;
pub(super) mod swob;

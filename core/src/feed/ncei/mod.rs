//! Archives of the United States' National Centers for Environmental Information.

pub(super) mod ghcnh;
pub(super) mod isd;
mod synop_weather;

//! Published files of observations, alerts and zones, as they are.

mod alert_areas;
mod alert_chains;
mod alert_feeds;
mod alert_zones;
mod eccc_feeds;
mod feed_kinds;
mod ghcnh_feeds;
mod iem_feeds;
mod isd_feeds;
mod metar_feeds;
mod metar_oracles;
mod ndbc_feeds;
mod nws_observation_feeds;
mod shown;
mod summaries;
mod zone_sources;

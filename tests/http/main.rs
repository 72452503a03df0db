//! The service over HTTP, in process. The modules follow the paths of the service, and each test
//! asserts the status and the exact body.

mod alerts;
mod alerts_zones;
#[cfg(unix)]
mod archive;
#[cfg(unix)]
mod archive_bucket;
#[cfg(unix)]
mod archive_full;
#[cfg(unix)]
mod archive_serves;
#[cfg(unix)]
mod backup;
#[cfg(unix)]
mod backup_places;
mod bombs;
#[cfg(unix)]
mod bucket;
mod capabilities;
#[path = "../../core/tests/process/mod.rs"]
mod child;
mod child_deadlines;
#[cfg(feature = "clickhouse")]
mod clickhouse_archive;
#[cfg(feature = "clickhouse")]
mod clickhouse_keys;
#[cfg(feature = "clickhouse")]
mod clickhouse_live;
#[cfg(feature = "clickhouse")]
mod clickhouse_readers;
#[cfg(feature = "clickhouse")]
mod clickhouse_silent;
#[cfg(feature = "clickhouse")]
mod clickhouse_tls;
#[cfg(feature = "clickhouse")]
mod clickhouse_trouble;
mod connections;
#[cfg(unix)]
mod copying;
mod crafted;
mod credentials;
mod damage;
mod every_answer;
mod every_request;
mod explorer;
mod feeds;
#[cfg(unix)]
mod follower;
#[cfg(unix)]
#[cfg(unix)]
mod follower_kills;
#[cfg(unix)]
#[cfg(unix)]
mod follower_takes_over;
mod followers;
mod form;
#[cfg(unix)]
mod gate;
mod health;
mod historical_bulk;
#[cfg_attr(not(feature = "clickhouse"), path = "not_in_clickhouse.rs")]
mod in_clickhouse;
mod in_follower;
mod ingest;
mod ingest_broken;
mod ingest_kinds;
mod ingest_members;
mod ingest_models;
mod ingest_repair;
mod instructions;
#[cfg(unix)]
mod listener;
#[cfg(unix)]
mod live;
mod lost;
mod metrics;
mod model_commands;
mod model_pushes;
mod models;
#[cfg(unix)]
mod mosquitto;
mod moved;
mod mqtt_broker;
mod observations_explain;
mod observations_series;
mod observations_units;
mod observations_weather;
mod process;
mod product_retention;
mod products;
mod pushes;
mod qualifiers;
mod reload;
mod retention;
mod sample;
mod settings;
mod slow_callers;
mod stations_filter;
mod stations_id;
mod stations_id_quality;
mod stations_id_reports;
mod stations_map_details;
mod stations_map_markers;
mod stations_readings;
mod stations_readings_grid;
mod stations_readings_post;
mod stations_summary;
mod support;
mod tls;
#[cfg(unix)]
mod verify;
mod webhooks;

//! The server: its router, its start and end, and what works in the background.
//!
//! | What | Where |
//! | --- | --- |
//! | The router, and what comes before and after each request | `router.rs`, `route.rs` |
//! | The start | `serve.rs` |
//! | What runs beside the requests | `upkeep.rs` |
//! | Work in the background | `background.rs` |
//! | How it stops | `shutdown.rs`, `signals.rs` |
//! | What a running server reloads: settings, certificate | `reload.rs` |
//! | Events from the record to those who listen | `live.rs` |
//! | Alerts to webhooks | `webhooks.rs` |
//! | Events to brokers that speak MQTT (feature `mqtt`) | `mqtt.rs` |
//! | The folder that is watched | `watch.rs` |
//! | From fetched files to the store | `into_store.rs` |
//! | API keys that others issue and revoke | `key_renewal.rs` |
//! | Who sends a request, and how many requests a client address may send | `identify.rs`, `rate.rs` |
//! | `/metrics` | `figures/` |
//! | How far back a running server keeps its record and its raster products | `retention.rs`, `product_retention.rs` |
//! | The log and the metrics of requests | `request_line.rs` |

mod background;
mod error;
mod figures;
mod identify;
mod into_store;
mod key_renewal;
mod live;
mod model_layout;
#[cfg(feature = "mqtt")]
mod mqtt;
mod product_retention;
mod rate;
mod reload;
#[cfg(test)]
#[allow(dead_code, reason = "the tests of the service use all of it")]
#[path = "../../../service/tests/support/replay_server.rs"]
mod replay_server;
mod request_line;
mod retention;
mod route;
mod router;
mod serve;
mod shutdown;
mod signals;
mod upkeep;
mod watch;
mod webhooks;

pub use router::{App, app};
pub use serve::{judge_sample, serve};

//! Events sent to a message broker that speaks MQTT 5 (OASIS standard of 7 March 2019), feature `mqtt`.
//!
//! | What | Where |
//! | --- | --- |
//! | The settings | `settings.rs` |
//! | The topics of messages | `topic.rs` |
//! | Notifications in the form of WIS2 | `notification.rs` |
//! | What was sent, across restarts | `progress.rs` |
//! | A broker: its messages, and how it does | `broker.rs` |
//! | TLS | `tls.rs` |
//! | One connection | `connection.rs` |
//! | Messages in order, over one connection after another | `delivery.rs` |

#[cfg_attr(not(feature = "mqtt"), allow(dead_code, reason = "only that feature sends"))]
mod broker;
#[cfg(feature = "mqtt")]
mod connection;
#[cfg(feature = "mqtt")]
mod delivery;
mod notification;
#[cfg_attr(not(feature = "mqtt"), allow(dead_code, reason = "only that feature sends"))]
mod progress;
mod settings;
#[cfg(feature = "mqtt")]
mod tls;
mod topic;

pub use broker::{
    FOLDER, MqttBroker, MqttError, MqttFailure, MqttMessage, MqttStatus, MqttTest, Step,
};
pub use notification::{NotificationConfig, NotifiedReport, notification};
pub use progress::MqttLeftOut;
pub use settings::MqttConfig;
pub use topic::Topics;

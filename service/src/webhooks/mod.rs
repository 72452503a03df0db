//! Webhooks: alerts sent to an address as they come and as they change.
//!
//! Deliveries are signed by the rules of Standard Webhooks 1.0
//! (<https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>), so
//! that its libraries verify them.
//!
//! | What | Where |
//! | --- | --- |
//! | The settings | `settings.rs` |
//! | The secret of a webhook, and signatures | `secret.rs` |
//! | Which machines a delivery may go to | `target.rs` |
//! | One delivery | `client.rs` |
//! | What was delivered, across restarts | `progress.rs` |
//! | A webhook: when it tries, what it has left out | `webhook.rs` |

mod client;
mod progress;
mod secret;
mod settings;
mod target;
mod webhook;

pub use client::WebhookAttempt;
pub use progress::LeftOut;
pub use secret::SecretError;
pub use settings::WebhookConfig;
pub use webhook::{FOLDER, Message, Webhook, WebhookError, WebhookStatus};

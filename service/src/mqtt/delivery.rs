//! Messages in order, over one connection after another.

use std::time::Duration;

use mesonet::Iso8601;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until, timeout};

use super::connection::Connection;
use super::{MqttBroker, MqttMessage, MqttTest, Step};
use crate::clock::system_ms;
use crate::fetch::{pause_ms, random};

/// First pause after a failure. It doubles up to [`MAX_PAUSE_MS`].
const FIRST_PAUSE_MS: i64 = 1_000;
const MAX_PAUSE_MS: i64 = 60_000;

/// How long the last messages may take once the server ends.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);

impl MqttBroker {
    /// Sends what `begin` produces, until it ends and `is_over`, or until `stop` says so. With each connection, `begin` is
    /// called, and begins after [`position`](Self::position): what was not acknowledged is sent again.
    pub async fn deliver(
        &self,
        mut begin: impl FnMut() -> mpsc::Receiver<Step>,
        is_over: impl Fn() -> bool,
        mut stop: watch::Receiver<bool>,
    ) {
        let name = &self.config().name;
        loop {
            let ended = match Connection::open(self, "").await {
                Ok(connection) => {
                    self.connected();
                    tracing::info!("mqtt {name}: connected to {}", self.status().address);
                    self.send(connection, begin(), &mut stop).await
                }
                Err(error) => Err(error),
            };
            self.save_now();
            let error = match ended {
                Err(error) => error,
                Ok(()) if *stop.borrow() || is_over() => break,
                Ok(()) => "what makes the messages has ended early".to_owned(),
            };
            let failures = self.failed(&error);
            let wait_ms = pause_ms(FIRST_PAUSE_MS, failures, random()).min(MAX_PAUSE_MS);
            let pause = Duration::from_millis(wait_ms.unsigned_abs());
            self.waits(Some(pause));
            tracing::warn!("mqtt {name}: {error}; the server connects again in {wait_ms} ms");
            if timeout(pause, stop.wait_for(|stop| *stop)).await.is_ok() {
                break;
            }
        }
        self.waits(None);
    }

    /// Sends over one connection until there is nothing more. The error says why it broke.
    async fn send(
        &self,
        mut connection: Connection<'_>,
        mut steps: mpsc::Receiver<Step>,
        stop: &mut watch::Receiver<bool>,
    ) -> Result<(), String> {
        self.send_all(&mut connection, &mut steps, stop).await?;
        let _ = timeout(CLOSE_TIMEOUT, self.disconnect(connection)).await;
        Ok(())
    }

    async fn send_all(
        &self,
        connection: &mut Connection<'_>,
        steps: &mut mpsc::Receiver<Step>,
        stop: &mut watch::Receiver<bool>,
    ) -> Result<(), String> {
        connection.publish(self.status_message(true))?;
        loop {
            // What is ready is written together.
            while !connection.is_full() {
                match steps.try_recv() {
                    Ok(step) => take(connection, step)?,
                    Err(mpsc::error::TryRecvError::Empty) => break,
                    Err(mpsc::error::TryRecvError::Disconnected) => return Ok(()),
                }
            }
            connection.flush().await?;
            let save_at = self.save_if_due();
            let (has_room, mut deadline) = (connection.has_room(), connection.deadline());
            if let Some(save_at) = save_at {
                deadline = deadline.min(save_at.into());
            }
            tokio::select! {
                length = connection.read() => connection.take_in(length?)?,
                step = steps.recv(), if has_room => match step {
                    Some(step) => take(connection, step)?,
                    None => return Ok(()),
                },
                () = sleep_until(deadline) => connection.tick()?,
                _ = stop.wait_for(|stop| *stop) => return Ok(()),
            }
        }
    }

    /// Waits for the last acknowledgements, and tells that the server is offline.
    async fn disconnect(&self, mut connection: Connection<'_>) -> Result<(), String> {
        wait(&mut connection).await?;
        connection.publish(self.status_message(false))?;
        wait(&mut connection).await?;
        connection.close().await;
        Ok(())
    }

    /// Sends a test over a connection of its own, whatever was sent before. It changes nothing.
    pub async fn test(&self) -> MqttTest {
        let (at, began) = (Iso8601(system_ms()), Instant::now());
        let sent = async {
            // Another client identifier: the broker would end the connection of a running server.
            let mut connection = Connection::open(self, "-test").await?;
            let payload = serde_json::json!({ "timestamp": at, "name": self.config().name });
            connection.publish(MqttMessage {
                id: format!("test-{:016x}", getrandom::u64().unwrap_or_default()),
                topic: self.topics().of(&["test"]),
                payload: payload.to_string().into_bytes(),
                is_retained: false,
                expiry_s: None,
            })?;
            wait(&mut connection).await?;
            connection.close().await;
            Ok(())
        };
        let error = sent.await.err().map(|error: String| error.chars().take(500).collect());
        let took_ms = began.elapsed().as_millis() as u64;
        MqttTest { at, took_ms, is_published: error.is_none(), error }
    }
}

fn take(connection: &mut Connection<'_>, step: Step) -> Result<(), String> {
    match step {
        Step::Message(message) => connection.publish(message),
        Step::Position(position) => {
            connection.end_event(position);
            Ok(())
        }
    }
}

/// Waits until everything is acknowledged.
async fn wait(connection: &mut Connection<'_>) -> Result<(), String> {
    connection.flush().await?;
    while !connection.is_idle() {
        let deadline = connection.deadline();
        tokio::select! {
            length = connection.read() => connection.take_in(length?)?,
            () = sleep_until(deadline) => connection.tick()?,
        }
        connection.flush().await?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "delivery_tests.rs"]
mod tests;

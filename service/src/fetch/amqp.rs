//! Files that a message broker announces (AMQP 0.9.1), such as the Datamart's.
//!
//! The fetcher has a queue of its own at the broker, which keeps announcements while the fetcher
//! does not listen. A message is acknowledged once its file is in the store or is given up. A
//! limited number of messages is in flight, and the broker keeps the rest.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use lapin::message::Delivery;
use lapin::options::{
    BasicAckOptions, BasicConsumeOptions, BasicQosOptions, QueueBindOptions, QueueDeclareOptions,
};
use lapin::types::{AMQPValue, FieldTable, ShortString};
use lapin::{Connection, ConnectionProperties, Consumer};

use super::client::Validators;
use super::memory::Trial;
use super::notice::{announces_content, read_notice};
use super::poller::Poller;
use super::retry::{pause_ms, random};
use super::visit::{FileJob, FileOutcome};
use super::{Stop, say};
use crate::clock::system_ms;

/// The exchange on which files are announced.
const EXCHANGE: &str = "xpublic";

/// How long the broker keeps the queue while no fetcher listens.
const EXPIRES_MS: i32 = 6 * 3_600_000;

/// Messages that the queue may hold; the oldest are dropped.
const MAX_QUEUED: i32 = 200_000;

/// Maximum number of messages in flight.
const MAX_UNDER_WAY: u16 = 256;

/// How long to wait for more messages, so that many files go into the store together.
const GATHER: Duration = Duration::from_millis(500);

/// How often to check whether to stop.
const LOOK: Duration = Duration::from_millis(500);

/// How long a broker may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// First pause after the connection breaks.
const PAUSE_MS: i64 = 5_000;

/// Failures after which a file is given up. The last is about half an hour after the first.
const MAX_FAILURES: u32 = 6;

/// An announced file that is not done with.
struct AnnouncedFile {
    job: FileJob,
    delivery: Delivery,
    trial: Trial,
}

/// Listens until told to stop. Reconnects after a pause when the connection breaks.
pub(super) async fn run(mut poller: Poller, stop: Arc<Stop>) {
    let mut failures = 0;
    while !stop.flag.load(Ordering::Relaxed) {
        let Err(error) = listen_once(&mut poller, &stop, &mut failures).await else { break };
        failures += 1;
        let wait_ms = pause_ms(PAUSE_MS, failures, random());
        tracing::warn!("{}: {error}; retrying in {} s", poller.config.source, wait_ms / 1000);
        pause(Duration::from_millis(wait_ms.unsigned_abs()), &stop).await;
    }
}

/// Sleeps, or until told to stop.
async fn pause(time: Duration, stop: &Stop) {
    let end = Instant::now() + time;
    while !stop.flag.load(Ordering::Relaxed) {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        tokio::time::sleep(left.min(LOOK)).await;
    }
}

/// Listens on one connection. Once it is established, the count of failures starts again.
async fn listen_once(poller: &mut Poller, stop: &Stop, failures: &mut u32) -> Result<(), String> {
    let (connection, consumer) = tokio::time::timeout(PATIENCE, connect(poller))
        .await
        .map_err(|_| "the broker does not answer".to_owned())?
        .map_err(|error| error.to_string())?;
    *failures = 0;
    tracing::info!("{}: listening", poller.config.source);
    let listened = listen(poller, consumer, stop).await;
    let _ = tokio::time::timeout(LOOK, connection.close(200, "bye".into())).await;
    listened
}

/// Connects, and subscribes to the topic.
async fn connect(poller: &mut Poller) -> Result<(Connection, Consumer), lapin::Error> {
    let queue: ShortString = queue_name(poller).into();
    let name = poller.config.user_agent.clone().into();
    let properties = ConnectionProperties::default().with_connection_name(name);
    let connection = Connection::connect(poller.config.url(), properties).await?;
    let channel = connection.create_channel().await?;
    channel.basic_qos(MAX_UNDER_WAY, BasicQosOptions::default()).await?;
    let mut arguments = FieldTable::default();
    arguments.insert("x-expires".into(), AMQPValue::LongInt(EXPIRES_MS));
    arguments.insert("x-max-length".into(), AMQPValue::LongInt(MAX_QUEUED));
    channel.queue_declare(queue.clone(), QueueDeclareOptions::durable(), arguments).await?;
    let topic = poller.config.topic.as_str().into();
    let (bind, none) = (QueueBindOptions::default(), FieldTable::default());
    channel.queue_bind(queue.clone(), EXCHANGE.into(), topic, bind, none.clone()).await?;
    let consumer =
        channel.basic_consume(queue, "".into(), BasicConsumeOptions::default(), none).await?;
    Ok((connection, consumer))
}

/// Returns the name of the queue: a new name the first time, then always the same. The broker lets
/// a user have queues whose names begin with `q_` and the user's name.
fn queue_name(poller: &mut Poller) -> String {
    if let Some(queue) = &poller.memory.queue {
        return queue.clone();
    }
    let rest = poller.config.url().split("://").nth(1).unwrap_or_default();
    let user = rest.split([':', '@']).next().filter(|_| rest.contains('@'));
    let number = (random() * 1e15) as u64;
    let queue = format!("q_{}.mesonet.{number}", user.unwrap_or("anonymous"));
    poller.memory.queue = Some(queue.clone());
    poller.save();
    queue
}

/// Receives messages and fetches their files until told to stop. The error says why no more arrive.
async fn listen(poller: &mut Poller, mut consumer: Consumer, stop: &Stop) -> Result<(), String> {
    let mut waiting: Vec<AnnouncedFile> = Vec::new();
    let mut next_ms = i64::MIN;
    while !stop.flag.load(Ordering::Relaxed) {
        // If nothing is pending, wait for the first message, and then a moment longer for more.
        let patience = if waiting.is_empty() { LOOK } else { GATHER };
        let gathered = async {
            while waiting.len() < usize::from(MAX_UNDER_WAY) {
                let Some(delivery) = consumer.next().await else {
                    return Err("the broker has closed the connection".to_owned());
                };
                let delivery = delivery.map_err(|error| error.to_string())?;
                match announced(poller, &delivery) {
                    Some(job) => {
                        waiting.push(AnnouncedFile { job, delivery, trial: Trial::default() });
                    }
                    None => acknowledge(&delivery).await?,
                }
            }
            Ok(())
        };
        // A timeout is not an error.
        tokio::time::timeout(patience, gathered).await.unwrap_or(Ok(()))?;
        let now_ms = system_ms();
        let is_due = |one: &AnnouncedFile| one.trial.retry_ms <= now_ms;
        if now_ms < next_ms || !waiting.iter().any(is_due) {
            // The list is full of files that wait for another try.
            if waiting.len() == usize::from(MAX_UNDER_WAY) {
                tokio::time::sleep(LOOK).await;
            }
            continue;
        }
        let (due, later) = std::mem::take(&mut waiting).into_iter().partition(is_due);
        waiting = later;
        let (done, left, stopped) =
            tokio::task::block_in_place(|| fetch(poller, due, now_ms, stop));
        waiting.extend(left);
        if stopped {
            next_ms = poller.next_ms();
        }
        for delivery in &done {
            acknowledge(delivery).await?;
        }
    }
    Ok(())
}

/// Returns the file that a message announces, if it is wanted.
fn announced(poller: &Poller, delivery: &Delivery) -> Option<FileJob> {
    let headers = delivery.properties.headers().as_ref();
    let sum = headers.and_then(|headers| headers.inner().get("sum")).and_then(|sum| match sum {
        AMQPValue::LongString(text) => std::str::from_utf8(text.as_bytes()).ok(),
        AMQPValue::ShortString(text) => Some(text.as_str()),
        _ => None,
    });
    let config = &poller.config;
    match read_notice(&delivery.data, &config.hosts, config.policy()) {
        Ok(notice) => (announces_content(sum) && config.wants(&notice.name)).then_some(FileJob {
            name: notice.name,
            address: notice.address,
            known: Validators::default(),
        }),
        Err(error) => {
            tracing::warn!("{}: {error}", config.source);
            None
        }
    }
}

/// Fetches files. Returns those that are done, those left for another try, and whether the host
/// asks to wait.
fn fetch(
    poller: &mut Poller,
    due: Vec<AnnouncedFile>,
    now_ms: i64,
    stop: &Stop,
) -> (Vec<Delivery>, Vec<AnnouncedFile>, bool) {
    let (mut done, mut left, mut given_up) = (Vec::new(), Vec::new(), 0);
    let mut round = poller.visit(now_ms, &stop.flag, |visit, _| {
        let note = |mut one: AnnouncedFile, outcome| match outcome {
            FileOutcome::NotReached => left.push(one),
            FileOutcome::Done { .. } => done.push(one.delivery),
            FileOutcome::Failed => {
                one.trial.fail(now_ms);
                if one.trial.failures >= MAX_FAILURES {
                    given_up += 1;
                    done.push(one.delivery);
                } else {
                    left.push(one);
                }
            }
        };
        visit.fetch(due, |one| &one.job, note);
    });
    round.given_up = given_up;
    say(poller.config.source, &round, poller.next_ms() - now_ms);
    (done, left, round.stopped.is_some())
}

async fn acknowledge(delivery: &Delivery) -> Result<(), String> {
    let acknowledged = delivery.acker.ack(BasicAckOptions::default()).await;
    acknowledged.map(|_| ()).map_err(|error| error.to_string())
}

#[cfg(test)]
#[path = "amqp_tests.rs"]
mod tests;

//! Against a real broker, which `tests/broker` starts and names in the environment:
//! `tests/broker cargo test -p mesonet-server --features amqp --lib amqp -- --include-ignored
//! --test-threads=1`. One test kills it, so they run one after the other.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use lapin::options::{BasicPublishOptions, ConfirmSelectOptions, QueueDeleteOptions};
use lapin::{BasicProperties, Channel};
use tempfile::TempDir;

use super::*;
use crate::fetch;
use crate::fetch::replay_server::{Page, ReplayServer};
use crate::fetch::{DeliveryResult, FetchConfig, FetchSource, Fetchers, Sink, Unavailable};
use crate::sync::lock;

/// A generous deadline: a file that could not be fetched is tried again after a minute.
const LONG: Duration = Duration::from_secs(150);

/// The broker, used to announce files.
struct Broker {
    address: String,
    folder: PathBuf,
    runtime: tokio::runtime::Runtime,
}

impl Broker {
    fn of_environment() -> Self {
        let variable = |name| std::env::var(name).expect("tests/broker starts a broker");
        Self {
            address: variable("MESONET_TEST_BROKER"),
            folder: variable("MESONET_TEST_BROKER_FOLDER").into(),
            runtime: tokio::runtime::Runtime::new().unwrap(),
        }
    }

    fn url(&self, user: &str) -> String {
        format!("amqp://{user}@{}/%2f", self.address)
    }

    /// Runs `act` on a separate channel.
    fn with_channel<T>(&self, act: impl AsyncFnOnce(&Channel) -> T) -> T {
        self.runtime.block_on(async {
            let (url, properties) = (self.url("feed:feed"), ConnectionProperties::default());
            let connection = Connection::connect(&url, properties).await.unwrap();
            let channel = connection.create_channel().await.unwrap();
            let done = act(&channel).await;
            connection.close(200, "bye".into()).await.unwrap();
            done
        })
    }

    /// Publishes a message that survives a restart of the broker, and returns whether a queue has
    /// it. A broker also confirms messages that no queue takes.
    fn publish(&self, topic: &str, message: &[u8], sum: &str) -> bool {
        let mut headers = FieldTable::default();
        headers.insert("sum".into(), AMQPValue::LongString(sum.into()));
        let properties = BasicProperties::default().with_headers(headers).with_delivery_mode(2);
        self.with_channel(async |channel| {
            channel.confirm_select(ConfirmSelectOptions::default()).await.unwrap();
            let options = BasicPublishOptions { mandatory: true, ..Default::default() };
            let (exchange, topic) = (EXCHANGE.into(), topic.into());
            let published = channel.basic_publish(exchange, topic, options, message, properties);
            let confirmed = published.await.unwrap().await.unwrap();
            confirmed.is_ack() && confirmed.take_message().is_none()
        })
    }

    fn announce(&self, server: &ReplayServer, path: &str, sum: &str) -> bool {
        let topic = format!("v02.post{}", path.replace('/', "."));
        let message = format!("20230301035500.123 {} {path}\n", server.url("/"));
        self.publish(&topic, message.as_bytes(), sum)
    }

    /// Ends the broker (SIGKILL) and starts it again.
    fn restart(&self) {
        let pid = || std::fs::read_to_string(self.folder.join("pid")).unwrap().trim().to_owned();
        let killed = pid();
        std::fs::write(self.folder.join("down"), "").unwrap();
        assert!(Command::new("kill").args(["-KILL", &killed]).status().unwrap().success());
        wait_until("the broker ends", || std::net::TcpStream::connect(&self.address).is_err());
        std::fs::remove_file(self.folder.join("down")).unwrap();
        wait_until("the broker starts", || std::net::TcpStream::connect(&self.address).is_ok());
        assert_ne!(pid(), killed);
    }

    /// Deletes a queue, and returns how many messages were left in it.
    fn delete(&self, queue: &str) -> u32 {
        self.with_channel(async |channel| {
            channel.queue_delete(queue.into(), QueueDeleteOptions::default()).await.unwrap()
        })
    }
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + LONG;
    while !is_so() {
        assert!(Instant::now() < end, "waited for longer than {LONG:?} until {what}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Announced files, and a fetcher that listens.
struct Feed {
    broker: Broker,
    server: ReplayServer,
    config: FetchConfig,
    memory: TempDir,
    names: Arc<Names>,
}

#[derive(Default)]
struct Names(Mutex<BTreeSet<String>>);

impl Sink for Names {
    fn take(&self, delivery: &fetch::Delivery<'_>) -> Result<DeliveryResult, Unavailable> {
        lock(&self.0).extend(delivery.files.iter().map(|file| file.name.to_owned()));
        Ok(DeliveryResult::default())
    }
}

impl Feed {
    fn new(files: &[&str]) -> Self {
        // Shown if the test fails.
        drop(tracing_subscriber::fmt().with_test_writer().try_init());
        let (broker, server) = (Broker::of_environment(), ReplayServer::start());
        let recorded = "swob/cioos/2023-03-01-0354-CWTS-AUTO-minute-swob.xml.gz";
        for name in files {
            server.put_file(&path(name), recorded, "2023-03-01T03:55:00Z");
        }
        let mut config =
            FetchConfig::new(FetchSource::DatamartAmqp, "(tests, weather@example.org)");
        config.url = Some(broker.url("anonymous:anonymous"));
        config.hosts = vec!["127.0.0.1".to_owned()];
        let memory = tempfile::tempdir().unwrap();
        Self { broker, server, config, memory, names: Arc::default() }
    }

    fn announce(&self, name: &str) {
        // Just after its start, a broker may not have its queues yet.
        wait_until("a queue has it", || self.broker.announce(&self.server, &path(name), "d,1"));
    }

    /// Starts the fetcher, and waits until its queue is there.
    fn start(&self) -> Fetchers {
        let sink: Arc<dyn Sink> = Arc::clone(&self.names) as _;
        let (config, memory) = (std::slice::from_ref(&self.config), self.memory.path());
        let runtime = self.broker.runtime.handle();
        let fetchers = fetch::spawn(config, Some(memory), &sink, runtime).unwrap();
        wait_until("it has a queue", || self.queue().is_some_and(|queue| self.is_bound(&queue)));
        fetchers
    }

    fn stop(&self, fetchers: Fetchers) {
        self.broker.runtime.block_on(fetchers.stop());
    }

    /// The name of the queue that the fetcher remembers.
    fn queue(&self) -> Option<String> {
        let file = std::fs::read_dir(self.memory.path()).unwrap().next()?.unwrap().path();
        let memory: serde_json::Value =
            serde_json::from_slice(&std::fs::read(file).unwrap()).ok()?;
        Some(memory["queue"].as_str()?.to_owned())
    }

    /// Whether a fetcher listens at a queue. The queue is bound before that.
    fn is_bound(&self, queue: &str) -> bool {
        self.broker.with_channel(async |channel| {
            let mut options = QueueDeclareOptions::durable();
            options.passive = true;
            let declared =
                channel.queue_declare(queue.into(), options, FieldTable::default()).await;
            declared.is_ok_and(|queue| queue.consumer_count() > 0)
        })
    }

    /// Waits until exactly these files have arrived.
    fn wait_for(&self, names: &[&str]) {
        let names: BTreeSet<String> = names.iter().map(|&name| name.to_owned()).collect();
        wait_until("the files come", || lock(&self.names.0).is_superset(&names));
        assert_eq!(*lock(&self.names.0), names);
    }
}

fn path(name: &str) -> String {
    format!("/20230301/WXO-DD/observations/swob-ml/20230301/CWTS/{name}")
}

#[test]
#[ignore = "needs a broker: see tests/broker"]
fn files_are_fetched_as_they_are_announced_and_what_came_meanwhile_after_a_restart() {
    let feed = Feed::new(&["a.xml", "b.xml", "removed.xml", "later.xml"]);
    feed.server.put(&path("gone.xml"), Page::Status(404, vec![], String::new()));
    let fetchers = feed.start();
    feed.announce("a.xml");
    feed.broker.announce(&feed.server, &path("removed.xml"), "R,1");
    feed.announce("gone.xml");
    feed.broker.announce(&feed.server, "/20230301/WXO-DD/bulletins/other.xml", "d,1");
    feed.announce("b.xml");
    feed.wait_for(&["a.xml", "b.xml"]);
    feed.stop(fetchers);
    // No fetcher listens: the queue at the broker keeps the message.
    feed.announce("later.xml");
    let fetchers = feed.start();
    feed.wait_for(&["a.xml", "b.xml", "later.xml"]);
    let asked = feed.server.asked();
    assert!(asked.iter().all(|asked| !asked.contains("removed") && !asked.contains("other")));
    assert!(asked.iter().filter(|asked| asked.contains("gone")).count() >= 2, "{asked:?}");
    feed.stop(fetchers);
    let queue = feed.queue().unwrap();
    assert!(queue.starts_with("q_anonymous.mesonet."), "{queue}");
    // The file that is not there waits for another try.
    assert_eq!(feed.broker.delete(&queue), 1);
}

#[test]
#[ignore = "needs a broker: see tests/broker"]
fn it_listens_again_after_the_broker_was_killed_and_nothing_announced_is_lost() {
    let feed = Feed::new(&["a.xml", "b.xml", "c.xml"]);
    let fetchers = feed.start();
    feed.announce("a.xml");
    feed.wait_for(&["a.xml"]);
    feed.broker.restart();
    // The queue is there before the fetcher. Messages that were acknowledged just now may come
    // again.
    feed.announce("b.xml");
    feed.wait_for(&["a.xml", "b.xml"]);
    feed.stop(fetchers);
    feed.announce("c.xml");
    feed.broker.restart();
    let fetchers = feed.start();
    feed.wait_for(&["a.xml", "b.xml", "c.xml"]);
    feed.stop(fetchers);
    feed.broker.delete(&feed.queue().unwrap());
}

#[test]
#[ignore = "needs a broker: see tests/broker"]
fn a_malformed_message_is_let_go_and_keeps_no_other_back() {
    let feed = Feed::new(&["a.xml"]);
    let fetchers = feed.start();
    let topic = "v02.post.20230301.WXO-DD.observations.swob-ml.20230301.CWTS.a.xml";
    let long = "1".repeat(1 << 20);
    let elsewhere = format!("20230301035500.123 http://evil.example.org/ {}\n", path("a.xml"));
    let messages: [&[u8]; 6] =
        [b"", b"\n", b"\xff\xfe\0", b"yesterday a b", long.as_bytes(), elsewhere.as_bytes()];
    for message in messages {
        feed.broker.publish(topic, message, "d,1");
    }
    feed.broker.publish(
        topic,
        format!("20230301035500.123 {} ", feed.server.url("/")).as_bytes(),
        "",
    );
    feed.announce("a.xml");
    feed.wait_for(&["a.xml"]);
    feed.stop(fetchers);
    assert_eq!(feed.server.asked().len(), 1, "{:?}", feed.server.asked());
    assert_eq!(feed.broker.delete(&feed.queue().unwrap()), 0, "all were acknowledged");
}

#[test]
#[ignore = "needs a broker: see tests/broker"]
fn a_credential_that_is_refused_is_told_without_the_password() {
    let feed = Feed::new(&[]);
    let refusal = |user: &str| {
        let mut config = feed.config.clone();
        config.url = Some(feed.broker.url(user));
        let mut poller = Poller::new(config, None, Arc::clone(&feed.names) as _).unwrap();
        let connected = feed.broker.runtime.block_on(connect(&mut poller));
        connected.err().unwrap().to_string()
    };
    for user in ["anonymous:secret", "nobody:secret"] {
        let refused = refusal(user);
        assert!(refused.contains("ACCESS_REFUSED") && !refused.contains("secret"), "{refused}");
    }
}

#[test]
#[ignore = "needs a broker: see tests/broker"]
fn a_queue_that_the_user_may_not_make_is_told() {
    let feed = Feed::new(&[]);
    let mut poller = Poller::new(feed.config.clone(), None, Arc::clone(&feed.names) as _).unwrap();
    poller.memory.queue = Some("q_another.mesonet.1".to_owned());
    let refused = feed.broker.runtime.block_on(connect(&mut poller)).err().unwrap().to_string();
    assert!(refused.contains("ACCESS_REFUSED") && refused.contains("q_another"), "{refused}");
}

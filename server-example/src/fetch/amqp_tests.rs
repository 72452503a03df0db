//! Against a real broker on this machine, so not part of a plain run:
//! `MESONET_TEST_BROKER=amqp://guest:guest@127.0.0.1/%2f cargo test -p mesonet-server --features amqp
//! --lib amqp -- --ignored`.

use std::sync::{Arc, Mutex};

use lapin::options::{BasicPublishOptions, ExchangeDeclareOptions, QueueDeleteOptions};
use lapin::{BasicProperties, Channel, ExchangeKind};

use super::*;
use crate::fetch::poller::locked;
use crate::fetch::replay_server::{Page, ReplayServer};
use crate::fetch::{self, FetchConfig, Sink, Source, Taken, Unavailable};

#[derive(Default)]
struct Names(Mutex<Vec<String>>);

impl Sink for Names {
    fn take(&self, delivery: &fetch::Delivery<'_>) -> Result<Taken, Unavailable> {
        locked(&self.0).extend(delivery.files.iter().map(|file| file.name.to_owned()));
        Ok(Taken::default())
    }
}

impl Names {
    /// Waits for so many files and gives their names.
    fn wait_for(&self, count: usize) -> Vec<String> {
        for _ in 0..300 {
            if locked(&self.0).len() >= count {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let mut names = std::mem::take(&mut *locked(&self.0));
        names.sort();
        names
    }
}

async fn announce(channel: &Channel, server: &ReplayServer, path: &str, sum: &str) {
    let topic = format!("v02.post{}", path.replace('/', "."));
    let message = format!("20230301035500.123 {} {path}\n", server.url("/"));
    let mut headers = FieldTable::default();
    headers.insert("sum".into(), AMQPValue::LongString(sum.into()));
    let properties = BasicProperties::default().with_headers(headers);
    let options = BasicPublishOptions::default();
    let published = channel.basic_publish(
        EXCHANGE.into(),
        topic.as_str().into(),
        options,
        message.as_bytes(),
        properties,
    );
    published.await.unwrap().await.unwrap();
}

#[test]
#[ignore = "needs a broker"]
fn files_are_fetched_as_they_are_announced_and_what_came_meanwhile_after_a_restart() {
    let url = std::env::var("MESONET_TEST_BROKER").unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (connection, channel) = runtime.block_on(async {
        let connection = Connection::connect(&url, ConnectionProperties::default()).await.unwrap();
        let channel = connection.create_channel().await.unwrap();
        let options = ExchangeDeclareOptions { durable: true, ..Default::default() };
        let none = FieldTable::default();
        let kind = ExchangeKind::Topic;
        channel.exchange_declare(EXCHANGE.into(), kind, options, none).await.unwrap();
        (connection, channel)
    });
    let server = ReplayServer::start();
    let path = |name: &str| format!("/20230301/WXO-DD/observations/swob-ml/20230301/CWTS/{name}");
    let recorded = "swob/cioos/2023-03-01-0354-CWTS-AUTO-minute-swob.xml.gz";
    for name in ["a.xml", "b.xml", "c.xml", "removed.xml", "later.xml"] {
        server.put_file(&path(name), recorded, "2023-03-01T03:55:00Z");
    }
    server.put(&path("gone.xml"), Page::Status(404, vec![], String::new()));
    let mut config = FetchConfig::new(Source::DatamartAmqp, "(tests, weather@example.org)");
    config.url = Some(url);
    config.hosts = vec!["127.0.0.1".to_owned()];
    let sink = Arc::new(Names::default());
    let memory = tempfile::tempdir().unwrap();
    let start = || {
        let sink: Arc<dyn Sink> = Arc::clone(&sink) as _;
        fetch::spawn(std::slice::from_ref(&config), Some(memory.path()), &sink).unwrap()
    };
    let fetchers = start();
    std::thread::sleep(Duration::from_secs(3));
    runtime.block_on(async {
        announce(&channel, &server, &path("a.xml"), "d,1").await;
        announce(&channel, &server, &path("removed.xml"), "R,1").await;
        announce(&channel, &server, &path("gone.xml"), "d,1").await;
        announce(&channel, &server, "/20230301/WXO-DD/bulletins/other.xml", "d,1").await;
        announce(&channel, &server, &path("b.xml"), "d,1").await;
    });
    assert_eq!(sink.wait_for(2), ["a.xml", "b.xml"]);
    fetchers.stop();
    // Nobody listens: the queue at the broker keeps it.
    runtime.block_on(announce(&channel, &server, &path("later.xml"), "d,1"));
    let fetchers = start();
    assert_eq!(sink.wait_for(1), ["later.xml"]);
    let asked = server.asked();
    assert!(asked.iter().all(|asked| !asked.contains("removed") && !asked.contains("other")));
    assert!(asked.iter().filter(|asked| asked.contains("gone")).count() >= 2, "{asked:?}");
    fetchers.stop();

    let text = std::fs::read_dir(memory.path()).unwrap().next().unwrap().unwrap().path();
    let text: serde_json::Value = serde_json::from_slice(&std::fs::read(text).unwrap()).unwrap();
    let queue = text["queue"].as_str().unwrap();
    assert!(queue.starts_with("q_guest.mesonet."), "{queue}");
    runtime.block_on(async {
        let left = channel.queue_delete(queue.into(), QueueDeleteOptions::default()).await.unwrap();
        assert_eq!(left, 1, "the file that is not there waits for another try");
        connection.close(200, "bye".into()).await.unwrap();
    });
}

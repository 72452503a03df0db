//! A real broker, Debian's mosquitto, and what somebody who subscribes to it gets.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::process::PATIENCE;

/// A broker in a folder of its own, on one port, also when it is started again.
pub struct Mosquitto {
    pub folder: TempDir,
    pub port: u16,
    process: Child,
}

/// What somebody who subscribes to everything has got.
pub struct Subscriber {
    process: Child,
    path: PathBuf,
}

/// A message that has arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub topic: String,
    pub is_retained: bool,
    pub id: String,
    pub payload: Value,
}

impl Mosquitto {
    /// Starts a broker with lines of settings; `FOLDER` in them is its folder.
    pub fn new(folder: TempDir, settings: &str) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let own = settings.replace("FOLDER", &folder.path().display().to_string());
        let text = format!(
            "per_listener_settings false\nlistener {port} 127.0.0.1\n{own}\nlog_type all\n\
             max_queued_messages 0\n"
        );
        fs::write(folder.path().join("mosquitto.conf"), text).unwrap();
        let process = Self::spawn(&folder, port);
        Self { folder, port, process }
    }

    pub fn plain() -> Self {
        Self::new(TempDir::new().unwrap(), "allow_anonymous true")
    }

    fn spawn(folder: &TempDir, port: u16) -> Child {
        let log = folder.path().join("log");
        let log = fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
        let mut process = Command::new("mosquitto")
            .arg("-c")
            .arg(folder.path().join("mosquitto.conf"))
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("Debian's mosquitto is needed");
        let end = Instant::now() + PATIENCE;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert_eq!(process.try_wait().unwrap(), None, "mosquitto has ended");
            assert!(Instant::now() < end, "mosquitto does not listen");
            sleep(Duration::from_millis(20));
        }
        process
    }

    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    pub fn restart(&mut self) {
        self.process = Self::spawn(&self.folder, self.port);
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    /// The topics of the readings that it has received, in order.
    pub fn received(&self) -> Vec<String> {
        let log = self.log();
        let topics = log.lines().filter_map(|line| {
            let rest = line.split_once("Received PUBLISH from mesonet-wx ")?.1;
            rest.split('\'').nth(1).filter(|topic| topic.contains("/readings/"))
        });
        topics.map(str::to_owned).collect()
    }

    pub fn address(&self) -> String {
        format!("mqtt://127.0.0.1:{}", self.port)
    }

    /// Begins to subscribe to everything; returns once that is so.
    pub fn subscribe(&self, more: &[&str]) -> Subscriber {
        let path = self
            .folder
            .path()
            .join(format!("got-{}", fs::read_dir(self.folder.path()).unwrap().count()));
        let port = self.port.to_string();
        let before = self.log().matches("Sending SUBACK").count();
        let process = Command::new("mosquitto_sub")
            .args(["-p", &port, "-V", "mqttv5", "-q", "1", "-t", "#", "-F", "%J"])
            .args(if more.is_empty() { &["-h", "127.0.0.1"] } else { more })
            .stdout(fs::File::create(&path).unwrap())
            .spawn()
            .expect("Debian's mosquitto-clients is needed");
        wait("it subscribes", || self.log().matches("Sending SUBACK").count() > before);
        Subscriber { process, path }
    }
}

impl Drop for Mosquitto {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Subscriber {
    pub fn got(&self) -> Vec<Message> {
        let text = fs::read_to_string(&self.path).unwrap();
        // The last line may not be complete yet.
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        whole
            .lines()
            .map(|line| {
                let value: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
                Message {
                    topic: value["topic"].as_str().unwrap().to_owned(),
                    is_retained: value["retain"] == 1,
                    // A last will has none.
                    id: value["properties"]["user-properties"]["id"]
                        .as_str()
                        .unwrap_or_default()
                        .to_owned(),
                    payload: value["payload"].clone(),
                }
            })
            .collect()
    }

    /// The messages below a topic.
    pub fn below(&self, topic: &str) -> Vec<Message> {
        self.got().into_iter().filter(|message| message.topic.starts_with(topic)).collect()
    }

    /// Waits for so many messages below a topic.
    #[track_caller]
    pub fn wait(&self, topic: &str, count: usize) -> Vec<Message> {
        wait(topic, || self.below(topic).len() >= count);
        self.below(topic)
    }
}

#[track_caller]
pub fn wait(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE / 3;
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        sleep(Duration::from_millis(50));
    }
}

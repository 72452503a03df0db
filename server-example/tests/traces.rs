//! Traces of a server that runs, as a collector gets them: behind the feature `otel`.

#[path = "../../core/tests/process/mod.rs"]
mod child;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::child::Process;

/// A bound, not a measurement.
const PATIENCE: Duration = Duration::from_secs(120);

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const SPAN: &str = "b7ad6b7169203331";

struct Server {
    process: Process,
    address: SocketAddr,
    _folder: TempDir,
}

impl Server {
    fn start(args: &[&str], variables: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_mesonet-server"));
        command.env_clear().envs(variables.iter().copied()).current_dir(folder.path());
        command.args(["--listen", "127.0.0.1:0", "--now", "live", "--rate-requests", "0"]);
        let mut process = Process::start(command.args(args), PATIENCE);
        let log = process.wait_for("listening on http://").err.clone();
        let address = log.split_once("listening on http://").unwrap().1.trim().parse().unwrap();
        Self { process, address, _folder: folder }
    }

    /// The status of the answer to a GET.
    fn get(&self, path: &str, headers: &str) -> u16 {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n{headers}\r\n")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// Its log, once it has stopped as it was told.
    fn stop(self) -> String {
        let pid = self.process.id().to_string();
        assert!(Command::new("kill").args(["-s", "TERM", &pid]).status().unwrap().success());
        let (status, said) = self.process.wait();
        assert_eq!(status.code(), Some(0), "{}", said.err);
        said.err
    }
}

/// A collector that takes what it is sent: the first lines and the bodies of its requests.
fn collector() -> (String, mpsc::Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, received) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, sender) = (stream.unwrap(), sender.clone());
            thread::spawn(move || {
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                loop {
                    let (mut first, mut length) = (String::new(), 0);
                    if reader.read_line(&mut first).unwrap_or(0) == 0 {
                        return;
                    }
                    loop {
                        let mut line = String::new();
                        reader.read_line(&mut line).unwrap();
                        let line = line.trim().to_lowercase();
                        if let Some(value) = line.strip_prefix("content-length:") {
                            length = value.trim().parse().unwrap();
                        }
                        if line.is_empty() {
                            break;
                        }
                    }
                    let mut body = vec![0; length];
                    reader.read_exact(&mut body).unwrap();
                    let body = serde_json::from_slice(&body).unwrap();
                    stream
                        .write_all(
                            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
                              content-length: 2\r\n\r\n{}",
                        )
                        .unwrap();
                    let _ = sender.send((first.trim().to_owned(), body));
                }
            });
        }
    });
    (address, received)
}

/// All spans that were sent, and the attributes of what sent them.
fn spans(received: &mpsc::Receiver<(String, Value)>) -> (Vec<Value>, Vec<Value>) {
    let (mut spans, mut resource) = (Vec::new(), Vec::new());
    for (first, body) in received.try_iter() {
        assert_eq!(first, "POST /v1/traces HTTP/1.1");
        for of_resource in body["resourceSpans"].as_array().unwrap() {
            resource.clone_from(of_resource["resource"]["attributes"].as_array().unwrap());
            for of_scope in of_resource["scopeSpans"].as_array().unwrap() {
                spans.extend(of_scope["spans"].as_array().unwrap().clone());
            }
        }
    }
    (spans, resource)
}

fn attribute<'a>(attributes: &'a Value, key: &str) -> &'a Value {
    let attributes = attributes.as_array().unwrap();
    let found = attributes.iter().find(|attribute| attribute["key"] == key);
    &found.unwrap_or_else(|| panic!("{key}: {attributes:?}"))["value"]
}

#[test]
fn the_span_of_a_request_has_its_route_its_status_and_the_trace_of_its_caller() {
    let (address, received) = collector();
    let server = Server::start(&["--otlp-endpoint", &address], &[]);
    let parent = format!("traceparent: 00-{TRACE}-{SPAN}-01\r\n");
    let path = "/api/v1/stations/7a6bd2a2-bd3d-5f2a-a1b0-0a3c7d6a0000?key=secret";
    assert_eq!(server.get(path, &parent), 404);
    assert_eq!(server.get("/nowhere", ""), 404);
    // Its caller does not trace.
    let unsampled = format!("traceparent: 00-{TRACE}-{SPAN}-00\r\n");
    assert_eq!(server.get("/healthz", &unsampled), 200);
    // What was not sent yet is sent at the end.
    let log = server.stop();
    let (spans, resource) = spans(&received);
    assert_eq!(spans.len(), 2, "{spans:?}");

    let span = spans.iter().find(|span| span["traceId"] == TRACE).unwrap();
    assert_eq!(span["parentSpanId"], SPAN);
    assert_eq!(span["name"], "GET /api/v1/stations/{id}");
    assert_eq!(span["kind"], 2, "a server's");
    let attributes = &span["attributes"];
    assert_eq!(attribute(attributes, "http.route")["stringValue"], "/api/v1/stations/{id}");
    assert_eq!(attribute(attributes, "http.request.method")["stringValue"], "GET");
    let status = &attribute(attributes, "http.response.status_code")["intValue"];
    assert!(*status == "404" || *status == 404, "{status}");
    assert_eq!(attribute(attributes, "mesonet.plan")["stringValue"], "none");
    assert_eq!(attribute(attributes, "url.path")["stringValue"], path.split_once('?').unwrap().0);
    // The log has the request under the same id.
    let id = attribute(attributes, "mesonet.request.id")["stringValue"].as_str().unwrap();
    assert!(log.contains(id), "{id}: {log}");

    let other = spans.iter().find(|span| span["traceId"] != TRACE).unwrap();
    assert_eq!(other["name"], "GET");
    assert!(!format!("{spans:?}").contains("secret"));
    let resource = Value::from(resource);
    assert_eq!(attribute(&resource, "service.name"), &json!({ "stringValue": "mesonet-server" }));
    assert!(!log.contains("traces cannot be sent"), "{log}");
}

#[test]
fn the_variables_of_opentelemetry_are_honoured() {
    let (address, received) = collector();
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &*address),
        ("OTEL_SERVICE_NAME", "weather"),
        ("OTEL_BSP_SCHEDULE_DELAY", "100"),
    ];
    let server = Server::start(&[], &variables);
    assert_eq!(server.get("/healthz", ""), 200);
    let (first, body) = received.recv_timeout(PATIENCE).unwrap();
    assert_eq!(first, "POST /v1/traces HTTP/1.1");
    let resource = &body["resourceSpans"][0]["resource"]["attributes"];
    assert_eq!(attribute(resource, "service.name")["stringValue"], "weather");
    server.stop();

    let off = [variables[0], ("OTEL_SDK_DISABLED", "true")];
    let server = Server::start(&[], &off);
    assert_eq!(server.get("/healthz", ""), 200);
    assert!(!server.stop().contains("traces are sent"));
    assert!(received.try_recv().is_err());
}

#[test]
fn a_collector_that_is_gone_or_silent_holds_nothing_up() {
    // It takes connections into its queue and never reads them.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let gone = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    for address in [silent.local_addr().unwrap(), gone] {
        let endpoint = format!("http://{address}");
        // More spans than wait for the collector, which gets them one by one.
        let variables = [
            ("OTEL_BSP_SCHEDULE_DELAY", "10"),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "8"),
            ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1"),
        ];
        let server = Server::start(&["--otlp-endpoint", &endpoint], &variables);
        let began = Instant::now();
        for _ in 0..200 {
            assert_eq!(server.get("/healthz", ""), 200);
        }
        // The client gives up after 10 s. Requests that waited for it would take half an hour.
        assert!(began.elapsed() < Duration::from_secs(120), "{:?}", began.elapsed());
        let told = Instant::now();
        let log = server.stop();
        // Eight spans wait in the queue, for 10 s each.
        assert!(told.elapsed() < Duration::from_secs(60), "{:?}", told.elapsed());
        if address == gone {
            let line = "traces cannot be sent, and are dropped until they can: the collector: ";
            assert_eq!(log.matches(line).count(), 1, "{log}");
        }
    }
}

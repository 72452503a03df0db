//! `/metrics`, read with a parser of this test that checks the format of the text.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;

use tempfile::TempDir;

use crate::process::{PATIENCE, Server, data};

/// The samples of a page of OpenMetrics, by name and labels. Panics on what Prometheus would
/// refuse: a sample without an announced family, a repeated sample, a value that is not a number,
/// text after the end.
fn samples(page: &str) -> BTreeMap<String, f64> {
    let (mut families, mut samples) = (BTreeMap::new(), BTreeMap::new());
    let page = page.strip_suffix("# EOF\n").expect("the end is told");
    for line in page.lines() {
        if let Some(comment) = line.strip_prefix("# ") {
            let mut words = comment.splitn(3, ' ');
            let [word, family, rest] = [(); 3].map(|()| words.next().expect(line));
            match word {
                "TYPE" => assert_eq!(families.insert(family.to_owned(), rest), None, "{line}"),
                "HELP" | "UNIT" => assert!(!rest.is_empty(), "{line}"),
                _ => panic!("{line}"),
            }
            continue;
        }
        let (sample, value) = line.rsplit_once(' ').expect(line);
        let name = sample.split('{').next().unwrap();
        let of = |suffix: &str, kind: &str| {
            name.strip_suffix(suffix).is_some_and(|family| families.get(family) == Some(&kind))
        };
        let is_announced = of("", "gauge")
            || of("_total", "counter")
            || ["_bucket", "_sum", "_count"].iter().any(|suffix| of(suffix, "histogram"));
        assert!(is_announced, "{line}");
        if let Some(labels) = sample.strip_prefix(name).filter(|labels| !labels.is_empty()) {
            assert!(labels.starts_with('{') && labels.ends_with("\"}"), "{line}");
        }
        let value: f64 = value.parse().expect(line);
        assert!(samples.insert(sample.to_owned(), value).is_none(), "twice: {line}");
    }
    samples
}

fn page(server: &Server) -> String {
    let (_, address) = server.log().split_once("metrics at http://").unwrap();
    let address = address.split_once("/metrics").unwrap().0;
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert!(head.contains("content-type: application/openmetrics-text; version=1.0.0"), "{head}");
    body.to_owned()
}

#[test]
fn the_figures_count_requests_by_route_and_what_came_in_by_feed() {
    let folder = TempDir::new().unwrap();
    std::fs::create_dir(folder.path().join("in")).unwrap();
    let args = ["--now", "live", "--metrics-listen", "127.0.0.1:0", "--watch", "in"];
    let server = Server::start(&folder, &args);
    for path in [
        "/api/v1/observations/units",
        "/api/v1/observations/units",
        "/api/v1/stations/00000000-0000-0000-0000-000000000000",
        "/api/v1/stations/11111111-1111-1111-1111-111111111111",
        "/%7Eno/such/path",
        "/healthz",
    ] {
        server.get(path);
    }
    let name = "liveairdata_metars_20240803T1930Z.csv.gz";
    std::fs::copy(data(&format!("metar/{name}")), folder.path().join("in").join(name)).unwrap();
    let began = std::time::Instant::now();
    let read = loop {
        let read = samples(&page(&server));
        if read.keys().any(|name| name.starts_with("mesonet_ingest_reports_total{")) {
            break read;
        }
        assert!(began.elapsed() < PATIENCE, "nothing was read: {read:?}");
        std::thread::sleep(std::time::Duration::from_millis(100));
    };
    let requests = |route: &str, status: &str| {
        let labels = format!("route=\"{route}\",method=\"GET\",status=\"{status}\"");
        read.get(&format!("mesonet_http_requests_total{{{labels}}}")).copied()
    };
    assert_eq!(requests("/api/v1/observations/units", "2xx"), Some(2.0));
    assert_eq!(requests("/api/v1/stations/{id}", "4xx"), Some(2.0), "{read:?}");
    assert_eq!(requests("none", "4xx"), Some(1.0));
    assert_eq!(requests("/healthz", "2xx"), Some(1.0));
    assert!(!read.keys().any(|name| name.contains("such") || name.contains("1111")), "{read:?}");
    let units = "{route=\"/api/v1/observations/units\"}";
    assert_eq!(read[&format!("mesonet_http_request_duration_seconds_count{units}")], 2.0);
    assert!(read[&format!("mesonet_http_response_size_bytes_sum{units}")] > 2_000.0);
    assert!(read["mesonet_connections_accepted_total"] >= 6.0);
    assert!(read["mesonet_store_database_bytes{file=\"mesonet.sqlite\"}"] > 0.0);
    assert_eq!((read["mesonet_store_writable"], read["mesonet_store_faults"]), (1.0, 0.0));
    let ages: Vec<_> = read.iter().filter(|(name, _)| name.contains("newest_report_age")).collect();
    assert!(matches!(ages[..], [(_, age)] if *age > 0.0), "{ages:?}");

    // The socket of the service does not show the metrics.
    let (head, body) = server.get("/metrics");
    assert!(head.starts_with("HTTP/1.1 404") && !body.contains("mesonet_"), "{head}");
    assert_eq!(server.stop().0, Some(0));
}

#[test]
fn what_the_rate_refuses_is_counted() {
    let folder = TempDir::new().unwrap();
    let args = ["--now", "live", "--metrics-listen", "127.0.0.1:0"];
    let rate = ["--rate-requests", "1", "--rate-span-s", "3600"];
    let server = Server::start(&folder, &[&args[..], &rate].concat());
    for _ in 0..4 {
        server.get("/api/v1/observations/units");
    }
    let read = samples(&page(&server));
    assert_eq!(read["mesonet_rate_limited_requests_total{outcome=\"refused\"}"], 3.0);
    let refused = "{route=\"/api/v1/observations/units\",method=\"GET\",status=\"4xx\"}";
    assert_eq!(read[&format!("mesonet_http_requests_total{refused}")], 3.0);
}

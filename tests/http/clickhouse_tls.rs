//! A record in ClickHouse that the server connects to over TLS.

use std::env;
use std::path::Path;

use mesonet_clickhouse::Options;
use tempfile::TempDir;

use crate::child::Process;
use crate::in_clickhouse::{own_database, place, server};
use crate::process::{PATIENCE, Server, command, data, output};

/// The address of ClickHouse over TLS, and the file of its certificate; `None` without openssl.
fn secure() -> Option<(String, String)> {
    let of = |name: &str| env::var(format!("MESONET_TEST_CLICKHOUSE_{name}")).ok();
    of("TLS").zip(of("CERTIFICATE"))
}

fn place_over(url: &str, options: &Options) -> String {
    format!("clickhouse:{url}/{}", options.database)
}

/// The error of a command that must fail, if it trusts the certificates in a file or those of the
/// machine.
#[track_caller]
fn refusal(folder: &Path, place: &str, trusted: Option<&str>) -> String {
    let mut command = command(folder, &["quality", "CYYZ", "--store", place]);
    if let Some(file) = trusted {
        command.env("SSL_CERT_FILE", file);
    }
    let (status, said) = Process::start(&mut command, PATIENCE).wait();
    assert_eq!(status.code(), Some(1), "{}", said.err);
    said.err
}

#[test]
fn clickhouse_over_tls_is_the_same_record() {
    let (Some(url), Some((secure, certificate))) = (server(), secure()) else { return };
    let (options, folder) = (own_database(&url), TempDir::new().unwrap());
    let (plain, tls) = (place(&options), place_over(&secure, &options));
    let metars = data("metar/liveairdata_metars_20240803T1732Z.csv.gz");
    let mut ingest = command(folder.path(), &["ingest", &metars, "--store", &tls]);
    let (status, said) = Process::start(ingest.env("SSL_CERT_FILE", &certificate), PATIENCE).wait();
    assert!(status.success(), "{}", said.err);
    let (ok, out, error) = output(folder.path(), &["quality", "CYYZ", "--store", &plain]);
    assert!(ok && out.contains("airTemperature"), "{out}{error}");
    let args = ["--listen", "127.0.0.1:0", "--read-only", "true", "--now", "live", "--store", &tls];
    let mut over_tls = command(folder.path(), &args);
    let server = Server::spawn({
        over_tls.env("SSL_CERT_FILE", &certificate);
        over_tls
    });
    let (head, body) = server.get("/api/v1/stations/map/details");
    assert!(head.starts_with("HTTP/1.1 200 ") && body.contains("CYYZ"), "{head}{body}");
    let (_, log) = server.stop();
    assert!(!log.contains("error"), "{log}");
}

#[test]
fn clickhouse_whose_certificate_cannot_be_trusted_is_told_nothing() {
    let (Some(url), Some((secure, certificate))) = (server(), secure()) else { return };
    let (options, folder) = (own_database(&url), TempDir::new().unwrap());
    let refused = |url: &str, trusted| refusal(folder.path(), &place_over(url, &options), trusted);
    // The certificate is self-signed, or its issuer is unknown here.
    let error = refused(&secure, None);
    assert!(error.contains("certificate"), "{error}");
    let error = refused(&secure.replace("localhost", "127.0.0.1"), Some(&certificate));
    assert!(error.contains("certificate not valid for name \"127.0.0.1\""), "{error}");
    let error = refused(&secure, Some("nowhere.pem"));
    assert!(error.contains("no certificates to check ClickHouse with"), "{error}");
    // Without encryption, at the TLS port.
    let error = refused(&secure.replace("https", "http"), None);
    assert!(error.contains("ClickHouse") || error.contains("network error"), "{error}");
}

//! SIGHUP: which settings a running server reloads, and which it does not.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::process::{PATIENCE, Server, output};

const UNITS: &str = "/api/v1/observations/units";

struct Configured {
    _folder: TempDir,
    file: PathBuf,
    server: Server,
}

impl Configured {
    fn start(settings: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("mesonet.toml");
        std::fs::write(&file, settings).unwrap();
        let args = ["--config", "mesonet.toml", "--now", "live", "--rate-requests", "0"];
        // Flags take precedence. The rate is only in the file.
        let args = if settings.contains("rate_requests") { &args[..4] } else { &args[..] };
        let mut command = crate::process::command(folder.path(), args);
        command.args(["--listen", "127.0.0.1:0"]);
        let server = Server::spawn(command);
        Self { _folder: folder, file, server }
    }

    /// The headers of an answer to a page of another site.
    fn headers(&self, origin: &str) -> String {
        let mut stream = TcpStream::connect(self.server.address()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(
            stream,
            "GET {UNITS} HTTP/1.1\r\nhost: a\r\norigin: {origin}\r\nconnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split("\r\n\r\n").next().unwrap().to_owned()
    }

    fn reload(&self, settings: &str) {
        std::fs::write(&self.file, settings).unwrap();
        self.server.signal("HUP");
    }
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        sleep(Duration::from_millis(50));
    }
}

#[test]
fn limits_and_sites_are_taken_and_what_needs_a_restart_is_named() {
    let one = Configured::start("rate_requests = 0\ncors_origins = [\"https://a.example\"]\n");
    assert!(one.headers("https://a.example").contains("access-control-allow-origin"));
    assert!(!one.headers("https://b.example").contains("access-control-allow-origin"));
    one.reload(
        "rate_requests = 0\ncors_origins = [\"https://b.example\"]\napi_prefix = \"/v2\"\n\
         max_connections = 7\n",
    );
    until("the other site", || {
        one.headers("https://b.example").contains("access-control-allow-origin")
    });
    assert!(!one.headers("https://a.example").contains("access-control-allow-origin"));
    // The paths stay those of the start.
    assert!(one.server.get(UNITS).0.starts_with("HTTP/1.1 200"));
    one.reload("rate_requests = 1\nrate_waiting = 0\nrate_span_s = 3600\n");
    until("the rate", || one.server.get(UNITS).0.starts_with("HTTP/1.1 429"));
    let (code, log) = one.server.stop();
    assert_eq!(code, Some(0), "{log}");
    let named = "read the settings again, but a restart is needed for api_prefix, max_connections";
    assert!(log.contains(named), "{log}");
    assert!(log.contains("read the settings again\n"), "{log}");
}

#[test]
fn faulty_settings_change_nothing_and_are_logged() {
    for (fault, reason) in [
        ("max_cells = 0", "max_cells is 0; it must be 1 or more"),
        ("max_cell = 1", "mesonet.toml: line 2: unknown field `max_cell`"),
    ] {
        let one = Configured::start("cors_origins = [\"https://a.example\"]\n");
        one.reload(&format!("cors_origins = [\"https://b.example\"]\n{fault}\n"));
        sleep(Duration::from_secs(2));
        assert!(one.headers("https://a.example").contains("access-control-allow-origin"));
        assert!(!one.headers("https://b.example").contains("access-control-allow-origin"));
        let (code, log) = one.server.stop();
        assert_eq!(code, Some(0), "{log}");
        assert!(log.contains("the settings stay as they were: ") && log.contains(reason), "{log}");
    }
}

#[test]
fn a_broken_key_set_leaves_the_old_one() {
    let folder = TempDir::new().unwrap();
    let keys = folder.path().join("keys.json");
    let key = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
    let set = serde_json::json!({
        "keys": [{ "kty": "OKP", "crv": "Ed25519", "kid": "1", "x": key }]
    });
    std::fs::write(&keys, set.to_string()).unwrap();
    let args = ["--now", "live", "--token-keys", "keys.json"];
    let whose = ["--token-issuer", "a", "--token-audience", "b"];
    let server = Server::start(&folder, &[&args[..], &whose].concat());
    std::fs::write(&keys, "{").unwrap();
    server.signal("HUP");
    sleep(Duration::from_secs(2));
    let (code, log) = server.stop();
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("the settings stay as they were: the key set keys.json: "), "{log}");
}

#[test]
fn catalogues_are_taken_and_a_broken_one_leaves_the_old_in_force() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("models.toml", "");
    write("products.toml", "");
    let args = ["--models", "models.toml", "--products", "products.toml"];
    let server = Server::start(&folder, &args);
    let status = |path: &str| server.get(path).0.split(' ').nth(1).unwrap().to_owned();
    let model = "/models/nam211/runs";
    let lists = |path: &str, name: &str| server.get(path).1.contains(&format!("\"{name}\""));
    let products = "/api/v1/products";
    assert!(status(model) == "200" && lists("/models/coverage", "nam211"));
    assert!(lists(products, "reflectivity") && !lists(products, "pressure"));

    // One model is removed and one is added. Nothing changes while the file of the other catalogue
    // is broken.
    let own = "[pressure]\ntitle = \"Pressure\"\nunit = \"Pa\"\nscale = 1\noffset = 100000\n\
               fields = [{ parameter = \"7:0.3.1\" }]\n";
    let fewer = format!("without = [\"reflectivity\"]\n{own}");
    write("products.toml", &fewer);
    write("models.toml", "without = [");
    server.signal("HUP");
    sleep(Duration::from_secs(2));
    assert!(status(model) == "200" && lists(products, "reflectivity"));
    assert!(!lists(products, "pressure"));

    write("models.toml", "without = [\"nam211\"]");
    server.signal("HUP");
    until("the model is gone", || status(model) == "404");
    assert!(!lists("/models/coverage", "nam211") && !lists("/capabilities", "nam211"));
    assert!(!lists(products, "reflectivity") && lists(products, "pressure"));
    assert_eq!(status("/api/v1/products/reflectivity"), "404");
    for kept in ["models/nam211/20180917T000000Z", "products/reflectivity/instant"] {
        assert!(folder.path().join("mesonet-data").join(kept).exists(), "{kept}");
    }

    write("models.toml", "");
    server.signal("HUP");
    until("the model is back", || status(model) == "200");
    let (code, log) = server.stop();
    assert_eq!(code, Some(0), "{log}");
    for said in [
        "the settings stay as they were: models.toml: ",
        "the model nam211 is no longer in the catalogue: runs that stay on disk without being \
         served: 1",
        "the product reflectivity is no longer in the catalogue: files that stay on disk without \
         being served: 1",
    ] {
        assert_eq!(log.matches(said).count(), 1, "{said}: {log}");
    }
    assert!(!log.contains("a restart is needed"), "{log}");
}

/// What servers note beside the record.
#[test]
fn verify_names_damaged_notes_and_sets_them_aside_as_a_server_does() {
    let folder = TempDir::new().unwrap();
    drop(Server::start(&folder, &["--now", "live"]).stop());
    let data = folder.path().join("mesonet-data");
    let (ok, said, _) = output(folder.path(), &["verify"]);
    assert!(ok && !said.contains(".sqlite"), "{said}");
    for (file, loss) in [
        ("live.sqlite", "callers of /live begin anew"),
        ("refused.sqlite", "no report that was refused before is shown"),
    ] {
        let whole = std::fs::read(data.join(file)).unwrap();
        let mut bytes = whole.clone();
        bytes[0] = b'?';
        std::fs::write(data.join(file), bytes).unwrap();
        let (ok, said, _) = output(folder.path(), &["verify"]);
        let fault = format!("\nfault: {file}: file is not a database; without it, {loss}\n");
        assert!(!ok && said.contains(&fault), "{said}");
        let (ok, said, _) = output(folder.path(), &["verify", "--set-aside"]);
        assert!(!ok && said.contains(&format!("\nfault, set aside: {file}: ")), "{said}");
        let (ok, said, _) = output(folder.path(), &["verify"]);
        assert!(ok && said.contains(&format!("\nnot checked: {file}.damaged-1\n")), "{said}");
        std::fs::write(data.join(file), whole).unwrap();
    }
}

/// The file is outside the record that `verify` checks.
#[test]
fn verify_names_damaged_api_keys() {
    let folder = TempDir::new().unwrap();
    drop(Server::start(&folder, &["--now", "live"]).stop());
    let (ok, _, error) =
        output(folder.path(), &["keys", "issue", "--label", "x", "--expires", "year"]);
    assert!(ok, "{error}");
    let (ok, said, _) = output(folder.path(), &["verify"]);
    assert!(ok && !said.contains("keys.sqlite"), "{said}");
    let file = folder.path().join("mesonet-data/keys.sqlite");
    let mut bytes = std::fs::read(&file).unwrap();
    let from = bytes.len() / 2;
    bytes[from..].fill(0x5a);
    std::fs::write(&file, bytes).unwrap();
    let (ok, said, _) = output(folder.path(), &["verify"]);
    assert!(!ok && said.contains("keys.sqlite"), "{said}");
}

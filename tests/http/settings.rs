//! The command line besides serving: the effective settings, the socket of the service manager,
//! completions, the manual, and whether a server answers.

use std::net::TcpListener;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::process::{Server, binary, command, output};

#[test]
fn the_settings_are_printed_with_where_each_comes_from() {
    let folder = TempDir::new().unwrap();
    let settings = "max_cells = 7\nmax_positions = 8\n";
    std::fs::write(folder.path().join("mesonet.toml"), settings).unwrap();
    let mut asked = command(folder.path(), &["--config", "mesonet.toml", "--print-config"]);
    asked.args(["--listen", "127.0.0.1:1"]).env("MESONET_MAX_POSITIONS", "9");
    let printed = asked.output().unwrap();
    let text = String::from_utf8(printed.stdout).unwrap();
    assert!(printed.status.success(), "{text}");
    for line in [
        "max_cells = 7  # file",
        "max_positions = 9  # environment",
        "listen = \"127.0.0.1:1\"  # flag",
        "rate_requests = 150  # default",
        "# retention is not set",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    assert!(!folder.path().join("mesonet-data").exists(), "nothing was made");
    // The output is a configuration file.
    std::fs::write(folder.path().join("printed.toml"), &text).unwrap();
    let (ok, again, error) =
        output(folder.path(), &["serve", "--config", "printed.toml", "--print-config"]);
    assert!(ok, "{error}");
    assert!(again.contains("max_positions = 9  # file"), "{again}");
}

#[test]
fn a_variable_that_is_no_setting_is_named() {
    let folder = TempDir::new().unwrap();
    let mut command = command(folder.path(), &["--listen", "127.0.0.1:0", "--now", "live"]);
    command.env("MESONET_LISTN", "127.0.0.1:1").env("MESONET_MAX_CELLS", "5");
    let server = Server::spawn(command);
    let log = server.log();
    assert!(log.contains("the environment variable MESONET_LISTN is not a setting"), "{log}");
    assert!(!log.contains("MESONET_MAX_CELLS"), "{log}");
}

/// Opens a socket and becomes the server, as a service manager does.
const ACTIVATE: &str = "import os, socket, sys
listening = socket.create_server(('127.0.0.1', int(sys.argv[1])))
if listening.fileno() != 3:
    os.dup2(listening.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_FDS='1', LISTEN_PID=str(os.getpid()))
os.execv(sys.argv[2], sys.argv[2:])";

#[test]
fn the_socket_of_the_systems_manager_is_taken_instead_of_an_own_one() {
    let folder = TempDir::new().unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut python = Command::new("python3");
    python.args(["-c", ACTIVATE, &free.port().to_string()]).arg(binary());
    // A port that the server could not open itself.
    python.args(["--now", "live", "--listen", "127.0.0.1:1"]);
    python.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).current_dir(folder.path());
    let server = Server::spawn(python);
    assert_eq!(server.address(), free);
    assert!(server.get("/healthz").0.starts_with("HTTP/1.1 200"));
    assert_eq!(server.stop().0, Some(0));
}

#[test]
fn health_tells_whether_the_server_answers() {
    let folder = TempDir::new().unwrap();
    let server = Server::start(&folder, &["--now", "live"]);
    let address = server.address().to_string();
    let (ok, _, error) = output(folder.path(), &["health", "--listen", &address]);
    assert!(ok, "{error}");
    assert_eq!(server.stop().0, Some(0));
    let (ok, _, error) = output(folder.path(), &["health", "--listen", &address]);
    assert!(!ok && error.contains("no server answers at "), "{error}");
}

#[test]
fn completions_and_manual_pages_come_from_the_command_line_itself() {
    let folder = TempDir::new().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let (ok, text, _) = output(folder.path(), &["completions", shell]);
        assert!(ok && text.contains("mesonet-server") && text.contains("max-cells"), "{text}");
    }
    let (ok, page, _) = output(folder.path(), &["man"]);
    assert!(ok && page.contains(".TH mesonet-server 1") && page.contains("listen"));
    let (ok, _, error) = output(folder.path(), &["man", "."]);
    assert!(ok, "{error}");
    for page in ["mesonet-server.1", "mesonet-server-verify.1"] {
        assert!(folder.path().join(page).is_file(), "{page}");
    }
}

#[test]
fn the_description_is_printed_as_it_is_committed() {
    let folder = TempDir::new().unwrap();
    let (ok, printed, error) = output(folder.path(), &["openapi"]);
    assert!(ok && error.is_empty(), "{error}");
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/openapi-v1.json");
    let committed = std::fs::read_to_string(committed).unwrap();
    let parsed = [&printed, &committed].map(|text| serde_json::from_str::<Value>(text).unwrap());
    assert_eq!(parsed[0], parsed[1]);
}

use clap::{CommandFactory, Parser};
use mesonet::access::Plan;

use super::*;
use crate::config::replay_start::ReplayStart;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    flags: Flags,
}

fn flags(line: &str) -> Result<Flags, String> {
    let words = std::iter::once("mesonet-server").chain(line.split_whitespace());
    Line::try_parse_from(words).map(|line| line.flags).map_err(|error| error.to_string())
}

fn load(line: &str) -> Result<Config, String> {
    Config::load(&flags(line)?).map_err(|error| error.to_string())
}

/// A configuration file that is deleted after the test.
struct TempFile(PathBuf);

impl TempFile {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("mesonet-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        Self(path)
    }

    fn flag(&self) -> String {
        format!("--config {}", self.0.display())
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        // A file that is left behind does no harm.
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn without_settings_the_defaults_of_the_interface_hold() {
    let config = load("").unwrap();
    assert_eq!(config, Config::default());
    assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(config.caps(), Caps { cells: 500_000, positions: 2_000 });
    assert_eq!((config.max_station_ids, &*config.api_prefix), (5_000, "/api/v1"));
    assert_eq!((config.now, config.assume_plan), (None, Plan::None));
    assert_eq!((config.data.to_str(), config.retention_ms()), (Some("mesonet-data"), None));
}

#[test]
fn a_flag_beats_the_file_and_the_file_beats_the_default() {
    let file = TempFile::new(
        "precedence.toml",
        "now = \"2024-08-03T18:00:00Z\"\nmax_cells = 10\nmax_positions = 20\n\
         cors_origins = [\"https://a.org\"]\n",
    );
    let config = load(&format!("{} --max-cells 11", file.flag())).unwrap();
    assert_eq!(config.caps(), Caps { cells: 11, positions: 20 });
    assert_eq!(config.now, Some(ReplayStart::At(1_722_708_000_000)));
    assert_eq!(config.cors_origins, ["https://a.org"]);
    assert_eq!(config.max_station_ids, 5_000);
}

#[test]
fn a_file_that_cannot_be_used_is_refused() {
    let refusal = |text: &str| {
        let file = TempFile::new("bad.toml", text);
        load(&file.flag()).unwrap_err()
    };
    let almost = refusal("max_cell = 1");
    assert!(
        almost.ends_with("bad.toml: line 1: unknown field `max_cell`; the name is max_cells"),
        "{almost}"
    );
    let unknown = refusal("\n\"colour\" = 1");
    assert!(
        unknown.contains("bad.toml: line 2: unknown field `colour`, expected one of `"),
        "{unknown}"
    );
    let wrong_type = refusal("\nmax_cells = \"many\"\n");
    assert!(
        wrong_type
            .ends_with("bad.toml: line 2: max_cells: invalid type: string \"many\", expected u64"),
        "{wrong_type}"
    );
    let in_array = refusal("ingest_key_hashes = [\n  \"c2VjcmV0=\", \"b\" = 1,\n]\n");
    assert!(in_array.contains("bad.toml: line 2: ") && !in_array.contains("c2Vj"), "{in_array}");
    let element = refusal("cors_origins = [\n  \"https://a.org\",\n  1, # a=b\n]\n");
    let reason = "bad.toml: line 3: invalid type: integer `1`, expected a string";
    assert!(element.ends_with(reason), "{element}");
    let scripts = refusal("# \u{e9}\nmax_cells = \u{e9}\u{1f327}\n");
    assert!(scripts.contains("bad.toml: line 2: "), "{scripts}");
    assert!(!refusal("= 1\n").contains(": : "), "no key");
    let in_table = refusal("max_cells = 1\n\n[[fetch]]\nsource = \"url\"\nbad = 1\n");
    assert!(in_table.contains("bad.toml: line 5: unknown field `bad`"), "{in_table}");
    assert!(refusal("max_cells = 1\rmax_positions = 2").contains("line 1: "), "not TOML");
    let bad_now = refusal("now = \"noon\"");
    let reason = "bad.toml: line 1: now: \"noon\" is not a start of the clock; it must be";
    assert!(bad_now.contains(reason), "{bad_now}");
    let missing = load("--config /nowhere/mesonet.toml").unwrap_err();
    assert!(missing.contains("/nowhere/mesonet.toml"), "{missing}");
}

#[test]
fn values_that_are_not_allowed_are_refused_with_what_is() {
    for (line, message) in [
        ("--max-cells 0", "max_cells is 0; it must be 1 or more"),
        ("--max-positions 1", "max_positions is 1; it must be 2 (start and end) or more"),
        ("--max-station-ids 0", "max_station_ids is 0; it must be 1 or more"),
        ("--seal-readings 0", "seal_readings is 0; it must be 1 or more"),
        ("--follow-every-s 0", "follow_every_s is 0; it must be 1 to 86400"),
        (
            "--follow backups --watch in",
            "follow is a place; it must be left out where files are watched or fetched: a follower \
             takes nothing in",
        ),
        ("--max-body-bytes 1", "max_body_bytes is 1; it must be 64 to 67108864"),
        (
            "--listen 0.0.0.0:80 --assume-plan pro",
            "assume_plan is pro while listening on 0.0.0.0:80; it must be none unless on a \
             loopback address (127.0.0.1)",
        ),
        (
            "--api-prefix /api/",
            "api_prefix is \"/api/\"; it must be a path of letters, digits and - . _ ~ that starts \
             with / and does not end with it, for example /api/v1",
        ),
        (
            "--token-keys keys.json",
            "token_issuer is nothing; it must be a text: token_keys needs it",
        ),
        (
            "--token-audience a",
            "token_audience is a text without token_keys; it must be token_keys, too, or neither",
        ),
        (
            "--token-keys http://id.example.org/keys --token-issuer i --token-audience a",
            "token_keys is \"http://id.example.org/keys\"; it must be a file or https://…; http:// \
             only on this machine",
        ),
        (
            "--trusted-proxies 10.0.0.1,proxy",
            "trusted_proxies is \"proxy\"; it must be addresses, or networks such as 10.0.0.0/8",
        ),
        ("--rate-span-s 0", "rate_span_s is 0; it must be 1 to 3600"),
        ("--rate-requests 100001", "rate_requests is 100001; it must be 0 to 100000"),
        ("--rate-waiting 10001", "rate_waiting is 10001; it must be 0 to 10000"),
        ("--rate-wait-ms 60001", "rate_wait_ms is 60001; it must be 0 to 60000"),
        (
            "--retention 3w",
            "retention is \"3w\"; it must be a positive whole number followed by d or h, for \
             example 400d",
        ),
        (
            "--archive ftp://a/b",
            if cfg!(feature = "s3") {
                "archive is \"ftp://a/b\"; it must be a folder, file:///… or s3://BUCKET/PREFIX"
            } else {
                "archive is \"ftp://a/b\"; it must be a folder or file:///…; this server was built \
                 without the feature s3"
            },
        ),
        (
            "--ingest-key-hashes abc",
            "entry 1 of ingest_key_hashes: it must be 64 hexadecimal digits as printed by push-key",
        ),
        ("--max-ingest-bytes 10", "max_ingest_bytes is 10; it must be 1024 or more"),
        ("--max-connections 0", "max_connections is 0; it must be 1 or more"),
        ("--max-address-connections 0", "max_address_connections is 0; it must be 1 or more"),
        ("--head-timeout-s 0", "head_timeout_s is 0; it must be 1 to 3600"),
        ("--idle-timeout-s 3601", "idle_timeout_s is 3601; it must be 1 to 3600"),
        ("--min-bytes-per-s 0", "min_bytes_per_s is 0; it must be 1 or more"),
        ("--answer-memory-bytes 1", "answer_memory_bytes is 1; it must be 16777216 or more"),
        (
            "--otlp-endpoint 127.0.0.1:4318",
            if cfg!(feature = "otel") {
                "otlp_endpoint is an address of another form; it must be http://… or https://… \
                 without a query"
            } else {
                "otlp_endpoint is an address; it must be left out: this server was built without \
                 the feature otel"
            },
        ),
        ("--log loud", "log is \"loud\"; it must be off, error, warn, info, debug or trace"),
    ] {
        assert_eq!(load(line).unwrap_err(), message);
    }
    for (line, part) in [
        ("--max-cells -1", "unexpected argument"),
        ("--max-cells=-1", "invalid value '-1' for '--max-cells <N>'"),
        ("--listen here", "invalid value 'here' for '--listen <ADDR>'"),
        ("--assume-plan gold", "allowed are none, free, pro, commercial"),
        ("--now yesterday", "it must be sample, live or an RFC 3339 instant"),
    ] {
        let message = load(line).unwrap_err();
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn sites_are_origins() {
    let allowed = "it must be an origin such as https://example.org, or https://*.example.org";
    let refusal = |line: &str| load(line).unwrap_err();
    assert_eq!(
        refusal("--cors-origins https://a.org,*"),
        format!("cors_origins is \"*\"; {allowed}")
    );
    let message = format!("frame_origins is \"https://a.org/map\"; {allowed}");
    assert_eq!(refusal("--frame-origins https://a.org/map"), message);
}

#[test]
fn what_is_followed_is_outside_the_folder_of_the_record() {
    let message = "follow is \"d/backups\"; it must be outside the folder of the record";
    assert_eq!(load("--data d --follow d/backups").unwrap_err(), message);
}

#[test]
fn the_clock_and_the_record_are_set_like_everything_else() {
    let file = TempFile::new("record.toml", "data = \"/srv/a\"\nretention = \"400d\"\n");
    let config = load(&format!("{} --now live --data /srv/b", file.flag())).unwrap();
    assert_eq!((config.now, config.data.to_str()), (Some(ReplayStart::Live), Some("/srv/b")));
    assert_eq!(config.retention_ms(), Some(400 * mesonet::time::DAY_MS));
    let config = load("--watch in --watch-keep true").unwrap();
    assert_eq!((config.watch, config.watch_keep), (Some(PathBuf::from("in")), true));
}

#[test]
fn a_store_that_is_nowhere_or_has_a_password_is_refused() {
    for (line, message) in [
        (
            "--read-only true",
            "read_only is true; it must be false: a record on disk is read by its own server, or by one \
             with follow",
        ),
        (
            "--store-password-file a",
            "store_password_file is a file; it must be left out: a folder has no password",
        ),
        (
            "--store embedded:elsewhere",
            "store is \"embedded:elsewhere\"; it must be embedded, which is in the folder that data \
             names, or in ClickHouse",
        ),
        (
            "--store clickhouse:http://me:secret@127.0.0.1:8123/mesonet",
            "store is an address with a password; it must be without it: the password is in the file \
             that store_password_file names, or in CLICKHOUSE_PASSWORD",
        ),
    ] {
        assert_eq!(load(line).unwrap_err(), message);
    }
}

#[cfg(not(feature = "clickhouse"))]
#[test]
fn a_server_without_the_feature_refuses_a_store_in_clickhouse() {
    assert_eq!(
        load("--store clickhouse:http://127.0.0.1:8123/mesonet").unwrap_err(),
        "store is \"clickhouse:http://127.0.0.1:8123/mesonet\"; it must be embedded: this server was \
         built without the feature clickhouse"
    );
}

#[cfg(feature = "clickhouse")]
#[test]
fn the_store_is_in_the_folder_or_in_clickhouse() {
    use mesonet_service::record::RecordPlace;
    let place = |line: &str| load(line).map(|config| config.place().to_string());
    assert_eq!(place("--data a").as_deref(), Ok("embedded:a"));
    assert_eq!(place("--data a --store embedded").as_deref(), Ok("embedded:a"));
    let elsewhere = "clickhouse:http://me@127.0.0.1:8123/mesonet";
    let line = format!("--store {elsewhere} --store-password-file p --read-only true");
    let config = load(&line).unwrap();
    assert!(matches!(config.place(), RecordPlace::ClickHouse(_)) && config.read_only);
    assert_eq!(
        config.on_disk("verify", "ask ClickHouse").unwrap_err().to_string(),
        format!("verify is for a record on disk; store is {elsewhere}: ask ClickHouse")
    );
    for (more, message) in [
        (
            "--follow backups",
            "follow is a place; it must be left out: what is followed is a record on disk; several \
             servers read one in ClickHouse with read_only",
        ),
        (
            "--read-only true --watch in",
            "read_only is true; it must be false where files are watched or fetched: such a server \
             takes nothing in",
        ),
        (
            "--read-only true --archive there",
            "archive is a place; it must be left out with read_only: the server that writes answers \
             from it",
        ),
    ] {
        assert_eq!(place(&format!("--store {elsewhere} {more}")), Err(message.to_owned()));
    }
    assert_eq!(
        place("--store http://127.0.0.1:8123/mesonet"),
        Err("store is \"http://127.0.0.1:8123/mesonet\"; it must be embedded, \
             clickhouse:http://HOST:PORT/DATABASE, or for a cluster \
             clickhouse:http://HOST:PORT,HOST:PORT,…/DATABASE/CLUSTER, with USER@ before the first \
             HOST for another user than default"
            .to_owned())
    );
}

#[test]
fn an_address_may_have_a_quarter_of_the_connections_by_default() {
    let limits = |line: &str| {
        let limits = load(line).unwrap().connection_limits();
        (limits.connections, limits.of_client)
    };
    assert_eq!(limits(""), (4_096, 1_024));
    assert_eq!(limits("--max-connections 10"), (10, 3));
    assert_eq!(limits("--max-connections 10 --max-address-connections 10"), (10, 10));
}

#[test]
fn a_plan_may_be_assumed_on_loopback() {
    for listen in ["127.0.0.1:0", "127.1.2.3:80", "[::1]:80"] {
        let config = load(&format!("--listen {listen} --assume-plan commercial")).unwrap();
        assert_eq!(config.assume_plan, Plan::Commercial);
    }
    assert!(load("--listen 0.0.0.0:80 --assume-plan none").is_ok());
}

#[test]
fn limits_that_make_no_sense_are_refused_with_their_line() {
    let refusal = |text: &str| {
        let file = TempFile::new("limits.toml", text);
        load(&format!("--limits {}", file.0.display()))
            .map(|config| config.checker().is_ok())
            .map_err(|error| error.replace(&file.0.display().to_string(), "FILE"))
    };
    let own = "[record.airTemperature]\nbounds = [-70, 56.7]\nsource = \"own network\"\n";
    assert_eq!(refusal(own), Ok(true));
    let turned = "[record.airTemperature]\nbounds = [56.7, -70]\nsource = \"own network\"\n";
    assert_eq!(
        refusal(turned),
        Err("FILE: line 2 of the limits: the lower bound must be below the upper; got [56.7, -70]"
            .to_owned())
    );
    assert!(load("--limits /nowhere/limits.toml").unwrap_err().contains("/nowhere/limits.toml"));
}

#[test]
fn a_flag_and_its_environment_variable_have_the_name_of_the_setting() {
    let command = Line::command();
    for arg in command.get_arguments() {
        let name = arg.get_id().as_str();
        // An action, not a setting.
        if name == "print_config" {
            continue;
        }
        let long = name.replace('_', "-");
        assert_eq!(arg.get_long(), Some(&*long));
        let variable = format!("MESONET_{}", name.to_uppercase());
        assert_eq!(arg.get_env().and_then(|name| name.to_str()), Some(&*variable));
    }
    assert!(command.get_arguments().any(|arg| arg.get_id() == "listen"));
}

#[test]
fn the_help_of_a_flag_gives_its_default() {
    let command = Line::command();
    let help = |name: &str| {
        let mut args = command.get_arguments();
        args.find(|arg| arg.get_id() == name).unwrap().get_help().unwrap().to_string()
    };
    assert_eq!(help("listen"), "Address and port to listen on [default: 127.0.0.1:8080]");
    assert_eq!(
        help("watch"),
        "Folder from which feed files are read as they arrive, then moved to done/ or failed/ in \
         it [default: none]"
    );
    assert!(help("data").ends_with(" [default: mesonet-data]"));
    assert!(help("cors_origins").ends_with(" [default: none]"));
    assert!(help("retention").ends_with(" [default: forever]"));
    assert!(help("max_body_bytes").ends_with(" [default: 1048576]"));
}

#[test]
fn tables_of_the_configuration_file_are_sources_and_without_one_nothing_is_fetched() {
    use mesonet_service::fetch::FetchSource;

    let read = |text: &str| toml::from_str::<Config>(text).unwrap();
    assert_eq!(read("").fetch, []);
    // As docs/fetch.md shows it.
    let text = include_str!("../../../docs/fetch.md");
    let example = text.split("```toml").nth(1).unwrap().split("```").next().unwrap();
    let config = read(example);
    let sources: Vec<FetchSource> = config.fetch.iter().map(|fetch| fetch.source).collect();
    assert_eq!(
        sources,
        [
            FetchSource::DatamartSwob,
            FetchSource::NwsObservations,
            FetchSource::DatamartCap,
            FetchSource::NwsAlerts,
            FetchSource::Url
        ]
    );
    config.check().unwrap();
    assert!(read(&example.replacen("https://", "http://", 1)).check().is_err());
}

//! Credentials at a running server: account tokens of the development issuer, API keys, plans.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use mesonet_service::ingest::KeyHash;
use serde_json::Value;
use tempfile::TempDir;

use super::process::{PATIENCE, Server, command, output};

/// An answer: its status, its head, its body.
pub struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    pub fn status(&self) -> u16 {
        self.status
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    #[track_caller]
    pub fn is(&self, status: u16, body: &str) {
        assert_eq!((self.status, &*self.body), (status, body));
    }
}

pub fn send(to: SocketAddr, line: &str, headers: &[String], body: &str) -> Answer {
    let mut stream = TcpStream::connect(to).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut request = format!("{line} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n");
    for header in headers {
        write!(request, "{header}\r\n").unwrap();
    }
    write!(stream, "{request}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_lowercase(), body: body.to_owned() }
}

pub fn bearer(credential: &str) -> [String; 1] {
    [format!("authorization: Bearer {credential}")]
}

pub fn run(folder: &TempDir, args: &[&str]) -> String {
    let output = command(folder.path(), args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

pub fn is_bulk_allowed(server: &Server, headers: &[String]) -> bool {
    let answer = send(server.address(), "GET /api/v1/capabilities", headers, "");
    assert_eq!(answer.status, 200);
    assert!(answer.head.contains("\r\ncache-control: no-store"), "{}", answer.head);
    assert!(answer.head.contains("\r\nvary: accept-encoding, authorization, cookie"));
    answer.json()["products"]["historical.bulk"]["allowed"].as_bool().unwrap()
}

/// Repeats a request until the condition holds, for a few seconds at most.
pub fn comes_true(mut is_so: impl FnMut() -> bool) -> Duration {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "it did not come true");
        std::thread::sleep(Duration::from_millis(200));
    }
    began.elapsed()
}

#[test]
fn a_token_gives_its_plan_and_a_bad_one_is_refused_on_every_endpoint() {
    let folder = TempDir::new().unwrap();
    let server = Server::start(&folder, &[]);
    // The key is made after the server has started.
    let token = run(&folder, &["token", "--plan", "commercial"]);
    assert!(is_bulk_allowed(&server, &bearer(&token)));
    assert!(is_bulk_allowed(&server, &[format!("cookie: a=b; acct_at={token}")]));
    assert!(!is_bulk_allowed(&server, &[]));
    let pro = run(&folder, &["token", "--plan", "pro"]);
    assert!(!is_bulk_allowed(&server, &bearer(&pro)));
    // The header takes precedence over the cookie.
    let both = [&bearer(&pro)[..], &[format!("cookie: acct_at={token}")]].concat();
    assert!(!is_bulk_allowed(&server, &both));

    // A month needs the plan pro, and bulk export needs commercial.
    let month = "GET /api/v1/stations/readings?names=airTemperature&minLat=43&maxLat=44\
                 &minLon=-80&maxLon=-79&start=2024-07-10T00:00:00Z&end=2024-07-20T00:00:00Z";
    assert_eq!(send(server.address(), month, &[], "").status, 400);
    assert_eq!(send(server.address(), month, &bearer(&pro), "").status, 200);
    let bulk = "POST /api/v1/historical/bulk?start=2024-08-03T20:00:00Z&end=2024-08-03T21:00:00Z";
    let json = "content-type: application/json".to_owned();
    let asks = |credential: &[String]| {
        send(server.address(), bulk, &[credential, std::slice::from_ref(&json)].concat(), "{}")
            .status
    };
    assert_eq!((asks(&[]), asks(&bearer(&pro)), asks(&bearer(&token))), (401, 403, 400));

    // An invalid token is refused on every endpoint, even where no credential is needed.
    let (signed, _) = token.rsplit_once('.').unwrap();
    let forged = format!("{signed}.AAAA");
    for line in [
        "GET /",
        "GET /api/v1/observations/units",
        "GET /api/v1/stations/map/markers",
        "GET /api/v1/nowhere",
        "GET /capabilities",
        "GET /models/coverage",
        "POST /api/v1/ingest",
    ] {
        let answer = send(server.address(), line, &bearer(&forged), "");
        answer.is(401, r#"{"reason":"bad_signature"}"#);
        assert!(answer.head.contains("\r\ncontent-type: application/json"));
        assert!(answer.head.contains("\r\nwww-authenticate: bearer error=\"invalid_token\""));
    }
    let cookie = [format!("cookie: acct_at={forged}")];
    send(server.address(), "GET /", &cookie, "").is(401, r#"{"reason":"bad_signature"}"#);
    send(server.address(), "GET /", &bearer("a.b.c"), "").is(401, r#"{"reason":"malformed"}"#);
    let other = TempDir::new().unwrap();
    let foreign = run(&other, &["token", "--plan", "pro"]);
    send(server.address(), "GET /", &bearer(&foreign), "").is(401, r#"{"reason":"unknown_kid"}"#);
    // Credentials elsewhere are ignored.
    let elsewhere = format!("GET /api/v1/capabilities?access_token={forged}");
    assert_eq!(send(server.address(), &elsewhere, &[], "").status, 200);
    drop(server);

    // On an address other than loopback, tokens of the development issuer are refused.
    let server = Server::spawn(command(folder.path(), &["--listen", "0.0.0.0:0"]));
    let port = server.address().port();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(
        stream,
        "GET / HTTP/1.1\r\nhost: test\r\nconnection: close\r\nauthorization: Bearer {token}\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with(r#"{"reason":"unknown_kid"}"#), "{answer}");
}

#[test]
fn an_api_key_is_commercial_here_anonymous_for_models_and_ends_when_it_is_revoked() {
    let folder = TempDir::new().unwrap();
    let server = Server::start(&folder, &[]);
    let key = run(&folder, &["keys", "issue", "--label", "a network"]);
    assert!(!is_bulk_allowed(&server, &bearer("mesonet_key_unknown")));
    comes_true(|| is_bulk_allowed(&server, &bearer(&key)));
    // The model service does not accept API keys.
    let of_models =
        |headers: &[String]| send(server.address(), "GET /capabilities", headers, "").body;
    assert_eq!(of_models(&bearer(&key)), of_models(&[]));
    // A key in a cookie is ignored.
    assert!(!is_bulk_allowed(&server, &[format!("cookie: acct_at={key}")]));

    let listed = run(&folder, &["keys", "list", "--json"]);
    assert!(!listed.contains(&key), "the list shows the key");
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let id = listed[0]["id"].as_str().unwrap();
    assert_eq!(listed[0]["label"], "a network");
    assert!(run(&folder, &["keys", "revoke", id]).contains("revoked"));
    let took = comes_true(|| !is_bulk_allowed(&server, &bearer(&key)));
    assert!(took < Duration::from_secs(60), "{took:?}");
    let unknown = command(folder.path(), &["keys", "revoke", "0123"]).output().unwrap();
    assert_eq!(unknown.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&unknown.stderr), "error: no key has the id \"0123\"\n");
}

#[test]
fn an_operator_issues_lists_and_revokes_keys_over_http() {
    let folder = TempDir::new().unwrap();
    let server = Server::start(&folder, &[]);
    let staff = run(&folder, &["token", "--plan", "free", "--staff"]);
    let free = run(&folder, &["token", "--plan", "commercial"]);
    let with = |credential: &str| {
        [&bearer(credential)[..], &["content-type: application/json".to_owned()]].concat()
    };
    let wanted = r#"{"label":"a partner","expires":"never"}"#;
    let issue =
        |headers: &[String], body: &str| send(server.address(), "POST /api/v1/keys", headers, body);
    issue(&["content-type: application/json".to_owned()], wanted).is(401, "");
    issue(&with(&free), wanted).is(403, "");
    // The browser sends a cookie from any page.
    let cookie = [format!("cookie: acct_at={staff}"), "content-type: application/json".to_owned()];
    issue(&cookie, wanted).is(401, "");
    for (bad, text) in [
        ("{}", "label is required"),
        (r#"{"label":"x","expires":"1y"}"#, "expires must be"),
        (r#"{"label":""}"#, "label must be"),
    ] {
        let answer = issue(&with(&staff), bad);
        assert_eq!(answer.status, 400);
        assert!(answer.body.contains(text), "{}", answer.body);
    }

    let issued = issue(&with(&staff), wanted);
    assert_eq!(issued.status, 201);
    let issued = issued.json();
    let (key, id) = (issued["key"].as_str().unwrap(), issued["id"].as_str().unwrap());
    // This server knows the change at once.
    assert!(is_bulk_allowed(&server, &bearer(key)));
    let listed = send(server.address(), "GET /api/v1/keys", &bearer(&staff), "").json();
    assert_eq!(listed["keys"][0]["id"], id);
    // Members without a value are left out.
    let absent = ["expires", "revoked"].map(|name| listed["keys"][0].get(name));
    assert_eq!(absent, [None, None]);
    assert_eq!(listed["keys"][0].get("key"), None);
    // Staff may use what is reserved for staff, and nothing else: the plan is free.
    assert!(!is_bulk_allowed(&server, &bearer(&staff)));
    send(server.address(), "POST /api/v1/historical/bulk", &with(&staff), "{}").is(403, "");
    // An API key does not allow managing keys.
    assert_eq!(send(server.address(), "GET /api/v1/keys", &bearer(key), "").status, 401);

    let revoke = format!("POST /api/v1/keys/{id}/revoke");
    assert_eq!(send(server.address(), &revoke, &bearer(&staff), "").status, 200);
    assert!(!is_bulk_allowed(&server, &bearer(key)));
    let unknown = send(server.address(), "POST /api/v1/keys/0/revoke", &bearer(&staff), "");
    unknown.is(404, r#""no key has the id \"0\"""#);
}

#[test]
fn an_address_gets_exactly_its_allowance_and_then_429() {
    let folder = TempDir::new().unwrap();
    let args = ["--rate-requests", "40", "--rate-span-s", "60", "--trusted-proxies", "127.0.0.1"];
    let server = Server::start(&folder, &args);
    let to = server.address();
    let statuses = |from: &str, each: usize| -> Vec<(u16, String)> {
        std::thread::scope(|scope| {
            let clients: Vec<_> = (0..8)
                .map(|_| {
                    let header = [format!("x-forwarded-for: 203.0.113.99, {from}")];
                    scope.spawn(move || {
                        let line = "GET /api/v1/observations/units";
                        let answers = (0..each).map(|_| send(to, line, &header, ""));
                        answers.map(|answer| (answer.status, answer.body)).collect::<Vec<_>>()
                    })
                })
                .collect();
            clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
        })
    };
    let answers = statuses("192.0.2.1", 12);
    let count = |status| answers.iter().filter(|answer| answer.0 == status).count();
    assert_eq!((count(200), count(429)), (40, 56));
    assert!(answers.iter().all(|(status, body)| *status == 200 || body.is_empty()));
    // Another client address behind the same proxy has its own rate. An IPv6 network is one client
    // address.
    assert!(statuses("192.0.2.2", 1).iter().all(|answer| answer.0 == 200));
    let networks = ["2001:db8::1", "2001:db8::2"].map(|from| statuses(from, 3));
    let refused = networks.iter().flatten().filter(|answer| answer.0 == 429).count();
    assert_eq!(refused, 8);
}

#[test]
fn pages_of_the_operators_sites_may_call_and_others_may_not() {
    let folder = TempDir::new().unwrap();
    let server = Server::start(&folder, &["--cors-origins", "https://*.example.org"]);
    let asked = |origin: &str| {
        let headers = [
            format!("origin: {origin}"),
            "access-control-request-method: GET".to_owned(),
            "access-control-request-headers: authorization".to_owned(),
        ];
        send(server.address(), "OPTIONS /api/v1/capabilities", &headers, "").head
    };
    let own = asked("https://map.example.org");
    assert!(own.contains("\r\naccess-control-allow-origin: https://map.example.org"), "{own}");
    assert!(own.contains("\r\naccess-control-allow-credentials: true"), "{own}");
    assert!(own.contains("access-control-allow-headers: authorization"), "{own}");
    assert!(!asked("https://evil.net").contains("access-control-allow-origin"));
    // A page can read a refusal, too.
    let headers = ["origin: https://map.example.org".to_owned(), bearer("a.b.c")[0].clone()];
    let refused = send(server.address(), "GET /", &headers, "");
    assert_eq!(refused.status, 401);
    assert!(refused.head.contains("access-control-allow-origin: https://map.example.org"));
}

#[test]
fn an_operator_sees_the_reports_that_could_not_be_read() {
    let folder = TempDir::new().unwrap();
    let key = "k".repeat(64);
    let hash = KeyHash::of(&key);
    let server = Server::start(&folder, &["--now", "live", "--ingest-key-hashes", hash.as_str()]);
    let staff = run(&folder, &["token", "--plan", "free", "--staff"]);
    let free = run(&folder, &["token", "--plan", "commercial"]);
    let path = "GET /api/v1/reports/refused";
    send(server.address(), path, &[], "").is(401, "");
    send(server.address(), path, &bearer(&free), "").is(403, "");
    let bulletin = "METAR CYYZ 032000Z 24012KT 29/17 A2991=\nMETAR CYXX 0320Z <b>\u{7} 24012KT=\n";
    let pushed = send(server.address(), "POST /api/v1/ingest?name=sa.txt", &bearer(&key), bulletin);
    assert_eq!(pushed.status, 200, "{}", pushed.body);
    let listed = send(server.address(), path, &bearer(&staff), "").json();
    let reports = listed["reports"].as_array().unwrap();
    assert_eq!(reports.len(), 1, "{listed}");
    let of = |name: &str| reports[0][name].as_str().unwrap().to_owned();
    assert_eq!((of("kind"), of("file")), ("metar-bulletin".to_owned(), "sa.txt".to_owned()));
    assert!(of("reason").starts_with("line 2: "), "{listed}");
    assert_eq!(of("text"), "METAR CYXX 0320Z <b>  24012KT");
    assert!(of("receivedAt").ends_with('Z'));

    // They outlast the server, killed as it is, and those of the command come beside them.
    drop(server);
    let file = folder.path().join("later.txt");
    fs::write(&file, "METAR CYYZ 032100Z 24012KT=\nMETAR CYOW 0321Z 24012KT=\n").unwrap();
    run(&folder, &["ingest", "--received", "2024-08-03T21:10:00Z", file.to_str().unwrap()]);
    let server = Server::start(&folder, &["--now", "live"]);
    let listed = send(server.address(), path, &bearer(&staff), "").json();
    let texts: Vec<&str> = listed["reports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| of["text"].as_str().unwrap())
        .collect();
    assert_eq!(texts, ["METAR CYOW 0321Z 24012KT", "METAR CYXX 0320Z <b>  24012KT"]);

    // A file of which nothing could be read is one too.
    let file = folder.path().join("whole.txt");
    fs::write(&file, "METAR CYYZ=\n").unwrap();
    let (is_whole, ..) =
        output(folder.path(), &["ingest", "--data", "other", file.to_str().unwrap()]);
    assert!(!is_whole);
    let server = Server::start(&folder, &["--now", "live", "--data", "other"]);
    let staff = run(&folder, &["token", "--plan", "free", "--staff", "--data", "other"]);
    let listed = send(server.address(), path, &bearer(&staff), "").json();
    let reports = listed["reports"].as_array().unwrap();
    assert_eq!((reports.len(), &reports[0]["text"]), (1, &"METAR CYYZ=\n".into()), "{listed}");
}

/// What is in it can be lost; the record is served all the same.
#[test]
fn a_server_starts_though_its_refused_reports_cannot_be_opened() {
    let folder = TempDir::new().unwrap();
    fs::create_dir_all(folder.path().join("mesonet-data/refused.sqlite")).unwrap();
    let server = Server::start(&folder, &["--now", "live"]);
    assert!(server.get("/healthz").0.contains(" 200 "));
    let log = server.log();
    assert!(log.contains("refused.sqlite: ") && log.contains("until the server stops"), "{log}");
}

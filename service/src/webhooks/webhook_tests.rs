use std::fs;
use std::net::TcpListener;

use tempfile::TempDir;

use self::receiver::{Receiver, field};
use super::*;
use crate::live::Position;

#[path = "../../tests/support/receiver.rs"]
mod receiver;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn config(folder: &TempDir, url: &str) -> WebhookConfig {
    let secret_file = folder.path().join("secret");
    fs::write(&secret_file, SECRET).unwrap();
    let toml = format!(
        "name = \"river\"\nurl = \"{url}\"\nsecret_file = \"{}\"\nallow_http = true\n\
         allow_private = true\ntimeout_s = 2\n",
        secret_file.display()
    );
    toml::from_str(&toml).unwrap()
}

fn message(number: u64) -> Message {
    let position = EventId { start: 7, position: Position { item: number, ..Position::default() } };
    let alert = format!("alert {number}");
    Message { id: number.to_string(), alert, is_active: true, position, body: b"{}".to_vec() }
}

#[test]
fn what_arrives_is_not_sent_again_after_a_restart() {
    let folder = TempDir::new().unwrap();
    let receiver = Receiver::new(&["204 No Content"]);
    let config = config(&folder, &receiver.url);
    let open = || Webhook::open_all(std::slice::from_ref(&config), Some(folder.path())).unwrap();
    let webhook = &open()[0];
    assert_eq!((webhook.position(), webhook.wait()), (None, Some(Duration::ZERO)));
    assert!(webhook.deliver(&message(5)) && webhook.has_in_force("alert 5"));
    let again = &open()[0];
    assert_eq!(again.position(), Some(message(5).position));
    assert!(again.has_in_force("alert 5"));
    assert_eq!(again.status().delivered, 1);
    assert!(again.deliver(&Message { is_active: false, ..message(5) }));
    assert!(!again.has_in_force("alert 5"));
    let (head, body) = receiver.got().remove(0);
    assert!(head.starts_with("post /hook http/1.1\r\n"), "{head}");
    assert_eq!((field(&head, "content-type"), &*body), ("application/json".to_owned(), "{}"));
    assert!(field(&head, "webhook-signature").starts_with("v1,"));
    let at_s: i64 = field(&head, "webhook-timestamp").parse().unwrap();
    assert!((system_ms() / 1000 - at_s).abs() < 60);
}

#[test]
fn what_fails_is_tried_again_with_the_same_id_and_after_the_time_asked_for() {
    let folder = TempDir::new().unwrap();
    let receiver = Receiver::new(&[
        "500 Internal Server Error",
        "429 Too Many Requests\r\nretry-after: 100",
        "302 Found\r\nlocation: http://127.0.0.1:1/",
        "401 Unauthorized",
        "200 OK",
    ]);
    let webhook = Webhook::open(&config(&folder, &receiver.url), None).unwrap();
    let mut waits = Vec::new();
    for _ in 0..4 {
        assert!(!webhook.deliver(&message(1)));
        waits.push(webhook.wait().unwrap().as_secs_f64());
    }
    assert!((2.0..=5.0).contains(&waits[0]), "{waits:?}");
    assert!((99.0..=100.0).contains(&waits[1]), "{waits:?}");
    assert!((9.0..=20.0).contains(&waits[2]) && (19.0..=40.0).contains(&waits[3]), "{waits:?}");
    let status = webhook.status();
    assert_eq!((status.failures, status.delivered, status.left_out.len()), (4, 0, 0));
    assert_eq!(status.last_attempt.unwrap().status, Some(401));
    assert!(webhook.deliver(&message(1)));
    assert_eq!((webhook.wait(), webhook.status().failures), (Some(Duration::ZERO), 0));
    assert_eq!(receiver.ids(), ["1"; 5]);
}

#[test]
fn an_alert_that_is_refused_five_times_is_left_out_and_named() {
    let folder = TempDir::new().unwrap();
    let refused = "422 Unprocessable Content";
    let receiver = Receiver::new(&[refused, refused, refused, refused, refused, "200 OK"]);
    let webhook = Webhook::open(&config(&folder, &receiver.url), None).unwrap();
    let done: Vec<bool> = (0..5).map(|_| webhook.deliver(&message(1))).collect();
    assert_eq!(done, [false, false, false, false, true]);
    assert!(webhook.deliver(&message(2)));
    let status = webhook.status();
    assert_eq!((status.delivered, status.left_out.len()), (1, 1));
    assert_eq!((&*status.left_out[0].alert, status.left_out[0].status), ("alert 1", 422));
    assert!(!webhook.has_in_force("alert 1"));
}

#[test]
fn a_receiver_that_wants_no_more_gets_no_more() {
    let folder = TempDir::new().unwrap();
    let receiver = Receiver::new(&["410 Gone"]);
    let webhook = Webhook::open(&config(&folder, &receiver.url), None).unwrap();
    assert!(!webhook.deliver(&message(1)));
    assert_eq!(webhook.wait(), None);
    assert!(webhook.status().is_gone);
}

#[test]
fn a_private_address_is_refused_also_behind_a_name() {
    let folder = TempDir::new().unwrap();
    let receiver = Receiver::new(&["200 OK"]);
    let port = receiver.url.rsplit(':').next().unwrap().to_owned();
    // The settings refuse the name. Other names may lead there too.
    let named = WebhookConfig {
        url: format!("http://localhost:{port}"),
        allow_private: false,
        ..config(&folder, &receiver.url)
    };
    for url in [named.url.clone(), receiver.url.clone()] {
        let webhook = Webhook::open(&WebhookConfig { url, ..named.clone() }, None).unwrap();
        assert!(!webhook.deliver(&message(1)));
        let error = webhook.status().last_attempt.unwrap().error.unwrap();
        assert!(error.contains("is not on the public internet"), "{error}");
        assert!(webhook.test().error.unwrap().contains("is not on the public internet"));
    }
    assert!(receiver.ids().is_empty());
}

#[test]
fn a_receiver_that_hangs_or_is_not_there_costs_its_time_limit() {
    let folder = TempDir::new().unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let webhook = Webhook::open(&config(&folder, &url), None).unwrap();
    assert!(!webhook.deliver(&message(1)));
    let attempt = webhook.status().last_attempt.unwrap();
    assert!(attempt.took_ms >= 1_900 && attempt.error.unwrap().contains("timeout"));
    drop(silent);
    assert!(!webhook.deliver(&message(1)));
    assert!(webhook.status().last_attempt.unwrap().error.is_some());
}

#[test]
fn a_file_that_cannot_be_used_is_renamed_and_the_webhook_begins_anew() {
    let folder = TempDir::new().unwrap();
    let receiver = Receiver::new(&["200 OK"]);
    let config = config(&folder, &receiver.url);
    let file = folder.path().join(FOLDER).join("river.json");
    let open = || Webhook::open_all(std::slice::from_ref(&config), Some(folder.path())).unwrap();
    assert!(open()[0].deliver(&message(5)));
    let whole = fs::read_to_string(&file).unwrap();
    let wrong =
        [&whole[..whole.len() / 2], "", "[]", &whole.replace("\"version\":1", "\"version\":9")];
    for (wrong, aside) in wrong.into_iter().zip(["damaged", "damaged-2", "damaged-3", "damaged-4"])
    {
        fs::write(&file, wrong).unwrap();
        let webhook = &open()[0];
        assert_eq!((webhook.position(), webhook.status().delivered), (None, 0));
        assert_eq!(fs::read_to_string(file.with_extension(aside)).unwrap(), wrong);
    }
    // A position that is none.
    fs::write(&file, whole.replace("0000000000000007-0-0-5", "5")).unwrap();
    assert_eq!(open()[0].position(), None);
    // A folder that cannot be written keeps nobody from an alert.
    let webhook = &open()[0];
    fs::remove_dir_all(file.parent().unwrap()).unwrap();
    assert!(webhook.deliver(&message(6)));
    fs::write(folder.path().join("secret"), "whsec_short").unwrap();
    let error = Webhook::open(&config, None).err().unwrap().to_string();
    assert!(
        error.starts_with("webhook river: the secret in ") && !error.contains("short"),
        "{error}"
    );
}

//! A receiver of webhooks.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;

/// A receiver that gives prepared answers, the last one again and again.
pub struct Receiver {
    pub url: String,
    got: Arc<Mutex<Vec<(String, String)>>>,
}

impl Receiver {
    /// Begins to listen.
    pub fn new(answers: &[&'static str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let got = Arc::new(Mutex::new(Vec::new()));
        let (answers, kept) = (answers.to_vec(), Arc::clone(&got));
        thread::spawn(move || {
            for (at, stream) in listener.incoming().enumerate() {
                let mut stream = BufReader::new(stream.unwrap());
                let (mut head, mut length) = (String::new(), 0);
                while !head.ends_with("\r\n\r\n") {
                    let start = head.len();
                    if stream.read_line(&mut head).unwrap() == 0 {
                        break;
                    }
                    if let Some(text) = head[start..].to_lowercase().strip_prefix("content-length:")
                    {
                        length = text.trim().parse().unwrap();
                    }
                }
                let mut body = vec![0; length];
                stream.read_exact(&mut body).unwrap();
                kept.lock().unwrap().push((head.to_lowercase(), String::from_utf8(body).unwrap()));
                let answer = answers.get(at).or(answers.last()).unwrap();
                let answer =
                    format!("HTTP/1.1 {answer}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
                stream.get_mut().write_all(answer.as_bytes()).unwrap();
            }
        });
        Self { url, got }
    }

    /// The head, in lower case, and the body of each request.
    pub fn got(&self) -> Vec<(String, String)> {
        self.got.lock().unwrap().clone()
    }

    /// The ids of the deliveries.
    pub fn ids(&self) -> Vec<String> {
        self.got().iter().map(|(head, _)| field(head, "webhook-id")).collect()
    }
}

/// A field of a head.
pub fn field(head: &str, name: &str) -> String {
    let line = head.lines().find_map(|line| line.strip_prefix(&format!("{name}:")));
    line.unwrap().trim().to_owned()
}

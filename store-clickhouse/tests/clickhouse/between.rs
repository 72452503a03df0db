//! A way to ClickHouse on which something happens before a certain question arrives there.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What happens once.
type Happens = Arc<Mutex<Option<Box<dyn FnOnce() + Send>>>>;

/// Returns another address of a ClickHouse. Before the first request there that has the text is passed on,
/// something happens.
pub fn before_it_is_asked(
    url: &str,
    text: &'static str,
    happens: impl FnOnce() + Send + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = url.strip_prefix("http://").unwrap().to_owned();
    let happens: Happens = Arc::new(Mutex::new(Some(Box::new(happens))));
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let (server, happens) = (TcpStream::connect(&server).unwrap(), Arc::clone(&happens));
            let (mut answers, mut back) =
                (server.try_clone().unwrap(), client.try_clone().unwrap());
            thread::spawn(move || {
                let _ = io::copy(&mut answers, &mut back);
                let _ = back.shutdown(Shutdown::Both);
            });
            thread::spawn(move || pass_on(client, server, text, &happens));
        }
    });
    format!("http://{address}")
}

fn pass_on(mut client: TcpStream, mut server: TcpStream, text: &str, happens: &Happens) {
    // Longer than any question here, so that the text comes whole.
    let mut buffer = vec![0; 1 << 16];
    while let Ok(read @ 1..) = client.read(&mut buffer) {
        let is_asked = buffer[..read].windows(text.len()).any(|part| part == text.as_bytes());
        if let Some(happens) = is_asked.then(|| happens.lock().unwrap().take()).flatten() {
            happens();
        }
        if server.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    let _ = server.shutdown(Shutdown::Both);
}

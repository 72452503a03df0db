use axum::body::Bytes;
use futures_util::stream;

use super::*;

/// A body whose pieces arrive one by one with a pause before each.
fn body(pieces: usize, piece_bytes: usize, pause: Duration) -> Body {
    let piece = Bytes::from(vec![b'x'; piece_bytes]);
    Body::from_stream(stream::iter(0..pieces).then(move |_| {
        let piece = piece.clone();
        async move {
            tokio::time::sleep(pause).await;
            Ok::<_, io::Error>(piece)
        }
    }))
}

fn status(received: Result<ReceivedBody, ApiError>) -> (u16, String) {
    match received {
        Err(ApiError::Refused(status, text)) => (status.as_u16(), text),
        other => panic!("{other:?}"),
    }
}

const LIMIT: u64 = 1 << 20;

#[tokio::test]
async fn a_body_comes_whole_through_memory_or_a_file() {
    let receiver = Reception::default();
    for (pieces, is_small) in [(0, true), (1, true), (64, true), (65, false), (1024, false)] {
        let came = receiver.receive(body(pieces, 1024, Duration::ZERO), LIMIT).await;
        let mut came = came.unwrap();
        assert_eq!(came.is_small(), is_small, "{pieces}");
        came.rewind().unwrap();
        let mut bytes = Vec::new();
        came.read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, vec![b'x'; pieces * 1024]);
    }
    assert_eq!(receiver.files.available_permits(), MAX_FILES);
    assert_eq!(receiver.bodies.available_permits(), MAX_BODIES);
}

#[tokio::test]
async fn a_body_that_is_too_long_is_refused_at_once_where_it_says_so() {
    let receiver = Reception::default();
    let text = "the body must be at most 10 bytes long".to_owned();
    let refused = status(receiver.receive(Body::from("x".repeat(11)), 10).await);
    assert_eq!(refused, (413, text.clone()));
    let refused = status(receiver.receive(body(11, 1, Duration::ZERO), 10).await);
    assert_eq!(refused, (413, text));
    assert!(receiver.receive(body(10, 1, Duration::ZERO), 10).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_body_that_stands_still_or_trickles_is_a_timeout() {
    let receiver = Reception::default();
    let still = status(receiver.receive(body(2, 1, Duration::from_secs(61)), LIMIT).await);
    assert_eq!(still, (408, "nothing received for 60 s".to_owned()));
    let trickle = status(receiver.receive(body(1000, 1, Duration::from_secs(10)), LIMIT).await);
    assert_eq!(trickle, (408, "received less than 4096 bytes a second".to_owned()));
    // A small file over a slow line: 1,000 bytes a second.
    let slow = receiver.receive(body(100, 1_000, Duration::from_secs(1)), LIMIT).await;
    assert!(slow.is_ok());
    let long = receiver.receive(body(256, 4_096, Duration::from_secs(1)), LIMIT).await;
    assert!(long.is_ok());
}

#[tokio::test(start_paused = true)]
async fn so_many_bodies_come_at_once_and_the_next_is_told_to_come_again() {
    let receiver = Arc::new(Reception::default());
    let pause = Duration::from_secs(50);
    let coming: Vec<_> = (0..MAX_BODIES)
        .map(|_| {
            let receiver = Arc::clone(&receiver);
            tokio::spawn(async move { receiver.receive(body(1, 1, pause), LIMIT).await.is_ok() })
        })
        .collect();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let refused = status(receiver.receive(body(1, 1, pause), LIMIT).await);
    assert_eq!(refused, (503, "too many files are being taken in; try again later".to_owned()));
    for coming in coming {
        assert!(coming.await.unwrap());
    }
    assert!(receiver.receive(body(1, 1, pause), LIMIT).await.is_ok());
}

#[tokio::test]
async fn a_file_that_was_read_makes_room_for_another() {
    let receiver = Reception::default();
    let mut files = Vec::new();
    for _ in 0..MAX_FILES {
        files.push(receiver.receive(body(1, 70_000, Duration::ZERO), LIMIT).await.unwrap());
    }
    assert_eq!(receiver.files.available_permits(), 0);
    // A body that stays in memory needs no file.
    assert!(receiver.receive(body(1, 10, Duration::ZERO), LIMIT).await.unwrap().is_small());
    tokio::time::pause();
    let refused = status(receiver.receive(body(1, 70_000, Duration::ZERO), LIMIT).await);
    assert_eq!(refused.0, 503);
    tokio::time::resume();
    files.pop();
    assert!(receiver.receive(body(1, 70_000, Duration::ZERO), LIMIT).await.is_ok());
}

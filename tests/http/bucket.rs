//! A service that speaks S3, which `tests/bucket` starts and names in the environment.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

use crate::process::PATIENCE;

/// The settings of the bucket for a server and a command.
const VARIABLES: [&str; 4] =
    ["AWS_ALLOW_HTTP", "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];

pub fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set; see tests/bucket"))
}

pub fn endpoint() -> String {
    variable("AWS_ENDPOINT")
}

pub fn with_bucket(mut command: Command, endpoint: &str) -> Command {
    command.env("AWS_ENDPOINT", endpoint);
    command.envs(VARIABLES.map(|name| (name, variable(name))));
    command
}

/// Sends a request to the service itself, which ignores signatures. Returns the body of the answer.
pub fn ask(method: &str, path: &str, body: &[u8]) -> Vec<u8> {
    let address = endpoint();
    let mut stream = TcpStream::connect(address.strip_prefix("http://").unwrap()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let length = body.len();
    write!(
        stream,
        "{method} /{path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\
         authorization: AWS4-HMAC-SHA256 Credential=test/20240803/us-east-1/s3/aws4_request, \
         SignedHeaders=host, Signature=0\r\ncontent-length: {length}\r\n\r\n"
    )
    .unwrap();
    stream.write_all(body).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let content = answer.split_off(end + 4);
    let head = String::from_utf8_lossy(&answer);
    assert!(head.starts_with("HTTP/1.1 20"), "{method} {path}: {head}");
    content
}

/// The objects of a part of the bucket: path and length.
pub fn objects(prefix: &str) -> Vec<(String, u64)> {
    let bucket = variable("MESONET_TEST_BUCKET");
    let list = ask("GET", &format!("{bucket}?list-type=2&prefix={prefix}"), b"");
    let list = String::from_utf8(list).unwrap();
    assert!(list.contains("<IsTruncated>false"), "{list}");
    let of = |entry: &str, name: &str| {
        let (_, rest) = entry.split_once(&format!("<{name}>")).unwrap();
        rest.split('<').next().unwrap().to_owned()
    };
    let entries = list.split("<Contents>").skip(1);
    let object =
        |entry| (format!("{bucket}/{}", of(entry, "Key")), of(entry, "Size").parse().unwrap());
    entries.map(object).collect()
}

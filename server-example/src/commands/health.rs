//! The command `health`: checks whether the server with the same settings answers. It is for a
//! container without other programs.

use std::error::Error;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme, StreamOwned};

use super::Outcome;
use crate::config::{Config, Flags};

/// How long the server may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Asks the server for `/healthz`.
///
/// # Errors
/// A setting is invalid, or the server does not answer with 200.
pub fn health(flags: &Flags) -> Outcome {
    let config = Config::load(flags)?;
    let address = reachable(config.listen);
    let stream = TcpStream::connect_timeout(&address, PATIENCE)
        .map_err(|error| format!("no server answers at {address}: {error}"))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let status = if config.tls_cert.is_some() {
        let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate::default()))
            .with_no_client_auth();
        let tls = ClientConnection::new(Arc::new(tls), ServerName::from(address.ip()))?;
        ask(&mut StreamOwned::new(tls, stream))?
    } else {
        ask(&mut &stream)?
    };
    if status.split(' ').nth(1) == Some("200") {
        return Ok(true);
    }
    Err(format!("{address} answers \"{status}\"").into())
}

/// Returns the first line of the answer.
fn ask<S: Read + Write>(stream: &mut S) -> Result<String, Box<dyn Error>> {
    stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
    let (mut line, mut byte) = (Vec::new(), [0]);
    while line.len() < 100 && stream.read(&mut byte)? == 1 && byte[0] != b'\r' {
        line.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&line).into_owned())
}

/// A server that listens on all addresses is reached on this machine.
fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

/// Accepts any certificate: only the answer matters, nothing secret is sent, and the public name of
/// the server is not known here.
#[derive(Debug)]
struct AnyCertificate(WebPkiSupportedAlgorithms);

impl Default for AnyCertificate {
    fn default() -> Self {
        Self(ring::default_provider().signature_verification_algorithms)
    }
}

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}

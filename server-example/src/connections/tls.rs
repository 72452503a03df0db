//! TLS: the certificate, and its replacement while connections are open.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use arc_swap::ArcSwap;
use mesonet::Iso8601;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio_rustls::TlsAcceptor;

use super::validity::Validity;
use mesonet_service::sync::lock;

/// The name of HTTP/2 in a handshake (RFC 7301).
pub const HTTP2: &[u8] = b"h2";

/// The certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("the file {}: {error}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A file does not hold what it should.
    #[error("the file {} must hold {allowed}: {got}", .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        allowed: &'static str,
        /// What is wrong.
        got: String,
    },
    /// The key belongs to another certificate.
    #[error(
        "the key in {} is not that of the certificate in {}", .key.display(), .certificate.display()
    )]
    Mismatch {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
    },
    /// The certificate is not valid at this time.
    #[error("the certificate in {} is valid from {} to {}, not now", .path.display(), Iso8601(.validity.from_ms), Iso8601(.validity.to_ms))]
    NotNow {
        /// The file.
        path: PathBuf,
        /// When it is.
        validity: Validity,
    },
    /// TLS cannot be set up.
    #[error("TLS: {0}")]
    Setup(#[from] rustls::Error),
}

/// The certificate of the server, from two files.
pub struct Certificate {
    certificate: PathBuf,
    key: PathBuf,
    current: ArcSwap<Current>,
    seen: Mutex<[Option<Identity>; 2]>,
}

struct Current {
    key: Arc<CertifiedKey>,
    validity: Validity,
}

/// A certificate that was read but is not in use yet.
pub struct Fresh(Current);

/// A mark that changes when a file changes.
type Identity = (SystemTime, u64);

impl Certificate {
    /// Reads and checks a certificate with its chain, and its key. Both are in PEM.
    ///
    /// # Errors
    /// A file cannot be read, the key belongs to another certificate, or the certificate is not
    /// valid at this time.
    pub fn read(certificate: &Path, key: &Path, now_ms: i64) -> Result<Self, TlsError> {
        let seen = [identity(certificate), identity(key)];
        Ok(Self {
            current: ArcSwap::from_pointee(load(certificate, key, now_ms)?),
            seen: Mutex::new(seen),
            certificate: certificate.to_owned(),
            key: key.to_owned(),
        })
    }

    /// When the current certificate is valid.
    pub fn validity(&self) -> Validity {
        self.current.load().validity
    }

    /// Reads the files again.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn fresh(&self, now_ms: i64) -> Result<Fresh, TlsError> {
        *lock(&self.seen) = self.identities();
        load(&self.certificate, &self.key, now_ms).map(Fresh)
    }

    /// Uses the certificate that was read from the next handshake on. Open connections are not
    /// touched.
    pub fn take(&self, Fresh(fresh): Fresh) {
        self.current.store(Arc::new(fresh));
    }

    /// Reads the files, and uses the certificate, if they have changed since they were last read.
    /// Returns whether they had.
    ///
    /// # Errors
    /// As [`read`](Self::read), once for each change. The old certificate stays.
    pub fn renew(&self, now_ms: i64) -> Result<bool, TlsError> {
        let identities = self.identities();
        if *lock(&self.seen) == identities {
            return Ok(false);
        }
        self.take(self.fresh(now_ms)?);
        Ok(true)
    }

    fn identities(&self) -> [Option<Identity>; 2] {
        [identity(&self.certificate), identity(&self.key)]
    }

    /// The acceptor of handshakes: TLS 1.2 and 1.3, HTTP/2 before HTTP/1.1.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn acceptor(self: &Arc<Self>) -> Result<TlsAcceptor, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(self) as _);
        config.alpn_protocols = vec![HTTP2.to_vec(), b"http/1.1".to_vec()];
        config.ticketer = ring::Ticketer::new()?;
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

impl fmt::Debug for Certificate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Certificate")
            .field("file", &self.certificate)
            .finish_non_exhaustive()
    }
}

impl ResolvesServerCert for Certificate {
    /// The same certificate for every name that a client asks for.
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.current.load().key))
    }
}

/// A link counts as the file that it leads to.
fn identity(path: &Path) -> Option<Identity> {
    let found = std::fs::metadata(path).ok()?;
    Some((found.modified().ok()?, found.len()))
}

fn load(certificate: &Path, key: &Path, now_ms: i64) -> Result<Current, TlsError> {
    let fault = |path: &Path, allowed, error: pem::Error| match error {
        pem::Error::Io(error) => TlsError::File { path: path.to_owned(), error },
        error => TlsError::Content { path: path.to_owned(), allowed, got: error.to_string() },
    };
    let of_certificate = |got: String| TlsError::Content {
        path: certificate.to_owned(),
        allowed: "a certificate (PEM)",
        got,
    };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| fault(certificate, "certificates (PEM)", error))?;
    let Some(own) = chain.first() else { return Err(of_certificate("none is there".to_owned())) };
    let validity = Validity::of(own)
        .ok_or_else(|| of_certificate("its time of validity cannot be read".to_owned()))?;
    let private = PrivateKeyDer::from_pem_file(key)
        .map_err(|error| fault(key, "a private key (PEM, not encrypted)", error))?;
    let made = CertifiedKey::from_der(chain, private, &ring::default_provider());
    let made = made.map_err(|error| match error {
        rustls::Error::InconsistentKeys(_) => {
            TlsError::Mismatch { certificate: certificate.to_owned(), key: key.to_owned() }
        }
        rustls::Error::InvalidCertificate(error) => of_certificate(error.to_string()),
        error => TlsError::Content {
            path: key.to_owned(),
            allowed: "a private key: RSA, ECDSA on P-256 or P-384, or Ed25519",
            got: error.to_string(),
        },
    })?;
    if !(validity.from_ms..=validity.to_ms).contains(&now_ms) {
        return Err(TlsError::NotNow { path: certificate.to_owned(), validity });
    }
    Ok(Current { key: Arc::new(made), validity })
}

#[cfg(test)]
#[path = "tls_tests.rs"]
mod tests;

//! TLS with a broker.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

use super::MqttConfig;

/// Reads the files of TLS, as they are now.
///
/// # Errors
/// What is wrong, with the file.
pub(super) fn connector(config: &MqttConfig) -> Result<TlsConnector, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots(config.ca_file.as_deref())?);
    let tls = match (&config.certificate_file, &config.key_file) {
        (Some(certificate), Some(key)) => {
            let chain = certificates(certificate)?;
            let private = PrivateKeyDer::from_pem_file(key).map_err(of_file(key))?;
            builder.with_client_auth_cert(chain, private).map_err(of_file(certificate))?
        }
        _ => builder.with_no_client_auth(),
    };
    Ok(TlsConnector::from(Arc::new(tls)))
}

fn roots(file: Option<&Path>) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    if let Some(file) = file {
        for certificate in certificates(file)? {
            roots.add(certificate).map_err(of_file(file))?;
        }
    } else {
        let found = rustls_native_certs::load_native_certs();
        roots.add_parsable_certificates(found.certs);
        if roots.is_empty() {
            let because = found.errors.first().map(|error| format!(": {error}"));
            let because = because.unwrap_or_default();
            return Err(format!("the system has no certificates of authorities{because}"));
        }
    }
    Ok(roots)
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let read = || CertificateDer::pem_file_iter(file)?.collect::<Result<Vec<_>, _>>();
    let certificates = read().map_err(of_file(file))?;
    if certificates.is_empty() {
        return Err(format!("{}: the file has no certificate in PEM", file.display()));
    }
    Ok(certificates)
}

fn of_file<E: std::fmt::Display>(file: &Path) -> impl Fn(E) -> String + '_ {
    move |error| format!("{}: {error}", file.display())
}

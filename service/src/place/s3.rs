//! Buckets of a service that speaks S3.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path;

use super::PlaceError;

/// Opens a bucket. Keys, region and endpoint come from the environment (`AWS_ACCESS_KEY_ID`,
/// `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_ENDPOINT`, …).
pub fn bucket(address: &str) -> Result<(Arc<dyn ObjectStore>, Path), PlaceError> {
    let unknown = || PlaceError::Address(address.to_owned());
    let inside = address.strip_prefix("s3://").ok_or_else(unknown)?;
    let (bucket, prefix) = inside.split_once('/').unwrap_or((inside, ""));
    if bucket.is_empty() {
        return Err(unknown());
    }
    let prefix = Path::from_url_path(prefix).map_err(|_| unknown())?;
    // There may be a provider already: it is the same one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let failed = |cause| PlaceError::Failed { place: address.to_owned(), cause };
    let builder = AmazonS3Builder::from_env().with_bucket_name(bucket);
    check_endpoint(&builder).map_err(failed)?;
    let store = builder.build().map_err(|error| failed(error.to_string()))?;
    Ok((Arc::new(store), prefix))
}

/// Refuses an endpoint that cannot be part of a request: the client would panic when it signs one.
fn check_endpoint(builder: &AmazonS3Builder) -> Result<(), String> {
    for key in [AmazonS3ConfigKey::S3Endpoint, AmazonS3ConfigKey::Endpoint] {
        if let Some(endpoint) = builder.get_config_value(&key)
            && endpoint.parse::<http::Uri>().is_err()
        {
            let name = key.as_ref().to_ascii_uppercase();
            return Err(format!("invalid {name} {endpoint:?}: it must be an address in ASCII"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_that_cannot_be_requested_is_refused() {
        let check = |endpoint| check_endpoint(&AmazonS3Builder::new().with_endpoint(endpoint));
        assert_eq!(check("http://127.0.0.1:9000"), Ok(()));
        assert_eq!(check("https://xn--bcher-kva.example"), Ok(()));
        let refused = check("http://b\u{fc}cher.example").unwrap_err();
        assert!(refused.contains("\"http://b\u{fc}cher.example\": it must be"), "{refused}");
        assert!(check("http://a b").is_err());
        assert_eq!(check_endpoint(&AmazonS3Builder::new()), Ok(()));
    }
}

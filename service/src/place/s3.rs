//! Buckets of a service that speaks S3.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::aws::AmazonS3Builder;
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
    let store = AmazonS3Builder::from_env().with_bucket_name(bucket).build();
    let store = store.map_err(|error| PlaceError::Failed {
        place: address.to_owned(),
        cause: error.to_string(),
    })?;
    Ok((Arc::new(store), prefix))
}

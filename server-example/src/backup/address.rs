//! Addresses of places.

use std::path::PathBuf;

/// What a place may be.
pub const PLACES: &str = if cfg!(feature = "s3") {
    "a folder, file:///… or s3://BUCKET/PREFIX"
} else {
    "a folder or file:///…; this server was built without the feature s3"
};

/// What the address of a place names.
#[derive(Debug, PartialEq, Eq)]
pub enum Address {
    Folder(PathBuf),
    #[cfg(feature = "s3")]
    Bucket,
}

impl Address {
    /// Reads an address; `None` if it is none of a place.
    pub fn of(address: &str) -> Option<Self> {
        match address.split_once("://") {
            // With a slash forgotten: nobody means a folder of the name `file:`.
            None if ["file:", "s3:"].iter().any(|scheme| address.starts_with(scheme)) => None,
            None => (!address.is_empty()).then(|| Self::Folder(address.into())),
            Some(("file", path)) if path.starts_with('/') => {
                let path = percent_encoding::percent_decode_str(path).decode_utf8().ok()?;
                Some(Self::Folder(path.into_owned().into()))
            }
            #[cfg(feature = "s3")]
            Some(("s3", bucket)) if !bucket.is_empty() && !bucket.starts_with('/') => {
                Some(Self::Bucket)
            }
            Some(_) => None,
        }
    }
}

/// Whether an address may be one of a place, whatever is there.
pub fn is_address(address: &str) -> bool {
    Address::of(address).is_some()
}

/// The address of a place for whoever runs in another folder.
pub fn absolute(address: &str) -> String {
    match std::path::absolute(address) {
        Ok(path) if !address.contains("://") => path.display().to_string(),
        _ => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_that_of_a_folder_or_a_bucket() {
        let folder = |path: &str| Some(Address::Folder(path.into()));
        assert_eq!(Address::of("a b/ü %41#1"), folder("a b/ü %41#1"));
        assert_eq!(Address::of("./file:x"), folder("./file:x"));
        assert_eq!(Address::of("file:///mnt/q%20r"), folder("/mnt/q r"));
        #[cfg(feature = "s3")]
        assert_eq!(Address::of("s3://weather/mesonet"), Some(Address::Bucket));
        for other in [
            "",
            "file:/mnt/x",
            "file:x",
            "file://mnt/x",
            "s3:/weather/x",
            "s3:weather",
            "s3://",
            "s3:///x",
            "S3://weather",
            "ftp://x",
        ] {
            assert!(!is_address(other), "{other}");
        }
    }
}

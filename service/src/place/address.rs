//! Addresses of places.

use std::fs;
use std::path::{Path, PathBuf};

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
    /// Reads an address; `None` if it is not the address of a place.
    pub fn of(address: &str) -> Option<Self> {
        match address.split_once("://") {
            // A slash was forgotten: nobody means a folder with the name `file:`.
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

/// Whether an address has the form of a place, whatever is there.
pub fn is_address(address: &str) -> bool {
    Address::of(address).is_some()
}

/// The address of a place that is valid in every working directory.
pub fn absolute(address: &str) -> String {
    match std::path::absolute(address) {
        Ok(path) if !address.contains("://") => path.display().to_string(),
        _ => address.to_owned(),
    }
}

/// Whether a place is a data folder or inside one. Its backups would be part of the record, and
/// lost with it.
pub fn is_inside(address: &str, data: &Path) -> bool {
    match Address::of(address) {
        Some(Address::Folder(place)) => resolved(&place).starts_with(resolved(data)),
        _ => false,
    }
}

/// The absolute path of a folder, which need not exist. Links are resolved in the part that exists.
fn resolved(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let real = whole.ancestors().find_map(|ancestor| {
        let missing = whole.strip_prefix(ancestor).ok()?;
        Some(fs::canonicalize(ancestor).ok()?.join(missing))
    });
    real.unwrap_or(whole)
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

    #[test]
    fn a_place_in_the_folder_of_the_record_is_found_by_any_path() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        fs::create_dir_all(data.join("products")).unwrap();
        fs::create_dir(folder.path().join("data2")).unwrap();
        let is_inside = |place: &str| {
            let address = folder.path().join(place).display().to_string();
            let url = format!("file://{address}");
            assert_eq!(is_inside(&url, &data), is_inside(&address, &data), "{place}");
            is_inside(&address, &data)
        };
        for place in ["data", "data/", "data/new/deep", "data/products/../x", "data2/../data"] {
            assert!(is_inside(place), "{place}");
        }
        for place in ["data2", "data2/data", "data/..", "new"] {
            assert!(!is_inside(place), "{place}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&data, folder.path().join("link")).unwrap();
            assert!(is_inside("link/products"));
        }
    }
}

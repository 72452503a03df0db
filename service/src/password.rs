//! Passwords of the services that a server uses. They are in a file or in the environment, never in
//! an address.

use std::path::{Path, PathBuf};

/// A file with a password cannot be read, or has more than one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the password in {}: {cause}", .path.display())]
pub struct PasswordError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    pub cause: String,
}

/// Reads the password in a file, without the end of the line.
///
/// # Errors
/// The file cannot be read, or has more than one line.
pub fn read_password(path: &Path) -> Result<String, PasswordError> {
    let failed = |cause| PasswordError { path: path.to_owned(), cause };
    let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    if line.is_empty() || line.contains(['\n', '\r']) {
        return Err(failed("the file must have one line with the password".to_owned()));
    }
    Ok(line.to_owned())
}

/// Whether an address has a password before the host.
pub fn has_password(address: &str) -> bool {
    let authority = address.split_once("//").map_or(address, |(_, rest)| rest);
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    user.is_some_and(|user| user.contains(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_the_line_of_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("password");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            read_password(&path).map_err(|error| error.to_string())
        };
        for text in ["a b:c", "a b:c\n", "a b:c\r\n"] {
            assert_eq!(read(text), Ok("a b:c".to_owned()));
        }
        for text in ["", "\n", "secret\nsecret\n"] {
            let message = read(text).unwrap_err();
            assert!(message.contains("one line") && !message.contains("secret"), "{message}");
        }
        let missing = read_password(&folder.path().join("none")).unwrap_err().to_string();
        assert!(missing.starts_with("the password in ") && missing.contains("none"), "{missing}");
    }
}

//! Temporary files and folders. Their names are nobody's business, so no error shows them.

use std::io;

/// Trouble with a temporary file or folder, without its name: whoever tells it names the file that
/// was to be written.
pub(crate) fn without_its_name(error: io::Error) -> io::Error {
    let text = error.to_string();
    match text.split_once(" at path \"") {
        Some((problem, _)) => io::Error::new(error.kind(), problem.to_owned()),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_temporary_file_is_in_no_error() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let missing = dir.path().join("missing");
        let error = tempfile::NamedTempFile::new_in(&missing).expect_err("fails");
        assert!(error.to_string().contains("missing"), "{error}");
        let told = without_its_name(error);
        assert_eq!(told.kind(), io::ErrorKind::NotFound);
        assert!(!told.to_string().contains("missing"), "{told}");
        assert_eq!(without_its_name(io::Error::other("full")).to_string(), "full");
    }
}

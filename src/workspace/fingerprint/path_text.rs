//! Paths as text that keeps every byte: what is not UTF-8, and `%`, is written as `%XX`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Inputs, State};

pub(super) fn serialize<S: Serializer>(inputs: &Inputs, serializer: S) -> Result<S::Ok, S::Error> {
    serializer
        .collect_map(inputs.iter().map(|(path, state)| (Text(encode(Path::new(path))), state)))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Inputs, D::Error> {
    let inputs = BTreeMap::<String, State>::deserialize(deserializer)?;
    Ok(inputs.into_iter().map(|(text, state)| (decode(&text).into_os_string(), state)).collect())
}

#[derive(Serialize)]
#[serde(transparent)]
struct Text(String);

fn encode(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text.push_str(&chunk.valid().replace('%', "%25"));
        for byte in chunk.invalid() {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

fn decode(text: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.split('%');
    bytes.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
    for part in parts {
        match part.get(..2).map(|digits| u8::from_str_radix(digits, 16)) {
            Some(Ok(byte)) => {
                bytes.push(byte);
                bytes.extend_from_slice(part.get(2..).unwrap_or_default().as_bytes());
            }
            _ => {
                bytes.push(b'%');
                bytes.extend_from_slice(part.as_bytes());
            }
        }
    }
    PathBuf::from(os_string(bytes))
}

#[cfg(unix)]
fn os_string(bytes: Vec<u8>) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

/// A name that is no text becomes another name, which is missing: the fingerprint does not hold.
#[cfg(not(unix))]
fn os_string(bytes: Vec<u8>) -> OsString {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_keeps_every_path() {
        for path in ["/a/b.toml", "/100%/ü", "/%", "/%4", "/%zz"] {
            assert_eq!(decode(&encode(Path::new(path))), Path::new(path), "{path}");
        }
        assert_eq!(encode(Path::new("/100%/ü")), "/100%25/ü");
    }

    #[cfg(unix)]
    #[test]
    fn bytes_that_are_no_text_survive() {
        let path = PathBuf::from(os_string(b"/a\xff\xfeb".to_vec()));
        assert_eq!(decode(&encode(&path)), path);
    }
}

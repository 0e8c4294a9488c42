//! Fingerprints of what we wrote.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::text::hex;

/// SHA-256 in lower-case hexadecimal.
pub(crate) fn hash_bytes(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The fingerprint of a value: the same whatever its keys' order and the text's layout.
pub(crate) fn hash_value(value: &Value) -> String {
    let mut text = String::new();
    canonical(value, &mut text);
    hash_bytes(text.as_bytes())
}

fn canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(key, _)| key.as_str());
            text.push('{');
            for (key, value) in members {
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                canonical(value, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for item in items {
                canonical(item, text);
                text.push(',');
            }
            text.push(']');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_order_of_keys_does_not_count_and_all_else_does() {
        let one = json!({"a": 1, "b": [true, null]});
        assert_eq!(hash_value(&one), hash_value(&json!({"b": [true, null], "a": 1})));
        assert_ne!(hash_value(&one), hash_value(&json!({"a": 1, "b": [null, true]})));
        assert_ne!(hash_value(&json!("1")), hash_value(&json!(1)));
    }
}

//! `qwen --prompt`: its answer is a JSON array of messages, the result last (as version 0.24.4 prints
//! it).

use serde_json::Value;

use crate::agents::headless::{Headless, Reply, Tokens, plain, words};

pub(super) const HEADLESS: Headless = Headless {
    args: |prompt| {
        let options = ["--output-format", "json", "--approval-mode", "auto-edit"];
        words(&[&options[..], &["--prompt", prompt.as_str()]].concat())
    },
    read,
};

fn read(stdout: &str) -> Reply {
    let start = stdout.find('[').unwrap_or_default();
    let messages = serde_json::from_str::<Vec<Value>>(&stdout[start..]).unwrap_or_default();
    let Some(result) = messages.iter().rev().find(|message| message["type"] == "result") else {
        return plain(stdout);
    };
    let count = |field: &str| result["usage"][field].as_u64();
    let tokens = match (count("input_tokens"), count("output_tokens")) {
        (Some(input), Some(output)) => Some(Tokens { input, output }),
        _ => None,
    };
    Reply::new(result["result"].as_str().map(str::to_owned), tokens, stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_and_the_tokens_are_those_of_the_result() {
        let answer = r#"Warning: something.
[{"type":"system","subtype":"init"},{"type":"assistant","message":{"content":[]}},
 {"type":"result","subtype":"success","is_error":false,"result":"Done.",
  "usage":{"input_tokens":20,"output_tokens":10,"total_tokens":30}}]"#;
        let tokens = Some(Tokens { input: 20, output: 10 });
        assert_eq!(read(answer), Reply { text: "Done.".to_owned(), tokens });
    }
}

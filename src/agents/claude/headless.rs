//! `claude -p`: its answer is one JSON object (as version 2.1.332 prints it).

use serde_json::Value;

use crate::agents::headless::{Headless, Reply, Tokens, plain, sum, words};

pub(super) const HEADLESS: Headless = Headless {
    args: |prompt| {
        let options = ["--output-format", "json", "--permission-mode", "acceptEdits"];
        words(&[&["-p", prompt.as_str()], &options[..]].concat())
    },
    read,
};

fn read(stdout: &str) -> Reply {
    let Ok(answer) = serde_json::from_str::<Value>(stdout) else { return plain(stdout) };
    let text = answer["result"].as_str().unwrap_or_default().to_owned();
    let tokens = answer.get("usage").map(|usage| Tokens {
        input: sum(
            usage,
            &["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"],
        ),
        output: sum(usage, &["output_tokens"]),
    });
    Reply { text, tokens }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_and_all_that_was_read_are_found() {
        let answer = r#"{"type":"result","is_error":false,"result":"Done.","num_turns":1,"usage":{
            "input_tokens":4,"cache_creation_input_tokens":10,"cache_read_input_tokens":100,
            "output_tokens":7}}"#;
        let tokens = Some(Tokens { input: 114, output: 7 });
        assert_eq!(read(answer), Reply { text: "Done.".to_owned(), tokens });
        assert_eq!(read("Error: no key\n"), plain("Error: no key"));
    }
}

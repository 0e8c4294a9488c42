//! `opencode run --format json`: an event a line (OpenCode's documentation, CLI; as version 1.18.33 prints
//! them).

use crate::agents::headless::{Headless, Reply, Tokens, objects, sum, words};

pub(super) const HEADLESS: Headless =
    Headless { args: |prompt| words(&["run", "--format", "json", &prompt]), read };

fn read(stdout: &str) -> Reply {
    let (mut text, mut tokens) = (None, None);
    for event in objects(stdout) {
        let part = &event["part"];
        match event["type"].as_str() {
            // The last one is the answer.
            Some("text") => text = part["text"].as_str().map(str::to_owned),
            Some("step_finish") => {
                let so_far: Tokens = tokens.unwrap_or_default();
                let cached = sum(&part["tokens"]["cache"], &["read", "write"]);
                tokens = Some(Tokens {
                    input: so_far.input + sum(&part["tokens"], &["input"]) + cached,
                    output: so_far.output + sum(&part["tokens"], &["output", "reasoning"]),
                });
            }
            _ => {}
        }
    }
    Reply::new(text, tokens, stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_text_and_the_tokens_of_all_steps_are_found() {
        let step = r#"{"type":"step_finish","part":{"tokens":{"input":10,"output":2,"reasoning":1,"cache":{"read":5,"write":0}}}}"#;
        let events =
            format!("{step}\n{{\"type\":\"text\",\"part\":{{\"text\":\"Done.\"}}}}\n{step}\n");
        let tokens = Some(Tokens { input: 30, output: 6 });
        assert_eq!(read(&events), Reply { text: "Done.".to_owned(), tokens });
    }
}

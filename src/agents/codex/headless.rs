//! `codex exec --json`: an event a line (as version 0.171.0 prints them).

use crate::agents::headless::{Headless, Reply, Tokens, objects, sum, words};

pub(super) const HEADLESS: Headless = Headless {
    args: |prompt| {
        let options = ["exec", "--json", "--skip-git-repo-check", "--sandbox", "workspace-write"];
        words(&[&options[..], &[prompt.as_str()]].concat())
    },
    read,
};

fn read(stdout: &str) -> Reply {
    let (mut text, mut tokens) = (None, None);
    for event in objects(stdout) {
        match event["type"].as_str() {
            // The last one is the answer.
            Some("item.completed") if event["item"]["type"] == "agent_message" => {
                text = event["item"]["text"].as_str().map(str::to_owned);
            }
            Some("turn.completed") => {
                // What came from the cache is in the input already.
                let usage = &event["usage"];
                let so_far: Tokens = tokens.unwrap_or_default();
                tokens = Some(Tokens {
                    input: so_far.input + sum(usage, &["input_tokens"]),
                    output: so_far.output + sum(usage, &["output_tokens"]),
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
    use crate::agents::headless::plain;

    #[test]
    fn the_last_message_and_the_turn_s_tokens_are_found() {
        let events = r#"{"type":"thread.started","thread_id":"1"}
{"type":"item.completed","item":{"id":"0","type":"agent_message","text":"I look."}}
{"type":"item.completed","item":{"id":"1","type":"command_execution","command":"ls"}}
{"type":"item.completed","item":{"id":"2","type":"agent_message","text":"Done."}}
{"type":"turn.completed","usage":{"input_tokens":20,"cached_input_tokens":8,"output_tokens":5}}
"#;
        let tokens = Some(Tokens { input: 20, output: 5 });
        assert_eq!(read(events), Reply { text: "Done.".to_owned(), tokens });
        assert_eq!(read("not logged in\n"), plain("not logged in"));
    }
}

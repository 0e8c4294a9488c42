//! `gemini -p`: its answer is one JSON object, which may have lines of talk before it (as version 0.61.0
//! prints it).

use serde_json::Value;

use crate::agents::headless::{Headless, Reply, Tokens, plain, sum, words};

pub(super) const HEADLESS: Headless = Headless {
    args: |prompt| {
        // It works in no folder that it does not know, unless it is told that this one is all right.
        let options = ["--output-format", "json", "--approval-mode", "auto_edit", "--skip-trust"];
        words(&[&["-p", prompt.as_str()], &options[..]].concat())
    },
    read,
};

fn read(stdout: &str) -> Reply {
    let object = stdout.find('{').and_then(|at| serde_json::from_str::<Value>(&stdout[at..]).ok());
    let Some(answer) = object else { return plain(stdout) };
    let text = answer["response"].as_str().unwrap_or_default().to_owned();
    let models = answer["stats"]["models"].as_object();
    let tokens = models.map(|models| {
        let mut all = Tokens::default();
        for model in models.values() {
            all.input += sum(&model["tokens"], &["prompt"]);
            all.output += sum(&model["tokens"], &["candidates"]);
        }
        all
    });
    Reply { text, tokens }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_and_the_tokens_of_all_models_are_found() {
        let answer = r#"Loaded cached credentials.
{"response":"Done.","stats":{"models":{
    "a":{"tokens":{"prompt":10,"candidates":2,"total":12}},
    "b":{"tokens":{"prompt":5,"candidates":1,"total":6}}}}}"#;
        let tokens = Some(Tokens { input: 15, output: 3 });
        assert_eq!(read(answer), Reply { text: "Done.".to_owned(), tokens });
    }
}

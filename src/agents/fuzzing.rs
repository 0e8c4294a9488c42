//! What holds of every event that an agent may send.

use symposium_hook::{Event, Input};

use super::codec::Codec;
use super::tools::native_of;
use super::wire::ChildAnswer;
use super::{Agent, symposium};
use crate::config::Environment;

/// Every agent reads the same bytes as the same event twice, and a hook that reads the canonical event
/// sees what we see. An input that nobody changed goes back as it came. The bytes are tried as a
/// handler's answer too.
pub(crate) fn hook_input(data: &[u8]) {
    let env = Environment::with("/home/dev/shop", [("HOME", "/home/dev")]);
    let codecs = Agent::ALL.into_iter().map(Agent::codec);
    for codec in codecs.chain([&symposium::Symposium as &dyn Codec]) {
        for event in Event::ALL {
            decoded(codec, event, data, &env);
            answered(codec, event, data);
        }
    }
}

fn decoded(codec: &dyn Codec, event: Event, data: &[u8], env: &Environment) {
    let decoded = match codec.decode(event, data, env) {
        Ok(decoded) => decoded,
        Err(problem) => return assert!(!problem.problem.is_empty(), "{problem:?}"),
    };
    let again = codec.decode(event, data, env);
    assert_eq!(again.as_ref(), Ok(&decoded), "{}", codec.name());
    let said = serde_json::to_string(&decoded.input).expect("JSON");
    let heard: Input = serde_json::from_str(&said).expect("a handler reads it");
    assert_eq!(heard, decoded.input, "{} {said}", codec.name());
    if let Input::PreToolUse(input) = &decoded.input
        && let (Some(canonical), Some(native)) =
            (input.tool_input.as_object(), native_of(&decoded).1.as_object())
    {
        let back = codec.native_input(&decoded, canonical);
        assert_eq!(&back, native, "{}", codec.name());
        if let Some(payload) = codec.replace_input(data, native) {
            let same = codec.decode(event, &payload, env);
            assert_eq!(same.map(|it| it.input).as_ref(), Ok(&decoded.input), "{}", codec.name());
        }
    }
    if let Some(sent) = codec.encode_event(&decoded) {
        assert!(codec.decode(event, &sent, env).is_ok(), "{}", codec.name());
    }
}

/// What a handler answers, whatever it is, becomes an answer that is empty, refuses, or is JSON.
fn answered(codec: &dyn Codec, event: Event, data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for exit in [0, 2] {
        let (stdout, stderr) = if exit == 0 { (&*text, "") } else { ("", &*text) };
        let outcome = codec.decode_answer(event, &ChildAnswer { stdout, stderr, exit: Some(exit) });
        let answer = codec.encode(event, &outcome);
        let who = format!("{} {event:?} {answer:?}", codec.name());
        assert!(answer.exit == 0 || answer.exit == 2 && answer.stdout.is_empty(), "{who}");
    }
}

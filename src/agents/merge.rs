//! What several handlers ask for becomes one answer, by rule.

use serde_json::{Map, Value};
use symposium_hook::Decision;

use super::wire::Outcome;

/// Adds `next` to `all`: the stronger decision wins (deny, ask, allow, none) and keeps its reasons,
/// equal ones join theirs; contexts and messages join in order; the last rewrite wins, which saw
/// those before it.
pub(crate) fn merge(all: &mut Outcome, next: Outcome) {
    match next.decision.cmp(&all.decision) {
        std::cmp::Ordering::Greater => {
            all.decision = next.decision;
            all.reasons = next.reasons;
        }
        std::cmp::Ordering::Equal => {
            for reason in next.reasons {
                if !all.reasons.contains(&reason) {
                    all.reasons.push(reason);
                }
            }
        }
        std::cmp::Ordering::Less => {}
    }
    all.context.extend(next.context);
    all.updated_input = next.updated_input.or(all.updated_input.take());
    join(&mut all.user_message, next.user_message);
    join(&mut all.stop, next.stop);
    carry(&mut all.extra, next.extra);
}

/// Fields that we do not know: objects of the same name are joined.
fn carry(all: &mut Map<String, Value>, next: Map<String, Value>) {
    for (key, value) in next {
        match (all.get_mut(&key), value) {
            (Some(Value::Object(all)), Value::Object(next)) => carry(all, next),
            (_, value) => drop(all.insert(key, value)),
        }
    }
}

/// A denied tool runs with no input at all, so there is nothing left to rewrite.
pub(crate) fn settle(outcome: &mut Outcome) {
    if outcome.decision == Some(Decision::Deny) {
        outcome.updated_input = None;
    }
    outcome.reasons.retain(|reason| !reason.trim().is_empty());
}

fn join(all: &mut Option<String>, next: Option<String>) {
    *all = match (all.take(), next) {
        (Some(before), Some(next)) => Some(format!("{before}\n{next}")),
        (before, next) => before.or(next),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn decided(decision: Option<Decision>, reason: &str) -> Outcome {
        Outcome { decision, reasons: vec![reason.to_owned()], ..Outcome::default() }
    }

    fn merged(outcomes: impl IntoIterator<Item = Outcome>) -> Outcome {
        let mut all = Outcome::default();
        for outcome in outcomes {
            merge(&mut all, outcome);
        }
        settle(&mut all);
        all
    }

    #[test]
    fn decision_10_deny_beats_ask_beats_allow_beats_nothing_in_any_order() {
        let deny = decided(Some(Decision::Deny), "no");
        let ask = decided(Some(Decision::Ask), "hm");
        let allow = decided(Some(Decision::Allow), "yes");
        let none = Outcome::default();
        let all = merged([deny.clone(), allow.clone(), none.clone(), ask.clone()]);
        assert_eq!((all.decision, all.reasons), (Some(Decision::Deny), vec!["no".to_owned()]));
        let all = merged([none.clone(), allow.clone(), ask]);
        assert_eq!((all.decision, all.reasons), (Some(Decision::Ask), vec!["hm".to_owned()]));
        assert_eq!(merged([none.clone(), allow]).decision, Some(Decision::Allow));
        assert_eq!(merged([none.clone(), none]).decision, None);
    }

    #[test]
    fn decision_10_reasons_of_the_winner_and_contexts_join_in_order() {
        let mut one = decided(Some(Decision::Deny), "a");
        one.context = vec!["c1".to_owned()];
        let mut two = decided(Some(Decision::Deny), "b");
        two.context = vec!["c2".to_owned()];
        let all = merged([one, two]);
        assert_eq!(all.reason(), "a\nb");
        assert_eq!(all.context_text().as_deref(), Some("c1\n\nc2"));
    }

    #[test]
    fn decision_10_the_last_rewrite_wins_and_silence_leaves_it() {
        let rewrite = |command: &str| {
            let mut input = Map::new();
            input.insert("command".to_owned(), json!(command));
            Outcome { updated_input: Some(input), ..Outcome::default() }
        };
        let all = merged([rewrite("a"), rewrite("b"), Outcome::default()]);
        assert_eq!(all, rewrite("b"));
    }

    #[test]
    fn decision_10_a_native_answers_unknown_fields_are_kept() {
        let unknown = |key: &str| {
            let extra = Map::from_iter([("inner".to_owned(), json!({ key: 1 }))]);
            Outcome { extra, ..Outcome::default() }
        };
        let all = merged([unknown("a"), Outcome::default(), unknown("b")]);
        assert_eq!(Value::Object(all.extra), json!({"inner": {"a": 1, "b": 1}}));
    }

    #[test]
    fn a_denied_tool_is_not_rewritten() {
        let mut rewrite = decided(None, "");
        rewrite.updated_input = Some(Map::new());
        let all = merged([rewrite, decided(Some(Decision::Deny), "no")]);
        assert_eq!(all.updated_input, None);
    }
}

//! The arguments of `audit`, and its rules.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};

use super::forges::ReportFormat;

#[derive(Debug, Args)]
pub(super) struct AuditArgs {
    /// Look at repositories as symposium.lock has them, not at what is newest here
    #[arg(long)]
    pub locked: bool,
    /// How findings are told
    #[arg(long, value_enum, conflicts_with = "json")]
    pub format: Option<ReportFormat>,
    /// Fail for these, too
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = deniable())]
    pub deny: Vec<String>,
}

impl AuditArgs {
    /// Whether a finding by `rule` fails, were it no error by itself.
    pub(super) fn denies(&self, rule: Option<&str>, is_warning: bool) -> bool {
        let is_meant = |denied: &String| match denied.as_str() {
            WARNINGS => is_warning,
            denied => rule == Some(denied),
        };
        self.deny.iter().any(is_meant)
    }
}

/// All warnings.
const WARNINGS: &str = "warnings";

fn deniable() -> PossibleValuesParser {
    let all = PossibleValue::new(WARNINGS).help("Every warning, by whatever rule");
    let rules = RULES.iter().map(|rule| PossibleValue::new(rule.name).help(rule.title));
    PossibleValuesParser::new(std::iter::once(all).chain(rules))
}

/// What findings are called. A name is never given another meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rule {
    pub name: &'static str,
    /// A few words.
    pub title: &'static str,
    /// What is found and why it matters.
    pub text: &'static str,
}

macro_rules! rules {
    ($($rule:ident $name:literal $title:literal $text:literal)*) => {
        /// The rules by name.
        pub(super) mod rules {
            use super::Rule;
            $(#[doc = $title]
            pub(in crate::cli) const $rule: Rule = Rule { name: $name, title: $title, text: $text };)*
        }

        /// All of them.
        pub(super) static RULES: &[Rule] = &[$(rules::$rule),*];
    };
}

rules! {
    HIDDEN_TEXT "hidden-text" "Text that an agent reads and people don't see"
    "Invisible, zero-width and bidirectional characters, HTML comments, and text below a page of empty \
     lines, in a skill, a plugin's manifest or a script. What can carry a message is an error, and such a \
     skill is never installed; the rest is a warning."

    SKILL_COMMAND "skill-command" "A skill whose text runs something, or allows it"
    "A command that Claude runs when the skill is used, `allowed-tools`, or `hooks` in the frontmatter, \
     which are never installed."

    SKILL_SCRIPT "skill-script" "A skill that brings scripts or programs"
    "Nothing is wrong with that. An agent runs them when the skill says so, with the rights of who \
     started it."

    SKILL_HOSTS "skill-hosts" "A skill that sends its readers to other hosts"
    "Nothing is wrong with that. Its texts have addresses, and what an agent reads there nobody here \
     reviewed."

    COMMITTED_SKILL "committed-skill" "A skill that comes with the checkout"
    "Nothing is wrong with that. It is in a folder that agents read and no plugin gave it: whoever \
     committed it says what agents do here. It is looked through as those of plugins are."

    LINK_OUT "link-out" "A link of a skill that leads out of it"
    "A file that is a link leads out of where the skill comes from: it is another file on each machine, \
     and left out when the skill is installed, while in a folder of the checkout agents follow it. Or a \
     link in its text leads out of its folder, to what an installed copy is without."

    TOO_LARGE "too-large" "A skill above the limits"
    "More than 10,000 files, 20 MB in one of them or 100 MB in all: it is never installed."

    ODD_FILE "odd-file" "A file that has no business in a skill"
    "A device, a socket, a link that leads nowhere, a name that not every system can have, or a file that \
     an agent reads by itself, such as a `CLAUDE.md`. It is left out when the skill is installed."

    UNKNOWN_LICENCE "unknown-licence" "A skill from outside whose licence is not known"
    "Neither its frontmatter (`license`), nor a file such as `LICENSE` beside it or above, nor its crate's \
     or package's manifest says under which terms it may be used. The checkout's own skills \
     and the user's need none."

    PROGRAM "program" "A hook, server or subcommand that a plugin could run"
    "Nothing is wrong with that: it says what is run, from where, and whether it may."

    NOT_ALLOWED "program-not-allowed" "A program that waits for the user's word"
    "`[trust] programs` is `ask`, and it was never allowed as it is now. It does not run until then."

    LOOSE_PROGRAM "loose-program" "A program of which another version may come tomorrow"
    "It is installed from a registry without an exact version, or from a repository, which has whatever \
     was committed last. No lock file of ours holds it."

    UNPINNED_SOURCE "unpinned-source" "A repository without a commit to hold it"
    "It is used without `rev`, and `symposium.lock` does not have it: whoever can write to it says what \
     agents are told here from now on."

    MOVED_SOURCE "moved-source" "A repository that is not at the locked commit"
    "What is here of it is another commit than `symposium.lock` has."

    NOT_LOCKED "not-locked" "Something that is not what symposium.lock has"
    "A skill, hook, server, subcommand or repository is new, gone, or not what was locked."

    UNDECIDED_CRATE "undecided-crate" "A dependency that ships skills nobody decided on"
    "It was neither accepted nor declined, so nothing of it is installed, and each member is asked."

    UNDECIDED_PLUGIN "undecided-plugin" "A plugin that its source suggests, and nobody decided on"
    "It was neither accepted nor declined, so nothing of it is in force, and each member is asked."

    MISTAKE "mistake" "A manifest, skill or configuration with a mistake"
    "Something of it is not used. `cargo agents plugin validate` tells its author more."

    COULD_NOT_LOOK "could-not-look" "Something that could not be looked at"
    "A source that was never fetched, a crate whose sources are not on this machine, a folder that can't be \
     read: nothing is known of what it brings."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_have_names_of_their_own_and_stand_in_the_book() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/md/reference/audit.md");
        let page = std::fs::read_to_string(page).expect("the page");
        let mut names: Vec<_> = RULES.iter().map(|rule| rule.name).collect();
        for name in &names {
            assert!(page.contains(&format!("| `{name}` |")), "{name} is not in audit.md");
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), RULES.len());
    }
}

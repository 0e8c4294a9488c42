//! The stable codes of manifest problems, each with an explanation for `plugin explain`.
//!
//! To add one: a row below, used somewhere as `codes::NAME`. A code is never given a new meaning.
//! S001–S099 are the manifest's, S101–S199 a skill's.

use std::borrow::Cow;

use crate::agents::Agent;

/// What a code means.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Explanation {
    /// The code, such as `S012`.
    pub code: &'static str,
    /// A few words.
    pub title: &'static str,
    /// A paragraph: what is wrong, why it matters, what to write instead.
    pub text: Cow<'static, str>,
}

/// The explanation of `code`, in whatever case it was typed.
pub(crate) fn explain(code: &str) -> Option<Explanation> {
    let is_meant = |known: &&Explanation| known.code.eq_ignore_ascii_case(code.trim());
    let mut found = EXPLANATIONS.iter().find(is_meant)?.clone();
    if found.text.contains(AGENTS) {
        found.text = found.text.replace(AGENTS, &Agent::ALL.map(Agent::name).join(", ")).into();
    }
    Some(found)
}

/// What stands for the agents' names in an explanation.
const AGENTS: &str = "{agents}";

macro_rules! explanations {
    ($($name:ident $code:literal $title:literal $text:literal)*) => {
        /// The codes by name.
        pub(crate) mod codes {
            $(#[doc = $title] pub(crate) const $name: &str = $code;)*
        }

        /// All codes, in order.
        pub(crate) static EXPLANATIONS: &[Explanation] =
            &[$(Explanation { code: $code, title: $title, text: Cow::Borrowed($text) }),*];

        #[cfg(test)]
        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

explanations! {
    SYNTAX "S001" "the file is not valid TOML"
    "The text can't be read as TOML 1.0, so nothing of the plugin is used. The line and column are \
     those where reading stopped; the cause is often just before: a quote or bracket left open, a \
     key given twice, a value without quotes."

    WRONG_TYPE "S002" "a value has the wrong type"
    "The key is known, but its value is of another type than it takes: a number where a string \
     belongs, one table where an array of tables (`[[…]]`) belongs. When a plugin is loaded, the \
     entry that holds the value is left out."

    UNKNOWN_KEY "S003" "a key is not known"
    "The key has no meaning where it stands. `plugin validate` treats it as an error, for a \
     misspelt `crates` would make a plugin apply where it should not. When a plugin is loaded it is \
     only a warning, so that a manifest written for a newer Symposium still works."

    MISSING_KEY "S004" "a required key is missing"
    "The entry can't be used without this key. Every plugin needs a `name`; so do installations, \
     hooks and servers. A hook also needs an `event` and a `command`, a subcommand a `description` \
     and a `command`, a server a `command` or a `url`."

    BAD_NAME "S005" "a name has characters it must not have"
    "Names end up in file names, environment variables and other programs' settings. Plugins, \
     installations, servers and subcommands take ASCII letters, digits, `-` and `_` (plugins and \
     installations also `.`) and start with a letter or digit, up to 64 characters. A hook's name \
     is free text on one line, without `/`, `\\` and `:`."

    TAKEN_NAME "S006" "a name is used twice"
    "Installations are found by name, so each name stands for one. An inline installation takes \
     the name of its hook or subcommand, which must then be free too. Servers and subcommands are \
     found by name as well. Rename one of the two."

    BAD_ATOM "S007" "a crate predicate can't be read"
    "An entry of `crates` or `depends-on` is `*`, a crate's name, or a name with a version: \
     `serde`, `tokio>=1.40`, `regex<2`, `serde^1.0`, `serde~1.2`, `serde=1.0` (the same as `^1.0`), \
     `serde==1.0.219` (exactly that), `tokio>=1, <2` (both). When a plugin is loaded, the entry is \
     left out of its list; a list with nothing left never holds."

    BAD_PREDICATE "S008" "a predicate can't be read"
    "An entry of `predicates` is one of `env(NAME)`, `env(NAME=value)`, `path_exists(path)`, \
     `depends-on(crate)`, `workspace-member()`, `not(…)`, `any(…, …)` and `all(…, …)`. Paths are \
     relative to the workspace's root and stay inside it. When a plugin is loaded, a predicate that \
     can't be read does not hold."

    UNSUPPORTED_PREDICATE "S009" "a predicate is not supported"
    "`shell(…)` and predicates that plugins define themselves would run a program to decide \
     whether a plugin applies. Symposium never runs them: they count as not holding, also inside \
     `not(…)`. Express the condition with `env`, `path_exists` or `depends-on`."

    NO_TARGET "S010" "nothing says which crates this is for"
    "A plugin says somewhere which crates it is for: with `crates` (or `depends-on`) at the top, or \
     in its skill groups, servers or subcommands. One that says so nowhere never applies; a server \
     without `crates` in a plugin without them is left out. `crates = [\"*\"]` stands for every \
     workspace."

    TWO_SPELLINGS "S011" "`crates` and `depends-on` stand side by side"
    "The two keys mean the same, so one level has one of them. When a plugin is loaded, an entry \
     with both is left out; a plugin with both at the top never applies."

    UNKNOWN_EVENT "S012" "the hook's event is not known"
    "A hook's `event` is `SessionStart`, `UserPromptSubmit`, `PreToolUse` or `PostToolUse`, spelt \
     so, whatever the agents call them. When a plugin is loaded, the hook is left out."

    UNKNOWN_AGENT "S013" "an agent is not known"
    "`agent` and `format` take an agent's name ({agents}) or `symposium`. A hook for an \
     agent that this version does not know is kept, and does not run."

    BAD_MATCHER "S014" "the matcher is no regular expression"
    "`matcher` is a regular expression that must match the whole name of a tool, such as `Bash`, \
     `Edit|Write` or `mcp__.*`. `*`, an empty string or no matcher at all stand for every tool. A \
     hook with a matcher that can't be read never runs."

    NO_EFFECT "S015" "a setting has no effect"
    "What is written here changes nothing: a `matcher` where the event is not about a tool, or a \
     hook whose `format` is one agent's while its `agent` is another, so that it never runs."

    BAD_VALUE "S016" "a value is not one of those accepted"
    "The key takes only certain values: `activation` is `always`, `suggested` or `off`; `audience` is \
     `humans` or `agents`; `on-failure` is `continue` or `block`; a server's `type` is `stdio`, `http` \
     or `sse`; `timeout` is a whole number of seconds from 1 to 600."

    EMPTY_CRATES "S017" "an empty `crates` list never holds"
    "A list holds if one of its entries does, and an empty one has none. Write `crates = [\"*\"]` \
     for every workspace, or leave the key out to add no condition at this level."

    SKILL_SOURCE "S018" "a skill group needs exactly one source"
    "A `[[skills]]` group has one of `source.path = \"folder\"`, `source.git = \"https://…\"`, \
     `source.cargo = \"widget>=1\"`, `source = \"crate\"` and `source.crate_path = \"folder\"`. A \
     `[[plugins]]` entry has `source.cargo`, which may be `{ name = \"widget\", version = \"1\" }` \
     too."

    ONLY_WILDCARDS "S019" "`source = \"crate\"` without a crate to look into"
    "The group's skills come from the sources of the crates that its predicates, and the plugin's, \
     match. `*` names no crate, so at least one of the two levels has to name one."

    UNKNOWN_SOURCE "S020" "the installation's source is not known"
    "`source` is `cargo`, `github` or `binary`. A program or script that lies in the plugin's \
     folder, or that is on the machine already, has no `source` at all: \
     `command = { script = \"scripts/check.sh\" }`."

    UNKNOWN_INSTALLATION "S021" "no installation has this name"
    "`command` and `requirements` refer to `[[installations]]` of the same manifest by name, or \
     hold an inline table. When a plugin is loaded, a hook or subcommand whose command is missing is \
     left out; a missing requirement is only skipped."

    TWO_RUNNABLES "S022" "more than one thing to run"
    "`executable` and `script` exclude each other, on one entry and across a hook and the \
     installation it refers to: of the four places at most one is filled."

    NOTHING_TO_RUN "S023" "nothing to run"
    "A hook's, server's or subcommand's installation has to say what of it is run, with \
     `executable` or `script` (a hook may say so itself). Only a crate installed from its registry \
     into Symposium's cache needs neither when it has a single program; with `git` or \
     `global = true` the `executable` is required."

    TWO_ARGS "S024" "arguments in two places"
    "`args` stands on the installation or on the hook or server that refers to it, not on both: \
     the order would be a guess."

    PATH_ESCAPES "S025" "a path leads out of its folder"
    "Relative paths start at the plugin's folder and stay inside the plugin's source; paths inside \
     something installed stay inside that; a crate's program is a plain name. Only an installation \
     without `source` takes an absolute path. `~` is not expanded."

    BAD_URL "S026" "an address can't be used"
    "Binaries are fetched with https only, except from the machine itself, and their address may \
     hold `{target}`, `{version}`, `{arch}` and `{os}`. Servers have an http or https address. A \
     git address is one that `git clone` takes, without options or remote helpers."

    BAD_CHECKSUM "S027" "a checksum is missing or malformed"
    "A `binary` installation names the SHA-256 of what its address serves: 64 hexadecimal digits, \
     either one string or a table with one for each target triple."

    BAD_PACKAGE "S028" "a crate's name or version can't be used"
    "A crate's name has ASCII letters, digits, `-` and `_`. Its version is an exact one such as \
     `13.0.0`, or a requirement such as `^13`; leave the key out for the latest."

    RESERVED_NAME "S029" "the subcommand's name is reserved"
    "A plugin can't take the name of a command that Symposium has, or plans to have, itself. A \
     subcommand is usually named after its crate."

    BAD_DESCRIPTION "S030" "the description does not fit"
    "A subcommand's description is one line of at most 1024 characters, since it stands in the \
     help beside others. When a plugin is loaded, control characters become blanks and the rest is \
     cut off."

    BAD_VARIABLE "S031" "a variable or header can't be used"
    "`env` and `headers` are arrays of `{ name = \"…\", value = \"…\" }` or tables of strings. A \
     variable's name is not empty and has no `=`; a header's name is an HTTP token and its value is \
     on one line; each name stands once."

    CUSTOM_PREDICATE "S032" "custom predicates are ignored"
    "`[[predicate]]` defines a condition by a program. Symposium runs no program to decide whether \
     a plugin applies, so conditions that use it count as not holding."

    NEAR_MISS "S033" "a file is nearly a manifest"
    "A plugin is a folder with a file of exactly the name `SYMPOSIUM.toml`, which has a `name`. This \
     file looks as if it was meant to be one, by its content or by its name, and is not read: rename \
     it, or give it a plugin's keys."

    EVERYWHERE "S034" "this applies to every workspace"
    "Neither the plugin nor this entry says which crates it is for, while other parts of the plugin \
     do. It therefore applies everywhere. If that is meant, `crates = [\"*\"]` says so."

    BROKEN_INSTALLATION "S035" "the installation it needs was left out"
    "The installation that this entry refers to has a problem of its own and was left out, so this \
     entry can't run. Mend the installation first."

    SKILL_FOLDER "S036" "a folder of skills is missing or empty"
    "`source.path` of a `[[skills]]` group names a folder, relative to the plugin's, that holds \
     skills: folders with a `SKILL.md`, at most six levels deep. This one does not exist or holds \
     none, so the group offers nothing. In a crate, `path` is relative to its `Cargo.toml`."

    FILE_MISSING "S037" "a program or script is not there"
    "An installation without `source` and without `install_commands` runs what is on disk already. \
     A relative path starts at the plugin's folder, and there is no such file: it can't be run."

    UNKNOWN_CRATE "S038" "no crate has this name"
    "The registry has no crate of this name, so the predicate never holds, or there is nothing to \
     install. If the crate is private or not published yet, `plugin validate --no-check-crates` \
     leaves the registry out."

    SHADOWED "S039" "two plugins of one name"
    "Plugins are found by name. Of two with the same name the first counts, in the order of the \
     sources and of their paths, and the other is never used. Rename one of the two."

    SCRIPT_SYNTAX "S040" "the shell can't read a script"
    "`sh -n` (or the shell that the script's first line names) finds a mistake in it. A hook with such \
     a script fails at each event, and a guard (`on-failure = \"block\"`) then blocks. It is a warning \
     where that shell is not on this machine, so that the script could not be looked through."

    PACKAGE "S041" "a package or an index of others' formats can't be used"
    "The folder has an Agent Plugins manifest (`plugin.json` with its `$schema`), a manifest of a \
     Claude Code package or an index of them (`.claude-plugin/plugin.json`, \
     `.claude-plugin/marketplace.json`), and it breaks a rule of its format without which nothing of \
     it may be used: it is no JSON, has no name, or a version that Symposium does not know."

    NOT_TAKEN "S042" "a part of a package breaks a rule of its format"
    "The part is left out and the rest of the package is used, as the formats want it. `plugin show` \
     lists what is not taken and why; what Symposium merely does not have, such as commands of Claude \
     Code, stands there too and is no mistake."

    NOT_PACKAGED "S043" "the published crate would be without it"
    "Users of a crate get its skills from what is published, and `cargo package --list` does not have \
     this file: `exclude` or `include` in `Cargo.toml` or a `.gitignore` keep it out, or a `Cargo.toml` \
     in a folder above it makes a package of its own. Where `include` lists what is in, \
     `\"/skills/**\"` belongs to it."

    UNCHECKED "S044" "something could not be checked"
    "The registry, or cargo, did not answer in time or said something that is not understood. Nothing is \
     wrong with the plugin for that. Try again, or leave the check out where there is an option for it."

    NOT_EXECUTABLE "S045" "a program's file is not executable"
    "The file is started directly, and its mode does not allow that: `chmod +x` it, and \
     `git update-index --chmod=+x` so that clones have it too. A `script` is read by `sh` and needs no \
     such mode."

    NO_SHEBANG "S046" "a script does not say what reads it"
    "A script that is named as `executable` is started by the system, which takes the program for it from \
     a first line such as `#!/usr/bin/env python3`. Without that line it can't be started. A `script` is \
     read by `sh`, so it can't be a compiled program."

    CRLF "S047" "a script has line ends of Windows"
    "Shells take the carriage return at the end of a line for a part of it: `#!/bin/sh` then names a \
     program that does not exist, and `exit 2` is no number. Save the file with LF, and let \
     `*.sh text eol=lf` in `.gitattributes` keep it so."

    NO_PROVIDER "S048" "nothing provides a server's program"
    "The server's `command` is neither an installation of the manifest nor a file of the plugin, and no \
     program of that name is on this machine's `PATH`. Users have it only by chance: declare it in \
     `[[installations]]`, so that it is installed."

    NO_PROGRAM "S049" "the crate has no such program"
    "The installation's crate, in the version that would be installed, builds no program of that name, \
     or has several and none is named. Name one of those it has as `executable`."

    FOREIGN_CRATE "S050" "the program is of somebody else"
    "A crate's name says nothing about whose it is. This one says that it is developed in another \
     person's or organisation's repository than the crates that the plugin is for, or in none. Where \
     that is meant, name an exact `version` that you looked at: what is published under that name later \
     is then not installed."

    NEVER "S051" "a condition can never hold"
    "No version meets the requirement (`serde>=2, <1`), or two conditions that must both hold exclude \
     each other, at one level or at two. What has it never applies."

    FRONTMATTER "S101" "the frontmatter can't be read"
    "A `SKILL.md` starts with a line `---`, then YAML with at least `name` and `description`, then \
     another line `---`. Without it the skill is skipped."

    SKILL_FIELD "S102" "a required field is missing or empty"
    "Every skill has a `name` and a `description`, both of them text: agents decide by the \
     description whether to read the skill at all. Without them it is skipped."

    SKILL_NAME "S103" "the skill's name breaks the rules"
    "A name has 1 to 64 lower-case letters, digits and single hyphens, and neither starts nor ends \
     with a hyphen (agentskills.io). Another one that is no path is installed under a name made of \
     it; other tools refuse it."

    PATH_NAME "S104" "the skill's name could be a path"
    "The name becomes the name of a folder in people's workspaces. One that could lead somewhere \
     else is always refused."

    FOLDER_NAME "S105" "the skill's name differs from its folder's"
    "A skill's folder is called as the skill is (agentskills.io); some agents go by the one, some \
     by the other. Rename the folder or the skill."

    SKILL_LENGTH "S106" "a text of the skill is too long"
    "A description has at most 1024 characters, and `compatibility` at most 500 (agentskills.io). \
     What is too long is cut when the skill is installed, and other tools refuse it. Move details \
     into the body."

    YAML_SLIP "S107" "the frontmatter is not quite YAML"
    "A value that holds `: ` or starts with a special character, such as `*`, must stand in quotes. \
     Symposium reads it as it was meant; other tools refuse the skill."

    SKILL_GATE "S108" "the skill's `crates` or `predicates` can't be used"
    "`crates` is a string with commas or a list, of entries such as `serde` or `tokio>=1.40`; \
     `predicates` is a string or a list of `env(…)`, `path_exists(…)` and the like. A skill whose \
     condition can't be read never applies."

    HIDDEN_TEXT "S109" "text that people don't see"
    "An agent reads characters that no screen shows, comments, and what follows after a page of \
     empty lines. Invisible characters that can carry a message make Symposium refuse the skill; \
     the rest is pointed out to those who install it."

    SKILL_RUNS "S110" "the skill runs something or allows it"
    "Claude runs a command written as `` !`command` `` at a line's start or after white space, and \
     those in a fence opened by `` ```! ``, when the skill is used. Some agents skip their question \
     for the tools in `allowed-tools`, and run a skill's `hooks`. Hooks of skills are never installed; \
     the others are, and `plugin show` lists them."

    NEEDS_CRATES "S111" "a skill outside of a plugin needs `crates`"
    "A skill that lies in a plugin source by itself says which crates it is for, as `crates: serde` \
     in its frontmatter, or `crates: \"*\"` for every workspace. Without it, it never applies."

    IGNORED_FIELD "S112" "a field of the skill is ignored"
    "The field is known, and its value is of a type that it does not take, so it counts as absent."

    CUT "S113" "an agent would cut the descriptions"
    "Agents list the names and descriptions of all skills in a limited space, and shorten them or leave \
     some out when they need more. These skills together need more than that, were they the only ones. \
     Shorten the descriptions, offer skills for fewer crates at once, and say first what each is for: \
     the end is cut."

    LEADS_OUT "S114" "a link leads out of where the skill is from"
    "What it leads to would be somebody else's file, on each machine another one: a skill's files stay \
     inside its crate, source or repository. The link is left out when the skill is installed. Put the \
     file itself there."

    TOO_LARGE "S115" "the skill is too large"
    "A skill has at most 10,000 files, 20 MB in one of them and 100 MB in all; agents read text, and each \
     workspace gets a copy. One that holds more is skipped."
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// All of `src`, but for this file.
    fn sources() -> String {
        let src = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
        let files = walkdir::WalkDir::new(src).into_iter().map(|entry| entry.expect("reads"));
        let rust = files.filter(|entry| {
            let path = entry.path();
            path.extension().is_some_and(|extension| extension == "rs")
                && !path.ends_with("plugins/diagnostics.rs")
        });
        rust.map(|entry| std::fs::read_to_string(entry.path()).expect("reads")).collect()
    }

    fn captures(pattern: &str, text: &str) -> BTreeSet<String> {
        let pattern = regex::Regex::new(pattern).expect("a pattern");
        pattern.captures_iter(text).map(|found| found[1].to_owned()).collect()
    }

    #[test]
    fn every_code_in_the_table_is_used_and_every_used_one_is_in_the_table() {
        let text = sources();
        let used = captures(r"\bcodes::([A-Z_]+)\b", &text);
        let known: BTreeSet<String> = NAMES.iter().map(|&name| name.to_owned()).collect();
        assert_eq!(used, known);
        for literal in captures(r#"\.code\("(S\d+)"\)"#, &text) {
            assert!(explain(&literal).is_some(), "{literal} has no explanation");
        }
    }

    #[test]
    fn codes_are_well_formed_unique_and_in_order() {
        let codes: Vec<_> = EXPLANATIONS.iter().map(|explanation| explanation.code).collect();
        assert!(codes.is_sorted_by(|one, next| one < next));
        for explanation in EXPLANATIONS {
            let digits = explanation.code.strip_prefix('S').expect("starts with S");
            assert!(digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit()));
            assert!(explanation.text.ends_with('.'), "{}", explanation.code);
            assert!(!explanation.text.contains('\n'), "{} is one paragraph", explanation.code);
        }
    }

    #[test]
    fn the_book_has_them_all() {
        let mut page = "# Codes of mistakes\n\nEach mistake in a manifest or a skill has a code, which \
                        stays its own. `cargo agents plugin explain CODE` prints what stands here.\n"
            .to_owned();
        for known in EXPLANATIONS {
            let text = known.text.replace(AGENTS, "see [Agents](agents/overview.md)");
            let text = crate::report::wrap(&text, 105).join("\n");
            page.push_str(&format!("\n## {}: {}\n\n{text}\n", known.code, known.title));
        }
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/md/reference/codes.md");
        expect_test::expect_file![file].assert_eq(&page);
    }

    #[test]
    fn codes_are_found_in_any_case() {
        assert_eq!(explain(" s012 ").expect("known").code, codes::UNKNOWN_EVENT);
        assert_eq!(explain("S999"), None);
    }
}

use super::*;

/// A file with (nearly) every mistake there is.
const MISTAKES: &str = r#"name = "wid get"
crates = ["serde>>1", "tokio@1", "*"]
predicates = ["env()", "shell(rm -rf /)", "serde"]
colour = "blue"
skill = []

[[installations]]
name = "tool"
source = "cargo"
crate = "bad crate"
version = "latest"
executable = "../tool"

[[installations]]
name = "tool"
executable = "a"
script = "b"

[[installations]]
name = "dl"
source = "binary"
url = "http://example.com/{platform}"

[[installations]]
source = "github"
url = "ext::sh -c true"
crate = "x"

[[installations]]
name = "sum"
source = "binary"
url = "https://example.com/{platform}"
sha256 = { linux = "abc" }

[[installations]]
name = "ok"
source = "cargo"
crate = "ok"
args = ["a"]

[[installations]]
name = "bare"
install_commands = "true"

[[skills]]
source = "crates"

[[skills]]
crates = []
source.path = "../../x"
source.git = "https://example.com"

[[skills]]
crates = ["a"]
depends-on = ["a"]
source.git = "--upload-pack=x"

[[plugins]]
source.cargo = { name = "x y", version = "one", path = "z" }

[[skills]]
source.cargo = "x y"

[[skills]]
source.cargo = "*"

[[hooks]]
name = "a/b"
event = "PreToolUs"
matcher = "Edit|("
command = "okk"
timeout = 0
on-failure = "blok"

[[hooks]]
name = "local"
event = "SessionStart"
matcher = "Bash"
agent = "claud"
format = "codex"
command = { source = "local", command = "./scripts/check.sh" }

[[hooks]]
name = "twice"
event = "PreToolUse"
format = "goose"
agent = "kiro"
command = "ok"
args = ["b"]
requirements = ["nothing", 1, { name = "n", script = "~/x" }]

[[hooks]]
event = 1

[[mcp_servers]]
name = "my server"
type = "htp"

[[mcp_servers]]
name = "s"
command = "../../x"
env = [{ name = "A=B", value = "1" }, { name = "C" }]
headers = []

[[mcp_servers]]
name = "t"
url = "https://example.com"

[[mcp_servers]]
name = "u"
type = "http"
url = "ftp://example.com"
headers = { "a b" = "c" }

[subcommand.Sync]
description = "d"
command = "ok"

[subcommand.two]
description = "first\nsecond"
audience = "robots"
command = { install_commands = ["true"] }

[[predicate]]
name = "custom"

[defaults]
skils = true
"#;

#[test]
fn all_mistakes_are_reported_with_code_line_and_remedy() {
    let parsed = parse(MISTAKES, Strictness::Validate);
    assert!(parsed.plugin.is_none());
    expect_test::expect![[r#"
        error S005 w/SYMPOSIUM.toml:1:8: the name `wid get` of a plugin may only have letters, digits, `-`, `_`, `.`
        error S007 w/SYMPOSIUM.toml:2:18: `serde>>1` is no crate predicate (`>1` is no version); for example `serde`, `tokio>=1.40`, `*`
        error S007 w/SYMPOSIUM.toml:2:29: `tokio@1` is no crate predicate (`@` is no operator: write `tokio=1`); for example `serde`, `tokio>=1.40`, `*`
        error S008 w/SYMPOSIUM.toml:3:20: `env()` is no predicate (a variable's name is missing, as in `env(NAME)`); it counts as not holding
        warning S009 w/SYMPOSIUM.toml:3:24: the predicate `shell(rm -rf /)` is not supported; it is never run and counts as not holding
        error S008 w/SYMPOSIUM.toml:3:49: `serde` is no predicate (expected `(` after `serde`; a crate is written `depends-on(serde)`); it counts as not holding
        error S003 w/SYMPOSIUM.toml:4:1: unknown key `colour`; known keys: name, version, description, activation, crates, depends-on, predicates, installations, skills, hooks, mcp_servers, subcommand, plugins, predicate, defaults
        error S003 w/SYMPOSIUM.toml:5:1: unknown key `skill` (did you mean `skills`?)
        error S028 w/SYMPOSIUM.toml:10:9: `bad crate` is no crate's name (a crate's name has only letters, digits, `-` and `_`)
        error S028 w/SYMPOSIUM.toml:11:11: `latest` is no version and no requirement; leave `version` out for the latest
        error S025 w/SYMPOSIUM.toml:12:14: `../tool` is no program's name; cargo installs programs side by side, without folders
        error S006 w/SYMPOSIUM.toml:15:8: the installation name `tool` is used twice
        error S022 w/SYMPOSIUM.toml:17:10: `executable` and `script` exclude each other
        error S027 w/SYMPOSIUM.toml:19:1: a binary needs a `sha256`; 64 hexadecimal digits, or a table with one for each target
        error S026 w/SYMPOSIUM.toml:22:7: `http://example.com/{platform}` must be https; placeholders: {target}, {version}, {arch}, {os}
        error S004 w/SYMPOSIUM.toml:24:1: this installation has no `name`
        error S026 w/SYMPOSIUM.toml:32:7: `{platform}` is no placeholder; placeholders: {target}, {version}, {arch}, {os}
        error S027 w/SYMPOSIUM.toml:33:20: `abc` is no SHA-256; 64 hexadecimal digits are needed
        error S002 w/SYMPOSIUM.toml:43:20: `installations[6].install_commands` must be an array of strings, found a string
        error S018 w/SYMPOSIUM.toml:46:10: unknown skill source `crates`; write `source.path = "crates"` or `source = "crate"`
        warning S017 w/SYMPOSIUM.toml:49:10: `skills[1].crates` is empty, so it never holds; `["*"]` stands for every workspace
        error S018 w/SYMPOSIUM.toml:50:1: this skill group has more than one source: path, git; exactly one of source.path, source.git, source.cargo, source = "crate", source.crate_path
        error S011 w/SYMPOSIUM.toml:55:1: `crates` and `depends-on` mean the same; keep one of them
        error S026 w/SYMPOSIUM.toml:56:14: the git URL `--upload-pack=x` looks like an option; write `https://<host>/<path>`, `ssh://<user>@<host>/<path>`, `<user>@<host>:<path>` or an absolute path
        error S028 w/SYMPOSIUM.toml:59:25: `x y` is no crate's name (a crate's name has only letters, digits, `-` and `_`)
        error S028 w/SYMPOSIUM.toml:59:42: `one` is no version requirement
        error S003 w/SYMPOSIUM.toml:59:49: unknown key `path` in `plugins[0].source.cargo`; known keys: name, version
        error S028 w/SYMPOSIUM.toml:62:19: `x y` names no crate (`y` is no comparison; another crate is an entry of its own); for example `widget`, `widget>=1`
        error S028 w/SYMPOSIUM.toml:65:16: `*` names no crate (every crate is none to take from); for example `widget`, `widget>=1`
        error S005 w/SYMPOSIUM.toml:68:8: `a/b` can't be a hook's name; up to 100 characters on one line, without `/`, `\` and `:`
        error S012 w/SYMPOSIUM.toml:69:9: unknown event `PreToolUs` (did you mean `PreToolUse`?); accepted: SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, Stop
        error S014 w/SYMPOSIUM.toml:70:11: the matcher `Edit|(` is no regular expression (found open group without closing ')'); the hook never runs
        error S021 w/SYMPOSIUM.toml:71:11: no installation is named `okk` (did you mean `ok`?); installations: bare, dl, ok, sum, tool
        error S016 w/SYMPOSIUM.toml:72:11: `timeout` is 0 seconds; accepted: 1 to 600; 30 are used
        error S016 w/SYMPOSIUM.toml:73:14: unknown on-failure `blok` (did you mean `block`?); accepted: continue, block
        warning S015 w/SYMPOSIUM.toml:78:11: `matcher` has no effect: SessionStart is not about a tool
        error S013 w/SYMPOSIUM.toml:79:9: unknown agent `claud` (did you mean `claude`?); accepted: claude, codex, copilot, gemini, antigravity, qwen, goose, kiro, opencode, symposium; the hook never runs
        warning S015 w/SYMPOSIUM.toml:80:1: this hook never runs: it is for claud only, in the format of codex
        error S020 w/SYMPOSIUM.toml:81:22: unknown source `local`; accepted: cargo, github, binary; what is on disk needs no `source`: drop it and name a `script` or an `executable`
        warning S015 w/SYMPOSIUM.toml:86:1: this hook never runs: it is for kiro only, in the format of goose
        error S024 w/SYMPOSIUM.toml:89:8: the installation `ok` already has `args`; arguments stand in one of the two places
        error S021 w/SYMPOSIUM.toml:90:17: no installation is named `nothing`; installations: bare, dl, ok, sum, tool; the requirement is skipped
        error S002 w/SYMPOSIUM.toml:90:28: `hooks[2].requirements[1]` must be a string or a table, found an integer
        error S003 w/SYMPOSIUM.toml:90:33: an inline installation has no `name` of its own; it is named `twice__req_1`, after its owner
        error S025 w/SYMPOSIUM.toml:90:54: `~/x` starts with `~`; `~` is not expanded
        error S004 w/SYMPOSIUM.toml:92:1: this hook has no `name`
        error S002 w/SYMPOSIUM.toml:93:9: `hooks[3].event` must be a string, found an integer
        error S005 w/SYMPOSIUM.toml:96:8: the name `my server` of a server may only have letters, digits, `-`, `_`
        error S016 w/SYMPOSIUM.toml:97:8: unknown type `htp` (did you mean `http`?); accepted: stdio, http, sse
        error S025 w/SYMPOSIUM.toml:101:11: `../../x` leads out of the plugin's source; paths are relative, with `/` between folders, and stay inside
        error S031 w/SYMPOSIUM.toml:102:17: `A=B` in `mcp_servers[1].env` is no variable's name
        error S004 w/SYMPOSIUM.toml:102:39: this variable has no `value`
        error S003 w/SYMPOSIUM.toml:103:1: unknown key `headers` in `mcp_servers[1]`; known keys: name, type, crates, depends-on, predicates, command, args, env
        error S004 w/SYMPOSIUM.toml:105:1: a server with a `url` needs a `type`; `type = "http"` or `type = "sse"`
        error S026 w/SYMPOSIUM.toml:112:7: `ftp://example.com` is no http or https address
        error S031 w/SYMPOSIUM.toml:113:13: `a b` in `mcp_servers[3].headers` is no header's name
        error S029 w/SYMPOSIUM.toml:115:13: the subcommand name `Sync` is reserved; reserved: agents, audit, complete, completions, crate-info, doctor, help, hook, init, lock, man, mcp, plugin, run-server, self-update, status, symposium, sync, uninstall, use, version, why
        error S023 w/SYMPOSIUM.toml:119:1: this subcommand has nothing to run; name an `executable` or a `script`
        error S030 w/SYMPOSIUM.toml:120:15: the description has line breaks or control characters; it is one line of the help
        error S016 w/SYMPOSIUM.toml:121:12: unknown audience `robots`; accepted: humans, agents
        warning S032 w/SYMPOSIUM.toml:124:3: custom predicates are ignored; what uses them counts as not holding
        error S003 w/SYMPOSIUM.toml:128:1: unknown key `skils` in `defaults` (did you mean `skills`?)
    "#]]
    .assert_eq(&shown(&parsed));
}

#[test]
fn the_host_of_a_download_is_ascii() {
    let text = format!(
        "name = \"w\"\ncrates = [\"w\"]\n[[installations]]\nname = \"i\"\nsource = \"binary\"\n\
         url = \"https://b\u{fc}cher.example/i\"\nsha256 = \"{}\"\nexecutable = \"i\"\n",
        "0".repeat(64)
    );
    expect_test::expect![[r#"
        error S026 w/SYMPOSIUM.toml:6:7: the host of `https://bücher.example/i` has letters beyond ASCII: write it as DNS does, `xn--…`; placeholders: {target}, {version}, {arch}, {os}
    "#]]
    .assert_eq(&shown(&parse(&text, Strictness::Validate)));
    let known = parse(&text.replace("b\u{fc}cher", "xn--bcher-kva"), Strictness::Validate);
    assert_eq!(shown(&known), "");
}

#[test]
fn a_syntax_error_names_its_place() {
    let parsed = parse("name = \"w\"\ncrates = [\"*\"\n[[skills]]\n", Strictness::Load);
    expect_test::expect![[r#"
        error S001 w/SYMPOSIUM.toml:3:1: missing comma between array elements, expected `,`
        error S001 w/SYMPOSIUM.toml:3:3: string values must be quoted, expected literal string
        error S001 w/SYMPOSIUM.toml:3:11: unclosed array, expected `]`
    "#]]
    .assert_eq(&shown(&parsed));
}

#[test]
fn f137_the_local_source_of_the_book_is_refused_with_a_hint() {
    let text = "name = \"w\"\ncrates = [\"w\"]\n[[hooks]]\nname = \"check\"\n\
                event = \"PreToolUse\"\nmatcher = \"Bash\"\n\
                command = { source = \"local\", command = \"./scripts/check.sh\" }\n";
    expect_test::expect![[r#"
        warning S020 w/SYMPOSIUM.toml:7:22: unknown source `local`; accepted: cargo, github, binary; what is on disk needs no `source`: drop it and name a `script` or an `executable`; this hook is left out
    "#]]
    .assert_eq(&shown(&parse(text, Strictness::Load)));
}

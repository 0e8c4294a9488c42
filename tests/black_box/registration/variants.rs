//! Files as users have them before we come.

/// What a file is for.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// JSON with hooks.
    Hooks,
    /// JSON with servers, under this key.
    Servers(&'static str),
    /// Codex's configuration.
    Toml,
    /// Goose's configuration.
    Yaml,
}

/// Names of the variants; [`text`] makes them.
pub(super) const VARIANTS: [&str; 7] =
    ["absent", "empty", "typical", "comments", "crlf and byte order mark", "tabs", "odd layout"];

/// The file in a variant; `None` where there is none.
pub(super) fn text(kind: Kind, variant: &str) -> Option<String> {
    let typical = match kind {
        Kind::Hooks => HOOKS.to_owned(),
        Kind::Servers(key) => SERVERS.replace("KEY", key),
        Kind::Toml => TOML.to_owned(),
        Kind::Yaml => YAML.to_owned(),
    };
    match variant {
        "absent" => None,
        "empty" => Some(String::new()),
        "typical" => Some(typical),
        "comments" => Some(with_comments(kind, &typical)),
        "crlf and byte order mark" => Some(format!("\u{feff}{}", typical.replace('\n', "\r\n"))),
        "tabs" => Some(with_tabs(kind, &typical)),
        _ => Some(odd(kind)),
    }
}

const HOOKS: &str = r#"{
  "model": "opus",
  "permissions": {
    "deny": ["Bash(rm -rf *)"]
  },
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          { "type": "command", "command": "echo cargo-agents hook claude pre-tool-use >> log" }
        ]
      }
    ]
  }
}
"#;

const SERVERS: &str = r#"{
  "theme": "dark",
  "KEY": {
    "mine": {
      "type": "local",
      "command": ["mine"]
    }
  },
  "numStartups": 12345678901234567890
}
"#;

const TOML: &str = r#"model = "gpt-5.5"

[mcp_servers.mine]
command = "mine"

[projects."/src/x"]
trust_level = "trusted"
"#;

const YAML: &str = r#"GOOSE_MODEL: some-model
extensions:
  developer:
    enabled: true
    type: builtin
    name: developer
  mine:
    enabled: false
    type: stdio
    name: mine
    cmd: mine
    args: []
"#;

fn with_comments(kind: Kind, typical: &str) -> String {
    match kind {
        Kind::Hooks | Kind::Servers(_) => {
            let text = typical.replacen("{\n", "{\n  // chosen with care\n", 1);
            text.trim_end().trim_end_matches('}').to_owned() + "  /* the end */\n}\n"
        }
        Kind::Toml | Kind::Yaml => {
            format!("# chosen with care\n{typical}# the end\n")
        }
    }
}

/// YAML takes no tabs for indentation, so there it is four spaces.
fn with_tabs(kind: Kind, typical: &str) -> String {
    let unit = if kind == Kind::Yaml { "    " } else { "\t" };
    typical
        .lines()
        .map(|line| {
            let rest = line.trim_start_matches(' ');
            let depth = (line.len() - rest.len()) / 2;
            let rest =
                if kind == Kind::Toml { rest.replace(" = ", "\t= ") } else { rest.to_owned() };
            format!("{}{rest}\n", unit.repeat(depth))
        })
        .collect()
}

fn odd(kind: Kind) -> String {
    match kind {
        Kind::Hooks => {
            "{ \"hooks\" :{\"PreToolUse\":[\n],\"Stop\":[ ]}\n\n , \"a\":1.50e3,\"b\":{ }}"
                .to_owned()
        }
        Kind::Servers(key) => format!("{{\"{key}\":{{   }},\n\"a\":1.50e3 ,\"b\":\"\\u00e9\"}}"),
        Kind::Toml => {
            "a.b = 1\n[mcp_servers]\nmine = { command = \"mine\" }   # inline\n\n\n[z]".to_owned()
        }
        Kind::Yaml => "extensions:\n\n\nGOOSE_MODEL:   some-model\n\n# trailing".to_owned(),
    }
}

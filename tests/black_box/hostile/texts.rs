//! Texts that nest, repeat and grow without end, in every file that has such a text.

use symposium_testlib::hostile::{Text, texts};

use super::drive::{Place, two_at_a_time};

fn of(form: &str) -> Vec<Text> {
    texts().into_iter().filter(|text| text.form == form).collect()
}

/// Puts each text into a place of its own where there can be many, and the first ones of all into those
/// of which there is one.
fn endures(form: &str, said: &[&str], lay: impl Fn(&Place, &Text) + Sync) {
    let place = Place::new();
    for text in &of(form) {
        lay(&place, text);
    }
    place.endures(said);
}

#[test]
fn frontmatter_of_skills() {
    endures("yaml", &["SKILL.md:"], |place, Text { name, text, .. }| {
        let text = format!("---\nname: {name}\ndescription: d\n{text}---\nBody.\n");
        for skills in ["ws/.agents/skills", "home/.symposium/plugins/trap/skills"] {
            place.sandbox.write(&format!("{skills}/{name}/SKILL.md"), &text);
        }
    });
}

#[test]
fn manifests_of_plugins_expressions_and_predicates() {
    let place = Place::one_of_many();
    for Text { name, text, form } in texts() {
        let quoted = toml::Value::String(text.clone()).to_string();
        let manifest = match form {
            "toml" => text,
            "regex" => format!(
                "[[hooks]]\nname = \"h\"\nevent = \"PreToolUse\"\nmatcher = {quoted}\ncommand = \"true\"\n"
            ),
            "predicate" => format!("predicates = [{quoted}]\n"),
            _ => continue,
        };
        let manifest = format!("name = \"{name}\"\ncrates = [\"*\"]\n{manifest}");
        place.sandbox.user_plugin(&format!("{form}-{name}/SYMPOSIUM.toml"), &manifest);
    }
    place.endures(&["SYMPOSIUM.toml:", "toml-arrays", "regex-counted", "predicate-nots"]);
}

#[test]
fn packages_of_others() {
    endures("json", &["plugin.json"], |place, Text { name, text, .. }| {
        for file in [".claude-plugin/plugin.json", "hooks/hooks.json", ".mcp.json"] {
            let sound = format!("{{\"name\":\"{name}\"}}");
            place.sandbox.user_plugin(&format!("{name}/.claude-plugin/plugin.json"), &sound);
            for path in [format!("{name}-{}/", file.replace('/', "-")), format!("{name}/")] {
                place.sandbox.user_plugin(&format!("{path}{file}"), text);
            }
        }
        place.sandbox.user_plugin(&format!("market-{name}/.claude-plugin/marketplace.json"), text);
    });
}

#[test]
fn settings_of_agents_and_of_the_workspace() {
    let longest = of("json").len();
    let rounds: Vec<usize> = (0..longest).collect();
    two_at_a_time(&rounds, |round| {
        let place = Place::one_of_many();
        let nth = |form: &str| {
            let all = of(form);
            all[round % all.len()].text.clone()
        };
        for (form, paths) in [
            (
                "json",
                &[
                    "home/.claude.json",
                    "home/.claude/settings.json",
                    "home/.gemini/settings.json",
                    "home/.copilot/mcp-config.json",
                    "ws/.mcp.json",
                    "ws/opencode.json",
                    "home/.config/opencode/opencode.json",
                    "home/.kiro/settings/mcp.json",
                ][..],
            ),
            (
                "toml",
                &[
                    "home/.codex/config.toml",
                    "ws/.codex/config.toml",
                    "ws/symposium.toml",
                    "ws/symposium.lock",
                    "ws/.cargo/config.toml",
                    "home/.symposium/state.toml",
                ],
            ),
            ("yaml", &["home/.config/goose/config.yaml"]),
        ] {
            for path in paths {
                place.sandbox.write(path, nth(form));
            }
        }
        place.endures(&["settings.json"]);
    });
}

#[test]
fn what_is_said_of_a_workspace_and_our_own_configuration() {
    let rounds: Vec<Text> = of("toml");
    two_at_a_time(&rounds, |Text { text, .. }| {
        let place = Place::one_of_many();
        let sandbox = &place.sandbox;
        sandbox.write(
            "ws/Cargo.toml",
            format!("{}\n[package.metadata.x]\n{text}", sandbox.read("ws/Cargo.toml")),
        );
        sandbox.write(
            "ws/Cargo.lock",
            format!("{}\n[metadata]\n{text}", sandbox.read("ws/Cargo.lock")),
        );
        let config = sandbox.read("home/.symposium/config.toml");
        sandbox.write("home/.symposium/config.toml", format!("{config}\n[x]\n{text}"));
        place.endures(&["config.toml"]);
    });
}

#[test]
fn sources_and_changelogs_of_crates() {
    let rounds: Vec<Text> = of("rs");
    let changelogs = of("md");
    two_at_a_time(&rounds, |Text { text, name, .. }| {
        let place = Place::one_of_many();
        let round = rounds.iter().position(|other| other.name == *name).expect("is one");
        let manifest = format!(
            "[package]\nname = \"widget\"\nversion = \"1.2.3\"\n[package.metadata.symposium]\n{}",
            of("toml")[round % 7].text
        );
        place.sandbox.registry_crate(
            "widget",
            "1.2.3",
            &[
                ("Cargo.toml", &manifest),
                ("src/lib.rs", &format!("pub mod sound;\n{text}\n")),
                ("src/sound.rs", "pub struct Sound;\n"),
                ("CHANGELOG.md", &changelogs[round % changelogs.len()].text),
            ],
        );
        place.endures(&["widget"]);
    });
}

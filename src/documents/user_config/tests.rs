use super::*;

use expect_test::expect;

fn open(text: &str) -> UserConfig {
    UserConfig::open(Path::new("config.toml"), Some(text)).expect("parses")
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

fn text(config: UserConfig, before: &str) -> String {
    match config.finish() {
        Change::Write(text) => text,
        Change::Keep => before.to_owned(),
        Change::Delete => panic!("the configuration must not go"),
    }
}

fn with_agents(before: &str, wanted: &[&str]) -> String {
    let mut config = open(before);
    config.set_agents(&names(wanted)).expect("can be edited");
    let after = text(config, before);
    let mut again = open(&after);
    again.set_agents(&names(wanted)).expect("can be edited");
    assert_eq!(again.finish(), Change::Keep, "a second time changes nothing");
    after
}

#[test]
fn f30_agents_come_and_go_and_all_else_stays() {
    let before = "\
# My settings
auto-sync = true # yes
colour = \"blue\" # unknown, mine

# work
[[agent]]
name = \"claude\"
extra = 1

[agent.more]
x = 2

[[agent]]
name = \"codex\" # soon

# logs
[logging]
level = \"info\"
";
    expect![[r##"
        # My settings
        auto-sync = true # yes
        colour = "blue" # unknown, mine

        # work
        [[agent]]
        name = "claude"
        extra = 1

        [agent.more]
        x = 2

        [[agent]]
        name = "gemini"

        # logs
        [logging]
        level = "info"
    "##]]
    .assert_eq(&with_agents(before, &["gemini", "claude"]));
    expect![[r##"
        # My settings
        auto-sync = true # yes
        colour = "blue" # unknown, mine

        # work

        [[agent]]
        name = "codex" # soon

        # logs
        [logging]
        level = "info"
    "##]]
    .assert_eq(&with_agents(before, &["codex"]));
    expect![[r##"
        # My settings
        auto-sync = true # yes
        colour = "blue" # unknown, mine

        # work

        # logs
        [logging]
        level = "info"
    "##]]
    .assert_eq(&with_agents(before, &[]));
    assert_eq!(with_agents(before, &["codex", "claude"]), before);
}

#[test]
fn f30_agents_in_a_new_file_and_in_one_line() {
    expect![[r#"
        [[agent]]
        name = "claude"

        [[agent]]
        name = "codex"
    "#]]
    .assert_eq(&with_agents("", &["claude", "codex", "claude"]));
    expect![[r#"
        agent = [{ name = "codex", x = 1 }, { name = "kiro" }]
    "#]]
    .assert_eq(&with_agents(
        "agent = [{ name = \"claude\" }, { name = \"codex\", x = 1 }]\n",
        &["codex", "kiro"],
    ));
}

#[test]
fn f29_line_endings_and_byte_order_mark_stay() {
    let before = "\u{feff}# c\r\nauto-sync = true\r\n";
    let mut config = open(before);
    config.set_agents(&names(&["claude"])).expect("can be edited");
    config.set_value("hook-scope", &Value::from("project")).expect("can be edited");
    config.set_value("logging.level", &Value::from("warn")).expect("can be edited");
    let after = text(config, before);
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
    expect![[r#"
        <BOM># c
        auto-sync = true
        hook-scope = "project"

        [[agent]]
        name = "claude"

        [logging]
        level = "warn"
    "#]]
    .assert_eq(&after.replace('\u{feff}', "<BOM>").replace('\r', ""));
}

#[test]
fn f30_values_are_set_in_place() {
    let before = "# c\nhook-scope = 'global'   # here\n\n[logging]\n# more\nlevel = \"info\"\n";
    let mut config = open(before);
    config.set_value("hook-scope", &Value::from("project")).expect("can be edited");
    config.set_value("logging.level", &Value::from("info")).expect("can be edited");
    config.set_value("auto-sync", &Value::from(false)).expect("can be edited");
    assert_eq!(config.get("auto-sync").expect("parses"), Some(Value::from(false)));
    expect![[r##"
        # c
        hook-scope = "project"   # here
        auto-sync = false

        [logging]
        # more
        level = "info"
    "##]]
    .assert_eq(&text(config, before));
    let mut config = open("# about nothing\n\n# about logging\n[logging]\n");
    config.set_value("auto-sync", &Value::from(true)).expect("can be edited");
    expect![[r#"
        # about nothing

        auto-sync = true

        # about logging
        [logging]
    "#]]
    .assert_eq(&text(config, ""));
}

#[test]
fn lists_change_item_by_item() {
    let before =
        "[plugins]\nuse = [\n  \"a\", # why a\n  # about b\n  \"b\",\n  \"c\" # why c\n]\n";
    let set = |before: &str, values: &[&str]| {
        let mut config = open(before);
        config.set_list(&names(&["plugins"]), "use", &names(values)).expect("can be edited");
        text(config, before)
    };
    expect![[r#"
        [plugins]
        use = [
          "a", # why a
          # about b
          "c", # why c
          "d"
        ]
    "#]]
    .assert_eq(&set(before, &["a", "c", "d"]));
    expect![[r#"
        [plugins]
        use = [ # why a
          # about b
          "b", # why c
        ]
    "#]]
    .assert_eq(&set(before, &["b"]));
    expect![[r#"
        [plugins]
        use = ['a', 'c', "d",]
    "#]]
    .assert_eq(&set("[plugins]\nuse = ['a', 'b', 'c',]\n", &["a", "c", "d"]));
    expect![[r#"
        a = 1

        [plugins]
        use = ["x"]
    "#]]
    .assert_eq(&set("a = 1\n", &["x"]));
    assert_eq!(set("[plugins]\nuse = [ 'a' ] # c\n", &["a"]), "[plugins]\nuse = [ 'a' ] # c\n");
}

#[test]
fn f31_what_does_not_parse_is_never_overwritten() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dirs = Dirs::under(dir.path());
    std::fs::write(dirs.config_file(), "hook-scope = \n[[agent]]\n").expect("writes");
    let outcome = edit(&dirs, &mut |config| config.set_agents(&names(&["claude"])));
    let refusal = outcome.expect_err("refused").to_string();
    assert!(refusal.contains("config.toml:1:"), "{refusal}");
    let text = std::fs::read_to_string(dirs.config_file()).expect("reads");
    assert_eq!(text, "hook-scope = \n[[agent]]\n");
}

#[test]
fn f28_an_absent_file_is_made() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dirs = Dirs::under(&dir.path().join("new"));
    let outcome = edit(&dirs, &mut |config| {
        config.set_agents(&names(&["claude"]))?;
        config.set_value("auto-sync", &Value::from(true))
    });
    assert!(matches!(outcome, Ok(Outcome::Created { .. })));
    let text = std::fs::read_to_string(dirs.config_file()).expect("reads");
    expect![[r#"
        auto-sync = true

        [[agent]]
        name = "claude"
    "#]]
    .assert_eq(&text);
    let loaded = crate::config::Config::load(&dirs);
    assert_eq!(loaded.config.agents, ["claude"]);
    assert!(loaded.diagnostics.is_empty());
}

#[test]
fn an_agent_key_of_another_type_is_refused() {
    for before in ["agent = \"claude\"\n", "[agent]\nid = \"claude\"\n", "agent = [1]\n"] {
        let refusal = open(before).set_agents(&names(&["codex"]));
        assert!(refusal.expect_err("refused").to_string().contains("[[agent]]"));
    }
}

#[test]
fn a_table_of_an_earlier_program_becomes_the_first_of_ours() {
    let before = "[agent] # mine\nname = \"claude-code\" # old\n";
    let mut config = open(before);
    config.set_agents(&names(&["claude"])).expect("stays");
    assert_eq!(config.document.text(), before);
    config.set_agents(&names(&["claude", "codex"])).expect("can be edited");
    let now = config.document.text();
    assert!(now.starts_with("[[agent]] # mine\nname = \"claude-code\" # old\n"), "{now}");
    assert!(now.ends_with("[[agent]]\nname = \"codex\"\n"), "{now}");
}

#[test]
fn an_answer_about_one_workspace_has_a_table_of_its_own_and_comments_stay() {
    let before = "# mine\n[plugins] # also mine\nuse = [\"a_b\"] # why\n";
    let mut config = open(before);
    let root = Some("/src/my.shop");
    config.choose("memchr", root, Choice::Use).expect("can be edited");
    config.choose("memchr", root, Choice::Use).expect("can be edited");
    config.choose("log", root, Choice::Disable).expect("can be edited");
    config.choose("a-b", None, Choice::Disable).expect("can be edited");
    expect![[r##"
        # mine
        [plugins] # also mine
        disable = ["a-b"]

        [plugins.workspace."/src/my.shop"]
        use = ["memchr"]
        disable = ["log"]
    "##]]
    .assert_eq(&text(config, before));
    let before = "[plugins]\nuse = \"a\"\n";
    let mut config = open(before);
    config.choose("b", None, Choice::Use).expect("can be edited");
    assert_eq!(text(config, before), "[plugins]\nuse = [\"a\", \"b\"]\n");
    let error = open("[plugins]\nuse = 3\n").choose("b", None, Choice::Use).expect_err("no list");
    assert!(error.message.contains("plugins.use"), "{error}");
}

//! What a configuration means.

use super::*;

fn parse(text: &str) -> (Config, Vec<String>, ConfigState) {
    let loaded = Config::parse(Path::new("config.toml"), text, Path::new("/base"));
    let diagnostics = loaded.diagnostics.iter().map(ToString::to_string).collect();
    (loaded.config, diagnostics, loaded.state)
}

#[test]
fn f28_an_empty_file_means_defaults() {
    let (config, diagnostics, state) = parse("");
    assert_eq!((config, state), (Config::default(), ConfigState::Missing));
    assert!(diagnostics.is_empty());
}

#[test]
fn f31_a_broken_file_is_reported_with_its_place_and_defaults_serve() {
    let (config, diagnostics, state) = parse("auto-sync = true\nhook-scope = \n");
    assert_eq!((config, state), (Config::default(), ConfigState::Broken));
    assert!(diagnostics[0].starts_with("config.toml:2:"), "{diagnostics:?}");
}

#[test]
fn f13_a_wrong_value_costs_that_value_only() {
    let (config, diagnostics, _) = parse("hook-scope = \"everywhere\"\nauto-update = \"off\"\n");
    assert_eq!(config.hook_scope, HookScope::Global);
    assert_eq!(config.auto_update, AutoUpdate::Off);
    assert!(
        diagnostics[0].contains("1:14: `hook-scope` can't be \"everywhere\""),
        "{diagnostics:?}"
    );
}

#[test]
fn f29_unknown_keys_are_named() {
    let (_, diagnostics, state) = parse("[logging]\nlevle = \"info\"\n");
    assert_eq!(state, ConfigState::Read);
    assert!(diagnostics[0].contains("2:1: unknown key `logging.levle`"), "{diagnostics:?}");
}

#[test]
fn answers_are_kept_a_workspace() {
    let (config, diagnostics, _) = parse(
        "[plugins]\nuse = [\"a\"]\n[plugins.workspace.\"/src/my.shop\"]\n\
         use = \"b\"\ndisable = [\"a\"]\nother = 1\n",
    );
    let root = Some(Path::new("/src/my.shop"));
    assert!(config.plugins.is_used("b", root) && config.plugins.is_disabled("a", root));
    assert!(config.plugins.is_used("a", None) && !config.plugins.is_used("b", None));
    assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
    assert!(diagnostics[0].contains("other"), "{diagnostics:?}");
}

#[test]
fn f19_f20_f21_sources_have_one_place_and_relative_paths_start_at_the_configuration() {
    let (config, diagnostics, _) = parse(
        "[[plugin-source]]\nname = \"a\"\npath = \"p\"\n\
         [[registry]]\nname = \"b\"\ngit = \"u\"\nauto-update = false\n\
         [[plugin-source]]\nname = \"c\"\n\
         [[plugin-source]]\nname = \"d\"\ngit = \"u\"\npath = \"p\"\n\
         [[plugin-source]]\nname = \"a\"\npath = \"q\"\n",
    );
    let names: Vec<_> = config.sources.iter().map(|source| source.name.as_str()).collect();
    assert_eq!(names, ["a", "c", "d", "b"]);
    assert_eq!(config.sources[0].location, SourceLocation::Path("/base/p".into()));
    for unusable in &config.sources[1..3] {
        assert!(matches!(unusable.location, SourceLocation::Unusable(_)), "{unusable:?}");
    }
    assert!(!config.sources[3].auto_update);
    assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
    assert!(diagnostics[0].contains("the name `a` is taken"), "{diagnostics:?}");
}

#[test]
fn a_source_that_nobody_can_tell_the_name_of_leaves_the_list_unclear() {
    for text in [
        "plugin-source = 1\n",
        "[plugin-source]\nname = \"a\"\npath = \"p\"\n",
        "plugin-source = [1]\n",
        "[[plugin-source]]\npath = \"p\"\n",
        "[[registry]]\nname = 1\npath = \"p\"\n",
        "[[registry]]\nname = \" \"\npath = \"p\"\n",
    ] {
        let (config, diagnostics, state) = parse(text);
        assert_eq!((config.sources.len(), state), (0, ConfigState::Unclear), "{text}");
        assert!(!diagnostics.is_empty(), "{text}");
    }
}

#[test]
fn an_empty_path_is_no_place_and_keys_of_repositories_mean_nothing_beside_a_path() {
    for path in ["", " "] {
        let text = format!("[[plugin-source]]\nname = \"a\"\npath = \"{path}\"\n");
        let (config, _, state) = parse(&text);
        let why = SourceLocation::Unusable("its `path` is empty".to_owned());
        assert_eq!((&config.sources[0].location, state), (&why, ConfigState::Read));
    }
    for key in ["git", "path", "rev", "subdir"] {
        let place = if key == "git" { "" } else { "git = \"u\"\n" };
        let (config, ..) = parse(&format!("[[plugin-source]]\nname = \"a\"\n{place}{key} = 1\n"));
        let why = SourceLocation::Unusable(format!("its `{key}` is no string"));
        assert_eq!(config.sources[0].location, why);
    }
    let (config, diagnostics, _) = parse(
        "[[plugin-source]]\nname = \"a\"\npath = \"p\"\nrev = \"main\"\nsubdir = \"s\"\n\
         auto-update = false\n",
    );
    assert_eq!(config.sources.len(), 1);
    assert_eq!(diagnostics.len(), 2, "{diagnostics:?}");
    for (line, key, diagnostic) in [(4, "rev", &diagnostics[0]), (5, "subdir", &diagnostics[1])] {
        let said = format!("config.toml:{line}:1: `{key}` has no effect beside `path`");
        assert!(diagnostic.contains(&said), "{diagnostic}");
    }
}

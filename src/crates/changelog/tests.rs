use std::fs;

use super::*;

/// A crate whose files are these.
fn crate_with(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().expect("has a folder")).expect("creates");
        fs::write(path, text).expect("writes");
    }
    dir
}

fn read(files: &[(&str, &str)]) -> Changelog {
    Changelog::read(crate_with(files).path(), "widget").expect("ships one")
}

fn versions(changelog: &Changelog) -> Vec<String> {
    changelog.sections.iter().map(|section| section.version.to_string()).collect()
}

fn between(changelog: &Changelog, since: &str, until: &str) -> Vec<String> {
    let [since, until] = [since, until].map(|text| version(text).expect("a version"));
    changelog.between(&since, &until).iter().map(|it| it.version.to_string()).collect()
}

/// Every common shape, with the versions 1.1.0 and 1.0.0, whose bodies are `New.` and `Old.`
const SHAPES: [(&str, &str, &str); 12] = [
    (
        "keep-a-changelog",
        "CHANGELOG.md",
        "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- Later.\n\n## [1.1.0] - 2024-02-01\n\n### Added\n\n- New.\n\n## [1.0.0] - 2024-01-01\n\n- Old.\n\n[Unreleased]: https://example.com\n[1.1.0]: https://example.com\n",
    ),
    (
        "conventional",
        "CHANGELOG.md",
        "# Changelog\n\n### [1.1.0](https://example.com/compare/v1.0.0...v1.1.0) (2024-02-01)\n\n#### Features\n\n* New.\n\n## 1.0.0 (2024-01-01)\n\n* Old.\n",
    ),
    (
        "titles",
        "CHANGES.md",
        "# Version 1.1.0\n\nNew.\n\n## Fixes\n\n- 1.0.5 is skipped.\n\n# Version 1.0\n\nOld.\n",
    ),
    (
        "v",
        "HISTORY.md",
        "## v1.1.0 (February 1st, 2024)\n\nNew.\n\n## v1.0.0 (January 1st, 2024)\n\nOld.\n",
    ),
    (
        "setext",
        "CHANGES.md",
        "1.1.0 (2024-02-01)\n==================\nNew.\n\n```sh\n# 9.9.9\n```\n\n1.0.0\n=====\nOld.\n",
    ),
    (
        "rst",
        "CHANGELOG.rst",
        "=========\nChangelog\n=========\n\n1.1.0\n-----\n\nNew.\n\nFixes\n~~~~~\n\nNone.\n\n1.0.0\n-----\n\nOld.\n",
    ),
    ("bare", "CHANGES", "1.1.0 (2024-02-01):\n  * New.\n\n1.0.0 (2024-01-01):\n  * Old.\n"),
    (
        "bare with words",
        "CHANGES.txt",
        "Version 1.1.0\n\n  New.\n\nVersion 1.0.0\n\n  Old. It needs\n1.70 of the compiler.\n",
    ),
    ("list", "NEWS.md", "# News\n\n- 1.1.0 - 2024-02-01\n  - New.\n- 1.0.0\n  - Old.\n"),
    (
        "several crates",
        "CHANGELOG.md",
        "# Changes\n\n## `widget` - [1.1.0](https://example.com) - 2024-02-01\n\n- New.\n\n## `widget_core` - [1.0.9](https://example.com)\n\n- Core.\n\n## widget-v1.0.0\n\n- Old.\n",
    ),
    (
        "releases",
        "RELEASES.md",
        "# Release widget 1.1.0 / widget-core 0.3.0 (2024-02-01)\n\n- New.\n\n# Release widget-core 0.2.0 (2024-01-02)\n\n- Core.\n\n# Release widget 1.0.0 (2024-01-01)\n\n- Old.\n",
    ),
    (
        "anchors",
        "changelog.markdown",
        "<!--\n## [9.9.9]\n-->\n<a name=\"v1.1.0\"></a>\n## v1.1.0 (2024-02-01)\n\n- New.\n\n<a name=\"v1.0.0\"></a>\n## v1.0.0\n\n- Old.\n",
    ),
];

#[test]
fn each_common_shape_of_changelogs_is_read() {
    for (shape, file, text) in SHAPES {
        let changelog = read(&[(file, text)]);
        assert_eq!(versions(&changelog), ["1.1.0", "1.0.0"], "{shape}");
        let texts: Vec<_> = changelog.sections.iter().map(|section| &section.text).collect();
        for (text, own, other) in [(texts[0], "New.", "Old."), (texts[1], "Old.", "New.")] {
            let is_own = text.contains(own) && !text.contains(other) && !text.contains("Core");
            assert!(is_own && !text.contains("Later"), "{shape}: {text}");
            assert!(!text.contains("[1.1.0]: ") && !text.ends_with("</a>"), "{shape}: {text}");
        }
        let line = text.lines().position(|line| line.contains("1.1.0")).expect("is there") + 1;
        let first = &changelog.sections[0];
        let heading = text.lines().nth(first.line - 1).expect("has a line");
        assert!(heading.contains("1.1.0") && first.line >= line, "{shape}: {heading}");
    }
}

#[test]
fn one_file_for_each_version_and_what_was_moved_into_others() {
    let changelog = read(&[
        ("changelog/v1.1.0.md", "New.\n"),
        ("changelog/1.0.0.md", "# 1.0.0\n\nOld.\n"),
        ("changelog/README.md", "How we write these.\n"),
    ]);
    assert_eq!(versions(&changelog), ["1.1.0", "1.0.0"]);
    assert_eq!(changelog.sections[0].text, "New.");
    let changelog = read(&[
        ("CHANGELOG.md", "# 2.0.0\n\nNew.\n\n# 1.9.0\n\nOld.\n"),
        ("CHANGELOG-1.x.md", "# 1.8.0\n\nOlder.\n"),
        ("RELEASE.md", "# How to release\n\nPush a tag.\n"),
    ]);
    assert_eq!(versions(&changelog), ["2.0.0", "1.9.0", "1.8.0"]);
    assert!(changelog.file.ends_with("CHANGELOG.md"));
}

#[test]
fn what_breaks_something_comes_first_and_only_where_it_says_so() {
    let changelog = read(&[(
        "CHANGELOG.md",
        "## 2.1.0\n\nNo breaking changes.\n\n## 2.0.0\n\n### Breaking changes\n\n- `old` is gone.\n\n\
         ## 1.1.0\n\nNon-breaking.\n\n## 1.0.0\n\n**BREAKING**: all.\n\n## 0.9.0\n\nBreaking.\n",
    )]);
    assert_eq!(between(&changelog, "0.9", "2.1.0"), ["2.0.0", "1.0.0", "2.1.0", "1.1.0"]);
    assert_eq!(between(&changelog, "1.1.0", "2.0.0"), ["2.0.0"]);
    assert_eq!(between(&changelog, "2.1.0", "2.1.0"), [""; 0]);
}

#[test]
fn what_is_said_of_a_name_comes_with_its_place_as_code_first() {
    let changelog = read(&[(
        "CHANGELOG.md",
        "## 2.0.0\n\n- The Server is faster.\n- `widget::Server` is gone,\n  use `serve`.\n\n\
         - `Servers` stay.\n\n## 1.0.0\n\n- Added `Server::bind`.\n\n## 3.0.0\n\n- `Server` again.\n",
    )]);
    let until = Version::new(2, 0, 0);
    let found = changelog.mentions(&["Server"], &until, 9);
    let texts: Vec<_> = found.iter().map(|mention| mention.text.as_str()).collect();
    let expected = [
        "- `widget::Server` is gone, use `serve`.",
        "- Added `Server::bind`.",
        "- The Server is faster.",
    ];
    assert_eq!(texts, expected);
    assert_eq!((found[0].line, found[0].version.clone()), (4, until.clone()));
    assert_eq!(changelog.mentions(&["Server"], &until, 1).len(), 1);
}

#[test]
fn a_crate_without_one_ships_none_and_links_are_not_followed() {
    let dir =
        crate_with(&[("README.md", "# 1.0.0\n"), ("other/notes.md", "## 1.0.0\n\nSecret.\n")]);
    assert_eq!(Changelog::read(dir.path(), "widget"), None);
    #[cfg(unix)]
    {
        let link = dir.path().join("CHANGELOG.md");
        std::os::unix::fs::symlink(dir.path().join("other/notes.md"), link).expect("links");
        assert_eq!(Changelog::read(dir.path(), "widget"), None);
    }
    let changelog = read(&[("CHANGELOG.md", "See our page of releases.\n")]);
    assert_eq!(changelog.sections, []);
}

proptest::proptest! {
    /// Whatever stands in it, every section is a piece of it that begins with its heading.
    #[test]
    fn any_text_is_read(text in "([#=~ \n*`<>!-]|1\\.0|Version|```\n|[a-z]){0,80}") {
        for found in sections::sections(&text, "widget") {
            proptest::prop_assert!(found.line >= 1 && text.get(found.span).is_some());
        }
    }
}

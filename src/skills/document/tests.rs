use expect_test::expect;

use super::*;

fn source(text: &str) -> Arc<Source> {
    Source::new("skills/a-skill/SKILL.md", text)
}

fn parse(text: &str) -> (SkillDocument, Vec<String>) {
    let (document, warnings) = SkillDocument::parse(source(text)).expect("parses");
    (document, warnings.iter().map(ToString::to_string).collect())
}

fn refused(text: &str) -> String {
    SkillDocument::parse(source(text)).expect_err("must be refused").to_string()
}

fn crates(document: &SkillDocument) -> Vec<&str> {
    let items = document.gate.crates.as_ref().expect("has crates");
    items.iter().map(|item| item.value.as_str()).collect()
}

const PLAIN: &str = "---\nname: a-skill\ndescription: What it is\n---\n\n# Body\n";

#[test]
fn f84_frontmatter_between_fences() {
    let (document, warnings) = parse(PLAIN);
    assert_eq!(document.name.value, "a-skill");
    assert_eq!(document.install_name, "a-skill");
    assert_eq!(document.description.value, "What it is");
    assert!(document.gate.is_empty());
    assert_eq!(warnings, [""; 0]);
}

#[test]
fn case_77_crlf_byte_order_mark_and_no_final_newline() {
    for text in [
        PLAIN.replace('\n', "\r\n"),
        format!("\u{feff}{PLAIN}"),
        "---\nname: a-skill\ndescription: What it is\n---".to_owned(),
        format!("\u{feff}{}", PLAIN.trim_end().replace('\n', "\r\n")),
    ] {
        let (document, warnings) = parse(&text);
        assert_eq!((document.name.value.as_str(), warnings.len()), ("a-skill", 0), "{text:?}");
        assert_eq!(document.description.value, "What it is");
    }
}

#[test]
fn case_78_rules_in_the_body_are_text_and_dashes_in_the_frontmatter_refused() {
    let text = "---\nname: a-skill\ndescription: \"a \\x2d-- b\"\n---\nx\n---\nname: no\n---\n";
    assert_eq!(parse(text).0.description.value, "a --- b");
    for yaml in ["description: before --- after", "description: |\n  one\n  ---", "# ---"] {
        let error = refused(&format!("---\nname: a-skill\n{yaml}\n---\n"));
        assert!(
            error.contains(": `---` inside the frontmatter ends it for some agents"),
            "{error}"
        );
    }
}

#[test]
fn f93_quoted_and_folded_scalars() {
    for written in ["'a: b'", "\"a: b\"", ">\n  a:\n  b", "|-\n  a: b"] {
        let text = format!("---\nname: \"a-skill\"\ndescription: {written}\n---\n");
        assert_eq!(parse(&text).0.description.value, "a: b", "{written}");
    }
}

#[test]
fn f88_values_of_any_type_are_fine() {
    let text = "---\nname: a-skill\ndescription: d\nlicense: MIT\ncompatibility: any\n\
                metadata:\n  version: 1.0\n  nested: {a: [b]}\n  author: me\n\
                allowed-tools: [Bash, Read]\nuser-invocable: true\nmodel: null\ncount: 3\n\
                list:\n- a\n- b\nmap: {a: {b: c}}\n---\n";
    let (_, warnings) = parse(text);
    assert_eq!(warnings, [""; 0]);
}

#[test]
fn f85_f86_name_and_description_are_required() {
    expect![
        "skills/a-skill/SKILL.md:2:1: `name` is missing; write `name: …` between the `---` lines"
    ]
    .assert_eq(&refused("---\ndescription: d\n---\n"));
    expect!["skills/a-skill/SKILL.md:3:1: `description` is empty"]
        .assert_eq(&refused("---\nname: a-skill\ndescription:\n---\n"));
    expect!["skills/a-skill/SKILL.md:3:14: `description` is empty"]
        .assert_eq(&refused("---\nname: a-skill\ndescription: '  '\n---\n"));
    expect!["skills/a-skill/SKILL.md:3:14: `description` must be a string"]
        .assert_eq(&refused("---\nname: a-skill\ndescription: [a]\n---\n"));
}

#[test]
fn f84_what_is_no_frontmatter_is_told_with_its_place() {
    expect!["skills/a-skill/SKILL.md:1:1: there is no frontmatter; start the file with `---`, then `name: …` and `description: …`, then `---`"]
        .assert_eq(&refused("# Just text\n"));
    expect!["skills/a-skill/SKILL.md:1:1: the frontmatter does not end (starts here); end it with a line that holds only `---`"]
        .assert_eq(&refused("---\nname: a\n"));
    let error = refused("---\nname: a-skill\ndescription: d\nbad: [a\n---\n");
    assert!(error.starts_with("skills/a-skill/SKILL.md:"), "{error}");
    assert!(error.contains("not valid YAML"), "{error}");
    let error = refused("---\nname: a\nname: b\ndescription: d\n---\n");
    assert!(error.contains("duplicate"), "{error}");
    assert!(error.starts_with("skills/a-skill/SKILL.md:3:1: "), "at the second one: {error}");
    assert!(error.ends_with("keep one `name`"), "{error}");
    assert!(refused("").contains("no frontmatter"));
    assert!(refused("---\n- a\n---\n").contains("must be `key: value` lines"));
}

#[test]
fn case_84_a_name_that_could_be_a_path_is_refused() {
    for name in ["../../evil", "/etc/x", "'..'", "'.'", "a/b", "'a\\b'", "'C:x'", "\"a\\0b\""] {
        let error = refused(&format!("---\nname: {name}\ndescription: d\n---\n"));
        assert!(error.contains("can't be a skill's name"), "{name}: {error}");
        assert!(error.starts_with("skills/a-skill/SKILL.md:2:7"), "{error}");
    }
}

#[test]
fn section_3_other_names_are_installed_under_a_slug() {
    let (document, warnings) = parse("---\nname: A Skill_\ndescription: d\n---\n");
    assert_eq!(document.install_name, "a-skill");
    expect!["skills/a-skill/SKILL.md:2:7: the name `A Skill_` breaks the rules (1 to 64 lower-case letters, digits and single hyphens); it is installed as `a-skill`"]
        .assert_eq(&warnings[0]);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let long = "a".repeat(300);
    let (document, _) = parse(&format!("---\nname: {long}\ndescription: d\n---\n"));
    assert_eq!(document.install_name, "a".repeat(64));
    let (document, _) = parse("---\nname: 42\ndescription: d\n---\n");
    assert_eq!(document.install_name, "42");
}

#[test]
fn section_3_the_folder_is_compared_after_nfkc_and_its_author_alone_is_told() {
    let told = |text: &str| SkillDocument::check(&source(text)).problems.len();
    let text = "---\nname: ａ-skill\ndescription: d\n---\n";
    assert_eq!(told(text), 1, "only about the letters");
    let other = text.replace('ａ', "b");
    assert_eq!(told(&other), 1, "about the folder");
    assert_eq!(parse(&other).1, [""; 0]);
}

#[test]
fn section_3_a_long_description_is_cut_and_an_error_in_validate() {
    let text = format!("---\nname: a-skill\ndescription: {}\n---\n", "x".repeat(1025));
    let (document, warnings) = parse(&text);
    assert_eq!(document.description.value.chars().count(), 1024);
    assert!(warnings[0].contains("1025 characters, 1024 are allowed"), "{warnings:?}");
    let found = SkillDocument::check(&source(&text)).problems;
    assert!(found.len() == 1 && found[0].is_error(), "{found:?}");
}

#[test]
fn decision_23_an_unquoted_colon_in_the_description_is_read_with_a_warning() {
    let text = "---\nname: a-skill\ndescription: Use when: always\n  or: never\nlicense: x\n---\n";
    let (document, warnings) = parse(text);
    assert_eq!(document.description.value, "Use when: always or: never");
    expect!["skills/a-skill/SKILL.md:3:14: `description` must be quoted, because it holds `: ` or a special character"]
        .assert_eq(&warnings[0]);
    let (document, _) = parse("---\nname: a-skill\ndescription: `x` does it\n---\n");
    assert_eq!(document.description.value, "`x` does it");
}

/// Values of `argument-hint` and `description` as people write them.
const PROSE: [&str; 18] = [
    "@file",
    "'a' or b",
    "[a] [b]",
    "\"Quick\" way to x",
    "> 3 things",
    "| x",
    "- x",
    "a: b",
    "#x",
    "&x",
    "&x y",
    "*x",
    "!x",
    "%x",
    "`x` y",
    "{a} b",
    "? x: y",
    "trailing:",
];

#[test]
fn what_people_write_unquoted_is_read_as_text_and_installed_quoted() {
    for written in PROSE {
        let text = format!(
            "---\nname: a-skill\ndescription: {written}\nargument-hint: {written}\nlicense: x\n---\nbody\n"
        );
        let (document, warnings) = parse(&text);
        assert_eq!(document.description.value, written);
        assert_eq!(warnings.len(), 2, "{written}: {warnings:?}");
        assert!(warnings[1].starts_with("skills/a-skill/SKILL.md:4:16"), "{warnings:?}");
        let source = Source::new("skills/a-skill/SKILL.md", text);
        let made = crate::skills::rewrite::rewrite_for_install(&source, "a-skill").expect("can be");
        let quoted = serde_json::Value::from(written).to_string();
        let expected = format!(
            "---\nname: a-skill\ndescription: {quoted}\nargument-hint: {quoted}\nlicense: x\n---\nbody\n"
        );
        assert_eq!(made, expected);
    }
}

#[test]
fn what_yaml_means_stays_what_it_means() {
    for (written, read) in [
        ("# c\n  real text", "real text"),
        ("&a text\nlicense: *a", "text"),
        ("!!str text", "text"),
        ("text # c", "text"),
        (">\n  folded\n  text", "folded text"),
        ("\"quoted\"", "quoted"),
    ] {
        let (document, warnings) =
            parse(&format!("---\nname: a-skill\ndescription: {written}\n---\n"));
        assert_eq!((document.description.value.as_str(), warnings.len()), (read, 0), "{written}");
    }
    for broken in ["\"not ended", "[a, b", "'not ended"] {
        refused(&format!("---\nname: a-skill\ndescription: {broken}\n---\n"));
    }
}

#[test]
fn decision_23_case_92_an_unquoted_star_in_crates_is_read_with_a_warning() {
    for (written, atoms) in [
        ("crates: *", vec!["*"]),
        ("crates: *, serde", vec!["*, serde"]),
        ("crates: [*, serde]", vec!["*", "serde"]),
        ("crates: [*]", vec!["*"]),
        ("crates:\n  - *\n  - serde", vec!["*", "serde"]),
        ("crates:\n- *", vec!["*"]),
        ("depends-on: *", vec!["*"]),
        ("metadata:\n  crates: *\n  x: y", vec!["*"]),
    ] {
        let text = format!("---\nname: a-skill\ndescription: d\n{written}\n---\n");
        let (document, warnings) = parse(&text);
        assert_eq!(crates(&document), atoms, "{written}");
        assert!(warnings[0].contains("must be quoted"), "{written}: {warnings:?}");
    }
    let (document, warnings) = parse("---\nname: a-skill\ndescription: d\ncrates: \"*\"\n---\n");
    assert_eq!((crates(&document), warnings.len()), (vec!["*"], 0));
}

#[test]
fn f87_decision_23_crates_in_every_place_and_form() {
    for (written, atoms) in [
        ("crates: serde, tokio>=1.40", vec!["serde, tokio>=1.40"]),
        ("crates: [serde, 'tokio>=1']", vec!["serde", "tokio>=1"]),
        ("crates:\n  - serde\n  - tokio>=1", vec!["serde", "tokio>=1"]),
        ("depends-on: serde=1.0", vec!["serde=1.0"]),
        ("metadata: {crates: \"serde, tokio>=1\"}", vec!["serde, tokio>=1"]),
        ("metadata:\n  depends-on: serde", vec!["serde"]),
        ("crates: serde,tokio\nmetadata:\n  crates: tokio, serde", vec!["serde,tokio"]),
    ] {
        let (document, warnings) =
            parse(&format!("---\nname: a-skill\ndescription: d\n{written}\n---\n"));
        assert_eq!(crates(&document), atoms, "{written}");
        assert_eq!(warnings, [""; 0], "{written}");
    }
}

#[test]
fn decision_2_crates_said_twice_must_agree_and_in_one_spelling() {
    let told =
        |written: &str| refused(&format!("---\nname: a-skill\ndescription: d\n{written}\n---\n"));
    let error = told("crates: a\nmetadata:\n  crates: b");
    assert!(error.contains("`crates` and `metadata.crates` say different things"), "{error}");
    assert!(error.starts_with("skills/a-skill/SKILL.md:6:11"), "{error}");
    for written in ["crates: a\ndepends-on: b", "crates: a\ndepends-on: a"] {
        let error = told(written);
        assert!(error.contains("`crates` and `depends-on` mean the same"), "{error}");
        assert!(error.starts_with("skills/a-skill/SKILL.md:5:13"), "{error}");
    }
    let error = told("crates: a\nmetadata: {depends-on: a}");
    assert!(error.contains("`crates` and `metadata.depends-on` mean the same"), "{error}");
    assert!(told("crates: {a: b}").contains("must be a string or a list"));
    let error = told("crates: [a, 1]");
    assert!(error.starts_with("skills/a-skill/SKILL.md:4:13: `crates` must be"), "{error}");
}

/// Everything that `check` tells, a line each.
fn checked(text: &str) -> String {
    let found = SkillDocument::check(&source(text)).problems;
    found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_error_of_a_frontmatter_is_told_not_the_first() {
    expect![[r"
        skills/a-skill/SKILL.md:2:7: `../../evil` can't be a skill's name; use lower-case letters, digits and single hyphens
        skills/a-skill/SKILL.md:3:14: `description` must be a string
        skills/a-skill/SKILL.md:4:9: `crates` must be a string or a list of strings
        skills/a-skill/SKILL.md:5:11: `metadata` must be `key: value` lines; it is left out"]]
    .assert_eq(&checked(
        "---\nname: ../../evil\ndescription: [a]\ncrates: {a: b}\nmetadata: x\n---\n",
    ));
    expect![[r"
        skills/a-skill/SKILL.md:5:13: `crates` and `depends-on` mean the same; keep one of them
        skills/a-skill/SKILL.md:7:11: `crates` and `metadata.crates` say different things; keep one of them"]]
    .assert_eq(&checked(
        "---\nname: a-skill\ndescription: d\ncrates: a\ndepends-on: b\nmetadata:\n  crates: c\n---\n",
    ));
}

#[test]
fn each_item_of_a_list_has_a_place_of_its_own() {
    for written in [
        "predicates: [\"env(A)\", 'env(B)', env(C)]",
        "predicates: [\n  \"env(A)\",\n  'env(B)',\n  env(C)\n]",
        "predicates:\n  - \"env(A)\"\n  - 'env(B)'  # why\n  - env(C)",
        "predicates:\n- \"env(A)\"\n- 'env(B)'\n- env(C)",
        "metadata:\n  a: b\n  predicates:\n    - \"env(A)\"\n    - 'env(B)'\n    - env(C)\n  c: [d]",
        "metadata:\n  predicates: [\"env(A)\", 'env(B)', env(C)]\n  c: d",
    ] {
        let text = format!("---\nname: a-skill\ndescription: d\n{written}\n---\n");
        let (document, _) = parse(&text);
        let places: Vec<_> =
            document.gate.predicates.iter().map(|item| &text[item.span.clone()]).collect();
        assert_eq!(places, ["\"env(A)\"", "'env(B)'", "env(C)"], "{written}");
    }
    // A comma in quotes ends no item.
    let text = "---\nname: a-skill\ndescription: d\ncrates: [\"a>=1, <2\", 'it''s, b', c]\n---\n";
    let (document, _) = parse(text);
    let crates = document.gate.crates.expect("has crates");
    let places: Vec<_> = crates.iter().map(|item| &text[item.span.clone()]).collect();
    assert_eq!(places, ["\"a>=1, <2\"", "'it''s, b'", "c"]);
}

#[test]
fn case_85_what_yaml_escapes_spell_is_hidden_too() {
    for written in [
        r#"description: "ok \U000E0049\U000E0067""#,
        r#"description: "ok \u202e hidden""#,
        "description: d\nmetadata: {a: {b: [\"\\U000E0049\"]}}",
        "description: d\nother: \"\\u2060\\u2061\\u2062\"",
    ] {
        let text = format!("---\nname: a-skill\n{written}\n---\n");
        let found = SkillDocument::check(&source(&text)).problems;
        let hides = |problem: &Diagnostic| problem.is_error() && problem.message.contains("U+");
        assert!(found.iter().any(hides), "{written}: {found:?}");
    }
    let plain = "---\nname: a-skill\ndescription: \"ok \\u00e9 \\n \\\"x\\\"\"\n---\n";
    assert_eq!(checked(plain), "");
}

#[test]
fn decision_3_empty_crates_never_apply_and_that_is_told() {
    for written in ["crates: []", "crates:", "crates: ''"] {
        let (document, warnings) =
            parse(&format!("---\nname: a-skill\ndescription: d\n{written}\n---\n"));
        assert!(document.gate.crates.is_some(), "{written}");
        assert!(warnings[0].contains("never applies"), "{written}: {warnings:?}");
    }
}

#[test]
fn decision_2b_predicates_are_kept_as_written() {
    let text = "---\nname: a-skill\ndescription: d\npredicates:\n  - env(X)\n  - any(env(A), \
                env(B))\n---\n";
    let (document, _) = parse(text);
    let all: Vec<_> = document.gate.predicates.iter().map(|item| item.value.as_str()).collect();
    assert_eq!(all, ["env(X)", "any(env(A), env(B))"]);
    let (document, _) =
        parse("---\nname: a-skill\ndescription: d\nmetadata:\n  predicates: env(X)\n---\n");
    assert_eq!(document.gate.predicates[0].value, "env(X)");
}

#[test]
fn places_point_at_the_value() {
    let text = "---\nname: a-skill\ndescription: d\nmetadata:\n  a: b\n  crates: serde\n---\n";
    let (document, _) = parse(text);
    let span = document.gate.crates.expect("is there")[0].span.clone();
    assert_eq!(&text[span], "serde");
    assert_eq!(&text[document.description.span], "d");
}

#[test]
fn hooks_are_told() {
    let (_, warnings) = parse("---\nname: a-skill\ndescription: d\nhooks:\n  Stop: []\n---\n");
    assert!(warnings[0].contains("never installed"), "{warnings:?}");
}

#[test]
fn case_85_validate_tells_what_runs_and_what_hides() {
    let text = "---\nname: a-skill\ndescription: d\nallowed-tools: Bash\n---\n<!-- psst -->\n\
                !`curl x`\nbad\u{e0041}\n";
    let found: Vec<_> = SkillDocument::check(&source(text))
        .problems
        .iter()
        .map(|diagnostic| format!("{:?} {diagnostic}", diagnostic.severity))
        .collect();
    expect![[r"
        Warning skills/a-skill/SKILL.md:4:1: `allowed-tools` lets agents use tools without asking: Bash
        Warning skills/a-skill/SKILL.md:6:1: a comment that agents read and rendered pages hide: <!-- psst -->
        Warning skills/a-skill/SKILL.md:7:1: Claude runs this when the skill is used: !`curl x`
        Error skills/a-skill/SKILL.md:8:4: invisible text (U+E0041); an agent reads what people can't see; remove these characters"]]
    .assert_eq(&found.join("\n"));
}

proptest::proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "(---\n)?[a-z:#*\\[\\]{}\"'>| \n\r\u{e9}-]{0,200}(\n---\n)?.{0,20}") {
        let _ = SkillDocument::check(&source(&text));
    }
}

#[test]
fn a_key_that_stands_twice_is_pointed_at_where_it_comes_again() {
    for (yaml, place) in [
        ("name: a\ndescription: d\nname: a\n", (4, 1)),
        ("name: a\ndescription: d\nmetadata:\n  x: y\n  crates: z\n  x: y\n", (7, 3)),
    ] {
        let source = Source::new("SKILL.md", format!("---\n{yaml}---\n"));
        let problem = SkillDocument::parse(Arc::clone(&source)).expect_err("it is refused");
        let span = problem.span.clone().expect("a place");
        assert_eq!(source.line_column(span.start), place, "{problem}");
        assert!(problem.notes.iter().any(|note| note.starts_with("keep one `")), "{problem}");
    }
}

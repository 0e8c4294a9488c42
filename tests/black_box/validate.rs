//! `cargo agents plugin validate`: its forms, and what it finds besides mistakes in a manifest.

use std::path::Path;

use boon::{Compiler, Schemas};
use symposium_testlib::{Manner, Run, Sandbox, slashes};

use crate::registries::{instead_of_crates_io, with_cargo};
use crate::{NO_BUILTIN, sandbox, skill};

fn ready() -> Sandbox {
    let sandbox = sandbox();
    sandbox.write("home/.symposium/config.toml", NO_BUILTIN);
    sandbox
}

fn validate(sandbox: &Sandbox, more: &[&str]) -> Run {
    let run = sandbox.run_in("", &[&["plugin", "validate", "--no-check-crates"], more].concat());
    Run { stderr: slashes(&run.stderr), ..run }
}

/// A plugin with one hook that runs a file.
fn hook(sandbox: &Sandbox, runs: &str) {
    let manifest = format!(
        "name = \"p\"\ncrates = [\"*\"]\n[[hooks]]\nname = \"h\"\nevent = \"PreToolUse\"\ncommand = {{ {runs} }}\n"
    );
    sandbox.write("p/SYMPOSIUM.toml", manifest);
}

fn broken(sandbox: &Sandbox) {
    sandbox.write("p/SYMPOSIUM.toml", "name = \"p\"\ncrates = [\"*\"]\ncratse = 1\n");
    sandbox.write("s/odd/SKILL.md", "---\nname: other\ndescription: d\ncrates: []\n---\n");
}

#[test]
fn several_paths_are_looked_at_and_no_message_comes_twice() {
    let sandbox = ready();
    broken(&sandbox);
    let run = validate(&sandbox, &["p", "s", "p/SYMPOSIUM.toml", "s/odd"]).code(1);
    assert_eq!(run.stderr.matches("unknown key `cratse`").count(), 1, "{}", run.stderr);
    assert_eq!(run.stderr.matches("differs from its folder's").count(), 1, "{}", run.stderr);
    assert!(
        run.stderr.contains("Finished 1 plugin, 1 skill: 2 errors, 1 warning"),
        "{}",
        run.stderr
    );
    let run = validate(&sandbox, &["p", "gone", "."]).code(1);
    assert_eq!(run.stderr.matches("there is nothing to validate").count(), 1, "{}", run.stderr);
}

#[test]
fn warnings_fail_only_where_they_are_denied() {
    let sandbox = ready();
    sandbox.write("p/SYMPOSIUM.toml", "name = \"p\"\ncrates = []\n");
    validate(&sandbox, &["p"]).ok();
    let run = validate(&sandbox, &["p", "--deny", "warnings"]).code(1);
    assert!(run.stderr.contains("1 warning, which are denied"), "{}", run.stderr);
    sandbox.write("p/SYMPOSIUM.toml", "name = \"p\"\ncrates = [\"serde\"]\n");
    validate(&sandbox, &["p", "--deny", "warnings"]).ok();
}

/// Holds a document to OASIS's schema.
pub(crate) fn fits_sarif(document: &serde_json::Value) {
    let file = "tests/fixtures/sarif/sarif-schema-2.1.0.json";
    let schema = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file));
    let schema = serde_json::from_str(&schema.expect("reads")).expect("JSON");
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.add_resource("sarif.json", schema).expect("a schema");
    let index = compiler.compile("sarif.json", &mut schemas).expect("compiles");
    if let Err(error) = schemas.validate(document, index) {
        panic!("{error:#}\n{document:#}");
    }
}

#[test]
fn sarif_fits_its_schema_and_names_rule_file_and_place() {
    let sandbox = ready();
    broken(&sandbox);
    let run = validate(&sandbox, &["p", "s", "--format", "sarif"]).code(1);
    let document: serde_json::Value = serde_json::from_str(&run.stdout).expect("one document");
    fits_sarif(&document);
    let results = document["runs"][0]["results"].as_array().expect("results");
    let of = |rule: &str| results.iter().find(|result| result["ruleId"] == rule).expect(rule);
    let key = of("S003");
    assert_eq!(key["level"], "error");
    let place = &key["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "p/SYMPOSIUM.toml");
    assert_eq!(
        (&place["region"]["startLine"], &place["region"]["startColumn"]),
        (&3.into(), &1.into())
    );
    let rules = document["runs"][0]["tool"]["driver"]["rules"].as_array().expect("rules");
    let index = usize::try_from(key["ruleIndex"].as_u64().expect("an index")).expect("fits");
    assert_eq!(rules[index]["id"], "S003");
    // With nothing wrong it is a document all the same.
    sandbox.write("q/SYMPOSIUM.toml", "name = \"q\"\ncrates = [\"serde\"]\n");
    let run = validate(&sandbox, &["q", "--format", "sarif"]).ok();
    let document: serde_json::Value = serde_json::from_str(&run.stdout).expect("one document");
    assert_eq!(document["runs"][0]["results"], serde_json::json!([]));
}

#[test]
fn github_marks_each_problem_in_its_line_and_json_is_as_with_the_house_s_option() {
    let sandbox = ready();
    broken(&sandbox);
    let run = validate(&sandbox, &["p", "--format", "github"]).code(1);
    let line = "::error file=p/SYMPOSIUM.toml,line=3,col=1,title=S003::unknown key `cratse` (did you \
                mean `crates`?)";
    assert!(run.stdout.lines().any(|told| told.starts_with(line)), "{}", run.stdout);
    assert!(run.stderr.contains("error[S003]"), "{}", run.stderr);
    let asked = validate(&sandbox, &["p", "--format", "json"]).code(1);
    let known = validate(&sandbox, &["p", "--json"]).code(1);
    let problems = |run: &Run| {
        let lines = run.json_lines().into_iter();
        lines.filter(|line| line["event"] == "diagnostic").collect::<Vec<_>>()
    };
    assert!(!problems(&asked).is_empty());
    assert_eq!(problems(&asked), problems(&known));
    let run = validate(&sandbox, &["p", "--json", "--format", "sarif"]).code(2);
    assert!(run.stdout.contains("cannot be used with"), "{}", run.stdout);
}

#[cfg(unix)]
#[test]
fn a_script_that_could_not_be_started_everywhere_says_why() {
    for (text, is_executable, runs, code, told) in [
        ("#!/bin/sh\nexit 0\n", false, "executable", "S045", "this file is not executable"),
        ("exit 0\n", true, "executable", "S046", "does not say what reads it"),
        ("#!/bin/sh\r\nexit 0\r\n", true, "executable", "S047", "a carriage return"),
        ("exit 0\r\n", false, "script", "S047", "a carriage return"),
        ("\u{7f}ELF...", false, "script", "S046", "this is a program"),
        ("# a\u{e0041}\u{e0042}\nexit 0\n", false, "script", "S109", "invisible text"),
    ] {
        let sandbox = ready();
        hook(&sandbox, &format!("{runs} = \"bin/h\""));
        match is_executable {
            true => sandbox.program("p/bin/h", text),
            false => sandbox.write("p/bin/h", text),
        }
        let run = validate(&sandbox, &["p"]).code(1);
        assert!(run.stderr.contains(&format!("error[{code}]: ")), "{text:?}: {}", run.stderr);
        assert!(run.stderr.contains(told), "{text:?}: {}", run.stderr);
        assert!(run.stderr.contains("p/bin/h"), "{text:?}: {}", run.stderr);
    }
    let sandbox = ready();
    hook(&sandbox, "executable = \"bin/h\"");
    sandbox.program("p/bin/h", "#!/bin/sh\nexit 0\n");
    validate(&sandbox, &["p", "--deny", "warnings"]).ok();
    // A shell that the folder brings is not started to read a script.
    let ran = sandbox.dir().join("ran");
    sandbox.program("p/bin/bash", &format!("#!/bin/sh\ntouch {}\n", ran.display()));
    for shell in
        [sandbox.dir().join("p/bin/bash").display().to_string(), "/usr/bin/env ./bash".to_owned()]
    {
        sandbox.program("p/bin/h", &format!("#!{shell}\nexit 0\n"));
        let run = sandbox.run_in("p/bin", &["plugin", "validate", "..", "--no-check-crates"]).ok();
        assert!(run.stderr.contains("is in no folder of your PATH"), "{}", run.stderr);
    }
    assert!(!ran.exists());
}

#[test]
fn a_server_whose_program_nothing_provides_is_told_and_a_file_of_the_plugin_must_be_there() {
    let sandbox = ready();
    let server = |command: &str| {
        let manifest = format!(
            "name = \"p\"\ncrates = [\"*\"]\n[[mcp_servers]]\nname = \"s\"\ncommand = \"{command}\"\n"
        );
        sandbox.write("p/SYMPOSIUM.toml", manifest);
    };
    server("no-such-server-anywhere");
    let run = validate(&sandbox, &["p"]).ok();
    let told = "warning[S048]: nothing provides the server's program `no-such-server-anywhere`";
    assert!(run.stderr.contains(told), "{}", run.stderr);
    assert!(run.stderr.contains("p/SYMPOSIUM.toml:5:11"), "{}", run.stderr);
    server("./serve");
    let run = validate(&sandbox, &["p"]).code(1);
    assert!(run.stderr.contains("error[S037]: there is no file `./serve`"), "{}", run.stderr);
    server("sh");
    validate(&sandbox, &["p", "--deny", "warnings"]).ok();
}

#[test]
fn what_can_never_apply_is_told_at_its_condition() {
    let sandbox = ready();
    let manifest = "name = \"p\"\ncrates = [\"serde>=2, <1\", \"tokio\"]\n\
                    predicates = [\"not(env(CI))\"]\n[[skills]]\nsource.path = \"skills\"\n";
    sandbox.write("p/SYMPOSIUM.toml", manifest);
    sandbox
        .write("p/skills/a/SKILL.md", "---\nname: a\ndescription: d\npredicates: env(CI)\n---\n");
    let run = validate(&sandbox, &["p"]).ok();
    for told in [
        "warning[S051]: no version meets `serde>=2, <1`",
        "p/SYMPOSIUM.toml:2:11",
        "warning[S051]: this predicate and another one can't hold both",
        "the skill never applies",
        "p/skills/a/SKILL.md:4:13",
    ] {
        assert!(run.stderr.contains(told), "{told}\n{}", run.stderr);
    }
}

#[test]
fn text_in_a_manifest_that_people_do_not_see_is_an_error() {
    let sandbox = ready();
    let manifest = "name = \"p\"\ncrates = [\"serde\"] # a\u{e0041}\u{e0042}\n";
    sandbox.write("p/SYMPOSIUM.toml", manifest);
    let run = validate(&sandbox, &["p"]).code(1);
    assert!(run.stderr.contains("error[S109]: invisible text"), "{}", run.stderr);
    assert!(run.stderr.contains("p/SYMPOSIUM.toml:2:"), "{}", run.stderr);
}

#[test]
fn descriptions_that_some_agent_would_cut_are_told_of_their_plugin() {
    let sandbox = ready();
    let manifest = "name = \"p\"\ncrates = [\"serde\"]\n[[skills]]\nsource.path = \"skills\"\n";
    sandbox.write("p/SYMPOSIUM.toml", manifest);
    let description = "d".repeat(900);
    for number in 0..10 {
        let name = format!("s{number}");
        sandbox.write(
            &format!("p/skills/{name}/SKILL.md"),
            format!("---\nname: {name}\ndescription: {description}\n---\n"),
        );
    }
    let run = validate(&sandbox, &["p"]).ok();
    let told = "the 10 descriptions take 9020 characters together";
    assert!(run.stderr.contains("warning[S113]") && run.stderr.contains(told), "{}", run.stderr);
    assert!(run.stderr.contains("claude (about 8000)"), "{}", run.stderr);
}

/// A crate with one skill that has a second file.
fn shipping(sandbox: &Sandbox, package: &str) {
    let head = "[package]\nname = \"k\"\nversion = \"1.0.0\"\nedition = \"2021\"\n";
    sandbox.write("k/Cargo.toml", format!("{head}{package}"));
    sandbox.write("k/src/lib.rs", "");
    sandbox.write("k/skills/basics/SKILL.md", skill("basics", "b"));
    sandbox.write("k/skills/basics/reference.md", "more\n");
}

#[test]
fn skills_that_a_published_crate_would_be_without_are_errors() {
    let sandbox = with_cargo();
    for (package, told) in [
        ("exclude = [\"/skills\"]\n", "the published crate would be without this skill"),
        ("include = [\"src/**\"]\n", "the published crate would be without this skill"),
        ("exclude = [\"reference.md\"]\n", "without skills/basics/reference.md"),
    ] {
        shipping(&sandbox, package);
        let run = validate(&sandbox, &["k"]).code(1);
        assert!(run.stderr.contains("error[S043]: "), "{}", run.stderr);
        assert!(run.stderr.contains(told), "{package}: {}", run.stderr);
        assert!(run.stderr.contains("k/skills/basics/SKILL.md"), "{}", run.stderr);
    }
    for package in ["", "include = [\"/src\", \"/skills/**\"]\n"] {
        shipping(&sandbox, package);
        validate(&sandbox, &["k", "--deny", "warnings"]).ok();
    }
    // A crate that stays at home lacks nothing.
    shipping(&sandbox, "publish = false\nexclude = [\"/skills\"]\n");
    validate(&sandbox, &["k", "--deny", "warnings"]).ok();
    // Nothing was left behind, and nothing of the checkout ran.
    let left: Vec<_> =
        std::fs::read_dir(sandbox.dir().join("k")).expect("reads").flatten().collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
fn where_cargo_can_not_list_a_package_that_is_said_and_nothing_else() {
    let mut sandbox = with_cargo();
    shipping(&sandbox, "exclude = [\"/skills\"]\n");
    sandbox.set("SYMPOSIUM_CARGO", "/no/such/cargo");
    let run = validate(&sandbox, &["k"]).ok();
    assert!(run.stderr.contains("warning[S044]: could not check whether"), "{}", run.stderr);
    assert!(!run.stderr.contains("S043"), "{}", run.stderr);
}

/// A plugin about `widget` that installs a tool.
fn tool(sandbox: &Sandbox, more: &str) {
    let manifest = format!(
        "name = \"p\"\ncrates = [\"widget\"]\n[[installations]]\nname = \"t\"\nsource = \"cargo\"\n\
         crate = \"widget-tool\"\n{more}[[hooks]]\nname = \"h\"\nevent = \"PreToolUse\"\ncommand = \"t\"\n"
    );
    sandbox.write("p/SYMPOSIUM.toml", manifest);
}

fn manifest_of(name: &str, owner: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"1.0.0\"\nedition = \"2021\"\n\
         repository = \"https://example.com/{owner}/{name}\"\n"
    )
}

#[test]
fn an_installed_crate_must_have_the_program_and_be_of_the_same_people_or_pinned() {
    let sandbox = with_cargo();
    let registry = instead_of_crates_io(&sandbox);
    registry.publish("widget", "1.0.0", &[("Cargo.toml", &manifest_of("widget", "acme"))]);
    let files = [
        ("Cargo.toml", manifest_of("widget-tool", "mallory")),
        ("src/main.rs", "fn main() {}".to_owned()),
    ];
    let files = files.each_ref().map(|(path, text)| (*path, text.as_str()));
    registry.publish("widget-tool", "1.0.0", &files);
    let check = |more: &str| {
        tool(&sandbox, more);
        sandbox.run_in("", &["plugin", "validate", "p"])
    };
    let run = check("executable = \"widget-cli\"\nversion = \"1.0.0\"\n").code(1);
    let told = "error[S049]: `widget-tool` 1.0.0 has no program `widget-cli`";
    assert!(run.stderr.contains(told), "{}", run.stderr);
    assert!(run.stderr.contains("its programs: widget-tool"), "{}", run.stderr);
    let run = check("").ok();
    for told in [
        "warning[S050]: `widget-tool` is of somebody else: example.com/mallory",
        "https://example.com/mallory/widget-tool",
        "the crates that the plugin is for: example.com/acme",
        "p/SYMPOSIUM.toml:6:9",
        "Installs widget-tool 1.0.0 from https://example.com/mallory/widget-tool",
    ] {
        assert!(slashes(&run.stderr).contains(told), "{told}\n{}", run.stderr);
    }
    let run = check("version = \"1.0.0\"\n").ok();
    assert!(!run.stderr.contains("S050"), "{}", run.stderr);
}

#[test]
fn a_registry_that_does_not_answer_in_time_has_not_said_that_a_crate_is_unknown() {
    let sandbox = with_cargo();
    let registry = instead_of_crates_io(&sandbox);
    registry.publish("widget", "1.0.0", &[]);
    sandbox.write(
        "p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"widget\", \"gadget\", \"sprocket\"]\n",
    );
    registry.server.set(Manner::Stall);
    let start = std::time::Instant::now();
    let run = sandbox.run_in("", &["plugin", "validate", "p", "--timeout", "2"]).ok();
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    assert!(
        run.stderr.contains("warning[S044]: crate names could not be checked"),
        "{}",
        run.stderr
    );
    assert!(!run.stderr.contains("S038"), "{}", run.stderr);
}

#[test]
fn the_workspace_s_own_crates_are_known_before_they_are_published() {
    let sandbox = with_cargo();
    let registry = instead_of_crates_io(&sandbox);
    sandbox.write("Cargo.toml", "[workspace]\nmembers = [\"widget_core\"]\n");
    sandbox.write("widget_core/Cargo.toml", "[package]\nname = \"widget_core\"\n");
    sandbox.write("widget_core/src/lib.rs", "");
    let manifest = "name = \"p\"\ncrates = [\"widget-core\"]\n";
    sandbox.write("plugins/p/SYMPOSIUM.toml", manifest);
    sandbox.run_in("", &["plugin", "validate", "plugins/p", "--deny", "warnings"]).ok();
    assert_eq!(registry.server.requests(), Vec::<String>::new());
    let tool = "[[hooks]]\nname = \"h\"\nevent = \"PreToolUse\"\ncommand.source = \"cargo\"\n\
                command.crate = \"widget-core\"\n";
    sandbox.write("plugins/p/SYMPOSIUM.toml", format!("{manifest}{tool}"));
    let run = sandbox.run_in("", &["plugin", "validate", "plugins/p"]).code(1);
    assert!(run.stderr.contains("the registry has no crate `widget-core`"), "{}", run.stderr);
}

#[test]
fn a_crate_that_the_registry_has_is_asked_about_once_a_day() {
    let sandbox = with_cargo();
    let registry = instead_of_crates_io(&sandbox);
    registry.publish("widget", "1.0.0", &[]);
    sandbox.write("p/SYMPOSIUM.toml", "name = \"p\"\ncrates = [\"widget\", \"gadget\"]\n");
    let run = sandbox.run_in("", &["plugin", "validate", "p"]).code(1);
    assert!(
        run.stderr.contains("error[S038]: the registry has no crate `gadget`"),
        "{}",
        run.stderr
    );
    let before = registry.server.requests().len();
    sandbox.write("p/SYMPOSIUM.toml", "name = \"p\"\ncrates = [\"widget\"]\n");
    sandbox.run_in("", &["plugin", "validate", "p", "--deny", "warnings"]).ok();
    assert_eq!(registry.server.requests().len(), before);
    // What it had not may be there by now.
    registry.publish("gadget", "1.0.0", &[]);
    sandbox.write("p/SYMPOSIUM.toml", "name = \"p\"\ncrates = [\"widget\", \"gadget\"]\n");
    sandbox.run_in("", &["plugin", "validate", "p", "--deny", "warnings"]).ok();
}

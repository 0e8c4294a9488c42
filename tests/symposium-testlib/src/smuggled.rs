//! Spellings of a skill's `hooks:` that one reader sees and another does not.

/// `hooks` as a block, in lines that are two in.
const BLOCK: &str = "  PreToolUse:\n    - matcher: \"*\"\n      hooks:\n        - type: command\n          \
                     command: @COMMAND";
/// `hooks` on one line, as JSON too.
const FLOW: &str =
    r#"{"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "@COMMAND"}]}]}"#;

/// Lines below `name` and `description`. `@B` is the block, `@F` the line.
const LINES: &[&str] = &[
    // The key, written otherwise.
    "hooks:\n@B",
    "hooks: @F",
    "hooks:    # why\n@B",
    "hooks:\n# why\n\n@B",
    "hooks :\n@B",
    "hooks:\t@F",
    "\"hooks\":\n@B",
    "'hooks': @F",
    "\"hooks\":@F",
    "\"\\x68ooks\": @F",
    "\"\\u0068ooks\": @F",
    "\"ho\\\n  oks\": @F",
    "? hooks\n: @F",
    "? hooks # why\n: @F",
    "? \"hooks\"\n: @F",
    "? !!str hooks\n: @F",
    "? |-\n  hooks\n: @F",
    "? >-\n  hooks\n: @F",
    "? [hooks]\n: @F",
    "[hooks]: @F",
    "!!str hooks: @F",
    "!<tag:yaml.org,2002:str> hooks: @F",
    "! hooks: @F",
    "!!binary aG9va3M=: @F",
    "&a hooks:\n@B",
    "&a !!str hooks: @F",
    "license: &a hooks\n*a : @F",
    "hooks: !!map\n@B",
    "hooks: &a\n@B",
    "hooks: !x @F",
    "x: &a @F\nhooks: *a",
    "Hooks: @F",
    "HOOKS:\n@B",
    "\"hooks \": @F",
    "\"hooks\\0\": @F",
    "hooks\u{200b}: @F",
    "\u{feff}hooks: @F",
    "\thooks: @F",
    "metadata:\n  hooks: @F",
    "hooks: @F\nhooks: null",
    "hooks: null\nhooks: @F",
    // Merged in, or inherited.
    "x: &a {hooks: @F}\n<<: *a",
    "<<: {hooks: @F}",
    "<<: [{hooks: @F}]",
    "\"<<\": {hooks: @F}",
    "'<<':\n  hooks: @F",
    "!!merge <<: {hooks: @F}",
    "__proto__:\n  hooks: @F",
    "\"__proto__\": {hooks: @F}",
    "constructor: {prototype: {hooks: @F}}",
    // In what one reader takes for text, the other for keys.
    "z: \"[\n&a hooks:\n@B\nend: ---\"",
    "z: \"\n  hooks: @F\n  \"",
    "z: \"\nhooks: @F\n\"",
    "z: '\nhooks: @F\n'",
    "z: \"a\n---\nhooks: @F\n\"",
    "z: 'x: [\nhooks: @F\ny: ---'",
    "z: [\nhooks: @F\n]",
    "z: {\nhooks: @F\n}",
    "z: a: [b\nhooks: @F",
    "description2: a: b\nhooks:\n@B",
    "crates: *\nhooks:\n@B",
    "z: a\n  hooks: b\nhooks:\n@B",
    "z: |\nhooks: @F",
    "z: |\n\n     \n  x\nhooks: @F",
    "z: |2\n    x\n  y\nhooks: @F",
    "z: | # why\n  x\nhooks: @F",
    "z: >+\n\n\nhooks: @F",
    // Other ends of lines, of documents and of the frontmatter.
    "z: a\rhooks: @F",
    "z: \"a\rhooks: @F\r\"",
    "# a\rhooks: @F",
    "z: a\u{85}hooks: @F",
    "z: a\u{2028}hooks: @F",
    "# a\u{2029}hooks: @F",
    "z: a\u{b}hooks: @F",
    "z: a\u{c}hooks: @F",
    "...\nhooks: @F",
    "%YAML 1.2\nhooks: @F",
    "# ---\nhooks: @F",
    "z: a --- b\nhooks: @F",
    "z: |\n  ---\nhooks: @F",
    " ---\nhooks: @F",
    "--- # why\nhooks: @F",
    "----\nhooks: @F",
    "---\u{a0}\nhooks: @F\n---",
    "---\nhooks: @F\n---",
];

/// Whole texts.
const TEXTS: &[&str] = &[
    "---\n{name: @N, description: d, hooks: @F}\n---\nBody.\n",
    "---\n{\"name\": \"@N\", \"description\": \"d\", \"hooks\": @F}\n---\nBody.\n",
    "---\n name: @N\n description: d\n hooks: @F\n---\nBody.\n",
    "---\nname: @N\nhooks: @F\ndescription: a: b\n---\nBody.\n",
    "---\nhooks: @F\nname: @N\ndescription: d\n---\nBody.\n",
    "---   \nname: @N\ndescription: d\nhooks: @F\n---\t\nBody.\n",
    "---\n\n\nname: @N\ndescription: d\nhooks: @F\n---\nBody.\n",
    "---\r\nname: @N\r\ndescription: d\r\nhooks: @F\r\n---\r\nBody.\r\n",
    "---\rname: @N\rdescription: d\rhooks: @F\r---\rBody.\r",
    "\u{feff}---\nname: @N\ndescription: d\nhooks: @F\n---\nBody.\n",
    "\n---\nname: @N\ndescription: d\nhooks: @F\n---\nBody.\n",
    " ---\nname: @N\ndescription: d\nhooks: @F\n---\nBody.\n",
    "# A skill\n---\nname: @N\ndescription: d\nhooks: @F\n---\nBody.\n",
    "---\n---\nname: @N\ndescription: d\nhooks: @F\n---\nBody.\n",
    "---\n%YAML 1.2\n---\nname: @N\ndescription: d\nhooks: @F\n---\nBody.\n",
    "---\n--- !!map\nname: @N\ndescription: d\nhooks: @F\n---\nBody.\n",
];

/// A `SKILL.md` for each spelling: what it is called, and its text. `command` says what the hooks of
/// the skill of that name run.
pub fn skills(command: impl Fn(&str) -> String) -> Vec<(String, String)> {
    let framed = |lines: &&str| format!("---\nname: @N\ndescription: d\n{lines}\n---\nBody.\n");
    let texts = LINES.iter().map(framed).chain(TEXTS.iter().map(|text| (*text).to_owned()));
    texts
        .enumerate()
        .map(|(number, text)| {
            let name = format!("s-{number}");
            let text = text.replace("@B", BLOCK).replace("@F", FLOW).replace("@N", &name);
            let text = text.replace("@COMMAND", &command(&name));
            (name, text)
        })
        .collect()
}

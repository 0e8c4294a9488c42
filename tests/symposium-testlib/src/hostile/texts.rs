//! Texts that nest, repeat or grow without end, in the languages that people's files are in.

/// One text.
#[derive(Debug, Clone)]
pub struct Text {
    /// What is the matter with it.
    pub name: &'static str,
    /// `yaml`, `toml`, `json`, `rs`, `regex`, `predicate` or `md`.
    pub form: &'static str,
    /// It.
    pub text: String,
}

/// Levels of what nests: a reader that goes into each by calling itself would be at the end of its stack.
const DEEP: usize = 10_000;

/// Every kind.
pub fn texts() -> Vec<Text> {
    let of = |form: &'static str| move |(name, text)| Text { name, form, text };
    let all = json().into_iter().map(of("json"));
    let all = all.chain(toml().into_iter().map(of("toml")));
    let all = all.chain(yaml().into_iter().map(of("yaml")));
    let all = all.chain(rust().into_iter().map(of("rs")));
    let all = all.chain(expressions().into_iter().map(of("regex")));
    let all = all.chain(predicates().into_iter().map(of("predicate")));
    all.chain(changelogs().into_iter().map(of("md"))).collect()
}

fn nested(open: &str, close: &str) -> String {
    open.repeat(DEEP) + &close.repeat(DEEP)
}

fn json() -> [(&'static str, String); 8] {
    let keys: String = (0..3000).map(|number| format!("\"k{number}\":{number},")).collect();
    [
        ("arrays", nested("[", "]")),
        ("objects", nested("{\"a\":", "}")),
        ("unclosed", "[{\"a\":".repeat(DEEP)),
        (
            "numbers",
            format!("[1e{}, {}, -0.{}1]", "9".repeat(3000), "9".repeat(9000), "0".repeat(9000)),
        ),
        (
            "twice",
            "{\"a\":1,\"a\":{\"b\":2},\"a\":[3],\"\":4,\"\":5,\"__proto__\":{\"x\":1}}".to_owned(),
        ),
        ("escapes", format!("\"{}\\ud800\\u0000\\udfff\\x\"", "\\u202e".repeat(500))),
        ("keys", format!("{{{keys}\"last\":null}}")),
        ("comments", format!("{}{{}}{}", "/*".repeat(2000), "*/".repeat(2000))),
    ]
}

fn toml() -> [(&'static str, String); 7] {
    let tables: String =
        (0..1500).map(|number| format!("[t{number}.a.b.c]\nx = {number}\n")).collect();
    [
        ("arrays", format!("a = {}\n", nested("[", "]"))),
        ("tables", format!("a = {}\n", "{a=".repeat(DEEP))),
        ("dotted", format!("{}a = 1\n", "a.".repeat(DEEP))),
        ("header", format!("[{}a]\n", "a.".repeat(DEEP))),
        ("many-tables", tables),
        ("strings", format!("a = \"\"\"{}", "\\\n".repeat(3000))),
        (
            "numbers",
            format!(
                "a = {}\nb = 0x{}\nc = 1e{}\n",
                "9".repeat(3000),
                "f".repeat(3000),
                "9".repeat(3000)
            ),
        ),
    ]
}

fn yaml() -> [(&'static str, String); 9] {
    let levels: String = (1..30)
        .map(|at| format!("a{at}: &a{at} [{}]\n", format!("*a{}, ", at - 1).repeat(9)))
        .collect();
    [
        ("brackets", format!("a: {}\n", nested("[", "]"))),
        ("braces", format!("a: {}\n", nested("{a: ", "}"))),
        ("dashes", format!("a:\n  {}x\n", "- ".repeat(DEEP))),
        ("questions", "? ".repeat(DEEP)),
        ("laughs", format!("a0: &a0 x\n{levels}")),
        ("merges", format!("a: &a {{x: 1}}\n{}", "b: {<<: *a, <<: *a}\n".repeat(500))),
        ("itself", "a: &a [*a, *a]\n".to_owned()),
        ("tags", format!("a: {}x\n", "!!python/object/apply:os.system ".repeat(500))),
        ("documents", "--- {a: 1}\n...\n".repeat(2000)),
    ]
}

fn rust() -> [(&'static str, String); 9] {
    [
        ("parentheses", format!("pub fn trap() {{ {}; }}", nested("(", ")"))),
        ("types", format!("pub type Trap = {}u8{};", "Option<".repeat(DEEP), ">".repeat(DEEP))),
        ("pointers", format!("pub type Trap = {}u8;", "&".repeat(DEEP))),
        ("modules", format!("{}pub struct Trap;{}", "pub mod m {".repeat(DEEP), "}".repeat(DEEP))),
        ("operators", format!("pub const TRAP: i8 = {}1;", "!".repeat(DEEP))),
        ("additions", format!("pub const TRAP: i8 = 1{};", "+1".repeat(DEEP))),
        ("uses", format!("pub use {}Trap{};", "a::{".repeat(DEEP), "}".repeat(DEEP))),
        ("unclosed", "pub struct Trap {".repeat(DEEP / 4)),
        ("comments", format!("{} pub struct Trap; {}", "/*".repeat(DEEP), "*/".repeat(DEEP))),
    ]
}

fn expressions() -> [(&'static str, String); 7] {
    [
        ("counted", "a{1000}{1000}{1000}".to_owned()),
        ("groups", nested("(", ")")),
        ("stars", format!("{}b", "(a*)*".repeat(500))),
        ("alternatives", format!("({}x)*", "a|aa|".repeat(500))),
        ("letters", "\\p{L}{500}\\p{L}{500}".to_owned()),
        ("classes", nested("[a&&", "]")),
        ("look-behind", "(?<=(a+)+)\\1$".to_owned()),
    ]
}

fn predicates() -> [(&'static str, String); 4] {
    [
        ("nots", format!("{}env(X)", "not(".repeat(DEEP)) + &")".repeat(DEEP)),
        ("alls", nested("all(", ")")),
        ("anys", format!("any({}env(X))", "env(X),".repeat(2000))),
        ("unclosed", "any(".repeat(DEEP)),
    ]
}

fn changelogs() -> [(&'static str, String); 3] {
    let versions: String = (0..2000).map(|number| format!("## [{number}.0.0]\n- x\n")).collect();
    [
        ("versions", versions),
        ("quotes", format!("## 2.0.0\n{}x\n", "> ".repeat(DEEP))),
        ("links", format!("## 2.0.0\n{}\n", nested("[", "](x)"))),
    ]
}

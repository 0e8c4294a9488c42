use std::fs;

use super::*;

/// A library called `widget` with these files.
fn library(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let manifest = "[package]\nname = \"widget\"\nedition = \"2021\"\n[dependencies]\n\
                    gear = \"1\"\nbolts = { package = \"bolt-core\", version = \"1\" }\n";
    for (path, text) in [("Cargo.toml", manifest)].iter().chain(files) {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().expect("has a folder")).expect("creates");
        fs::write(path, text).expect("writes");
    }
    dir
}

fn ask(files: &[(&str, &str)], path: &str) -> LookUp {
    look_up("widget", library(files).path(), path).expect("is a path")
}

/// `path file:line` of each.
fn shown(items: &[Item]) -> Vec<String> {
    let shown = |item: &Item| {
        let file = item.file.file_name().expect("has a name").to_string_lossy();
        format!("{} {file}:{}", item.path, item.line)
    };
    items.iter().map(shown).collect()
}

const TOOLS: [(&str, &str); 4] = [
    (
        "src/lib.rs",
        "//! Widgets.\nmod tools;\npub mod deep;\n#[cfg(feature = \"fast\")]\npub use tools::Gear;\n\
         pub use self::tools::{self as kit, Wheel as Rim, turn};\npub use deep::all::*;\n",
    ),
    (
        "src/tools.rs",
        "/// A gear.\n///\n/// It turns.\n#[derive(Clone)]\n#[deprecated(note = \"use Wheel\")]\n\
         pub struct Gear {\n    /// Teeth.\n    pub teeth: Vec<(u8, u8)>,\n    size: u8,\n}\n\n\
         impl<T: Into<u8>> From<T> for Gear {\n    fn from(t: T) -> Self { loop {} }\n}\n\n\
         impl Gear {\n    /// Turns it.\n    #[cfg(unix)]\n    pub fn turn(&self, by: [u8; 2]) -> char {\n        '}'\n    }\n}\n\n\
         pub struct Wheel;\npub fn turn() {}\nfn hidden() {}\n",
    ),
    ("src/deep/mod.rs", "pub mod all;\npub use bolts::{Bolt, nut::Nut as Small};\n"),
    (
        "src/deep/all.rs",
        "pub enum Colour { Red, Blue { deep: u8 }, Green(u8) }\npub trait Paint {\n    const COATS: u8 = 2;\n    \
         type Tin;\n    fn paint(&self) { }\n}\npub use gear::*;\n",
    ),
];

#[test]
fn a_path_leads_through_modules_and_re_exports_to_the_declaration() {
    for (path, expected) in [
        ("widget::Gear", "widget::Gear tools.rs:6"),
        ("Gear", "widget::Gear tools.rs:6"),
        ("widget::Rim", "widget::Rim tools.rs:24"),
        ("widget::kit::turn", "widget::kit::turn tools.rs:25"),
        ("widget::turn", "widget::turn tools.rs:25"),
        ("widget::deep::all::Colour", "widget::deep::all::Colour all.rs:1"),
        ("::widget::Colour", "widget::Colour all.rs:1"),
        ("widget::Colour::Blue", "widget::Colour::Blue all.rs:1"),
        ("Gear::turn", "widget::Gear::turn tools.rs:19"),
        ("widget::Gear::<u8>::turn()", "widget::Gear::turn tools.rs:19"),
        ("Gear::from", "widget::Gear::from tools.rs:13"),
        ("Gear::teeth", "widget::Gear::teeth tools.rs:8"),
        ("Paint::paint", "widget::Paint::paint all.rs:5"),
        ("Paint::COATS", "widget::Paint::COATS all.rs:3"),
        ("widget::deep::all", "widget::deep::all mod.rs:1"),
    ] {
        let answer = ask(&TOOLS, path);
        assert_eq!(shown(&answer.found), [expected], "{path}: {answer:?}");
        assert_eq!((answer.elsewhere, answer.near, answer.unknown), Default::default(), "{path}");
    }
}

#[test]
fn a_declaration_comes_with_its_documentation_and_conditions() {
    let gear = ask(&TOOLS, "widget::Gear").found.remove(0);
    assert_eq!(gear.doc, "A gear.\n\nIt turns.");
    assert!(gear.declaration.starts_with("pub struct Gear {\n    /// Teeth."), "{gear:?}");
    assert!(gear.declaration.ends_with("size: u8,\n}"), "{gear:?}");
    assert_eq!(gear.deprecated.as_deref(), Some("note = \"use Wheel\""));
    assert_eq!((gear.kind, gear.cfg), (Kind::Struct, vec!["feature = \"fast\"".to_owned()]));
    let turn = ask(&TOOLS, "Gear::turn").found.remove(0);
    assert_eq!(turn.declaration, "pub fn turn(&self, by: [u8; 2]) -> char");
    assert_eq!((turn.kind, turn.doc.as_str()), (Kind::Method, "Turns it."));
    assert!(turn.cfg.contains(&"unix".to_owned()));
    let teeth = ask(&TOOLS, "Gear::teeth").found.remove(0);
    assert_eq!(teeth.declaration, "pub teeth: Vec<(u8, u8)>");
}

#[test]
fn an_item_is_called_as_users_reach_it_wherever_it_is_declared() {
    let files = [
        (
            "src/lib.rs",
            "mod tools;\nmod more;\npub mod prelude;\nmod secret { pub struct Key; }\n\
             pub(crate) use secret::Key;\npub use self::tools::Gear;\n",
        ),
        ("src/tools.rs", "pub struct Gear;\npub struct Part;\npub(crate) fn oil() {}\n"),
        (
            "src/more.rs",
            "use super::tools::{Gear, Part};\nimpl Gear { pub fn spin(&self) {} }\n\
                         impl Part { pub fn fit(&self) {} }\n",
        ),
        ("src/prelude.rs", "pub use super::tools::*;\n"),
    ];
    for (path, expected) in [
        ("Gear::spin", "widget::Gear::spin more.rs:2"),
        ("Part", "widget::prelude::Part tools.rs:2"),
        ("widget::prelude::Part", "widget::prelude::Part tools.rs:2"),
        // Where nobody reaches it, and where it is not known how, it is called as it is declared.
        ("Key", "widget::secret::Key lib.rs:4"),
        ("oil", "widget::tools::oil tools.rs:3"),
    ] {
        assert_eq!(shown(&ask(&files, path).found), [expected], "{path}");
    }
    let near = ask(&files, "Gear::spinn").near;
    assert_eq!(shown(&near), ["widget::Gear::spin more.rs:2"]);
}

#[test]
fn names_that_share_words_are_near_those_of_the_same_type_before_others() {
    let code = "pub struct Client;\nimpl Client {\n    pub fn get_multiplexed_async_connection(&self) {}\n    \
                pub fn get_connection(&self) {}\n    pub fn open() {}\n    fn get_async() {}\n}\n\
                pub struct Pool;\nimpl Pool { pub fn get_async_connection_now(&self) {} }\n\
                pub struct ErrorData;\npub mod dangerous { pub fn insecure_decode() {} }\n";
    let near = |path: &str| {
        let near = ask(&[("src/lib.rs", code)], path).near;
        near.into_iter().map(|item| item.path).collect::<Vec<_>>()
    };
    assert_eq!(
        near("widget::Client::get_async_connection"),
        ["widget::Client::get_multiplexed_async_connection", "widget::Client::get_connection"]
    );
    assert_eq!(near("widget::Error"), ["widget::ErrorData"]);
    let decode = ["widget::dangerous::insecure_decode"];
    assert_eq!(near("widget::dangerous_insecure_decode"), decode);
    assert_eq!(near("widget::close_everything"), [""; 0]);
}

#[test]
fn a_signature_is_found_by_any_of_its_lines() {
    let code = "use x;\n\n/// Asks.\npub async fn ask<T: Clone>(\n    a: u8,\n    b: impl Into<T>,\n) -> T\nwhere\n    \
                T: Send,\n{\n    loop {}\n}\npub struct Wide<T>(T);\n";
    let dir = library(&[("src/lib.rs", code)]);
    let at = |line, name| signature(dir.path(), Path::new("src/lib.rs"), line, name);
    let ask = "pub async fn ask<T: Clone>(a: u8, b: impl Into<T>) -> T where T: Send,";
    for line in [4, 6, 9] {
        assert_eq!(at(line, "ask"), Some((4, ask.to_owned())), "{line}");
    }
    assert_eq!(at(13, "Wide"), Some((13, "pub struct Wide<T>(T)".to_owned())));
    assert_eq!((at(3, "ask"), at(4, "tell"), at(900, "nothing")), (None, None, None));
    assert_eq!(signature(dir.path(), Path::new("../../etc/passwd"), 1, "root"), None);
}

#[test]
fn what_is_of_another_crate_is_told_with_its_name_there() {
    let foreign = |path: &str| {
        let found = ask(&TOOLS, path).foreign;
        found.into_iter().map(|it| (it.package, it.path, it.is_glob)).collect::<Vec<_>>()
    };
    let bolt = |path: &str| vec![("bolt-core".to_owned(), path.to_owned(), false)];
    assert_eq!(foreign("widget::deep::Bolt"), bolt("bolt_core::Bolt"));
    assert_eq!(foreign("widget::deep::Small::new"), bolt("bolt_core::nut::Nut::new"));
    let all = [("gear".to_owned(), "gear::Cog".to_owned(), true)];
    assert_eq!(foreign("widget::Cog"), all);
}

#[test]
fn where_there_is_nothing_the_same_name_elsewhere_or_a_near_one_is_told() {
    let answer = ask(&TOOLS, "widget::Wheel");
    assert_eq!(shown(&answer.found), [""; 0]);
    assert_eq!(shown(&answer.elsewhere), ["widget::tools::Wheel tools.rs:24"]);
    assert_eq!(shown(&ask(&TOOLS, "Wheel").found), ["widget::tools::Wheel tools.rs:24"]);
    assert_eq!(shown(&ask(&TOOLS, "Paint::turn").elsewhere).len(), 2);
    let near = ask(&TOOLS, "widget::Whele").near;
    assert_eq!(shown(&near), ["widget::tools::Wheel tools.rs:24"]);
    assert_eq!(ask(&TOOLS, "widget::Entirely").near, []);
    let hidden = ask(&TOOLS, "hidden").found.remove(0);
    assert!(!hidden.is_public);
}

#[test]
fn a_module_may_be_spelt_as_types_are() {
    let files = [
        ("src/lib.rs", "pub mod Win32;\n"),
        ("src/Win32/mod.rs", "pub mod FileSystem;\n"),
        ("src/Win32/FileSystem.rs", "pub fn CreateFileW() {}\npub fn CreateFileA() {}\n"),
    ];
    let answer = ask(&files, "widget::CreateFileW");
    assert_eq!(
        shown(&answer.elsewhere),
        ["widget::Win32::FileSystem::CreateFileW FileSystem.rs:1"]
    );
    assert!(answer.elsewhere[0].is_reached);
    assert_eq!(answer.near, []);
}

#[test]
fn a_type_has_the_methods_of_what_it_derefs_to() {
    let code = "use std::ops::Deref;\npub struct Guard(Inner);\nmod inner { pub struct Inner;\n\
                impl Inner { pub fn turn(&self) {} }\n}\npub use inner::Inner;\n\
                impl Deref for Guard {\n    type Target = inner::Inner;\n    \
                fn deref(&self) -> &Inner { &self.0 }\n}\n\
                pub struct Text<T>(T);\nimpl<T> std::ops::Deref for Text<T> { type Target = str; }\n\
                pub struct Bare; impl Bare { pub fn own(&self) {} }\n";
    let ask = |path: &str| ask(&[("src/lib.rs", code)], path);
    let derefs = |answer: &LookUp| -> Vec<String> {
        let shown = |it: &Deref| format!("{} {} {}", it.of, it.to, it.line);
        answer.derefs.iter().map(shown).collect()
    };
    for path in ["widget::Guard::turn", "Guard::turn"] {
        let answer = ask(path);
        assert_eq!(shown(&answer.found), ["widget::Inner::turn lib.rs:4"], "{path}");
        assert_eq!(derefs(&answer), ["Guard inner::Inner 8"], "{path}");
    }
    let answer = ask("widget::Text::trim");
    assert_eq!((shown(&answer.found), derefs(&answer)), (vec![], vec!["Text str 12".to_owned()]));
    assert_eq!(derefs(&ask("widget::Bare::turn")), [""; 0]);
    assert_eq!(derefs(&ask("widget::Guard::deref")), [""; 0], "it is its own");
}

#[test]
fn a_path_is_found_however_many_ways_there_are_through_stars() {
    let branch = |n: usize| format!("if #[cfg(a{n})] {{ mod m{n}; pub use self::m{n}::*; }} else ");
    let all: String = (0..40).map(branch).collect();
    let lib = format!("prelude!();\ncfg_if! {{ {all} {{}} }}\nmod last; pub use last::*;\n");
    let module =
        "use super::prelude::*;\npub use crate::*;\npub use super::last::*;\npub type T = u8;\n";
    let mut files = vec![("src/lib.rs".to_owned(), lib)];
    files.extend((0..40).map(|n| (format!("src/m{n}.rs"), module.to_owned())));
    let last = "use super::prelude::*;\npub use self::deep::*;\nmod deep { pub fn open() {} }\n";
    files.push(("src/last.rs".to_owned(), last.to_owned()));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    assert_eq!(shown(&ask(&files, "widget::open").found), ["widget::open last.rs:3"]);
    assert_eq!(ask(&files, "widget::close").found, []);
}

#[test]
fn what_macros_make_is_unknown_and_what_stands_in_their_calls_is_told_so() {
    let files = [(
        "src/lib.rs",
        "make! { Knob, Dial }\ncfg_net! {\n    pub mod net { pub struct Socket; }\n    pub use net::Socket as Sock;\n}\n\
         cfg_if! { if #[cfg(unix)] { pub fn pipe() {} } else { pub fn pipe() {} } }\n\
         impl net::Socket { forward!(send); }\n\
         mod inner {\n    #[macro_export]\n    macro_rules! spin { () => { fn fake() {} } }\n}\n",
    )];
    let knob = ask(&files, "widget::Knob");
    assert_eq!((knob.found, knob.unknown[0].line), (vec![], 1));
    assert!(knob.unknown[0].why.contains("the macro `make!` is called with `Knob`"));
    for path in ["widget::net::Socket", "widget::Sock", "net::Socket"] {
        let found = ask(&files, path).found;
        let name = path.trim_start_matches("widget::");
        assert_eq!(shown(&found), [format!("widget::{name} lib.rs:3")], "{path}");
        assert_eq!(found[0].within_macros, ["cfg_net"], "{path}");
    }
    assert_eq!(ask(&files, "widget::pipe").found[0].within_macros, ["cfg_if"]);
    assert!(ask(&files, "Socket::send").unknown[0].why.contains("`forward!`"));
    assert_eq!(shown(&ask(&files, "widget::spin").found), ["widget::spin lib.rs:10"]);
    assert_eq!(ask(&files, "widget::fake").found, []);
}

#[test]
fn where_a_macro_is_told_to_declare_the_name_no_near_one_is_looked_for() {
    let code = "link!(\"kernel32\" fn OpenFile(name: *const u8));\n\
                link!(OpenFiles);\npub fn OpenFileX() {}\n";
    let near = |path| {
        let answer = ask(&[("src/lib.rs", code)], path);
        (answer.unknown[0].line, shown(&answer.near))
    };
    assert_eq!(near("widget::OpenFile"), (1, vec![]));
    assert_eq!(near("widget::OpenFiles"), (2, vec!["widget::OpenFileX lib.rs:3".to_owned()]));
}

#[test]
fn circles_lead_nowhere_and_a_name_may_be_a_module_and_more() {
    let files = [
        (
            "src/lib.rs",
            "pub use self::a::*;\npub mod a;\npub use gear::gear;\npub mod size {}\npub fn size() {}\n\
             #[path = \"odd/place.rs\"]\npub mod named;\nextern crate bolts as rivets;\npub use rivets::Pin;\n",
        ),
        (
            "src/a.rs",
            "pub use crate::*;\npub use super::a::b::*;\npub mod b { pub use super::*; }\n",
        ),
        ("src/odd/place.rs", "pub mod beside;\npub struct Odd;\n"),
        ("src/odd/beside.rs", "pub struct Even;\n"),
    ];
    assert_eq!(ask(&files, "widget::Nothing").found, []);
    assert_eq!(ask(&files, "widget::gear").foreign[0].path, "gear::gear");
    assert_eq!(ask(&files, "widget::size").found.len(), 2);
    assert_eq!(shown(&ask(&files, "widget::named::Odd").found), ["widget::named::Odd place.rs:2"]);
    let even = ask(&files, "widget::named::beside::Even").found;
    assert_eq!(shown(&even), ["widget::named::beside::Even beside.rs:1"]);
    assert_eq!(ask(&files, "widget::Pin").foreign[0].path, "bolt_core::Pin");
    // A place in one file is none in another, shorter one.
    let late = format!("{}pub use crate::*;\n", "// Long.\n".repeat(500));
    let files = [("src/lib.rs", "pub mod a;\npub struct Pin;\n"), ("src/a.rs", late.as_str())];
    assert_eq!(shown(&ask(&files, "widget::a::Pin").found), ["widget::a::Pin lib.rs:2"]);
}

#[test]
fn what_is_included_is_a_part_and_one_module_under_many_conditions_is_one() {
    let branch = "if #[cfg(a)] { mod base; pub use self::base::*; } else ".repeat(30);
    let lib = format!("include!(\"all/mod.rs\");\ncfg_if! {{ {branch} {{}} }}\n");
    let files = [
        ("src/lib.rs", lib.as_str()),
        ("src/all/mod.rs", "pub mod low;\n"),
        ("src/all/low.rs", "pub fn level() {}\n"),
        ("src/base.rs", "extern \"C\" {\n    pub fn open();\n}\n"),
    ];
    let level = ask(&files, "widget::low::level").found;
    assert_eq!(shown(&level), ["widget::low::level low.rs:1"]);
    assert_eq!(shown(&ask(&files, "widget::open").found), ["widget::open base.rs:2"]);
}

#[test]
fn only_a_path_is_looked_for_and_only_in_a_library() {
    let dir = library(&TOOLS);
    for path in ["", "a b", "1", "a::../b", "a-b", &"a::".repeat(20), &"a".repeat(1_000), "<>"] {
        assert_eq!(look_up("widget", dir.path(), path), None, "{path}");
    }
    fs::remove_file(dir.path().join("src/lib.rs")).expect("removes");
    assert_eq!(look_up("widget", dir.path(), "Gear"), None);
}

#[test]
fn however_deep_a_file_is_nested_it_is_read_to_its_end() {
    let deep = format!("pub struct Deep({});", "(".repeat(200_000) + &")".repeat(200_000));
    let path = format!("pub use {}Far;", "a::".repeat(50_000));
    let types = format!("impl X for {}Near {{ fn near() {{}} }}", "&".repeat(100_000));
    for text in [deep, path, types, "mod m {".repeat(50_000), "cfg! { ".repeat(50_000)] {
        let text = format!("{text}\npub fn Far() {{}}\npub fn Deep() {{}}\npub fn near() {{}}\n");
        for name in ["Deep", "widget::Far", "Near::near"] {
            ask(&[("src/lib.rs", &text)], name);
        }
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_looked_through(text in "(pub |use |mod |fn |impl |struct |a|b|::|\\{|\\}|\\(|\\)|;|\\*|,|!|'|\"|<|>|#\\[| |\n){0,40}") {
        let dir = library(&[("src/lib.rs", &text)]);
        for path in ["a", "widget::b", "a::b"] {
            look_up("widget", dir.path(), path);
        }
    }
}

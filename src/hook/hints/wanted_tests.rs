//! What each kind of error asks for.

use super::*;
use crate::hook::hints::block::blocks;

fn of(text: &str) -> Vec<Wanted> {
    blocks(text).iter().flat_map(wanted).collect()
}

/// Kind, path and root of all, in one line each.
fn shown(text: &str) -> Vec<String> {
    let line = |it: &Wanted| format!("{:?} {} {:?}", it.kind, it.path.join("::"), it.root);
    of(text).iter().map(line).collect()
}

const REGISTRY: &str = "/home/dev/.cargo/registry/src/index.example-1/widget-kit-2.1.0/src/lib.rs";

#[test]
fn each_kind_of_message_names_its_item() {
    for (message, expected) in [
        ("error[E0432]: unresolved import `widget::parts`", "Missing widget::parts Crate"),
        ("error[E0425]: cannot find function `f` in crate `widget`", "Missing widget::f Crate"),
        ("error[E0425]: cannot find value `V` in module `widget::m`", "Missing widget::m::V Crate"),
        ("error[E0412]: cannot find type `T` in crate `widget`", "Missing widget::T Crate"),
        (
            "error[E0433]: failed to resolve: could not find `T` in `widget`",
            "Missing widget::T Crate",
        ),
        (
            "error[E0599]: no method named `f` found for struct `widget::W<T>` in the current scope",
            "Missing widget::W::f Crate",
        ),
        (
            "error[E0599]: no method named `f` found for mutable reference `&'a mut W<'_>` in the \
             current scope",
            "Missing W::f Type",
        ),
        (
            "error[E0599]: no variant, associated function, or constant named `V` found for enum `W`",
            "Missing W::V Type",
        ),
        (
            "error[E0599]: the method `f` exists for struct `widget::W`, but its trait bounds were not \
             satisfied",
            "Missing widget::W::f Crate",
        ),
        (
            "error[E0599]: no method named `f` found for struct `std::vec::IntoIter<T, A>` in the \
             current scope",
            "Missing f Member",
        ),
        ("error[E0609]: no field `f` on type `&widget::W`", "Missing widget::W::f Crate"),
        ("error[E0560]: struct `widget::W` has no field named `f`", "Missing widget::W::f Crate"),
        ("error[E0407]: method `f` is not a member of trait `Run`", "Missing Run::f Type"),
        ("error[E0616]: field `f` of struct `widget::W` is private", "Private widget::W::f Crate"),
        (
            "warning: use of deprecated method `widget::W::<K, V>::f`: use `g`",
            "Deprecated widget::W::f Crate",
        ),
    ] {
        assert_eq!(shown(message), [expected], "{message}");
    }
    let both = "error[E0432]: unresolved imports `widget::a::B`, `widget::c`";
    assert_eq!(shown(both), ["Missing widget::a::B Crate", "Missing widget::c Crate"]);
}

#[test]
fn a_path_is_read_where_it_is_written() {
    let text = "error[E0433]: cannot find `Builder` in `runtime`\n --> src/main.rs:2:5\n  |\n\
                2 |     let it = widget::runtime::Builder::new();\n  |                               ^^^^^^^ could not\n";
    assert_eq!(shown(text), ["Missing widget::runtime::Builder Crate"]);
    assert_eq!(of(text)[0].file.as_deref(), Some("src/main.rs"));
}

#[test]
fn a_method_whose_trait_is_not_imported_is_there() {
    let text = "error[E0599]: no method named `f` found for struct `W` in the current scope\n --> src/main.rs:6:54\n  \
                |\n6 |     w.f();\n  |       ^\n  = help: items from traits can only be used if the trait is in scope\n\
                help: trait `T` which provides `f` is implemented but not in scope; perhaps you want to import it\n";
    assert_eq!(shown(text), [""; 0]);
}

#[test]
fn notes_tell_the_crate_and_its_version() {
    let text = format!(
        "error[E0107]: struct takes 0 generic arguments but 1 generic argument was supplied\n   \
         --> src/main.rs:2:41\n    |\n  2 | fn log<B>(next: Next<B>) {{}}\n    |                 \
         ^^^^--- help: remove\n    |\nnote: struct defined here, with 0 generic parameters\n   --> \
         {REGISTRY}:338:12\n    |\n338 | pub struct Next {{\n    |            ^^^^\n"
    );
    let found = &of(&text)[0];
    assert_eq!((found.kind, found.path.join("::")), (Kind::Arguments, "widget_kit::Next".into()));
    let shown = found.shown.as_ref().expect("a place");
    assert_eq!((shown.name.as_str(), shown.version.to_string()), ("widget-kit", "2.1.0".into()));
    assert_eq!(shown.line, 338);
    let text = format!(
        "error[E0277]: the trait bound `i32: Id` is not satisfied\n --> src/main.rs:5:9\nnote: required \
         by a bound in `widget_kit::open`\n  --> {REGISTRY}:7:1\n"
    );
    assert_eq!(shown_of(&text), "Bound widget_kit::open");
    let windows = REGISTRY.replace('/', "\\");
    assert!(registry_crate(&windows).is_some());
    let pre = "/registry/src/index/widget-kit-2.1.0-rc.1/src/lib.rs";
    assert_eq!(
        registry_crate(pre).map(|(_, version, _)| version.to_string()),
        Some("2.1.0-rc.1".into())
    );
}

fn shown_of(text: &str) -> String {
    let found = &of(text)[0];
    format!("{:?} {}", found.kind, found.path.join("::"))
}

#[test]
fn what_the_file_brings_along_is_not_asked_of_a_crate() {
    for text in [
        "error[E0425]: cannot find function `f` in this scope",
        "error[E0433]: failed to resolve: use of undeclared type `T`",
        "error[E0599]: no method named `f` found for struct `W` in the current scope\n --> src/a.rs:5:8\n  \
         |\n2 | struct W;\n  | -------- method `f` not found for this struct\n",
        "error[E0061]: this function takes 1 argument but 2 arguments were supplied\n --> src/a.rs:2:1\n\
         note: function defined here\n --> src/a.rs:1:4\n  |\n1 | fn f(a: u8) {}\n  |    ^\n",
        "error[E0277]: the trait bound `S: Shape` is not satisfied\n --> src/a.rs:4:18\nnote: required by a \
         bound in `show`\n --> src/a.rs:3:21\n",
        "error[E0603]: function `hidden` is private\n --> src/a.rs:2:1\n",
        "error[E0308]: mismatched types\n --> src/a.rs:1:1\n",
        "error: use of deprecated function `stale`: use `fresh`\n --> src/a.rs:4:13\n",
    ] {
        assert_eq!(shown(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn a_type_that_a_crates_macro_made_is_asked_of_that_crate() {
    let derived = "error[E0599]: no method named `all` found for struct `UserQuery<T>` in the current scope\n \
                   --> src/a.rs:9:17\n  |\n1 | #[derive(widget::Model)]\n  |          ------------- method \
                   `all` not found for this struct\n";
    assert_eq!(of(derived)[0].named, ["widget"]);
    let made = "error[E0599]: no function or associated item named `f` found for struct `Flags` in the \
                current scope\n --> src/a.rs:9:3\n  |\n7 | | }\n  | |_- function or associated item `f` not \
                found for this struct\n  = note: this error originates in the macro `$crate::hook` which \
                comes from the expansion of the macro `widget::flags` (in Nightly builds, run with -Z)\n";
    assert_eq!(of(made).iter().flat_map(|it| it.named.clone()).collect::<Vec<_>>(), ["widget"]);
}

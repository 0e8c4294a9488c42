//! What a piece of a file declares: attributes, visibility, and what is named.
//!
//! It is read as tokens; `syn` parses what is more than a row of them, types and `use`. Bodies and
//! values are not parsed at all, and nothing so deeply nested that it would take all of the stack.

use proc_macro2::{Group, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser as _};
use syn::{Generics, Lit, Token, Type, TypeParamBound, UseTree};

use super::Kind;

/// Bytes of a head that are parsed. What is longer is a table, not a declaration.
const LONGEST: usize = 128 * 1024;
/// Groups in groups, and tokens in a row, that are parsed.
const DEEPEST: usize = 32;
const LONGEST_RUN: usize = 256;
/// Names that one `use` brings.
const MOST_USES: usize = 4_000;

/// What a piece says of itself.
#[derive(Debug, Clone, Default)]
pub(super) struct Head {
    pub shape: Shape,
    pub visibility: Seen,
    pub doc: String,
    /// The conditions of `#[cfg(…)]`.
    pub cfg: Vec<String>,
    /// What `#[deprecated]` says.
    pub deprecated: Option<String>,
    /// `#[path = "…"]`
    pub path: Option<String>,
    /// `#[macro_export]`
    pub is_exported: bool,
    /// Where it begins, after attributes.
    pub start: usize,
}

/// Who sees it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Seen {
    /// Its module, or as what it is in.
    #[default]
    Inherited,
    /// `pub(crate)` and its like.
    Crate,
    Public,
}

#[derive(Debug, Clone, Default)]
pub(super) enum Shape {
    Named(Kind, String),
    Mod(String),
    /// The names of the type, and of the trait.
    Impl {
        of: String,
        of_trait: Option<String>,
    },
    Use(Vec<Use>),
    /// `extern "C"`
    Extern,
    /// `include!("…")`
    Include(String),
    /// A macro that is called.
    Call(String),
    #[default]
    Unknown,
}

/// One name that a `use` brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Use {
    /// Without the name itself for `*`.
    pub path: Vec<String>,
    /// `None` for `*`.
    pub name: Option<String>,
}

/// What `text`, an item without its body, declares.
pub(super) fn read(text: &str) -> Head {
    read_as(text, None)
}

/// What `text`, a field or a variant, declares.
pub(super) fn read_part(text: &str, kind: Kind) -> Head {
    read_as(text, Some(kind))
}

fn read_as(text: &str, part: Option<Kind>) -> Head {
    let tokens = if text.len() > LONGEST { None } else { text.parse::<TokenStream>().ok() };
    let Some(tokens) = tokens else { return Head::default() };
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let (mut head, mut derived, mut at) = (Head::default(), None, 0);
    while is_mark(&tokens, at, '#') {
        // `#![…]` says something of what is around it.
        let is_inner = is_mark(&tokens, at + 1, '!');
        let Some(TokenTree::Group(group)) = tokens.get(at + 1 + usize::from(is_inner)) else {
            break;
        };
        if !is_inner {
            attribute(group, text, &mut head, &mut derived);
        }
        at += 2 + usize::from(is_inner);
    }
    head.start = tokens.get(at).map_or(text.len(), |first| first.span().byte_range().start);
    if word(&tokens, at).as_deref() == Some("pub") {
        at += 1;
        head.visibility = Seen::Public;
        // Else it is a field of a tuple: `pub (u8, u8)`.
        if let Some(TokenTree::Group(group)) = tokens.get(at)
            && let Some(TokenTree::Ident(first)) = group.stream().into_iter().next()
            && ["crate", "self", "super", "in"].iter().any(|it| first == it)
        {
            at += 1;
            head.visibility = Seen::Crate;
        }
    }
    let rest = &tokens[at..];
    head.shape = match (derived, part) {
        (Some(name), _) => Shape::Named(Kind::DeriveMacro, name),
        (None, Some(kind)) => word(rest, 0).map_or(Shape::Unknown, |it| Shape::Named(kind, it)),
        (None, None) => shape(rest),
    };
    head
}

fn attribute(group: &Group, text: &str, head: &mut Head, derived: &mut Option<String>) {
    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
    let Some(name) = word(&tokens, 0) else { return };
    let value = || match (is_mark(&tokens, 1, '='), tokens.get(2)) {
        (true, Some(TokenTree::Literal(literal))) => match Lit::new(literal.clone()) {
            Lit::Str(value) => Some(value.value()),
            _ => None,
        },
        _ => None,
    };
    // As it is written.
    let inside = || {
        let inner = group.span_open().byte_range().end..group.span_close().byte_range().start;
        let all = text.get(inner).unwrap_or_default().trim();
        let inner = all.strip_prefix(name.as_str()).unwrap_or(all).trim();
        let inner = inner.strip_prefix('(').and_then(|it| it.strip_suffix(')')).unwrap_or(inner);
        inner.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    match name.as_str() {
        "doc" => {
            for line in value().iter().flat_map(|value| value.split('\n')) {
                head.doc.push_str(line.strip_prefix(' ').unwrap_or(line));
                head.doc.push('\n');
            }
        }
        "path" => head.path = value(),
        "cfg" => head.cfg.push(inside()),
        "deprecated" => head.deprecated = Some(inside()),
        "macro_export" => head.is_exported = true,
        "proc_macro_derive" => {
            *derived = inside().split(',').next().map(|name| name.trim().to_owned());
        }
        _ => {}
    }
}

/// Whether `syn` may parse it, which goes deeper with each of these.
fn is_shallow(tokens: &[TokenTree]) -> bool {
    let angles = (0..tokens.len()).filter(|at| is_mark(tokens, *at, '<')).count();
    angles <= DEEPEST && depth(tokens.iter().cloned(), DEEPEST) <= LONGEST_RUN
}

/// The most tokens in a row that no comma ends, with those in their groups.
fn depth(tokens: impl Iterator<Item = TokenTree>, groups: usize) -> usize {
    let (mut deepest, mut run, mut inner) = (0, 0, 0);
    for token in tokens {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == ',' => (run, inner) = (0, 0),
            TokenTree::Group(group) => {
                let Some(groups) = groups.checked_sub(1) else { return usize::MAX };
                run += 1;
                inner = inner.max(depth(group.stream().into_iter(), groups));
            }
            _ => run += 1,
        }
        deepest = deepest.max(inner.saturating_add(run));
    }
    deepest
}

fn word(tokens: &[TokenTree], at: usize) -> Option<String> {
    match tokens.get(at) {
        Some(TokenTree::Ident(word)) => Some(plain(&word.to_string())),
        _ => None,
    }
}

/// A name without `r#`.
fn plain(name: &str) -> String {
    name.strip_prefix("r#").unwrap_or(name).to_owned()
}

fn is_mark(tokens: &[TokenTree], at: usize, mark: char) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
}

fn shape(tokens: &[TokenTree]) -> Shape {
    let mut at = 0;
    while let Some(first) = word(tokens, at) {
        let next = word(tokens, at + 1);
        let is_call = is_mark(tokens, at + 1, '!');
        let kind = match first.as_str() {
            "macro_rules" if is_call => {
                let name = word(tokens, at + 2);
                return name.map_or(Shape::Unknown, |name| Shape::Named(Kind::Macro, name));
            }
            "include" if is_call => return included(tokens, at + 2),
            _ if is_call => return Shape::Call(first),
            "fn" => Kind::Function,
            "struct" => Kind::Struct,
            "enum" => Kind::Enum,
            "union" if next.is_some() => Kind::Union,
            "trait" => Kind::Trait,
            "type" => Kind::Type,
            "macro" => Kind::Macro,
            "static" if next.as_deref() == Some("mut") => {
                at += 1;
                Kind::Static
            }
            "static" => Kind::Static,
            "const" => match next.as_deref() {
                Some("fn" | "unsafe" | "async" | "extern" | "trait" | "impl") => {
                    at += 1;
                    continue;
                }
                _ => Kind::Const,
            },
            "mod" => return next.map_or(Shape::Unknown, Shape::Mod),
            "use" => return uses(&tokens[at + 1..]),
            "impl" => return implementation(&tokens[at + 1..]),
            "extern" if next.as_deref() == Some("crate") => return external(tokens, at + 2),
            "extern" => {
                let has_name = matches!(tokens.get(at + 1), Some(TokenTree::Literal(_)));
                at += if has_name { 2 } else { 1 };
                if at >= tokens.len() {
                    return Shape::Extern;
                }
                continue;
            }
            "default" | "async" | "unsafe" | "safe" | "auto" => {
                at += 1;
                continue;
            }
            _ => return path_of_call(tokens, at),
        };
        let name = word(tokens, at + 1);
        return name.map_or(Shape::Unknown, |name| Shape::Named(kind, name));
    }
    Shape::Unknown
}

fn included(tokens: &[TokenTree], at: usize) -> Shape {
    if let Some(TokenTree::Group(group)) = tokens.get(at)
        && let Some(TokenTree::Literal(literal)) = group.stream().into_iter().next()
        && let Lit::Str(path) = Lit::new(literal)
    {
        return Shape::Include(path.value());
    }
    // What a build script makes.
    Shape::Call("include".to_owned())
}

/// `krate::name! {`
fn path_of_call(tokens: &[TokenTree], mut at: usize) -> Shape {
    while let Some(name) = word(tokens, at) {
        if is_mark(tokens, at + 1, '!') {
            return Shape::Call(name);
        }
        if !is_mark(tokens, at + 1, ':') {
            break;
        }
        at += 3;
    }
    Shape::Unknown
}

fn external(tokens: &[TokenTree], at: usize) -> Shape {
    let Some(name) = word(tokens, at) else { return Shape::Unknown };
    let as_name = word(tokens, at + 1).filter(|word| word == "as").and(word(tokens, at + 2));
    let shown = as_name.unwrap_or_else(|| name.clone());
    let first = if name == "self" { "crate".to_owned() } else { format!("::{name}") };
    Shape::Use(vec![Use { path: vec![first], name: Some(shown) }])
}

fn implementation(tokens: &[TokenTree]) -> Shape {
    let end = (0..tokens.len()).find(|at| word(tokens, *at).as_deref() == Some("where"));
    let tokens = &tokens[..end.unwrap_or(tokens.len())];
    if !is_shallow(tokens) {
        return Shape::Unknown;
    }
    let parsed = |input: ParseStream<'_>| -> syn::Result<(Type, Option<Type>)> {
        if input.peek(Token![<]) {
            input.parse::<Generics>()?;
        }
        input.parse::<Option<Token![const]>>()?;
        input.parse::<Option<Token![!]>>()?;
        let first: Type = input.parse()?;
        let found = match input.parse::<Option<Token![for]>>()? {
            Some(_) => (input.parse()?, Some(first)),
            None => (first, None),
        };
        input.parse::<TokenStream>()?;
        Ok(found)
    };
    let found = parsed.parse2(tokens.iter().cloned().collect());
    let shape = |(of, of_trait): (Type, Option<Type>)| {
        let of_trait = of_trait.map(|it| name_of(&it).unwrap_or_default());
        Some(Shape::Impl { of: name_of(&of)?, of_trait })
    };
    found.ok().and_then(shape).unwrap_or_default()
}

fn name_of(of: &Type) -> Option<String> {
    let last = match of {
        Type::Path(of) => of.path.segments.last(),
        Type::Reference(of) => return name_of(&of.elem),
        Type::Paren(of) => return name_of(&of.elem),
        Type::TraitObject(of) => of.bounds.iter().find_map(|bound| match bound {
            TypeParamBound::Trait(bound) => bound.path.segments.last(),
            _ => None,
        }),
        _ => None,
    };
    last.map(|last| plain(&last.ident.to_string()))
}

fn uses(tokens: &[TokenTree]) -> Shape {
    if !is_shallow(tokens) {
        return Shape::Unknown;
    }
    let parsed = |input: ParseStream<'_>| -> syn::Result<(bool, UseTree)> {
        let is_external = input.parse::<Option<Token![::]>>()?.is_some();
        let tree = input.parse()?;
        input.parse::<TokenStream>()?;
        Ok((is_external, tree))
    };
    let Ok((is_external, tree)) = parsed.parse2(tokens.iter().cloned().collect()) else {
        return Shape::Unknown;
    };
    let mut found = Vec::new();
    flatten(&tree, &mut Vec::new(), &mut found);
    if is_external {
        for first in found.iter_mut().filter_map(|found| found.path.first_mut()) {
            first.insert_str(0, "::");
        }
    }
    Shape::Use(found)
}

fn flatten(tree: &UseTree, path: &mut Vec<String>, found: &mut Vec<Use>) {
    let mut add = |path: &[String], last: String, name: String| {
        let mut path = path.to_vec();
        let name = match path.last() {
            // `use a::{self}`
            Some(parent) if last == "self" => {
                if name == "self" {
                    parent.clone()
                } else {
                    name
                }
            }
            _ => {
                path.push(last);
                name
            }
        };
        if found.len() < MOST_USES {
            found.push(Use { path, name: Some(name) });
        }
    };
    match tree {
        UseTree::Path(step) => {
            path.push(plain(&step.ident.to_string()));
            flatten(&step.tree, path, found);
            path.pop();
        }
        UseTree::Name(last) => {
            let last = plain(&last.ident.to_string());
            add(path, last.clone(), last);
        }
        UseTree::Rename(last) => {
            add(path, plain(&last.ident.to_string()), plain(&last.rename.to_string()));
        }
        UseTree::Glob(_) => found.push(Use { path: path.clone(), name: None }),
        UseTree::Group(group) => group.items.iter().for_each(|it| flatten(it, path, found)),
    }
}

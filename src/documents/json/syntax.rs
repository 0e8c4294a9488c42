//! JSON text read strictly, with the place of every token.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use jsonc_parser::ast::{Array, Object, ObjectProp, Value as Node};
use jsonc_parser::tokens::Token as Raw;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde_json::{Map, Value};

use crate::documents::JsonRules;
use crate::text::{Diagnostic, Source};

/// What a token is, as far as editing cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Open,
    Close,
    Comma,
    Colon,
    Scalar,
    LineComment,
    BlockComment,
}

impl Kind {
    pub(super) fn is_comment(self) -> bool {
        matches!(self, Self::LineComment | Self::BlockComment)
    }
}

/// A token and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: Kind,
    pub range: Range<usize>,
}

/// A parsed text.
pub(super) struct Tree<'a> {
    pub text: &'a str,
    pub source: Arc<Source>,
    pub root: Node<'a>,
    tokens: Vec<Token>,
}

/// An array or object: its brackets and what is between.
#[derive(Debug, Clone)]
pub(super) struct Container {
    /// Both brackets included.
    pub range: Range<usize>,
    /// Elements, or members from key to value.
    pub items: Vec<Range<usize>>,
}

impl From<&Array<'_>> for Container {
    fn from(array: &Array<'_>) -> Self {
        Self { range: span(array), items: array.elements.iter().map(span).collect() }
    }
}

impl From<&Object<'_>> for Container {
    fn from(object: &Object<'_>) -> Self {
        Self { range: span(object), items: object.properties.iter().map(span).collect() }
    }
}

/// The byte range of a node.
pub(super) fn span(node: &impl jsonc_parser::common::Ranged) -> Range<usize> {
    node.start()..node.end()
}

/// What the parser takes: RFC 8259, and of the rest only what `rules` names.
fn options(rules: JsonRules) -> ParseOptions {
    ParseOptions {
        allow_comments: rules.comments,
        allow_trailing_commas: rules.trailing_commas,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

impl<'a> Tree<'a> {
    /// Parses `text`, which has no byte order mark.
    ///
    /// # Errors
    /// The first thing that the rules do not allow, with its place.
    pub(super) fn parse(path: &Path, text: &'a str, rules: JsonRules) -> Result<Self, Diagnostic> {
        let source = Source::new(path, text);
        let collect =
            CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let parsed = parse_to_ast(text, &collect, &options(rules)).map_err(|error| {
            let range = error.range();
            refusal(&source, range.start..range.end, &lower_first(&error.kind().to_string()))
        })?;
        let tokens: Vec<Token> =
            parsed.tokens.unwrap_or_default().iter().map(|found| token(text, found)).collect();
        if !rules.comments
            && let Some(comment) = tokens.iter().find(|token| token.kind.is_comment())
        {
            return Err(refusal(&source, comment.range.clone(), "comments are not allowed"));
        }
        let Some(root) = parsed.value else {
            let message = "there is no JSON value in this file";
            return Err(refusal(&source, 0..0, message));
        };
        let tree = Self { text, source, root, tokens };
        tree.cross_check()?;
        Ok(tree)
    }

    /// A second opinion: without comments and last commas it must be JSON to serde_json too, which
    /// looks closer at numbers, escapes and white space.
    fn cross_check(&self) -> Result<(), Diagnostic> {
        let mut plain = self.text.as_bytes().to_vec();
        let mut blank = |range: &Range<usize>| {
            for byte in &mut plain[range.clone()] {
                if !matches!(*byte, b'\n' | b'\r') {
                    *byte = b' ';
                }
            }
        };
        let mut last_comma: Option<&Token> = None;
        for token in &self.tokens {
            match token.kind {
                Kind::LineComment | Kind::BlockComment => blank(&token.range),
                Kind::Comma => last_comma = Some(token),
                Kind::Close => {
                    if let Some(comma) = last_comma.take() {
                        blank(&comma.range);
                    }
                }
                _ => last_comma = None,
            }
        }
        let checked: Result<serde::de::IgnoredAny, _> = serde_json::from_slice(&plain);
        checked.map(|_| ()).map_err(|error| {
            let offset = offset_of(self.text, error.line(), error.column());
            let text = error.to_string();
            let message = text.split(" at line ").next().unwrap_or(&text);
            refusal(&self.source, offset..offset + 1, message)
        })
    }

    /// The last token that ends at `offset` or before.
    pub(super) fn before(&self, offset: usize) -> Option<&Token> {
        let index = self.tokens.partition_point(|token| token.range.end <= offset);
        index.checked_sub(1).and_then(|index| self.tokens.get(index))
    }

    /// The tokens that start at `offset` or after.
    pub(super) fn after(&self, offset: usize) -> impl Iterator<Item = &Token> {
        let index = self.tokens.partition_point(|token| token.range.start < offset);
        self.tokens[index..].iter()
    }

    /// The tokens between two offsets.
    pub(super) fn between(&self, range: Range<usize>) -> impl Iterator<Item = &Token> {
        self.after(range.start).take_while(move |token| token.range.end <= range.end)
    }

    /// All tokens.
    pub(super) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// Whether a comment stands outside of the root value.
    pub(super) fn has_outer_comments(&self) -> bool {
        let root = span(&self.root);
        self.tokens
            .iter()
            .any(|token| token.range.end <= root.start || token.range.start >= root.end)
    }

    /// The member `name` of `object`.
    ///
    /// # Errors
    /// When there are several: parsers differ in which one counts.
    pub(super) fn member<'t>(
        &self,
        object: &'t Object<'a>,
        name: &str,
    ) -> Result<Option<&'t ObjectProp<'a>>, Diagnostic> {
        let mut found = object.properties.iter().filter(|property| property.name.as_str() == name);
        let first = found.next();
        if let Some(second) = found.next() {
            return Err(Diagnostic::error(format!("the key `{name}` is there twice"))
                .at(&self.source, span(&second.name))
                .note("keep one of them; the file was left as it is"));
        }
        Ok(first)
    }

    /// The node that `path` leads to, as far as it exists: the node and how many keys lead there.
    pub(super) fn walk<'t>(&'t self, path: &[String]) -> Result<(&'t Node<'a>, usize), Diagnostic> {
        let mut node = &self.root;
        for (depth, key) in path.iter().enumerate() {
            let Node::Object(object) = node else {
                return Err(self.wrong_type(node, &path[..depth], "an object"));
            };
            match self.member(object, key)? {
                Some(property) => node = &property.value,
                None => return Ok((node, depth)),
            }
        }
        Ok((node, path.len()))
    }

    /// The refusal of a node that is not what it must be.
    pub(super) fn wrong_type(
        &self,
        node: &Node<'_>,
        path: &[String],
        expected: &str,
    ) -> Diagnostic {
        let found = match node {
            Node::StringLit(_) => "a string",
            Node::NumberLit(_) => "a number",
            Node::BooleanLit(_) => "true or false",
            Node::Object(_) => "an object",
            Node::Array(_) => "an array",
            Node::NullKeyword(_) => "null",
        };
        Diagnostic::error(format!("`{}` must be {expected}, found {found}", json_path(path)))
            .at(&self.source, span(node))
            .note(format!("make it {expected}; the file was left as it is"))
    }
}

/// `$.hooks["a b"]`, as people write a place in a document.
pub(super) fn json_path(path: &[String]) -> String {
    let mut shown = String::from("$");
    for key in path {
        let plain =
            !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
        if plain {
            shown.push('.');
            shown.push_str(key);
        } else {
            shown.push_str(&format!("[{}]", Value::String(key.clone())));
        }
    }
    shown
}

/// The value of a node.
pub(super) fn to_value(node: &Node<'_>) -> Value {
    match node {
        Node::StringLit(text) => Value::String(text.value.clone().into_owned()),
        Node::NumberLit(number) => serde_json::from_str(number.value).unwrap_or(Value::Null),
        Node::BooleanLit(flag) => Value::Bool(flag.value),
        Node::NullKeyword(_) => Value::Null,
        Node::Array(array) => Value::Array(array.elements.iter().map(to_value).collect()),
        Node::Object(object) => {
            let mut map = Map::new();
            for property in &object.properties {
                map.insert(property.name.as_str().to_owned(), to_value(&property.value));
            }
            Value::Object(map)
        }
    }
}

/// Whether an object in the JSON `text` has a key twice. What can't be read may have one.
pub(crate) fn text_has_duplicate_keys(text: &str) -> bool {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options(JsonRules::STRICT));
    let root = parsed.ok().and_then(|parsed| parsed.value);
    root.is_none_or(|root| has_duplicate_keys(&root, &to_value(&root)))
}

/// Whether an object in `node` has a key twice; `value` is what the node says.
pub(super) fn has_duplicate_keys(node: &Node<'_>, value: &Value) -> bool {
    match (node, value) {
        (Node::Object(object), Value::Object(map)) => {
            object.properties.len() != map.len()
                || object
                    .properties
                    .iter()
                    .zip(map.values())
                    .any(|(one, said)| has_duplicate_keys(&one.value, said))
        }
        (Node::Array(array), Value::Array(said)) => {
            array.elements.iter().zip(said).any(|(one, said)| has_duplicate_keys(one, said))
        }
        _ => false,
    }
}

fn token(text: &str, found: &jsonc_parser::tokens::TokenAndRange<'_>) -> Token {
    let kind = match found.token {
        Raw::OpenBrace | Raw::OpenBracket => Kind::Open,
        Raw::CloseBrace | Raw::CloseBracket => Kind::Close,
        Raw::Comma => Kind::Comma,
        Raw::Colon => Kind::Colon,
        Raw::CommentLine(_) => Kind::LineComment,
        Raw::CommentBlock(_) => Kind::BlockComment,
        Raw::String(_) | Raw::Word(_) | Raw::Boolean(_) | Raw::Number(_) | Raw::Null => {
            Kind::Scalar
        }
    };
    let range = found.range.start..found.range.end.min(text.len());
    Token { kind, range }
}

fn refusal(source: &Arc<Source>, span: Range<usize>, what: &str) -> Diagnostic {
    Diagnostic::error(format!("invalid JSON: {what}"))
        .at(source, span)
        .note("mend it by hand; the file was left as it is")
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// The byte offset of serde_json's line and column (from 1, columns in bytes).
fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    (start + column.saturating_sub(1)).min(text.len())
}

//! A problem with the place it is in, drawn: the line of the file, the marked part, the remedy.

use std::ops::Range;
use std::path::Path;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::people::Palette;
use super::safe::columns;
use super::wrap::{Long, wrap_hanging};
use crate::text::url::masked;
use crate::text::{Diagnostic, Severity, Source};

/// Columns where no terminal limits them: annotate-snippets cuts lines of files that are longer.
const UNLIMITED: usize = 400;
/// Of a line that is longer only the place is told: to draw it takes time with the square of its length.
const LONGEST: usize = 4096;

/// Draws `diagnostic`. Paths inside `base` are shown from there. Lines are wrapped for a terminal of
/// `width` columns; where there is none, not at all.
pub(super) fn render(diagnostic: &Diagnostic, base: &Path, width: Option<usize>) -> String {
    let level = match diagnostic.severity {
        Severity::Note => Level::NOTE,
        Severity::Warning => Level::WARNING,
        Severity::Error => Level::ERROR,
    };
    let sign = diagnostic.severity.word().len() + diagnostic.code.map_or(0, |code| code.len() + 2);
    let mut title = level.primary_title(lines(&diagnostic.message, width, sign + 2));
    if let Some(code) = diagnostic.code {
        title = title.id(code);
    }
    let mut group = Group::with_title(title);
    let line = diagnostic.location().and_then(|place| place.line);
    let margin = 1 + line.map_or(0, |line| line.to_string().len());
    let mut notes: Vec<&String> = Vec::new();
    if let (Some(source), Some(span)) = (&diagnostic.source, &diagnostic.span) {
        let marked = marked(source, span);
        let (line, start) = source.line_column(marked.start);
        let before = margin + 3 + start + columns(&clean(&source.text[marked.clone()]));
        let (begin, text) = line_around(source, &marked);
        // Carriage returns at a line's end, of which a problem may tell, are no part of what is drawn.
        let drawn = |at: usize| (at - begin).min(text.len());
        let mut mark = AnnotationKind::Primary.span(drawn(marked.start)..drawn(marked.end));
        match &diagnostic.label {
            Some(label) if width.is_none_or(|width| before + columns(label) <= width) => {
                mark = mark.label(clean(label));
            }
            // Beside the mark there is no room for it.
            label => notes.extend(label),
        }
        let path = shown(&source.path, base);
        group = if text.len() > LONGEST {
            group.element(Origin::path(path).line(line).char_column(start))
        } else {
            let snippet = Snippet::source(masked(text)).line_start(line).path(path);
            group.element(snippet.annotation(mark))
        };
    } else if let Some(location) = diagnostic.location() {
        group = group.element(Origin::path(shown(&location.path, base)));
    }
    for note in notes.into_iter().chain(&diagnostic.notes) {
        group = group.element(Level::NOTE.no_name().message(lines(note, width, margin + 3)));
    }
    let palette = Palette::CARGO;
    let renderer = Renderer::styled()
        .term_width(width.unwrap_or(UNLIMITED))
        .error(palette.error)
        .warning(palette.warning)
        .note(palette.accent)
        .line_num(palette.accent);
    renderer.render(&[group])
}

/// The part of the text to mark: on one line, so that a whole table is marked by its header.
fn marked(source: &Source, span: &Range<usize>) -> Range<usize> {
    let text = source.text.as_str();
    let boundary = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = boundary(span.start);
    let end = boundary(span.end.max(span.start));
    let first_line = text[start..end].find(['\n', '\r']).map_or(end, |newline| start + newline);
    start..first_line
}

/// The line that `marked` is in, and where it begins: the others would only cost time.
fn line_around<'s>(source: &'s Source, marked: &Range<usize>) -> (usize, &'s str) {
    let text = source.text.as_str();
    let begin = text[..marked.start].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[marked.end..].find('\n').map_or(text.len(), |newline| marked.end + newline);
    (begin, text[begin..end].trim_end_matches('\r'))
}

/// A path from `base` where it is inside, with the system's separators alone. Somebody may have given a URL
/// for a path: it stays as it is, so that what is secret in it is known.
fn shown(path: &Path, base: &Path) -> String {
    let inside = path.strip_prefix(base).ok().filter(|rest| !rest.as_os_str().is_empty());
    let text = clean(&inside.unwrap_or(path).display().to_string());
    if cfg!(windows) && !text.contains("://") { text.replace('/', "\\") } else { text }
}

/// As [`clean`], in lines that leave room for `before` columns.
fn lines(text: &str, width: Option<usize>, before: usize) -> String {
    let Some(width) = width else { return clean(text) };
    let width = width.saturating_sub(before).max(16);
    wrap_hanging(text, width, width, Long::Whole).join("\n")
}

/// Text from outside must not steer the terminal.
fn clean(text: &str) -> String {
    super::safe::safe(text)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(diagnostic: &Diagnostic, expected: &Expect) {
        let text = render(diagnostic, Path::new("/w"), None);
        let text = anstream::adapter::strip_str(&text).to_string();
        expected.assert_eq(&text.replace(std::path::MAIN_SEPARATOR, "/"));
    }

    #[test]
    fn the_line_is_shown_with_the_marked_part_label_and_remedy() {
        let source = Source::new("/w/widget/SYMPOSIUM.toml", "a = 1\nevent = \"PreToolUs\"\n");
        let diagnostic = Diagnostic::error("unknown event `PreToolUs`")
            .code("S012")
            .at(&source, 14..25)
            .label("did you mean `PreToolUse`?")
            .note("accepted: PreToolUse, PostToolUse");
        check(
            &diagnostic,
            &expect![[r#"
            error[S012]: unknown event `PreToolUs`
             --> widget/SYMPOSIUM.toml:2:9
              |
            2 | event = "PreToolUs"
              |         ^^^^^^^^^^^ did you mean `PreToolUse`?
              |
              = accepted: PreToolUse, PostToolUse"#]],
        );
    }

    #[test]
    fn of_a_line_without_end_the_place_alone_is_told() {
        let text = format!("a = 1\nb = \"{}\"\n", "x".repeat(1_000_000));
        let source = Source::new("/w/p/SYMPOSIUM.toml", text);
        check(
            &Diagnostic::error("too long").at(&source, 10..1_000_012),
            &expect![[r#"
            error: too long
            --> p/SYMPOSIUM.toml:2:5"#]],
        );
    }

    #[test]
    fn a_file_alone_and_nothing_at_all() {
        check(
            &Diagnostic::warning("odd").in_file("/w/a/symposium.toml"),
            &expect![[r#"
            warning: odd
            --> a/symposium.toml"#]],
        );
        check(
            &Diagnostic::error("bad").note("mend it"),
            &expect![[r#"
            error: bad
             |
             = mend it"#]],
        );
    }

    #[test]
    fn a_table_is_marked_by_its_first_line_and_an_empty_file_by_its_start() {
        let source = Source::new("/x/a.toml", "[[skills]]\r\nsource = 1\r\n");
        check(
            &Diagnostic::error("bad").at(&source, 0..22),
            &expect![[r#"
            error: bad
             --> /x/a.toml:1:1
              |
            1 | [[skills]]
              | ^^^^^^^^^^"#]],
        );
        let source = Source::new("/w/b.toml", "");
        check(
            &Diagnostic::error("no `name`").at(&source, 0..0),
            &expect![[r#"
            error: no `name`
             --> b.toml:1:1
              |
            1 |
              | ^"#]],
        );
    }

    #[test]
    fn what_stands_among_carriage_returns_at_a_line_s_end_is_marked_at_the_end() {
        let source = Source::new("/w/a.toml", "a = 1\r\r\r\r\r\n");
        check(
            &Diagnostic::error("bad").at(&source, 8..9),
            &expect![[r#"
            error: bad
             --> a.toml:1:6
              |
            1 | a = 1
              |      ^"#]],
        );
    }

    #[test]
    fn control_characters_of_a_file_and_of_a_message_do_not_reach_the_terminal() {
        let source = Source::new("/w/a.toml", "a = \u{1b}[31m\n");
        let diagnostic = Diagnostic::error("a\u{1b}[2Jb").at(&source, 4..5).note("c\u{7}");
        let text = render(&diagnostic, Path::new("/w"), Some(80));
        let plain = anstream::adapter::strip_str(&text).to_string();
        assert!(!plain.contains('\u{1b}') && !plain.contains('\u{7}'), "{plain:?}");
    }

    #[test]
    fn a_narrow_terminal_has_every_word_below_the_first_one() {
        let source = Source::new("/w/a.toml", "\n\n\n\n\n\n\n\n\na = 1\n");
        let diagnostic = Diagnostic::error("the server `tools` is there twice, in two files")
            .code("S012")
            .at(&source, 9..10)
            .label("this is where the second of them is")
            .note("take one of the two away, and have the other one for both");
        let text = render(&diagnostic, Path::new("/w"), Some(40));
        expect![[r#"
            error[S012]: the server `tools` is there
                         twice, in two files
              --> a.toml:10:1
               |
            10 | a = 1
               | ^
               |
               = this is where the second of them
                 is
               = take one of the two away, and have
                 the other one for both"#]]
        .assert_eq(&anstream::adapter::strip_str(&text).to_string());
    }

    proptest::proptest! {
        #[test]
        fn any_span_of_any_text_can_be_drawn(
            text in "(?s).{0,60}|[a\r\n\té]{0,20}", start in 0usize..70, length in 0usize..70, width in proptest::option::of(0usize..200)
        ) {
            let source = Source::new("/w/a", text);
            let diagnostic = Diagnostic::error("bad").at(&source, start..start + length).label("x");
            proptest::prop_assert!(!render(&diagnostic, Path::new("/w"), width).is_empty());
        }
    }
}

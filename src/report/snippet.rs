//! A problem with the place it is in, drawn: the line of the file, the marked part, the remedy.

use std::ops::Range;
use std::path::Path;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::people::Palette;
use crate::text::{Diagnostic, Severity, Source};

/// Draws `diagnostic`. Paths inside `base` are shown from there.
pub(super) fn render(diagnostic: &Diagnostic, base: &Path, width: usize) -> String {
    let level = match diagnostic.severity {
        Severity::Warning => Level::WARNING,
        Severity::Error => Level::ERROR,
    };
    let mut title = level.primary_title(clean(&diagnostic.message));
    if let Some(code) = diagnostic.code {
        title = title.id(code);
    }
    let mut group = Group::with_title(title);
    if let (Some(source), Some(span)) = (&diagnostic.source, &diagnostic.span) {
        let mut mark = AnnotationKind::Primary.span(marked(source, span));
        if let Some(label) = &diagnostic.label {
            mark = mark.label(clean(label));
        }
        group = group.element(
            Snippet::source(source.text.as_str()).path(shown(&source.path, base)).annotation(mark),
        );
    } else if let Some(location) = diagnostic.location() {
        group = group.element(Origin::path(shown(&location.path, base)));
    }
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.no_name().message(clean(note)));
    }
    let palette = Palette::CARGO;
    let renderer = Renderer::styled()
        .term_width(width)
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

/// A path with `/`, from `base` where it is inside.
fn shown(path: &Path, base: &Path) -> String {
    let inside = path.strip_prefix(base).ok().filter(|rest| !rest.as_os_str().is_empty());
    clean(&inside.unwrap_or(path).display().to_string())
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
        let text = render(diagnostic, Path::new("/w"), 100);
        expected.assert_eq(&anstream::adapter::strip_str(&text).to_string());
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
    fn control_characters_of_a_file_and_of_a_message_do_not_reach_the_terminal() {
        let source = Source::new("/w/a.toml", "a = \u{1b}[31m\n");
        let diagnostic = Diagnostic::error("a\u{1b}[2Jb").at(&source, 4..5).note("c\u{7}");
        let text = render(&diagnostic, Path::new("/w"), 80);
        let plain = anstream::adapter::strip_str(&text).to_string();
        assert!(!plain.contains('\u{1b}') && !plain.contains('\u{7}'), "{plain:?}");
    }

    proptest::proptest! {
        #[test]
        fn any_span_of_any_text_can_be_drawn(
            text in "(?s).{0,60}", start in 0usize..70, length in 0usize..70, width in 0usize..200
        ) {
            let source = Source::new("/w/a", text);
            let diagnostic = Diagnostic::error("bad").at(&source, start..start + length).label("x");
            proptest::prop_assert!(!render(&diagnostic, Path::new("/w"), width).is_empty());
        }
    }
}

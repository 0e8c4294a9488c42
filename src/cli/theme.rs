//! How the questions look: narrow enough for 40 columns, with signs that need no colour.

use std::fmt;

use anstyle::Style;
use dialoguer::theme::Theme;

use crate::report::{Palette, Reporter, columns, fit, wrap};

/// Columns of `? `.
const INDENT: usize = 2;

/// Columns of a list's marks.
const MARKS: usize = 6;

/// The theme. No line is longer than the terminal: the library, which draws a list anew at each key,
/// does not know how many lines a longer one takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plain {
    strong: Style,
    good: Style,
    width: usize,
}

impl Plain {
    /// As the terminal of `report` has it: its width, and with or without colour.
    pub(super) fn new(report: &Reporter) -> Self {
        let (strong, good) = match report.has_color() {
            true => (Palette::CARGO.strong, Palette::CARGO.good),
            false => (Style::new(), Style::new()),
        };
        Self { strong, good, width: report.talk_width().unwrap_or(80) }
    }

    /// How many lines a prompt takes.
    pub(super) fn height(&self, prompt: &str) -> usize {
        let mut text = String::new();
        let _ = self.format_prompt(&mut text, prompt);
        text.lines().count()
    }

    /// What is asked, and which keys to press.
    fn parts<'p>(&self, prompt: &'p str) -> (&'p str, &'p str) {
        let at = prompt.find("  (").unwrap_or(prompt.len());
        let (question, keys) = prompt.split_at(at);
        (question.trim_end(), keys.trim_start())
    }

    /// `first`, and `more` behind it or below it, each in its style.
    fn lines(
        &self,
        f: &mut dyn fmt::Write,
        first: (&str, Style),
        more: (&str, Style),
    ) -> fmt::Result {
        let room = self.width.saturating_sub(INDENT).max(MARKS);
        let whole = wrap(first.0, room);
        let used = whole.last().map_or(0, |line| columns(line));
        let styled = |(text, style): (String, Style)| format!("{style}{text}{style:#}");
        let first_lines: Vec<_> = whole.into_iter().map(|line| styled((line, first.1))).collect();
        write!(f, "? {}", first_lines.join("\n  "))?;
        if more.0.is_empty() {
            return Ok(());
        }
        let gap = if used + 1 + columns(more.0) <= room { " " } else { "\n  " };
        let more_lines: Vec<_> =
            wrap(more.0, room).into_iter().map(|line| styled((line, more.1))).collect();
        write!(f, "{gap}{}", more_lines.join("\n  "))
    }

    fn answer(&self, f: &mut dyn fmt::Write, prompt: &str, answer: &str) -> fmt::Result {
        let (question, _) = self.parts(prompt);
        self.lines(f, (question, Style::new()), (answer, self.strong))
    }
}

impl Theme for Plain {
    fn format_prompt(&self, f: &mut dyn fmt::Write, prompt: &str) -> fmt::Result {
        let (question, keys) = self.parts(prompt);
        self.lines(f, (question, self.strong), (keys, Style::new()))
    }

    fn format_confirm_prompt(
        &self,
        f: &mut dyn fmt::Write,
        prompt: &str,
        default: Option<bool>,
    ) -> fmt::Result {
        let keys = match default {
            Some(true) => "[Y/n]",
            Some(false) => "[y/N]",
            None => "[y/n]",
        };
        self.lines(f, (prompt, self.strong), (keys, Style::new()))?;
        f.write_str(" ")
    }

    fn format_confirm_prompt_selection(
        &self,
        f: &mut dyn fmt::Write,
        prompt: &str,
        selection: Option<bool>,
    ) -> fmt::Result {
        let answer = selection.map_or("", |yes| if yes { "yes" } else { "no" });
        self.answer(f, prompt, answer)
    }

    fn format_select_prompt_item(
        &self,
        f: &mut dyn fmt::Write,
        text: &str,
        active: bool,
    ) -> fmt::Result {
        let (sign, style) = if active { (">", self.good) } else { (" ", Style::new()) };
        write!(f, "  {style}{sign} {}{style:#}", fit(text, self.width.saturating_sub(MARKS)))
    }

    fn format_select_prompt_selection(
        &self,
        f: &mut dyn fmt::Write,
        prompt: &str,
        answer: &str,
    ) -> fmt::Result {
        self.answer(f, prompt, answer)
    }

    fn format_multi_select_prompt_item(
        &self,
        f: &mut dyn fmt::Write,
        text: &str,
        checked: bool,
        active: bool,
    ) -> fmt::Result {
        let (sign, style) = if active { (">", self.good) } else { (" ", Style::new()) };
        let mark = if checked { "[x]" } else { "[ ]" };
        write!(f, "{style}{sign} {mark} {}{style:#}", fit(text, self.width.saturating_sub(MARKS)))
    }

    fn format_multi_select_prompt_selection(
        &self,
        f: &mut dyn fmt::Write,
        prompt: &str,
        chosen: &[&str],
    ) -> fmt::Result {
        let names: Vec<&str> = chosen.iter().map(|text| name(text)).collect();
        let answer = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        self.answer(f, prompt, &answer)
    }
}

/// An item without what was noted behind it.
fn name(item: &str) -> &str {
    item.split("  ").next().unwrap_or(item)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(width: usize) -> Plain {
        Plain { strong: Style::new(), good: Style::new(), width }
    }

    fn prompt(width: usize, prompt: &str) -> String {
        let mut text = String::new();
        plain(width).format_prompt(&mut text, prompt).expect("a string takes it");
        assert_eq!(plain(width).height(prompt), text.lines().count());
        text
    }

    #[test]
    fn keys_stand_behind_the_question_or_below_it() {
        let keys = "Which?  (space to select)";
        assert_eq!(prompt(80, keys), "? Which? (space to select)");
        assert_eq!(prompt(20, keys), "? Which?\n  (space to select)");
        assert_eq!(prompt(12, "One two three?"), "? One two\n  three?");
    }

    #[test]
    fn answers_are_never_broken_within_a_word() {
        let mut text = String::new();
        let chosen = ["Claude Code  found", "Codex CLI", "GitHub Copilot"];
        plain(25)
            .format_multi_select_prompt_selection(&mut text, "Which?", &chosen)
            .expect("it does");
        assert_eq!(text, "? Which?\n  Claude Code, Codex CLI,\n  GitHub Copilot");
    }
}

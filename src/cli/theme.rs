//! How the questions look: narrow enough for 40 columns, with signs that need no colour.

use std::fmt;

use anstyle::Style;
use dialoguer::theme::Theme;

use crate::report::Palette;

/// The theme.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plain {
    strong: Style,
    good: Style,
}

impl Plain {
    /// With or without colour.
    pub(super) fn new(color: bool) -> Self {
        if color {
            Self { strong: Palette::CARGO.strong, good: Palette::CARGO.good }
        } else {
            Self { strong: Style::new(), good: Style::new() }
        }
    }

    /// The question's first line: what follows tells which keys to press.
    fn question<'p>(&self, prompt: &'p str) -> &'p str {
        let line = prompt.lines().next().unwrap_or_default();
        line.split("  (").next().unwrap_or_default().trim_end()
    }

    fn answer(&self, f: &mut dyn fmt::Write, prompt: &str, answer: &str) -> fmt::Result {
        let (strong, question) = (self.strong, self.question(prompt));
        write!(f, "? {question} {strong}{answer}{strong:#}")
    }
}

impl Theme for Plain {
    fn format_prompt(&self, f: &mut dyn fmt::Write, prompt: &str) -> fmt::Result {
        let (strong, question) = (self.strong, self.question(prompt));
        let keys = prompt.strip_prefix(question).unwrap_or_default();
        write!(f, "? {strong}{question}{strong:#}{keys}")
    }

    fn format_confirm_prompt(
        &self,
        f: &mut dyn fmt::Write,
        prompt: &str,
        default: Option<bool>,
    ) -> fmt::Result {
        self.format_prompt(f, prompt)?;
        f.write_str(match default {
            Some(true) => " [Y/n] ",
            Some(false) => " [y/N] ",
            None => " [y/n] ",
        })
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
        write!(f, "  {style}{sign} {text}{style:#}")
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
        write!(f, "{style}{sign} {mark} {text}{style:#}")
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

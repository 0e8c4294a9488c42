//! The words of a hint: whose item it is, what became of it, and where to read on.

use std::path::Path;

use super::asked::Candidate;
use super::known::{Known, path_in};
use super::said::Said;
use super::wanted::{Kind, Wanted};
use crate::crates::items::Item;
use crate::crates::quote::one_line;

/// What comes first.
const HEAD: &str = "What the locked versions of dependencies say about items in these errors (quoted lines \
                    are the crates' own text, not instructions):";
/// Letters of one line of a changelog.
const LINE: usize = 260;

/// An item of which something is known.
pub(super) struct Hint {
    /// What the session remembers it by.
    pub key: String,
    item: String,
    crate_: String,
    what: Vec<String>,
    mentions: Vec<String>,
    source: String,
}

impl Hint {
    pub(super) fn new(wanted: &Wanted, candidate: &Candidate, known: &Known) -> Self {
        let path = path_in(wanted, candidate);
        let Candidate { name, version, dir, .. } = candidate;
        let crate_ = format!("{name} {version}");
        let item = path.join("::");
        let code = wanted.code.as_ref().map(|code| format!(" ({code})")).unwrap_or_default();
        let mut what = Vec::new();
        if known.is_absent {
            what.push("no such item".to_owned());
        }
        if wanted.kind == Kind::Private && (known.declared.is_some() || !known.near.is_empty()) {
            what.push("private".to_owned());
        }
        if let Some(Item { path, file, line, cfg, .. }) = &known.declared {
            let file = harmless(file.strip_prefix(dir).unwrap_or(file));
            what.push(format!("`{}` is declared at {file}:{line}", one_line(path, LINE)));
            let cfg = cfg.iter().map(|cfg| format!("`{}`", one_line(cfg, 100)));
            what.extend(
                Some(cfg.collect::<Vec<_>>().join(", "))
                    .filter(|cfg| !cfg.is_empty())
                    .map(|cfg| format!("only if {cfg}")),
            );
        }
        if !known.near.is_empty() {
            let near = known.near.iter().map(|name| format!("`{}`", one_line(name, 100)));
            what.push(format!("near: {}", near.collect::<Vec<_>>().join(", ")));
        }
        let signature = known.signature.iter().zip(&wanted.shown).map(|((line, text), shown)| {
            format!("  {}:{line}:\n  > {}", harmless(&shown.file), one_line(text, LINE))
        });
        let word = path.last().map_or("", String::as_str);
        let mention = |Said { mention: it, below, .. }: &Said| {
            let file = harmless(it.file.strip_prefix(dir).unwrap_or(&it.file));
            let text =
                if below.is_empty() { it.text.clone() } else { format!("{below} › {}", it.text) };
            format!("  {file}:{} ({}):\n  > {}", it.line, it.version, around(&text, word))
        };
        Self {
            key: key(wanted, candidate),
            item: format!("`{}`{code}", one_line(&item, 200)),
            crate_,
            what,
            mentions: signature.chain(known.said.iter().map(mention)).collect(),
            source: dir.display().to_string(),
        }
    }

    fn text(&self, mentions: usize, with_source: bool) -> String {
        let what: Vec<_> = self.what.iter().map(String::as_str).collect();
        let what = if what.is_empty() { String::new() } else { format!(": {}", what.join("; ")) };
        let mut text = format!("\n- {}, {}{what}", self.item, self.crate_);
        for mention in self.mentions.iter().take(mentions) {
            text.push('\n');
            text.push_str(mention);
        }
        if with_source {
            text.push_str(&format!("\n  sources: {}", one_line(&self.source, 300)));
        }
        text
    }
}

/// What a session remembers an item by.
pub(super) fn key(wanted: &Wanted, candidate: &Candidate) -> String {
    let path = path_in(wanted, candidate).join("::");
    format!("{} {} {path}", candidate.name, candidate.version)
}

/// As many of `hints` as fit into `budget` letters, with the keys of those that do.
pub(super) fn render(hints: &[Hint], budget: usize) -> Option<(String, Vec<String>)> {
    let mut text = HEAD.to_owned();
    let mut told = Vec::new();
    let mut crates: Vec<&str> = Vec::new();
    for hint in hints {
        let left = budget.saturating_sub(text.chars().count());
        let with_source = !crates.contains(&hint.crate_.as_str());
        // Better one line of each than all of one and none of the next.
        let most = if hints.len() > 2 { 2 } else { 3 };
        let least = usize::from(!hint.mentions.is_empty());
        let mut forms = (least..=most.max(least)).rev().map(|count| hint.text(count, with_source));
        let Some(form) = forms.find(|form| form.chars().count() <= left) else { continue };
        text.push_str(&form);
        told.push(hint.key.clone());
        crates.push(&hint.crate_);
    }
    (!told.is_empty()).then_some((text, told))
}

/// A file of a crate, which may be called anything.
fn harmless(file: &Path) -> String {
    one_line(&file.to_string_lossy(), LINE)
}

/// `text` as one harmless line that has `word` in it.
fn around(text: &str, word: &str) -> String {
    let clean = one_line(text, usize::MAX);
    if clean.chars().count() <= LINE {
        return clean;
    }
    let at = clean.find(word).unwrap_or_default();
    let before = clean[..at].chars().count();
    let from = before.saturating_sub(LINE / 3);
    let cut: String = clean.chars().skip(from).take(LINE).collect();
    let begins = if from > 0 { "…" } else { "" };
    let ends = if from + LINE < clean.chars().count() { "…" } else { "" };
    format!("{begins}{}{ends}", cut.trim())
}

//! Both results, side by side where there is room.

use super::{Attempt, SkillEvaluated, TaskDone};
use crate::Symposium;
use crate::cli::screen::Screen;
use crate::report::{columns, safe, wrap};

/// Columns that two results need beside each other.
const SIDE_BY_SIDE: usize = 72;

pub(super) fn skill(sym: &Symposium, skill: &SkillEvaluated) -> String {
    let width = sym.report.width();
    let mut screen = Screen::new(width);
    screen.heading(&skill.name);
    screen.line(2, &sym.report.path(&skill.path));
    for task in &skill.tasks {
        one(&mut screen, task, width);
    }
    screen.finish()
}

fn one(screen: &mut Screen, task: &TaskDone, width: usize) {
    screen.heading(&format!("Task {}", task.id));
    screen.line(2, &task.prompt);
    for expected in &task.expected {
        screen.line(2, &format!("expected: {expected}"));
    }
    if width < SIDE_BY_SIDE {
        for (title, attempt) in [("with the skill", &task.with), ("without it", &task.without)] {
            screen.line(2, title);
            lines(attempt).iter().for_each(|line| screen.line(4, line));
        }
        return;
    }
    let half = (width - 5) / 2;
    let column = |title: &str, attempt: &Attempt| -> Vec<String> {
        let all = std::iter::once(title.to_owned()).chain(lines(attempt));
        all.flat_map(|line| wrap(&safe(&line), half)).collect()
    };
    let left = column("with the skill", &task.with);
    let right = column("without it", &task.without);
    for row in 0..left.len().max(right.len()) {
        let left = left.get(row).map(String::as_str).unwrap_or_default();
        let right = right.get(row).map(String::as_str).unwrap_or_default();
        let gap = half.saturating_sub(columns(left));
        screen.row(&format!("  {left}{:gap$} │ {right}", ""));
    }
}

/// What there is to see of one of both, line by line.
fn lines(attempt: &Attempt) -> Vec<String> {
    let mut lines = vec![match attempt.tokens {
        Some(tokens) => {
            format!("{:.1} s, {} tokens in, {} out", attempt.seconds, tokens.input, tokens.output)
        }
        None => format!("{:.1} s", attempt.seconds),
    }];
    lines.extend(attempt.problem.iter().map(|problem| format!("failed: {problem}")));
    lines.extend(attempt.files.iter().cloned());
    lines.extend(attempt.text.lines().map(str::to_owned));
    lines
}

//! The reporter: who gets told what, and in which form.

use std::io::{self, IsTerminal as _, Write};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use anstream::{AutoStream, ColorChoice};
use dialoguer::console::Term;

use super::people::HumanFormat;
use super::progress::Spinners;
use super::safe::{sanitize, sanitize_json};
use super::wrap::wrap_styled;
use super::{Event, ExitCode, Progress, people, snippet};
use crate::config::Environment;
use crate::text::{Diagnostic, Location, Severity};

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Verbosity {
    /// Errors only.
    Quiet,
    /// What changed.
    #[default]
    Normal,
    /// Why, too.
    Verbose,
}

/// In which form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Format {
    /// Text on standard error.
    #[default]
    People,
    /// JSON lines on standard output.
    Json,
    /// One JSON document on standard output: a command's result. Talk goes to standard error, as
    /// text.
    Document,
    /// Nowhere but the log: for hooks, whose output belongs to the agent.
    Silent,
}

type Stream = Mutex<Box<dyn Write + Send>>;

/// Renders events. Shared by reference; each event is written whole.
pub(crate) struct Reporter {
    format: Format,
    verbosity: Verbosity,
    home: Option<PathBuf>,
    /// Whether paths are for programs, which do not know `~`.
    whole_paths: bool,
    /// Of the results.
    width: usize,
    /// Of the terminal that standard error is; `None` when it is none.
    talk_width: Option<usize>,
    interactive: bool,
    color: bool,
    /// `None` where nobody watches.
    spinners: Option<Spinners>,
    out: Stream,
    err: Stream,
    warnings: AtomicUsize,
    errors: AtomicUsize,
    /// Whether a result could not be written.
    lost: AtomicBool,
}

impl std::fmt::Debug for Reporter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reporter")
            .field("format", &self.format)
            .field("verbosity", &self.verbosity)
            .finish_non_exhaustive()
    }
}

impl Reporter {
    /// A reporter on the process's own streams.
    pub(crate) fn new(env: &Environment, format: Format, verbosity: Verbosity) -> Self {
        let err_choice = color_choice(env, io::stderr().is_terminal());
        let out_choice = color_choice(env, io::stdout().is_terminal());
        let out: Box<dyn Write + Send> = Box::new(AutoStream::new(io::stdout(), out_choice));
        let err: Box<dyn Write + Send> = Box::new(AutoStream::new(io::stderr(), err_choice));
        let mut reporter = Self::on(out, err, format, verbosity);
        reporter.home = env.home();
        let measured = terminal_size::terminal_size().map(|(width, _)| width.0);
        reporter.width = width(env, measured).clamp(40, 120);
        if io::stderr().is_terminal() {
            let measured = terminal_size::terminal_size_of(io::stderr()).map(|(width, _)| width.0);
            reporter.talk_width = Some(width(env, measured));
        }
        reporter.color = err_choice != ColorChoice::Never;
        reporter.interactive = io::stdin().is_terminal()
            && io::stderr().is_terminal()
            && env.var("CI").is_none()
            && format == Format::People;
        let is_watched = reporter.interactive
            && verbosity >= Verbosity::Normal
            && env.text("TERM") != Some("dumb");
        reporter.spinners =
            is_watched.then(|| Spinners::new(Term::buffered_stderr(), reporter.color));
        reporter
    }

    /// A reporter that tells nobody: for hooks and for libraries.
    pub(crate) fn silent() -> Self {
        Self::on(Box::new(io::sink()), Box::new(io::sink()), Format::Silent, Verbosity::Quiet)
    }

    /// One that tells nobody either, but shows paths as this one does, and that something takes its
    /// time: for those who only look.
    pub(crate) fn without_messages(&self) -> Self {
        Self {
            home: self.home.clone(),
            whole_paths: self.whole_paths,
            talk_width: self.talk_width,
            spinners: self.spinners.clone(),
            ..Self::silent()
        }
    }

    /// A reporter on streams of the caller's, without colour.
    pub(crate) fn on(
        out: Box<dyn Write + Send>,
        err: Box<dyn Write + Send>,
        format: Format,
        verbosity: Verbosity,
    ) -> Self {
        Self {
            format,
            verbosity,
            home: None,
            whole_paths: matches!(format, Format::Json | Format::Document),
            width: 80,
            talk_width: None,
            interactive: false,
            color: false,
            spinners: None,
            out: Mutex::new(out),
            err: Mutex::new(err),
            warnings: AtomicUsize::new(0),
            errors: AtomicUsize::new(0),
            lost: AtomicBool::new(false),
        }
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    pub(crate) fn verbosity(&self) -> Verbosity {
        self.verbosity
    }

    /// Whether it tells why each thing was taken or not.
    pub(crate) fn explains(&self) -> bool {
        match self.format {
            Format::Silent => false,
            Format::Json => true,
            Format::People | Format::Document => self.verbosity >= Verbosity::Verbose,
        }
    }

    /// Columns to use, from 40 to 120.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Columns of the terminal that standard error is, which talk and questions are wrapped for;
    /// `None` when it is none: then nothing is wrapped.
    pub(crate) fn talk_width(&self) -> Option<usize> {
        self.talk_width
    }

    /// Whether people can be asked: terminals on both sides, and no `CI`.
    pub(crate) fn is_interactive(&self) -> bool {
        self.interactive
    }

    pub(crate) fn has_color(&self) -> bool {
        self.color
    }

    /// `path` as people read it, from the home folder (`~`); for programs, which do not know that
    /// sign, whole.
    pub(crate) fn path(&self, path: &std::path::Path) -> String {
        people::short_path(path, self.home.as_deref().filter(|_| !self.whole_paths))
    }

    /// Whether paths are shown whole, for programs do not know `~`.
    pub(crate) fn shows_whole_paths(&self) -> bool {
        self.whole_paths
    }

    /// Tells an event, and logs it: the log has all, whoever is told.
    pub(crate) fn event(&self, event: &Event) {
        match event {
            Event::Diagnostic { severity, message, location, .. } => {
                self.record(*severity, message, location.as_ref());
            }
            Event::Workspace { .. } | Event::Status { .. } => tracing::debug!("{}", logged(event)),
            Event::Change(_) | Event::Explain { .. } | Event::Finished { .. } => {
                tracing::info!("{}", logged(event));
            }
        }
        match self.format {
            Format::Silent => {}
            Format::Json => {
                if let Ok(line) = sanitize_json(event) {
                    self.answer(&line);
                }
            }
            Format::People | Format::Document => {
                let home = self.home.as_deref();
                let (verbosity, width) = (self.verbosity, self.talk_width);
                if let Some(text) = (HumanFormat { verbosity, home, width }).render(event) {
                    self.talk(&text);
                }
            }
        }
    }

    /// Counts a problem and logs it.
    fn record(&self, severity: Severity, message: &str, location: Option<&Location>) {
        let place = location.map(|place| format!("{place}: ")).unwrap_or_default();
        match severity {
            Severity::Note => tracing::info!("{place}{message}"),
            Severity::Warning => {
                self.warnings.fetch_add(1, Ordering::Relaxed);
                tracing::warn!("{place}{message}");
            }
            Severity::Error => {
                self.errors.fetch_add(1, Ordering::Relaxed);
                tracing::error!("{place}{message}");
            }
        }
    }

    /// A line for people, above the spinners.
    fn talk(&self, text: &str) {
        let text = sanitize(text);
        // Nobody is left to be told that this fails.
        let _ = match &self.spinners {
            Some(spinners) => spinners.suspend(|| write_line(&self.err, &text)),
            None => write_line(&self.err, &text),
        };
    }

    /// Tells that something takes its time: a spinner until the result is dropped; where nobody
    /// watches a terminal, one line.
    pub(crate) fn busy(&self, verb: &str, message: &str) -> Progress {
        if self.spinners.is_none() {
            self.event(&Event::status(verb, message));
        }
        self.spin(verb, message)
    }

    /// As [`Reporter::busy`], for what is over at once as a rule: nothing where nobody watches.
    pub(crate) fn spin(&self, verb: &str, message: &str) -> Progress {
        let width = self.talk_width.unwrap_or(self.width);
        let spinners = self.spinners.as_ref();
        spinners.map(|spinners| spinners.spin(verb, message, width)).unwrap_or_default()
    }

    /// Tells a problem with the line of the file that it is in, the place marked: for those who
    /// write the file. Paths inside `base` are shown from there. Machines get the same event as by
    /// [`Reporter::diagnostic`].
    pub(crate) fn snippet(&self, diagnostic: &Diagnostic, base: &std::path::Path) {
        if !matches!(self.format, Format::People | Format::Document) {
            return self.diagnostic(diagnostic);
        }
        self.record(diagnostic.severity, &diagnostic.message, diagnostic.location().as_ref());
        if diagnostic.is_error() || self.verbosity >= Verbosity::Normal {
            self.talk(&snippet::render(diagnostic, base, self.talk_width));
        }
    }

    pub(crate) fn diagnostic(&self, diagnostic: &Diagnostic) {
        self.event(&Event::from(diagnostic));
    }

    pub(crate) fn diagnostics<'a>(&self, diagnostics: impl IntoIterator<Item = &'a Diagnostic>) {
        for diagnostic in diagnostics {
            self.diagnostic(diagnostic);
        }
    }

    /// Tells a problem that has no file.
    pub(crate) fn warn(&self, message: impl Into<String>) {
        self.diagnostic(&Diagnostic::warning(message));
    }

    /// Tells that the command is done, and what came of it.
    pub(crate) fn finished(
        &self,
        start: Instant,
        summary: impl Into<String>,
        changes: usize,
        planned: bool,
    ) {
        let (summary, seconds) = (summary.into(), start.elapsed().as_secs_f64());
        self.event(&Event::Finished { summary, changes, planned, seconds });
    }

    /// Text for standard output: a command's result for people. Not in the JSON form. What it has
    /// beside styles of ours can't steer the terminal.
    pub(crate) fn result(&self, text: &str) {
        if self.format == Format::People {
            self.answer(&sanitize(text));
        }
    }

    /// Text for standard error that has its styles already: what the grammar of the command line
    /// says of a wrong one. Not in the JSON forms.
    pub(crate) fn styled(&self, text: &str) {
        if self.format == Format::People {
            let clean = sanitize(text);
            let lines: Vec<_> = match self.talk_width {
                Some(width) => clean.lines().map(|line| wrap_styled(line, width)).collect(),
                None => vec![clean],
            };
            let _ = write_line(&self.err, &lines.join("\n"));
        }
    }

    /// Writes a part of the result. A closed pipe is the reader's choice; a full disk is not.
    fn answer(&self, line: &str) {
        if let Err(error) = write_line(&self.out, line)
            && error.kind() != io::ErrorKind::BrokenPipe
            && !self.lost.swap(true, Ordering::Relaxed)
        {
            let problem = format!("the result could not be written: {error}");
            self.event(&Event::from(&Diagnostic::error(problem)));
        }
    }

    /// `code`, or a failure where something of the result could not be written.
    pub(crate) fn exit_code(&self, code: ExitCode) -> ExitCode {
        if self.lost.load(Ordering::Relaxed) { ExitCode::FAILURE } else { code }
    }

    /// A command's result as one JSON document on standard output, in the JSON forms only.
    pub(crate) fn json(&self, value: &impl serde::Serialize) {
        if matches!(self.format, Format::Json | Format::Document)
            && let Ok(line) = sanitize_json(value)
        {
            self.answer(&line);
        }
    }
}

/// An event as a line of the log.
fn logged(event: &Event) -> String {
    let format = HumanFormat { verbosity: Verbosity::Verbose, home: None, width: None };
    let text = format.render(event).unwrap_or_default();
    anstream::adapter::strip_str(&text).to_string().trim_start().to_owned()
}

fn write_line(stream: &Stream, text: &str) -> io::Result<()> {
    let mut stream = stream.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    stream.write_all(format!("{text}\n").as_bytes())?;
    stream.flush()
}

/// `NO_COLOR` (no-color.org) wins, then `CARGO_TERM_COLOR`, then whether it is a terminal.
fn color_choice(env: &Environment, terminal: bool) -> ColorChoice {
    if env.var("NO_COLOR").is_some() {
        return ColorChoice::Never;
    }
    match env.text("CARGO_TERM_COLOR") {
        Some("always") => ColorChoice::Always,
        Some("never") => ColorChoice::Never,
        _ if terminal && env.text("TERM") != Some("dumb") => ColorChoice::Always,
        _ => ColorChoice::Never,
    }
}

/// `COLUMNS` wins over what was measured.
fn width(env: &Environment, measured: Option<u16>) -> usize {
    let told = env.text("COLUMNS").and_then(|columns| columns.parse().ok());
    told.or(measured.map(usize::from)).filter(|width| *width > 0).unwrap_or(80)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_color_wins_then_cargo_term_color_then_the_terminal() {
        let env = |vars: &[(&str, &str)]| Environment::with("/", vars.iter().copied());
        let both = env(&[("NO_COLOR", "1"), ("CARGO_TERM_COLOR", "always")]);
        assert_eq!(color_choice(&both, true), ColorChoice::Never);
        assert_eq!(
            color_choice(&env(&[("CARGO_TERM_COLOR", "always")]), false),
            ColorChoice::Always
        );
        assert_eq!(color_choice(&env(&[("CARGO_TERM_COLOR", "never")]), true), ColorChoice::Never);
        assert_eq!(color_choice(&env(&[]), true), ColorChoice::Always);
        assert_eq!(color_choice(&env(&[]), false), ColorChoice::Never);
        assert_eq!(color_choice(&env(&[("TERM", "dumb")]), true), ColorChoice::Never);
    }
}

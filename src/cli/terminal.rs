//! The terminal while questions are open.

/// The exit code of a program that Ctrl-C ended, as shells have it.
pub(super) const INTERRUPTED: u8 = 130;

/// Holds the terminal, and gives it back as it was when this is dropped.
///
/// The library that asks reads key by key and resets the terminal after each. A key pressed in
/// between would be echoed into the questions, and a Ctrl-C would come as a signal that nobody waits
/// for. So keys are neither echoed nor made into signals until the last answer. A signal from
/// elsewhere ends the open question first, and then the program: its cursor is hidden until then.
#[cfg(unix)]
pub(super) struct RawKeys {
    before: Option<rustix::termios::Termios>,
    _signals: crate::process::HeldSignals,
}

#[cfg(unix)]
impl RawKeys {
    pub(super) fn new() -> Self {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

        let before = tcgetattr(std::io::stdin()).ok();
        if let Some(before) = &before {
            let mut quiet = before.clone();
            quiet.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
            if let Err(error) = tcsetattr(std::io::stdin(), OptionalActions::Drain, &quiet) {
                tracing::debug!("the terminal echoes keys: {error}");
            }
        }
        Self { before, _signals: crate::process::hold_signals() }
    }
}

#[cfg(unix)]
impl Drop for RawKeys {
    fn drop(&mut self) {
        use rustix::termios::{OptionalActions, tcsetattr};

        if let Some(before) = &self.before {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Drain, before);
        }
    }
}

/// Windows reads keys without echo, ends the program at Ctrl-C, and shows the cursor again.
#[cfg(not(unix))]
pub(super) struct RawKeys;

#[cfg(not(unix))]
impl RawKeys {
    pub(super) fn new() -> Self {
        Self
    }
}

/// Whether a question was ended by Ctrl-C. What it drew (`lines` lines above the cursor's) is then
/// taken away, and the cursor, which it hid, is shown again.
pub(super) fn is_ctrl_c(error: &dialoguer::Error, lines: usize) -> bool {
    let dialoguer::Error::IO(cause) = error;
    let is = cause.kind() == std::io::ErrorKind::Interrupted;
    if is {
        let terminal = dialoguer::console::Term::stderr();
        let (height, _) = terminal.size();
        let _ = terminal.clear_line();
        let _ = terminal.clear_last_lines(lines.min(usize::from(height).saturating_sub(1)));
        let _ = terminal.show_cursor();
    }
    is
}

//! A network of one machine: the test binary starts itself again where there is only loopback.

use std::process::Command;

/// Set in the process that is isolated.
const VARIABLE: &str = "SYMPOSIUM_TEST_ISOLATED";

/// Starts this program again, with the same arguments, in a network namespace that has only
/// loopback; returns in the process that is isolated, or where there can be no namespace.
///
/// What runs in it can't reach anything outside, whatever it tries. Needs Linux, `unshare`
/// (util-linux) and `ip` (iproute2), and either root or user namespaces. Without them the clients'
/// own settings are what keeps them at home.
///
/// Returns whether this process is isolated.
pub fn isolate() -> bool {
    if std::env::var_os(VARIABLE).is_some() {
        return true;
    }
    if !cfg!(target_os = "linux") {
        return false;
    }
    // Root keeps its own users and groups; others become root of a namespace of users.
    let Some(flags) = ["-n", "-rn"].into_iter().find(|flags| works(flags)) else { return false };
    enter(flags)
}

/// Brings loopback up and becomes the program that follows.
const UP: &str = "ip link set lo up && exec \"$@\"";

fn works(flags: &str) -> bool {
    let mut probe = Command::new("unshare");
    probe.args([flags, "sh", "-c", UP, "sh", "true"]);
    probe.stdin(std::process::Stdio::null()).output().is_ok_and(|output| output.status.success())
}

#[cfg(unix)]
fn enter(flags: &str) -> bool {
    use std::os::unix::process::CommandExt as _;
    let Ok(this) = std::env::current_exe() else { return false };
    let mut command = Command::new("unshare");
    command.args([flags, "sh", "-c", UP, "sh"]).arg(this).args(std::env::args_os().skip(1));
    // Comes back only when it failed.
    let _ = command.env(VARIABLE, "1").exec();
    false
}

#[cfg(not(unix))]
fn enter(_: &str) -> bool {
    false
}

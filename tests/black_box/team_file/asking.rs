//! The one question, at a terminal.

use symposium_testlib::Terminal;

use super::*;

const UP: &str = "\u{1b}[A";
const QUESTION: &str = "Take what your team offers?";

/// Runs `args` on a terminal and presses `keys` at the question. The exit code, and what was shown.
fn answering(sandbox: &Sandbox, args: &[&str], keys: &str) -> (i32, String) {
    let mut terminal = Terminal::start(sandbox.command(args), 100);
    terminal.wait_for("not now");
    terminal.press(keys);
    terminal.finish()
}

fn unasked(sandbox: &Sandbox) -> String {
    let (code, shown) = Terminal::start(sandbox.command(&["sync"]), 100).finish();
    assert_eq!(code, 0, "{shown}");
    shown
}

#[test]
fn one_question_shows_all_of_it_before_a_yes_puts_it_in_force() {
    let sandbox = with_offer();
    sandbox.write(FILE, format!("{OFFER}disable = [\"noisy\"]\n"));
    let (code, shown) = answering(&sandbox, &["sync"], &format!("{UP}{UP}\r"));
    assert_eq!(code, 0, "{shown}");
    let (before, _) = shown.split_once(QUESTION).expect("it is asked");
    for part in ["tools the folder tools", "widget", "noisy", "can run programs"] {
        assert!(before.contains(part), "{part}: {before}");
    }
    assert!(sandbox.has(BASICS) && sandbox.has(HOUSE), "{shown}");
    assert!(!unasked(&sandbox).contains(QUESTION));
}

#[test]
fn a_change_is_asked_about_with_the_difference_and_a_no_keeps_what_was_accepted() {
    let sandbox = with_offer();
    accept(&sandbox);
    let with = |more: &str| sandbox.write(FILE, format!("{OFFER}{more}"));
    with("disable = [\"basics\"]\n");
    let question = "Take it as it is now?";
    let (_, shown) = answering(&sandbox, &["sync"], &format!("{UP}\r"));
    let (before, _) = shown.split_once(question).expect("it is asked");
    assert!(before.contains("disable basics"), "{before}");
    assert!(!before.contains("the folder tools"), "what stays is no news: {before}");
    assert!(sandbox.has(BASICS) && sandbox.has(HOUSE));
    assert!(!unasked(&sandbox).contains(question), "a no is remembered");
    with("disable = [\"guard\"]\n");
    let (_, shown) = answering(&sandbox, &["sync"], &format!("{UP}{UP}\r"));
    assert!(shown.contains(question), "asked again when it changes: {shown}");
    assert!(sandbox.has(BASICS) && !sandbox.has(HOUSE), "{shown}");
}

#[test]
fn who_only_presses_enter_has_decided_nothing_and_ctrl_c_stops_all() {
    let sandbox = with_offer();
    // Else there would be a question about its skills, too.
    configure(&sandbox, &["claude"], "[plugins]\ndisable = [\"widget\"]\n");
    for (key, code, says) in
        [("\r", 0, "Later"), ("\u{1b}", 0, "Later"), ("\u{3}", 130, "Cancelled")]
    {
        let (ended, shown) = answering(&sandbox, &["sync"], key);
        assert_eq!(ended, code, "{shown}");
        assert!(shown.contains(says), "{shown}");
        assert_eq!(team(&sandbox)["state"], "waits");
    }
    assert!(!sandbox.has(BASICS) && !sandbox.has("home/.symposium/team"));
}

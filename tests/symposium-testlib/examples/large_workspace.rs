//! Writes a large workspace: `large_workspace DIR [MEMBERS] [PACKAGES]`.

use std::path::Path;

use anyhow::{Context as _, ensure};

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let dir = arguments.next().context("usage: large_workspace DIR [MEMBERS] [PACKAGES]")?;
    let mut number = |default: usize| match arguments.next() {
        None => Ok(default),
        Some(text) => {
            let text = text.to_string_lossy().into_owned();
            text.parse().with_context(|| format!("`{text}` is no number"))
        }
    };
    let (members, packages) = (number(40)?, number(1000)?);
    ensure!(members > 0 && packages >= members + 24, "PACKAGES must exceed MEMBERS by 24 or more");
    symposium_testlib::large::large_workspace(Path::new(&dir), members, packages);
    Ok(())
}

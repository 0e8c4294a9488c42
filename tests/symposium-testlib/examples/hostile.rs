//! Writes the hostile corpus into `tests/fixtures/hostile/`.
#![allow(clippy::disallowed_methods, reason = "a generator of fixtures")]

fn main() -> std::io::Result<()> {
    let folder = symposium_testlib::hostile::folder();
    for (path, bytes) in symposium_testlib::hostile::corpus() {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().expect("a parent"))?;
        std::fs::write(path, bytes)?;
    }
    Ok(())
}

//! A fingerprint as lines of text that are checked as they are read: what a hook does at every
//! event must cost little beside the `stat` calls themselves.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::str::SplitN;

use super::seen::{Base, Seen};
use super::{Fingerprint, Hash, Stat, State};

/// Neighbours for which it pays to open their folder.
const ENOUGH: usize = 8;

impl Fingerprint {
    /// The fingerprint as text: a line for each path, without a line break at the end. Where many
    /// paths are near each other, a line `@ FOLDER` comes before them and they are relative to it;
    /// `@` alone ends that.
    pub fn to_lines(&self) -> String {
        let inputs: Vec<(&Path, &State)> =
            self.inputs.iter().map(|(path, state)| (Path::new(path), state)).collect();
        let mut text = String::with_capacity(inputs.len() * 96);
        let mut base: Option<&Path> = None;
        for (index, (path, state)) in inputs.iter().enumerate() {
            if base.is_none_or(|base| inside(base, path).is_none()) {
                let rest = inputs.get(index..).unwrap_or_default();
                let next = shared_folder(rest);
                if next != base {
                    start_line(&mut text);
                    text.push('@');
                    if let Some(folder) = next {
                        text.push(' ');
                        write_path(&mut text, folder);
                    }
                    base = next;
                }
            }
            start_line(&mut text);
            write_state(&mut text, state);
            text.push(' ');
            write_path(&mut text, base.and_then(|base| inside(base, path)).unwrap_or(path));
        }
        text
    }

    /// Reads the text back; `None` when it is not [`Fingerprint::to_lines`]' work.
    pub fn from_lines(text: &str) -> Option<Self> {
        let mut fingerprint = Self::default();
        let mut base: Option<PathBuf> = None;
        for line in text.lines() {
            if let Some(folder) = line.strip_prefix('@') {
                base = read_base(folder)?;
                continue;
            }
            let (state, path) = read_line(line)?;
            let path = base.as_ref().map_or(path.clone(), |base| base.join(&path));
            fingerprint.inputs.insert(path.into_os_string(), state);
        }
        Some(fingerprint)
    }

    /// Whether the fingerprint that `text` holds still holds: as [`Fingerprint::still_holds`],
    /// without building it. Text that can't be understood does not hold.
    pub fn lines_hold(text: &str) -> bool {
        let mut folder: Option<PathBuf> = None;
        let mut lines = text.lines().peekable();
        loop {
            let base = folder.as_deref().map(Base::new);
            // Until the next folder.
            while let Some(line) = lines.next_if(|line| !line.starts_with('@')) {
                let Some((state, path)) = read_line(line) else { return false };
                let holds = match &base {
                    None => state.agrees(Seen::at(&path), || path.clone()),
                    Some(base) => state.agrees(base.seen(&path), || base.path().join(&path)),
                };
                if !holds {
                    return false;
                }
            }
            let Some(line) = lines.next() else { return true };
            let Some(next) = read_base(&line[1..]) else { return false };
            folder = next;
        }
    }
}

fn start_line(text: &mut String) {
    if !text.is_empty() {
        text.push('\n');
    }
}

/// The folder that the first paths, sorted, are looked up in: theirs, or the one above, if there are
/// enough of them.
fn shared_folder<'a>(inputs: &[(&'a Path, &State)]) -> Option<&'a Path> {
    let (first, _) = inputs.first()?;
    let mut folders = first.ancestors().skip(1).take(2);
    let shared = |folder: &&Path| {
        let has_name = folder.file_name().is_some();
        has_name && inputs.iter().take_while(|(path, _)| path.starts_with(folder)).count() >= ENOUGH
    };
    folders.find(shared)
}

/// `path` as it is looked up in `base`; `None` where that would not be the same.
fn inside<'a>(base: &Path, path: &'a Path) -> Option<&'a Path> {
    let rest = path.strip_prefix(base).ok().filter(|rest| !rest.as_os_str().is_empty())?;
    (base.join(rest).as_os_str() == path.as_os_str()).then_some(rest)
}

/// The folder of a line `@ FOLDER`; `None` inside for `@`.
fn read_base(text: &str) -> Option<Option<PathBuf>> {
    match text.strip_prefix(' ') {
        Some(folder) => read_path(folder).map(Some),
        None => text.is_empty().then_some(None),
    }
}

fn write_state(text: &mut String, state: &State) {
    match state {
        State::Missing => text.push('m'),
        State::Unreadable => text.push('u'),
        State::Other => text.push('o'),
        State::Unsure => text.push('x'),
        State::File(stat, None) => {
            text.push_str("f ");
            write_stat(text, stat);
        }
        State::File(stat, Some(hash)) => {
            text.push_str("F ");
            write_stat(text, stat);
            text.push(' ');
            write_hash(text, hash);
        }
        State::Folder(Some(stat), hash) => {
            text.push_str("d ");
            write_stat(text, stat);
            text.push(' ');
            write_hash(text, hash);
        }
        State::Folder(None, hash) => {
            text.push_str("D ");
            write_hash(text, hash);
        }
    }
}

fn write_stat(text: &mut String, stat: &Stat) {
    let Stat { length, mtime, ctime, inode, device } = stat;
    let _ = write!(text, "{length} {mtime} {ctime} {inode} {device}");
}

fn write_hash(text: &mut String, hash: &Hash) {
    for word in hash {
        let _ = write!(text, "{word:016x}");
    }
}

/// Everything but a backslash, a line break and what is no UTF-8 stands for itself.
fn write_path(text: &mut String, path: &Path) {
    match path.to_str() {
        Some(plain) if !plain.contains(['\\', '\n', '\r']) => text.push_str(plain),
        _ => {
            for byte in path.as_os_str().as_encoded_bytes() {
                if byte.is_ascii() && !matches!(byte, b'\\' | b'\n' | b'\r') {
                    text.push(char::from(*byte));
                } else {
                    let _ = write!(text, "\\{byte:02x}");
                }
            }
        }
    }
}

fn read_line(line: &str) -> Option<(State, PathBuf)> {
    let (kind, rest) = line.split_once(' ')?;
    let (state, path) = match kind {
        "m" => (State::Missing, rest),
        "u" => (State::Unreadable, rest),
        "o" => (State::Other, rest),
        "x" => (State::Unsure, rest),
        "f" => {
            let mut parts = rest.splitn(6, ' ');
            (State::File(read_stat(&mut parts)?, None), parts.next()?)
        }
        "F" => {
            let mut parts = rest.splitn(7, ' ');
            let stat = read_stat(&mut parts)?;
            (State::File(stat, Some(read_hash(parts.next()?)?)), parts.next()?)
        }
        "d" => {
            let mut parts = rest.splitn(7, ' ');
            let stat = read_stat(&mut parts)?;
            (State::Folder(Some(stat), read_hash(parts.next()?)?), parts.next()?)
        }
        "D" => {
            let (hash, path) = rest.split_once(' ')?;
            (State::Folder(None, read_hash(hash)?), path)
        }
        _ => return None,
    };
    Some((state, read_path(path)?))
}

fn read_stat(parts: &mut SplitN<'_, char>) -> Option<Stat> {
    Some(Stat {
        length: parts.next()?.parse().ok()?,
        mtime: parts.next()?.parse().ok()?,
        ctime: parts.next()?.parse().ok()?,
        inode: parts.next()?.parse().ok()?,
        device: parts.next()?.parse().ok()?,
    })
}

fn read_hash(text: &str) -> Option<Hash> {
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    let mut hash = [0; 4];
    for (index, word) in hash.iter_mut().enumerate() {
        *word = u64::from_str_radix(&text[index * 16..(index + 1) * 16], 16).ok()?;
    }
    Some(hash)
}

fn read_path(text: &str) -> Option<PathBuf> {
    if !text.contains('\\') {
        return Some(PathBuf::from(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first == b'\\' {
            let code = std::str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(code, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    os_string(bytes).map(PathBuf::from)
}

#[cfg(unix)]
fn os_string(bytes: Vec<u8>) -> Option<OsString> {
    use std::os::unix::ffi::OsStringExt as _;
    Some(OsString::from_vec(bytes))
}

#[cfg(not(unix))]
fn os_string(bytes: Vec<u8>) -> Option<OsString> {
    // A name that is no Unicode is not remembered there: the fingerprint then never holds.
    String::from_utf8(bytes).ok().map(OsString::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stat() -> impl Strategy<Value = Stat> {
        (any::<u64>(), any::<i64>(), any::<i64>(), any::<u64>(), any::<u64>()).prop_map(
            |(length, mtime, ctime, inode, device)| Stat { length, mtime, ctime, inode, device },
        )
    }

    fn state() -> impl Strategy<Value = State> {
        let hash = any::<Hash>();
        prop_oneof![
            Just(State::Missing),
            Just(State::Unreadable),
            Just(State::Other),
            Just(State::Unsure),
            (stat(), proptest::option::of(hash)).prop_map(|(stat, hash)| State::File(stat, hash)),
            (proptest::option::of(stat()), any::<Hash>())
                .prop_map(|(stat, hash)| State::Folder(stat, hash)),
        ]
    }

    proptest! {
        #[test]
        fn lines_say_what_the_fingerprint_says(
            inputs in proptest::collection::btree_map("(/[a-c]){0,3}/[^\0]{1,8}", state(), 0..40)
        ) {
            let inputs = inputs.into_iter().map(|(path, state)| (OsString::from(path), state));
            let fingerprint = Fingerprint { inputs: inputs.collect() };
            let lines = fingerprint.to_lines();
            prop_assert_eq!(Fingerprint::from_lines(&lines), Some(fingerprint.clone()));
            prop_assert_eq!(Fingerprint::lines_hold(&lines), fingerprint.still_holds());
        }

        #[test]
        fn any_text_is_read_without_trouble(text in ".*") {
            let _ = Fingerprint::lines_hold(&text);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_no_utf8_is_kept() {
        use std::os::unix::ffi::OsStringExt as _;
        let path = PathBuf::from(OsString::from_vec(b"/a\xff\n\\b".to_vec()));
        let fingerprint = Fingerprint::of([&path]);
        assert_eq!(Fingerprint::from_lines(&fingerprint.to_lines()), Some(fingerprint));
    }

    #[test]
    fn what_is_on_disk_holds_until_it_changes() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let file = dir.path().join("file");
        std::fs::write(&file, "1").expect("writes");
        let lines = Fingerprint::of([dir.path(), &file]).to_lines();
        assert!(Fingerprint::lines_hold(&lines));
        std::fs::write(&file, "2").expect("writes");
        assert!(!Fingerprint::lines_hold(&lines));
        assert!(!Fingerprint::lines_hold("nonsense"));
    }
}

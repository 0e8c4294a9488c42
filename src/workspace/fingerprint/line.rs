//! A fingerprint as lines of text that are checked as they are read: what a hook does at every
//! event must cost little beside the `stat` calls themselves.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

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
        let mut inputs = Vec::new();
        let mut base: Option<Cow<'_, Path>> = None;
        for line in Lines(text.as_bytes()) {
            match line? {
                Line::Base(folder) => base = folder,
                Line::Input(state, path) => {
                    let path = match &base {
                        None => path.into_owned(),
                        Some(base) => base.join(&path),
                    };
                    inputs.push((path.into_os_string(), state));
                }
            }
        }
        Some(Self { inputs: inputs.into_iter().collect() })
    }

    /// Whether the fingerprint that `text` holds still holds: as [`Fingerprint::still_holds`],
    /// without building it. Text that can't be understood does not hold.
    pub fn lines_hold(text: &str) -> bool {
        let mut folder: Option<Cow<'_, Path>> = None;
        let mut lines = Lines(text.as_bytes());
        loop {
            let base = folder.as_deref().map(Base::new);
            // Until the next folder.
            let next = loop {
                let (state, path) = match lines.next() {
                    None => return true,
                    Some(None) => return false,
                    Some(Some(Line::Base(next))) => break next,
                    Some(Some(Line::Input(state, path))) => (state, path),
                };
                let holds = match &base {
                    None => state.agrees(Seen::at(&path), || path.to_path_buf()),
                    Some(base) => state.agrees(base.seen(&path), || base.path().join(&path)),
                };
                if !holds {
                    return false;
                }
            };
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

/// `path` as it is looked up in `base`; `None` where that would not be the same, letter by letter.
fn inside<'a>(base: &Path, path: &'a Path) -> Option<&'a Path> {
    let rest = path.to_str()?.strip_prefix(base.to_str()?)?;
    let rest = rest.strip_prefix(std::path::MAIN_SEPARATOR)?;
    let relative = !rest.is_empty() && !Path::new(rest).has_root();
    relative.then_some(Path::new(rest))
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

/// A line as read.
enum Line<'t> {
    /// What the next paths are relative to.
    Base(Option<Cow<'t, Path>>),
    /// A path and what was there.
    Input(State, Cow<'t, Path>),
}

/// What is left of the text. It is gone through once, by hand: with 500 plugins in folders, general
/// tools took a fifth of the time that their `stat` calls take.
struct Lines<'t>(&'t [u8]);

impl<'t> Iterator for Lines<'t> {
    /// `None` inside: a line that can't be understood.
    type Item = Option<Line<'t>>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.0.is_empty()).then(|| self.line())
    }
}

impl<'t> Lines<'t> {
    fn line(&mut self) -> Option<Line<'t>> {
        let kind = self.byte()?;
        if kind == b'@' {
            return match self.byte() {
                Some(b' ') => self.path().map(|folder| Line::Base(Some(folder))),
                Some(b'\n') | None => Some(Line::Base(None)),
                Some(_) => None,
            };
        }
        if self.byte()? != b' ' {
            return None;
        }
        let state = match kind {
            b'm' => State::Missing,
            b'u' => State::Unreadable,
            b'o' => State::Other,
            b'x' => State::Unsure,
            b'f' => State::File(self.stat()?, None),
            b'F' => State::File(self.stat()?, Some(self.hash()?)),
            b'd' => State::Folder(Some(self.stat()?), self.hash()?),
            b'D' => State::Folder(None, self.hash()?),
            _ => return None,
        };
        Some(Line::Input(state, self.path()?))
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn stat(&mut self) -> Option<Stat> {
        Some(Stat {
            length: self.number()?,
            mtime: self.signed()?,
            ctime: self.signed()?,
            inode: self.number()?,
            device: self.number()?,
        })
    }

    /// Digits and a space.
    fn number(&mut self) -> Option<u64> {
        let mut value: u64 = 0;
        let mut digits = 0;
        loop {
            match self.byte()? {
                digit @ b'0'..=b'9' => {
                    value = value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
                    digits += 1;
                }
                b' ' => return (digits > 0).then_some(value),
                _ => return None,
            }
        }
    }

    fn signed(&mut self) -> Option<i64> {
        if self.0.first() == Some(&b'-') {
            self.byte();
            return 0i64.checked_sub_unsigned(self.number()?);
        }
        i64::try_from(self.number()?).ok()
    }

    /// 64 digits and a space.
    fn hash(&mut self) -> Option<Hash> {
        let mut hash = [0; 4];
        for word in &mut hash {
            for _ in 0..16 {
                let digit = char::from(self.byte()?).to_digit(16)?;
                *word = (*word << 4) | u64::from(digit);
            }
        }
        (self.byte()? == b' ').then_some(hash)
    }

    /// The rest of the line.
    fn path(&mut self) -> Option<Cow<'t, Path>> {
        let end = self.0.iter().position(|byte| *byte == b'\n');
        let (path, rest) = match end {
            Some(end) => (&self.0[..end], &self.0[end + 1..]),
            None => (self.0, &[][..]),
        };
        self.0 = rest;
        read_path(std::str::from_utf8(path).ok()?)
    }
}

fn read_path(text: &str) -> Option<Cow<'_, Path>> {
    if !text.contains('\\') {
        return Some(Cow::Borrowed(Path::new(text)));
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
    os_string(bytes).map(|path| Cow::Owned(PathBuf::from(path)))
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

//! A fingerprint as lines of text that are checked as they are read: what a hook does at every
//! event must cost little beside the `stat` calls themselves.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use super::seen::{Base, Seen};
use super::{Fingerprint, Hash, Stat, State};

/// Neighbours for which it pays to open their folder.
const ENOUGH: usize = 8;
/// The same where a folder above is open already.
const ENOUGH_BELOW: usize = 32;

impl Fingerprint {
    /// The fingerprint as text: a line for each path, without a line break at the end. Where many
    /// paths are near each other, a line `@ FOLDER` comes before them and they are relative to it;
    /// `@` alone ends that.
    pub fn to_lines(&self) -> String {
        // What is no UTF-8 is beside nothing.
        let paths: Vec<Option<&str>> = self.inputs.keys().map(|path| path.to_str()).collect();
        let mut text = String::with_capacity(paths.len() * 80);
        let mut base: Option<&str> = None;
        let mut looked_at: Option<&str> = None;
        let mut device = 0;
        for (index, (name, state)) in self.inputs.iter().enumerate() {
            let rest = paths.get(index..).unwrap_or_default();
            let path = rest.first().copied().flatten();
            let above = path.and_then(folder_of).and_then(folder_of);
            let next = if base.zip(path).and_then(|(base, path)| inside(base, path)).is_none() {
                shared_folder(rest, ENOUGH)
            } else if above == looked_at {
                base
            } else {
                // Each name on the way costs as much as the last one.
                let below = |folder: &&str| base.is_some_and(|base| inside(base, folder).is_some());
                shared_folder(rest, ENOUGH_BELOW).filter(below).or(base)
            };
            looked_at = above;
            if next != base {
                start_line(&mut text);
                text.push('@');
                if let Some(folder) = next {
                    text.push(' ');
                    write_plain(&mut text, folder);
                }
                base = next;
            }
            start_line(&mut text);
            write_state(&mut text, state, &mut device);
            match path {
                Some(path) => {
                    let inside = base.and_then(|base| inside(base, path));
                    write_plain(&mut text, inside.unwrap_or(path));
                }
                None => write_escaped(&mut text, name.as_encoded_bytes()),
            }
        }
        text
    }

    /// Reads the text back; `None` when it is not [`Fingerprint::to_lines`]' work.
    pub fn from_lines(text: &str) -> Option<Self> {
        let mut inputs = Vec::new();
        let mut base: Option<Cow<'_, Path>> = None;
        for line in Lines::of(text) {
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
        let mut lines = Lines::of(text);
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
/// `enough` of them.
fn shared_folder<'a>(paths: &[Option<&'a str>], enough: usize) -> Option<&'a str> {
    let folder = paths.first().copied().flatten().and_then(folder_of)?;
    let shared = |folder: &&str| {
        let together = paths.get(..enough).unwrap_or_default();
        let is_in = |path: &Option<&str>| path.is_some_and(|path| inside(folder, path).is_some());
        // The last one tells it, mostly.
        together.last().is_some_and(is_in) && together.iter().all(is_in)
    };
    [Some(folder), folder_of(folder)].into_iter().flatten().find(shared)
}

/// What is before the last name, if that is a folder with a name, spelt as usual.
fn folder_of(path: &str) -> Option<&str> {
    let (folder, _) = path.rsplit_once(MAIN_SEPARATOR)?;
    let usual = folder.contains(MAIN_SEPARATOR) && !folder.ends_with(MAIN_SEPARATOR);
    usual.then_some(folder)
}

/// `path` as it is looked up in `base`; `None` where that would not be the same, letter by letter.
fn inside<'a>(base: &str, path: &'a str) -> Option<&'a str> {
    let rest = path.strip_prefix(base)?.strip_prefix(MAIN_SEPARATOR)?;
    (!rest.is_empty() && !rest.starts_with(std::path::is_separator)).then_some(rest)
}

/// The state and a space. `device` is that of the line before.
fn write_state(text: &mut String, state: &State, device: &mut u64) {
    let (kind, stat, hash) = match state {
        State::Missing => ('m', None, None),
        State::Unreadable => ('u', None, None),
        State::Other => ('o', None, None),
        State::Unsure => ('x', None, None),
        State::File(stat, None) => ('f', Some(stat), None),
        State::File(stat, Some(hash)) => ('F', Some(stat), Some(hash)),
        State::Folder(Some(stat), hash) => ('d', Some(stat), Some(hash)),
        State::Folder(None, hash) => ('D', None, Some(hash)),
    };
    text.push(kind);
    text.push(' ');
    if let Some(stat) = stat {
        write_stat(text, stat, device);
    }
    for word in hash.into_iter().flatten() {
        let _ = write!(text, "{word:016x}");
    }
    if hash.is_some() {
        text.push(' ');
    }
}

/// A ctime that is the mtime, and a device that is that of the line before, are not written again.
fn write_stat(text: &mut String, stat: &Stat, last_device: &mut u64) {
    let Stat { length, mtime, ctime, inode, device } = stat;
    let _ = write!(text, "{length} {mtime} ");
    let _ = if ctime == mtime { write!(text, "= ") } else { write!(text, "{ctime} ") };
    let _ = write!(text, "{inode} ");
    let _ = if device == last_device { write!(text, "= ") } else { write!(text, "{device} ") };
    *last_device = *device;
}

/// A path that is read back as it is: its length in bytes, a space, and itself.
fn write_plain(text: &mut String, path: &str) {
    let _ = write!(text, "{} ", path.len());
    text.push_str(path);
}

/// Any other: what might not be read back so is a backslash and two digits, and a backslash stands
/// behind the length.
fn write_escaped(text: &mut String, path: &[u8]) {
    let mut escaped = String::new();
    for byte in path {
        if byte.is_ascii() && *byte != b'\\' {
            escaped.push(char::from(*byte));
        } else {
            let _ = write!(escaped, "\\{byte:02x}");
        }
    }
    let _ = write!(text, "{}\\{escaped}", escaped.len());
}

/// A line as read.
enum Line<'t> {
    /// What the next paths are relative to.
    Base(Option<Cow<'t, Path>>),
    /// A path and what was there.
    Input(State, Cow<'t, Path>),
}

/// The text, read. It is gone through once, by hand: with 500 plugins in folders, general tools took
/// a fifth of the time that their `stat` calls take.
struct Lines<'t> {
    rest: &'t [u8],
    /// Of the line before.
    device: u64,
}

impl<'t> Iterator for Lines<'t> {
    /// `None` inside: a line that can't be understood.
    type Item = Option<Line<'t>>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.rest.is_empty()).then(|| self.line())
    }
}

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Self {
        Self { rest: text.as_bytes(), device: 0 }
    }

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
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn stat(&mut self) -> Option<Stat> {
        let length = self.number()?;
        let mtime = self.signed()?;
        let ctime = if self.is_same() { mtime } else { self.signed()? };
        let inode = self.number()?;
        if !self.is_same() {
            self.device = self.number()?;
        }
        Some(Stat { length, mtime, ctime, inode, device: self.device })
    }

    /// Whether this field says that it is like another.
    fn is_same(&mut self) -> bool {
        let rest = self.rest.strip_prefix(b"= ");
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Digits, and what stands behind them. No number of ours is too large; of another, whatever
    /// comes of it is no more wrong than the text.
    fn digits(&mut self) -> Option<(u64, u8)> {
        let mut value: u64 = 0;
        for (index, byte) in self.rest.iter().enumerate() {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                self.rest = &self.rest[index + 1..];
                return (index > 0).then_some((value, *byte));
            }
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        }
        None
    }

    /// Digits and a space.
    fn number(&mut self) -> Option<u64> {
        self.digits().filter(|(_, end)| *end == b' ').map(|(value, _)| value)
    }

    fn signed(&mut self) -> Option<i64> {
        if self.rest.first() == Some(&b'-') {
            self.byte();
            return Some(0i64.wrapping_sub_unsigned(self.number()?));
        }
        Some(self.number()?.cast_signed())
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

    /// A path, and the end of the line.
    fn path(&mut self) -> Option<Cow<'t, Path>> {
        let (length, mark) = self.digits()?;
        let (path, rest) = self.rest.split_at_checked(usize::try_from(length).ok()?)?;
        self.rest = match rest {
            [] => rest,
            [b'\n', rest @ ..] => rest,
            _ => return None,
        };
        match mark {
            b' ' => plain_path(path).map(Cow::Borrowed),
            b'\\' => escaped_path(path).map(Cow::Owned),
            _ => None,
        }
    }
}

#[cfg(unix)]
fn plain_path(bytes: &[u8]) -> Option<&Path> {
    use std::os::unix::ffi::OsStrExt as _;
    Some(Path::new(std::ffi::OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn plain_path(bytes: &[u8]) -> Option<&Path> {
    std::str::from_utf8(bytes).ok().map(Path::new)
}

fn escaped_path(mut text: &[u8]) -> Option<PathBuf> {
    let mut bytes = Vec::with_capacity(text.len());
    while let Some((first, after)) = text.split_first() {
        if *first == b'\\' {
            let code = std::str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(code, 16).ok()?);
            text = &after[2..];
        } else {
            bytes.push(*first);
            text = after;
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

    #[test]
    fn many_neighbours_are_looked_up_in_their_own_folder() {
        let plugins = (0..40).map(|number| format!("/home/.symposium/plugins/p{number}/S.toml"));
        let others = (0..9).map(|number| format!("/home/.symposium/{number}"));
        let paths = plugins.chain(others).chain(["/home/.symposium/z".to_owned()]);
        let inputs = paths.map(|path| (OsString::from(path), State::Missing)).collect();
        let text = Fingerprint { inputs }.to_lines();
        let bases: Vec<&str> = text.lines().filter(|line| line.starts_with('@')).collect();
        assert_eq!(bases, ["@ 16 /home/.symposium", "@ 24 /home/.symposium/plugins", "@"]);
        assert!(text.contains("\nm 9 p0/S.toml\n"), "{text}");
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

//! A fingerprint as it is kept in a file, in bytes that are compared with the disk as they are read.
//!
//! Where many paths are near each other they are kept relative to their folder, which is then opened
//! once for all of them.

use std::path::{MAIN_SEPARATOR, Path};

use serde::{Deserialize, Serialize};

use super::stat::Base;
use super::{FileState, Fingerprint, Stat};

/// Neighbours for which it pays to open their folder.
const ENOUGH: usize = 8;
/// The same where a folder above is open already.
const ENOUGH_BELOW: usize = 32;

/// What stands before neighbours, which are sorted.
#[derive(Serialize, Deserialize)]
struct Group<'a> {
    /// What the paths are relative to; empty where they are whole.
    #[serde(borrow)]
    folder: &'a [u8],
    /// How many neighbours follow.
    len: usize,
}

/// One of the neighbours: its path and what was there.
type Input<'a> = (&'a [u8], FileState);

/// A [`Stat`]: five numbers of eight bytes, the lowest byte first. An event compares hundreds: read byte by
/// byte, as serde reads arrays and postcard numbers, they and the hashes took a sixth of the time that our
/// own code takes in a workspace of 40 members.
#[derive(Serialize, Deserialize)]
pub(super) struct StatBytes(#[serde(with = "bytes")] [u8; 40]);

impl From<Stat> for StatBytes {
    fn from(stat: Stat) -> Self {
        let Stat { length, mtime, ctime, inode, device } = stat;
        let mut bytes = [0; 40];
        let numbers = [length, mtime.cast_unsigned(), ctime.cast_unsigned(), inode, device];
        for (eight, number) in bytes.as_chunks_mut().0.iter_mut().zip(numbers) {
            *eight = number.to_le_bytes();
        }
        Self(bytes)
    }
}

impl From<StatBytes> for Stat {
    fn from(StatBytes(bytes): StatBytes) -> Self {
        let eights = bytes.as_chunks().0;
        let number = |index| eights.get(index).map_or(0, |eight| u64::from_le_bytes(*eight));
        Self {
            length: number(0),
            mtime: number(1).cast_signed(),
            ctime: number(2).cast_signed(),
            inode: number(3),
            device: number(4),
        }
    }
}

/// Bytes that are taken as one, where serde would read an array byte by byte.
pub(super) mod bytes {
    use serde::de::{Deserialize as _, Deserializer, Error as _};
    use serde::ser::Serializer;

    pub(in super::super) fn serialize<S: Serializer, const N: usize>(
        bytes: &[u8; N],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>, const N: usize>(
        deserializer: D,
    ) -> Result<[u8; N], D::Error> {
        let bytes = <&[u8]>::deserialize(deserializer)?;
        bytes
            .try_into()
            .map_err(|_| D::Error::invalid_length(bytes.len(), &"as many bytes as the type has"))
    }
}

impl Fingerprint {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut groups: Vec<(&[u8], Vec<Input<'_>>)> = Vec::new();
        for (base, path, state) in self.by_folder() {
            let (folder, path) = match base {
                Some(folder) => (folder.as_bytes(), path.get(folder.len() + 1..)),
                None => (&[][..], Some(path)),
            };
            if groups.last().is_none_or(|(last, _)| *last != folder) {
                groups.push((folder, Vec::new()));
            }
            if let Some(((_, inputs), path)) = groups.last_mut().zip(path) {
                inputs.push((path, state.clone()));
            }
        }
        let mut bytes = appended(Vec::new(), &groups.len());
        for (folder, inputs) in groups {
            bytes = appended(bytes, &Group { folder, len: inputs.len() });
            bytes = inputs.iter().fold(bytes, appended);
        }
        bytes
    }

    /// Each path with the folder that it is looked up in, if that is not the root.
    fn by_folder(&self) -> Vec<(Option<&str>, &[u8], &FileState)> {
        // What is no UTF-8 is beside nothing.
        let paths: Vec<Option<&str>> = self.inputs.keys().map(|path| path.to_str()).collect();
        let mut base: Option<&str> = None;
        let mut looked_at: Option<&str> = None;
        let mut all = Vec::with_capacity(paths.len());
        for (index, (name, state)) in self.inputs.iter().enumerate() {
            let rest = paths.get(index..).unwrap_or_default();
            let path = rest.first().copied().flatten();
            let above = path.and_then(folder_of).and_then(folder_of);
            if !base.zip(path).is_some_and(|(base, path)| is_inside(base, path)) {
                base = shared_folder(rest, ENOUGH);
            } else if above != looked_at {
                // Each name on the way costs as much as the last one.
                let below = |folder: &&str| base.is_some_and(|base| is_inside(base, folder));
                base = shared_folder(rest, ENOUGH_BELOW).filter(below).or(base);
            }
            looked_at = above;
            all.push((base, name.as_encoded_bytes(), state));
        }
        all
    }

    /// Reads the bytes back; `None` when they are not [`Fingerprint::to_bytes`]' work.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut inputs = super::Inputs::new();
        every_input(
            bytes,
            |folder| folder,
            |folder, path, state| {
                inputs.insert(folder.join(path).into_os_string(), state);
                true
            },
        )?;
        Some(Self { inputs })
    }

    /// Whether every path is what it was when the fingerprint was taken that is kept in `bytes`. Costs
    /// one `stat` call a path, and the reading of a file only when it was racy; stops at the first
    /// change. Bytes that can't be understood are no fingerprint of what is there.
    pub(crate) fn is_current(bytes: &[u8]) -> bool {
        let is_as_it_was = |base: &Base<'_>, path: &Path, state: FileState| {
            state.matches(base.stat(path), || base.join(path))
        };
        every_input(bytes, Base::new, is_as_it_was).unwrap_or(false)
    }
}

fn appended<T: Serialize>(bytes: Vec<u8>, value: &T) -> Vec<u8> {
    // Neither sequences of unknown length nor maps are in it: the only reasons to fail.
    postcard::to_extend(value, bytes).unwrap_or_default()
}

/// Whether `fits` holds for every input in `bytes`. It is asked as each is read, with what `base` made of the
/// input's folder, so that hundreds of inputs take no memory. `None` when the bytes are no fingerprint.
fn every_input<'a, B>(
    bytes: &'a [u8],
    base: impl Fn(&'a Path) -> B,
    mut fits: impl FnMut(&B, &'a Path, FileState) -> bool,
) -> Option<bool> {
    let (groups, mut rest) = postcard::take_from_bytes::<usize>(bytes).ok()?;
    for _ in 0..groups {
        let (group, after) = postcard::take_from_bytes::<Group<'_>>(rest).ok()?;
        rest = after;
        let base = base(path_of(group.folder)?);
        for _ in 0..group.len {
            let ((path, state), after) = postcard::take_from_bytes::<Input<'_>>(rest).ok()?;
            rest = after;
            if !fits(&base, path_of(path)?, state) {
                return Some(false);
            }
        }
    }
    Some(true)
}

/// The folder that the first paths, sorted, are looked up in: theirs, or the one above, if there are
/// `enough` of them.
fn shared_folder<'a>(paths: &[Option<&'a str>], enough: usize) -> Option<&'a str> {
    let folder = paths.first().copied().flatten().and_then(folder_of)?;
    let shared = |folder: &&str| {
        let together = paths.get(..enough).unwrap_or_default();
        let is_in = |path: &Option<&str>| path.is_some_and(|path| is_inside(folder, path));
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

/// Whether `path` is looked up in `base` as what comes behind it, letter by letter.
fn is_inside(base: &str, path: &str) -> bool {
    let rest = path.strip_prefix(base).and_then(|rest| rest.strip_prefix(MAIN_SEPARATOR));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with(std::path::is_separator))
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> Option<&Path> {
    use std::os::unix::ffi::OsStrExt as _;
    Some(Path::new(std::ffi::OsStr::from_bytes(bytes)))
}

/// A name that is no Unicode is not remembered: the fingerprint is never current.
#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> Option<&Path> {
    std::str::from_utf8(bytes).ok().map(Path::new)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use proptest::prelude::*;

    use super::super::{Hash, Stat};
    use super::*;

    fn stat() -> impl Strategy<Value = Stat> {
        (any::<u64>(), any::<i64>(), any::<i64>(), any::<u64>(), any::<u64>()).prop_map(
            |(length, mtime, ctime, inode, device)| Stat { length, mtime, ctime, inode, device },
        )
    }

    fn state() -> impl Strategy<Value = FileState> {
        let hash = any::<[u8; 32]>().prop_map(Hash);
        prop_oneof![
            Just(FileState::Missing),
            Just(FileState::Unreadable),
            Just(FileState::Other),
            Just(FileState::Unsure),
            (stat(), proptest::option::of(hash.clone()))
                .prop_map(|(stat, hash)| FileState::File(stat, hash)),
            (proptest::option::of(stat()), hash)
                .prop_map(|(stat, hash)| FileState::Folder(stat, hash)),
        ]
    }

    proptest! {
        #[test]
        fn bytes_say_what_the_fingerprint_says(
            inputs in proptest::collection::btree_map("(/[a-c]){0,3}/[^\0]{1,8}", state(), 0..40)
        ) {
            let inputs = inputs.into_iter().map(|(path, state)| (OsString::from(path), state));
            let fingerprint = Fingerprint { inputs: inputs.collect() };
            let bytes = fingerprint.to_bytes();
            prop_assert_eq!(Fingerprint::from_bytes(&bytes), Some(fingerprint.clone()));
            let is_current = fingerprint
                .inputs
                .iter()
                .all(|(path, state)| state.matches(super::super::Found::at(Path::new(path)), || path.into()));
            prop_assert_eq!(Fingerprint::is_current(&bytes), is_current);
        }

        #[test]
        fn any_bytes_are_read_without_trouble(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Fingerprint::is_current(&bytes);
        }
    }

    #[test]
    fn many_neighbours_are_looked_up_in_their_own_folder() {
        let native = |path: String| path.replace('/', std::path::MAIN_SEPARATOR_STR);
        let plugins = (0..40).map(|number| format!("/home/.symposium/plugins/p{number}/S.toml"));
        let others = (0..9).map(|number| format!("/home/.symposium/{number}"));
        let paths = plugins.chain(others).chain(["/home/.symposium/z".to_owned()]).map(native);
        let inputs = paths.map(|path| (OsString::from(path), FileState::Missing)).collect();
        let bytes = Fingerprint { inputs }.to_bytes();
        let folders = std::cell::RefCell::new(Vec::new());
        let mut first = None;
        let read = every_input(
            &bytes,
            |folder| {
                folders.borrow_mut().push(folder);
                folder
            },
            |folder, path, _| {
                if path == Path::new(&native("p0/S.toml".to_owned())) {
                    first = Some(*folder);
                }
                true
            },
        );
        assert_eq!(read, Some(true));
        let expected = ["/home/.symposium", "/home/.symposium/plugins", ""];
        let expected = expected.map(|folder| native(folder.to_owned()));
        assert_eq!(folders.into_inner(), expected.each_ref().map(Path::new));
        assert_eq!(first, Some(Path::new(&expected[1])));
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_no_utf8_is_kept() {
        use std::os::unix::ffi::OsStringExt as _;
        let path = std::path::PathBuf::from(OsString::from_vec(b"/a\xff\n\\b".to_vec()));
        let fingerprint = Fingerprint::of([&path]);
        assert_eq!(Fingerprint::from_bytes(&fingerprint.to_bytes()), Some(fingerprint));
    }

    #[test]
    fn what_is_on_disk_is_current_until_it_changes() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let file = dir.path().join("file");
        std::fs::write(&file, "1").expect("writes");
        let bytes = Fingerprint::of([dir.path(), &file]).to_bytes();
        assert!(Fingerprint::is_current(&bytes));
        std::fs::write(&file, "2").expect("writes");
        assert!(!Fingerprint::is_current(&bytes));
        assert!(!Fingerprint::is_current(b"nonsense"));
        assert!(!Fingerprint::is_current(b""));
    }
}

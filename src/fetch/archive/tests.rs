use std::io::Cursor;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;

/// One member of a hand-made archive, whose name is written into the header unchecked.
fn header(name: &str, kind: EntryType, size: u64, mode: u32) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.as_gnu_mut().expect("a GNU header").name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(mode);
    header.set_cksum();
    header
}

fn archive(members: &[(&str, EntryType, &[u8], u32)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, kind, bytes, mode) in members {
        let header = header(name, *kind, bytes.len() as u64, *mode);
        builder.append(&header, *bytes).expect("appends");
    }
    builder.into_inner().expect("finishes")
}

fn link(name: &str, kind: EntryType, target: &str) -> tar::Header {
    let mut header = header(name, kind, 0, 0o777);
    header.set_link_name_literal(target).expect("a short target");
    header.set_cksum();
    header
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("compresses");
    encoder.finish().expect("finishes")
}

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a temporary folder") }
    }

    fn target(&self) -> PathBuf {
        self.dir.path().join("in/out")
    }

    fn unpack(&self, bytes: &[u8], limits: &Limits) -> Result<Unpacked, ArchiveError> {
        unpack(Cursor::new(bytes), Format::Tar, &self.target(), Layout::AsIs, limits)
    }

    /// The archive is refused and not a trace of it is left.
    fn refused(&self, bytes: &[u8], limits: &Limits) -> String {
        let error = self.unpack(bytes, limits).expect_err("must be refused");
        assert!(!self.target().exists());
        let left: Vec<_> = fs::read_dir(self.dir.path().join("in")).expect("reads").collect();
        assert!(left.is_empty(), "{left:?}");
        error.to_string()
    }
}

const FILE: EntryType = EntryType::Regular;

#[test]
fn a_crate_is_unpacked_below_its_folder_with_plain_modes() {
    let place = Place::new();
    let bytes = gzip(&archive(&[
        ("a-1.0.0/Cargo.toml", FILE, b"[package]", 0o100_644),
        ("a-1.0.0/run.sh", FILE, b"#!", 0o104_755),
        ("a-1.0.0/deep/er/x", FILE, b"x", 0o600),
    ]));
    let done = unpack(
        Cursor::new(bytes),
        Format::TarGz,
        &place.target(),
        Layout::InFolder("a-1.0.0"),
        &Limits::default(),
    )
    .expect("unpacks");
    assert_eq!(done, Unpacked { files: 3, bytes: 12, skipped: 0 });
    assert_eq!(fs::read(place.target().join("Cargo.toml")).expect("reads"), b"[package]");
    assert_eq!(fs::read(place.target().join("deep/er/x")).expect("reads"), b"x");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |name: &str| {
            fs::metadata(place.target().join(name)).expect("is there").permissions().mode() & 0o7777
        };
        assert_eq!((mode("run.sh"), mode("Cargo.toml"), mode("deep/er/x")), (0o755, 0o644, 0o644));
    }
}

#[test]
fn a_member_beside_the_folder_is_refused() {
    let place = Place::new();
    let bytes = archive(&[("b-1.0.0/x", FILE, b"", 0o644)]);
    let error = unpack(
        Cursor::new(bytes),
        Format::Tar,
        &place.target(),
        Layout::InFolder("a-1.0.0"),
        &Limits::default(),
    );
    assert!(matches!(error, Err(ArchiveError::Misplaced { .. })), "{error:?}");
}

#[test]
fn case_84_names_that_lead_out_refuse_the_whole_archive() {
    for name in ["../evil", "a/../../evil", "/tmp/evil", "a\\..\\evil", "C:/evil", "a/.."] {
        let place = Place::new();
        let bytes = archive(&[("good", FILE, b"good", 0o644), (name, FILE, b"evil", 0o644)]);
        let error = place.refused(&bytes, &Limits::default());
        assert!(error.contains("leads out"), "{name}: {error}");
    }
}

#[test]
fn case_84_a_long_name_that_leads_out_is_refused_too() {
    for kind in [EntryType::GNULongName, EntryType::XHeader] {
        let path = format!("{}/../../../evil", "a".repeat(120));
        let extension = match kind {
            EntryType::GNULongName => format!("{path}\0"),
            _ => {
                let record = format!(" path={path}\n");
                let length = record.len() + 3;
                format!("{length}{record}")
            }
        };
        let bytes = archive(&[
            ("././@LongLink", kind, extension.as_bytes(), 0o644),
            ("harmless", FILE, b"evil", 0o644),
        ]);
        let error = Place::new().refused(&bytes, &Limits::default());
        assert!(error.contains("leads out"), "{error}");
    }
}

#[test]
fn long_names_are_read() {
    let place = Place::new();
    let path = format!("{}/{}", "d".repeat(90), "f".repeat(90));
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(1);
    builder.append_data(&mut header, &path, &b"x"[..]).expect("appends");
    let bytes = builder.into_inner().expect("finishes");
    place.unpack(&bytes, &Limits::default()).expect("unpacks");
    assert!(place.target().join(path).is_file());
}

#[test]
fn case_84_links_are_left_out_and_never_written_through() {
    let place = Place::new();
    let outside = place.dir.path().join("outside");
    fs::create_dir(&outside).expect("creates");
    let mut builder = tar::Builder::new(Vec::new());
    let to = outside.to_str().expect("text");
    builder.append(&link("link", EntryType::Symlink, to), &b""[..]).expect("appends");
    builder.append(&header("link/x", FILE, 1, 0o644), &b"x"[..]).expect("appends");
    builder.append(&link("hard", EntryType::Link, "/etc/passwd"), &b""[..]).expect("appends");
    builder.append(&link("dev", EntryType::Char, ""), &b""[..]).expect("appends");
    let bytes = builder.into_inner().expect("finishes");
    let done = place.unpack(&bytes, &Limits::default()).expect("unpacks");
    assert_eq!(done, Unpacked { files: 1, bytes: 1, skipped: 3 });
    assert!(fs::read_dir(&outside).expect("reads").next().is_none());
    assert!(place.target().join("link/x").is_file());
    assert!(!place.target().join("hard").exists());
}

/// A reader of a million members, made as they are read.
struct Headers {
    left: usize,
    block: Vec<u8>,
    at: usize,
}

impl Read for Headers {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.block.len() {
            if self.left == 0 {
                return Ok(0);
            }
            self.left -= 1;
            self.at = 0;
        }
        let count = buffer.len().min(self.block.len() - self.at);
        buffer[..count].copy_from_slice(&self.block[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

#[test]
fn case_84_a_million_members_are_refused_early() {
    for kind in [FILE, EntryType::Directory, EntryType::Symlink] {
        let place = Place::new();
        let block = header("same", kind, 0, 0o644).as_bytes().to_vec();
        let reader = Headers { left: 1_000_000, at: block.len(), block };
        let limits = Limits { files: 100, ..Limits::default() };
        let error = unpack(reader, Format::Tar, &place.target(), Layout::AsIs, &limits)
            .expect_err("must be refused");
        assert!(error.to_string().contains("more than 100 files"), "{error}");
        assert!(!place.target().exists());
    }
}

#[test]
fn case_84_a_gigabyte_of_zeros_is_refused_before_it_is_read() {
    let place = Place::new();
    let mut bytes = header("zeros", FILE, 1_000_000_000, 0o644).as_bytes().to_vec();
    bytes.resize(4096, 0);
    let error = place.refused(&bytes, &Limits::default());
    assert!(error.contains("more than 20 MB in one file"), "{error}");
}

#[test]
fn case_94_many_files_below_the_limit_are_counted_together() {
    let place = Place::new();
    let limits = Limits { files: 10, total: 25, file: 10 };
    let bytes = archive(&[
        ("a", FILE, b"0123456789", 0o644),
        ("b", FILE, b"0123456789", 0o644),
        ("c", FILE, b"0123456789", 0o644),
    ]);
    let error = place.refused(&bytes, &limits);
    assert!(error.contains("more than 25 bytes in all"), "{error}");
}

#[test]
fn a_header_extension_cannot_fill_the_memory() {
    let place = Place::new();
    let long = vec![b'a'; 200_000];
    let bytes = archive(&[("L", EntryType::GNULongName, &long, 0o644), ("x", FILE, b"", 0o644)]);
    assert!(place.refused(&bytes, &Limits::default()).contains("too long"));
}

#[test]
fn a_broken_archive_leaves_nothing() {
    let place = Place::new();
    let mut bytes = archive(&[("a", FILE, &[1; 2000], 0o644)]);
    bytes.truncate(1000);
    place.refused(&bytes, &Limits::default());
}

#[test]
fn the_checksum_is_compared_in_either_case() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("x");
    fs::write(&path, "abc").expect("writes");
    let sum = "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD";
    assert!(verify_sha256(&path, sum).is_ok());
    assert_eq!(crate::text::sha256_hex(b"abc"), sum.to_lowercase());
    let error = verify_sha256(&path, "00").expect_err("differs");
    assert!(error.to_string().contains("expected 00"), "{error}");
}

#[test]
fn a_name_tells_the_format() {
    assert_eq!(Format::of_name("a-1.0.0.crate"), Some(Format::TarGz));
    assert_eq!(Format::of_name("A.TGZ"), Some(Format::TarGz));
    assert_eq!(Format::of_name("a.tar"), Some(Format::Tar));
    assert_eq!(Format::of_name("a.zip"), None);
}

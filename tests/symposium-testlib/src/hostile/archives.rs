//! Archives that lead out of their folder, or are far larger than they look.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{EntryType, Header};

/// An archive, and what whoever refuses it has to say; nothing where only members are left out.
#[derive(Debug, Clone)]
pub struct Archive {
    /// What is the matter with it.
    pub name: &'static str,
    /// A `.tar.gz`.
    pub bytes: Vec<u8>,
    /// Words of the refusal.
    pub refused: Option<&'static str>,
}

type Pack = fn(&str, &mut Vec<u8>);

/// Every kind, with its members in the folder that is its, as a `.crate` needs it.
pub fn archives(folder: impl Fn(&str) -> String) -> Vec<Archive> {
    let kinds: [(&str, Pack, Option<&str>); 17] = [
        ("parent", |_, out| member(out, "../escaped", b"x"), Some("leads out of it")),
        ("absolute", |_, out| member(out, "/escaped", b"x"), Some("leads out of it")),
        ("drive", |_, out| member(out, "C:/escaped", b"x"), Some("leads out of it")),
        (
            "backslash",
            |at, out| member(out, &format!("{at}/..\\escaped"), b"x"),
            Some("leads out of it"),
        ),
        ("long-name", long_name, Some("leads out of it")),
        ("pax-name", pax_name, Some("leads out of it")),
        ("through-a-link", through_a_link, None),
        ("hard-link", hard_link, None),
        ("devices", devices, None),
        ("odd-names", odd_names, None),
        ("duplicates", duplicates, None),
        ("large-file", large_file, Some("500 MB in one file")),
        ("ratio", ratio, None),
        ("many", many, Some("10000 files")),
        ("many-folders", many_folders, Some("10000 files")),
        ("deep", deep, None),
        ("endless-name", endless_name, Some("header is too long")),
    ];
    let packed = kinds.into_iter().map(|(name, pack, refused)| {
        let mut tar = Vec::new();
        let folder = &folder(name);
        member(
            &mut tar,
            &format!("{folder}/Cargo.toml"),
            b"[package]\nname = \"x\"\nversion = \"1.0.0\"\n",
        );
        pack(folder, &mut tar);
        tar.extend_from_slice(&[0; 1024]);
        Archive { name, bytes: zip(&tar), refused }
    });
    let mut all: Vec<_> = packed.collect();
    let mut half = all[0].bytes.clone();
    half.truncate(half.len() / 2);
    all.push(Archive { name: "half", bytes: half, refused: Some("can't unpack") });
    all
}

fn zip(tar: &[u8]) -> Vec<u8> {
    let mut zip = GzEncoder::new(Vec::new(), Compression::fast());
    zip.write_all(tar).expect("packs");
    zip.finish().expect("packs")
}

/// A header whose name is written as it is: the `tar` crate refuses to write some.
fn header(name: &str, kind: EntryType, size: u64) -> Header {
    let mut header = Header::new_ustar();
    let field = &mut header.as_old_mut().name;
    let length = name.len().min(field.len());
    field[..length].copy_from_slice(&name.as_bytes()[..length]);
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(0o4777);
    header.set_cksum();
    header
}

fn data(out: &mut Vec<u8>, header: &Header, bytes: &[u8]) {
    out.extend_from_slice(header.as_bytes());
    out.extend_from_slice(bytes);
    out.resize(out.len().next_multiple_of(512), 0);
}

fn member(out: &mut Vec<u8>, name: &str, bytes: &[u8]) {
    data(out, &header(name, EntryType::Regular, bytes.len() as u64), bytes);
}

fn link(out: &mut Vec<u8>, name: &str, kind: EntryType, target: &str) {
    let mut header = header(name, kind, 0);
    header.set_link_name_literal(target).expect("a short target");
    header.set_cksum();
    data(out, &header, b"");
}

fn long_name(folder: &str, out: &mut Vec<u8>) {
    let name = format!("{folder}/{}/../../../escaped\0", "x".repeat(200));
    data(out, &header("././@LongLink", EntryType::GNULongName, name.len() as u64), name.as_bytes());
    member(out, &format!("{folder}/harmless"), b"x");
}

fn pax_name(folder: &str, out: &mut Vec<u8>) {
    let record = "22 path=../../escaped\n";
    data(out, &header("pax", EntryType::XHeader, record.len() as u64), record.as_bytes());
    member(out, &format!("{folder}/harmless"), b"x");
}

fn through_a_link(folder: &str, out: &mut Vec<u8>) {
    for (name, target) in
        [("out", "../../../.."), ("etc", "/etc"), ("self", "self"), ("gone", "gone/x")]
    {
        link(out, &format!("{folder}/{name}"), EntryType::Symlink, target);
    }
    member(out, &format!("{folder}/out/escaped"), b"x");
}

fn hard_link(folder: &str, out: &mut Vec<u8>) {
    link(out, &format!("{folder}/passwd"), EntryType::Link, "/etc/passwd");
    member(out, &format!("{folder}/passwd"), b"x");
}

fn devices(folder: &str, out: &mut Vec<u8>) {
    for (name, kind) in
        [("null", EntryType::Char), ("disk", EntryType::Block), ("pipe", EntryType::Fifo)]
    {
        data(out, &header(&format!("{folder}/{name}"), kind, 0), b"");
    }
}

fn odd_names(folder: &str, out: &mut Vec<u8>) {
    for name in super::NAMES.iter().chain(&["", ".", "a//b", "./c", "stream.md:hidden"]) {
        member(out, &format!("{folder}/{name}"), b"x");
    }
    let mut bytes = header(&format!("{folder}/x"), EntryType::Regular, 0);
    bytes.as_old_mut().name[folder.len() + 1] = 0xff;
    bytes.set_cksum();
    data(out, &bytes, b"");
}

/// The second `Cargo.toml` is the one that counts; folders in the place of files, and the reverse, do not
/// end it.
fn duplicates(folder: &str, out: &mut Vec<u8>) {
    member(out, &format!("{folder}/Cargo.toml"), b"[package]\nname = \"x\"\nversion = \"1.0.0\"\n");
    member(out, &format!("{folder}/a"), b"one");
    member(out, &format!("{folder}/A"), b"two");
}

/// It has what the header says, or the reader would find out too late.
fn large_file(folder: &str, out: &mut Vec<u8>) {
    data(out, &header(&format!("{folder}/large"), EntryType::Regular, 7 << 30), b"");
}

/// A thousand times as large as it is in the archive, and within the limits.
fn ratio(folder: &str, out: &mut Vec<u8>) {
    member(out, &format!("{folder}/zeros"), &vec![0; 8_000_000]);
}

fn many(folder: &str, out: &mut Vec<u8>) {
    for number in 0..10_001 {
        data(out, &header(&format!("{folder}/f{number}"), EntryType::Regular, 0), b"");
    }
}

fn many_folders(folder: &str, out: &mut Vec<u8>) {
    for _ in 0..40_001 {
        data(out, &header(&format!("{folder}/d"), EntryType::Directory, 0), b"");
    }
}

fn deep(folder: &str, out: &mut Vec<u8>) {
    let name = format!("{folder}/{}f\0", "d/".repeat(1500));
    data(out, &header("././@LongLink", EntryType::GNULongName, name.len() as u64), name.as_bytes());
    member(out, "short", b"x");
}

fn endless_name(folder: &str, out: &mut Vec<u8>) {
    let name = vec![b'x'; 1_000_000];
    data(out, &header("././@LongLink", EntryType::GNULongName, name.len() as u64), &name);
    member(out, &format!("{folder}/f"), b"x");
}

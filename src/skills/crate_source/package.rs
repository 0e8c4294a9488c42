//! What a `Cargo.toml` says about its package.

use std::path::Path;

use semver::Version;

use crate::files::{Limit, read_source};
use crate::text::toml::{Diagnostics, StringOrTable, read};

/// Name and version of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PackageId {
    pub name: String,
    /// The version; `None` when it has none or inherits it.
    pub version: Option<Version>,
}

/// The package whose manifest is in `dir`; `None` when there is no readable one.
pub(crate) fn package_id(dir: &Path) -> Option<PackageId> {
    let path = dir.join("Cargo.toml");
    let diagnostics = Diagnostics::new(read_source(&path, Limit::CARGO).ok()?);
    read(&diagnostics, |root| {
        let package = root.has("package").then(|| root.table("package")).flatten()?;
        let name = package.string("name")?.value;
        let version = match package.has("version").then(|| package.string_or_table("version")) {
            Some(Some(StringOrTable::String(text))) => Version::parse(&text.value).ok(),
            _ => None,
        };
        Some(PackageId { name, version })
    })?
}

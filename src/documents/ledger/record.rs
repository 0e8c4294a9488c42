//! What a ledger keeps: one record for each thing that we wrote.

use std::path::PathBuf;

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One thing that we wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// For which agent, by its name in the configuration.
    pub agent: String,
    /// The file or folder, absolute.
    pub path: PathBuf,
    /// What of it is ours.
    pub entry: Entry,
}

/// What of a file or folder is ours. Hashes are those of [`super::hash_value`] and its sisters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Entry {
    /// An element of an array.
    #[serde(rename = "array-entry")]
    Element {
        /// Keys that lead to the array.
        array: Vec<String>,
        /// Of the element.
        hash: String,
    },
    /// A member of a table.
    #[serde(rename = "key-entry")]
    Member {
        /// Keys that lead to the table.
        table: Vec<String>,
        /// The member's key.
        key: String,
        /// The keys inside that we wrote, for [`super::Keep::our_keys`].
        keys: Vec<String>,
        /// Of the member's value, without the user's keys.
        hash: String,
    },
    /// The whole file.
    OwnFile {
        /// Of its bytes.
        hash: String,
    },
    /// The folder, as far as it is empty.
    Folder,
    /// A line of an exclude file.
    ExcludeLine {
        /// The line.
        line: String,
    },
    /// A folder that holds an installed skill.
    SkillFolder {
        /// The skill's name.
        name: String,
        /// Of what it was installed from.
        hash: String,
    },
}

impl Entry {
    /// Whether a thing with this hash is as we wrote it; what has no hash always is.
    pub(crate) fn is_unchanged(&self, hash: &str) -> bool {
        match self {
            Self::Element { hash: ours, .. }
            | Self::Member { hash: ours, .. }
            | Self::OwnFile { hash: ours }
            | Self::SkillFolder { hash: ours, .. } => ours == hash,
            Self::Folder | Self::ExcludeLine { .. } => true,
        }
    }
}

impl Record {
    /// What it is about, whatever the content.
    pub(super) fn thing(&self) -> Thing {
        let what = match &self.entry {
            Entry::Element { array, .. } => What::Element(array.clone()),
            Entry::Member { table, key, .. } => What::Member(table.clone(), key.clone()),
            Entry::OwnFile { .. } => What::OwnFile,
            Entry::Folder => What::Folder,
            Entry::ExcludeLine { line } => What::ExcludeLine(line.clone()),
            Entry::SkillFolder { .. } => What::SkillFolder,
        };
        Thing { agent: self.agent.clone(), path: self.path.clone(), what }
    }
}

/// What a record is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Thing {
    agent: String,
    path: PathBuf,
    what: What,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum What {
    Element(Vec<String>),
    Member(Vec<String>, String),
    OwnFile,
    Folder,
    ExcludeLine(String),
    SkillFolder,
}

/// One record a thing, in the order of writing. There may be thousands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Records(pub(super) IndexMap<Thing, Record>);

impl Serialize for Records {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.values())
    }
}

impl<'de> Deserialize<'de> for Records {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let list = Vec::<Record>::deserialize(deserializer)?;
        Ok(Self(list.into_iter().map(|record| (record.thing(), record)).collect()))
    }
}

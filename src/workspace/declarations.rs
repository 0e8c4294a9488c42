//! What members' manifests say of a dependency beside its version: the name they give it, and the
//! features they ask for.
//!
//! Read anew, for commands that people and agents give: hooks need none of it.

use toml::{Table, Value};

use super::Workspace;
use super::reader::read_text;
use crate::files::Limit;

/// A dependency as one member declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Declaration {
    /// The name that the member's code uses: a rename, or the crate's own.
    pub key: String,
    /// The crate.
    pub package: String,
    pub features: Vec<String>,
    pub default_features: bool,
}

impl Workspace {
    /// What the members declare. A manifest that can't be read declares nothing.
    pub(crate) fn declarations(&self) -> Vec<Declaration> {
        let parse = |path: &std::path::Path| {
            let source = read_text(path, Limit::CARGO).ok().flatten()?;
            source.text.parse::<Table>().ok()
        };
        let root = parse(&self.root.join("Cargo.toml")).unwrap_or_default();
        let shared = root.get("workspace").and_then(|it| it.get("dependencies"));
        let shared = shared.and_then(Value::as_table).cloned().unwrap_or_default();
        let mut found = Vec::new();
        for member in &self.members {
            let manifest = parse(&member.dir.join("Cargo.toml")).unwrap_or_default();
            of_tables(&manifest, &shared, &mut found);
            let targets = manifest.get("target").and_then(Value::as_table);
            for target in targets.iter().flat_map(|targets| targets.values()) {
                target.as_table().iter().for_each(|it| of_tables(it, &shared, &mut found));
            }
        }
        found
    }
}

fn of_tables(manifest: &Table, shared: &Table, found: &mut Vec<Declaration>) {
    for (key, value) in manifest {
        // `dev-dependencies` and `build_dependencies` too.
        if key.ends_with("dependencies")
            && let Some(table) = value.as_table()
        {
            found.extend(table.iter().map(|(key, value)| declaration(key, value, shared)));
        }
    }
}

fn declaration(key: &str, value: &Value, shared: &Table) -> Declaration {
    let inherits = value.get("workspace").and_then(Value::as_bool) == Some(true);
    let base = if inherits { shared.get(key) } else { None };
    let package = base.unwrap_or(value).get("package").and_then(Value::as_str).unwrap_or(key);
    let features = [base, Some(value)].into_iter().flatten().filter_map(|it| it.get("features"));
    let features = features.filter_map(Value::as_array).flatten().filter_map(Value::as_str);
    // A member can add them to what it inherits, and not take them away.
    let default = |value: &Value| {
        let flag = value.get("default-features").or_else(|| value.get("default_features"));
        flag.and_then(Value::as_bool)
    };
    let default_features = match base {
        None => default(value).unwrap_or(true),
        Some(base) => default(base).unwrap_or(true) || default(value) == Some(true),
    };
    Declaration {
        key: key.to_owned(),
        package: package.to_owned(),
        features: features.map(str::to_owned).collect(),
        default_features,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::workspace::Member;

    #[test]
    fn renames_features_and_what_is_inherited() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let member = dir.path().join("app");
        fs::create_dir(&member).expect("creates");
        let root = "[workspace.dependencies]\nwide = { version = \"1\", package = \"widget\", features = [\"a\"], default-features = false }\n";
        fs::write(dir.path().join("Cargo.toml"), root).expect("writes");
        let text = "[dependencies]\nwide = { workspace = true, features = [\"b\"] }\n\
             [target.'cfg(unix)'.dev-dependencies]\nplain = \"1\"\n";
        fs::write(member.join("Cargo.toml"), text).expect("writes");
        let member = Member { name: "app".into(), version: None, dir: member, names_us: false };
        let root = dir.path().to_path_buf();
        let workspace = Workspace { root, members: vec![member], ..Workspace::default() };
        let wide = Declaration {
            key: "wide".into(),
            package: "widget".into(),
            features: vec!["a".into(), "b".into()],
            default_features: false,
        };
        let found = workspace.declarations();
        assert_eq!(found[0], wide);
        let plain = &found[1];
        assert_eq!(plain.key, "plain");
        assert!(plain.default_features && plain.features.is_empty());
    }
}

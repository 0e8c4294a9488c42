//! The variables that tell a child where its tools are.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use super::{Acquired, Root};

/// The variables for a child that runs `command` and may use `requirements`, each under its
/// installation's name: `SYMPOSIUM_DIR_<name>`, `SYMPOSIUM_<name>` and a longer `PATH`, in which
/// the command's folder comes first, then the requirements'. `path` is the parent's.
///
/// Of two names that become the same variable the first wins, the command before all.
pub(crate) fn environment(
    command: (&str, &Acquired),
    requirements: &[(String, Acquired)],
    path: Option<&OsStr>,
) -> Vec<(OsString, OsString)> {
    let others = requirements.iter().map(|(name, acquired)| (name.as_str(), acquired));
    let mut seen = BTreeSet::new();
    let mut variables = Vec::new();
    let mut folders: Vec<PathBuf> = Vec::new();
    for (name, acquired) in std::iter::once(command).chain(others) {
        // The user's own programs are on the user's own `PATH`.
        if acquired.root == Root::Global {
            continue;
        }
        let program = acquired.program.as_ref().map(|program| &program.path);
        let values = [("SYMPOSIUM_DIR_", acquired.dir.as_ref()), ("SYMPOSIUM_", program)];
        for (prefix, value) in values {
            let variable = format!("{prefix}{}", variable_name(name));
            if let Some(value) = value
                && seen.insert(variable.clone())
            {
                // Never with a `/` at its end, however the manifest wrote the folder.
                let value: PathBuf = value.components().collect();
                variables.push((variable.into(), value.into_os_string()));
            }
        }
        folders.extend(acquired.path_dir.clone().filter(|folder| !folders.contains(folder)));
    }
    if !folders.is_empty() {
        let parents = path.into_iter().flat_map(std::env::split_paths);
        let whole = folders.iter().cloned().chain(parents);
        match std::env::join_paths(whole) {
            Ok(path) => variables.push(("PATH".into(), path)),
            // A folder with a separator in its name can't be on any PATH.
            Err(error) => tracing::warn!("PATH stays as it is: {error}"),
        }
    }
    variables
}

/// An installation's name as part of a variable's: what is no ASCII letter or digit becomes `_`.
pub(super) fn variable_name(name: &str) -> String {
    name.chars().map(|char| if char.is_ascii_alphanumeric() { char } else { '_' }).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::installations::Invocation;

    fn acquired(dir: Option<&str>, program: Option<&str>) -> Acquired {
        Acquired {
            root: Root::Plugin,
            dir: dir.map(PathBuf::from),
            program: program.map(|path| Invocation {
                path: path.into(),
                is_script: false,
                args: Vec::new(),
            }),
            path_dir: program.and_then(|path| Some(PathBuf::from(path).parent()?.to_path_buf())),
        }
    }

    fn shown(variables: &[(OsString, OsString)]) -> String {
        variables.iter().fold(String::new(), |text, (name, value)| {
            format!("{text}{}={}\n", name.to_string_lossy(), value.to_string_lossy())
        })
    }

    #[test]
    fn a_folder_has_no_slash_at_its_end_however_it_was_written() {
        for written in ["/c/p/tools", "/c/p/tools/", "/c/p/./tools//", "/c/p/tools/."] {
            let variables = environment(("t", &acquired(Some(written), None)), &[], None);
            assert_eq!(shown(&variables), "SYMPOSIUM_DIR_t=/c/p/tools\n", "{written}");
        }
    }

    #[test]
    fn f171_to_f175_command_first_then_the_requirements_in_order() {
        let command = acquired(Some("/c/rtk/1.0"), Some("/c/rtk/1.0/bin/rtk"));
        let requirements = [
            ("on-disk".to_owned(), acquired(None, Some("/usr/local/bin/tool"))),
            ("setup".to_owned(), acquired(None, None)),
            ("same folder".to_owned(), acquired(None, Some("/c/rtk/1.0/bin/other"))),
        ];
        let variables =
            environment(("rtk-hooks", &command), &requirements, Some("/usr/bin:/bin".as_ref()));
        expect_test::expect![[r#"
            SYMPOSIUM_DIR_rtk_hooks=/c/rtk/1.0
            SYMPOSIUM_rtk_hooks=/c/rtk/1.0/bin/rtk
            SYMPOSIUM_on_disk=/usr/local/bin/tool
            SYMPOSIUM_same_folder=/c/rtk/1.0/bin/other
            PATH=/c/rtk/1.0/bin:/usr/local/bin:/usr/bin:/bin
        "#]]
        .assert_eq(&shown(&variables));
    }

    #[test]
    fn f161_global_programs_add_nothing_and_nothing_leaves_path_alone() {
        let mut global = acquired(Some("/x"), Some("/home/u/.cargo/bin/rg"));
        global.root = Root::Global;
        assert!(environment(("rg", &global), &[], Some("/bin".as_ref())).is_empty());
    }

    #[test]
    fn f173_of_two_names_that_look_alike_the_first_wins() {
        let (one, two) = (acquired(Some("/1"), None), acquired(Some("/2"), None));
        let variables = environment(("a-b", &one), &[("a_b".to_owned(), two)], None);
        assert_eq!(shown(&variables), "SYMPOSIUM_DIR_a_b=/1\n");
    }

    #[test]
    fn f173_names_become_variables() {
        let table = [
            ("rtk", "rtk"),
            ("rtk-hooks", "rtk_hooks"),
            ("a.b/c d", "a_b_c_d"),
            ("hook__req_0", "hook__req_0"),
            ("größe", "gr__e"),
            ("9lives", "9lives"),
            ("", ""),
        ];
        for (name, variable) in table {
            assert_eq!(variable_name(name), variable);
        }
    }

    #[test]
    fn no_parent_path_is_no_empty_entry() {
        let command = acquired(None, Some("/t/x"));
        let variables = environment(("x", &command), &[], None);
        assert_eq!(shown(&variables), "SYMPOSIUM_x=/t/x\nPATH=/t\n");
    }
}

//! The ways to users, as commands that work.

use super::Way;
use crate::config::RECOMMENDATIONS_URL;

/// A crate brings its own skills.
pub(super) fn of_crate(name: &str) -> Vec<Way> {
    let commands = [
        "cargo agents plugin validate . --deny warnings",
        "cargo package --list",
        "cargo publish --dry-run",
        "cargo publish",
    ];
    vec![Way {
        title: "With the crate, to everybody who depends on it".to_owned(),
        commands: commands.map(str::to_owned).to_vec(),
        then: format!(
            "They get its skills where a plugin of their sources says `crates = [\"{name}\"]` and \
             `source = \"crate\"`; without one they are asked, or say `cargo agents use {name}`."
        ),
    }]
}

/// A folder of plugins and skills, of which `name` is one.
pub(super) fn of_source(name: &str) -> Vec<Way> {
    let own = [
        "cargo agents plugin validate . --deny warnings",
        "git add .",
        "git commit -m \"Add agent plugins\"",
        "git push",
    ];
    // Beside the folder: what is copied must not hold its own copy.
    let central = [
        format!("git clone {RECOMMENDATIONS_URL} ../recommendations"),
        format!("cp -R . ../recommendations/{name}"),
        format!("cargo agents plugin validate ../recommendations/{name} --deny warnings"),
        format!("git -C ../recommendations add {name}"),
        format!("git -C ../recommendations commit -m \"Add {name}\""),
    ];
    vec![
        Way {
            title: "As a repository of your own, to everybody who adds it".to_owned(),
            commands: own.map(str::to_owned).to_vec(),
            then: "They say `cargo agents plugin add URL`, or have it as `[[plugin-source]] git`."
                .to_owned(),
        },
        Way {
            title: "In the central repository, to everybody".to_owned(),
            commands: central.to_vec(),
            then:
                "Push the commit to a fork of yours and open a pull request. Everybody who has not \
                   switched the recommendations off gets it with the next sync."
                    .to_owned(),
        },
    ]
}

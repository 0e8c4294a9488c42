//! What counts of a file, and what is remembered of it.

use super::*;

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a temporary folder") }
    }

    fn dirs(&self) -> Dirs {
        Dirs::under(&self.dir.path().join("home"))
    }

    fn write(&self, text: &str) {
        std::fs::write(self.dir.path().join(NAME), text).expect("writes");
    }

    fn look(&self) -> Team {
        Team::look(&self.dirs(), self.dir.path(), None)
    }

    fn accept(&self) {
        self.look().accept(&self.dirs()).expect("writes");
    }

    fn in_force(&self) -> Vec<String> {
        self.look().taken().into_iter().map(|it| it.text).collect()
    }
}

const ONE: &str = "[plugins]\nuse = [\"a\"]\n";
const TWO: &str = "[plugins]\nuse = [\"a\", \"b\"]\n";

#[test]
fn a_file_waits_until_it_is_accepted_and_again_when_it_changes() {
    let place = Place::new();
    assert_eq!(place.look().standing, Standing::Nothing);
    place.write(ONE);
    assert_eq!((place.look().standing, place.in_force()), (Standing::Waits, vec![]));
    place.accept();
    assert_eq!((place.look().standing, place.in_force()), (Standing::InForce, vec!["a".into()]));
    place.write(TWO);
    assert_eq!((place.look().standing, place.in_force()), (Standing::Changed, vec!["a".into()]));
    place.look().decline(&place.dirs()).expect("writes");
    assert_eq!((place.look().standing, place.in_force()), (Standing::Declined, vec!["a".into()]));
    place.accept();
    assert_eq!(place.in_force(), ["a", "b"]);
    place.write(ONE);
    assert_eq!(place.look().standing, Standing::InForce, "another branch, known already");
    assert_eq!(place.in_force(), ["a"]);
}

#[test]
fn what_was_accepted_stays_while_the_file_is_broken_or_gone() {
    let place = Place::new();
    place.write(ONE);
    place.accept();
    for (text, line) in [
        ("[plugins", 1),
        ("[plugins]\nuse = 1\n", 2),
        ("\nagents = []\n", 2),
        ("minimum-version = \"2\"\n", 1),
        ("[[plugin-source]]\nname = \"x\"\npath = \"../x\"\n", 3),
        ("[[plugin-source]]\nname = \"x\"\npath = \"~/x\"\n", 3),
        ("[[plugin-source]]\nname = \"x\"\npath = \"/x\"\n", 3),
        ("[[plugin-source]]\nname = \"x\"\n", 2),
        ("[[plugin-source]]\nname = \"builtin\"\npath = \"x\"\n", 1),
    ] {
        place.write(text);
        let team = place.look();
        assert_eq!(team.standing, Standing::Broken, "{text}");
        let location = team.problems[0].location().expect("a place");
        assert_eq!(location.line, Some(line), "{text}: {:?}", team.problems);
        assert!(
            team.problems[0].is_error() && team.problems[0].remedy().is_some()
                || !team.problems[0].remarks.is_empty()
        );
        assert_eq!(place.in_force(), ["a"], "{text}");
    }
    std::fs::remove_file(place.dir.path().join(NAME)).expect("removes");
    assert_eq!((place.look().standing, place.in_force()), (Standing::Gone, vec!["a".into()]));
    place.accept();
    assert_eq!((place.look().standing, place.in_force()), (Standing::Nothing, vec![]));
}

#[test]
fn comments_order_of_keys_and_line_ends_are_no_change() {
    let place = Place::new();
    place.write(&format!("{ONE}disable = [\"c\"]\n"));
    place.accept();
    let hash = place.look().hash().to_owned();
    place.write(&format!("{ONE}disable = [\"c\"]\n").replace('\n', "\r\n"));
    assert_eq!(place.look().hash(), hash);
    place.write("# why\n[plugins]\ndisable = [\"c\"]\nuse = \"a\"\n");
    assert_eq!(place.look().standing, Standing::InForce);
}

#[test]
fn a_file_that_needs_a_newer_program_is_not_taken_whatever_is_in_it() {
    let place = Place::new();
    for more in [ONE, "of-the-future = 1\n"] {
        place.write(&format!("minimum-version = \"99.0.0\"\n{more}"));
        let team = place.look();
        assert_eq!(team.standing, Standing::TooNew);
        assert_eq!(team.wants.map(|version| version.to_string()).as_deref(), Some("99.0.0"));
    }
    place.write("minimum-version = \"0.0.1\"\n");
    assert_eq!(place.look().standing, Standing::Nothing);
}

#[test]
fn the_user_s_source_of_a_name_comes_before_the_team_s() {
    let place = Place::new();
    let source = |name: &str| format!("[[plugin-source]]\nname = \"{name}\"\npath = \"p\"\n");
    place.write(&format!("{}{}", source("mine"), source("team")));
    place.accept();
    let own = Config::parse(Path::new("c"), &source("mine"), Path::new("/c")).config;
    let mut config = own.clone();
    for _ in 0..2 {
        config.add_teams(place.look().in_force.as_ref());
        let names: Vec<_> = config.sources.iter().map(|it| (&*it.name, it.is_teams)).collect();
        assert_eq!(names, [("mine", false), ("team", true)]);
    }
    assert!(config.is_in_checkout("team/package") && !config.is_in_checkout("teams"));
    config.add_teams(None);
    assert_eq!(config, own);
}

#[test]
fn a_hash_is_told_by_its_first_digits_but_not_by_a_few() {
    let place = Place::new();
    place.write(ONE);
    let team = place.look();
    assert!(team.is(team.hash()) && team.is(&team.hash().to_uppercase()));
    assert!(!team.is(&team.hash()[..12]) && !team.is(&"0".repeat(32)));
    let accepted = Team::look(&place.dirs(), place.dir.path(), Some(team.hash()));
    assert_eq!(accepted.standing, Standing::InForce);
    assert_eq!(place.look().standing, Standing::Waits, "nothing is written");
}

#[test]
fn what_was_said_and_can_t_be_read_is_told_and_counts_as_nothing_until_it_is_said_anew() {
    let place = Place::new();
    place.write(ONE);
    place.accept();
    std::fs::write(place.look().record, "half a fi").expect("writes");
    let team = place.look();
    assert_eq!((team.standing, team.taken()), (Standing::Broken, vec![]));
    assert!(team.problems[0].to_string().contains("what you said of symposium.toml"), "{team:?}");
    place.accept();
    assert_eq!(place.look().standing, Standing::InForce);
}

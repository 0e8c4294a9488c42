//! What the tests switch in a debug build, all in one variable:
//! `SYMPOSIUM_TEST_SWITCHES="panic=sync patience=10"`. A release build doesn't read it, so what it
//! does is what users get; `.ci/run` runs a part of the black-box tests with a release build.

use std::time::Duration;

use super::Environment;

const VARIABLE: &str = "SYMPOSIUM_TEST_SWITCHES";

/// The switches; none is set in use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TestSwitches {
    /// `panic=PLACE`: where the answer to an event panics.
    panic: Option<String>,
    /// `patience=FACTOR`: multiplies the time that an event waits for work of our own. Many tests at
    /// once, in a debug build, take longer than anything does in use.
    patience: Option<u32>,
    /// `slow-sync=MILLIS`: how much longer the sync before an event takes.
    pub(crate) slow_sync: Duration,
    /// `slow-background=MILLIS`: how much longer the process in the background takes.
    pub(crate) slow_background: Duration,
    /// `background-life=MILLIS`: how long that process may live.
    pub(crate) background_life: Option<Duration>,
    /// `repository=URL`: the `repository` of our package.
    pub(crate) repository: Option<String>,
}

impl TestSwitches {
    fn parse(text: &str) -> Self {
        let mut switches = Self::default();
        for word in text.split_whitespace() {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            let number = value.parse::<u32>().ok();
            let millis = number.map(|millis| Duration::from_millis(millis.into()));
            match name {
                "panic" => switches.panic = Some(value.to_owned()),
                "patience" => switches.patience = number,
                "slow-sync" => switches.slow_sync = millis.unwrap_or_default(),
                "slow-background" => switches.slow_background = millis.unwrap_or_default(),
                "background-life" => switches.background_life = millis,
                "repository" => switches.repository = Some(value.to_owned()),
                _ => debug_assert!(false, "there is no test switch `{name}`"),
            }
        }
        switches
    }

    /// Panics where a test asks for it.
    pub(crate) fn panic_at(&self, place: &str) {
        assert!(self.panic.as_deref() != Some(place), "a panic was asked for");
    }

    /// How long an event waits for what takes `normal` at most.
    pub(crate) fn patience(&self, normal: Duration) -> Duration {
        normal * self.patience.unwrap_or(1)
    }
}

impl Environment {
    /// What the tests switch; nothing in a release build.
    pub(crate) fn test_switches(&self) -> TestSwitches {
        let text = self.text(VARIABLE).filter(|_| cfg!(debug_assertions));
        TestSwitches::parse(text.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_set_by_one_variable_in_a_debug_build_alone() {
        let env = Environment::with("/", [(VARIABLE, "panic=sync patience=10 slow-sync=100")]);
        let expected = if cfg!(debug_assertions) {
            TestSwitches {
                panic: Some("sync".to_owned()),
                patience: Some(10),
                slow_sync: Duration::from_millis(100),
                ..TestSwitches::default()
            }
        } else {
            TestSwitches::default()
        };
        assert_eq!(env.test_switches(), expected);
        let none: [(&str, &str); 0] = [];
        assert_eq!(Environment::with("/", none).test_switches(), TestSwitches::default());
    }
}

//! One call of a tool: a context of its own, and everything that is told becomes the answer.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::JsonObject;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::plain::plain;
use super::{dependencies, skills, tools};
use crate::Symposium;
use crate::config::Environment;
use crate::report::{ExitCode, Format, Reporter, Verbosity};
use crate::symposium::Options;
use crate::text::Diagnostic;

/// Answers a question about one crate, on the context's reporter.
pub(crate) type Desk = fn(&Symposium, CrateQuestion) -> anyhow::Result<ExitCode>;

/// What is asked of one crate.
#[derive(Debug)]
pub(crate) enum CrateQuestion {
    About(AboutCrate),
    Changes(CrateChanges),
    Item(CrateItem),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AboutCrate {
    pub name: String,
    /// An exact version or a requirement.
    pub version: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CrateChanges {
    pub name: String,
    /// The version after which changes count; `None`: the one that Cargo.lock had before.
    pub since: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CrateItem {
    pub name: String,
    /// The item's path in the crate.
    pub path: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SkillQuestion {
    name: String,
}

/// What a call came to.
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) is_error: bool,
}

impl Answer {
    pub(super) fn failed(why: &str) -> Self {
        Self { text: plain(&format!("error: {why}")), is_error: true }
    }
}

/// What all calls share.
pub(super) struct Caller {
    env: Environment,
    options: Options,
    desk: Desk,
}

impl Caller {
    pub(super) fn new(sym: &Symposium, desk: Desk) -> Self {
        Self { env: sym.env.clone(), options: sym.options, desk }
    }

    /// Never fails: what goes wrong is the answer.
    pub(super) fn call(&self, tool: &str, arguments: JsonObject) -> Answer {
        let (result, talk) = (Heard::default(), Heard::default());
        let report = Reporter::on(
            Box::new(result.clone()),
            Box::new(talk.clone()),
            Format::People,
            Verbosity::Normal,
        );
        let sym = match Symposium::new(self.env.clone(), report, self.options) {
            Ok(mut sym) => {
                crate::sync::enter(&mut sym);
                sym
            }
            Err(error) => return Answer::failed(&error.to_string()),
        };
        sym.report.diagnostics(&sym.config_diagnostics);
        let code = self.run(&sym, tool, arguments).unwrap_or_else(|error| {
            sym.report.diagnostic(&(&error).into());
            ExitCode::FAILURE
        });
        let text = [result.text(), talk.text()].join("\n");
        Answer { text: plain(text.trim_start()), is_error: code != ExitCode::SUCCESS }
    }

    fn run(&self, sym: &Symposium, tool: &str, arguments: JsonObject) -> anyhow::Result<ExitCode> {
        match tool {
            "dependencies" => {
                let Nothing {} = read(arguments)?;
                dependencies::tell(sym)?;
            }
            "crate_info" => return (self.desk)(sym, CrateQuestion::About(read(arguments)?)),
            "crate_changes" => return (self.desk)(sym, CrateQuestion::Changes(read(arguments)?)),
            "crate_item" => return (self.desk)(sym, CrateQuestion::Item(read(arguments)?)),
            "skills" => {
                let Nothing {} = read(arguments)?;
                skills::list(sym)?;
            }
            "read_skill" => {
                let SkillQuestion { name } = read(arguments)?;
                skills::read(sym, &name)?;
            }
            _ => {
                let message = format!("there is no tool `{tool}`");
                let known = format!("there are: {}", tools::names());
                return Err(Diagnostic::error(message).note(known).into());
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn read<T: DeserializeOwned>(mut arguments: JsonObject) -> Result<T, Diagnostic> {
    // Some clients fill in what the model left out.
    arguments.retain(|_, value| !value.is_null());
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| Diagnostic::error(format!("the arguments are wrong: {error}")))
}

/// What was written; its styles are for terminals.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<u8>>>);

impl Heard {
    fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        anstream::adapter::strip_str(&String::from_utf8_lossy(&bytes)).to_string()
    }
}

impl Write for Heard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

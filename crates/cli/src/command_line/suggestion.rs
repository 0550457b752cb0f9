//! What was probably meant where there is no such command.

use std::path::Path;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Error};
use dovetail::core::nearest;

use super::Arguments;

/// What other programs call our commands.
const SYNONYMS: [(&str, &[&str]); 7] = [
    ("run", &["simulate", "sim", "start", "execute"]),
    ("live", &["serve", "watch", "gui", "ui"]),
    ("check", &["validate", "lint", "verify"]),
    ("inspect", &["show", "info", "describe", "dump"]),
    ("new", &["init", "create"]),
    ("enclose", &["bound", "bounds", "prove", "reach"]),
    ("sweep", &["vary", "montecarlo", "monte-carlo", "doe"]),
];

/// Files that models are in.
const MODELS: [&str; 4] = ["toml", "fmu", "ssp", "ssd"];

/// The same error, with what to write instead where that can be guessed.
pub(crate) fn with_suggestion(mut error: Error) -> Error {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    if error.kind() != ErrorKind::InvalidSubcommand {
        return error;
    }

    if let Some(tip) = tip(given) {
        let tip = ContextValue::StyledStrs(vec![StyledStr::from(tip)]);
        error.insert(ContextKind::Suggested, tip);
    }
    error
}

fn tip(given: &str) -> Option<String> {
    let path = Path::new(given);
    let is_model = path.extension().is_some_and(|ending| {
        MODELS
            .iter()
            .any(|known| ending.eq_ignore_ascii_case(known))
    });
    if is_model {
        return Some(format!("did you mean `dovetail run {given}`?"));
    }
    command(given).map(|command| format!("did you mean `dovetail {command}`?"))
}

/// The command that was meant.
fn command(given: &str) -> Option<String> {
    let given = given.to_lowercase();
    let synonym = SYNONYMS
        .iter()
        .find(|(_, others)| others.contains(&given.as_str()));
    if let Some((command, _)) = synonym {
        return Some((*command).to_owned());
    }

    let program = Arguments::command();
    let commands = program.get_subcommands().filter(|one| !one.is_hide_set());
    nearest(&given, commands.map(|one| one.get_name())).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typos_synonyms_and_models_are_understood() {
        let commands = ["rnu", "simulate", "chekc", "comparee", "banana", "x"].map(command);
        let expected = ["run", "run", "check", "compare"].map(|name| Some(name.to_owned()));
        assert_eq!(commands[..4], expected);
        assert_eq!(commands[4..], [None, None]);
        let tip = tip("plant/Model.TOML");
        assert_eq!(
            tip.as_deref(),
            Some("did you mean `dovetail run plant/Model.TOML`?")
        );
    }
}

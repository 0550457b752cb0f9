//! What was asked of the program, for the pages that it writes.

use std::path::Path;

use dovetail::report::Origin;

/// The model, and the command that gives the same again.
pub(crate) fn of(model: &Path) -> Origin {
    let arguments = std::env::args_os().skip(1);
    let arguments = arguments.map(|argument| quoted(&argument.to_string_lossy()));
    let command: Vec<String> = std::iter::once("dovetail".to_owned())
        .chain(arguments)
        .collect();

    Origin {
        file: model.display().to_string(),
        command: command.join(" "),
    }
}

/// The command of `dovetail run` that gives what this program gives with other flags: those that `replaced` names are left
/// out, with their values, and `added` come at the end.
pub(crate) fn of_run(model: &Path, replaced: &[Flag], added: &[String]) -> Origin {
    let arguments = std::env::args_os().skip(2);
    let arguments = arguments.map(|argument| argument.to_string_lossy().into_owned());
    let kept = without(arguments, replaced);
    let all = kept.iter().chain(added).map(|argument| quoted(argument));
    let command: Vec<String> = ["dovetail", "run"]
        .map(str::to_owned)
        .into_iter()
        .chain(all)
        .collect();

    Origin {
        file: model.display().to_string(),
        command: command.join(" "),
    }
}

/// A flag as it is written: long, short, and whether a value follows.
#[derive(Clone, Copy)]
pub(crate) struct Flag {
    pub long: &'static str,
    pub short: Option<&'static str>,
    pub has_value: bool,
}

/// The arguments without these flags.
fn without(arguments: impl Iterator<Item = String>, flags: &[Flag]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut value_follows = false;
    for argument in arguments {
        if std::mem::take(&mut value_follows) && !is_flag(&argument) {
            continue;
        }
        let is_whole =
            |flag: &&Flag| argument == flag.long || flag.short == Some(argument.as_str());
        if let Some(flag) = flags.iter().find(is_whole) {
            value_follows = flag.has_value;
            continue;
        }
        let has_value = |flag: &Flag| {
            let long = argument.strip_prefix(flag.long);
            long.is_some_and(|rest| rest.starts_with('='))
                || flag.short.is_some_and(|short| argument.starts_with(short))
        };
        if !flags.iter().any(has_value) {
            kept.push(argument);
        }
    }
    kept
}

/// Whether an argument is a flag rather than a value: a value may be a negative number.
fn is_flag(argument: &str) -> bool {
    let rest = argument.strip_prefix('-');
    rest.is_some_and(|rest| rest.starts_with(|first: char| first == '-' || first.is_alphabetic()))
}

/// An argument as a shell reads it.
fn quoted(argument: &str) -> String {
    let is_plain =
        |character: char| character.is_alphanumeric() || "-_./=:,+@%".contains(character);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_left_out_however_they_are_written() {
        let flag = |long, short, has_value| Flag {
            long,
            short,
            has_value,
        };
        let flags = [
            flag("--real-time", None, true),
            flag("--method", Some("-m"), true),
            flag("--port", None, true),
            flag("--open", None, false),
        ];
        let written = "a.toml -m jacobi --port=80 --open --set x.y=1 -mjacobi --real-time 2 --method auto --real-time --strict";
        let left = without(written.split(' ').map(str::to_owned), &flags);
        assert_eq!(left, ["a.toml", "--set", "x.y=1", "--strict"]);
    }

    #[test]
    fn arguments_are_quoted_where_a_shell_would_read_something_else() {
        assert_eq!(quoted("a/b-1.toml"), "a/b-1.toml");
        assert_eq!(quoted("*.x"), "'*.x'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}

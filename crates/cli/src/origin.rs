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
    use super::quoted;

    #[test]
    fn arguments_are_quoted_where_a_shell_would_read_something_else() {
        assert_eq!(quoted("a/b-1.toml"), "a/b-1.toml");
        assert_eq!(quoted("*.x"), "'*.x'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}

//! Names: which are allowed.

use crate::operation::Builtin;

/// Words of the language that are neither functions nor values.
const KEYWORDS: [&str; 8] = ["if", "then", "elseif", "else", "and", "or", "not", "der"];

/// Whether `name` is made of letters, digits and underscores and does not begin with a digit.
pub fn is_name(name: &str) -> bool {
    name.chars().next().is_some_and(begins_name) && name.chars().all(continues_name)
}

/// Whether `name` means something in the language and so cannot name a variable.
pub fn is_reserved(name: &str) -> bool {
    KEYWORDS.contains(&name) || matches!(name, "time" | "pi") || Builtin::named(name).is_some()
}

pub(crate) fn begins_name(character: char) -> bool {
    character == '_' || character.is_alphabetic()
}

pub(crate) fn continues_name(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_letters_digits_and_underscores() {
        assert!(is_name("x_1") && is_name("_") && is_name("θ"));
        assert!(!is_name("1x") && !is_name("") && !is_name("a.b") && !is_name("a b"));
    }

    #[test]
    fn words_of_the_language_are_reserved() {
        assert!(
            ["time", "pi", "der", "if", "then", "sin", "ln"]
                .iter()
                .all(|name| is_reserved(name))
        );
        assert!(!is_reserved("Time") && !is_reserved("x"));
    }
}

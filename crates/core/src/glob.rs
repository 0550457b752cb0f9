//! Patterns with `*` and `?`.

/// Whether `name` as a whole fits `pattern`: `*` stands for any characters, none included, `?` for exactly one.
///
/// On a mismatch only the latest `*` is made one character longer. Earlier ones never need to change, since whatever they could
/// swallow the latest can too; so the work is at most the product of the two lengths, for any number of stars.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut read) = (0, 0);
    let mut latest_star = None;

    while read < name.len() {
        match pattern.get(at) {
            Some('*') => {
                latest_star = Some((at, read));
                at += 1;
            }
            Some(&wanted) if wanted == '?' || wanted == name[read] => {
                (at, read) = (at + 1, read + 1)
            }
            _ => {
                let Some((star, swallowed)) = latest_star else {
                    return false;
                };
                latest_star = Some((star, swallowed + 1));
                (at, read) = (star + 1, swallowed + 1);
            }
        }
    }
    pattern[at..].iter().all(|&rest| rest == '*')
}

/// Whether `pattern` can stand for more than one name.
pub fn has_wildcard(pattern: &str) -> bool {
    pattern.contains(['*', '?'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, followed to the letter.
    fn matches_by_definition(pattern: &[u8], name: &[u8]) -> bool {
        match (pattern.split_first(), name.split_first()) {
            (None, _) => name.is_empty(),
            (Some((b'*', rest)), _) => {
                (0..=name.len()).any(|n| matches_by_definition(rest, &name[n..]))
            }
            (Some((&wanted, rest)), Some((&read, tail))) => {
                (wanted == b'?' || wanted == read) && matches_by_definition(rest, tail)
            }
            (Some(_), None) => false,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn a_glob_matches_what_its_definition_says(pattern in "[ab.*?]{0,7}", name in "[ab.]{0,8}") {
            prop_assert_eq!(matches(&pattern, &name), matches_by_definition(pattern.as_bytes(), name.as_bytes()));
        }
    }

    #[test]
    fn stars_do_not_multiply_the_work() {
        let name = "a".repeat(2000);
        assert!(!matches(&format!("{}b", "*a".repeat(500)), &name));
    }

    #[test]
    fn a_question_mark_is_one_character_not_one_byte() {
        assert!(matches("mass.?", "mass.φ"));
    }
}

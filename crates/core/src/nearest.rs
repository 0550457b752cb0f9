//! The name that was probably meant.

/// Beyond these a suggestion is not worth its time.
const LONGEST_NAME: usize = 60;
const MOST_CANDIDATES: usize = 2_000;
/// A beginning of fewer letters says nothing.
const LEAST_BEGINNING: usize = 4;

/// The candidate that `name` was probably meant to be, if one is close enough.
///
/// Close is a third of the name's length in edits; a difference of case only counts as closest, and so does a name without
/// its system (`x` for `mass.x`).
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted: Vec<char> = lowercase(name)?;
    let allowed = (wanted.len() / 3).max(1);
    let candidates: Vec<&str> = candidates.into_iter().take(MOST_CANDIDATES).collect();
    let by_edits = candidates
        .iter()
        .copied()
        .filter(|candidate| *candidate != name)
        .filter_map(|candidate| {
            let letters = lowercase(candidate)?;
            let bare = letters
                .strip_suffix(wanted.as_slice())
                .is_some_and(|system| system.ends_with(&['.']));
            if bare {
                Some((0, candidate))
            } else {
                edits(&wanted, &letters, allowed).map(|edits| (edits, candidate))
            }
        })
        // A name of one letter is one edit from every other: only its case may differ.
        .filter(|&(edits, _)| edits < wanted.len())
        .min_by_key(|&(edits, _)| edits)
        .map(|(_, candidate)| candidate);
    by_edits.or_else(|| abbreviated(&wanted, &candidates))
}

/// The only candidate that shares most of its beginning with what was wanted: `params` for `parameters`.
fn abbreviated<'a>(wanted: &[char], candidates: &[&'a str]) -> Option<&'a str> {
    let least = (2 * wanted.len()).div_ceil(3).max(LEAST_BEGINNING);
    let shares = |candidate: &&&str| {
        let letters = candidate.chars().flat_map(char::to_lowercase);
        let shared = letters.zip(wanted).take_while(|(a, b)| a == *b).count();
        shared >= least && shared < wanted.len().max(candidate.chars().count())
    };
    let mut alike = candidates.iter().filter(shares);
    match (alike.next(), alike.next()) {
        (Some(candidate), None) => Some(candidate),
        _ => None,
    }
}

fn lowercase(name: &str) -> Option<Vec<char>> {
    let letters: Vec<char> = name
        .chars()
        .take(LONGEST_NAME + 1)
        .flat_map(char::to_lowercase)
        .collect();
    (letters.len() <= LONGEST_NAME).then_some(letters)
}

/// Insertions, deletions, substitutions and swaps of neighbors from one to the other, if few enough.
fn edits(from: &[char], to: &[char], allowed: usize) -> Option<usize> {
    if from.len().abs_diff(to.len()) > allowed {
        return None;
    }

    let mut before = [0; LONGEST_NAME + 1];
    let mut last: [usize; LONGEST_NAME + 1] = std::array::from_fn(|j| j);

    for (i, letter) in from.iter().enumerate() {
        let mut row = [i + 1; LONGEST_NAME + 1];
        for (j, other) in to.iter().enumerate() {
            let substituted = last[j] + usize::from(letter != other);
            let swapped = i > 0 && j > 0 && *letter == to[j - 1] && from[i - 1] == *other;
            let swapped = if swapped {
                before[j - 1] + 1
            } else {
                usize::MAX
            };
            row[j + 1] = substituted
                .min(last[j + 1] + 1)
                .min(row[j] + 1)
                .min(swapped);
        }
        // What follows can only add to the least of two rows.
        if row[..=to.len()].iter().chain(&last[..=to.len()]).min() > Some(&allowed) {
            return None;
        }
        (before, last) = (last, row);
    }
    Some(last[to.len()]).filter(|&edits| edits <= allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_abbreviation_is_understood_where_it_has_one_meaning() {
        let known = ["inputs", "parameters", "states"];
        assert_eq!(nearest("params", known), Some("parameters"));
        assert_eq!(nearest("para", known), Some("parameters"));
        assert_eq!(nearest("param", ["parameter-a", "parameter-b"]), None);
    }

    #[test]
    fn a_misspelt_name_finds_its_neighbor() {
        let names = ["prey", "predators", "alpha"];
        assert_eq!(nearest("predator", names), Some("predators"));
        assert_eq!(nearest("pery", names), Some("prey"));
        assert_eq!(nearest("Alpha", names), Some("alpha"));
    }

    #[test]
    fn a_distant_name_finds_nothing() {
        assert_eq!(nearest("voltage", ["prey", "predators"]), None);
        assert_eq!(nearest("x", ["y", "z"]), None);
        assert_eq!(nearest("", ["y"]), None);
        assert_eq!(nearest(&"x".repeat(100_000), ["x"]), None);
    }

    #[test]
    fn one_letter_may_differ_in_case() {
        assert_eq!(nearest("R", ["q", "r"]), Some("r"));
    }

    #[test]
    fn the_system_may_be_left_out() {
        let names = ["mass.position", "mass.velocity", "spring.force"];
        assert_eq!(nearest("force", names), Some("spring.force"));
        assert_eq!(nearest("mass.postion", names), Some("mass.position"));
    }
}

//! The name that was probably meant.

/// The candidate nearest to `wanted`, if one is near enough to be a slip of the pen: at most a third of its characters
/// differ, upper and lower case being the same. A bare name (`x`) is near to the first one that ends in it (`mass.x`).
pub fn nearest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = wanted.to_lowercase();
    let most = (wanted.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (distance(&wanted, &candidate.to_lowercase()), candidate))
        .filter(|(far, _)| *far <= most)
        .min_by_key(|(far, _)| *far)
        .map(|(_, candidate)| candidate)
}

/// Zero for the unqualified form of `candidate`, else the edit distance.
fn distance(wanted: &str, candidate: &str) -> usize {
    let bare = candidate.strip_suffix(wanted).is_some_and(|front| front.ends_with('.'));
    if bare { 0 } else { edits(wanted, candidate) }
}

/// How many characters must be put in, taken out or replaced (Levenshtein), row by row of the usual table.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, read) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &wanted) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(read != wanted);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("abc", "abc"), 0);
    }

    #[test]
    fn a_slip_of_the_pen_is_understood_and_nonsense_is_not() {
        let names = ["mass.position", "mass.velocity", "spring.force"];
        assert_eq!(nearest("mass.postion", names), Some("mass.position"));
        assert_eq!(nearest("Spring.Force", names), Some("spring.force"));
        assert_eq!(nearest("force", names), Some("spring.force"));
        assert_eq!(nearest("temperature", names), None);
    }
}

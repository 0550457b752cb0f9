//! Sentences of pages.

/// With a capital at its head and a full stop at its end.
pub(crate) fn sentence(text: &str) -> String {
    let mut rest = text.chars();
    let head: String = rest.next().iter().flat_map(|c| c.to_uppercase()).collect();
    let ends = text.ends_with(['.', '!', '?']);
    let stop = if ends { "" } else { "." };
    format!("{head}{}{stop}", rest.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_begin_with_a_capital_and_end_once() {
        assert_eq!(sentence("it was interrupted"), "It was interrupted.");
        assert_eq!(
            sentence("`a.x` grows; is that meant?"),
            "`a.x` grows; is that meant?"
        );
        assert_eq!(sentence(""), ".");
    }
}

//! Plain sentences among what the user should know.

use dovetail_core::Notice;

/// Sentences for which there is nothing to try.
pub(crate) fn notices(sentences: impl IntoIterator<Item = String>) -> Vec<Notice> {
    sentences.into_iter().map(Notice::from).collect()
}

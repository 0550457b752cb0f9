//! What a system can be asked, and how an answer begins.

/// What a system can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Question {
    Advance,
    Trial,
    Linearize,
    Evaluate,
    Begin,
    /// The text that a number stands for.
    TextOf,
    /// The number that stands for a text.
    NumberOf,
    /// What was noted; the system is then dropped.
    Leave,
    /// A piece of what the system is, see [`Checkpoint`](dovetail_core::Checkpoint).
    Save,
    /// A piece of what it is to be.
    Restore,
    /// The operators of a linearization.
    Operators,
}

impl Question {
    pub fn of(word: u64) -> Option<Self> {
        const ALL: [Question; 11] = [
            Question::Advance,
            Question::Trial,
            Question::Linearize,
            Question::Evaluate,
            Question::Begin,
            Question::TextOf,
            Question::NumberOf,
            Question::Leave,
            Question::Save,
            Question::Restore,
            Question::Operators,
        ];
        ALL.into_iter().find(|question| *question as u64 == word)
    }
}

/// The first word of an answer.
pub(crate) const DONE: u64 = 0;
pub(crate) const FAILED: u64 = 1;

/// Texts, errors and notes have room for so many words at least.
pub(crate) const LEAST_WORDS: usize = 16 << 10;

/// Checkpoints travel in pieces of so many bytes, for which there is always room.
pub(crate) const PIECE: usize = 4 * LEAST_WORDS;

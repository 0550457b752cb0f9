//! Places elsewhere at which systems are computed, and the messages that reach them.

use dovetail_core::Remedy;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::system_part::ProblemPart;

/// The way to places at which other processes compute systems; they are counted from 1, since 0 is
/// here.
///
/// A place is sent one message at a time, and its answer is received before the next one.
pub trait Places {
    /// Sends a message to a place.
    fn send(&mut self, place: usize, message: &[u8]) -> Result<(), PlaceLost>;

    /// Waits for the answer of a place and puts it in the place of what is in `answer`.
    fn receive(&mut self, place: usize, answer: &mut Vec<u8>) -> Result<(), PlaceLost>;
}

/// A place no longer answers.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{reason}")]
pub struct PlaceLost {
    /// Why, in a sentence.
    pub reason: String,
    /// What to try.
    pub remedies: Vec<Remedy>,
}

impl From<String> for PlaceLost {
    fn from(reason: String) -> Self {
        Self {
            reason,
            remedies: Vec::new(),
        }
    }
}

/// What a question is about, and so who answers it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Subject {
    /// The systems of the place.
    Problem,
    /// Derivatives of affine sets with shared symbols.
    Fields,
    /// Systems that exchange boxes.
    Boxes,
}

/// A question for a place, or news that needs no answer.
pub(crate) trait Question: Serialize {
    const SUBJECT: Subject;
}

impl<Q: Question> Question for &Q {
    const SUBJECT: Subject = Q::SUBJECT;
}

impl Question for ProblemPart {
    const SUBJECT: Subject = Subject::Problem;
}

/// An answer, as it travels.
pub(crate) struct Answer(pub Vec<u8>);

impl Answer {
    pub fn of(found: &impl Serialize) -> Self {
        Self(postcard::to_stdvec(found).expect("BUG: an answer can be written"))
    }
}

/// A message that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a message about bounds cannot be understood: {0}")]
pub struct BadMessage(pub(crate) String);

/// Reads the next thing that a message says.
pub(crate) fn read<T: DeserializeOwned>(message: &mut &[u8]) -> Result<T, BadMessage> {
    let taken = postcard::take_from_bytes(message);
    let (item, rest) = taken.map_err(|error| BadMessage(error.to_string()))?;
    *message = rest;
    Ok(item)
}

/// The message, and the question at its end.
pub(crate) fn extended<Q: Question>(message: Vec<u8>, question: &Q) -> Vec<u8> {
    let both = (Q::SUBJECT, question);
    postcard::to_extend(&both, message).expect("BUG: a question can be written")
}

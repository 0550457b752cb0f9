//! Questions to a system that lives elsewhere whose answers may be long: texts and checkpoints, piece by piece.

use dovetail_core::Error;

use crate::question::{PIECE, Question};
use crate::words::{PutWords, TakeWords};

/// One who can ask a system that lives elsewhere.
pub(crate) trait Conversation {
    /// A question that is answered at once.
    fn ask<T>(
        &mut self,
        question: Question,
        write: impl FnOnce(&mut dyn PutWords),
        read: impl FnOnce(&mut dyn TakeWords) -> T,
    ) -> Result<T, Error>;

    /// The number that stands there for a text.
    fn number_of(&mut self, text: &str) -> Result<f64, Error> {
        let mut number = 0.0;
        self.send_pieces(Question::NumberOf, text.as_bytes(), |take| {
            number = take.float();
        })?;
        Ok(number)
    }

    /// The text that a number stands for there.
    fn text_of(&mut self, number: f64) -> Result<String, Error> {
        let mut text = Vec::new();
        self.receive_pieces(Question::TextOf, Some(number), &mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// What the system is, see [`Checkpoint`](dovetail_core::Checkpoint).
    fn save(&mut self, bytes: &mut Vec<u8>) -> Result<(), Error> {
        self.receive_pieces(Question::Save, None, bytes)
    }

    /// What the system is to be.
    fn restore(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.send_pieces(Question::Restore, bytes, |_| ())
    }

    /// Sends bytes; `read` gets the answer to each piece.
    fn send_pieces(
        &mut self,
        question: Question,
        bytes: &[u8],
        mut read: impl FnMut(&mut dyn TakeWords),
    ) -> Result<(), Error> {
        let mut rest = bytes;
        loop {
            let (piece, after) = rest.split_at(rest.len().min(PIECE));
            let write = |put: &mut dyn PutWords| {
                put.word(after.is_empty().into());
                put.bytes(piece);
            };
            self.ask(question, write, &mut read)?;
            if after.is_empty() {
                return Ok(());
            }
            rest = after;
        }
    }

    /// Receives bytes, each piece by the position from which it is wanted.
    fn receive_pieces(
        &mut self,
        question: Question,
        about: Option<f64>,
        bytes: &mut Vec<u8>,
    ) -> Result<(), Error> {
        loop {
            let at = bytes.len() as u64;
            let write = |put: &mut dyn PutWords| {
                if let Some(number) = about {
                    put.float(number);
                }
                put.word(at);
            };
            let length = self.ask(question, write, |take| {
                let length = take.word() as usize;
                bytes.extend(take.bytes());
                length
            })?;
            if bytes.len() >= length {
                return Ok(());
            }
        }
    }
}

//! What ranks do beside systems, as bytes: rank 0 asks, and the service of each rank answers.

use super::lost::RankLoss;
use super::network::Network;
use super::orders::SERVE;
use crate::question::DONE;
use crate::words::{PutWords, TakeWords};

/// Why a rank did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServiceError {
    /// In the words of the rank.
    #[error("{0}")]
    Refused(String),
    /// The rank is gone, or silent.
    #[error(transparent)]
    Lost(#[from] RankLoss),
}

/// The way from rank 0 to the services of other ranks.
pub struct ServiceLink {
    network: &'static Network,
    words: Vec<u64>,
}

impl ServiceLink {
    /// To all ranks.
    pub fn new(network: &'static Network) -> Self {
        Self {
            network,
            words: Vec::new(),
        }
    }

    /// Asks the service of a rank; its answer is to be received before the next question.
    pub fn send(&mut self, rank: usize, question: &[u8]) -> Result<(), ServiceError> {
        self.words.clear();
        self.words.word(SERVE);
        self.words.bytes(question);
        Ok(self.network.send(rank, &mut self.words)?)
    }

    /// Waits for the answer of a rank.
    pub fn receive(&mut self, rank: usize) -> Result<Vec<u8>, ServiceError> {
        self.network.receive(rank, &mut self.words, 1)?;
        let mut take = self.words.iter();
        let status = take.word();
        let answer = take.bytes();
        if status == DONE {
            Ok(answer)
        } else {
            // What others have been asked meanwhile nobody will want to know.
            self.network.note_loss();
            let why = String::from_utf8_lossy(&answer).into_owned();
            Err(ServiceError::Refused(why))
        }
    }
}

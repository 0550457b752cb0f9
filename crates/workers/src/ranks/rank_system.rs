//! A system that lives on another rank.

use std::sync::PoisonError;
use std::time::Instant;

use dovetail_core::Error;

use super::lost::RankLoss;
use super::network::Network;
use super::orders::{ASK, LEAVE};
use crate::processes::FinalNotes;
use crate::question::DONE;
use crate::remote_system::{Link, RemoteSystem};
use crate::text_table::TextTable;
use crate::words::TakeWords;

/// A system that lives on another rank.
pub type RankSystem = RemoteSystem<RankLink>;

/// The way to one system on another rank.
pub struct RankLink {
    pub(super) network: &'static Network,
    pub(super) rank: usize,
    /// Its number there.
    pub(super) number: usize,
    pub(super) texts: TextTable,
    pub(super) words: Vec<u64>,
    pub(super) end: FinalNotes,
}

impl RankSystem {
    /// The rank on which it lives.
    pub fn rank(&self) -> usize {
        self.link.rank
    }

    /// Its number there.
    pub(crate) fn number(&self) -> usize {
        self.link.number
    }

    /// Where its final notes will be found when the system is dropped.
    pub fn final_notes(&self) -> FinalNotes {
        self.link.end.clone()
    }
}

impl Link for RankLink {
    type Loss = RankLoss;
    type Put<'a> = &'a mut Vec<u64>;
    type Take<'a> = std::slice::Iter<'a, u64>;

    fn put(&mut self) -> &mut Vec<u64> {
        self.words.clear();
        self.words.extend([ASK, 1, self.number as u64]);
        &mut self.words
    }

    fn send(&mut self) -> Result<(), RankLoss> {
        self.network.send(self.rank, &mut self.words)
    }

    fn wait(&mut self, _began: Instant) -> Result<(), RankLoss> {
        self.network.receive(self.rank, &mut self.words, 1)
    }

    fn take(&mut self) -> std::slice::Iter<'_, u64> {
        self.words.iter()
    }

    fn confused(&mut self) -> RankLoss {
        RankLoss::Unreachable { rank: self.rank }
    }

    fn failure(system: &str, time: f64, loss: RankLoss) -> Error {
        loss.failure(system, time)
    }

    fn texts(&self) -> TextTable {
        self.texts
    }
}

impl Drop for RankLink {
    /// The system leaves its rank, which reports what it noted.
    fn drop(&mut self) {
        if self.network.has_lost_a_rank() {
            return;
        }

        self.words.clear();
        self.words.extend([LEAVE, self.number as u64]);
        let left = Link::send(self).and_then(|()| self.wait(Instant::now()));
        let mut take = self.words.iter();
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        match left {
            Ok(()) if take.word() == DONE => end.notes = take.bytes(),
            Ok(()) => {}
            Err(loss) => end.lost = Some(loss.to_string()),
        }
    }
}

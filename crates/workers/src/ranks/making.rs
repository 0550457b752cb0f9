//! How rank 0 has systems made on other ranks.

use dovetail_core::Remedy;

use super::lost::RankLoss;
use super::network::Network;
use super::orders::{MAKE, MEASURE, QUIT, Wanted};
use super::rank_system::{RankLink, RankSystem};
use crate::introduction::read_interface;
use crate::processes::{FinalNotes, SystemRequest};
use crate::question::DONE;
use crate::text_table::TextTable;
use crate::words::{PutWords, TakeWords};

/// Why a system does not live on its rank.
#[derive(Debug, thiserror::Error)]
pub enum RankError {
    /// In the words of the rank.
    #[error("{0}")]
    Refused(String),
    /// The rank is gone, or does not answer.
    #[error("system `{system}` could not be made: {lost}")]
    Lost {
        /// Which one.
        system: String,
        /// How.
        lost: RankLoss,
    },
}

impl RankError {
    /// What to try, or to look at.
    pub fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Refused(_) => Vec::new(),
            Self::Lost { lost, .. } => lost.remedies(),
        }
    }
}

/// Systems that are being made on other ranks, meanwhile this one can make its own.
pub struct Making<'a> {
    network: &'static Network,
    texts: TextTable,
    requests: &'a [SystemRequest],
    owners: &'a [usize],
    words: Vec<u64>,
}

impl<'a> Making<'a> {
    /// Asks every rank for the systems that it is to own; those of this rank are left out.
    pub fn begin(
        network: &'static Network,
        texts: TextTable,
        requests: &'a [SystemRequest],
        owners: &'a [usize],
    ) -> Result<Self, RankError> {
        let mut making = Self {
            network,
            texts,
            requests,
            owners,
            words: Vec::new(),
        };
        for rank in 1..network.size() {
            making.send(MAKE, rank)?;
        }
        Ok(making)
    }

    /// The systems of a rank, by their positions.
    fn of_rank(&self, rank: usize) -> impl Iterator<Item = usize> + use<'a> {
        let owners = self.owners;
        (0..owners.len()).filter(move |&system| owners[system] == rank)
    }

    fn send(&mut self, order: u64, rank: usize) -> Result<(), RankError> {
        let wanted = self.of_rank(rank);
        let wanted: Vec<Wanted> = wanted
            .map(|system| Wanted::of(&self.requests[system]))
            .collect();
        if wanted.is_empty() {
            return Ok(());
        }

        let list = postcard::to_stdvec(&wanted).expect("BUG: what is wanted can be written");
        self.words.clear();
        self.words.word(order);
        self.words.bytes(&list);
        let sent = self.network.send(rank, &mut self.words);
        sent.map_err(|lost| self.lost(rank, lost))
    }

    /// The answer of a rank that was asked for systems; none where it was not.
    fn receive(&mut self, rank: usize) -> Result<Option<std::slice::Iter<'_, u64>>, RankError> {
        if self.of_rank(rank).next().is_none() {
            return Ok(None);
        }

        // Its files are read and FMUs are unpacked: what they do is watched there.
        let received = self.network.receive(rank, &mut self.words, usize::MAX);
        received.map_err(|lost| self.lost(rank, lost))?;
        Ok(Some(self.words.iter()))
    }

    fn lost(&self, rank: usize, lost: RankLoss) -> RankError {
        let system = self.of_rank(rank).next().unwrap_or_default();
        let system = self.requests[system].name.clone();
        RankError::Lost { system, lost }
    }

    /// Waits for the systems; none at the positions of this rank.
    pub fn finish(mut self) -> Result<Vec<Option<RankSystem>>, RankError> {
        let mut systems: Vec<Option<RankSystem>> = Vec::new();
        systems.resize_with(self.owners.len(), || None);
        let mut failure = None;

        // All answers are received before the first failure is reported: none is to be taken for
        // another one later.
        for rank in 1..self.network.size() {
            if let Err(error) = self.receive_systems(rank, &mut systems) {
                failure = failure.or(Some(error));
            }
        }
        failure.map_or(Ok(systems), Err)
    }

    fn receive_systems(
        &mut self,
        rank: usize,
        systems: &mut [Option<RankSystem>],
    ) -> Result<(), RankError> {
        let positions = self.of_rank(rank);
        let (network, texts) = (self.network, self.texts);
        let Some(mut take) = self.receive(rank)? else {
            return Ok(());
        };
        if take.word() != DONE {
            let why = String::from_utf8_lossy(&take.bytes()).into_owned();
            return Err(RankError::Refused(why));
        }

        let first = take.word() as usize;
        for (number, position) in positions.enumerate() {
            let face = take.bytes();
            let Some((interface, capabilities)) = read_interface(&face, texts) else {
                return Err(self.lost(rank, RankLoss::Unreachable { rank }));
            };
            let link = RankLink {
                network,
                rank,
                number: first + number,
                texts,
                words: Vec::new(),
                end: FinalNotes::default(),
            };
            systems[position] = Some(RankSystem::new(interface, capabilities, link));
        }
        Ok(())
    }
}

/// Has systems made, measured and dropped again on other ranks, which take turns; the seconds of each
/// that a rank could measure. Those in `own` are left to this rank.
pub fn measure_on_ranks(
    network: &'static Network,
    texts: TextTable,
    requests: &[SystemRequest],
    owners: &[usize],
    own: impl FnOnce(),
) -> Result<Vec<Option<f64>>, RankError> {
    let mut making = Making {
        network,
        texts,
        requests,
        owners,
        words: Vec::new(),
    };
    for rank in 1..network.size() {
        making.send(MEASURE, rank)?;
    }
    own();

    let mut costs = vec![None; owners.len()];
    for rank in 1..network.size() {
        let positions = making.of_rank(rank);
        if let Some(mut take) = making.receive(rank)? {
            for position in positions {
                costs[position] = Some(take.float()).filter(|seconds| seconds.is_finite());
            }
        }
    }
    Ok(costs)
}

/// Has all other ranks end. Nothing can be asked of them afterwards.
pub fn dismiss_ranks(network: &Network) {
    for rank in 1..network.size() {
        // One that is gone need not be told.
        let _ = network.send(rank, &mut vec![QUIT]);
    }
}

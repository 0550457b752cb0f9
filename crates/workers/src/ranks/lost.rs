//! How a rank was lost.

use std::time::Duration;

use dovetail_core::{Error, Remedy};

/// Why a rank no longer answers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RankLoss {
    /// Its process is gone.
    #[error("rank {rank} ended in the midst of the run")]
    Ended {
        /// Which one.
        rank: usize,
    },
    /// It did not answer in time.
    #[error("rank {rank} did not answer within {} s", .limit.as_secs_f64())]
    Silent {
        /// Which one.
        rank: usize,
        /// The time it had.
        limit: Duration,
    },
    /// It was busy when the run was interrupted, and did not come to an end.
    #[error(
        "the run was interrupted while rank {rank} was busy, and did not answer \
         within {} s",
        .limit.as_secs_f64()
    )]
    Interrupted {
        /// Which one.
        rank: usize,
        /// The time it had.
        limit: Duration,
    },
    /// MPI reports that no message can be sent to it, or its answer makes no sense.
    #[error("rank {rank} no longer answers in a way that can be understood")]
    Unreachable {
        /// Which one.
        rank: usize,
    },
}

impl RankLoss {
    /// What to try, or to look at.
    pub fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Ended { .. } | Self::Unreachable { .. } => {
                vec![Remedy::LogFmiCalls, Remedy::ProcessPerSystem]
            }
            Self::Silent { .. } => vec![Remedy::MoreTime, Remedy::LogFmiCalls],
            Self::Interrupted { .. } => Vec::new(),
        }
    }

    pub(crate) fn failure(self, system: &str, time: f64) -> Error {
        let remedies = self.remedies();
        Error::system(system, time, self).with(remedies)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_names_its_rank() {
        let limit = Duration::from_millis(500);
        for loss in [
            RankLoss::Ended { rank: 3 },
            RankLoss::Silent { rank: 3, limit },
            RankLoss::Interrupted { rank: 3, limit },
            RankLoss::Unreachable { rank: 3 },
        ] {
            assert!(loss.to_string().contains("rank 3"), "{loss}");
        }
        let silent = RankLoss::Silent { rank: 3, limit };
        assert!(silent.remedies().contains(&Remedy::MoreTime));
    }
}

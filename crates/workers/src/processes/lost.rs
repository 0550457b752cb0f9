//! How a process was lost.

use std::process::ExitStatus;
use std::time::Duration;

use std::os::unix::process::ExitStatusExt;

use dovetail_core::Remedy;

use crate::processes::channel::Gone;

/// Why the process of a system no longer answers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProcessLoss {
    /// A signal ended it.
    #[error(
        "its process was killed by signal {signal}{}; the last call of an FMU is the last line of \
         a log of its calls",
        signal_name(*.signal)
    )]
    Killed {
        /// Which one.
        signal: i32,
    },
    /// It ended by itself.
    #[error(
        "its process exited with code {code}, in the midst of the run; the last call of an FMU is \
         the last line of a log of its calls"
    )]
    Exited {
        /// With this code.
        code: i32,
    },
    /// It did not answer in time.
    #[error(
        "it did not answer within {} s, and its process was killed; the last call of an FMU is \
         the last line of a log of its calls",
        .limit.as_secs_f64()
    )]
    Silent {
        /// The time it had.
        limit: Duration,
    },
    /// It was busy when the run was interrupted, and did not come to an end.
    #[error(
        "the run was interrupted, and its process, which was busy and did not answer within {} s, \
         was killed",
        .limit.as_secs_f64()
    )]
    Interrupted {
        /// The time it had.
        limit: Duration,
    },
    /// Its channel broke while it lived.
    #[error(
        "its process no longer answers in a way that can be understood, and was killed; an FMU may \
         have overwritten its memory"
    )]
    Confused,
}

impl ProcessLoss {
    /// What to try, or to look at.
    pub fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Killed { .. } | Self::Exited { .. } => vec![Remedy::LogFmiCalls],
            Self::Silent { .. } => vec![Remedy::MoreTime, Remedy::LogFmiCalls],
            Self::Interrupted { .. } | Self::Confused => Vec::new(),
        }
    }

    /// What happened, and nothing of what to do.
    pub fn briefly(&self) -> String {
        match self {
            Self::Killed { signal } => format!(
                "its process was killed by signal {signal}{}",
                signal_name(*signal)
            ),
            Self::Exited { code } => format!("its process exited with code {code}"),
            Self::Silent { limit } => format!("it did not answer within {} s", limit.as_secs_f64()),
            Self::Interrupted { .. } => "the program was interrupted".to_owned(),
            Self::Confused => {
                "its process no longer answers in a way that can be understood".to_owned()
            }
        }
    }

    /// How a process ended that was not meant to.
    pub(crate) fn of(status: ExitStatus) -> Self {
        match (status.signal(), status.code()) {
            (Some(signal), _) => Self::Killed { signal },
            (None, code) => Self::Exited {
                code: code.unwrap_or(-1),
            },
        }
    }
}

impl From<Gone> for ProcessLoss {
    fn from(_: Gone) -> Self {
        Self::Confused // unless the process is found to have ended
    }
}

/// The common signals in words, by their numbers on Linux.
fn signal_name(signal: i32) -> String {
    let name = match signal {
        4 => "illegal instruction",
        6 => "abort",
        7 => "bus error",
        8 => "arithmetic exception",
        9 => "killed, perhaps for want of memory",
        11 => "segmentation fault",
        15 => "terminated",
        24 => "time limit of the processor",
        _ => return String::new(),
    };
    format!(" ({name})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_described_in_words() {
        assert!(
            ProcessLoss::of(ExitStatus::from_raw(11))
                .to_string()
                .contains("killed by signal 11 (segmentation fault)")
        );
        assert!(
            ProcessLoss::of(ExitStatus::from_raw(3 << 8))
                .to_string()
                .contains("exited with code 3")
        );
        let limit = Duration::from_millis(500);
        assert!(
            ProcessLoss::Silent { limit }
                .to_string()
                .contains("within 0.5 s")
        );
        assert!(
            ProcessLoss::Silent { limit }
                .remedies()
                .contains(&Remedy::MoreTime)
        );
    }
}

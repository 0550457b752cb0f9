//! How a process was lost.

use std::process::ExitStatus;
use std::time::Duration;

use std::os::unix::process::ExitStatusExt;

use dovetail_core::Remedy;

use crate::processes::channel::Gone;

/// Why the process of a system no longer answers. What it was doing then, such as ` in fmi2DoStep`,
/// is said where it is known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProcessLoss {
    /// A signal ended it.
    #[error("its process was killed by signal {signal}{}{during}", signal_name(*.signal))]
    Killed {
        /// Which one.
        signal: i32,
        /// What it was doing.
        during: String,
    },
    /// It ended by itself.
    #[error("its process exited with code {code}{during}, in the midst of the run")]
    Exited {
        /// With this code.
        code: i32,
        /// What it was doing.
        during: String,
    },
    /// It did not answer in time.
    #[error(
        "it did not answer within {} s{during}, and its process was killed", .limit.as_secs_f64()
    )]
    Silent {
        /// The time it had.
        limit: Duration,
        /// What it was doing.
        during: String,
    },
    /// It was busy when the run was interrupted, and did not come to an end.
    #[error(
        "the run was interrupted, and its process, which was busy{during} and did not answer \
         within {} s, was killed",
        .limit.as_secs_f64()
    )]
    Interrupted {
        /// The time it had.
        limit: Duration,
        /// What it was doing.
        during: String,
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
            Self::Killed { signal, during } => {
                let name = signal_name(*signal);
                format!("its process was killed by signal {signal}{name}{during}")
            }
            Self::Exited { code, during } => {
                format!("its process exited with code {code}{during}")
            }
            Self::Silent { limit, during } => {
                format!("it did not answer within {} s{during}", limit.as_secs_f64())
            }
            Self::Interrupted { .. } => "the program was interrupted".to_owned(),
            Self::Confused => {
                "its process no longer answers in a way that can be understood".to_owned()
            }
        }
    }

    /// How a process ended that was not meant to.
    pub(crate) fn of(status: ExitStatus) -> Self {
        let during = String::new();
        match (status.signal(), status.code()) {
            (Some(signal), _) => Self::Killed { signal, during },
            (None, code) => Self::Exited {
                code: code.unwrap_or(-1),
                during,
            },
        }
    }

    pub(crate) fn silent(limit: Duration) -> Self {
        let during = String::new();
        Self::Silent { limit, during }
    }

    pub(crate) fn interrupted(limit: Duration) -> Self {
        let during = String::new();
        Self::Interrupted { limit, during }
    }

    /// The same, with what the process was doing.
    pub(crate) fn during(mut self, calls: String) -> Self {
        match &mut self {
            Self::Killed { during, .. }
            | Self::Exited { during, .. }
            | Self::Silent { during, .. }
            | Self::Interrupted { during, .. } => *during = calls,
            Self::Confused => {}
        }
        self
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
        5 => "trap",
        6 => "abort",
        7 => "bus error",
        8 => "arithmetic exception",
        9 => "killed, perhaps for want of memory",
        11 => "segmentation fault",
        15 => "terminated",
        24 => "time limit of the processor",
        31 => "forbidden call of the system",
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
        let silent = ProcessLoss::silent(limit).during(" in fmi2DoStep".to_owned());
        let words = "did not answer within 0.5 s in fmi2DoStep, and its process was killed";
        assert!(silent.to_string().contains(words));
        assert!(silent.remedies().contains(&Remedy::MoreTime));
    }
}

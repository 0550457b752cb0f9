//! What happened inside FMUs, as far as it can be known when a run is over.

use std::sync::{Arc, PoisonError};

use dovetail_fmi::{Costs, Monitor, Notes};
use dovetail_workers::FinalNotes;

use crate::process::portable::read_final_report;

/// Where to learn what happened inside a system, once the run is over.
pub(crate) enum FmuReport {
    /// Nothing is known of systems that are no FMUs.
    None,
    /// An FMU in this process.
    Here(Arc<Monitor>),
    /// A system in another process, which reports when it ends.
    Remote(FinalNotes),
}

impl FmuReport {
    /// Costs and notes of an FMU.
    pub fn read(&self) -> Option<(Costs, Notes)> {
        match self {
            Self::None => None,
            Self::Here(monitor) => Some((monitor.costs(), monitor.notes())),
            Self::Remote(report) => {
                let end = report.lock().unwrap_or_else(PoisonError::into_inner);
                match &end.lost {
                    None => read_final_report(&end.notes),
                    Some(lost) => Some((
                        Costs::default(),
                        Notes {
                            bad_end: Some(lost.clone()),
                            ..Notes::default()
                        },
                    )),
                }
            }
        }
    }
}

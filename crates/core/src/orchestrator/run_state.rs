//! What the time loop itself keeps of a run, from step to step.

use super::Statistics;
use crate::checkpoint::{Archive, Checkpoint};
use crate::connections::Connections;
use crate::error::Error;
use crate::growth::Growth;
use crate::method::Method;
use crate::past::Past;
use crate::signal::Knot;
use crate::visit_fields;

/// How far a run has come: its past and its counts, without what its method and its systems keep.
pub struct RunState {
    pub(super) past: Past,
    pub(super) growth: Growth,
    pub(super) statistics: Statistics,
}

impl RunState {
    /// Before the start of a run by this method.
    pub fn new(connections: &Connections, method: &dyn Method) -> Self {
        let past = if method.looks_back() {
            Past::new(connections)
        } else {
            Past::newest_only(connections)
        };

        Self {
            past,
            growth: Growth::new(connections),
            statistics: Statistics::default(),
        }
    }

    /// The earliest time that any system has reached.
    pub fn reached(&self) -> f64 {
        self.past.reached()
    }

    /// The newest outputs of all systems, stacked.
    pub fn latest(&self) -> &[Knot] {
        self.past.latest()
    }

    /// From here on no step goes beyond this time; infinite: to the end of the run.
    pub fn set_limit(&mut self, limit: f64) {
        self.past.set_limit(limit);
    }

    /// Counts so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }
}

impl Checkpoint for RunState {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive, self.statistics, self.growth);
        self.past.visit(archive)
    }
}

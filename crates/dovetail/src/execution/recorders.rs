//! All that records a run, and what of it is in a checkpoint.

use dovetail_core::{Archive, Checkpoint, Error, Observer};
use dovetail_methods::CouplingResidual;
use dovetail_report::{Envelope, NoRows, Recorder, Rows, Trajectory, VariableRanges, Variables};
use dovetail_scenario::{Scenario, Session};

use super::Shown;
use crate::evidence::Interfaces;
use crate::verify::Thinned;

/// All that records a run.
pub(super) struct Recorders<'a> {
    /// Final values and ranges of all variables.
    pub extent: Recorder<VariableRanges>,
    pub residual: CouplingResidual<'a>,
    /// What interfaces leave open, where the method does not know its error.
    pub interfaces: Option<Recorder<Interfaces>>,
    pub shown: Option<Recorder<Shown>>,
    pub drawn: Option<Recorder<Envelope>>,
    pub measured: Option<Recorder<Trajectory>>,
    /// What the runs that verify this one are compared with.
    pub sampled: Option<Recorder<Thinned>>,
    /// Where all variables are, for rows that are asked for when the run is resumed.
    pub track: Option<Recorder<NoRows>>,
}

impl Recorders<'_> {
    /// All who watch the run: these, and others.
    pub fn observers<'o>(
        &'o mut self,
        others: &'o mut [&mut dyn Observer],
    ) -> Vec<&'o mut dyn Observer> {
        let mut observers = self.own_observers();
        for other in others {
            observers.push(&mut **other);
        }
        observers
    }

    /// What is shown of a run goes on where the track of a checkpoint is.
    pub fn take_up(&mut self) {
        let Some(track) = &self.track else { return };
        if let Some(shown) = &mut self.shown {
            shown.take_up(track);
        }
        if let Some(drawn) = &mut self.drawn {
            drawn.take_up(track);
        }
    }

    fn own_observers(&mut self) -> Vec<&mut dyn Observer> {
        let mut observers: Vec<&mut dyn Observer> = vec![&mut self.extent, &mut self.residual];
        observers.extend(self.interfaces.as_mut().map(|r| r as &mut dyn Observer));
        observers.extend(self.shown.as_mut().map(|r| r as &mut dyn Observer));
        observers.extend(self.drawn.as_mut().map(|r| r as &mut dyn Observer));
        observers.extend(self.measured.as_mut().map(|r| r as &mut dyn Observer));
        observers.extend(self.sampled.as_mut().map(|r| r as &mut dyn Observer));
        observers.extend(self.track.as_mut().map(|r| r as &mut dyn Observer));

        observers
    }
}

/// What a summary of the whole run needs, and where rows go on; what is shown of a run begins anew where it is resumed.
impl Checkpoint for Recorders<'_> {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        self.extent.visit(archive)?;
        self.residual.visit(archive)?;
        archive.same(
            "what is looked at for the verdict",
            &self.interfaces.is_some(),
        )?;
        if let Some(interfaces) = &mut self.interfaces {
            interfaces.visit(archive)?;
        }
        archive.same("whether the error is verified", &self.sampled.is_some())?;
        if let Some(sampled) = &mut self.sampled {
            sampled.visit(archive)?;
        }
        match &mut self.track {
            Some(track) => track.visit(archive),
            None => Ok(()),
        }
    }
}

/// A recorder that nobody reads but those who resume the run.
pub(super) fn track(scenario: &Scenario, session: &Session<'_>, rows: Rows) -> Recorder<NoRows> {
    let connections = &scenario.connections;
    let everything = Variables::of(connections)
        .with_signals(&session.signals())
        .everything();
    let track = Recorder::new(connections, &everything, NoRows, "the checkpoint");
    track.with_rows(rows).with_both_sides()
}

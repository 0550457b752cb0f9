//! A recorder in a checkpoint, and recorders that go on from one.

use dovetail_core::{Archive, Checkpoint, Error, visit_fields};

use super::{Recorder, SignalColumn};
use crate::sink::Sink;

impl<S: Sink> Recorder<S> {
    /// Goes on where `track` is, a recorder of all variables and signals of the same run: with the rows that this one would have
    /// had from there on.
    ///
    /// The rows between communication times are the same to the last bit where both have rows at the same times.
    pub fn take_up<T: Sink>(&mut self, track: &Recorder<T>) {
        self.synchronous = track.synchronous;
        self.began = track.began;
        self.row_time = track.row_time;
        let time = track.row_time.unwrap_or(f64::NEG_INFINITY);
        let wanted = self.schedule.take_up(&track.schedule, time);
        self.wanted = wanted.unwrap_or(track.wanted);

        if !self.synchronous {
            self.histories.iter_mut().for_each(|it| it.reserve());
        }
        for (own, other) in self.histories.iter_mut().zip(&track.histories) {
            own.take_up(other);
            for column in own.columns() {
                let same = other.columns().iter();
                let mut same =
                    same.filter(|it| (it.kind, it.position) == (column.kind, column.position));
                if let Some(found) = same.next() {
                    self.row[column.index] = track.row[found.index];
                }
            }
        }
        for SignalColumn { index, position } in &self.signals {
            let mut signals = track.signals.iter();
            if let Some(found) = signals.find(|it| it.position == *position) {
                self.row[*index] = track.row[found.index];
            }
        }
    }
}

/// What is recorded, and at which times, follows from the options of the run.
impl<S: Sink + Checkpoint> Checkpoint for Recorder<S> {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(
            archive,
            self.synchronous,
            self.row_time,
            self.wanted,
            self.began
        );
        self.schedule.visit(archive)?;
        archive.slice(&mut self.row)?;
        archive.parts(&mut self.histories)?;
        self.sink.visit(archive)
    }
}

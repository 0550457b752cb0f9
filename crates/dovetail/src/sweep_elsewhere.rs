//! Runs of a sweep at other places, which have read the same model: the ranks of an MPI program.

use std::io;

use dovetail_study::{Progress, Row};

use crate::sweep::{Sweep, SweepStops, SweptRun};

/// Other places that make runs of the same sweep, one at a time each.
pub trait OtherPlaces {
    /// How many there are.
    fn count(&self) -> usize;

    /// Has a place make this run.
    fn start(&mut self, place: usize, run: usize) -> io::Result<()>;

    /// Waits for the row of the run that a place was asked for, as [`answer_run`] writes it.
    fn finish(&mut self, place: usize) -> io::Result<Vec<u8>>;
}

/// What another place answers to the question for a run.
pub fn answer_run(sweep: &Sweep<'_>, run: usize) -> Vec<u8> {
    let interrupted = std::sync::atomic::AtomicBool::new(false);
    let row = sweep.one_run(run, &interrupted).row;
    row.line(sweep.columns().kept.len())
}

impl Sweep<'_> {
    /// As [`run_from`](Sweep::run_from), with the runs dealt in turn to this place and the others. The rows are the same to the
    /// last bit; only runs of this place have curves.
    pub fn run_from_with(
        &self,
        first: usize,
        others: &mut dyn OtherPlaces,
        stops: &SweepStops<'_>,
        take: &mut dyn FnMut(SweptRun) -> io::Result<()>,
    ) -> io::Result<Progress> {
        let runs = self.design().runs();
        let interrupted = || stops.interrupted.load(std::sync::atomic::Ordering::Relaxed);
        let mut next = first;
        while next < runs && !interrupted() && !(stops.starting)() {
            let asked = others.count().min(runs - next - 1);
            for place in 0..asked {
                others.start(place, next + 1 + place)?;
            }
            let own = self.one_run(next, stops.interrupted);
            let given_up = interrupted();
            if !given_up {
                take(own)?;
            }
            for place in 0..asked {
                let line = others.finish(place)?;
                if !given_up {
                    take(self.answered(&line)?)?;
                }
            }
            if given_up {
                break;
            }
            next += 1 + asked;
        }
        Ok(Progress {
            done: next,
            complete: next == runs,
        })
    }

    fn answered(&self, line: &[u8]) -> io::Result<SweptRun> {
        let row = Row::parse(line, &self.columns());
        let row = row.ok_or_else(|| io::Error::other("another place answered no row"))?;
        Ok(SweptRun { row, curves: None })
    }
}

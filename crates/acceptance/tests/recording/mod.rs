//! Everything that an enclosure reports, and what of it holds at a time.

#![allow(dead_code, reason = "every test program uses a part of it")]

use dovetail_guaranteed::{
    EnclosureObserver, EnclosureOutcome, Interval, Method, Options, Pieces, Problem, enclose,
};

/// What was reported.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    steps: usize,
    /// After how many steps to stop, if not after more than any model here needs.
    patience: Option<usize>,
    pub instants: Vec<(f64, Vec<Interval>)>,
    pub tubes: Vec<(f64, f64, Vec<Interval>)>,
}

impl EnclosureObserver for Recording {
    fn instant(&mut self, time: f64, states: &[Interval]) {
        self.instants.push((time, states.to_vec()));
    }

    fn tube(&mut self, from: f64, to: f64, states: &[Interval]) {
        self.tubes.push((from, to, states.to_vec()));
    }

    /// More steps than any model here needs are a failure, not a reason to wait.
    fn proceed(&mut self, _reached: f64) -> bool {
        self.steps += 1;
        self.steps < self.patience.unwrap_or(20_000)
    }
}

impl Recording {
    /// Stops after so many steps.
    pub fn patient(steps: usize) -> Self {
        Self {
            patience: Some(steps),
            ..Self::default()
        }
    }

    /// Fails unless tubes follow one another from `start` to `stop` and an instant is reported
    /// between each two of them.
    pub fn assert_complete(&self, start: f64, stop: f64) {
        let ends = || std::iter::once(start).chain(self.tubes.iter().map(|(_, to, _)| *to));
        assert!(
            ends().eq(self.instants.iter().map(|(time, _)| *time)),
            "instants are not the ends of tubes"
        );
        assert!(
            self.tubes
                .iter()
                .map(|(from, ..)| *from)
                .eq(ends().take(self.tubes.len())),
            "tubes leave gaps"
        );
        assert_eq!(ends().last(), Some(stop), "the end is not reached");
    }

    /// What holds at `time`: of every box that says something about it, what they have in common.
    pub fn at(&self, time: f64) -> Vec<Interval> {
        let instants = self
            .instants
            .iter()
            .filter(|(t, _)| *t == time)
            .map(|(_, states)| states);
        let tubes = self
            .tubes
            .iter()
            .filter(|(from, to, _)| *from <= time && time <= *to)
            .map(|(.., states)| states);
        let meet = |all: Vec<Interval>, states: &Vec<Interval>| {
            let both = all
                .iter()
                .zip(states)
                .map(|(a, b)| a.intersection(*b).expect("boxes that exclude each other"));
            both.collect()
        };
        let mut boxes = instants.chain(tubes);
        let first = boxes
            .next()
            .expect("nothing is recorded of this time")
            .clone();
        boxes.fold(first, meet)
    }
}

/// The default method.
pub fn shared(step: Option<f64>, output_interval: Option<f64>) -> Options {
    Options {
        method: Method::SharedSymbols,
        step,
        output_interval,
        threads: 1,
        pieces: Pieces::Automatic,
    }
}

/// Encloses to the end.
pub fn enclosed(problem: &Problem, options: &Options) -> (EnclosureOutcome, Recording) {
    let mut recording = Recording::default();
    let outcome = enclose(problem, options, &mut recording);
    assert_eq!(outcome.stopped, None);
    (outcome, recording)
}

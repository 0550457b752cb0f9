//! Whether threads would pay: what the calls of a while cost in a single thread, and what they
//! would have cost in several.

use dovetail_core::Work;

use crate::assignment::Assignment;

/// What handing tasks to other threads and taking them back costs, about: twice what the benchmark
/// `workers` shows on free cores (5 µs), since cores are rarely quite free.
const HANDOFF_SECONDS: f64 = 10e-6;
/// Threads have to save so much of the time of the systems to be used: less is not worth a core.
const WORTH: f64 = 0.2;
/// After so many calls the costs of systems are known well enough to deal them out.
const CALLS_FOR_COSTS: usize = 8;
/// After so many more it is decided.
const CALLS_FOR_DECISION: usize = 24;

/// Watches the calls of a single thread.
pub(super) struct Measurement {
    groups: Vec<usize>,
    threads: usize,
    calls: usize,
    /// Seconds that were spent in each system when it was last looked at, and within the calls
    /// watched.
    seen: Vec<f64>,
    costs: Vec<f64>,
    /// How systems would be dealt out, once costs are known.
    assignment: Option<Assignment>,
    loads: Vec<f64>,
    /// Of each call, what it took and what it would take: in a single thread, and in several.
    single: Vec<f64>,
    parallel: Vec<f64>,
    /// And what it took for whoever made it.
    elapsed: Vec<f64>,
}

/// What the calls that were watched have shown.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Finding {
    /// Seconds of a call that were spent in systems, in a single thread.
    pub single: f64,
    /// Seconds that it would take, or less, in the threads of the assignment.
    pub parallel: f64,
    /// Seconds that a call took for whoever made it.
    pub elapsed: f64,
    /// How to deal the systems out.
    pub assignment: Assignment,
}

impl Finding {
    /// Whether threads would be faster by a margin.
    pub fn pays(&self) -> bool {
        self.parallel < (1.0 - WORTH) * self.single
    }
}

impl Measurement {
    /// Begins to watch systems that have worked so much so far.
    pub fn new(groups: &[usize], threads: usize, work: &[Work]) -> Self {
        Self {
            groups: groups.to_vec(),
            threads,
            calls: 0,
            seen: work.iter().map(|work| work.seconds).collect(),
            costs: vec![0.0; groups.len()],
            assignment: None,
            loads: vec![0.0; threads],
            single: Vec::with_capacity(CALLS_FOR_DECISION),
            parallel: Vec::with_capacity(CALLS_FOR_DECISION),
            elapsed: Vec::with_capacity(CALLS_FOR_DECISION),
        }
    }

    /// A call has been made and took so long; what is found once there were enough.
    pub fn note_call(&mut self, work: &[Work], elapsed: f64) -> Option<Finding> {
        self.calls += 1;
        self.loads.fill(0.0);
        let seconds = work.iter().map(|work| work.seconds).zip(&mut self.seen);

        for (system, (now, seen)) in seconds.enumerate() {
            let spent = now - *seen;
            *seen = now;
            self.costs[system] += spent;
            if let Some(assignment) = &self.assignment {
                self.loads[assignment.thread(system)] += spent;
            }
        }

        if self.assignment.is_some() {
            self.compare_loads();
            self.elapsed.push(elapsed);
        } else if self.calls == CALLS_FOR_COSTS {
            let assignment = Assignment::balanced(&self.costs, &self.groups, self.threads);
            self.assignment = Some(assignment);
        }
        self.finding()
    }

    fn compare_loads(&mut self) {
        let busy = self.loads.iter().filter(|load| **load > 0.0).count();
        let largest = self.loads.iter().copied().fold(0.0, f64::max);
        let handoff = if busy > 1 { HANDOFF_SECONDS } else { 0.0 };
        self.single.push(self.loads.iter().sum());
        self.parallel.push(largest + handoff);
    }

    fn finding(&mut self) -> Option<Finding> {
        if self.single.len() < CALLS_FOR_DECISION {
            return None;
        }

        Some(Finding {
            single: median(&mut self.single),
            parallel: median(&mut self.parallel),
            elapsed: median(&mut self.elapsed),
            assignment: self.assignment.take()?,
        })
    }
}

/// Other programs disturb a call now and then, and some last much longer: what is in the middle
/// says more than the mean.
pub(super) fn median(numbers: &mut [f64]) -> f64 {
    let middle = numbers.len() / 2;
    let (_, median, _) = numbers.select_nth_unstable_by(middle, f64::total_cmp);
    *median
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found where, in call n, each system takes so long.
    fn find(systems: usize, groups: &[usize], seconds: impl Fn(usize, usize) -> f64) -> Finding {
        let mut work = vec![Work::default(); systems];
        let mut measurement = Measurement::new(groups, 2, &work);
        for call in 0.. {
            for (system, work) in work.iter_mut().enumerate() {
                work.seconds += seconds(call, system);
            }
            if let Some(finding) = measurement.note_call(&work, 0.0) {
                return finding;
            }
        }
        unreachable!("calls do not end")
    }

    #[test]
    fn two_heavy_systems_are_worth_two_threads() {
        let found = find(2, &[0, 1], |_, _| 1e-3);
        assert!(found.pays());
        assert!((found.single - 2e-3).abs() < 1e-12);
        assert!((found.parallel - 1.01e-3).abs() < 1e-12);
    }

    #[test]
    fn light_systems_are_not() {
        assert!(!find(100, &(0..100).collect::<Vec<_>>(), |_, _| 1e-7).pays());
    }

    #[test]
    fn one_heavy_system_among_light_ones_is_not() {
        let seconds = |_, system| if system == 0 { 1e-3 } else { 1e-6 };
        assert!(!find(10, &(0..10).collect::<Vec<_>>(), seconds).pays());
    }

    #[test]
    fn systems_that_work_in_turns_are_not() {
        let seconds = |call, system| {
            if call % 2 == system { 1e-3 } else { 0.0 }
        };
        assert!(!find(2, &[0, 1], seconds).pays());
    }

    #[test]
    fn a_few_calls_that_were_disturbed_change_nothing() {
        let seconds = |call, system| {
            let disturbed = call % 4 == 0 && system == 0;
            if disturbed { 20e-3 } else { 1e-3 }
        };
        assert!(find(2, &[0, 1], seconds).pays());
    }

    #[test]
    fn systems_that_must_stay_together_are_not() {
        assert!(!find(2, &[0, 0], |_, _| 1e-3).pays());
    }
}

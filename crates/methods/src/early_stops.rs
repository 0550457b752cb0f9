//! Events that only trials find: a system that cannot announce an event, because it depends on the
//! inputs, stops its trial there.
//!
//! The attempt is then given up, and the next one ends at the event. Its inputs differ a little,
//! and so may the time of the event, which may now be just beyond the end of the step as well: it
//! is met where a trial stops so near to the end of the step that the rest does not count. Where this does not settle, or the event is too near to the start
//! of the step for a step of its own, the step ends just beyond, and the system crosses the event
//! within it.

use dovetail_core::{MacroStep, Response, Task};
use serde::{Deserialize, Serialize};

use crate::due_tasks::due;

/// What is left of a step does not count below this part of it.
const RESOLUTION: f64 = 1e-10;
/// An event within this part of a step beyond its end could have been its end.
const BEYOND: f64 = 0.01;
/// Attempts from one start that are given up before a step goes over the event.
const PATIENCE: i32 = 5;
/// Events within this part of the longest step of one another, or within what does not count, are a
/// crowd.
const CROWDED: f64 = 5e-3;

/// A crowd of so many is more than events that happen to be close.
const LARGE_CROWD: i32 = 20;

/// What is known of an event ahead.
#[derive(Serialize, Deserialize)]
pub(crate) struct EarlyStops {
    /// The longest step.
    longest: f64,
    /// Where the attempts begin, how many of them were given up, and where the next one is to end.
    start: f64,
    given_up: i32,
    end: f64,
    /// Steps to crowded events, one after the other. What does not count grows with them: where
    /// events have no end, time still has to move on.
    crowd: i32,
    /// The longest time that has not counted beside an event of a crowd; zero where there was none.
    pub dwell: f64,
    /// In the attempt under way a trial has stopped just before the end of the step.
    pub grazed: bool,
}

impl EarlyStops {
    /// Nothing is known yet; steps are at most so long.
    pub fn new(longest: f64) -> Self {
        Self {
            longest,
            start: f64::NAN,
            given_up: 0,
            end: f64::INFINITY,
            crowd: 0,
            dwell: 0.0,
            grazed: false,
        }
    }

    /// An attempt from `start` begins; the time at which it has to end at the latest, beside the
    /// events that are announced.
    pub fn begin(&mut self, start: f64) -> f64 {
        if self.start != start {
            self.start = start;
            self.given_up = 0;
            self.end = f64::INFINITY;
        }

        self.grazed = false;
        self.end
    }

    /// Looks at the answers to a trial of `step`; true if the attempt is to be given up.
    pub fn notice(&mut self, step: MacroStep, tasks: &[Task]) -> bool {
        let event = due(tasks)
            .map(|task| event_of(step, &task.response))
            .fold(f64::INFINITY, f64::min)
            .max(step.start);
        let resolution = self.resolution(step);
        if event == step.end || event == f64::INFINITY {
            return false;
        }

        if (step.end - event).abs() <= resolution {
            self.grazed = true;
            return false;
        }

        self.given_up += 1;
        let over = self.given_up > PATIENCE || event - step.start <= resolution;
        if over && event > step.end {
            return false; // it is met with the next step
        }
        self.end = if over {
            event + self.resolution(step) / 2.0
        } else {
            event
        };

        true
    }

    /// The step ends at an event, but under inputs that the systems do not confirm: once more to
    /// the same end, while there is patience.
    pub fn try_again(&mut self, step: MacroStep) -> bool {
        self.given_up += 1;
        self.end = step.end;
        self.given_up <= PATIENCE
    }

    /// The attempt has led to a step.
    pub fn accepted(&mut self, step: MacroStep) {
        let met = self.grazed || step.end == self.end;
        let crowded = step.size() <= self.resolution(step).max(CROWDED * self.longest);
        if self.crowd > LARGE_CROWD {
            self.dwell = self.dwell.max(self.resolution(step));
        }
        self.crowd = match met && crowded {
            true => self.crowd + 2,
            // Between two of a crowd there may be a step that meets none.
            false => (self.crowd - 1).max(0),
        };
    }

    /// What does not count beside a step.
    fn resolution(&self, step: MacroStep) -> f64 {
        let clock = 16.0 * f64::EPSILON * step.end.abs();
        let haste = (self.given_up - PATIENCE).max(0);
        if haste == 0 && self.crowd == 0 {
            return RESOLUTION * step.size() + clock;
        }

        let impatience = 10f64.powi(haste) * 2f64.powi(self.crowd.min(100));
        (RESOLUTION * impatience).min(1.0) * self.longest + clock
    }
}

/// When a system meets an event of its own in the step, or would just beyond; infinite if it does
/// not.
fn event_of(step: MacroStep, response: &Response) -> f64 {
    if response.reached < step.end {
        return response.reached;
    }
    let near = step.end + BEYOND * step.size();
    if response.located && response.next_event <= near {
        response.next_event
    } else {
        f64::INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dovetail_core::{Connections, Interface};

    /// A system whose next event is at `event(end of the step)`: the steps to it, and the attempts
    /// given up on the way.
    fn steps_over(mut start: f64, event: impl Fn(f64) -> f64, crossed: f64) -> (Vec<f64>, usize) {
        let connections = Connections::new(vec![Interface::default()], vec![]);
        let mut stops = EarlyStops::new(0.1);
        let mut tasks = connections.tasks(0);
        let mut ends = vec![];
        let mut given_up = 0;
        while start < crossed {
            let end = (start + 0.1).min(stops.begin(start));
            assert!(end > start, "time moves on");
            let step = MacroStep::new(start, end);
            let event = event(end);
            tasks[0].response.reached = if event < start { end } else { end.min(event) };
            if stops.notice(step, &tasks) {
                given_up += 1;
                assert!(given_up < 1000, "it comes to an end");
            } else {
                stops.accepted(step);
                ends.push(end);
                start = end;
            }
        }
        (ends, given_up)
    }

    #[test]
    fn an_event_that_stays_is_met_at_once() {
        assert_eq!(steps_over(0.0, |_| 0.05, 0.05), (vec![0.05], 1));
    }

    #[test]
    fn one_that_moves_with_the_step_is_met_where_it_settles() {
        let (ends, given_up) = steps_over(0.0, |end| 0.05 + 0.01 * (end - 0.05), 0.05);
        assert!(
            ends.len() == 1 && given_up < 6 && (ends[0] - 0.05).abs() < 1e-10,
            "{ends:?}, {given_up}"
        );
    }

    #[test]
    fn one_that_never_settles_is_stepped_over() {
        // Always half a step away.
        let (ends, given_up) = steps_over(0.0, |end| end / 2.0, 1e-9);
        assert!(ends.len() == 1 && given_up < 20, "{ends:?}, {given_up}");
    }

    #[test]
    fn events_without_end_do_not_stop_time() {
        let (ends, _) = steps_over(0.0, |_| 0.0, 0.0);
        assert!(ends.is_empty());
        let mut start = 1.0;
        let connections = Connections::new(vec![Interface::default()], vec![]);
        let mut stops = EarlyStops::new(0.1);
        let mut tasks = connections.tasks(0);
        let mut attempts = 0;
        while start < 2.0 {
            let step = MacroStep::new(start, stops.begin(start).min(start + 0.1));
            tasks[0].response.reached = start.next_up().min(step.end);
            if !stops.notice(step, &tasks) {
                stops.accepted(step);
                start = step.end;
            }
            attempts += 1;
            assert!(attempts < 1000, "{start}");
        }
    }
}

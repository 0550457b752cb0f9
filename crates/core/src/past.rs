//! What was: per system, its own communication times and outputs.

use crate::checkpoint::{Archive, Checkpoint};
use crate::connections::Connections;
use crate::error::Error;
use crate::signal::Knot;
use crate::task::Task;

/// How many points of each system are kept: enough for cubics with a few to spare.
const DEPTH: usize = 8;

/// The recent past of all systems. Order selection, damped amplitudes and control parts are functions of it.
pub struct Past {
    newest: Vec<Newest>,
    /// Newest outputs, stacked.
    latest: Vec<Knot>,
    /// The earliest times in `newest`: they are asked for with every step.
    reached: f64,
    next_event: f64,
    /// No step goes beyond this time. Unlike an event it means nothing to the systems.
    limit: f64,
    /// Empty where only the newest points are kept.
    histories: Vec<History>,
}

/// Where one system stands.
#[derive(Clone, Copy, serde::Serialize, serde::Deserialize)]
struct Newest {
    /// The time that it has reached; NaN before the first answer.
    time: f64,
    /// When it is known to switch next.
    next_event: f64,
    /// Where its outputs are among all outputs.
    first_output: usize,
}

/// One system's recent points, in a ring.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct History {
    times: [f64; DEPTH],
    knots: Vec<Knot>,
    newest: usize,
    count: usize,
    /// Points since the last event, the one on its far side included.
    since_event: usize,
}

impl History {
    fn new(outputs: usize) -> Self {
        let knots = vec![Knot::value_only(f64::NAN); DEPTH * outputs];
        Self {
            times: [f64::NAN; DEPTH],
            knots,
            newest: 0,
            count: 0,
            since_event: 0,
        }
    }

    /// A second answer for the same time replaces the first. An instant starts the past anew: an event was crossed.
    fn push(&mut self, time: f64, instant: bool, outputs: &[Knot]) {
        if self.count == 0 || self.times[self.newest] != time {
            self.newest = (self.newest + 1) % DEPTH;
            self.count = (self.count + 1).min(DEPTH);
        }

        self.since_event = if instant {
            1
        } else {
            (self.since_event + 1).min(DEPTH)
        };
        self.times[self.newest] = time;
        self.knots[self.newest * outputs.len()..][..outputs.len()].copy_from_slice(outputs);
    }

    fn slot(&self, age: usize) -> usize {
        assert!(age < self.count, "BUG: a point older than the past");
        (self.newest + DEPTH - age) % DEPTH
    }
}

impl Past {
    /// An empty past.
    pub fn new(connections: &Connections) -> Self {
        let history = |k: usize| History::new(connections.outputs_of(k).len());
        Self {
            histories: (0..connections.systems()).map(history).collect(),
            ..Self::newest_only(connections)
        }
    }

    /// An empty past that will keep the newest points only, for methods that do not look back any further.
    pub fn newest_only(connections: &Connections) -> Self {
        let first_output = |k: usize| connections.outputs_of(k).start;
        let newest = |k: usize| Newest {
            time: f64::NAN,
            next_event: f64::INFINITY,
            first_output: first_output(k),
        };

        Self {
            newest: (0..connections.systems()).map(newest).collect(),
            latest: vec![Knot::value_only(f64::NAN); connections.outputs()],
            reached: f64::INFINITY,
            next_event: f64::INFINITY,
            limit: f64::INFINITY,
            histories: Vec::new(),
        }
    }

    /// Takes in what the due tasks were answered.
    pub fn record(&mut self, tasks: &[Task]) {
        let (mut all, mut reached, mut next_event) = (
            tasks.len() == self.newest.len(),
            f64::INFINITY,
            f64::INFINITY,
        );
        for task in tasks {
            if !task.due {
                all = false;
                continue;
            }
            reached = earlier(reached, task.response.reached);
            next_event = earlier(next_event, task.response.next_event);
            let (newest, response) = (&mut self.newest[task.system], &task.response);
            (newest.time, newest.next_event) = (response.reached, response.next_event);
            // One by one: a few numbers are not worth the call that copies them as a block.
            for (output, knot) in (newest.first_output..).zip(&response.outputs) {
                self.latest[output] = *knot;
            }
            if let Some(history) = self.histories.get_mut(task.system) {
                history.push(response.reached, task.step.is_instant(), &response.outputs);
            }
        }

        // Where all have answered, their answers say it all; otherwise those who rest count too.
        if !all {
            reached = self
                .newest
                .iter()
                .map(|newest| newest.time)
                .fold(f64::INFINITY, earlier);
            next_event = self
                .newest
                .iter()
                .map(|newest| newest.next_event)
                .fold(f64::INFINITY, earlier);
        }
        (self.reached, self.next_event) = (reached, next_event);
    }

    /// The earliest time that any system has reached.
    #[inline]
    pub fn reached(&self) -> f64 {
        self.reached
    }

    /// The earliest time at which any system is known to switch, or that no step goes beyond: where the next step ends at the
    /// latest, as far as systems are free.
    #[inline]
    pub fn next_event(&self) -> f64 {
        earlier(self.limit, self.next_event)
    }

    /// The time that no step goes beyond; infinite where there is none.
    #[inline]
    pub fn limit(&self) -> f64 {
        self.limit
    }

    /// From here on no step goes beyond this time. Whoever sets it is not announced as an event: nothing restarts there.
    pub fn set_limit(&mut self, limit: f64) {
        self.limit = limit;
    }

    /// The next time at which `system` is known to switch.
    pub fn next_event_of(&self, system: usize) -> f64 {
        self.newest[system].next_event
    }

    /// The time that `system` has reached.
    pub fn reached_by(&self, system: usize) -> f64 {
        self.newest[system].time
    }

    /// The newest outputs of all systems, stacked.
    #[inline]
    pub fn latest(&self) -> &[Knot] {
        &self.latest
    }

    /// How many points of `system` are kept.
    pub fn points(&self, system: usize) -> usize {
        self.history(system).count
    }

    /// How many of them lie after the last event, or on its far side: what came before says nothing of what comes.
    pub fn points_since_event(&self, system: usize) -> usize {
        self.history(system).since_event
    }

    /// Time and outputs of `system`, `age` communications ago (0: the newest).
    pub fn point(&self, system: usize, age: usize) -> (f64, &[Knot]) {
        let history = self.history(system);
        let (slot, outputs) = (history.slot(age), history.knots.len() / DEPTH);
        (
            history.times[slot],
            &history.knots[slot * outputs..][..outputs],
        )
    }

    fn history(&self, system: usize) -> &History {
        self.histories
            .get(system)
            .expect("BUG: a method that does not look back asks for what was")
    }
}

impl Checkpoint for Past {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        crate::visit_fields!(archive, self.reached, self.next_event);
        archive.slice(&mut self.newest)?;
        archive.slice(&mut self.latest)?;
        archive.slice(&mut self.histories)
    }
}

/// The earlier of two times; NaN is no time.
#[inline]
fn earlier(one: f64, other: f64) -> f64 {
    if other < one { other } else { one }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::{Interface, Output};
    use crate::macro_step::MacroStep;

    #[test]
    fn the_newest_points_stay_and_a_repeated_time_replaces() {
        let output = Output {
            name: "y".into(),
            ..Output::default()
        };
        let interface = Interface {
            name: "s".into(),
            outputs: vec![output].into(),
            ..Interface::default()
        };
        let connections = Connections::new(vec![interface], vec![]);
        let mut past = Past::new(&connections);
        let mut tasks = connections.tasks(0);
        for n in 0..20 {
            tasks[0].step = MacroStep::new(n as f64 - 1.0, n as f64);
            tasks[0].response.reached = n as f64;
            tasks[0].response.outputs[0] = Knot::from(10.0 * n as f64);
            past.record(&tasks);
        }
        tasks[0].step = MacroStep::instant(19.0);
        tasks[0].response.outputs[0] = Knot::from(-1.0);
        past.record(&tasks);
        assert_eq!(past.reached(), 19.0);
        assert_eq!(past.latest()[0].value, -1.0);
        assert_eq!((past.points(0), past.points_since_event(0)), (DEPTH, 1));
        assert_eq!(past.point(0, 1).0, 18.0);
        assert_eq!(past.point(0, 7).1[0].value, 120.0);
    }
}

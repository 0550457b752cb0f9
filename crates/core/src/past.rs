//! What was: per system, its own communication times and outputs.

use crate::{Connections, Knot, Task};

/// How many points of each system are kept: enough for cubics with a few to spare.
const DEPTH: usize = 8;

/// The recent past of all systems. Order selection, damped amplitudes and control parts are functions of it.
pub struct Past {
    systems: Vec<SystemPast>,
    /// Newest outputs, stacked.
    latest: Vec<Knot>,
    first_output: Vec<usize>,
}

/// One system's recent points, in a ring.
struct SystemPast {
    outputs: usize,
    times: [f64; DEPTH],
    knots: Vec<Knot>,
    newest: usize,
    count: usize,
    /// Points since the last event, the one on its far side included.
    since_event: usize,
    next_event: f64,
}

impl SystemPast {
    fn new(outputs: usize) -> Self {
        let knots = vec![Knot::value_only(f64::NAN); DEPTH * outputs];
        let times = [f64::NAN; DEPTH];
        Self { outputs, times, knots, newest: 0, count: 0, since_event: 0, next_event: f64::INFINITY }
    }

    /// A second answer for the same time replaces the first. An instant starts the past anew: an event was crossed.
    fn push(&mut self, time: f64, instant: bool, outputs: &[Knot]) {
        if self.count == 0 || self.times[self.newest] != time {
            self.newest = (self.newest + 1) % DEPTH;
            self.count = (self.count + 1).min(DEPTH);
        }
        self.since_event = if instant { 1 } else { (self.since_event + 1).min(DEPTH) };
        self.times[self.newest] = time;
        self.knots[self.newest * self.outputs..][..self.outputs].copy_from_slice(outputs);
    }

    fn slot(&self, age: usize) -> usize {
        assert!(age < self.count, "BUG: a point older than the past");
        (self.newest + DEPTH - age) % DEPTH
    }
}

impl Past {
    /// An empty past.
    pub fn new(connections: &Connections) -> Self {
        let outputs = |k: usize| connections.outputs_of(k).len();
        Self {
            systems: (0..connections.systems()).map(|k| SystemPast::new(outputs(k))).collect(),
            latest: vec![Knot::value_only(f64::NAN); connections.outputs()],
            first_output: (0..connections.systems()).map(|k| connections.outputs_of(k).start).collect(),
        }
    }

    /// Takes in what the due tasks were answered.
    pub fn record(&mut self, tasks: &[Task]) {
        for task in tasks.iter().filter(|task| task.due) {
            let outputs = &task.response.outputs;
            let system = &mut self.systems[task.system];
            system.push(task.response.reached, task.step.is_instant(), outputs);
            system.next_event = task.response.next_event;
            self.latest[self.first_output[task.system]..][..outputs.len()].copy_from_slice(outputs);
        }
    }

    /// The earliest time that any system has reached.
    pub fn reached(&self) -> f64 {
        self.systems.iter().map(|s| s.times[s.newest]).fold(f64::INFINITY, f64::min)
    }

    /// The earliest time at which any system is known to switch.
    pub fn next_event(&self) -> f64 {
        self.systems.iter().map(|s| s.next_event).fold(f64::INFINITY, f64::min)
    }

    /// The next time at which `system` is known to switch.
    pub fn next_event_of(&self, system: usize) -> f64 {
        self.systems[system].next_event
    }

    /// The time that `system` has reached.
    pub fn reached_by(&self, system: usize) -> f64 {
        let past = &self.systems[system];
        past.times[past.newest]
    }

    /// The newest outputs of all systems, stacked.
    pub fn latest(&self) -> &[Knot] {
        &self.latest
    }

    /// How many points of `system` are kept.
    pub fn points(&self, system: usize) -> usize {
        self.systems[system].count
    }

    /// How many of them lie after the last event, or on its far side: what came before says nothing of what comes.
    pub fn points_since_event(&self, system: usize) -> usize {
        self.systems[system].since_event
    }

    /// Time and outputs of `system`, `age` communications ago (0: the newest).
    pub fn point(&self, system: usize, age: usize) -> (f64, &[Knot]) {
        let past = &self.systems[system];
        let slot = past.slot(age);
        (past.times[slot], &past.knots[slot * past.outputs..][..past.outputs])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Interface, MacroStep, Output};

    #[test]
    fn the_newest_points_stay_and_a_repeated_time_replaces() {
        let output = Output { name: "y".into(), ..Output::default() };
        let interface = Interface { name: "s".into(), outputs: vec![output], ..Interface::default() };
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

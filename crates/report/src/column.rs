//! Columns of a row, and where their values are found in what a system answers.

use dovetail_core::{Connections, Knot, SignalKind, Task};

use crate::variables::{Kind, Variable};

/// A column of the row, and which of the system's variables it shows.
pub(crate) struct RecordedColumn {
    pub index: usize,
    pub kind: Kind,
    pub position: usize,
    /// It jumps from value to value.
    pub held: bool,
}

impl RecordedColumn {
    pub fn new(index: usize, variable: &Variable, connections: &Connections) -> Self {
        Self {
            index,
            kind: variable.kind,
            position: variable.position,
            held: jumps(variable, connections),
        }
    }

    /// The value after `elapsed` time, the end of what the task has done.
    #[inline]
    pub fn value(&self, task: &Task, elapsed: f64) -> f64 {
        match self.kind {
            Kind::Input => task.inputs[self.position].value(elapsed),
            Kind::State => task.response.states[self.position],
            Kind::Output => task.response.outputs[self.position].value,
            Kind::Signal => f64::NAN, // not a task's affair
        }
    }

    /// The same with slope and curvature, as far as they are known.
    pub fn knot(&self, task: &Task, elapsed: f64) -> Knot {
        match self.kind {
            Kind::Output => task.response.outputs[self.position],
            Kind::State => self.state_knot(task),
            Kind::Input | Kind::Signal => Knot::value_only(self.value(task, elapsed)),
        }
    }

    /// The same at a knot within the step.
    pub fn knot_on_path(&self, task: &Task, knot: usize) -> Knot {
        let path = &task.response.path;
        match self.kind {
            Kind::Output => path.outputs(knot)[self.position],
            Kind::State => path.states(knot)[self.position],
            Kind::Input => {
                let elapsed = path.times()[knot] - task.step.start;
                Knot::value_only(task.inputs[self.position].value(elapsed))
            }
            Kind::Signal => Knot::value_only(f64::NAN),
        }
    }

    fn state_knot(&self, task: &Task) -> Knot {
        let [slope, curvature] = task.response.motion[self.position];
        Knot {
            value: task.response.states[self.position],
            slope,
            curvature,
        }
    }
}

fn jumps(variable: &Variable, connections: &Connections) -> bool {
    let interface = || &connections.interfaces()[variable.system];
    variable.kind == Kind::Output
        && interface().outputs[variable.position].kind != SignalKind::Continuous
}

/// The time since the step began. The size of the step, not the difference of its ends, which may
/// be off by rounding; the latter only where the system stopped early.
pub(crate) fn elapsed(task: &Task) -> f64 {
    let reached = task.response.reached;
    if reached == task.step.end {
        task.step.size()
    } else {
        reached - task.step.start
    }
}

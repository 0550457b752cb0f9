//! A system in its slot, and the calls it can receive.

use dovetail_core::{
    Capabilities, Error, EvaluateTask, Interface, Linearization, LinearizeTask, OperatorShape,
    OperatorTask, System, Task, Work, evaluation_of, linearization_of, trial_of,
};

use crate::operator_workspaces::OperatorWorkspaces;
use crate::stopwatch::Stopwatch;

/// A system, and what it has done so far.
pub(crate) struct Slot {
    pub system: Box<dyn System>,
    pub work: Work,
    pub stopwatch: Stopwatch,
}

impl Slot {
    pub fn new(system: Box<dyn System>) -> Self {
        Self {
            system,
            work: Work::default(),
            stopwatch: Stopwatch::default(),
        }
    }
}

/// What is known of systems before they are asked anything: their interfaces, and what they can do.
#[derive(Default)]
pub(crate) struct Known {
    pub interfaces: Vec<Interface>,
    pub capabilities: Vec<Capabilities>,
}

impl Known {
    pub fn of(systems: &mut [Box<dyn System>]) -> Self {
        Self {
            interfaces: systems.iter().map(|s| s.interface().clone()).collect(),
            capabilities: systems
                .iter_mut()
                .map(|s| Capabilities::of(s.as_mut()))
                .collect(),
        }
    }
}

/// One call of the system in a slot, with room that the systems of a thread share.
pub(crate) type Operation<T> = fn(&mut Slot, &mut OperatorWorkspaces, &mut T) -> Result<(), Error>;

/// What systems are asked by: a task of either kind.
pub(crate) trait WorkerTask: Sized {
    /// Position of the system.
    fn system(&self) -> usize;

    /// Whether it takes part in this call.
    fn is_due(&self) -> bool;

    /// What lies in the place of a task that is elsewhere. It holds no memory and is not due.
    fn blank() -> Self;
}

impl WorkerTask for Task {
    fn system(&self) -> usize {
        self.system
    }

    fn is_due(&self) -> bool {
        self.due
    }

    fn blank() -> Self {
        Self {
            due: false,
            ..Self::new(0, &Interface::default(), 0)
        }
    }
}

impl WorkerTask for LinearizeTask {
    fn system(&self) -> usize {
        self.system
    }

    fn is_due(&self) -> bool {
        self.due
    }

    fn blank() -> Self {
        Self {
            system: 0,
            due: false,
            linearization: Linearization::zeros(0, 0, 0),
        }
    }
}

impl WorkerTask for EvaluateTask {
    fn system(&self) -> usize {
        self.system
    }

    fn is_due(&self) -> bool {
        self.due
    }

    fn blank() -> Self {
        Self {
            due: false,
            ..Self::new(0, &Interface::default())
        }
    }
}

impl WorkerTask for OperatorTask {
    fn system(&self) -> usize {
        self.system
    }

    fn is_due(&self) -> bool {
        self.due
    }

    fn blank() -> Self {
        Self::new(0, OperatorShape::of(&Interface::default(), 0, false, false))
    }
}

pub(crate) fn begin(
    slot: &mut Slot,
    _: &mut OperatorWorkspaces,
    task: &mut Task,
) -> Result<(), Error> {
    task.response.begin();
    slot.system
        .begin(task.step, &task.inputs, &mut task.response)
}

pub(crate) fn advance(
    slot: &mut Slot,
    _: &mut OperatorWorkspaces,
    task: &mut Task,
) -> Result<(), Error> {
    let Slot {
        system,
        work,
        stopwatch,
    } = slot;
    task.response.begin();
    stopwatch.time(&mut work.seconds, || {
        system.advance(task.step, &task.inputs, &mut task.response)
    })?;
    work.count_advance(task.step.is_instant(), &task.response);
    Ok(())
}

pub(crate) fn trial(
    slot: &mut Slot,
    _: &mut OperatorWorkspaces,
    task: &mut Task,
) -> Result<(), Error> {
    let Slot {
        system,
        work,
        stopwatch,
    } = slot;
    let trial = trial_of(system);
    task.response.begin();
    stopwatch.time(&mut work.seconds, || {
        trial.respond(task.step, &task.inputs, &mut task.response)
    })?;
    work.count_trial(&task.response);
    Ok(())
}

pub(crate) fn linearize(
    slot: &mut Slot,
    _: &mut OperatorWorkspaces,
    task: &mut LinearizeTask,
) -> Result<(), Error> {
    let Slot {
        system,
        work,
        stopwatch,
    } = slot;
    let linearize = linearization_of(system);
    stopwatch.time(&mut work.seconds, || {
        linearize.linearize_into(&mut task.linearization)
    })?;
    work.linearizations += 1;
    Ok(())
}

pub(crate) fn evaluate(
    slot: &mut Slot,
    _: &mut OperatorWorkspaces,
    task: &mut EvaluateTask,
) -> Result<(), Error> {
    let evaluate = evaluation_of(&mut slot.system);
    slot.stopwatch.time(&mut slot.work.seconds, || {
        evaluate.evaluate_into(task.time, &mut task.evaluation)
    })
}

/// The system itself has no part in it: its time is not counted.
pub(crate) fn operators(
    _: &mut Slot,
    workspaces: &mut OperatorWorkspaces,
    task: &mut OperatorTask,
) -> Result<(), Error> {
    workspaces.compute(task);
    Ok(())
}

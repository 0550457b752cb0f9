//! A system in its place, and the questions it can be asked.

use dovetail_core::{
    Error, Interface, Linearization, LinearizeTask, Stopwatch, System, Task, Work,
};

/// A system, and what it has done so far.
pub(crate) struct Seat {
    pub system: Box<dyn System>,
    pub work: Work,
    pub stopwatch: Stopwatch,
}

/// One question for the system in a seat.
pub(crate) type Ask<O> = fn(&mut Seat, &mut O) -> Result<(), Error>;

/// What systems are asked by: a task of either kind.
pub(crate) trait Order: Sized {
    /// Position of the system.
    fn system(&self) -> usize;

    /// Whether it takes part in this call.
    fn is_due(&self) -> bool;

    /// What lies in the place of an order that is elsewhere. It holds no memory and is not due.
    fn blank() -> Self;
}

impl Order for Task {
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

impl Order for LinearizeTask {
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
            elsewhere: None,
            linearization: Linearization::zeros(0, 0, 0),
        }
    }
}

pub(crate) fn begin(seat: &mut Seat, task: &mut Task) -> Result<(), Error> {
    task.response.begin();
    seat.system
        .begin(task.step, &task.inputs, &mut task.response)
}

pub(crate) fn advance(seat: &mut Seat, task: &mut Task) -> Result<(), Error> {
    let Seat {
        system,
        work,
        stopwatch,
    } = seat;
    task.response.begin();
    stopwatch.time(&mut work.seconds, || {
        system.advance(task.step, &task.inputs, &mut task.response)
    })?;
    work.count_advance(task.step.is_instant(), &task.response);
    Ok(())
}

pub(crate) fn trial(seat: &mut Seat, task: &mut Task) -> Result<(), Error> {
    let Seat {
        system,
        work,
        stopwatch,
    } = seat;
    let unit = system
        .trial()
        .expect("BUG: a trial was asked of a system without rollback");
    task.response.begin();
    stopwatch.time(&mut work.seconds, || {
        unit.respond(task.step, &task.inputs, &mut task.response)
    })?;
    work.count_trial(&task.response);
    Ok(())
}

pub(crate) fn linearize(seat: &mut Seat, task: &mut LinearizeTask) -> Result<(), Error> {
    let Seat {
        system,
        work,
        stopwatch,
    } = seat;
    let unit = system
        .linearize()
        .expect("BUG: a system without linearisation was linearised");
    stopwatch.time(&mut work.seconds, || task.carry_out(unit))?;
    work.linearizations += u64::from(task.elsewhere.is_none());
    Ok(())
}

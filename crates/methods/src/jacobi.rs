//! Non-iterative Jacobi: all systems step in parallel under the outputs of `t_N`, held.
//!
//! Needs: nothing. Order 1, and the one every method is measured against.
//! Convention: systems are black boxes, so an output with feedthrough is what the system answers after its step, under the
//! input that was held. Evaluating it again after the exchange would be another method (1.3 % instead of 5.8 % on the
//! mechanical case of the MISSILES paper).

use dovetail_core::{
    Capabilities, Connections, Error, Exchange, Grid, GridWalk, MacroStep, Method, Outcome, Past,
    StepRule, Task, Workers,
};

use crate::divergence::Divergence;
use crate::near_side::NearSide;

/// The method, with its buffers.
pub struct Jacobi<'a> {
    connections: &'a Connections,
    walk: GridWalk,
    tasks: Vec<Task>,
    divergence: Divergence,
    near_side: NearSide,
}

impl<'a> Jacobi<'a> {
    /// Jacobi on the communication times of `grid`.
    pub fn new(connections: &'a Connections, grid: Grid) -> Self {
        let divergence = Divergence::new(connections);
        let tasks = connections.tasks(0);
        Self {
            connections,
            walk: GridWalk::new(grid),
            near_side: NearSide::of(&tasks),
            tasks,
            divergence,
        }
    }
}

impl Method for Jacobi<'_> {
    fn name(&self) -> &'static str {
        "jacobi"
    }

    fn check(&self, capabilities: &[Capabilities]) -> Result<(), Error> {
        check_imposed_steps(
            self.name(),
            self.walk.grid(),
            self.connections,
            capabilities,
        )
    }

    fn looks_back(&self) -> bool {
        false
    }

    fn attempt(&mut self, past: &Past, workers: &mut dyn Workers) -> Result<Outcome<'_>, Error> {
        let step = self.walk.step(past.reached(), meeting_event(past, workers));
        let mut sources = self.connections.sources().iter();
        for task in &mut self.tasks {
            task.step = step;
            // The sources are stacked as the tasks are.
            for (signal, source) in task.inputs.iter_mut().zip(sources.by_ref()) {
                signal.hold(source.pick(past.latest()).value);
            }
        }
        workers.advance(&mut self.tasks)?;
        cross_event(step.end, &mut self.tasks, &mut self.near_side, workers)?;
        self.divergence
            .watch(self.name(), self.connections, &self.tasks)?;
        Ok(Outcome::Accepted(Exchange {
            tasks: &self.tasks,
            before: self.near_side.tasks(),
            iterations: 0,
            signals: &[],
        }))
    }
}

/// The next known event, as a time at which all systems can meet: not where one of them imposes its own step. Systems then
/// cross their events within their steps.
pub(crate) fn meeting_event(past: &Past, workers: &dyn Workers) -> f64 {
    let event = past.next_event();
    // Mostly no event is known, and then the systems need not be looked through.
    let imposed = || {
        workers
            .capabilities()
            .iter()
            .any(|c| c.step_rule != StepRule::Free)
    };
    if event < f64::INFINITY && imposed() {
        f64::INFINITY
    } else {
        event
    }
}

/// A step that ends on a known event answers the limit from the left; the next one starts from the right. So all systems are
/// asked once more, at the same time and under the same held inputs.
pub(crate) fn cross_event(
    now: f64,
    tasks: &mut [Task],
    near_side: &mut NearSide,
    workers: &mut dyn Workers,
) -> Result<(), Error> {
    near_side.clear();
    let ends = tasks.iter().any(|task| task.response.ends);
    if !ends && tasks.iter().any(|task| task.response.next_event <= now) {
        near_side.keep(tasks);
        tasks
            .iter_mut()
            .for_each(|task| task.step = MacroStep::instant(now));
        workers.advance(tasks)?;
    }
    Ok(())
}

/// A fixed common step must be a multiple of every step that a system imposes.
pub(crate) fn check_imposed_steps(
    method: &'static str,
    grid: &Grid,
    connections: &Connections,
    capabilities: &[Capabilities],
) -> Result<(), Error> {
    for (interface, capabilities) in connections.interfaces().iter().zip(capabilities) {
        if let StepRule::Imposed(size) = capabilities.step_rule
            && !grid.consists_of(size)
        {
            let need = format!(
                "steps of {} s up to t = {} s",
                grid.size(),
                grid.time(grid.count())
            );
            let instead = format!(
                "its own step is {size} s, and step and length of the run must be multiples of it (--step {size}, --stop-time)"
            );
            return Err(Error::missing(method, &interface.name, need, instead));
        }
    }
    Ok(())
}

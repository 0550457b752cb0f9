//! Non-iterative Jacobi: all systems step in parallel under the outputs of `t_N`, held.
//!
//! Needs: nothing. Order 1, and the one every method is measured against. Convention: systems are
//! black boxes, so an output with feedthrough is what the system answers after its step, under the
//! input that was held. Evaluating it again after the exchange would be another method (1.3 %
//! instead of 5.8 % on the mechanical case of the MISSILES paper).

use dovetail_core::{
    Archive, Checkpoint, Connections, Error, Exchange, Grid, GridCursor, HeldInputs, Method,
    Outcome, Past, Task, Workers, visit_fields,
};

use crate::divergence::Divergence;
use crate::events::{cross_event, meeting_event};
use crate::imposed_steps::{check_imposed_steps, exceeds_limit};
use crate::near_side::NearSide;
use crate::registry::context::Context;
use crate::registry::kind::{MethodKind, Properties};
use crate::registry::refusal::Refusal;
use crate::saved_steps::visit_steps;

/// The method's name, as users write it.
pub(crate) const NAME: &str = "jacobi";

/// The method, with its buffers.
pub struct Jacobi<'a> {
    connections: &'a Connections,
    cursor: GridCursor,
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
            cursor: GridCursor::new(grid),
            near_side: NearSide::default(),
            tasks,
            divergence,
        }
    }
}

impl Method for Jacobi<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn looks_back(&self) -> bool {
        false
    }

    fn checkpoint(&mut self) -> Option<&mut dyn Checkpoint> {
        Some(self)
    }

    fn holds_inputs(&mut self) -> Option<HeldInputs<'_>> {
        (!self.divergence.is_needed()).then_some(HeldInputs {
            cursor: &mut self.cursor,
            order: None,
        })
    }

    fn attempt(&mut self, past: &Past, workers: &mut dyn Workers) -> Result<Outcome<'_>, Error> {
        let step = self
            .cursor
            .step(past.reached(), meeting_event(past, workers));
        if exceeds_limit(step, past) {
            return Ok(Outcome::Finished);
        }
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

/// Jacobi, as it is chosen.
pub(crate) struct JacobiKind;

impl MethodKind for JacobiKind {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "all systems step in parallel, inputs held; order 1"
    }

    fn needs(&self) -> &'static str {
        "nothing"
    }

    fn properties(&self) -> Properties {
        Properties {
            holds_inputs: true,
            keeps_to_grid: true,
            ..Properties::default()
        }
    }

    fn check(&self, context: &Context<'_>) -> Result<(), Refusal> {
        check_imposed_steps(NAME, context)
    }

    fn build<'a>(&self, context: &Context<'a>) -> Result<Box<dyn Method + 'a>, Refusal> {
        Ok(Box::new(Jacobi::new(context.connections, context.grid())))
    }
}

impl Checkpoint for Jacobi<'_> {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.same("the method", &NAME.to_owned())?;
        visit_steps(&mut self.cursor, archive)?;
        visit_fields!(archive, self.divergence);
        archive.slice(&mut self.tasks)
    }
}

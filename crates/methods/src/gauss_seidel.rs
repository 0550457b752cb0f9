//! Non-iterative Gauss-Seidel: systems step one after the other, each under the newest outputs of
//! those before it.
//!
//! Needs: nothing. Order 1, with a smaller constant than Jacobi, but nothing runs in parallel.
//! Order of the systems: what a system depends on goes first; around a loop, where no such order
//! exists, the systems keep the order in which the model lists them.

use dovetail_core::{
    Archive, Checkpoint, Connections, Error, Exchange, Grid, GridCursor, HeldInputs, Method,
    Outcome, Past, Task, Workers, components, visit_fields,
};

use crate::divergence::Divergence;
use crate::events::{cross_event, meeting_event};
use crate::feeders::feeders_of_systems;
use crate::imposed_steps::{check_imposed_steps, exceeds_limit};
use crate::near_side::NearSide;
use crate::registry::context::Context;
use crate::registry::kind::{MethodKind, Properties};
use crate::registry::refusal::Refusal;
use crate::saved_steps::visit_steps;

/// The method's name, as users write it.
const NAME: &str = "gauss-seidel";

/// The method, with its buffers.
pub struct GaussSeidel<'a> {
    connections: &'a Connections,
    cursor: GridCursor,
    /// The order in which the systems step.
    order: Vec<usize>,
    /// In that order.
    tasks: Vec<Task>,
    /// Outputs of all systems, each as new as it gets.
    newest: Vec<f64>,
    divergence: Divergence,
    near_side: NearSide,
}

impl<'a> GaussSeidel<'a> {
    /// Gauss-Seidel on the communication times of `grid`.
    pub fn new(connections: &'a Connections, grid: Grid) -> Self {
        let feeders = feeders_of_systems(connections);
        let mut place = vec![0; connections.systems()];

        for (position, system) in components(&feeders).into_iter().flatten().enumerate() {
            place[system] = position;
        }

        let mut tasks = connections.tasks(0);
        tasks.sort_by_key(|task| place[task.system]);
        let newest = vec![f64::NAN; connections.outputs()];
        let divergence = Divergence::new(connections);

        Self {
            connections,
            cursor: GridCursor::new(grid),
            near_side: NearSide::default(),
            order: tasks.iter().map(|task| task.system).collect(),
            tasks,
            newest,
            divergence,
        }
    }
}

impl Method for GaussSeidel<'_> {
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
            order: Some(&self.order),
        })
    }

    fn attempt(&mut self, past: &Past, workers: &mut dyn Workers) -> Result<Outcome<'_>, Error> {
        let step = self
            .cursor
            .step(past.reached(), meeting_event(past, workers));
        if exceeds_limit(step, past) {
            return Ok(Outcome::Finished);
        }
        for (newest, knot) in self.newest.iter_mut().zip(past.latest()) {
            *newest = knot.value;
        }

        for task in &mut self.tasks {
            task.step = step;
            for (signal, input) in task
                .inputs
                .iter_mut()
                .zip(self.connections.inputs_of(task.system))
            {
                signal.hold(self.connections.feed(input, &self.newest));
            }
            workers.advance(std::slice::from_mut(task))?;
            for (newest, knot) in self.newest[self.connections.outputs_of(task.system)]
                .iter_mut()
                .zip(&task.response.outputs)
            {
                *newest = knot.value;
            }
        }

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

/// Gauss-Seidel, as it is chosen.
pub(crate) struct GaussSeidelKind;

impl MethodKind for GaussSeidelKind {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "systems step one after the other, inputs held, newest values first; order 1"
    }

    fn needs(&self) -> &'static str {
        "nothing"
    }

    fn properties(&self) -> Properties {
        Properties {
            holds_inputs: true,
            one_at_a_time: true,
            keeps_to_grid: true,
            ..Properties::default()
        }
    }

    fn check(&self, context: &Context<'_>) -> Result<(), Refusal> {
        check_imposed_steps(NAME, context)
    }

    fn build<'a>(&self, context: &Context<'a>) -> Result<Box<dyn Method + 'a>, Refusal> {
        Ok(Box::new(GaussSeidel::new(
            context.connections,
            context.grid(),
        )))
    }
}

impl Checkpoint for GaussSeidel<'_> {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.same("the method", &NAME.to_owned())?;
        visit_steps(&mut self.cursor, archive)?;
        visit_fields!(archive, self.divergence);
        archive.slice(&mut self.newest)?;
        archive.slice(&mut self.tasks)
    }
}

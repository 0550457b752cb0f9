//! A coupling method that only this test has: all systems step in parallel, inputs held.

use dovetail::core::{
    Connections, Error, Exchange, GridCursor, Method, Outcome, Past, Task, Workers,
};
use dovetail::methods::{Context, MethodKind, Refusal};

/// The method, as it is chosen.
pub struct CopyOfJacobi;

impl MethodKind for CopyOfJacobi {
    fn name(&self) -> &'static str {
        "copy-of-jacobi"
    }

    fn summary(&self) -> &'static str {
        "all systems step in parallel, inputs held"
    }

    fn needs(&self) -> &'static str {
        "nothing"
    }

    fn check(&self, _context: &Context<'_>) -> Result<(), Refusal> {
        Ok(())
    }

    fn build<'a>(&self, context: &Context<'a>) -> Result<Box<dyn Method + 'a>, Refusal> {
        Ok(Box::new(Copy {
            connections: context.connections,
            cursor: GridCursor::new(context.grid()),
            tasks: context.connections.tasks(0),
        }))
    }
}

/// The method at work.
struct Copy<'a> {
    connections: &'a Connections,
    cursor: GridCursor,
    tasks: Vec<Task>,
}

impl Method for Copy<'_> {
    fn name(&self) -> &'static str {
        CopyOfJacobi.name()
    }

    fn attempt(&mut self, past: &Past, workers: &mut dyn Workers) -> Result<Outcome<'_>, Error> {
        let step = self.cursor.step(past.reached(), past.next_event());
        let mut sources = self.connections.sources().iter();
        for task in &mut self.tasks {
            task.step = step;
            for (signal, source) in task.inputs.iter_mut().zip(sources.by_ref()) {
                signal.hold(source.pick(past.latest()).value);
            }
        }
        workers.advance(&mut self.tasks)?;
        Ok(Outcome::Accepted(Exchange {
            tasks: &self.tasks,
            before: &[],
            iterations: 0,
            signals: &[],
        }))
    }
}

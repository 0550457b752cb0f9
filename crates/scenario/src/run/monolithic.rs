//! All equations as one system: no coupling at all, the truth that coupling methods are measured by, as a run.

use dovetail_core::{
    Connections, Error, Exchange, Grid, Knot, MacroStep, Method, Outcome, Past, Signal, Task,
    Workers,
};
use dovetail_equations::{Monolithic, SteppedSolution};
use dovetail_methods::WholeModel;

use crate::scenario::Scenario;

/// The method's name, as users write it.
const NAME: &str = "monolithic";

/// The coupled equations, solved to as many digits as double precision has.
pub(crate) struct MonolithicRun<'a> {
    connections: &'a Connections,
    grid: Grid,
    /// Until the run begins: loops with several solutions follow the one at its start.
    equations: Option<Monolithic>,
    course: Option<SteppedSolution>,
    tasks: Vec<Task>,
    slopes: Vec<f64>,
}

impl<'a> MonolithicRun<'a> {
    /// The equations, with rows at the times of `grid`.
    pub fn new(connections: &'a Connections, grid: Grid, equations: Monolithic) -> Self {
        let states = connections
            .interfaces()
            .iter()
            .map(|interface| interface.states.len())
            .sum();
        let (equations, tasks) = (Some(equations), connections.tasks(1));

        Self {
            connections,
            grid,
            equations,
            course: None,
            tasks,
            slopes: vec![0.0; states],
        }
    }

    fn begin(&mut self, past: &Past) -> Result<(), Error> {
        if let Some(equations) = self.equations.take() {
            let outputs: Vec<f64> = past.latest().iter().map(|knot| knot.value).collect();
            let stop = self.grid.time(self.grid.count());
            self.course = Some(
                equations
                    .starting_at(&outputs)
                    .into_course(past.reached(), stop)?,
            );
        }
        Ok(())
    }

    /// What all systems would have answered where the solution stands.
    fn answer(&mut self, step: MacroStep, next_event: f64) -> Result<(), Error> {
        let course = self.course.as_mut().expect("BUG: answered before it began");
        let observed = course.observe()?;
        course.derivatives(&mut self.slopes);
        let (outputs, inputs) = observed.split_at(self.connections.outputs());
        let mut states = course.states().iter().zip(&self.slopes);

        for task in &mut self.tasks {
            task.step = step;
            for (signal, input) in task
                .inputs
                .iter_mut()
                .zip(self.connections.inputs_of(task.system))
            {
                *signal = Signal::constant(inputs[input]);
            }
            for (knot, output) in task
                .response
                .outputs
                .iter_mut()
                .zip(self.connections.outputs_of(task.system))
            {
                *knot = Knot::value_only(outputs[output]);
            }
            let places = task
                .response
                .states
                .iter_mut()
                .zip(&mut task.response.motion);
            for ((state, motion), (value, slope)) in places.zip(&mut states) {
                (*state, *motion) = (*value, [*slope, f64::NAN]);
            }
            (task.response.reached, task.response.next_event) = (step.end, next_event);
        }
        Ok(())
    }
}

impl Method for MonolithicRun<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn looks_back(&self) -> bool {
        false
    }

    fn attempt(&mut self, past: &Past, _: &mut dyn Workers) -> Result<Outcome<'_>, Error> {
        self.begin(past)?;
        let course = self.course.as_mut().expect("BUG: begun");
        let (reached, switch) = (past.reached(), course.next_switch());
        let step = if switch <= reached {
            course.cross()?;
            MacroStep::instant(reached)
        } else {
            let step = self.grid.step(reached, switch);
            let end = course.advance(step.end)?;
            match end < step.end {
                true => MacroStep::new(reached, end),
                false => step,
            }
        };
        let next_event = self
            .course
            .as_ref()
            .map_or(f64::INFINITY, SteppedSolution::next_switch);
        self.answer(step, next_event)?;

        Ok(Outcome::Accepted(Exchange {
            tasks: &self.tasks,
            before: &[],
            iterations: 0,
            signals: &[],
        }))
    }
}

impl WholeModel for Scenario {
    fn as_one_system<'a>(&'a self, grid: Grid) -> Result<Box<dyn Method + 'a>, String> {
        let definitions = self.definitions().map_err(|error| error.to_string())?;
        let equations = Monolithic::new(&definitions, &self.connections);
        let equations = equations.map_err(|error| error.to_string())?;
        let method = MonolithicRun::new(&self.connections, grid, equations);
        Ok(Box::new(method))
    }
}

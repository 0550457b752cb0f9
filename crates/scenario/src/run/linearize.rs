//! The linearization of a whole model, at the start of a run or in the midst of it.

use std::sync::atomic::AtomicBool;

use dovetail_core::{
    Ending, Error, Knot, LinearizeTask, Orchestrator, Remedy, list_names, readable,
};
use dovetail_methods::{CoupledLinearization, NotCoupled, couple, reinitialize};

use super::session::Session;
use crate::diagnostic::{BadModel, Problem};
use crate::scenario::Scenario;
use crate::source::part::Part;

impl Session<'_> {
    /// The coupled model, linearized at its start.
    pub fn linearize(&mut self) -> Result<CoupledLinearization, BadModel> {
        self.check_linearizable()?;
        self.linearize_at(self.scenario.start_time)
    }

    /// The coupled model, linearized at the stop time of the model, to which it is run; and the time that was reached. Raising
    /// `interrupted` ends the run early, which is an error.
    pub fn run_and_linearize(
        &mut self,
        interrupted: &AtomicBool,
    ) -> Result<(f64, CoupledLinearization), BadModel> {
        self.check_linearizable()?;
        if self.kind.properties().solves_as_one {
            let message = format!(
                "{} solves the model as one and moves no system, so that there is nothing to \
                 linearize at a later time",
                self.kind.name()
            );
            let problem = Problem::general(message).with([Remedy::AnotherMethod]);
            return Err(self.scenario.bad(problem));
        }

        let until = self.scenario.stop_time;
        let mut run = Orchestrator::new(
            &self.scenario.connections,
            self.method.as_mut(),
            self.workers.as_mut(),
            &mut [],
            interrupted,
            &mut self.state,
        );
        let ended = run.run(std::mem::take(&mut self.start), until);
        let present = run.latest().to_vec();
        let reached = self.state.reached();
        self.check_ending(ended, reached)?;

        let remark = (reached != until).then(|| self.not_reached(reached, until));
        if remark.is_none() {
            self.make_consistent(reached, &present)?;
        }
        let mut found = self.linearize_at(reached)?;
        found.notes.extend(remark);
        Ok((reached, found))
    }

    fn check_ending(&self, ended: Result<Ending, Error>, reached: f64) -> Result<(), BadModel> {
        let time = readable(reached);
        let why = match ended {
            Ok(Ending::Finished) => return Ok(()),
            Ok(Ending::Interrupted) => format!("the run was interrupted at t = {time} s"),
            Ok(Ending::Requested { system }) => format!(
                "`{}` asked for the end of the simulation at t = {time} s",
                self.scenario.parts[system].name()
            ),
            Err(error) => return Err(self.scenario.blame(&error)),
        };
        let message = format!("{why}, before the time of the linearization");
        Err(self.scenario.bad(Problem::general(message)))
    }

    fn not_reached(&self, reached: f64, until: f64) -> String {
        format!(
            "systems that impose their steps stand at t = {} s, and not at t = {} s: they are \
             linearized there",
            readable(reached),
            readable(until)
        )
    }

    /// All inputs are what feeds them, to the last digit, rather than what the last step has made of them.
    fn make_consistent(&mut self, time: f64, present: &[Knot]) -> Result<(), BadModel> {
        let connections = &self.scenario.connections;
        let interfaces = connections.interfaces().iter();
        let mut inputs = interfaces.flat_map(|interface| &interface.inputs);
        let derivatives = usize::from(inputs.any(|input| input.uses_slope));
        let averages = vec![false; connections.systems()];
        let how = (derivatives, &averages[..]);
        let done = reinitialize(connections, self.workers.as_mut(), time, how, present);
        done.map(drop).map_err(|error| self.scenario.blame(&error))
    }

    /// All systems where they stand.
    fn linearize_at(&mut self, time: f64) -> Result<CoupledLinearization, BadModel> {
        let connections = &self.scenario.connections;
        let interfaces = connections.interfaces().iter().enumerate();
        let tasks = interfaces.map(|(system, interface)| LinearizeTask::new(system, interface));
        let mut tasks: Vec<LinearizeTask> = tasks.collect();
        let done = self.workers.linearize(&mut tasks);
        done.map_err(|error| self.scenario.blame(&error))?;

        let each: Vec<_> = tasks.iter().map(|task| &task.linearization).collect();
        let continuous = self.scenario.continuous_states();
        let coupled = couple(connections, &each, &continuous, time);
        coupled.map_err(|refusal| match refusal {
            NotCoupled::Model(error) => self.scenario.blame(&error),
            other => self.scenario.bad(Problem::general(other.to_string())),
        })
    }

    /// Refuses systems that cannot be linearized, by name.
    fn check_linearizable(&self) -> Result<(), BadModel> {
        let able = self.workers.capabilities().iter();
        let parts = able.zip(&self.scenario.parts);
        let unable: Vec<&Part> = parts
            .filter(|(able, _)| !able.linearize)
            .map(|(_, part)| part)
            .collect();
        if unable.is_empty() {
            return Ok(());
        }

        let names: Vec<String> = unable.iter().map(|part| part.name().to_owned()).collect();
        let message = format!(
            "{} cannot be linearized: directional derivatives and access to the states are \
             missing, or were found not to work",
            list_names(&names)
        );
        let exchange = unable.iter().any(|part| has_model_exchange(part));
        let remedies = exchange.then_some(Remedy::ModelExchange);
        Err(self.scenario.bad(Problem::general(message).with(remedies)))
    }
}

/// Whether it is a Co-Simulation FMU that has the other interface too.
pub(super) fn has_model_exchange(part: &Part) -> bool {
    part.source.fmu().is_some_and(|prepared| {
        let exchange = &prepared.fmu().description().model_exchange;
        prepared.used() == dovetail_fmi::InterfaceUse::CoSimulation && exchange.is_some()
    })
}

impl Scenario {
    /// For each system, how many of its states are continuous; they come first.
    pub(crate) fn continuous_states(&self) -> Vec<usize> {
        let discrete = |part: &Part| {
            let known = part.source.equations();
            known.map_or(0, |known| known.definition.model.discrete)
        };
        let interfaces = self.connections.interfaces().iter().zip(&self.parts);
        interfaces
            .map(|(interface, part)| interface.states.len() - discrete(part))
            .collect()
    }
}

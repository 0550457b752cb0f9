//! Systems without states need no integration to tell how a step ends: their outputs there follow
//! from their inputs there.
//!
//! Newton on what linearizations miss of them, before the step is tried: they are asked under the
//! inputs as predicted, and what they answer differently is added to what is expected of them. What
//! is left of their part of the discrepancy is of second order.

use dovetail_core::{Capabilities, Connections, Workers};

use super::Predictive;
use crate::coupling::Coupling;
use crate::interface_vector::numbers_of;

/// The systems without states that can be asked at any time.
pub(super) struct StaticPart {
    systems: Vec<bool>,
    /// The coupling variables that are outputs of theirs.
    variables: Vec<bool>,
    any: bool,
}

impl StaticPart {
    pub fn new(
        connections: &Connections,
        coupling: &Coupling<'_>,
        capabilities: &[Capabilities],
    ) -> Self {
        let interfaces = connections.interfaces().iter().zip(capabilities);
        let systems: Vec<bool> = interfaces
            .map(|(interface, able)| interface.states.is_empty() && able.evaluate && able.trial)
            .collect();
        let variables: Vec<bool> = coupling
            .variables
            .iter()
            .map(|variable| systems[variable.system])
            .collect();

        Self {
            any: variables.contains(&true),
            variables,
            systems,
        }
    }

    /// Whether a coupling variable ends the step where its system says.
    pub fn settles(&self, variable: usize) -> bool {
        self.variables[variable]
    }
}

impl Predictive<'_> {
    /// Ends the step, as predicted, where systems without states say.
    pub(super) fn settle_static_part(&mut self, workers: &mut dyn Workers) {
        if !self.has_bent_static_part() {
            return;
        }

        if self.ask_static_part(workers) {
            self.expect_static_answers();
            self.judge_interpolation();
        }
    }

    fn has_bent_static_part(&self) -> bool {
        let mut systems = 0..self.static_part.systems.len();
        self.static_part.any && systems.any(|system| self.is_bent_and_static(system))
    }

    /// Whether a system without states is not affine: then linearizations miss something of it.
    fn is_bent_and_static(&self, system: usize) -> bool {
        let is_bent = || self.interface_system.linearization(system).affine == 0;
        self.static_part.systems[system] && is_bent()
    }

    /// Tries the step of these systems alone; false if one fails or stops on the way, which the
    /// step will show.
    fn ask_static_part(&mut self, workers: &mut dyn Workers) -> bool {
        for k in 0..self.coupling.tasks.len() {
            let system = self.coupling.tasks[k].system;
            self.coupling.tasks[k].due = self.is_bent_and_static(system);
        }
        let tasks = &mut self.coupling.tasks;
        let answered = workers.trial(tasks).is_ok();
        let end = self.coupling.step.end;
        let met = tasks
            .iter()
            .all(|task| !task.due || task.response.reached >= end);
        tasks.iter_mut().for_each(|task| task.due = true);

        answered && met
    }

    /// What they answer differently is expected of them.
    fn expect_static_answers(&mut self) {
        let unknowns = self.unknowns();
        let stacking = self.coupling.stacking();
        self.ends.right[..unknowns].fill(0.0);

        for (c, variable) in self.coupling.variables.iter().enumerate() {
            if !self.is_bent_and_static(variable.system) {
                continue;
            }
            let numbers = numbers_of(self.coupling.answer(variable));
            for (at, answered) in stacking.places(c, unknowns).zip(numbers) {
                let miss = answered + self.ends.returned[at] - self.ends.solution[at];
                if miss.is_finite() {
                    self.ends.right[at] = miss;
                    self.ends.expected[at] += miss;
                }
            }
        }
        self.correct_solution(unknowns);
    }
}

//! An interface that agrees with the states as they stand: by the linearizations, or by Newton,
//! asking the systems about the present.

use dovetail_core::{Error, Linearization, MacroStep, Workers};

use super::Predictive;
use super::restart::{Restart, SingularInterface};
use super::tuning::{AGREED, MOST_ROUNDS, UNSETTLED_OF_RANGE, UNSETTLED_OF_TOLERANCE};
use crate::interface_system::{CoupledInput, CoupledOutput, Unsolved};

impl Predictive<'_> {
    /// Newton on the interface, by questions about the present: at the start of the run, and on the
    /// far side of an event.
    pub(super) fn make_consistent(
        &mut self,
        time: f64,
        workers: &mut dyn Workers,
    ) -> Result<(), Error> {
        let measured = self.measured();
        for _ in 0..MOST_ROUNDS {
            self.coupling.ask_about_present(time, workers)?;
            self.interface_system.localize(time, workers)?;
            let integrated = &mut self.ends.integrated[..measured];
            Restart::measure(&self.coupling, &self.interface_system, integrated);
            self.restart_from_integrated(time)?;
            if self.inputs_agree() {
                break;
            }
        }

        self.interface_system.keep(|_, _, _| false);
        self.memory.forget();
        self.errors.local.forget();
        self.refresh_scales();
        Ok(())
    }

    /// Whether systems have answered under inputs that are those of the interface.
    fn inputs_agree(&self) -> bool {
        let columns = self.interface_system.columns.iter().enumerate();
        columns
            .flat_map(|(system, all)| all.iter().map(move |column| (system, column)))
            .all(|(system, column)| self.input_agrees(system, column))
    }

    fn input_agrees(&self, system: usize, column: &CoupledInput) -> bool {
        let same = |used: f64, now: f64| (used - now).abs() <= AGREED * used.abs().max(now.abs());
        let used = self.coupling.tasks[system].inputs[column.input].at(0.0);
        let now = self.coupling.start[column.variable];
        let input = &self.connections.interfaces()[system].inputs[column.input];
        same(used.value, now.value) && (!input.uses_slope || same(used.slope, now.slope))
    }

    /// The interface that agrees with the states as integrated, by the linearizations.
    pub(super) fn restart_from_integrated(&mut self, time: f64) -> Result<(), Error> {
        let measured = self.measured();
        let scale = self.usual_size();
        let solved = self.restart.solve(
            &mut self.coupling,
            &self.interface_system,
            &self.ends.integrated[..measured],
            scale,
        );

        solved.map_err(|SingularInterface| Unsolved::Singular.into_error(&self.coupling, time))
    }

    /// The same by Newton, where outputs bend so much with the inputs that what the linearizations
    /// leave could be seen.
    pub(super) fn agree(
        &mut self,
        step: MacroStep,
        workers: &mut dyn Workers,
    ) -> Result<(), Error> {
        if !self.abilities.responds || !self.bends() {
            return Ok(());
        }

        let negligible = match self.options.tolerance {
            Some(tolerance) => UNSETTLED_OF_TOLERANCE * tolerance,
            None => UNSETTLED_OF_RANGE,
        };
        if self.left_by_linearizations() <= negligible {
            return Ok(());
        }

        // The tasks of the step stay as they are: they are what was done.
        std::mem::swap(&mut self.coupling.tasks, &mut self.present);
        let agreed = self.ask_until_agreed(step.end, negligible, workers);
        std::mem::swap(&mut self.coupling.tasks, &mut self.present);
        self.coupling.step = step;
        self.interface_system.keep(|_, _, _| false);
        self.step_state.disagrees = !agreed?;

        if !self.step_state.disagrees {
            for (task, present) in self.coupling.tasks.iter_mut().zip(&self.present) {
                let outputs = &mut task.response.outputs;
                outputs.copy_from_slice(&present.response.outputs);
            }
        }
        Ok(())
    }

    /// What linearizations may leave of the interface's change, in units of ranges: its square.
    fn left_by_linearizations(&self) -> f64 {
        let square = |c: usize| {
            let change = self.coupling.start[c].value - self.ends.solution[c];
            let share = change / self.scales.outputs.scale(c);
            if share.is_finite() {
                share * share
            } else {
                0.0
            }
        };
        let squares = (0..self.coupling.start.len()).map(square);
        squares.fold(0.0, f64::max) * self.magnification()
    }

    /// Asks until no value changes by more than a part of its range; false where that does not come
    /// about.
    fn ask_until_agreed(
        &mut self,
        time: f64,
        part: f64,
        workers: &mut dyn Workers,
    ) -> Result<bool, Error> {
        let measured = self.measured();
        let scale = self.usual_size();

        for _ in 0..MOST_ROUNDS {
            for (before, now) in self.ends.right.iter_mut().zip(self.coupling.start_values()) {
                *before = now;
            }
            self.coupling.ask_about_present(time, workers)?;
            self.interface_system.localize(time, workers)?;
            let answers = &mut self.ends.uncorrected[..measured];
            Restart::measure(&self.coupling, &self.interface_system, answers);
            let solved =
                self.restart
                    .solve(&mut self.coupling, &self.interface_system, answers, scale);
            solved
                .map_err(|SingularInterface| Unsolved::Singular.into_error(&self.coupling, time))?;
            for (moved, now) in self.ends.right.iter_mut().zip(self.coupling.start_values()) {
                *moved = now - *moved;
            }
            if self.scales.outputs.largest_share(self.ends.right.values()) <= part {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether some system has a nonlinear feedthrough.
    fn bends(&self) -> bool {
        let mut systems = self.interface_system.linearizations().enumerate();
        systems.any(|(system, here)| here.affine == 0 && self.passes_through(system, here))
    }

    /// Whether a coupled output of a system depends on an input that others feed at once.
    fn passes_through(&self, system: usize, here: &Linearization) -> bool {
        let columns = &self.interface_system.columns[system];
        let passes = |row: &CoupledOutput| {
            let gain = |column: &CoupledInput| here.d[(row.position, column.input)];
            columns.iter().any(|column| gain(column) != 0.0)
        };
        self.interface_system.rows[system].iter().any(passes)
    }

    /// By how much loops through feedthrough magnify what goes round in them.
    pub(super) fn magnification(&self) -> f64 {
        self.errors.global.magnification.max(1.0)
    }
}

//! An interface that agrees with the states as they stand: by the linearizations, or by Newton,
//! asking the systems about the present.

use dovetail_core::{Error, MacroStep, Workers};

use super::Dovetail;
use super::restart::{Restart, SingularInterface};
use super::tuning::{AGREED, MOST_ROUNDS, UNSETTLED_OF_RANGE, UNSETTLED_OF_TOLERANCE};
use crate::interface_system::{Column, Unsolved};

impl Dovetail<'_> {
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
        self.local_error.forget();
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

    fn input_agrees(&self, system: usize, column: &Column) -> bool {
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
        let bend = |c: usize| {
            let change =
                (self.coupling.start[c].value - self.ends.solution[c]) / self.outputs.scale(c);
            if change.is_finite() {
                change * change
            } else {
                0.0
            }
        };
        let left =
            (0..self.coupling.start.len()).map(bend).fold(0.0, f64::max) * self.magnification();
        let negligible = self
            .options
            .tolerance
            .map_or(UNSETTLED_OF_RANGE, |tolerance| {
                UNSETTLED_OF_TOLERANCE * tolerance
            });
        if left <= negligible {
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
                task.response
                    .outputs
                    .copy_from_slice(&present.response.outputs);
            }
        }
        Ok(())
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
            self.ends
                .right
                .iter_mut()
                .zip(&self.coupling.start)
                .for_each(|(before, knot)| *before = knot.value);
            let count = self.coupling.start.len();
            self.coupling.ask_about_present(time, workers)?;
            self.interface_system.localize(time, workers)?;
            Restart::measure(
                &self.coupling,
                &self.interface_system,
                &mut self.ends.uncorrected[..measured],
            );
            let solved = self.restart.solve(
                &mut self.coupling,
                &self.interface_system,
                &self.ends.uncorrected[..measured],
                scale,
            );
            solved
                .map_err(|SingularInterface| Unsolved::Singular.into_error(&self.coupling, time))?;
            let moved = self.coupling.start.iter().zip(&mut self.ends.right);
            moved.for_each(|(knot, before)| *before = knot.value - *before);
            if self.outputs.largest_share(&self.ends.right[..count]) <= part {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether some system has a nonlinear feedthrough.
    fn bends(&self) -> bool {
        let passes = |system: usize, d: &nalgebra::DMatrix<f64>| {
            let rows = &self.interface_system.rows[system];
            let columns = &self.interface_system.columns[system];
            rows.iter().any(|row| {
                columns
                    .iter()
                    .any(|column| d[(row.position, column.input)] != 0.0)
            })
        };
        let local = self
            .interface_system
            .local()
            .iter()
            .map(|local| &local.linearization)
            .enumerate();
        local
            .filter(|(_, here)| here.affine == 0)
            .any(|(system, here)| passes(system, &here.d))
    }

    /// By how much loops through feedthrough magnify what goes round in them.
    pub(super) fn magnification(&self) -> f64 {
        self.global_error
            .as_ref()
            .map_or(1.0, |error| error.magnification.max(1.0))
    }
}

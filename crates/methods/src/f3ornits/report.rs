//! What there is to say of a run.

use dovetail_core::{StepRule, list_names, readable};

use super::{F3ornits, F3ornitsOptions, StepControl};

/// So large a share of steps at the shortest size is worth a warning, beyond the few with which a
/// run begins.
const MANY: f64 = 0.1;
const FEW: u64 = 50;
/// And so large a share of steps with errors far beyond the tolerance.
const OFTEN: f64 = 0.05;

impl F3ornitsOptions {
    /// Which of the two settings this is.
    pub(super) fn setting(&self) -> String {
        let (how, controller) = match self.steering {
            StepControl::Plain => ("as in the paper", "orders and steps by the newest error"),
            StepControl::Averaged => (
                "the default",
                "orders by averaged errors, steps by a PI controller",
            ),
        };
        let degree = self.max_degree;
        let growth = self.max_growth;

        format!("setting: {how}; degrees up to {degree}, growth up to {growth}, {controller}")
    }
}

impl F3ornits<'_> {
    /// What the user should know of a system.
    pub(super) fn warnings_of(&self, k: usize) -> Vec<String> {
        let steps = self.short_steps(k).or_else(|| self.rough_steps(k));
        [self.reduction(k), self.corners(k), steps, self.early_end(k)]
            .into_iter()
            .flatten()
            .collect()
    }

    /// What the user should know of systems that answer at once to one another.
    pub(super) fn warnings_of_cycles(&self) -> Vec<String> {
        let names = |systems: &[usize]| {
            let names: Vec<String> = systems.iter().map(|&k| self.name(k).to_owned()).collect();
            list_names(&names)
        };
        let unsettled = self
            .cycles
            .iter()
            .filter(|cycle| cycle.failures > 0)
            .map(|cycle| {
                let names = names(&cycle.systems);
                let failures = cycle.failures;
                format!(
                    "the outputs of {names}, which depend on one another at once, did not agree \
                where {failures} steps ended: they were passed on late there"
                )
            });
        let late = self.late.iter().map(|systems| {
            let names = names(systems);
            format!(
                "the outputs of {names} depend on one another at once and were passed on a step \
                 late: these systems cannot be asked \
                 about the present"
            )
        });

        unsettled.chain(late).collect()
    }

    fn name(&self, k: usize) -> &str {
        &self.connections.interfaces()[k].name
    }

    /// Its inputs had to be reduced.
    fn reduction(&self, k: usize) -> Option<String> {
        let accepted = self.capabilities[k].input_degree;
        let asked = self.inputs.reduced[k];
        let name = self.name(k);

        (asked > 0).then(|| {
            format!(
                "`{name}` takes inputs of degree {accepted} only: estimates of degree up to \
                {asked} were reduced, their means kept"
            )
        })
    }

    /// Its inputs could not be smoothed.
    fn corners(&self, k: usize) -> Option<String> {
        let follows = self
            .connections
            .inputs_of(k)
            .any(|input| !self.connections.is_held(input));
        let rough = self.options.smooth && !self.inputs.smooths(k) && follows;

        rough.then(|| {
            format!(
                "the inputs of `{}` were not smoothed: that takes inputs of degree 3",
                self.name(k)
            )
        })
    }

    /// Its steps were not as short as they should have been.
    fn short_steps(&self, k: usize) -> Option<String> {
        let starved = self.states[k].starved;
        let steps = self.states[k].steps;
        let free = self.capabilities[k].step_rule == StepRule::Free;
        let many = starved > FEW && starved as f64 > MANY * steps as f64;
        let reason = if self.loops {
            "; the algebraic loop of the model may be the reason"
        } else {
            ""
        };

        (free && many).then(|| {
            format!(
                "{starved} of {steps} steps of `{}` should have been shorter than min-step, {:e} \
                 s: errors there are above the tolerance{reason}",
                self.name(k),
                readable(self.options.min_step)
            )
        })
    }

    /// Its outputs were far from their estimates: on an imposed grid, or on steps that were asked
    /// for.
    fn rough_steps(&self, k: usize) -> Option<String> {
        let state = &self.states[k];
        let many = state.rough > 2 && state.rough as f64 > OFTEN * state.steps as f64;
        let name = self.name(k);
        let worst = state.worst;
        let way_out = match self.capabilities[k].step_rule {
            StepRule::Free => "a smaller first step, min-step or tolerance helps",
            StepRule::Imposed(_) => "its imposed step is too long for what it is connected to",
        };

        (many || (state.rough > 0 && state.steps < FEW)).then(|| {
            format!(
                "on {} of {} steps outputs of `{name}` were over ten times the tolerance away from \
                 what the systems that read them had been given, at worst {worst:.0e} times: {way_out}",
                state.rough, state.steps
            )
        })
    }

    /// Its grid does not meet the end of the run.
    fn early_end(&self, k: usize) -> Option<String> {
        let last = self.scheduler.last_time(k);
        (last < self.times.1).then(|| {
            let name = self.name(k);
            let last = readable(last);
            format!(
                "`{name}` imposes its steps: its last one before the end of the run ends at t \
                = {last} s"
            )
        })
    }
}

//! What the method reports: signals with every step, and at the end how far the result can be
//! trusted.

use dovetail_core::{
    Advice, Connections, EstimatedError, Interface, MacroStep, MethodQuality, Notice, Output,
    Refused, Remedy, SignalKind,
};

use super::controller::Controller;
use super::run_state::Doubt;
use super::tuning::{MOST_ADDED, MOST_ADDED_TOLERANCES, POOR_RESULT};
use super::{OWN_SIGNALS, Predictive};
use crate::automatic::AUTO;
use crate::notices::notices;
use crate::rounded::rounded;

/// What to say of advice that was not taken.
fn advised(advice: &Advice) -> Notice {
    let text = format!(
        "{}: {} should be used instead, and {AUTO} would have",
        advice.reason, advice.method
    );
    Notice::from(text).with([Remedy::method(&advice.method), Remedy::method(AUTO)])
}

/// Whether the error of an output is reported: not of what is held, nor under the name of a state.
fn has_own_error(interface: &Interface, output: &Output) -> bool {
    output.kind == SignalKind::Continuous && !interface.states.contains(&output.name)
}

/// The outputs whose errors are reported, each as its system and its place there.
pub(super) fn estimated_outputs(connections: &Connections) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (system, interface) in connections.interfaces().iter().enumerate() {
        let outputs = interface.outputs.iter().enumerate();
        let own = outputs.filter(|(_, output)| has_own_error(interface, output));
        found.extend(own.map(|(position, _)| (system, position)));
    }
    found
}

impl Predictive<'_> {
    pub(super) fn signal_names(&self) -> Vec<String> {
        let mut names = ["$discrepancy", "$step", "$degree"]
            .map(str::to_owned)
            .to_vec();
        let error_of = |interface: &Interface, variable: &str| {
            interface.qualified(&format!("{variable}.$error"))
        };
        for interface in self.connections.interfaces() {
            let states = interface.states.iter();
            names.extend(states.map(|state| error_of(interface, state)));
        }
        for &(system, position) in &self.estimated_outputs {
            let interface = &self.connections.interfaces()[system];
            names.push(error_of(interface, &interface.outputs[position].name));
        }
        names
    }

    /// Signals of the step just taken; results have the estimated error added, where that is asked
    /// for.
    pub(super) fn record_signals(&mut self, step: MacroStep) {
        let degree = 2 * self.coupling.shape().orders() - 1;
        let (own, errors) = self.signals.split_at_mut(OWN_SIGNALS);
        own.copy_from_slice(&[self.step_state.missed, step.size(), degree as f64]);
        let error = &self.errors.global;
        if error.lost || self.errors.knowledge.doubt.is_some() {
            errors.fill(f64::NAN);
            return;
        }

        let (of_states, of_outputs) = errors.split_at_mut(error.states.len());
        of_states.copy_from_slice(&error.states);
        for (place, &(system, position)) in of_outputs.iter_mut().zip(&self.estimated_outputs) {
            let first = self.connections.outputs_of(system).start;
            *place = error.outputs[first + position];
        }

        let largest = self.scales.states.largest_share(&error.states);
        self.errors.knowledge.uncorrected |= largest > self.most_to_correct();

        if self.options.corrected && !self.errors.knowledge.uncorrected {
            self.add_error_to_results();
        }
    }

    fn add_error_to_results(&mut self) {
        let error = &self.errors.global;
        let mut states = error.states.iter();
        let mut outputs = error.outputs.iter();

        for task in &mut self.coupling.tasks {
            let response = &mut task.response;
            for (state, error) in response.states.iter_mut().zip(&mut states) {
                *state += error;
            }
            let interface = &self.connections.interfaces()[task.system];
            for (position, output) in interface.outputs.iter().enumerate() {
                let error = outputs.next().copied().unwrap_or(0.0);
                let added = if output.kind == SignalKind::Continuous {
                    error
                } else {
                    0.0
                };
                response.outputs[position].value += added;
            }
        }
    }

    /// Up to which part of a range an estimated error is believed enough to be added.
    fn most_to_correct(&self) -> f64 {
        self.options
            .tolerance
            .map_or(MOST_ADDED, |tolerance| MOST_ADDED_TOLERANCES * tolerance)
    }

    /// The state whose estimated error is the largest part of its range, and that part.
    fn worst_state(&self) -> Option<(String, f64)> {
        if !self.knows_error() {
            return None;
        }
        let error = &self.errors.global;
        let interfaces = self.connections.interfaces().iter();
        let names = interfaces.flat_map(|i| i.states.iter().map(|state| i.qualified(state)));
        let part = |(state, error): (usize, &f64)| {
            let scale = self.scales.states.scale(state);
            if scale > 0.0 { error / scale } else { 0.0 }
        };
        let parts = error.largest_states.iter().enumerate().map(part);

        names.zip(parts).max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Whether the error of the run is estimated: not where every step began at an event, nor
    /// beyond all numbers.
    fn knows_error(&self) -> bool {
        !self.errors.global.lost
            && self.errors.knowledge.doubt.is_none()
            && self.errors.knowledge.unknown == 0
            && !self.signals[OWN_SIGNALS..].is_empty()
    }

    pub(super) fn all_warnings(&self) -> Vec<Notice> {
        let mut all = notices(self.coupling.substitutes(false));
        all.extend(notices(self.coupling.chatter_warning()));
        all.extend(self.error_warning());

        if self.options.corrected && self.errors.knowledge.uncorrected {
            let warning = "the estimated error became too large to be believed, \
                           and was not added from there on";
            all.push(warning.into());
        }

        all.extend(notices(self.interface_system.warning(self.connections)));
        let name = |variable: usize| self.coupling.full_name(variable);
        all.extend(self.predictions.warning(name));
        all.extend(self.advice.as_ref().map(advised));

        all
    }

    /// What to say where the error is larger than was asked for, or than is good.
    fn error_warning(&self) -> Option<Notice> {
        let (name, part) = self.worst_state()?;
        let share = rounded(part);

        match self.options.tolerance {
            Some(tolerance) if part > tolerance => {
                let text = format!(
                    "the estimated error of `{name}` is {share} of its range, \
                     more than the tolerance of {}: trajectories may separate, \
                     so that errors grow",
                    rounded(tolerance)
                );
                Some(Notice::from(text).with([Remedy::SmallerTolerance]))
            }
            None if part > POOR_RESULT => {
                let text = format!("the estimated error of `{name}` is {share} of its range");
                Some(Notice::from(text).with([Remedy::SmallerStep]))
            }
            _ => None,
        }
    }

    pub(super) fn all_remarks(&self) -> Vec<String> {
        let mut all = Vec::new();
        if self.errors.global.lost {
            all.push(
                "the estimate of the error of the run has grown beyond all numbers and is not reported"
                    .to_owned(),
            );
        } else if !self.knows_error() && !self.signals[OWN_SIGNALS..].is_empty() {
            let doubt = self.errors.knowledge.doubt.unwrap_or(Doubt::FirstSteps);
            let reason = doubt.reason(self.connections);
            all.push(format!("the error of the run is not estimated: {reason}"));
        }

        if self.options.corrected {
            all.push(
                "the estimated error has been added to the results: it is that of the run \
                without it"
                    .to_owned(),
            );
        }
        all
    }

    pub(super) fn known_quality(&self) -> MethodQuality {
        MethodQuality {
            discrepancy: self.coupling.discrepancy(&self.predictions),
            kept: Some(self.interface_system.counts.kept()),
            refused: Some(Refused {
                before: self.counts.refused_before,
                after: self.counts.refused_after,
            }),
            estimated_error: self.estimated_errors(),
            interface_error: None,
            step_sizes: self.steps.controller().and_then(Controller::step_sizes),
        }
    }

    /// Of all states and outputs; a state that is an output too has one name.
    fn estimated_errors(&self) -> Option<Vec<(String, EstimatedError)>> {
        if !self.knows_error() {
            return None;
        }
        let error = &self.errors.global;
        let estimate = |end: &f64, max: &f64| EstimatedError {
            end: end.abs(),
            max: *max,
        };
        let mut all = Vec::new();
        let mut state = 0;

        for (system, interface) in self.connections.interfaces().iter().enumerate() {
            for name in &interface.states {
                all.push((
                    interface.qualified(name),
                    estimate(&error.states[state], &error.largest_states[state]),
                ));
                state += 1;
            }
            let outputs = interface.outputs.iter();
            for (output, stacked) in outputs.zip(self.connections.outputs_of(system)) {
                if has_own_error(interface, output) {
                    let estimate =
                        estimate(&error.outputs[stacked], &error.largest_outputs[stacked]);
                    all.push((interface.qualified(&output.name), estimate));
                }
            }
        }
        Some(all)
    }
}

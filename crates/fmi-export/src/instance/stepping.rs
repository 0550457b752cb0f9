//! Co-Simulation: steps, and derivatives of inputs and outputs.

use std::sync::atomic::Ordering;

use dovetail::core::Ending;
use dovetail::scenario::FaceRole;

use super::{HIGHEST_DERIVATIVE, Instance, Phase};

/// Communication points that importers compute differ from ours by no more than this part of a step.
const SAME_POINT: f64 = 1e-3;

/// What a step has come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stepped {
    /// Where the model is.
    pub time: f64,
    /// A system inside asks for the end of the simulation.
    pub ends: bool,
}

impl Instance {
    /// A derivative of an input over the next step.
    pub fn set_input_derivative(
        &mut self,
        reference: u32,
        order: i32,
        value: f64,
    ) -> Result<(), String> {
        self.expect(&Phase::ALIVE, "a derivative of an input is set")?;
        let face = &self.variable(reference)?.face;
        let name = &face.name;
        let FaceRole::Input(slot) = face.role else {
            return Err(format!("`{name}` is no input"));
        };
        if face.discrete || !face.value_type.is_float() {
            return Err(format!(
                "`{name}` jumps from value to value and has no derivatives"
            ));
        }
        if !value.is_finite() {
            return Err(format!("a derivative of `{name}` cannot be {value}"));
        }
        match usize::try_from(order) {
            Ok(order @ 1..=HIGHEST_DERIVATIVE) => {
                self.inputs[slot][order] = value;
                Ok(())
            }
            _ => Err(format!(
                "`{name}`: derivatives from 1 to {HIGHEST_DERIVATIVE} are taken, not {order}"
            )),
        }
    }

    /// A derivative of an output where the model stands.
    pub fn output_derivative(&mut self, reference: u32, order: i32) -> Result<f64, String> {
        let phases = [Phase::Stepping, Phase::Terminated];
        self.expect(&phases, "a derivative of an output is asked for")?;
        let variable = self.variable(reference)?;
        let name = variable.face.name.clone();
        let FaceRole::Output(stacked) = variable.face.role else {
            return Err(format!("`{name}` is no output"));
        };
        let known = self.manifest.capabilities.output_derivatives;
        if order < 1 || order as usize > known {
            return Err(format!(
                "derivatives of `{name}` up to {known} are known, not {order}"
            ));
        }
        let slope = self.coupled()?.output(stacked).map(|knot| knot.slope);
        let slope = slope.filter(|slope| slope.is_finite());
        slope.ok_or_else(|| format!("the derivative of `{name}` is not known here"))
    }

    /// A communication step. The importer says whether it goes back to before its start later.
    pub fn step(&mut self, from: f64, size: f64, stays: bool) -> Result<Stepped, String> {
        self.expect(&[Phase::Stepping], "a step is asked for")?;
        let until = from + size;
        self.check_step(from, until, size)?;

        let ends = self.ask_for_inputs(from, size);
        let signals = self.signals();
        self.stays.store(stays, Ordering::Relaxed);
        let ended = self.coupled()?.advance_to(until, &signals);
        for input in &mut self.inputs {
            input[1..].fill(0.0);
        }
        for (slot, last) in ends {
            self.inputs[slot][0] = last;
        }
        match ended {
            Ok(ending) => {
                self.ends = matches!(ending, Ending::Requested { .. });
                self.time = match self.ends {
                    true => self.coupled()?.reached(),
                    false => until,
                };
                Ok(Stepped {
                    time: self.time,
                    ends: self.ends,
                })
            }
            Err(text) => {
                self.phase = Phase::Failed;
                Err(text)
            }
        }
    }

    /// Takes inputs that the importer gives as functions of time; the slots of these, and their values at the end.
    fn ask_for_inputs(&mut self, from: f64, size: f64) -> Vec<(usize, f64)> {
        let Some(update) = self.intermediate.as_ref().filter(|_| size > 0.0) else {
            return Vec::new();
        };
        let mut asked = Vec::new();
        let mut slots = Vec::new();
        for own in &self.manifest.variables {
            if let FaceRole::Input(slot) = own.face.role
                && own.is_continuous_input()
            {
                asked.push((own.reference, self.inputs[slot][0]));
                slots.push(slot);
            }
        }
        let courses = update.courses(&self.given, &asked, from, size);
        let mut ends = Vec::new();
        for (slot, course) in slots.into_iter().zip(courses) {
            self.inputs[slot] = course.derivatives;
            ends.push((slot, course.last));
        }
        ends
    }

    fn check_step(&self, from: f64, until: f64, size: f64) -> Result<(), String> {
        let time = self.time;
        if !(until.is_finite() && size >= 0.0) {
            return Err(format!("a step from {from} of {size} s is none"));
        }
        if self.ends {
            return Err(format!(
                "a system inside has asked for the end of the simulation at t = {time} s: there is no step after it"
            ));
        }
        if (from - time).abs() > SAME_POINT * size + 1e-9 * time.abs() {
            return Err(format!(
                "a step is to begin at t = {from} s, and the model is at t = {time} s"
            ));
        }
        let stop = self.times.1.unwrap_or(self.times.0 + self.own_span());
        if until > stop + self.room_beyond_stop() {
            return Err(format!(
                "a step is to end at t = {until} s, far beyond the stop time that was set up"
            ));
        }
        Ok(())
    }

    /// Where the model is.
    pub fn reached(&self) -> f64 {
        self.time
    }

    /// Whether a system inside has asked for the end of the simulation.
    pub fn wants_to_end(&self) -> bool {
        self.ends
    }
}

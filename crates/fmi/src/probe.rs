//! Tries a unit out before the run: what it declares is believed where it holds.

use dovetail_core::{Error, MacroStep, Nature, Response, Signal, StepRule, System};

use crate::abilities::{Abilities, InputWay, Slopes};
use crate::instance::{CallError, Instance};
use crate::layout::Layout;

/// Inputs beyond this number are not probed one by one.
const MOST_INPUTS: usize = 200;
/// Central differences are taken over so much of an input.
const DIFFERENCE: f64 = 6e-6;
/// A derivative and a difference agree if they differ by less, in units of their size.
const AGREEMENT: f64 = 1e-3;
/// A restored state reproduces a step to this relative precision.
const REPRODUCTION: f64 = 1e-12;
/// A step from a restored state is as near to one that simply goes on: an inner solver that starts anew makes small differences.
const LIKENESS: f64 = 1e-4;

/// What the probe found of one capability.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which capability.
    pub capability: &'static str,
    /// Whether the unit keeps its word.
    pub holds: bool,
    /// What was seen.
    pub what: String,
}

impl Finding {
    fn holds(capability: &'static str, what: impl Into<String>) -> Self {
        Self { capability, holds: true, what: what.into() }
    }

    fn fails(capability: &'static str, what: impl Into<String>) -> Self {
        Self { capability, holds: false, what: what.into() }
    }
}

/// Makes a system with the abilities that are to be tried.
pub(crate) type Make<'a> = &'a mut dyn FnMut(&Abilities) -> Result<Box<dyn System>, String>;

/// Where and how far a unit is tried.
#[derive(Clone, Copy)]
pub(crate) struct Trip {
    pub start: f64,
    pub size: f64,
}

impl Trip {
    fn step(self, number: usize) -> MacroStep {
        let at = |n: usize| self.start + n as f64 * self.size;
        MacroStep::new(at(number), at(number + 1))
    }
}

/// A system under trial, with its answers.
struct Subject {
    system: Box<dyn System>,
    response: Response,
    inputs: Vec<Signal>,
}

impl Subject {
    /// Made and initialised.
    fn new(make: Make<'_>, abilities: &Abilities, trip: Trip, derivatives: usize) -> Result<Self, String> {
        let system = make(abilities)?;
        let interface = system.interface();
        let inputs: Vec<Signal> = interface.inputs.iter().map(|input| Signal::constant(input.start)).collect();
        let response = Response::new(interface, derivatives);
        let mut subject = Self { system, response, inputs };
        let instant = MacroStep::instant(trip.start);
        subject.system.advance(instant, &subject.inputs, &mut subject.response).map_err(reason)?;
        Ok(subject)
    }

    /// Other values for the continuous inputs; what is not a quantity may have no other value.
    fn moved(&self, offset: f64) -> Vec<Signal> {
        let natures = self.system.interface().inputs.iter().map(|input| input.nature);
        let moved = |(signal, nature): (&Signal, Nature)| match nature {
            Nature::Continuous => Signal::constant(1.5 * signal.value(0.0) + offset),
            _ => *signal,
        };
        self.inputs.iter().zip(natures).map(moved).collect()
    }

    /// Continuous inputs that leave their start values with the power `order` of time.
    fn bend(&mut self, order: usize, size: f64) {
        for (signal, input) in self.inputs.iter_mut().zip(&self.system.interface().inputs) {
            if input.nature == Nature::Continuous {
                let start = signal.value(0.0);
                let mut coefficients = [0.0; 6];
                coefficients[0] = start;
                coefficients[order] = 0.5 * (1.0 + start.abs()) / size.powi(order as i32);
                *signal = Signal::new(&coefficients);
            }
        }
    }

    fn advance(&mut self, step: MacroStep) -> Result<Vec<f64>, String> {
        self.system.advance(step, &self.inputs, &mut self.response).map_err(reason)?;
        Ok(values(&self.response))
    }

    fn trial(&mut self, step: MacroStep, inputs: &[Signal]) -> Result<Vec<f64>, String> {
        let trial = self.system.trial().ok_or("it is not offered")?;
        trial.respond(step, inputs, &mut self.response).map_err(reason)?;
        Ok(values(&self.response))
    }
}

/// What a unit itself says of a failure, without our frame.
fn reason(error: Error) -> String {
    match error {
        Error::System { reason, .. } => reason.to_string(),
        other => other.to_string(),
    }
}

fn values(response: &Response) -> Vec<f64> {
    response.outputs.iter().map(|knot| knot.value).chain(response.states.iter().copied()).collect()
}

/// The largest relative difference.
fn distance(one: &[f64], other: &[f64]) -> f64 {
    // What is next to nothing beside the other values may be noise.
    let noise = 1e-6 * one.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    let apart = |(a, b): (&f64, &f64)| {
        if a.to_bits() == b.to_bits() { 0.0 } else { (a - b).abs() / a.abs().max(b.abs()).max(noise) }
    };
    one.iter().zip(other).map(apart).fold(0.0, |most, d| if d.is_nan() || d > most { d } else { most })
}

/// Tries what a Co-Simulation unit declares. What does not hold is taken from `abilities`.
pub(crate) fn co_simulation(abilities: &mut Abilities, make: Make<'_>, trip: Trip) -> Result<Vec<Finding>, String> {
    let plain = Abilities { rollback: false, slopes: Slopes::Unknown, inputs: InputWay::Held, ..abilities.clone() };
    let baseline = Subject::new(make, &plain, trip, 0)?.advance(trip.step(0))?;
    let mut findings = Vec::new();
    if abilities.rollback {
        let finding = rollback(&plain, make, trip, &baseline);
        abilities.rollback = finding.holds;
        findings.push(finding);
    }
    if let InputWay::Derivatives(degree) = abilities.inputs {
        let (mut degree, mut what) = match input_derivatives(&plain, make, trip, degree, &baseline) {
            0 => (0, "they have no effect".to_owned()),
            degree => (degree, format!("they have an effect up to order {degree}")),
        };
        if degree == 0 && !inputs_matter(&plain, make, trip, &baseline) {
            // Nor have the values, where the unit starts: nothing speaks against the first order.
            (degree, what) = (1, "inputs have no effect at the start; order 1 is believed".to_owned());
        }
        abilities.inputs = if degree > 0 { InputWay::Derivatives(degree) } else { InputWay::Held };
        findings.push(Finding { capability: "input derivatives", holds: degree > 0, what });
    }
    if abilities.inputs == InputWay::Intermediate {
        let finding = intermediate_update(&plain, make, trip, &baseline);
        abilities.inputs = if finding.holds { InputWay::Intermediate } else { InputWay::Held };
        findings.push(finding);
    }
    if let Slopes::Told(orders) = abilities.slopes {
        let finding = output_derivatives(&Abilities { slopes: Slopes::Told(orders), ..plain.clone() }, make, trip);
        if !finding.holds {
            let chained = abilities.linearizes;
            abilities.slopes = if chained { Slopes::Chained } else { Slopes::Unknown };
        }
        findings.push(finding);
    }
    Ok(findings)
}

/// Does a restored state reproduce, also after a step under other inputs?
fn rollback(plain: &Abilities, make: Make<'_>, trip: Trip, baseline: &[f64]) -> Finding {
    const NAME: &str = "rollback";
    let mut tried = || -> Result<(f64, f64), String> {
        let able = Abilities { rollback: true, ..plain.clone() };
        let mut subject = Subject::new(make, &able, trip, 0)?;
        let inputs = subject.inputs.clone();
        let other = subject.moved(0.1);
        let (step, next) = (trip.step(0), trip.step(1));
        let first = subject.trial(step, &inputs)?;
        // Other inputs may be out of the unit's range: what matters is the way back.
        let _ = subject.trial(step, &other);
        let again = subject.trial(step, &inputs)?;
        let (apart, unlike) = (distance(&first, &again), distance(&first, baseline));
        subject.advance(step)?;
        let first = subject.trial(next, &inputs)?;
        let again = subject.trial(next, &inputs)?;
        Ok((apart.max(distance(&first, &again)), unlike))
    };
    match tried() {
        Ok((apart, unlike)) if apart <= REPRODUCTION && unlike <= LIKENESS => {
            let drift =
                if unlike > REPRODUCTION { format!(", {unlike:.1e} away from going on") } else { String::new() };
            Finding::holds(NAME, format!("a restored state reproduces{drift}"))
        }
        Ok((apart, unlike)) if apart <= REPRODUCTION => Finding::fails(
            NAME,
            format!("a restored state is not the one that was saved: a step from it differs by {unlike:.1e}"),
        ),
        Ok((apart, _)) => Finding::fails(NAME, format!("a step repeated from a restored state differs by {apart:.1e}")),
        Err(why) => Finding::fails(NAME, why),
    }
}

/// Up to which order input derivatives change anything.
fn input_derivatives(plain: &Abilities, make: Make<'_>, trip: Trip, most: usize, baseline: &[f64]) -> usize {
    for order in 1..=most {
        let able = Abilities { inputs: InputWay::Derivatives(order), ..plain.clone() };
        let tried = Subject::new(make, &able, trip, 0).and_then(|mut subject| {
            subject.bend(order, trip.size);
            subject.advance(trip.step(0))
        });
        match tried {
            Ok(moved) if moved.iter().zip(baseline).any(|(a, b)| a.to_bits() != b.to_bits()) => {}
            _ => return order - 1,
        }
    }
    most
}

/// Does a unit that may ask for its inputs on the way really ask?
fn intermediate_update(plain: &Abilities, make: Make<'_>, trip: Trip, baseline: &[f64]) -> Finding {
    const NAME: &str = "inputs during intermediate update";
    let able = Abilities { inputs: InputWay::Intermediate, ..plain.clone() };
    let tried = Subject::new(make, &able, trip, 0).and_then(|mut subject| {
        subject.bend(1, trip.size);
        subject.advance(trip.step(0))
    });
    match tried {
        Ok(moved) if moved.iter().zip(baseline).any(|(a, b)| a.to_bits() != b.to_bits()) => {
            Finding::holds(NAME, "they are followed")
        }
        Ok(_) if inputs_matter(plain, make, trip, baseline) => Finding::fails(NAME, "inputs that move have no effect"),
        Ok(_) => Finding::holds(NAME, "inputs have no effect at the start; it is believed"),
        Err(why) => Finding::fails(NAME, why),
    }
}

/// Whether other values of the inputs change anything over the first step.
fn inputs_matter(plain: &Abilities, make: Make<'_>, trip: Trip, baseline: &[f64]) -> bool {
    let tried = Subject::new(make, plain, trip, 0).and_then(|mut subject| {
        subject.inputs = subject.moved(0.5);
        subject.advance(trip.step(0))
    });
    tried.is_ok_and(|moved| moved.iter().zip(baseline).any(|(a, b)| a.to_bits() != b.to_bits()))
}

/// Are the derivatives of outputs numbers, and not always zero while the outputs move?
fn output_derivatives(able: &Abilities, make: Make<'_>, trip: Trip) -> Finding {
    const NAME: &str = "output derivatives";
    let mut tried = || -> Result<(bool, bool, bool), String> {
        let mut subject = Subject::new(make, able, trip, 1)?;
        let outputs: Vec<usize> = {
            let all = subject.system.interface().outputs.iter().enumerate();
            all.filter(|(_, o)| o.nature == Nature::Continuous).map(|(i, _)| i).collect()
        };
        let (mut finite, mut zero, mut moved) = (true, true, false);
        let mut before: Vec<f64> = subject.response.outputs.iter().map(|knot| knot.value).collect();
        for number in 0..3 {
            subject.advance(trip.step(number))?;
            for &j in &outputs {
                let knot = subject.response.outputs[j];
                finite &= knot.slope.is_finite();
                zero &= knot.slope == 0.0;
                moved |= knot.value != before[j];
                before[j] = knot.value;
            }
        }
        Ok((finite, zero, moved))
    };
    match tried() {
        Ok((false, ..)) => Finding::fails(NAME, "they are not finite numbers"),
        Ok((_, true, true)) => Finding::fails(NAME, "they are always 0, while the outputs move"),
        Ok(_) => Finding::holds(NAME, "they are finite and move"),
        Err(why) => Finding::fails(NAME, why),
    }
}

/// How outputs and state derivatives react to each input, by differences in initialisation mode.
pub(crate) struct Reactions {
    /// Whether output `j` (a position) reacts to input `i`.
    pub feedthrough: Vec<(usize, usize)>,
    /// Whether all inputs were moved.
    pub complete: bool,
    /// The directional derivatives, where they were asked for.
    pub derivatives: Option<Finding>,
}

/// Moves every input of an instance in initialisation mode, and looks.
pub(crate) fn reactions<I: Instance>(
    instance: &mut I,
    layout: &Layout,
    abilities: &Abilities,
) -> Result<Reactions, CallError> {
    let mut look = Look::new(instance, layout)?;
    let mut reactions = Reactions { feedthrough: Vec::new(), complete: true, derivatives: None };
    let mut worst: Option<String> = None;
    let mut asked = false;
    let continuous = layout.smooth_input_positions.iter().enumerate();
    for (k, &position) in continuous.take(MOST_INPUTS) {
        let column = look.difference(position)?;
        reactions.feedthrough.extend(column.reacting.iter().map(|&j| (j, position)));
        if abilities.directional {
            asked = true;
            let known = layout.states.len() + k;
            let told = look.directional(abilities, known)?;
            if let Some(at) = disagreement(&told, &column.slopes) {
                worst.get_or_insert_with(|| look.describe(at, &layout.inputs[position].name, &told, &column.slopes));
            }
        }
    }
    for known in 0..layout.states.len().min(MOST_INPUTS) {
        if !abilities.directional || layout.state_references.len() != layout.states.len() {
            break;
        }
        // A state may not be settable here, and then nothing can be compared.
        let Ok(slopes) = look.state_difference(known) else { continue };
        asked = true;
        let told = look.directional(abilities, known)?;
        if let Some(at) = disagreement(&told, &slopes) {
            worst.get_or_insert_with(|| look.describe(at, &layout.states[known], &told, &slopes));
        }
    }
    reactions.complete = layout.smooth_input_positions.len() <= MOST_INPUTS
        && layout.smooth_input_positions.len() == layout.inputs.len();
    if asked {
        const NAME: &str = "directional derivatives";
        reactions.derivatives = Some(
            worst
                .map_or_else(|| Finding::holds(NAME, "they agree with differences"), |what| Finding::fails(NAME, what)),
        );
    }
    Ok(reactions)
}

/// The first entry in which a derivative and a difference disagree.
fn disagreement(told: &[f64], seen: &[f64]) -> Option<usize> {
    let largest = seen.iter().fold(1.0, |most: f64, value| most.max(value.abs()));
    told.iter().zip(seen).position(|(told, seen)| {
        // A NaN disagrees with everything.
        let apart = (told - seen).abs();
        apart.is_nan() || apart > AGREEMENT * told.abs().max(seen.abs()) + 1e-6 * largest
    })
}

struct Look<'a, I> {
    instance: &'a mut I,
    layout: &'a Layout,
    inputs: Vec<f64>,
    seed: Vec<f64>,
}

struct Column {
    /// Derivatives and outputs, as in the directional derivative.
    slopes: Vec<f64>,
    /// Outputs (positions) that react at all.
    reacting: Vec<usize>,
}

impl<'a, I: Instance> Look<'a, I> {
    fn new(instance: &'a mut I, layout: &'a Layout) -> Result<Self, CallError> {
        let inputs: Vec<f64> = layout.smooth_input_positions.iter().map(|&at| layout.inputs[at].start).collect();
        instance.set_floats(&layout.smooth_inputs, &inputs)?;
        let seed = vec![0.0; layout.states.len() + layout.smooth_input_positions.len()];
        Ok(Self { instance, layout, inputs, seed })
    }

    /// Derivatives, smooth outputs, and then all outputs as they are read.
    fn read(&mut self) -> Result<(Vec<f64>, Vec<f64>), CallError> {
        let layout = self.layout;
        let mut rates = vec![0.0; layout.states.len()];
        self.instance.get_floats(&layout.derivative_references, &mut rates)?;
        let mut outputs = vec![0.0; layout.outputs.len()];
        let mut read = vec![0.0; layout.read_values];
        self.instance.get_floats(&layout.read, &mut read)?;
        layout.read_output.iter().for_each(|&(place, at)| outputs[at] = read[place]);
        for group in &layout.other_outputs {
            let mut values = vec![0.0; group.positions.len()];
            self.instance.get_values(group.kind, &group.references, &mut values)?;
            values.iter().zip(&group.positions).for_each(|(&value, &at)| outputs[at] = value);
        }
        rates.extend(layout.smooth_output_positions.iter().map(|&at| outputs[at]));
        Ok((rates, outputs))
    }

    fn difference(&mut self, position: usize) -> Result<Column, CallError> {
        let layout = self.layout;
        let place = layout.smooth_input_positions.iter().position(|&at| at == position).unwrap_or(0);
        let start = self.inputs[place];
        let gap = DIFFERENCE * (1.0 + start.abs());
        let mut sides = Vec::new();
        for moved in [start + gap, start - gap] {
            self.inputs[place] = moved;
            self.instance.set_floats(&layout.smooth_inputs, &self.inputs)?;
            sides.push(self.read()?);
        }
        self.inputs[place] = start;
        self.instance.set_floats(&layout.smooth_inputs, &self.inputs)?;
        let (here, _) = (self.read()?, ());
        let slopes = sides[0].0.iter().zip(&sides[1].0).map(|(a, b)| (a - b) / (2.0 * gap)).collect();
        let moved = |j: &usize| sides.iter().any(|side| side.1[*j].to_bits() != here.1[*j].to_bits());
        Ok(Column { slopes, reacting: (0..layout.outputs.len()).filter(moved).collect() })
    }

    fn state_difference(&mut self, known: usize) -> Result<Vec<f64>, CallError> {
        let reference = [self.layout.state_references[known]];
        let mut start = [0.0];
        self.instance.get_floats(&reference, &mut start)?;
        let gap = DIFFERENCE * (1.0 + start[0].abs());
        let mut sides = Vec::new();
        for moved in [start[0] + gap, start[0] - gap] {
            self.instance.set_floats(&reference, &[moved])?;
            let mut back = [0.0];
            self.instance.get_floats(&reference, &mut back)?;
            let taken = back[0] == moved;
            sides.push((taken, self.read()?.0));
        }
        self.instance.set_floats(&reference, &start)?;
        if !sides.iter().all(|(taken, _)| *taken) {
            return Err(CallError::NotTaken);
        }
        Ok(sides[0].1.iter().zip(&sides[1].1).map(|(a, b)| (a - b) / (2.0 * gap)).collect())
    }

    fn directional(&mut self, abilities: &Abilities, known: usize) -> Result<Vec<f64>, CallError> {
        let mut told = vec![f64::NAN; self.layout.states.len() + self.layout.smooth_output_positions.len()];
        self.seed[known] = 1.0;
        let asked = self.instance.directional(&abilities.unknowns, &abilities.knowns, &self.seed, &mut told);
        self.seed[known] = 0.0;
        asked.map(|()| told)
    }

    fn describe(&self, at: usize, known: &str, told: &[f64], seen: &[f64]) -> String {
        let states = self.layout.states.len();
        let unknown = match at.checked_sub(states) {
            None => format!("der({})", self.layout.states[at]),
            Some(output) => self.layout.outputs[self.layout.smooth_output_positions[output]].name.clone(),
        };
        format!(
            "the derivative of `{unknown}` by `{known}` is told as {:.6e}, a difference gives {:.6e}",
            told[at], seen[at]
        )
    }
}

/// The step over which a unit is tried.
pub(crate) fn trip(start: f64, size: f64, rule: StepRule) -> Trip {
    let size = match rule {
        StepRule::Imposed(size) => size,
        StepRule::Free => size,
    };
    Trip { start, size }
}

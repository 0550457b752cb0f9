//! The interface of a step, for methods with C¹ or C² inputs: signals that leave the start and
//! arrive at a guess of the end, and the outputs they cause.

use std::iter::zip;

use dovetail_core::{
    Archive, Capabilities, Checkpoint, Connections, Error, Knot, MacroStep, Past, Signal,
    SignalKind, Source, Task, Workers, visit_fields,
};

use crate::chatter;
use crate::early_stops::EarlyStops;
use crate::finite::{finite_or_zero, with_known_derivatives};
use crate::initialization::reinitialize;
use crate::interface_vector::Stacking;
use crate::near_side::NearSide;
use crate::predictions::Predictions;
use crate::shape::Shape;

/// The outputs that inputs follow in the course of a step, as stacked positions: the coupling
/// variables.
pub(crate) fn coupled_outputs(connections: &Connections) -> Vec<usize> {
    sources_of(connections, |input| !connections.is_held(input))
}

/// The outputs that inputs hold over a step. They may be coupling variables as well, where another
/// input follows them.
pub(crate) fn held_outputs(connections: &Connections) -> Vec<usize> {
    sources_of(connections, |input| connections.is_held(input))
}

/// The outputs that feed these inputs, each once.
fn sources_of(connections: &Connections, wanted: impl Fn(usize) -> bool) -> Vec<usize> {
    let sources = connections
        .sources()
        .iter()
        .enumerate()
        .filter(|(input, _)| wanted(*input));
    let mut all: Vec<usize> = sources.filter_map(|(_, source)| source.output()).collect();
    all.sort_unstable();
    all.dedup();

    all
}

/// The coupling of one step. Guesses and answers hold the values of all coupling variables, then
/// their slopes, then, where inputs are quintics, their curvatures.
pub(crate) struct Coupling<'a> {
    pub connections: &'a Connections,
    pub tolerance: f64,
    capabilities: Vec<Capabilities>,
    /// How many derivatives of the outputs are asked for.
    derivatives: usize,
    /// For each system whether it may answer a mixture of both sides of what it switches.
    averages: Vec<bool>,
    /// The coupling variables as outputs (stacked), each with its system and position there.
    pub variables: Vec<CouplingVariable>,
    /// For each input (stacked) the coupling variable that it follows.
    pub feeders: Vec<Option<usize>>,
    /// The outputs that are held over a step, and all outputs (stacked) as far as they are among
    /// these: at the start of the step.
    held: Vec<CouplingVariable>,
    present: Vec<f64>,
    /// Events that trials run into.
    pub stops: EarlyStops,
    /// The interface at the start of the step.
    pub start: Vec<Knot>,
    /// Whether its slopes are known: not on a first step.
    pub smooth: bool,
    /// Whether inputs are quintics, which need curvatures: a step that is not `smooth` has none.
    pub curved: bool,
    pub step: MacroStep,
    pub tasks: Vec<Task>,
    pub near_side: NearSide,
    pub answers: Vec<f64>,
}

/// A coupling variable: its place among all outputs, its system, and its place there.
#[derive(Clone, Copy)]
pub(crate) struct CouplingVariable {
    pub stacked: usize,
    pub system: usize,
    pub position: usize,
}

impl CouplingVariable {
    /// The output at this place among all.
    pub fn of(connections: &Connections, stacked: usize) -> Self {
        let system = connections.owner(stacked);
        Self {
            stacked,
            system,
            position: stacked - connections.outputs_of(system).start,
        }
    }

    /// What it was at the end of the last step.
    pub fn latest(&self, past: &Past) -> f64 {
        past.latest()[self.stacked].value
    }

    /// What its system has answered at the end of its task.
    pub fn answer(&self, tasks: &[Task]) -> Knot {
        tasks[self.system].response.outputs[self.position]
    }
}

impl<'a> Coupling<'a> {
    /// Systems may answer a mixture of both sides of what they switch, where all who depend on it
    /// are affine in it: the caller finds the mixture that stays there.
    pub fn allow_averages(&mut self) {
        let affine = self.connections.used_affinely();
        for system in 0..self.connections.systems() {
            let outputs = self.connections.outputs_of(system);
            let averages = affine[outputs].iter().all(|affine| *affine);
            self.averages[system] = averages;
            self.tasks[system].response.averages = averages;
        }
    }

    /// The coupling variables that feed inputs which systems delay.
    pub fn delayed_variables(&self) -> impl Iterator<Item = usize> {
        let interfaces = self.connections.interfaces().iter();
        let inputs = interfaces.flat_map(|interface| &interface.inputs);
        let mut delayed = vec![false; self.variables.len()];
        for (input, feeder) in zip(inputs, &self.feeders) {
            if let Some(feeder) = feeder.filter(|_| input.delayed) {
                delayed[feeder] = true;
            }
        }
        (0..self.variables.len()).filter(move |variable| delayed[*variable])
    }

    /// The coupling of systems with these capabilities, whose steps are `longest` at most.
    pub fn new(
        connections: &'a Connections,
        tolerance: f64,
        capabilities: &[Capabilities],
        longest: f64,
    ) -> Self {
        let outputs = coupled_outputs(connections);
        let variable = |&stacked: &usize| CouplingVariable::of(connections, stacked);
        let place = |(input, source): (usize, &Source)| {
            let output = source.output().filter(|_| !connections.is_held(input))?;
            outputs.binary_search(&output).ok()
        };

        Self {
            tolerance,
            capabilities: capabilities.to_vec(),
            derivatives: 1,
            averages: vec![false; connections.systems()],
            variables: outputs.iter().map(variable).collect(),
            feeders: connections
                .sources()
                .iter()
                .enumerate()
                .map(place)
                .collect(),
            held: held_outputs(connections).iter().map(variable).collect(),
            present: vec![f64::NAN; connections.outputs()],
            stops: EarlyStops::new(longest),
            start: vec![Knot::value_only(f64::NAN); outputs.len()],
            smooth: false,
            curved: false,
            step: MacroStep::instant(0.0),
            tasks: connections.tasks(1),
            near_side: NearSide::default(),
            answers: vec![0.0; 2 * outputs.len()],
            connections,
        }
    }

    /// Asks for curvatures too.
    pub fn with_curvatures(mut self) -> Self {
        self.derivatives = 2;
        self.tasks = self.connections.tasks(2);
        self
    }

    /// Whether it is not known yet where the first step starts.
    pub fn is_new(&self) -> bool {
        self.start.iter().all(|knot| knot.value.is_nan())
    }

    /// The start of a run, or where another method was left: values are known, slopes are not.
    pub fn begin(&mut self, past: &Past) {
        for (knot, variable) in zip(&mut self.start, &self.variables) {
            *knot = Knot::value_only(variable.latest(past));
        }
        self.smooth = false;
    }

    /// An attempt begins: what is held has its newest values. The time at which the step is to end
    /// at the latest.
    pub fn begin_attempt(&mut self, past: &Past, next_event: f64) -> f64 {
        self.near_side.clear(&self.tasks, next_event);
        for held in &self.held {
            self.present[held.stacked] = held.latest(past);
        }
        next_event.min(self.stops.begin(past.reached()))
    }

    /// What is held has the values that systems have just answered; true if a value that jumps by
    /// its kind is another one.
    fn hold_newest(&mut self) -> bool {
        let mut changed = false;
        for held in &self.held {
            let newest = held.answer(&self.tasks).value;
            let jumps = self.connections.output(held.stacked).kind != SignalKind::Continuous;
            changed |= jumps && self.present[held.stacked] != newest;
            self.present[held.stacked] = newest;
        }
        changed
    }

    /// Whether the step just taken has led to an event: one that was announced, one that a trial
    /// has found, or another value of something that jumps and that others hold.
    pub fn at_event(&mut self) -> bool {
        let announced = self
            .tasks
            .iter()
            .any(|task| task.response.next_event <= self.step.end);
        self.hold_newest() || announced || self.stops.grazed
    }

    /// What the system of a variable has answered at the end of the tasks.
    pub fn answer(&self, variable: &CouplingVariable) -> Knot {
        variable.answer(&self.tasks)
    }

    /// The values of the coupling variables at the start of the step.
    pub fn start_values(&self) -> impl Iterator<Item = f64> {
        self.start.iter().map(|knot| knot.value)
    }

    /// How far the variables move over the step that ends so.
    pub fn moves_to(&self, end: &[f64]) -> impl Iterator<Item = f64> {
        self.start_values().zip(end).map(|(start, end)| end - start)
    }

    /// The interface at the start of the step, as far as there is room; zero where a derivative is
    /// not known.
    pub fn stack_start(&self, into: &mut [f64]) {
        for (c, knot) in self.start.iter().enumerate() {
            self.stacking().put(into, c, with_known_derivatives(*knot));
        }
    }

    /// Where the numbers of the coupling variables are in a stacked vector.
    pub fn stacking(&self) -> Stacking {
        Stacking {
            variables: self.variables.len(),
        }
    }

    /// `system` and variable of an unknown.
    pub fn name(&self, unknown: usize) -> (String, String) {
        let variable = self.variables[unknown % self.variables.len().max(1)];
        let interface = &self.connections.interfaces()[variable.system];
        (
            interface.name.clone(),
            interface.outputs[variable.position].name.clone(),
        )
    }

    /// Inputs held at their start values; (20), or a constant on a first step.
    pub fn hold(&mut self) {
        let size = self.step.size();
        let smooth = self.smooth;

        self.place_signals(|knot, _| match smooth {
            true => Signal::parabola_from(size, knot, knot.value),
            false => Signal::constant(knot.value),
        });
    }

    /// Inputs that leave the start and arrive at `guess`, (22).
    pub fn place(&mut self, guess: &[f64]) {
        let size = self.step.size();
        let shape = self.shape();

        self.place_signals(|knot, variable| {
            shape.between(size, knot, shape.knot_of(guess, variable))
        });
    }

    /// What inputs are made of in this step.
    pub fn shape(&self) -> Shape {
        match (self.smooth, self.curved) {
            (true, true) => Shape::Quintic,
            (true, false) => Shape::Cubic,
            _ => Shape::Parabola,
        }
    }

    /// What [`Self::place`] makes of an end value of 1, of an end slope of 1 and of an end
    /// curvature of 1, for a system that takes inputs of `degree`: the inputs are affine in the
    /// guess.
    pub fn basis(&self, degree: usize) -> [Signal; 3] {
        let size = self.step.size();
        let shape = self.shape();
        let knot = |value: f64, slope: f64, curvature: f64| Knot {
            value,
            slope,
            curvature,
        };

        [
            knot(1.0, 0.0, 0.0),
            knot(0.0, 1.0, 0.0),
            knot(0.0, 0.0, 1.0),
        ]
        .map(|end| {
            shape
                .between(size, Knot::from(0.0), end)
                .reduced(size, degree)
        })
    }

    /// The slopes of a system's inputs at the start of the step; zero where they are not known.
    pub fn start_slopes(&self, system: usize) -> impl Iterator<Item = f64> {
        let slope = |variable: usize| self.start[variable].slope;
        let known = |slope: &f64| slope.is_finite();
        self.connections
            .inputs_of(system)
            .map(move |input| self.feeders[input].map(slope).filter(known).unwrap_or(0.0))
    }

    /// Slopes at the start of a run, made consistent where all systems know theirs: then no step is
    /// a first step.
    pub fn find_start_slopes(
        &mut self,
        past: &Past,
        workers: &mut dyn Workers,
    ) -> Result<(), Error> {
        let (tasks, smooth) = reinitialize(
            self.connections,
            workers,
            past.reached(),
            (1, &self.averages),
            past.latest(),
        )?;
        if smooth {
            self.start_smoothly_from(&tasks);
        }
        Ok(())
    }

    /// The step starts with the values and slopes that systems have answered.
    fn start_smoothly_from(&mut self, tasks: &[Task]) {
        for (knot, variable) in zip(&mut self.start, &self.variables) {
            *knot = variable.answer(tasks);
        }
        self.smooth = true;
    }

    fn place_signals(&mut self, signal: impl Fn(Knot, usize) -> Signal) {
        let size = self.step.size();
        self.place_inputs(|knot, variable, degree| signal(knot, variable).reduced(size, degree));
    }

    /// Inputs that follow a variable have the signal that is made of its start, for systems that
    /// take so high a degree; all others are held.
    fn place_inputs(&mut self, signal: impl Fn(Knot, usize, usize) -> Signal) {
        let connections = self.connections;
        for task in &mut self.tasks {
            task.step = self.step;
            let degree = self.capabilities[task.system].input_degree;
            let inputs = connections.inputs_of(task.system);
            for (input, place) in inputs.zip(&mut task.inputs) {
                *place = match self.feeders[input] {
                    Some(variable) => signal(self.start[variable], variable, degree),
                    None => Signal::constant(connections.feed(input, &self.present)),
                };
            }
        }
    }

    /// Tries the inputs that are placed; the answers are those of the coupling variables. False if
    /// a system has stopped at an event: then the attempt is to be given up.
    pub fn ask(&mut self, past: &Past, workers: &mut dyn Workers) -> Result<bool, Error> {
        if !self.try_step(workers)? {
            return Ok(false);
        }

        let (values, slopes) = self.answers.split_at_mut(self.variables.len());
        for (c, variable) in self.variables.iter().enumerate() {
            let knot = variable.answer(&self.tasks);
            values[c] = knot.value;
            slopes[c] = match self.capabilities[variable.system].output_derivatives {
                0 => difference(past, *variable, self.step, knot.value),
                _ => knot.slope,
            };
        }
        Ok(true)
    }

    /// Tries the inputs that are placed; false if a system has stopped at an event.
    pub fn try_step(&mut self, workers: &mut dyn Workers) -> Result<bool, Error> {
        workers.trial(&mut self.tasks)?;
        Ok(!self.stops.notice(self.step, &self.tasks))
    }

    /// What the step that was taken answered, beside what was predicted; across an event that says
    /// nothing.
    pub fn note_predictions(&self, predicted: &[f64], predictions: &mut Predictions) {
        if self.stops.grazed {
            return;
        }
        for (c, variable) in self.variables.iter().enumerate() {
            let integrated = self.answer(variable).value;
            predictions.include(c, self.start[c].value);
            predictions.note(c, self.step.end, predicted[c], integrated);
        }
    }

    /// `system.variable` of a coupling variable.
    pub fn full_name(&self, variable: usize) -> String {
        self.connections
            .output_name(self.variables[variable].stacked)
    }

    /// The largest miss of each coupling variable, by name.
    pub fn discrepancy(&self, predictions: &Predictions) -> Vec<(String, f64)> {
        (0..self.variables.len())
            .map(|variable| self.full_name(variable))
            .zip(predictions.misses())
            .collect()
    }

    /// The next step starts where the inputs of this one ended.
    pub fn continue_from(&mut self, end: &[f64]) {
        let shape = self.shape();
        for (variable, knot) in self.start.iter_mut().enumerate() {
            *knot = shape.knot_of(end, variable);
        }

        self.smooth = true;
        self.stops.accepted(self.step);
    }

    /// Crosses the event at the end of the step just taken. True if the interface jumps there: then
    /// the next step starts from consistent values and slopes, or as a first step where not all
    /// systems know their slopes.
    pub fn cross_event(&mut self, workers: &mut dyn Workers) -> Result<bool, Error> {
        let time = self.step.end;
        self.near_side.keep(&self.tasks);
        self.step = MacroStep::instant(time);
        self.place_signals_at_start();
        workers.advance(&mut self.tasks)?;
        let changed = self.hold_newest();
        let jumps = changed || self.has_jumped();

        if jumps {
            self.restart_consistently(time, workers)?;
        }
        Ok(jumps)
    }

    /// Whether some coupling variable has another value or slope than where the step began.
    fn has_jumped(&self) -> bool {
        let margin = 10.0 * self.tolerance;
        let differs = |a: f64, b: f64| (a - b).abs() > margin * a.abs().max(b.abs());
        let mut pairs = self.variables.iter().zip(&self.start);

        pairs.any(|(variable, knot)| {
            let now = self.answer(variable);
            // A slope that is not known may have jumped.
            let known = self.capabilities[variable.system].output_derivatives > 0;
            !known || differs(now.value, knot.value) || differs(now.slope, knot.slope)
        })
    }

    /// The next step starts from consistent values, and slopes where all systems know theirs.
    fn restart_consistently(&mut self, time: f64, workers: &mut dyn Workers) -> Result<(), Error> {
        let mut present = vec![Knot::from(0.0); self.connections.outputs()];
        for held in &self.held {
            present[held.stacked] = Knot::from(self.present[held.stacked]);
        }

        for (variable, knot) in self.variables.iter().zip(&self.start) {
            present[variable.stacked] = *knot;
        }

        (self.tasks, self.smooth) = reinitialize(
            self.connections,
            workers,
            time,
            (self.derivatives, &self.averages),
            &present,
        )?;
        for (knot, variable) in self.start.iter_mut().zip(&self.variables) {
            let now = variable.answer(&self.tasks);
            *knot = if self.smooth {
                now
            } else {
                Knot::value_only(now.value)
            };
        }
        Ok(())
    }

    /// Inputs with the value and slope of the start, for a question about the present.
    fn place_signals_at_start(&mut self) {
        self.place_signals(|knot, _| Signal::new(&[knot.value, knot.slope]));
    }

    /// Asks all systems about the present, under inputs that have the values, slopes and curvatures
    /// of the start, as far as they are known and taken.
    pub fn ask_about_present(&mut self, time: f64, workers: &mut dyn Workers) -> Result<(), Error> {
        self.step = MacroStep::instant(time);
        self.place_inputs(|knot, _, degree| {
            let slope = finite_or_zero(knot.slope);
            let curvature = finite_or_zero(knot.curvature);
            Signal::new(&[knot.value, slope, 0.5 * curvature][..=degree.min(2)])
        });
        workers.advance(&mut self.tasks)?;
        self.hold_newest();
        Ok(())
    }

    /// What systems were given instead of what they lack; `differences` in place of slopes, if the
    /// method uses them.
    pub fn substitutes(&self, differences: bool) -> Vec<String> {
        let mut all = Vec::new();
        for (k, interface) in self.connections.interfaces().iter().enumerate() {
            let name = &interface.name;
            let capabilities = &self.capabilities[k];
            let degree = capabilities.input_degree;
            if degree < 3 && self.follows(k) {
                all.push(format!(
                    "`{name}` takes inputs of degree {degree} only: cubic inputs were reduced, \
                     their means kept"
                ));
            }
            let mut kinds = interface.outputs.iter().map(|output| output.kind);
            let smooth = kinds.any(|kind| kind == SignalKind::Continuous);
            if differences && capabilities.output_derivatives == 0 && smooth {
                all.push(format!(
                    "`{name}` does not know the slopes of its outputs: differences were used"
                ));
            }
        }
        all
    }

    /// That switching could not be followed event by event, if that is so.
    pub fn chatter_warning(&self) -> Option<String> {
        chatter::warning(self.stops.dwell)
    }

    /// Whether some input of a system is not held over its steps.
    fn follows(&self, system: usize) -> bool {
        let mut inputs = self.connections.inputs_of(system);
        inputs.any(|input| !self.connections.is_held(input))
    }
}

/// The slope at the end of the step from the last values: of second order where there are two of
/// them.
fn difference(past: &Past, variable: CouplingVariable, step: MacroStep, value: f64) -> f64 {
    let (time, outputs) = past.point(variable.system, 0);
    let size = step.end - time;
    let last = outputs[variable.position].value;
    let secant = (value - last) / size;
    if past.points_since_event(variable.system) < 2 {
        return secant;
    }

    let (earlier, outputs) = past.point(variable.system, 1);
    let before = (last - outputs[variable.position].value) / (time - earlier);
    secant + (secant - before) * size / (step.end - earlier)
}

impl Checkpoint for Coupling<'_> {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive, self.stops, self.smooth, self.curved, self.step);
        archive.slice(&mut self.present)?;
        archive.slice(&mut self.start)?;
        archive.slice(&mut self.answers)?;
        archive.slice(&mut self.tasks)
    }
}

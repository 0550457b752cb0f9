//! An estimate of the error of a coupled run from what its interfaces left open, whatever the
//! method.
//!
//! A system that is integrated accurately follows `x̂' = f(x̂, û)` under the inputs û that it was
//! given; the truth has inputs that agree with the outputs that feed them. So the error `ε = x −
//! x̂` follows the coupled linearized equations, driven by the *defect* `δ = Φᵀ ŷ − û`:
//!
//! ```text
//! ε' = A ε + B w,   w = u − û = (I − Φᵀ D)⁻¹ Φᵀ (C ε + r) + δ,   r = g(x̂, Φᵀ ŷ) − ŷ.
//! ```
//!
//! The residual r of the outputs is not D δ: a method may hold an input over a step and still ask
//! for the output under what the input is at its end.
//!
//! The defect is read off the curves of a run at two Gauss points between any two communication
//! times, and summed up; a few hundred times in a run the systems are linearized, and the error is
//! carried on by an exponential. That costs no integration, but it is an estimate of first order:
//! where errors are large it says that they are, not how large. A residual that is there at one of
//! these times and not at the next is that of a jump, which no two curves show at the same time.

mod coupling;
mod gathered;
mod system;

use dovetail_core::{Archive, Checkpoint, Connections, Error, Linearization, Source, visit_fields};
use serde::{Deserialize, Serialize};

use crate::native::{Definition, Dynamics, Programs};
use coupling::CoupledSensitivity;
use gathered::{GAUSS, Gathered};
use system::{Feeder, LinearizedSystem};

pub use system::RowLayout;

/// How often the systems are linearized in a run.
const LINEARIZATIONS: f64 = 300.0;
/// Beyond so many states or inputs dense matrices cost more than the estimate is worth.
const MOST: usize = 64;
/// So many of the largest errors of an output may be those of jumps.
const JUMPS: usize = 5;
/// Steps so many times longer than a system's own times are long.
const LONG: f64 = 20.0;

/// The estimate, under way.
pub struct Defect {
    systems: Vec<LinearizedSystem>,
    /// For each input (stacked) the output that feeds it.
    feeders: Vec<Option<Feeder>>,
    /// The time between two linearizations.
    interval: f64,
    /// When the systems were last linearized; NaN before the first row.
    linearized: f64,
    /// The row at the first of two Gauss points.
    first: Option<(f64, Vec<f64>)>,
    /// What was seen since the last linearization.
    gathered: Gathered,
    /// The residual of each output, at the last linearization but one and at the last.
    residuals: [Vec<f64>; 2],
    coupling: CoupledSensitivity,
    /// ε.
    error: Vec<f64>,
    /// What the errors of each state have been so far.
    states: Vec<ErrorRecord>,
    /// What the errors of each output have been so far.
    outputs: Vec<ErrorRecord>,
    /// How long the errors have been summed up for.
    total: f64,
    coarse: bool,
    lost: bool,
}

/// What the errors of a variable have been.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct ErrorRecord {
    /// The largest, in descending order.
    largest: [f64; JUMPS + 1],
    /// The integral of their squares.
    squares: f64,
}

/// The error of a variable over a run, absolute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorSize {
    /// The largest.
    pub max: f64,
    /// The root of the mean square.
    pub mean: f64,
}

/// What is known in the end.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorEstimate {
    /// The errors of the states, stacked.
    pub states: Vec<ErrorSize>,
    /// The errors of the outputs, stacked. The very largest, those of jumps that come a step early
    /// or late, are left out.
    pub outputs: Vec<ErrorSize>,
    /// Whether steps were far longer than the fastest parts of the systems take: between
    /// communications curves may then be anything.
    pub coarse: bool,
}

impl Defect {
    /// For a run of length `span` of these systems, whose variables are found at these places; none
    /// where they are too many.
    pub fn new(
        definitions: &[Definition],
        connections: &Connections,
        places: &[RowLayout],
        span: f64,
    ) -> Option<Self> {
        let states = definitions.iter().map(|it| it.states.len()).sum();
        let inputs = connections.sources().len();
        let outputs = connections.outputs();
        // What is delayed carries errors that no state has.
        let delays = definitions.iter().any(|it| !it.model.delays.is_empty());
        if states > MOST || inputs > MOST || inputs == 0 || delays {
            return None;
        }

        Some(Self {
            systems: linearized_systems(definitions, connections, places),
            feeders: feeders(connections, places),
            interval: span / LINEARIZATIONS,
            linearized: f64::NAN,
            first: None,
            gathered: Gathered::new(inputs),
            residuals: [vec![0.0; outputs], vec![0.0; outputs]],
            coupling: CoupledSensitivity::new(states, inputs),
            error: vec![0.0; states],
            states: vec![ErrorRecord::default(); states],
            outputs: vec![ErrorRecord::default(); outputs],
            total: 0.0,
            coarse: false,
            lost: false,
        })
    }

    /// A row at a Gauss point: two of them belong to each interval.
    pub fn row(&mut self, time: f64, row: &[f64]) {
        let Some((before, first)) = self.first.take() else {
            self.first = Some((time, row.to_vec()));
            return;
        };
        let size = (time - before) / GAUSS;
        let to_end = size * (0.5 - 0.5 * GAUSS);

        if self.linearized.is_nan() {
            self.linearized = before - to_end;
        }

        self.gather(size, &first, row);
        let reached = time + to_end;
        let since = reached - self.linearized;

        if since >= self.interval {
            self.gathered.extend_to(since);
            self.linearized = reached;
            self.carry(time, row);
        }
    }

    /// Adds the defects of one interval, from its two rows.
    fn gather(&mut self, size: f64, first: &[f64], second: &[f64]) {
        for (input, feeder) in self.feeders.iter().enumerate() {
            let Some(feeder) = feeder else { continue };
            let Some(own) = feeder.input_place else {
                continue;
            };
            let before = first[feeder.place] - first[own];
            let after = second[feeder.place] - second[own];
            self.gathered.add(input, size, before, after);
        }
        self.gathered.add_interval(size);
    }

    /// What is known of the errors; none where the estimate has left all numbers.
    pub fn found(&self) -> Option<ErrorEstimate> {
        let sizes = |records: &[ErrorRecord], skipped: usize| {
            let of_each = records.iter().map(|it| it.size(skipped, self.total));
            of_each.collect()
        };
        (!self.lost).then(|| ErrorEstimate {
            states: sizes(&self.states, 0),
            outputs: sizes(&self.outputs, JUMPS),
            coarse: self.coarse,
        })
    }

    /// Linearizes the systems where they are, and carries the error on.
    fn carry(&mut self, time: f64, row: &[f64]) {
        for system in &mut self.systems {
            system.linearize(time, row, &self.feeders, &mut self.residuals);
        }

        let solvable = self.coupling.couple(&self.systems, &self.feeders);
        let size = self.gathered.take_elapsed();

        if self.lost || !solvable {
            self.lost = true;
            return;
        }

        self.drive(size);
        self.error = self.coupling.advance(&self.error, size);
        self.lost = self.error.iter().any(|error| !error.is_finite());

        for (record, error) in self.states.iter_mut().zip(&self.error) {
            record.add(*error, size);
        }

        self.record_outputs(size);
        self.total += size;
        self.coarse |= self.gathered.longest() * self.fastest() > LONG;

        self.gathered.clear();
    }

    /// A bound of the fastest rate of any system.
    fn fastest(&self) -> f64 {
        let rates = self.systems.iter().map(LinearizedSystem::fastest);
        rates.fold(0.0, f64::max)
    }

    /// `∫ B (δ + (I − Φᵀ D)⁻¹ Φᵀ r)`.
    fn drive(&mut self, size: f64) {
        for (input, feeder) in self.feeders.iter().enumerate() {
            let Some(feeder) = feeder else { continue };
            let owner = &self.systems[feeder.owner];
            let by_slopes = owner.output_by_slopes(feeder.position, &self.gathered.slopes);
            let lasting = lasting_residual(&self.residuals, feeder.output);
            self.coupling.column[input] = by_slopes + size * lasting;
        }

        self.coupling.solve_column();
        for system in &self.systems {
            self.coupling.drive(system, &self.gathered);
        }
    }

    /// `C ε + r + D v`, with what is wrong with the inputs, `v = (I − Φᵀ D)⁻¹ Φᵀ (C ε + r)`.
    fn record_outputs(&mut self, size: f64) {
        let [_, residuals] = &self.residuals;
        for (input, feeder) in self.feeders.iter().enumerate() {
            let residual = feeder.as_ref().map(|feeder| residuals[feeder.output]);
            self.coupling.column[input] = residual.unwrap_or(0.0);
        }

        self.coupling.solve_column();
        let wrong = self.coupling.errors_of_inputs(&self.error);

        for system in &self.systems {
            for output in 0..system.outputs() {
                let stacked = system.first_output + output;
                let linear = system.output_error(output, &self.error, wrong);
                let error = linear + residuals[stacked];
                self.outputs[stacked].add(error, size);
            }
        }
    }
}

/// Everything else is found anew at the next linearization.
impl Checkpoint for Defect {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive, self.linearized, self.first, self.gathered);
        visit_fields!(archive, self.total, self.coarse, self.lost);
        archive.slice(&mut self.residuals)?;
        archive.slice(&mut self.error)?;
        archive.slice(&mut self.states)?;
        archive.slice(&mut self.outputs)
    }
}

fn linearized_systems(
    definitions: &[Definition],
    connections: &Connections,
    places: &[RowLayout],
) -> Vec<LinearizedSystem> {
    let mut first_state = 0;
    let mut systems = Vec::new();

    for (system, definition) in definitions.iter().enumerate() {
        systems.push(LinearizedSystem {
            dynamics: Dynamics::new(
                &definition.model,
                &Programs::new(&definition.model, None),
                &definition.parameters,
            ),
            here: Linearization::of(&connections.interfaces()[system]),
            places: places[system].clone(),
            first_state,
            first_input: connections.inputs_of(system).start,
            first_output: connections.outputs_of(system).start,
        });
        first_state += definition.states.len();
    }
    systems
}

/// For each input the output that feeds it, if one does.
fn feeders(connections: &Connections, places: &[RowLayout]) -> Vec<Option<Feeder>> {
    let mut feeders = Vec::new();
    for (system, places_of_system) in places.iter().enumerate() {
        for (position, input) in connections.inputs_of(system).enumerate() {
            let source = &connections.sources()[input];
            let input_place = places_of_system.inputs.get(position).copied();
            feeders.push(feeder(connections, places, source, input_place));
        }
    }
    feeders
}

fn feeder(
    connections: &Connections,
    places: &[RowLayout],
    source: &Source,
    input_place: Option<usize>,
) -> Option<Feeder> {
    let output = source.output()?;
    let owner = connections.owner(output);
    let position = output - connections.outputs_of(owner).start;

    Some(Feeder {
        place: places[owner].outputs[position],
        output,
        owner,
        position,
        input_place,
    })
}

/// The residual of an output that stays: the smaller of the two last ones, if they agree in their
/// sign.
fn lasting_residual(residuals: &[Vec<f64>; 2], output: usize) -> f64 {
    let before = residuals[0][output];
    let now = residuals[1][output];

    if before * now > 0.0 {
        now.signum() * now.abs().min(before.abs())
    } else {
        0.0
    }
}

impl ErrorRecord {
    /// Takes in an error that was there for this long.
    fn add(&mut self, error: f64, size: f64) {
        let magnitude = error.abs();
        let rank = self.largest.partition_point(|other| *other >= magnitude);

        if rank < self.largest.len() {
            self.largest[rank..].rotate_right(1);
            self.largest[rank] = magnitude;
        }
        self.squares += size * error * error;
    }

    /// The size of the errors over this time, without so many of the largest.
    fn size(&self, skipped: usize, total: f64) -> ErrorSize {
        ErrorSize {
            max: self.largest[skipped],
            mean: (self.squares / total.max(f64::MIN_POSITIVE)).sqrt(),
        }
    }
}

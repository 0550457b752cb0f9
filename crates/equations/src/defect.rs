//! An estimate of the error of a coupled run from what its interfaces left open, whatever the method.
//!
//! A system that is integrated accurately follows `x̂' = f(x̂, û)` under the inputs û that it was given; the truth has inputs that agree with
//! the outputs that feed them. So the error `ε = x − x̂` follows the coupled linearised equations, driven by the *defect*
//! `δ = Φᵀ ŷ − û`:
//!
//! ```text
//! ε' = A ε + B w,   w = u − û = (I − Φᵀ D)⁻¹ Φᵀ (C ε + r) + δ,   r = g(x̂, Φᵀ ŷ) − ŷ.
//! ```
//!
//! The residual r of the outputs is not D δ: a method may hold an input over a step and still ask for the output under what the input is at its end.
//!
//! The defect is read off the curves of a run at two Gauss points between any two communication times, and summed up; a few hundred times in
//! a run the systems are linearised, and the error is carried on by an exponential. That costs no integration, but it is an estimate of
//! first order: where errors are large it says that they are, not how large. A residual that is there at one of these times and not at the
//! next is that of a jump, which no two curves show at the same time.

use dovetail_core::{Connections, Linearization, Source};
use dovetail_numerics::{Lu, PhiFunctions};
use nalgebra::DMatrix;

use crate::native::{Definition, Dynamics, Point};

/// How often the systems are linearised in a run.
const LINEARIZATIONS: f64 = 300.0;
/// Beyond so many states or inputs dense matrices cost more than the estimate is worth.
const MOST: usize = 64;
/// So many of the largest errors of an output may be those of jumps.
const JUMPS: usize = 5;
/// Steps so many times longer than a system's own times are long.
const LONG: f64 = 20.0;
/// The distance of two Gauss points is this part of their interval.
const GAUSS: f64 = 0.577_350_269_189_625_8;

/// Where the variables of one system are in a row.
#[derive(Clone, Debug)]
pub struct Places {
    /// Its states.
    pub states: Vec<usize>,
    /// Its inputs.
    pub inputs: Vec<usize>,
    /// Its outputs.
    pub outputs: Vec<usize>,
}

/// The estimate, under way.
pub struct Defect {
    systems: Vec<System>,
    /// For each input (stacked) the place of the output that feeds it, in a row and among all outputs.
    feeders: Vec<Option<(usize, usize)>>,
    interval: f64,
    /// The row at the first of two Gauss points.
    first: Option<(f64, Vec<f64>)>,
    /// The defect of each input, summed up over `elapsed` time since the last linearisation.
    sum: Vec<f64>,
    /// The residual of each output, at the last linearisation but one and at the last.
    residuals: [Vec<f64>; 2],
    /// The same of its slope: for systems that use `der(input)`.
    slopes: Vec<f64>,
    /// What the defect changes by within steps, times `h²/12`: a defect `b (s − h/2)` has no mean, but moves a state by `−A B b h³/12`.
    swings: Vec<f64>,
    elapsed: f64,
    /// When they were last linearised.
    carried: f64,
    room: Room,
    /// The longest interval since the last linearisation.
    longest: f64,
    /// ε, and what the errors of each state and each output have been so far.
    error: Vec<f64>,
    states: Vec<Seen>,
    outputs: Vec<Seen>,
    /// How long the errors have been summed up for.
    total: f64,
    coarse: bool,
    lost: bool,
}

/// What the errors of a variable have been.
#[derive(Clone, Copy, Default)]
struct Seen {
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
pub struct Found {
    /// The errors of the states, stacked.
    pub states: Vec<ErrorSize>,
    /// The errors of the outputs, stacked. The very largest, those of jumps that come a step early or late, are left out.
    pub outputs: Vec<ErrorSize>,
    /// Whether steps were far longer than the fastest parts of the systems take: between communications curves may then be anything.
    pub coarse: bool,
}

struct System {
    dynamics: Dynamics,
    here: Linearization,
    places: Places,
    first_state: usize,
    first_input: usize,
    first_output: usize,
}

struct Room {
    /// `I − Φᵀ D`, and `(I − Φᵀ D)⁻¹ Φᵀ C`.
    loops: DMatrix<f64>,
    factors: Lu<f64>,
    follow: DMatrix<f64>,
    coupled: DMatrix<f64>,
    functions: PhiFunctions,
    column: Vec<f64>,
    drive: Vec<f64>,
    wrong: Vec<f64>,
}

impl Defect {
    /// For a run of length `span` of these systems, whose variables are found at these places; none where they are too many.
    pub fn new(
        definitions: &[Definition],
        connections: &Connections,
        places: &[Places],
        span: f64,
    ) -> Option<Self> {
        let states: usize = definitions
            .iter()
            .map(|definition| definition.states.len())
            .sum();
        let inputs = connections.sources().len();
        if states > MOST || inputs > MOST || inputs == 0 {
            return None;
        }
        let mut first_state = 0;
        let mut systems = Vec::new();
        for (system, (definition, places)) in definitions.iter().zip(places).enumerate() {
            systems.push(System {
                dynamics: Dynamics::new(&definition.model, &definition.parameters),
                here: Linearization::of(&connections.interfaces()[system]),
                places: places.clone(),
                first_state,
                first_input: connections.inputs_of(system).start,
                first_output: connections.outputs_of(system).start,
            });
            first_state += definition.states.len();
        }
        let place = |source: &Source| {
            let output = source.output()?;
            let owner = connections.owner(output);
            Some((
                places[owner].outputs[output - connections.outputs_of(owner).start],
                output,
            ))
        };
        let zeros = |count: usize| vec![0.0; count];
        Some(Self {
            systems,
            feeders: connections.sources().iter().map(place).collect(),
            interval: span / LINEARIZATIONS,
            first: None,
            sum: zeros(inputs),
            residuals: [zeros(connections.outputs()), zeros(connections.outputs())],
            slopes: zeros(inputs),
            swings: zeros(inputs),
            elapsed: 0.0,
            carried: f64::NAN,
            room: Room {
                loops: DMatrix::zeros(inputs, inputs),
                factors: Lu::new(inputs),
                follow: DMatrix::zeros(inputs, states),
                coupled: DMatrix::zeros(states, states),
                functions: PhiFunctions::new(states, 1),
                column: zeros(inputs),
                drive: zeros(states),
                wrong: zeros(inputs),
            },
            error: zeros(states),
            states: vec![Seen::default(); states],
            outputs: vec![Seen::default(); connections.outputs()],
            longest: 0.0,
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
        if self.carried.is_nan() {
            self.carried = before - size * (0.5 - 0.5 * GAUSS);
        }
        for (input, feeder) in self.feeders.iter().enumerate() {
            let Some((place, _)) = feeder else { continue };
            let own = self
                .systems
                .iter()
                .find_map(|s| s.places.inputs.get(input.wrapping_sub(s.first_input)));
            let Some(own) = own else { continue };
            let defect = |row: &[f64]| row[*place] - row[*own];
            let (one, two) = (defect(&first), defect(row));
            self.sum[input] += 0.5 * size * (one + two);
            self.slopes[input] += (two - one) / GAUSS;
            self.swings[input] += (two - one) / GAUSS * size * size / 12.0;
        }
        self.elapsed += size;
        self.longest = self.longest.max(size);
        let reached = time + size * (0.5 - 0.5 * GAUSS);
        if reached - self.carried >= self.interval {
            // Not every step is looked at: those that are stand for the others.
            let share = (reached - self.carried) / self.elapsed;
            self.sum
                .iter_mut()
                .chain(&mut self.slopes)
                .chain(&mut self.swings)
                .for_each(|defect| *defect *= share);
            (self.elapsed, self.carried) = (reached - self.carried, reached);
            self.carry(time, row);
        }
    }

    /// What is known of the errors; none where the estimate has left all numbers.
    pub fn found(&self) -> Option<Found> {
        let mean = |seen: &Seen| (seen.squares / self.total.max(f64::MIN_POSITIVE)).sqrt();
        let of = |all: &[Seen], skipped: usize| -> Vec<ErrorSize> {
            all.iter()
                .map(|seen| ErrorSize {
                    max: seen.largest[skipped],
                    mean: mean(seen),
                })
                .collect()
        };
        (!self.lost).then(|| Found {
            states: of(&self.states, 0),
            outputs: of(&self.outputs, JUMPS),
            coarse: self.coarse,
        })
    }

    /// Linearises the systems where they stand, and carries the error on.
    fn carry(&mut self, time: f64, row: &[f64]) {
        for k in 0..self.systems.len() {
            self.linearize(k, time, row);
        }
        let solvable = self.couple();
        let size = std::mem::take(&mut self.elapsed);
        if self.lost || !solvable {
            self.lost = true;
            return;
        }
        self.drive(size);
        let Room {
            coupled,
            functions,
            drive,
            ..
        } = &mut self.room;
        *coupled *= size;
        functions.compute(coupled);
        let [exponential, mean] = [&functions.phi[0], &functions.phi[1]];
        let next = |i: usize| -> f64 {
            let states = 0..drive.len();
            states
                .map(|j| exponential[(i, j)] * self.error[j] + mean[(i, j)] * drive[j])
                .sum()
        };
        let next: Vec<f64> = (0..self.error.len()).map(next).collect();
        self.lost = next.iter().any(|error| !error.is_finite());
        self.error = next;
        self.states
            .iter_mut()
            .zip(&self.error)
            .for_each(|(seen, error)| seen.add(*error, size));
        self.note_outputs(size);
        self.total += size;
        let fastest = self
            .systems
            .iter()
            .map(|system| norm(&system.here.a))
            .fold(0.0, f64::max);
        self.coarse |= std::mem::take(&mut self.longest) * fastest > LONG;
        self.sum.fill(0.0);
        self.slopes.fill(0.0);
        self.swings.fill(0.0);
    }

    /// `(I − Φᵀ D)⁻¹ Φᵀ C` and `A + B (I − Φᵀ D)⁻¹ Φᵀ C`; false where a loop is singular.
    fn couple(&mut self) -> bool {
        let Room {
            loops,
            factors,
            follow,
            coupled,
            column,
            ..
        } = &mut self.room;
        loops.fill(0.0);
        loops.fill_diagonal(1.0);
        follow.fill(0.0);
        for (input, feeder) in self.feeders.iter().enumerate() {
            let Some((_, output)) = feeder else { continue };
            let Some(owner) = self
                .systems
                .iter()
                .rfind(|system| system.first_output <= *output)
            else {
                continue;
            };
            let (position, here) = (output - owner.first_output, &owner.here);
            (0..here.x.len())
                .for_each(|j| follow[(input, owner.first_state + j)] = here.c[(position, j)]);
            (0..here.u.len())
                .for_each(|j| loops[(input, owner.first_input + j)] -= here.d[(position, j)]);
        }
        if factors.factor(loops).is_err() {
            return false;
        }
        for j in 0..follow.ncols() {
            column
                .iter_mut()
                .zip(follow.column(j).iter())
                .for_each(|(to, from)| *to = *from);
            factors.solve_in_place(column);
            follow
                .column_mut(j)
                .iter_mut()
                .zip(&*column)
                .for_each(|(to, from)| *to = *from);
        }
        coupled.fill(0.0);
        for system in &self.systems {
            let here = &system.here;
            for i in 0..here.x.len() {
                let row = system.first_state + i;
                (0..here.x.len())
                    .for_each(|j| coupled[(row, system.first_state + j)] += here.a[(i, j)]);
                for input in 0..here.u.len() {
                    let gain = here.b[(i, input)];
                    (0..follow.ncols()).for_each(|j| {
                        coupled[(row, j)] += gain * follow[(system.first_input + input, j)]
                    });
                }
            }
        }
        true
    }

    /// The residual of an output that stays: the smaller of the two last ones, if they agree in their sign.
    fn lasting(&self, output: usize) -> f64 {
        let [before, now] = [self.residuals[0][output], self.residuals[1][output]];
        if before * now > 0.0 {
            now.signum() * now.abs().min(before.abs())
        } else {
            0.0
        }
    }

    /// `∫ B (δ + (I − Φᵀ D)⁻¹ Φᵀ r)`.
    fn drive(&mut self, size: f64) {
        for input in 0..self.feeders.len() {
            let Some((_, output)) = self.feeders[input] else {
                continue;
            };
            let Some(owner) = self
                .systems
                .iter()
                .rfind(|system| system.first_output <= output)
            else {
                continue;
            };
            let gain = |j: usize| owner.here.d_slope[(output - owner.first_output, j)];
            let by_slopes = (0..owner.here.u.len())
                .map(|j| gain(j) * self.slopes[owner.first_input + j])
                .sum::<f64>();
            self.room.column[input] = by_slopes + size * self.lasting(output);
        }
        let Room {
            factors,
            column,
            drive,
            ..
        } = &mut self.room;
        factors.solve_in_place(column);
        for system in &self.systems {
            let here = &system.here;
            for i in 0..here.x.len() {
                let gain = |j: usize| {
                    let input = system.first_input + j;
                    here.b[(i, j)] * (self.sum[input] + column[input])
                        + here.b_slope[(i, j)] * self.slopes[input]
                };
                drive[system.first_state + i] = (0..here.u.len()).map(gain).sum();
            }
            // What happens within steps that are long for the system is another matter.
            if self.longest * norm(&here.a) < 1.0 {
                for k in 0..here.x.len() {
                    let swing: f64 = (0..here.u.len())
                        .map(|j| here.b[(k, j)] * self.swings[system.first_input + j])
                        .sum();
                    (0..here.x.len())
                        .for_each(|i| drive[system.first_state + i] -= here.a[(i, k)] * swing);
                }
            }
        }
    }

    /// `C ε + r + D v`, with what is wrong with the inputs, `v = (I − Φᵀ D)⁻¹ Φᵀ (C ε + r)`.
    fn note_outputs(&mut self, size: f64) {
        let Room {
            factors,
            follow,
            wrong,
            column,
            ..
        } = &mut self.room;
        for (input, feeder) in self.feeders.iter().enumerate() {
            column[input] = feeder.map_or(0.0, |(_, output)| self.residuals[1][output]);
        }
        factors.solve_in_place(column);
        for (input, wrong) in wrong.iter_mut().enumerate() {
            *wrong = column[input]
                + (0..follow.ncols())
                    .map(|j| follow[(input, j)] * self.error[j])
                    .sum::<f64>();
        }
        for system in &self.systems {
            let here = &system.here;
            for output in 0..here.g.len() {
                let by_states = (0..here.x.len())
                    .map(|j| here.c[(output, j)] * self.error[system.first_state + j]);
                let by_inputs =
                    (0..here.u.len()).map(|j| here.d[(output, j)] * wrong[system.first_input + j]);
                let stacked = system.first_output + output;
                let error =
                    by_states.sum::<f64>() + by_inputs.sum::<f64>() + self.residuals[1][stacked];
                self.outputs[stacked].add(error, size);
            }
        }
    }

    /// Linearises a system where it stands under the inputs that its feeders have for it, and finds the residuals of its outputs.
    fn linearize(&mut self, system: usize, time: f64, row: &[f64]) {
        let feeders = &self.feeders;
        let System {
            dynamics,
            here,
            places,
            first_input,
            first_output,
            ..
        } = &mut self.systems[system];
        let states: Vec<f64> = places.states.iter().map(|place| row[*place]).collect();
        let own = places.inputs.iter().map(|place| row[*place]);
        let fed = |input: usize, own: f64| {
            feeders[*first_input + input].map_or(own, |(place, _)| row[place])
        };
        let given: Vec<f64> = own.clone().collect();
        let inputs: Vec<f64> = own
            .enumerate()
            .map(|(input, own)| fed(input, own))
            .collect();
        let slopes = vec![0.0; inputs.len()];
        dynamics.enter(time);
        dynamics.linearize(
            Point {
                time,
                states: &states,
                inputs: &inputs,
                slopes: &slopes,
            },
            here,
        );
        for (output, place) in places.outputs.iter().enumerate() {
            let uses_slopes = (0..inputs.len()).any(|j| here.d_slope[(output, j)] != 0.0);
            let defects = (0..inputs.len()).map(|j| here.d[(output, j)] * (inputs[j] - given[j]));
            let residual = if uses_slopes {
                defects.sum()
            } else {
                here.g[output] - row[*place]
            };
            let stacked = *first_output + output;
            self.residuals[0][stacked] = self.residuals[1][stacked];
            self.residuals[1][stacked] = residual;
        }
    }
}

impl Seen {
    /// Takes in an error that was there for this long.
    fn add(&mut self, error: f64, size: f64) {
        let place = self.largest.partition_point(|other| *other >= error.abs());
        if place < self.largest.len() {
            self.largest[place..].rotate_right(1);
            self.largest[place] = error.abs();
        }
        self.squares += size * error * error;
    }
}

/// The largest sum of magnitudes in a row.
fn norm(matrix: &DMatrix<f64>) -> f64 {
    matrix
        .row_iter()
        .map(|row| row.iter().map(|value| value.abs()).sum())
        .fold(0.0, f64::max)
}

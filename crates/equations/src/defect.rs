//! An estimate of the error of a coupled run from what its interfaces left open, whatever the method.
//!
//! A system that is integrated accurately follows `x̂' = f(x̂, û)` under the inputs û that it was given; the truth has inputs that agree with
//! the outputs that feed them. So the error `ε = x − x̂` follows the coupled linearised equations, driven by the *defect*
//! `δ = Φᵀ ŷ − û`:
//!
//! ```text
//! ε' = A ε + B w,   w = u − û = (I − Φᵀ D)⁻¹ (Φᵀ C ε + δ).
//! ```
//!
//! The defect is read off the curves of a run at two Gauss points between any two communication times, and summed up; a few hundred times in
//! a run the systems are linearised, and the error is carried on by an exponential. That costs no integration, but it is an estimate of
//! first order: where errors are large it says that they are, not how large.

use dovetail_core::{Connections, Linearization, Source};
use dovetail_numerics::{Lu, PhiFunctions};
use nalgebra::DMatrix;

use crate::native::{Definition, Dynamics, Point};

/// How often the systems are linearised in a run.
const LINEARIZATIONS: f64 = 300.0;
/// Beyond so many states or inputs dense matrices cost more than the estimate is worth.
const MOST: usize = 64;
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
    /// The defect of each input, summed up over `elapsed` time since the last linearisation, and its newest value.
    sum: Vec<f64>,
    newest: Vec<f64>,
    /// The same of its slope: for systems that use `der(input)`.
    slopes: Vec<f64>,
    elapsed: f64,
    room: Room,
    /// ε, and the largest of each state and each output so far.
    error: Vec<f64>,
    states: Vec<f64>,
    outputs: Vec<f64>,
    lost: bool,
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
    pub fn new(definitions: &[Definition], connections: &Connections, places: &[Places], span: f64) -> Option<Self> {
        let states: usize = definitions.iter().map(|definition| definition.states.len()).sum();
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
            Some((places[owner].outputs[output - connections.outputs_of(owner).start], output))
        };
        let zeros = |count: usize| vec![0.0; count];
        Some(Self {
            systems,
            feeders: connections.sources().iter().map(place).collect(),
            interval: span / LINEARIZATIONS,
            first: None,
            sum: zeros(inputs),
            newest: zeros(inputs),
            slopes: zeros(inputs),
            elapsed: 0.0,
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
            states: zeros(states),
            outputs: zeros(connections.outputs()),
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
        for (input, feeder) in self.feeders.iter().enumerate() {
            let Some((place, _)) = feeder else { continue };
            let own = self.systems.iter().find_map(|s| s.places.inputs.get(input.wrapping_sub(s.first_input)));
            let Some(own) = own else { continue };
            let defect = |row: &[f64]| row[*place] - row[*own];
            let (one, two) = (defect(&first), defect(row));
            self.sum[input] += 0.5 * size * (one + two);
            self.slopes[input] += (two - one) / GAUSS;
            // Where it is largest, at the end of the interval, a line through both is a little larger.
            self.newest[input] = two + (two - one) * (0.5 - 0.5 * GAUSS) / GAUSS;
        }
        self.elapsed += size;
        if self.elapsed >= self.interval {
            self.carry(time, row);
        }
    }

    /// The largest errors of the states and of the outputs, stacked; none where the estimate has left all numbers.
    pub fn largest(&self) -> Option<(&[f64], &[f64])> {
        (!self.lost).then_some((&self.states, &self.outputs))
    }

    /// Linearises the systems where they stand, and carries the error on.
    fn carry(&mut self, time: f64, row: &[f64]) {
        for system in &mut self.systems {
            system.linearize(time, row);
        }
        let solvable = self.couple();
        let size = std::mem::take(&mut self.elapsed);
        if self.lost || !solvable {
            self.lost = true;
            return;
        }
        self.drive();
        let Room { coupled, functions, drive, .. } = &mut self.room;
        *coupled *= size;
        functions.compute(coupled);
        let [exponential, mean] = [&functions.phi[0], &functions.phi[1]];
        let next = |i: usize| -> f64 {
            let states = 0..drive.len();
            states.map(|j| exponential[(i, j)] * self.error[j] + mean[(i, j)] * drive[j]).sum()
        };
        let next: Vec<f64> = (0..self.error.len()).map(next).collect();
        self.lost = next.iter().any(|error| !error.is_finite());
        self.error = next;
        self.states.iter_mut().zip(&self.error).for_each(|(most, error)| *most = most.max(error.abs()));
        self.note_outputs();
        self.sum.fill(0.0);
        self.slopes.fill(0.0);
    }

    /// `(I − Φᵀ D)⁻¹ Φᵀ C` and `A + B (I − Φᵀ D)⁻¹ Φᵀ C`; false where a loop is singular.
    fn couple(&mut self) -> bool {
        let Room { loops, factors, follow, coupled, column, .. } = &mut self.room;
        loops.fill(0.0);
        loops.fill_diagonal(1.0);
        follow.fill(0.0);
        for (input, feeder) in self.feeders.iter().enumerate() {
            let Some((_, output)) = feeder else { continue };
            let Some(owner) = self.systems.iter().rfind(|system| system.first_output <= *output) else { continue };
            let (position, here) = (output - owner.first_output, &owner.here);
            (0..here.x.len()).for_each(|j| follow[(input, owner.first_state + j)] = here.c[(position, j)]);
            (0..here.u.len()).for_each(|j| loops[(input, owner.first_input + j)] -= here.d[(position, j)]);
        }
        if factors.factor(loops).is_err() {
            return false;
        }
        for j in 0..follow.ncols() {
            column.iter_mut().zip(follow.column(j).iter()).for_each(|(to, from)| *to = *from);
            factors.solve_in_place(column);
            follow.column_mut(j).iter_mut().zip(&*column).for_each(|(to, from)| *to = *from);
        }
        coupled.fill(0.0);
        for system in &self.systems {
            let here = &system.here;
            for i in 0..here.x.len() {
                let row = system.first_state + i;
                (0..here.x.len()).for_each(|j| coupled[(row, system.first_state + j)] += here.a[(i, j)]);
                for input in 0..here.u.len() {
                    let gain = here.b[(i, input)];
                    (0..follow.ncols())
                        .for_each(|j| coupled[(row, j)] += gain * follow[(system.first_input + input, j)]);
                }
            }
        }
        true
    }

    /// `B (I − Φᵀ D)⁻¹ ∫ δ`.
    fn drive(&mut self) {
        let Room { factors, column, drive, .. } = &mut self.room;
        column.copy_from_slice(&self.sum);
        for (input, feeder) in self.feeders.iter().enumerate() {
            let Some((_, output)) = feeder else { continue };
            let Some(owner) = self.systems.iter().rfind(|system| system.first_output <= *output) else { continue };
            let gain = |j: usize| owner.here.d_slope[(output - owner.first_output, j)];
            column[input] += (0..owner.here.u.len()).map(|j| gain(j) * self.slopes[owner.first_input + j]).sum::<f64>();
        }
        factors.solve_in_place(column);
        for system in &self.systems {
            let here = &system.here;
            for i in 0..here.x.len() {
                let gain = |j: usize| {
                    let input = system.first_input + j;
                    here.b[(i, j)] * column[input] + here.b_slope[(i, j)] * self.slopes[input]
                };
                drive[system.first_state + i] = (0..here.u.len()).map(gain).sum();
            }
        }
    }

    /// `C ε + D w`, with the newest defect.
    fn note_outputs(&mut self) {
        let Room { factors, follow, wrong, column, .. } = &mut self.room;
        column.copy_from_slice(&self.newest);
        factors.solve_in_place(column);
        for (input, wrong) in wrong.iter_mut().enumerate() {
            *wrong = column[input] + (0..follow.ncols()).map(|j| follow[(input, j)] * self.error[j]).sum::<f64>();
        }
        for system in &self.systems {
            let here = &system.here;
            for output in 0..here.g.len() {
                let by_states = (0..here.x.len()).map(|j| here.c[(output, j)] * self.error[system.first_state + j]);
                let by_inputs = (0..here.u.len()).map(|j| here.d[(output, j)] * wrong[system.first_input + j]);
                let error: f64 = by_states.sum::<f64>() + by_inputs.sum::<f64>();
                let largest = &mut self.outputs[system.first_output + output];
                *largest = largest.max(error.abs());
            }
        }
    }
}

impl System {
    fn linearize(&mut self, time: f64, row: &[f64]) {
        let take = |places: &[usize]| -> Vec<f64> { places.iter().map(|place| row[*place]).collect() };
        let (states, inputs) = (take(&self.places.states), take(&self.places.inputs));
        let slopes = vec![0.0; inputs.len()];
        self.dynamics.enter(time);
        let at = Point { time, states: &states, inputs: &inputs, slopes: &slopes };
        self.dynamics.linearize(at, &mut self.here);
    }
}

//! The monolithic solution at given times: exact where the whole is affine, otherwise as tight as double precision allows.

use std::borrow::BorrowMut;

use dovetail_core::{Connections, Error};
use dovetail_numerics::{
    Hint, IntegrationError, Integrator, LinearStep, Lu, Rhs, Tolerance, exponential_rounding,
};
use nalgebra::DMatrix;

use super::algebra::CoupledDynamics;
use super::compose::{NotComposable, compose};
use crate::native::Definition;

/// Relative tolerance of the integrator.
const TOLERANCE: f64 = 1e-13;
/// An exact step that would lose more than this is left to the integrator.
const MOST_ROUNDING: f64 = 1e-11;
/// More steps than this between two times asked for, and the reference is given up.
const MOST_STEPS: usize = 100_000;
/// Steps of a walk that only looks how large states become.
const ROUGH_STEPS: usize = 100;
/// Beyond so many states dense exponentials cost more than an integrator.
const MOST_STATES: usize = 200;

/// All systems as one.
pub struct Monolithic {
    dynamics: CoupledDynamics,
    start: Vec<f64>,
    /// System and name of each state.
    names: Vec<(String, String)>,
}

/// The solution at the times asked for, row by row; columns are stacked in the order of the systems.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solution {
    /// The states of all systems.
    pub states: Vec<Vec<f64>>,
    /// The outputs of all systems.
    pub outputs: Vec<Vec<f64>>,
    /// The inputs of all systems.
    pub inputs: Vec<Vec<f64>>,
}

impl Monolithic {
    /// Couples the systems algebraically, from their start values.
    pub fn new(
        definitions: &[Definition],
        connections: &Connections,
    ) -> Result<Self, NotComposable> {
        let coupled = compose(definitions, connections)?;
        let start = definitions
            .iter()
            .flat_map(|d| d.states.iter().copied())
            .collect();
        let names_of = |d: &Definition| {
            d.model
                .states
                .iter()
                .map(|x| (d.name.clone(), x.clone()))
                .collect::<Vec<_>>()
        };
        let names = definitions.iter().flat_map(names_of).collect();
        Ok(Self {
            dynamics: CoupledDynamics::new(&coupled),
            start,
            names,
        })
    }

    /// Begins loops that have several solutions at these outputs (stacked), those of a run's start.
    pub fn starting_at(mut self, outputs: &[f64]) -> Self {
        self.dynamics.begin_at(outputs);
        self
    }

    /// About how large the states become, by a walk of long implicit steps that nothing can hold up: what starts from zero is to be
    /// as accurate as what it becomes, not as the rounding that it starts from.
    fn rough_sizes(&mut self, first: f64, last: f64) -> Vec<f64> {
        let (count, branch) = (self.start.len(), self.dynamics.branch());
        let (mut states, mut rates) = (self.start.clone(), vec![0.0; count]);
        let mut sizes: Vec<f64> = states.iter().map(|state| state.abs()).collect();
        let (mut jacobian, mut factors) = (DMatrix::zeros(count, count), Lu::new(count));
        let step = (last - first) / ROUGH_STEPS as f64;
        for n in 0..ROUGH_STEPS {
            let time = first + n as f64 * step;
            self.dynamics.enter(time);
            self.dynamics.derivative(time, &states, &mut rates);
            self.dynamics.jacobian(time, &states, &mut jacobian);
            jacobian *= -step;
            (0..count).for_each(|i| jacobian[(i, i)] += 1.0);
            if factors.factor(&jacobian).is_err() {
                break;
            }
            rates.iter_mut().for_each(|rate| *rate *= step);
            factors.solve_in_place(&mut rates);
            states
                .iter_mut()
                .zip(&rates)
                .for_each(|(state, change)| *state += change);
            if self.dynamics.failure().is_some() || !states.iter().all(|state| state.is_finite()) {
                break;
            }
            sizes
                .iter_mut()
                .zip(&states)
                .for_each(|(size, state)| *size = size.max(state.abs()));
        }
        self.dynamics.return_to(branch);
        sizes
    }

    /// Whether the solution is exact: everything is affine between switching times.
    pub fn is_exact(&self) -> bool {
        self.dynamics.is_affine() && self.start.len() <= MOST_STATES
    }

    /// The solution at these increasing times, the first of which is the start.
    pub fn solve(&mut self, times: &[f64], outputs: usize) -> Result<Solution, Error> {
        let mut solution = Solution::default();
        let Some(&first) = times.first() else {
            return Ok(solution);
        };
        let (exact, start) = (self.is_exact(), self.start.clone());
        let sizes = self.rough_sizes(first, times[times.len() - 1]);
        let mut walk = Walk::new(
            exact,
            &mut self.dynamics,
            self.names.clone(),
            start,
            sizes,
            first,
        )?;
        for &time in times {
            walk.proceed(time)?;
            let mut observed = walk.observe(time)?;
            let inputs = observed.split_off(outputs);
            solution.outputs.push(observed);
            solution.inputs.push(inputs);
            solution.states.push(walk.states.clone());
        }
        Ok(solution)
    }

    /// The solution step by step, over a run from `first` to `last`.
    pub fn into_course(mut self, first: f64, last: f64) -> Result<Course, Error> {
        let (exact, sizes) = (self.is_exact(), self.rough_sizes(first, last));
        let walk = Walk::new(exact, self.dynamics, self.names, self.start, sizes, first)?;
        Ok(Course { walk })
    }
}

/// The monolithic solution, step by step.
pub struct Course {
    walk: Walk<CoupledDynamics>,
}

impl Course {
    /// The next time at which an equation is known to switch.
    pub fn next_switch(&self) -> f64 {
        self.walk.switch
    }

    /// Goes on to `time`, which is not beyond the next switch; there, to its near side.
    pub fn advance(&mut self, time: f64) -> Result<(), Error> {
        self.walk.advance(time)
    }

    /// Crosses the switch just reached.
    pub fn cross(&mut self) -> Result<(), Error> {
        self.walk.cross()
    }

    /// The states of all systems where it stands.
    pub fn states(&self) -> &[f64] {
        &self.walk.states
    }

    /// Outputs, then inputs, of all systems where it stands; on the near side of a switch that has not been crossed.
    pub fn observe(&mut self) -> Result<Vec<f64>, Error> {
        let time = if self.walk.switch == self.walk.time {
            self.walk.time.next_down()
        } else {
            self.walk.time
        };
        self.walk.observe(time)
    }

    /// The derivatives of the states there.
    pub fn derivatives(&mut self, into: &mut [f64]) {
        let time = if self.walk.switch == self.walk.time {
            self.walk.time.next_down()
        } else {
            self.walk.time
        };
        self.walk.dynamics.derivative(time, &self.walk.states, into);
    }
}

/// A solution under way.
struct Walk<D> {
    dynamics: D,
    names: Vec<(String, String)>,
    states: Vec<f64>,
    /// The largest magnitude of each state, as far as it is known.
    sizes: Vec<f64>,
    time: f64,
    /// The next switching time.
    switch: f64,
    stepper: Stepper,
}

/// Where the whole is affine, exact; where not, or where rounding would spoil it, adaptive.
struct Stepper {
    exact: Option<Box<Exact>>,
    integrator: Integrator,
    hint: Hint,
}

/// `x' = A x + c`, and the exponentials for one step size.
struct Exact {
    a: DMatrix<f64>,
    c: Vec<f64>,
    size: f64,
    step: LinearStep,
    /// What a step of unit size loses to rounding.
    rounding: f64,
}

impl<D: BorrowMut<CoupledDynamics>> Walk<D> {
    fn new(
        exact: bool,
        dynamics: D,
        names: Vec<(String, String)>,
        states: Vec<f64>,
        sizes: Vec<f64>,
        time: f64,
    ) -> Result<Self, Error> {
        let size = states.len();
        let (a, step) = (
            DMatrix::zeros(size, size),
            LinearStep::new(if exact { size } else { 0 }, 0),
        );
        let exact = exact.then(|| {
            Box::new(Exact {
                a,
                c: vec![0.0; size],
                size: f64::NAN,
                step,
                rounding: 0.0,
            })
        });
        let mut integrator = Integrator::new(size);
        integrator.step_limit = MOST_STEPS;
        let stepper = Stepper {
            exact,
            integrator,
            hint: Hint::default(),
        };
        let mut walk = Self {
            dynamics,
            names,
            states,
            sizes,
            time,
            switch: time,
            stepper,
        };
        walk.cross()?;
        Ok(walk)
    }

    /// Outputs, then inputs, as they are at `time`, where it stands.
    fn observe(&mut self, time: f64) -> Result<Vec<f64>, Error> {
        let dynamics = self.dynamics.borrow_mut();
        let mut observed = vec![0.0; dynamics.observables()];
        dynamics.observe(time, &self.states, &mut observed)?;
        Ok(observed)
    }

    /// To `time`, across the switching times up to it: what is observed there is the limit from the right.
    fn proceed(&mut self, time: f64) -> Result<(), Error> {
        while self.switch <= time {
            self.advance(self.switch)?;
            self.cross()?;
        }
        self.advance(time)
    }

    /// Enters the far side of the switching time just reached.
    fn cross(&mut self) -> Result<(), Error> {
        let dynamics = self.dynamics.borrow_mut();
        dynamics.enter(self.time);
        self.switch = dynamics.next_switch(self.time);
        if let Some(exact) = &mut self.stepper.exact {
            let (a, c) = dynamics.matrices(self.time)?;
            exact.rounding = exponential_rounding(&a, &mut a.clone());
            (exact.a, exact.c, exact.size) = (a, c.as_slice().to_vec(), f64::NAN);
        }
        Ok(())
    }

    fn advance(&mut self, end: f64) -> Result<(), Error> {
        let size = end - self.time;
        if size > 0.0 && !self.states.is_empty() {
            match &mut self.stepper.exact {
                Some(exact) if exact.rounding * size <= MOST_ROUNDING => {
                    exact.advance(size, end, &mut self.states)
                }
                _ => {
                    let Stepper {
                        integrator, hint, ..
                    } = &mut self.stepper;
                    let latest = if self.switch == end {
                        end.next_down()
                    } else {
                        f64::INFINITY
                    };
                    let mut rhs = Coupled {
                        dynamics: self.dynamics.borrow_mut(),
                        start: self.time,
                        latest,
                    };
                    let tolerance = Tolerance {
                        relative: TOLERANCE,
                        absolute: 0.0,
                        sizes: &self.sizes,
                        largest: 0.0,
                    };
                    let done = integrator.integrate(
                        &mut rhs,
                        0.0,
                        size,
                        &mut self.states,
                        tolerance,
                        *hint,
                    );
                    *hint = done
                        .map_err(|reason| {
                            failed(self.dynamics.borrow_mut(), &self.names, self.time, reason)
                        })?
                        .hint;
                }
            }
        }
        self.sizes
            .iter_mut()
            .zip(&self.states)
            .for_each(|(size, state)| *size = size.max(state.abs()));
        self.time = end;
        Ok(())
    }
}

impl Exact {
    /// Sizes that differ by the rounding of the times they come from count as one: the drift of times `start + n h` against
    /// n steps of `h` is itself a rounding.
    fn advance(&mut self, size: f64, end: f64, states: &mut [f64]) {
        let same = (size - self.size).abs() <= 2.0 * f64::EPSILON * end.abs();
        if !same {
            self.size = size;
            self.step.compute(&self.a, size);
        }
        let initial = states.to_vec();
        self.step.respond(&initial, &[&self.c], states);
    }
}

struct Coupled<'a> {
    dynamics: &'a mut CoupledDynamics,
    start: f64,
    latest: f64,
}

impl Rhs for Coupled<'_> {
    fn size(&self) -> usize {
        self.dynamics.states()
    }

    fn derivative(&mut self, elapsed: f64, states: &[f64], derivative: &mut [f64]) {
        self.dynamics
            .derivative((self.start + elapsed).min(self.latest), states, derivative);
    }

    fn jacobian(&mut self, elapsed: f64, states: &[f64], jacobian: &mut DMatrix<f64>) {
        self.dynamics
            .jacobian((self.start + elapsed).min(self.latest), states, jacobian);
    }
}

/// A loop that could not be solved shows as NaN to the integrator: tell of the loop.
fn failed(
    dynamics: &mut CoupledDynamics,
    names: &[(String, String)],
    time: f64,
    error: IntegrationError,
) -> Error {
    if let Some(error) = dynamics.failure() {
        return error;
    }
    let (elapsed, component) = match error {
        IntegrationError::NotFinite { time, component }
        | IntegrationError::StepTooSmall {
            time, component, ..
        } => (time, component),
        IntegrationError::TooManySteps { time, .. } => (time, 0),
    };
    let (system, state) = names[component].clone();
    Error::System {
        system,
        time: time + elapsed,
        reason: Box::new(Failed { state, error }),
    }
}

/// Why the coupled equations could not be solved.
#[derive(Debug, thiserror::Error)]
#[error(
    "coupled with the others, its state `{state}` has a pole or a jump there, or changes too fast to follow"
)]
struct Failed {
    state: String,
    #[source]
    error: IntegrationError,
}

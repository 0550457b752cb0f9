//! The monolithic solution at given times: exact where the whole is affine, otherwise as tight as
//! double precision allows.

use std::borrow::BorrowMut;

use dovetail_core::{Connections, Error};
use dovetail_numerics::{
    Hint, IntegrationError, Integrator, LinearStep, Lu, Tolerance, exponential_rounding,
};
use nalgebra::DMatrix;

use super::algebra::CoupledDynamics;
use super::clauses::CoupledClauses;
use super::compose::{CoupledWhen, NotComposable, compose};
use super::events::{CoupledRhs, EventSearch};
use crate::native::Definition;

/// Relative tolerance of the integrator.
const TOLERANCE: f64 = 1e-13;
/// An exact step that would lose more than this is left to the integrator.
const MOST_ROUNDING: f64 = 1e-11;
/// More steps than this between two times asked for, and the reference is given up.
const MOST_STEPS: usize = 100_000;
/// Steps that only show how large states become.
const ROUGH_STEPS: usize = 100;
/// Times that occur twice are the two sides of an event; an event of the reference within this part
/// of the run is the same one.
const SAME_EVENT: f64 = 1e-4;
/// Events of the reference within this part of the run of one another are one.
const AT_ONCE: f64 = 1e-10;
/// Beyond so many states dense exponentials cost more than an integrator.
const MOST_STATES: usize = 200;

/// All systems as one.
pub struct Monolithic {
    dynamics: CoupledDynamics,
    whens: Vec<CoupledWhen>,
    start: Vec<f64>,
    /// System and name of each state.
    names: Vec<(String, String)>,
}

/// The solution at the times asked for, row by row; columns are stacked in the order of the
/// systems.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solution {
    /// The states of all systems.
    pub states: Vec<Vec<f64>>,
    /// The outputs of all systems.
    pub outputs: Vec<Vec<f64>>,
    /// The inputs of all systems.
    pub inputs: Vec<Vec<f64>>,
}

/// By how much everything jumps at an event.
struct Jump {
    time: f64,
    states: Vec<f64>,
    /// Outputs, then inputs.
    observed: Vec<f64>,
}

impl Jump {
    /// One more at the same time.
    fn add(&mut self, other: &Self) {
        let pairs = self.states.iter_mut().zip(&other.states);
        pairs.for_each(|(sum, jump)| *sum += jump);
        let pairs = self.observed.iter_mut().zip(&other.observed);
        pairs.for_each(|(sum, jump)| *sum += jump);
    }
}

impl Solution {
    /// At times that occur twice, the first is the near side of an event and the second its far
    /// side, though the event of the reference may be a little earlier or later.
    fn take_both_sides(&mut self, times: &[f64], jumps: &[Jump], same: f64) {
        for row in 1..times.len() {
            let time = times[row];
            if times[row - 1] != time {
                continue;
            }
            let nearest = jumps
                .iter()
                .min_by(|a, b| (a.time - time).abs().total_cmp(&(b.time - time).abs()));
            let Some(jump) = nearest.filter(|jump| (jump.time - time).abs() <= same) else {
                continue;
            };
            if jump.time <= time {
                self.shift(row - 1, jump, -1.0);
            } else {
                self.shift(row, jump, 1.0);
            }
        }
    }

    fn shift(&mut self, row: usize, jump: &Jump, sign: f64) {
        let (outputs, inputs) = jump.observed.split_at(self.outputs[row].len());
        let parts = [
            (&mut self.states[row], jump.states.as_slice()),
            (&mut self.outputs[row], outputs),
            (&mut self.inputs[row], inputs),
        ];
        for (values, jumps) in parts {
            for (value, jump) in values.iter_mut().zip(jumps) {
                *value += sign * jump;
            }
        }
    }
}

impl Monolithic {
    /// Couples the systems algebraically, from their start values.
    pub fn new(
        definitions: &[Definition],
        connections: &Connections,
    ) -> Result<Self, NotComposable> {
        let coupled = compose(definitions, connections)?;
        let mut start = Vec::new();
        let mut names = Vec::new();

        for definition in definitions {
            start.extend(&definition.states);
            for state in &definition.model.states {
                names.push((definition.name.clone(), state.clone()));
            }
        }
        Ok(Self {
            dynamics: CoupledDynamics::new(&coupled),
            whens: coupled.whens,
            start,
            names,
        })
    }

    /// Begins loops that have several solutions at these outputs (stacked), those of a run's start.
    pub fn starting_at(mut self, outputs: &[f64]) -> Self {
        self.dynamics.begin_at(outputs);
        self
    }

    /// About how large the states become, by long implicit steps that nothing can hold up: what
    /// starts from zero is to be as accurate as what it becomes, not as the rounding that it starts
    /// from.
    fn rough_sizes(&mut self, first: f64, last: f64) -> Vec<f64> {
        let branch = self.dynamics.branch();
        let mut euler = LinearlyImplicitEuler::new(self.start.len());
        let mut states = self.start.clone();
        let mut sizes: Vec<f64> = states.iter().map(|state| state.abs()).collect();
        let step = (last - first) / ROUGH_STEPS as f64;

        for n in 0..ROUGH_STEPS {
            let time = first + n as f64 * step;
            let solvable = euler.advance(&mut self.dynamics, time, step, &mut states);
            if !solvable || !states.iter().all(|state| state.is_finite()) {
                break;
            }
            enlarge(&mut sizes, &states);
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
        let solved = self.solve_unless(times, outputs, || false)?;
        Ok(solved.expect("BUG: nobody has stopped it"))
    }

    /// The same, unless it is to stop: then nothing.
    pub fn solve_unless(
        &mut self,
        times: &[f64],
        outputs: usize,
        mut stops: impl FnMut() -> bool,
    ) -> Result<Option<Solution>, Error> {
        let mut solution = Solution::default();
        let Some(&first) = times.first() else {
            return Ok(Some(solution));
        };
        let start = Start {
            exact: self.is_exact(),
            time: first,
            sizes: self.rough_sizes(first, times[times.len() - 1]),
            states: self.start.clone(),
            names: self.names.clone(),
            clauses: CoupledClauses::new(&self.whens, first),
            span: times[times.len() - 1] - first,
        };
        let mut trajectory = Trajectory::new(&mut self.dynamics, start)?;

        let mut jumps = Vec::new();
        for &time in times {
            if stops() {
                return Ok(None);
            }
            trajectory.proceed(time, &mut jumps)?;
            let mut observed = trajectory.observe(time)?;
            let inputs = observed.split_off(outputs);
            solution.outputs.push(observed);
            solution.inputs.push(inputs);
            solution.states.push(trajectory.states.clone());
        }

        // An event may be a little after the last time that was asked for.
        let span = times[times.len() - 1] - first;
        if trajectory.dynamics.switches() {
            let beyond = times[times.len() - 1] + SAME_EVENT * span;
            trajectory.proceed(beyond, &mut jumps)?;
        }
        solution.take_both_sides(times, &jumps, SAME_EVENT * span);
        Ok(Some(solution))
    }

    /// The solution step by step, over a run from `first` to `last`.
    pub fn into_course(mut self, first: f64, last: f64) -> Result<SteppedSolution, Error> {
        let start = Start {
            exact: self.is_exact(),
            time: first,
            sizes: self.rough_sizes(first, last),
            states: self.start,
            names: self.names,
            clauses: CoupledClauses::new(&self.whens, first),
            span: last - first,
        };
        let trajectory = Trajectory::new(self.dynamics, start)?;
        Ok(SteppedSolution { trajectory })
    }
}

/// The monolithic solution, step by step.
pub struct SteppedSolution {
    trajectory: Trajectory<CoupledDynamics>,
}

impl SteppedSolution {
    /// The next time at which an equation is known to switch.
    pub fn next_switch(&self) -> f64 {
        self.trajectory.switch
    }

    /// Goes on to `time`, which is not beyond the next switch; there, to its near side. An event
    /// before it, one that nobody knew, becomes the next switch, and is as far as this goes: the
    /// time reached.
    pub fn advance(&mut self, time: f64) -> Result<f64, Error> {
        self.trajectory.advance(time)?;
        Ok(self.trajectory.time)
    }

    /// Crosses the switch just reached.
    pub fn cross(&mut self) -> Result<(), Error> {
        self.trajectory.cross()
    }

    /// The states of all systems at the time reached.
    pub fn states(&self) -> &[f64] {
        &self.trajectory.states
    }

    /// Outputs, then inputs, of all systems at the time reached; on the near side of a switch that
    /// has not been crossed.
    pub fn observe(&mut self) -> Result<Vec<f64>, Error> {
        let time = self.time();
        self.trajectory.observe(time)
    }

    /// The derivatives of the states there.
    pub fn derivatives(&mut self, into: &mut [f64]) {
        let time = self.time();
        let Trajectory {
            dynamics, states, ..
        } = &mut self.trajectory;
        dynamics.derivative(time, states, into);
    }

    /// The time reached, before a switch that has not been crossed.
    fn time(&self) -> f64 {
        let Trajectory { time, switch, .. } = self.trajectory;
        if switch == time {
            time.next_down()
        } else {
            time
        }
    }
}

/// Where a trajectory begins.
struct Start {
    exact: bool,
    time: f64,
    states: Vec<f64>,
    sizes: Vec<f64>,
    names: Vec<(String, String)>,
    clauses: CoupledClauses,
    span: f64,
}

/// A solution under way.
struct Trajectory<D> {
    dynamics: D,
    names: Vec<(String, String)>,
    states: Vec<f64>,
    /// The largest magnitude of each state, as far as it is known.
    sizes: Vec<f64>,
    time: f64,
    /// The next switching time.
    switch: f64,
    stepper: Stepper,
    clauses: CoupledClauses,
    /// The length of the run.
    span: f64,
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

impl<D: BorrowMut<CoupledDynamics>> Trajectory<D> {
    fn new(dynamics: D, start: Start) -> Result<Self, Error> {
        let stepper = Stepper::new(start.states.len(), start.exact);
        let mut trajectory = Self {
            dynamics,
            names: start.names,
            states: start.states,
            sizes: start.sizes,
            time: start.time,
            switch: start.time,
            stepper,
            clauses: start.clauses,
            span: start.span,
        };
        trajectory.cross()?;

        Ok(trajectory)
    }

    /// Outputs, then inputs, as they are at `time`, the time reached.
    fn observe(&mut self, time: f64) -> Result<Vec<f64>, Error> {
        let dynamics = self.dynamics.borrow_mut();
        let mut observed = vec![0.0; dynamics.observables()];
        dynamics.observe(time, &self.states, &mut observed)?;
        Ok(observed)
    }

    /// To `time`, across the switching times and events up to it: what is observed there is the
    /// limit from the right.
    fn proceed(&mut self, time: f64, jumps: &mut Vec<Jump>) -> Result<(), Error> {
        loop {
            self.advance(self.switch.min(time))?;
            if self.switch > time {
                return Ok(());
            }
            let jump = self.cross_and_compare()?;
            match jumps.last_mut() {
                Some(last) if jump.time - last.time <= AT_ONCE * self.span => last.add(&jump),
                _ => jumps.push(jump),
            }
        }
    }

    fn cross_and_compare(&mut self) -> Result<Jump, Error> {
        let time = self.time;
        let near = self.observe(time.next_down())?;
        let states = self.states.clone();
        self.cross()?;
        let far = self.observe(time)?;
        let differences = |far: &[f64], near: &[f64]| {
            let pairs = far.iter().zip(near);
            pairs.map(|(far, near)| far - near).collect()
        };

        Ok(Jump {
            time,
            states: differences(&self.states, &states),
            observed: differences(&far, &near),
        })
    }

    /// Enters the far side of the switching time or event just reached.
    fn cross(&mut self) -> Result<(), Error> {
        let dynamics = self.dynamics.borrow_mut();
        dynamics.enter(self.time);
        dynamics.take_sides(self.time, &self.states)?;
        self.clauses.run(dynamics, self.time, &mut self.states)?;
        let tick = self.clauses.next_tick();
        self.switch = dynamics.next_switch(self.time).min(tick);

        if let Some(exact) = &mut self.stepper.exact {
            let (a, c) = dynamics.matrices(self.time)?;
            exact.rounding = exponential_rounding(&a, &mut a.clone());
            exact.a = a;
            exact.c = c.as_slice().to_vec();
            exact.size = f64::NAN;
        }
        Ok(())
    }

    /// To `end`, or to the first event before it, which becomes the next switch.
    fn advance(&mut self, end: f64) -> Result<(), Error> {
        let size = end - self.time;
        let mut reached = end;
        if size > 0.0 && self.dynamics.borrow_mut().switches() {
            reached = self.advance_to_event(end)?;
        } else if size > 0.0 && !self.states.is_empty() {
            match &mut self.stepper.exact {
                Some(exact) if exact.rounding * size <= MOST_ROUNDING => {
                    exact.advance(size, end, &mut self.states)
                }
                _ => self.integrate(end)?,
            }
        }

        enlarge(&mut self.sizes, &self.states);
        self.time = reached;
        if reached < end {
            self.switch = reached;
        }
        Ok(())
    }

    fn advance_to_event(&mut self, end: f64) -> Result<f64, Error> {
        let latest = self.latest(end);
        let Stepper {
            integrator, hint, ..
        } = &mut self.stepper;
        let mut search = EventSearch {
            dynamics: self.dynamics.borrow_mut(),
            integrator,
            hint,
            tolerance: tolerance(&self.sizes),
            start: self.time,
            latest,
        };

        match search.advance(end - self.time, &mut self.states) {
            Ok(None) => Ok(end),
            Ok(Some(elapsed)) => Ok((self.time + elapsed).min(end)),
            Err(reason) => Err(failed(
                self.dynamics.borrow_mut(),
                &self.names,
                self.time,
                reason,
            )),
        }
    }

    /// No evaluation before `end` is later than this: at a switching time itself the other side
    /// begins.
    fn latest(&self, end: f64) -> f64 {
        if self.switch == end {
            end.next_down()
        } else {
            f64::INFINITY
        }
    }

    fn integrate(&mut self, end: f64) -> Result<(), Error> {
        let latest = self.latest(end);
        let mut rhs = CoupledRhs {
            dynamics: self.dynamics.borrow_mut(),
            start: self.time,
            latest,
        };
        let tolerance = tolerance(&self.sizes);
        let Stepper {
            integrator, hint, ..
        } = &mut self.stepper;
        let size = end - self.time;

        match integrator.integrate(&mut rhs, 0.0, size, &mut self.states, tolerance, *hint) {
            Ok(outcome) => {
                *hint = outcome.hint;
                Ok(())
            }
            Err(reason) => Err(failed(rhs.dynamics, &self.names, self.time, reason)),
        }
    }
}

fn tolerance(sizes: &[f64]) -> Tolerance<'_> {
    Tolerance {
        relative: TOLERANCE,
        absolute: 0.0,
        sizes,
        largest: 0.0,
    }
}

impl Stepper {
    fn new(states: usize, exact: bool) -> Self {
        let mut integrator = Integrator::new(states);
        integrator.step_limit = MOST_STEPS;

        Self {
            exact: exact.then(|| Box::new(Exact::new(states))),
            integrator,
            hint: Hint::default(),
        }
    }
}

/// Keeps the largest magnitude of each state.
fn enlarge(sizes: &mut [f64], states: &[f64]) {
    for (size, state) in sizes.iter_mut().zip(states) {
        *size = size.max(state.abs());
    }
}

/// `(I − h J) Δx = h f`, for steps of any size.
struct LinearlyImplicitEuler {
    change: Vec<f64>,
    matrix: DMatrix<f64>,
    factors: Lu<f64>,
}

impl LinearlyImplicitEuler {
    fn new(states: usize) -> Self {
        Self {
            change: vec![0.0; states],
            matrix: DMatrix::zeros(states, states),
            factors: Lu::new(states),
        }
    }

    /// One step; false where it cannot be taken.
    fn advance(
        &mut self,
        dynamics: &mut CoupledDynamics,
        time: f64,
        step: f64,
        states: &mut [f64],
    ) -> bool {
        let change = &mut self.change;
        dynamics.enter(time);
        if dynamics.take_sides(time, states).is_err() {
            return false;
        }
        dynamics.derivative(time, states, change);
        dynamics.jacobian(time, states, &mut self.matrix);
        self.matrix *= -step;

        for i in 0..states.len() {
            self.matrix[(i, i)] += 1.0;
        }
        if self.factors.factor(&self.matrix).is_err() {
            return false;
        }

        change.iter_mut().for_each(|rate| *rate *= step);
        self.factors.solve_in_place(change);

        for (state, change) in states.iter_mut().zip(change) {
            *state += *change;
        }
        dynamics.failure().is_none()
    }
}

impl Exact {
    fn new(states: usize) -> Self {
        Self {
            a: DMatrix::zeros(states, states),
            c: vec![0.0; states],
            size: f64::NAN,
            step: LinearStep::new(states, 0),
            rounding: 0.0,
        }
    }

    /// Sizes that differ by the rounding of the times they come from count as one: the drift of
    /// times `start + n h` against n steps of `h` is itself a rounding.
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

/// A loop that could not be solved shows as NaN to the integrator: report the loop.
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
    Error::system(&system, time + elapsed, Failed { state, error })
}

/// Why the coupled equations could not be solved.
#[derive(Debug, thiserror::Error)]
#[error(
    "coupled with the others, its state `{state}` has a pole or a jump there, \
     or changes too fast to follow"
)]
struct Failed {
    state: String,
    #[source]
    error: IntegrationError,
}

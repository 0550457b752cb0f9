//! A start at rest: the states in which no continuous state of the coupled model moves.
//!
//! Newton's method on the states of all systems. At every point the systems are made anew, so that
//! loops are solved, switches and discrete states are what they would be in a run from there, and
//! the Jacobian is the exact one of the [coupled linearization](dovetail_methods::couple).

use dovetail_core::{Notice, Remedy, readable};
use dovetail_fmi::InterfaceUse;
use dovetail_methods::CoupledLinearization;
use nalgebra::{DMatrix, DVector};

use crate::diagnostic::BadModel;
use crate::options::RunOptions;
use crate::scenario::Scenario;
use crate::source::part::Part;

/// Newton iterations before the search is given up.
const MOST_ITERATIONS: usize = 60;
/// An update is halved so often at most.
const MOST_HALVINGS: usize = 12;
/// A derivative is zero when it is below this, relative to the terms that it is the sum of.
const ZERO: f64 = 1e-13;
/// Below this reciprocal condition number nothing determines the rest.
const SINGULAR: f64 = 1e-12;

impl Scenario {
    /// Has all runs of this model start at rest: where the derivatives of all continuous states are zero, found from the start
    /// values. Discrete states and inputs that no output feeds stay what they are. Systems are made as `options` say.
    ///
    /// Refused, and nothing changed, where a state cannot be set or no rest is found.
    pub fn start_at_rest(&mut self, options: &RunOptions) -> Result<(), BadModel> {
        self.check_settable()?;
        let found = self.find_rest(options);
        if found.is_err() {
            self.start_states = None;
        }
        found
    }

    /// Whether runs start at rest.
    pub fn starts_at_rest(&self) -> bool {
        self.start_states.is_some()
    }

    /// What is to be said of the start of a run.
    pub(super) fn start_remarks(&self) -> Vec<String> {
        let time = readable(self.start_time);
        let remark = format!("started at rest: no continuous state moves at t = {time} s");
        self.start_states.iter().map(|_| remark.clone()).collect()
    }

    /// Refuses systems whose states cannot be set, by name: no start at rest can be looked for.
    pub fn check_settable(&self) -> Result<(), BadModel> {
        let settable = |part: &&Part| {
            let fmu = part.source.fmu();
            let exchange = fmu.is_some_and(|fmu| fmu.used() == InterfaceUse::ModelExchange);
            exchange || part.source.equations().is_some()
        };
        let Some(part) = self.parts.iter().find(|part| !settable(part)) else {
            return Ok(());
        };
        let name = part.name();
        let why = match part.source.fmu() {
            Some(_) => "a Co-Simulation FMU keeps its states to itself",
            None => "it is a system of another kind, which keeps its states to itself",
        };
        let text = format!("no rest can be found: the states of `{name}` cannot be set: {why}");
        let remedy = super::linearize::has_model_exchange(part).then_some(Remedy::ModelExchange);
        Err(self.refuse(Notice::from(text).with(remedy)))
    }

    fn find_rest(&mut self, options: &RunOptions) -> Result<(), BadModel> {
        let mut here = self.session(options)?.linearize()?;
        let mut largest = here.f.abs();

        for _ in 0..MOST_ITERATIONS {
            if is_rest(&here, &largest) {
                self.start_states = Some(self.all_states(&here.x));
                return Ok(());
            }
            let jacobian = Jacobian::of(&here);
            if let Some(state) = jacobian.undetermined() {
                return Err(self.undetermined(&here, state));
            }
            let Some(next) = self.next_point(options, &here, &jacobian)? else {
                return Err(self.not_found(&here));
            };
            here = next;
            largest = largest.zip_map(&here.f, |most, rate| most.max(rate.abs()));
        }
        Err(self.not_found(&here))
    }

    /// A point that is nearer to the rest, by the update that is still to come there; none where there is none in this direction.
    fn next_point(
        &mut self,
        options: &RunOptions,
        here: &CoupledLinearization,
        jacobian: &Jacobian,
    ) -> Result<Option<CoupledLinearization>, BadModel> {
        let update = jacobian.solve(&here.f);
        let scales = here.x.zip_map(&update, |x, dx| x.abs().max(dx.abs()));
        let size = |update: &DVector<f64>| {
            let relative = update.iter().zip(&scales);
            let relative =
                relative.map(|(dx, scale)| if *dx == 0.0 { 0.0 } else { (dx / scale).abs() });
            relative.fold(0.0, f64::max)
        };
        let now = size(&update);
        let mut refused = None;

        for halving in 0..MOST_HALVINGS {
            let fraction = 0.5_f64.powi(halving as i32);
            self.start_states = Some(self.all_states(&(&here.x - &update * fraction)));
            match self
                .session(options)
                .and_then(|mut session| session.linearize())
            {
                Ok(next) => {
                    refused = None;
                    // Near the rest updates are rounding.
                    if size(&jacobian.solve(&next.f)) < now || now < 1e-12 {
                        return Ok(Some(next));
                    }
                }
                Err(bad) => refused = Some(bad),
            }
        }
        refused.map_or(Ok(None), Err)
    }

    /// The states of each system, the discrete ones as they are given.
    fn all_states(&self, continuous: &DVector<f64>) -> Vec<Vec<f64>> {
        let mut rest = continuous.as_slice();
        let counts = self.continuous_states();
        let parts = self.parts.iter().zip(counts);
        let of_part = |(part, count): (&Part, usize)| {
            let (own, others) = rest.split_at(count);
            rest = others;
            let known = part.source.equations();
            let discrete = known.map_or(&[][..], |known| &known.definition.states[count..]);
            [own, discrete].concat()
        };
        parts.map(of_part).collect()
    }

    /// Nothing determines the rest value of this state.
    fn undetermined(&self, here: &CoupledLinearization, state: usize) -> BadModel {
        let (name, (worst, rate)) = (&here.states[state], self.worst(here));
        self.refuse(Notice::from(format!(
            "no rest can be found: nothing determines the value of `{name}` at rest, since no \
             derivative responds to it, or all respond as to other states. The largest derivative \
             at the start is `{worst}` = {rate:.3e}"
        )))
    }

    fn not_found(&self, here: &CoupledLinearization) -> BadModel {
        let (worst, rate) = self.worst(here);
        self.refuse(Notice::from(format!(
            "no rest was found by Newton's method: `{worst}` is still {rate:.3e}. Start values \
             nearer to the rest may help; or the model has none"
        )))
    }

    /// The largest derivative, by its name.
    fn worst(&self, here: &CoupledLinearization) -> (String, f64) {
        let interfaces = self
            .connections
            .interfaces()
            .iter()
            .zip(self.continuous_states());
        let names = interfaces.flat_map(|(interface, count)| {
            let states = interface.states.iter().take(count);
            states.map(|state| interface.qualified(&format!("der({state})")))
        });
        let all = names.zip(here.f.iter().copied());
        let worst = all.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        worst.unwrap_or_default()
    }
}

/// Whether all derivatives are zero but for rounding. `largest` is what they have been.
fn is_rest(here: &CoupledLinearization, largest: &DVector<f64>) -> bool {
    let terms = here.a.abs() * here.x.abs() + largest;
    here.f
        .iter()
        .zip(&terms)
        .all(|(rate, terms)| rate.abs() <= ZERO * terms)
}

/// The matrix A with rows and columns of like size, in singular values.
struct Jacobian {
    rows: DVector<f64>,
    columns: DVector<f64>,
    svd: nalgebra::SVD<f64, nalgebra::Dyn, nalgebra::Dyn>,
}

impl Jacobian {
    fn of(here: &CoupledLinearization) -> Self {
        let scale = |largest: f64| if largest > 0.0 { 1.0 / largest } else { 1.0 };
        let mut scaled: DMatrix<f64> = here.a.clone();
        let rows = DVector::from_iterator(
            scaled.nrows(),
            scaled.row_iter().map(|row| scale(row.amax())),
        );
        for (mut row, scale) in scaled.row_iter_mut().zip(&rows) {
            row *= *scale;
        }
        let largest = scaled.column_iter().map(|column| scale(column.amax()));
        let columns = DVector::from_iterator(scaled.ncols(), largest);
        for (mut column, scale) in scaled.column_iter_mut().zip(&columns) {
            column *= *scale;
        }
        let svd = scaled.svd(true, true);
        Self { rows, columns, svd }
    }

    /// A state that can move while no derivative changes, if there is one: the one that moves most.
    fn undetermined(&self) -> Option<usize> {
        let values = &self.svd.singular_values;
        if values.min() > SINGULAR * values.max() {
            return None;
        }
        let direction = self.svd.v_t.as_ref()?.row(values.imin()).transpose();
        Some(direction.component_mul(&self.columns).iamax())
    }

    /// `A⁻¹ f`.
    fn solve(&self, f: &DVector<f64>) -> DVector<f64> {
        let solved = self.svd.solve(&f.component_mul(&self.rows), 0.0);
        let solved = solved.expect("BUG: both factors were asked for");
        solved.component_mul(&self.columns)
    }
}

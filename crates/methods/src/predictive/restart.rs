//! Consistent restart: an interface that agrees with the states as they were integrated, in values,
//! slopes and curvatures.
//!
//! Systems have answered `Y, Y', Y''` under inputs that ended in predictions. What they would
//! answer under inputs that agree follows from their linearizations at the end of the step, with no
//! integration: derivative i of the outputs gains `G_ij` by derivative j of the inputs,
//!
//! ```text
//! y^(i) = Y^(i) + Σ_j G_ij (u^(j) − ũ^(j)),   u = Φᵀ y,
//! G_00 = D,  G_10 = C B,  G_20 = C A B,  G_11 = D + C B', …
//! ```
//!
//! and `(I − G Φᵀ)` is solved for the change of the outputs. Inputs that start so carry no memory
//! of what was predicted.

use dovetail_core::{Linearization, Task};
use nalgebra::DMatrix;

use crate::coupling::Coupling;
use crate::elementwise::add;
use crate::interface_system::{CoupledOutput, InterfaceMatrices, InterfaceSystem, MOST_ORDERS};
use crate::interface_vector::Stacking;
use crate::output_derivatives::{curvature_of, slope_of};

/// The solver, with what it keeps from step to step.
pub(super) struct Restart {
    matrices: InterfaceMatrices,
    /// For which affine systems, how many derivatives and which scale the matrix was factored.
    known: Vec<u64>,
    scale: f64,
    orders: usize,
    /// `C A`, the rows of the coupled outputs of a system.
    twice: Vec<f64>,
    change: Vec<f64>,
}

/// The coupling through feedthrough has no solution, or no single one.
pub(super) struct SingularInterface;

impl Restart {
    pub fn new(
        coupling: &Coupling<'_>,
        interface_system: &InterfaceSystem,
        quintics: bool,
    ) -> Self {
        let most = interface_system
            .local()
            .iter()
            .zip(&interface_system.rows)
            .map(|(local, rows)| local.linearization.x.len() * rows.len());
        Self {
            matrices: InterfaceMatrices::new(
                quintics,
                coupling,
                &interface_system.rows,
                &interface_system.columns,
            ),
            known: vec![0; interface_system.local().len()],
            scale: f64::NAN,
            orders: 0,
            twice: vec![0.0; most.max().unwrap_or(0)],
            change: vec![0.0; MOST_ORDERS * coupling.variables.len()],
        }
    }

    /// What systems answered at the end of the tasks: values, then slopes, then curvatures. What
    /// they do not tell follows from the linearization there; curvatures do so exactly for affine
    /// systems only.
    pub fn measure(coupling: &Coupling<'_>, interface_system: &InterfaceSystem, into: &mut [f64]) {
        let stacking = coupling.stacking();
        let with_curvatures = into.len() > 2 * stacking.variables;

        for (c, variable) in coupling.variables.iter().enumerate() {
            let task = &coupling.tasks[variable.system];
            let here = interface_system.linearization(variable.system);
            let output = variable.position;
            let input = |i: usize| task.inputs[i].at(task.step.size());
            let mut knot = task.response.outputs[output];
            if !knot.slope.is_finite() {
                knot.slope = slope_of(here, output, input);
            }
            if with_curvatures && !knot.curvature.is_finite() {
                knot.curvature = curvature_of(here, output, input);
            }
            stacking.put(into, c, knot);
        }
    }

    /// The interface that agrees, from what was `integrated`, put where the next step starts;
    /// `scale` is a time in which it moves.
    pub fn solve(
        &mut self,
        coupling: &mut Coupling<'_>,
        interface_system: &InterfaceSystem,
        integrated: &[f64],
        scale: f64,
    ) -> Result<(), SingularInterface> {
        let count = coupling.variables.len();
        if count == 0 {
            return Ok(()); // what is connected only jumps
        }

        let orders = integrated.len() / count;
        self.prepare(interface_system, orders, scale)?;
        self.change.fill(0.0);

        for task in &coupling.tasks {
            self.add_change_of(task, interface_system, integrated, coupling.stacking());
        }

        let change = &mut self.change[..orders * count];
        self.matrices.of(orders).solve(scale, change);
        let finite = change.iter().all(|change| change.is_finite());
        add(change, integrated);
        let stacking = coupling.stacking();

        for (c, knot) in coupling.start.iter_mut().enumerate() {
            *knot = stacking.knot(change, c);
        }
        if finite {
            Ok(())
        } else {
            Err(SingularInterface)
        }
    }

    /// What the outputs of one system change by where its inputs were integrated elsewhere.
    fn add_change_of(
        &mut self,
        task: &Task,
        interface_system: &InterfaceSystem,
        integrated: &[f64],
        stacking: Stacking,
    ) {
        let orders = integrated.len() / stacking.variables;
        let system = task.system;
        let here = interface_system.linearization(system);
        let rows = &interface_system.rows[system];
        if here.kept {
            return; // it stays at its share of both sides
        }
        multiply_by_a(here, rows, &mut self.twice);

        for (r, row) in rows.iter().enumerate() {
            for column in &interface_system.columns[system] {
                // What a Co-Simulation FMU answers about the present it answers under the inputs
                // of its last step.
                let curvature = task.inputs[column.input].at(task.step.size()).curvature;
                let used = [here.u[column.input], here.u_slope[column.input], curvature];
                for by in 0..orders {
                    let miss = integrated[stacking.place(by, column.variable)] - used[by];
                    for to in 0..orders {
                        let output = (r, row.position, to);
                        let gain = gain(here, &self.twice, output, (column.input, by));
                        self.change[stacking.place(to, row.variable)] += gain * miss;
                    }
                }
            }
        }
    }

    fn prepare(
        &mut self,
        interface_system: &InterfaceSystem,
        orders: usize,
        scale: f64,
    ) -> Result<(), SingularInterface> {
        let same = self.scale == scale && self.orders == orders;
        if same && self.knows_all(interface_system) {
            return Ok(());
        }

        for (known, here) in self.known.iter_mut().zip(interface_system.linearizations()) {
            *known = here.affine;
        }

        self.scale = f64::NAN;
        self.orders = orders;
        let Self {
            matrices, twice, ..
        } = self;
        let matrix = matrices.of(orders);

        for (system, here) in interface_system.linearizations().enumerate() {
            let rows = &interface_system.rows[system];
            let columns = &interface_system.columns[system];
            multiply_by_a(here, rows, twice);
            let sizes = (rows.len(), columns.len());
            matrix.assemble(system, sizes, scale, |r, to, column, by| {
                if here.kept {
                    return 0.0;
                }
                let output = (r, rows[r].position, to);
                gain(here, twice, output, (columns[column].input, by))
            });
        }

        matrix.factor().map_err(|_| SingularInterface)?;
        self.scale = scale;
        Ok(())
    }

    /// Whether all systems are affine and those that the matrix was made for.
    fn knows_all(&self, interface_system: &InterfaceSystem) -> bool {
        let now = interface_system.linearizations().map(|here| here.affine);
        let mut pairs = self.known.iter().zip(now);
        pairs.all(|(known, now)| *known == now && now != 0)
    }
}

/// `C A` of the coupled outputs.
fn multiply_by_a(here: &Linearization, rows: &[CoupledOutput], twice: &mut [f64]) {
    let states = here.x.len();
    for (r, row) in rows.iter().enumerate() {
        for j in 0..states {
            let product = (0..states).map(|i| here.c[(row.position, i)] * here.a[(i, j)]);
            twice[r * states + j] = product.sum();
        }
    }
}

/// `G`: what derivative `to` of an output, which has this row in `C A`, gains by derivative `by` of
/// an input.
fn gain(
    here: &Linearization,
    twice: &[f64],
    (row, output, to): (usize, usize, usize),
    (input, by): (usize, usize),
) -> f64 {
    let states = here.x.len();
    let once = |b: &DMatrix<f64>| {
        let terms = (0..states).map(|i| here.c[(output, i)] * b[(i, input)]);
        terms.sum::<f64>()
    };
    let again = |b: &DMatrix<f64>| {
        let terms = (0..states).map(|i| twice[row * states + i] * b[(i, input)]);
        terms.sum::<f64>()
    };

    match (to, by) {
        (0, 0) => here.d[(output, input)],
        (1, 1) | (2, 2) => here.d[(output, input)] + once(&here.b_slope),
        (0, 1) | (1, 2) => here.d_slope[(output, input)],
        (1, 0) => once(&here.b),
        (2, 1) => once(&here.b) + again(&here.b_slope),
        (2, 0) => again(&here.b),
        _ => 0.0,
    }
}

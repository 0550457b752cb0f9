//! The linearization of a whole model: those of its systems, with the connections eliminated.
//!
//! The systems are `x' = A x + B u + B' u'`, `y = C x + D u + D' u'` with block-diagonal matrices;
//! the connections are `u = Φᵀ y + w`, where `w` are the inputs that no output feeds. Slopes, where
//! a system uses them, follow from `u' = Φᵀ (C x' + D u')`; then algebraic loops are solved with
//! `(I − D Φᵀ)`.

use nalgebra::{DMatrix, DVector, Dyn, LU};

use dovetail_core::{Connections, Error, Linearization, SignalKind, components};
use dovetail_numerics::eigenvalues;

/// Below this reciprocal condition number a matrix counts as singular.
const SINGULAR: f64 = 1e-12;

/// `x' = f + A (x − x̃) + B (w − w̃)`, `y = g + C (x − x̃) + D (w − w̃)` of all systems together.
#[derive(Clone, Debug, PartialEq)]
pub struct CoupledLinearization {
    /// Names of the states, stacked.
    pub states: Vec<String>,
    /// Names of the inputs that no output feeds.
    pub inputs: Vec<String>,
    /// Names of the outputs, stacked.
    pub outputs: Vec<String>,
    /// `∂x'/∂x`.
    pub a: DMatrix<f64>,
    /// `∂x'/∂w`.
    pub b: DMatrix<f64>,
    /// `∂y/∂x`.
    pub c: DMatrix<f64>,
    /// `∂y/∂w`.
    pub d: DMatrix<f64>,
    /// `x̃`.
    pub x: DVector<f64>,
    /// `x'` there.
    pub f: DVector<f64>,
    /// What the matrices leave out, in sentences.
    pub notes: Vec<String>,
}

impl CoupledLinearization {
    /// The eigenvalues of A, real and imaginary parts, sorted by the one and then by the other; none where they could not be
    /// found.
    pub fn eigenvalues(&self) -> Option<Vec<(f64, f64)>> {
        let found = eigenvalues(&self.a)?;
        Some(found.iter().map(|value| (value.re, value.im)).collect())
    }

    /// The state that moves fastest, and its derivative; none where there are no states.
    pub fn fastest(&self) -> Option<(&str, f64)> {
        let rates = self.states.iter().zip(&self.f);
        let fastest = rates.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        fastest.map(|(state, rate)| (state.as_str(), *rate))
    }
}

/// Why there is no linearization of a whole model.
#[derive(Debug, thiserror::Error)]
pub enum NotCoupled {
    /// A loop without a unique solution, or a matrix that is not finite.
    #[error(transparent)]
    Model(#[from] Error),
    /// The slope of an input depends on a slope.
    #[error(
        "`{input}` is used with its slope, and what feeds it depends on a slope itself: that would \
         need second derivatives. Put a state (a small lag) between them"
    )]
    SlopeOfSlope {
        /// The input, `system.name`.
        input: String,
    },
    /// Derivatives of states depend on one another without end.
    #[error(
        "the derivatives of {states} depend on one another through slopes of inputs, and their \
         equations do not determine them"
    )]
    Derivatives {
        /// The states on the loop.
        states: String,
    },
}

/// Joins the linearizations of all systems, in order. Of each, only the first states are kept, so many as `continuous` says:
/// the others are discrete and held.
pub fn couple(
    connections: &Connections,
    systems: &[&Linearization],
    continuous: &[usize],
    time: f64,
) -> Result<CoupledLinearization, NotCoupled> {
    check_finite(connections, systems, time)?;
    let mut stacked = Stacked::of(connections, systems, continuous);
    stacked.eliminate_slopes(time)?;
    let (of_states, of_inputs) = stacked.outputs(time)?;
    let open = stacked.open_inputs();

    Ok(CoupledLinearization {
        a: &stacked.a + &stacked.b * stacked.fed(&of_states),
        b: stacked.b.select_columns(&open) + &stacked.b * stacked.fed(&of_inputs),
        c: of_states.select_rows(&shown_outputs(connections)),
        d: of_inputs.select_rows(&shown_outputs(connections)),
        inputs: open.iter().map(|&i| input_name(connections, i)).collect(),
        outputs: shown_outputs(connections)
            .into_iter()
            .map(|output| connections.output_name(output))
            .collect(),
        notes: notes(connections, systems, continuous),
        states: stacked.states,
        x: stacked.x,
        f: stacked.f,
    })
}

/// All systems beside one another.
struct Stacked<'a> {
    connections: &'a Connections,
    states: Vec<String>,
    a: DMatrix<f64>,
    b: DMatrix<f64>,
    c: DMatrix<f64>,
    d: DMatrix<f64>,
    b_slope: DMatrix<f64>,
    d_slope: DMatrix<f64>,
    x: DVector<f64>,
    f: DVector<f64>,
}

impl<'a> Stacked<'a> {
    fn of(connections: &'a Connections, systems: &[&Linearization], continuous: &[usize]) -> Self {
        let states = continuous.iter().sum();
        let (inputs, outputs) = (connections.inputs(), connections.outputs());
        let mut all = Self {
            connections,
            states: Vec::with_capacity(states),
            a: DMatrix::zeros(states, states),
            b: DMatrix::zeros(states, inputs),
            c: DMatrix::zeros(outputs, states),
            d: DMatrix::zeros(outputs, inputs),
            b_slope: DMatrix::zeros(states, inputs),
            d_slope: DMatrix::zeros(outputs, inputs),
            x: DVector::zeros(states),
            f: DVector::zeros(states),
        };

        for (system, (own, &kept)) in systems.iter().zip(continuous).enumerate() {
            all.place(system, own, kept);
        }
        all
    }

    fn place(&mut self, system: usize, own: &Linearization, kept: usize) {
        let first = self.states.len();
        let inputs = self.connections.inputs_of(system);
        let outputs = self.connections.outputs_of(system);
        let (x, u, y) = (
            (first, kept),
            (inputs.start, inputs.len()),
            (outputs.start, outputs.len()),
        );
        let put = |into: &mut DMatrix<f64>,
                   rows: (usize, usize),
                   columns: (usize, usize),
                   from: &DMatrix<f64>| {
            into.view_mut((rows.0, columns.0), (rows.1, columns.1))
                .copy_from(&from.view((0, 0), (rows.1, columns.1)));
        };
        put(&mut self.a, x, x, &own.a);
        put(&mut self.b, x, u, &own.b);
        put(&mut self.c, y, x, &own.c);
        put(&mut self.d, y, u, &own.d);
        put(&mut self.b_slope, x, u, &own.b_slope);
        put(&mut self.d_slope, y, u, &own.d_slope);
        self.x.rows_mut(first, kept).copy_from(&own.x.rows(0, kept));
        self.f.rows_mut(first, kept).copy_from(&own.f.rows(0, kept));

        let interface = &self.connections.interfaces()[system];
        let names = interface.states.iter().take(kept);
        self.states
            .extend(names.map(|state| interface.qualified(state)));
    }

    /// The output that an input follows; none where it is open or held.
    fn followed(&self, input: usize) -> Option<usize> {
        let source = self.connections.sources()[input].output();
        source.filter(|_| !self.connections.is_held(input))
    }

    /// The inputs that no output feeds and that may move.
    fn open_inputs(&self) -> Vec<usize> {
        let open = |input: &usize| {
            self.connections.sources()[*input].output().is_none()
                && !self.connections.is_held(*input)
        };
        (0..self.connections.inputs()).filter(open).collect()
    }

    /// `Φᵀ M`: a row for each input, from rows for the outputs.
    fn fed(&self, of_outputs: &DMatrix<f64>) -> DMatrix<f64> {
        let mut fed = DMatrix::zeros(self.connections.inputs(), of_outputs.ncols());
        for input in 0..self.connections.inputs() {
            if let Some(output) = self.followed(input) {
                fed.row_mut(input).copy_from(&of_outputs.row(output));
            }
        }
        fed
    }

    /// Slopes of inputs as functions of `x'`: afterwards the other matrices say it all.
    fn eliminate_slopes(&mut self, time: f64) -> Result<(), NotCoupled> {
        let used = |input: &usize| {
            let zero =
                |matrix: &DMatrix<f64>| matrix.column(*input).iter().all(|gain| *gain == 0.0);
            !(zero(&self.b_slope) && zero(&self.d_slope))
        };
        let used: Vec<usize> = (0..self.connections.inputs()).filter(used).collect();
        if used.is_empty() {
            return Ok(());
        }

        // u' = Φᵀ (C x' + D u'), and no further.
        let inputs = self.connections.inputs();
        let through = DMatrix::identity(inputs, inputs) - self.fed(&self.d);
        let through = through.lu();
        let solve = |right: DMatrix<f64>| divided(&through, &right);
        let singular = || Error::SingularLoop {
            variables: used
                .iter()
                .map(|&i| input_name(self.connections, i))
                .collect(),
            time,
        };
        let by_rates = solve(self.fed(&self.c)).ok_or_else(singular)?;
        let by_slopes = solve(self.fed(&self.d_slope)).ok_or_else(singular)?;
        let again = |input: &&usize| by_slopes.row(**input).iter().any(|gain| *gain != 0.0);
        if let Some(&input) = used.iter().find(again) {
            let input = input_name(self.connections, input);
            return Err(NotCoupled::SlopeOfSlope { input });
        }

        let size = self.states.len();
        let rates = DMatrix::identity(size, size) - &self.b_slope * &by_rates;
        if !is_regular(&rates) {
            let moving = |&state: &usize| self.b_slope.row(state).iter().any(|gain| *gain != 0.0);
            let moving = (0..size)
                .filter(moving)
                .map(|state| self.states[state].clone());
            let states = dovetail_core::list_names(&moving.collect::<Vec<_>>());
            return Err(NotCoupled::Derivatives { states });
        }
        let rates = rates.lu();
        let solve = |right: &DMatrix<f64>| divided(&rates, right).expect("BUG: regular");
        (self.a, self.b) = (solve(&self.a), solve(&self.b));
        let by_rates = &self.d_slope * by_rates;
        self.c += &by_rates * &self.a;
        self.d += &by_rates * &self.b;
        Ok(())
    }

    /// All outputs as functions of the states and of the open inputs: `(I − D Φᵀ) y = C x + D w`.
    fn outputs(&self, time: f64) -> Result<(DMatrix<f64>, DMatrix<f64>), Error> {
        let size = self.connections.outputs();
        let mut matrix = DMatrix::identity(size, size);
        for input in 0..self.connections.inputs() {
            if let Some(output) = self.followed(input) {
                let mut column = matrix.column_mut(output);
                column -= self.d.column(input);
            }
        }

        if let Some(members) = singular_loop(&matrix) {
            let names = members
                .iter()
                .map(|&output| self.connections.output_name(output));
            return Err(Error::SingularLoop {
                variables: names.collect(),
                time,
            });
        }
        let factors = matrix.lu();
        let solve =
            |right: &DMatrix<f64>| divided(&factors, right).expect("BUG: no loop is singular");
        Ok((
            solve(&self.c),
            solve(&self.d.select_columns(&self.open_inputs())),
        ))
    }
}

/// The first loop of the outputs, in `I − D Φᵀ`, whose equations do not determine it.
fn singular_loop(matrix: &DMatrix<f64>) -> Option<Vec<usize>> {
    let outputs = 0..matrix.nrows();
    let others = |row: usize| {
        let reads = move |column: &usize| *column != row && matrix[(row, *column)] != 0.0;
        (0..matrix.ncols()).filter(reads).collect()
    };
    let graph: Vec<Vec<usize>> = outputs.map(others).collect();
    let own = |members: &[usize]| matrix.select_rows(members).select_columns(members);
    components(&graph)
        .into_iter()
        .find(|members| !is_regular(&own(members)))
}

/// The solution of a linear system; none where it is singular. One without unknowns has one.
fn divided(factors: &LU<f64, Dyn, Dyn>, right: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    if right.is_empty() {
        return Some(right.clone());
    }
    factors.solve(right)
}

fn is_regular(matrix: &DMatrix<f64>) -> bool {
    if matrix.is_empty() {
        return true;
    }
    let values = matrix.singular_values();
    // A matrix that is zero but for rounding is singular as well: these begin as the identity.
    values.min() > SINGULAR * values.max().max(1.0)
}

/// Texts are no numbers, and have no rows.
fn shown_outputs(connections: &Connections) -> Vec<usize> {
    let shown = |output: &usize| connections.output(*output).kind != SignalKind::Text;
    (0..connections.outputs()).filter(shown).collect()
}

fn input_name(connections: &Connections, input: usize) -> String {
    let owner = (0..connections.systems()).find(|&k| connections.inputs_of(k).contains(&input));
    let owner = owner.expect("BUG: every input has an owner");
    let interface = &connections.interfaces()[owner];
    interface.qualified(&interface.inputs[input - connections.inputs_of(owner).start].name)
}

fn check_finite(
    connections: &Connections,
    systems: &[&Linearization],
    time: f64,
) -> Result<(), Error> {
    for (interface, own) in connections.interfaces().iter().zip(systems) {
        let matrices = own.matrices().find(|gain| !gain.is_finite());
        if let Some(&value) = matrices {
            return Err(Error::NotFinite {
                system: interface.name.clone(),
                variable: not_finite(interface, own).to_owned(),
                time,
                value,
            });
        }
    }
    Ok(())
}

/// The first state or output whose derivatives are not finite.
fn not_finite<'a>(interface: &'a dovetail_core::Interface, own: &Linearization) -> &'a str {
    let bad = |matrix: &DMatrix<f64>, row: usize| matrix.row(row).iter().any(|g| !g.is_finite());
    let state = (0..own.a.nrows())
        .find(|&row| bad(&own.a, row) || bad(&own.b, row) || bad(&own.b_slope, row));
    let output = (0..own.c.nrows())
        .find(|&row| bad(&own.c, row) || bad(&own.d, row) || bad(&own.d_slope, row));
    match (state, output) {
        (Some(state), _) => &interface.states[state],
        (_, Some(output)) => &interface.outputs[output].name,
        _ => "linearization",
    }
}

/// What is held although it may move in a run.
fn notes(
    connections: &Connections,
    systems: &[&Linearization],
    continuous: &[usize],
) -> Vec<String> {
    let mut notes = Vec::new();
    for (system, interface) in connections.interfaces().iter().enumerate() {
        for (input, face) in connections.inputs_of(system).zip(&interface.inputs) {
            let name = interface.qualified(&face.name);
            let source = connections.sources()[input].output();
            if let Some(output) = source.filter(|_| connections.is_held(input)) {
                let from = connections.output_name(output);
                notes.push(format!(
                    "`{name}` is held constant: `{from}`, which feeds it, jumps from value to value"
                ));
            }
            if face.delayed {
                notes.push(format!(
                    "`{name}` is delayed inside `{}`: its delayed value is held constant",
                    interface.name
                ));
            }
        }
        for state in interface.states.iter().skip(continuous[system]) {
            let name = interface.qualified(state);
            notes.push(format!("`{name}` is discrete: it is held constant"));
        }
        if systems[system].kept {
            notes.push(format!(
                "`{}` is kept where it switches: its matrices are those of sliding",
                interface.name
            ));
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use dovetail_core::{Input, Interface, Output, Source};

    fn interface(name: &str, states: usize) -> Interface {
        let input = Input {
            name: "u".into(),
            ..Input::default()
        };
        let output = Output {
            name: "y".into(),
            ..Output::default()
        };
        Interface {
            name: name.into(),
            inputs: vec![input].into(),
            outputs: vec![output].into(),
            states: (0..states).map(|k| format!("x{k}")).collect(),
        }
    }

    fn gain(value: f64) -> Linearization {
        let mut gain = Linearization::zeros(0, 1, 1);
        gain.d[(0, 0)] = value;
        gain
    }

    /// `x' = −x + u + s u'`, `y = x`.
    fn lag(slope: f64) -> Linearization {
        let mut lag = Linearization::zeros(1, 1, 1);
        (lag.a[(0, 0)], lag.b[(0, 0)], lag.c[(0, 0)]) = (-1.0, 1.0, 1.0);
        lag.b_slope[(0, 0)] = slope;
        lag
    }

    fn ring(states: [usize; 2]) -> Connections {
        let systems = vec![interface("p", states[0]), interface("q", states[1])];
        Connections::new(systems, vec![Source::Output(1), Source::Output(0)])
    }

    #[test]
    fn a_loop_with_gain_one_is_named() {
        let connections = ring([0, 0]);
        let refused = couple(&connections, &[&gain(2.0), &gain(0.5)], &[0, 0], 3.0).unwrap_err();
        let words = refused.to_string();
        assert!(
            words.contains("`p.y` and `q.y`") && words.contains("t = 3 s"),
            "{words}"
        );
        assert!(couple(&connections, &[&gain(2.0), &gain(0.4)], &[0, 0], 0.0).is_ok());
    }

    #[test]
    fn a_loop_of_gains_amplifies_an_open_input() {
        let open = vec![interface("p", 1), interface("q", 0)];
        let connections = Connections::new(open, vec![Source::Output(1), Source::Output(1)]);
        // q.y = 0.5 q.y: zero, whatever p does.
        let found = couple(&connections, &[&lag(0.0), &gain(0.5)], &[1, 0], 0.0).unwrap();
        assert_eq!((found.a[(0, 0)], found.inputs.len()), (-1.0, 0));

        let open = vec![interface("p", 1), interface("q", 0)];
        let connections = Connections::new(open, vec![Source::Output(1), Source::Constant(1.0)]);
        let found = couple(&connections, &[&lag(0.0), &gain(0.5)], &[1, 0], 0.0).unwrap();
        assert_eq!(found.inputs, ["q.u"]);
        assert_eq!((found.b[(0, 0)], found.d[(1, 0)]), (0.5, 0.5));
    }

    #[test]
    fn slopes_of_inputs_are_eliminated() {
        // x0' = −x0 + x1 + s x1', x1' = −x1 + x0.
        let connections = ring([1, 1]);
        let found = couple(&connections, &[&lag(0.25), &lag(0.0)], &[1, 1], 0.0).unwrap();
        let expected = DMatrix::from_row_slice(2, 2, &[-0.75, 0.75, 1.0, -1.0]);
        assert!((&found.a - expected).amax() < 1e-15, "{}", found.a);

        // x0' = … + x1', x1' = … + x0': nothing determines them.
        let refused = couple(&connections, &[&lag(1.0), &lag(1.0)], &[1, 1], 0.0).unwrap_err();
        assert!(
            refused.to_string().contains("`p.x0` and `q.x0`"),
            "{refused}"
        );
    }

    #[test]
    fn a_model_without_states_or_outputs_has_empty_matrices() {
        let empty = Interface::default();
        let connections = Connections::new(vec![empty], vec![]);
        let found = couple(&connections, &[&Linearization::zeros(0, 0, 0)], &[0], 0.0).unwrap();
        assert_eq!((found.a.len(), found.d.len()), (0, 0));
        assert_eq!(found.eigenvalues(), Some(vec![]));
        assert_eq!(found.fastest(), None);
    }

    #[test]
    fn a_slope_of_a_slope_is_refused_by_name() {
        let mut derivative = gain(0.0);
        derivative.d_slope[(0, 0)] = 1.0;
        let refused = couple(&ring([1, 0]), &[&lag(1.0), &derivative], &[1, 0], 0.0).unwrap_err();
        assert!(refused.to_string().contains("`p.u`"), "{refused}");
    }
}

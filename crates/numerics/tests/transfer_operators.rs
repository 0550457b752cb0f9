//! The operators of linear systems against computations in 250 digits (`independent/transfer.py`).

use dovetail_numerics::{Laplace, StateSpace, Transfer};
use nalgebra::DMatrix;
use proptest::prelude::*;

const SIDES: usize = 2; // inputs, outputs
const DEGREE: usize = 5;

struct Case {
    name: String,
    delta: f64,
    /// A, B, C, D, B', D'.
    matrices: Vec<DMatrix<f64>>,
    /// Per order: the powers 0 to 5, state, forcing; each with its condition.
    operators: Vec<(f64, DMatrix<f64>)>,
}

fn numbers(text: &str) -> Vec<f64> {
    text.split_whitespace()
        .map(|number| number.parse().unwrap())
        .collect()
}

fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in include_str!("independent/transfer.txt").lines().skip(1) {
        let (kind, rest) = line.split_once(' ').unwrap();
        match kind {
            "case" => {
                let [_, delta, name] = *rest.splitn(3, ' ').collect::<Vec<_>>() else {
                    panic!("{line}")
                };
                let (name, delta) = (name.to_string(), delta.parse().unwrap());
                cases.push(Case {
                    name,
                    delta,
                    matrices: Vec::new(),
                    operators: Vec::new(),
                });
            }
            "matrix" => {
                let case = cases.last_mut().unwrap();
                let entries = numbers(rest);
                let n = case
                    .matrices
                    .first()
                    .map_or(entries.len().isqrt(), |a| a.nrows());
                let rows = [n, n, SIDES, SIDES, n, SIDES][case.matrices.len()];
                case.matrices.push(DMatrix::from_row_slice(
                    rows,
                    entries.len() / rows,
                    &entries,
                ));
            }
            _ => {
                let entries = numbers(rest);
                let operator =
                    DMatrix::from_row_slice(SIDES, (entries.len() - 1) / SIDES, &entries[1..]);
                cases
                    .last_mut()
                    .unwrap()
                    .operators
                    .push((entries[0], operator));
            }
        }
    }
    cases
}

fn space(matrices: &[DMatrix<f64>]) -> StateSpace<'_> {
    let [a, b, c, d, b_slope, d_slope] = matrices else {
        panic!("a system has six matrices")
    };
    StateSpace {
        a,
        b,
        c,
        d,
        b_slope,
        d_slope,
    }
}

fn transfer(matrices: &[DMatrix<f64>], degree: usize, delta: f64) -> Transfer {
    let space = space(matrices);
    let mut transfer = Transfer::new(space.a.nrows(), space.b.ncols(), space.c.nrows(), degree);
    transfer.compute(space, delta);
    transfer
}

/// Those of the powers, of the state and of the forcing, order by order.
fn operators(transfer: &Transfer) -> impl Iterator<Item = &DMatrix<f64>> {
    transfer
        .orders
        .iter()
        .flat_map(|gains| gains.inputs.iter().chain([&gains.state, &gains.forcing]))
}

#[test]
fn operators_are_as_exact_as_their_condition_allows() {
    for case in cases() {
        let transfer = transfer(&case.matrices, DEGREE, case.delta);
        // An operator may be flat just where it is evaluated, as λ e^λ is at -1: then the others
        // tell.
        let relative = |(condition, operator): &(f64, DMatrix<f64>)| match operator.amax() {
            0.0 => 0.0,
            norm => condition / norm,
        };
        let worst = case.operators.iter().map(relative).fold(0.0, f64::max);
        let mut number = 0;
        for (found, (condition, exact)) in operators(&transfer).zip(&case.operators) {
            let (error, norm) = ((found - exact).amax(), exact.amax());
            // Eight samples find most of the condition.
            let bound = 4.0 * (condition + norm * worst) + 2e-15 * norm;
            assert!(
                error <= bound,
                "{}, operator {number}: {error:e} of {norm:e}, condition {condition:e}",
                case.name
            );
            number += 1;
        }
        assert_eq!(number, 3 * (DEGREE + 3));
    }
}

#[test]
fn stiffness_alone_costs_no_digits() {
    let names = [
        "stiff",
        "stiff, following",
        "stiff, feeding",
        "stiff, three time scales",
        "large, fast and damped",
    ];
    for case in cases()
        .iter()
        .filter(|case| names.contains(&case.name.as_str()))
    {
        let transfer = transfer(&case.matrices, DEGREE, case.delta);
        for (found, (_, exact)) in operators(&transfer).zip(&case.operators) {
            let error = (found - exact).amax();
            assert!(
                error <= 3e-15 * exact.amax(),
                "{}: {error:e} of {:e}",
                case.name,
                exact.amax()
            );
        }
    }
}

fn waves(rows: usize, columns: usize, seed: f64) -> DMatrix<f64> {
    DMatrix::from_fn(rows, columns, |row, column| {
        ((row * 7 + column * 3) as f64 + seed).sin()
    })
}

/// A chain between walls of 200 states, `block` of them per link, and its modes: per mode a system
/// of `block` states.
///
/// `dynamics` of the second difference: for a link that feels `s` times its neighbors'
/// differences, the block is that of `s`.
fn chain(block: usize, a: DMatrix<f64>, dynamics: impl Fn(f64) -> DMatrix<f64>, delta: f64) -> f64 {
    let (size, links) = (a.nrows(), a.nrows() / block);
    let [b, c, d, b_slope, d_slope] =
        [(size, 4), (4, size), (4, 4), (size, 4), (4, 4)].map(|(r, k)| waves(r, k, r as f64));
    let found = transfer(
        &[
            a,
            b.clone(),
            c.clone(),
            d.clone(),
            b_slope.clone(),
            d_slope.clone(),
        ],
        DEGREE,
        delta,
    );

    let mut sums: Vec<_> = operators(&found).map(|operator| operator * 0.0).collect();
    let angle = std::f64::consts::PI / (links + 1) as f64;
    for mode in 1..=links {
        let share = |link: usize| {
            (angle * (mode * (link + 1)) as f64).sin() * (2.0 / (links + 1) as f64).sqrt()
        };
        let shape = DMatrix::from_fn(size, block, |row, column| {
            if row % block == column {
                share(row / block)
            } else {
                0.0
            }
        });
        let stiffness = 4.0 * (angle * mode as f64 / 2.0).sin().powi(2);
        let none = DMatrix::zeros(4, 4);
        let direct = |matrix: &DMatrix<f64>| {
            if mode == 1 {
                matrix.clone()
            } else {
                none.clone()
            }
        };
        let adjoint = shape.transpose();
        let system = [
            dynamics(stiffness),
            &adjoint * &b,
            &c * &shape,
            direct(&d),
            &adjoint * &b_slope,
            direct(&d_slope),
        ];
        let modal = transfer(&system, DEGREE, delta);
        for (sum, operator) in sums.iter_mut().zip(operators(&modal)) {
            if operator.ncols() == block {
                *sum += operator * &adjoint
            } else {
                *sum += operator
            }
        }
    }
    let errors = operators(&found)
        .zip(&sums)
        .map(|(found, exact)| (found - exact).amax() / exact.amax());
    errors.fold(0.0, f64::max)
}

#[test]
fn heat_through_two_hundred_layers_is_the_sum_of_its_modes() {
    let a = DMatrix::from_fn(200, 200, |row, column| match row.abs_diff(column) {
        0 => -2e4,
        1 => 1e4,
        _ => 0.0,
    });
    let error = chain(1, a, |s| DMatrix::from_element(1, 1, -1e4 * s), 1.0);
    assert!(error < 1e-10, "{error:e}");
}

#[test]
fn a_hundred_masses_on_springs_are_the_sum_of_their_modes() {
    // The fastest turns by a hundred radians in the step, lightly damped.
    let a = DMatrix::from_fn(200, 200, |row, column| {
        match (row % 2, (row / 2).abs_diff(column / 2), column % 2) {
            (0, 0, 1) => 1.0,
            (1, 0, 0) => -5000.0,
            (1, 1, 0) => 2500.0,
            (1, 0, 1) => -0.25,
            _ => 0.0,
        }
    });
    let block = |s: f64| DMatrix::from_row_slice(2, 2, &[0.0, 1.0, -2500.0 * s, -0.25]);
    let error = chain(2, a, block, 1.0);
    assert!(error < 1e-12, "{error:e}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Smooth and without oscillation: A is symmetric with eigenvalues λ, -1 < λδ < 0. Operators
    /// can vanish by chance, so that errors are relative to what their parts add up to.
    #[test]
    fn gaver_stehfest_agrees_with_exact_for_smooth_systems(
        size in 1usize..6,
        delta in 1e-3f64..1.0,
        seed in prop::collection::vec(-1.0f64..1.0, 116),
    ) {
        let part = |from: usize, rows, columns| {
            DMatrix::from_fn(rows, columns, |i, j| seed[from + 5 * i + j])
        };
        let root = part(0, size, size);
        let square = &root * root.transpose();
        let a = &square * (-1.0 / (delta * square.trace().max(1e-3)));
        let b = part(25, size, 2) / delta;
        let c = part(50, 2, size);
        let d = part(60, 2, 2);
        let matrices = [a, b, c, d, part(70, size, 2), part(95, 2, 2)];
        let space = space(&matrices);
        let exact = transfer(&matrices, 3, delta);
        let mut inverted = exact.clone();
        inverted.compute_by(Laplace::GaverStehfest, space, delta).unwrap();

        let state = space.c.amax() * size as f64;
        let input = state * delta * space.b.amax() + space.d.amax();
        let slope = state * delta * space.b_slope.amax() + space.d_slope.amax();
        // Value, slope and curvature; the last two are difference quotients.
        let bounds = [(1e-6, 1e-4), (1e-2, 1e-1), (3e-1, 1e0)];
        for (order, (plain, powers)) in bounds.into_iter().enumerate() {
            let (found, exact) = (&inverted.orders[order], &exact.orders[order]);
            let unit = delta.powi(-(order as i32));
            prop_assert!((&found.state - &exact.state).amax() <= plain * unit * state);
            prop_assert!((&found.forcing - &exact.forcing).amax() <= plain * unit * delta * state);
            prop_assert!((&found.inputs[0] - &exact.inputs[0]).amax() <= plain * unit * input);
            for p in 1..=3 {
                let size = input * delta.powi(p) + p as f64 * slope * delta.powi(p - 1);
                let error = (&found.inputs[p as usize] - &exact.inputs[p as usize]).amax();
                let growth = [1.0, p as f64, (p * p) as f64][order];
                let bound = powers * growth * unit * size;
                prop_assert!(error <= bound, "order {order}, p {p}: {error:e} of {size:e}");
            }
        }
    }
}

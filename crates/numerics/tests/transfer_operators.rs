//! The operators of linear systems against computations in 250 digits (`independent/transfer.py`).

use dovetail_numerics::{StateSpace, Transfer};
use nalgebra::DMatrix;

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
    text.split_whitespace().map(|number| number.parse().unwrap()).collect()
}

fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in include_str!("independent/transfer.txt").lines().skip(1) {
        let (kind, rest) = line.split_once(' ').unwrap();
        match kind {
            "case" => {
                let [_, delta, name] = *rest.splitn(3, ' ').collect::<Vec<_>>() else { panic!("{line}") };
                let (name, delta) = (name.to_string(), delta.parse().unwrap());
                cases.push(Case { name, delta, matrices: Vec::new(), operators: Vec::new() });
            }
            "matrix" => {
                let case = cases.last_mut().unwrap();
                let entries = numbers(rest);
                let n = case.matrices.first().map_or(entries.len().isqrt(), |a| a.nrows());
                let rows = [n, n, SIDES, SIDES, n, SIDES][case.matrices.len()];
                case.matrices.push(DMatrix::from_row_slice(rows, entries.len() / rows, &entries));
            }
            _ => {
                let entries = numbers(rest);
                let operator = DMatrix::from_row_slice(SIDES, (entries.len() - 1) / SIDES, &entries[1..]);
                cases.last_mut().unwrap().operators.push((entries[0], operator));
            }
        }
    }
    cases
}

fn space(matrices: &[DMatrix<f64>]) -> StateSpace<'_> {
    let [a, b, c, d, b_slope, d_slope] = matrices else { panic!("a system has six matrices") };
    StateSpace { a, b, c, d, b_slope, d_slope }
}

#[test]
fn measure() {
    for case in cases() {
        let mut transfer = Transfer::new(case.matrices[0].nrows(), SIDES, SIDES, DEGREE);
        transfer.compute(space(&case.matrices), case.delta);
        let mut expected = case.operators.iter();
        for gains in &transfer.orders {
            let (mut w, mut wc, mut mc) = (0.0f64, 0.0f64, 0.0f64);
            let mut s = String::new();
            for found in gains.inputs.iter().chain([&gains.state, &gains.forcing]) {
                let (condition, operator) = expected.next().unwrap();
                let e = (found - operator).amax();
                let norm = operator.amax().max(1e-300);
                w = w.max(e / norm);
                mc = mc.max(condition / norm);
                wc = wc.max(e / (condition + 2e-16 * norm));
                s += &format!(" {:.0e}/{:.0e}", e / norm, condition / norm);
            }
            println!("{:30} rel {w:.1e} cond {mc:.1e} ratio {wc:8.1}   {s}", case.name);
        }
    }
}

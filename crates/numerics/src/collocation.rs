//! The collocation polynomial of an implicit step, continued beyond its end.

use crate::radau_coefficients::{NODES, STAGES, StageMatrix};

/// Weights that continue the stage increments of one step into the next, `ratio` times as long.
///
/// The polynomial through `(0, 0)` and `(c_j, z_j)` is read at `1 + ratio c_i` and counted from its
/// end, where the next step starts: `z_i(next) = Σ_j w_ij z_j`. Hairer & Wanner, *Solving ODEs II*,
/// (IV.8.5).
pub(crate) fn continuation(ratio: f64) -> StageMatrix {
    let mut weights = [[0.0; STAGES]; STAGES];
    for (row, node) in weights.iter_mut().zip(NODES) {
        let place = 1.0 + ratio * node;
        for (j, weight) in row.iter_mut().enumerate() {
            *weight = lagrange(j, place);
        }
        row[STAGES - 1] -= 1.0;
    }
    weights
}

/// The polynomial that is 1 at node `j`, and 0 at the other nodes and at the start.
fn lagrange(j: usize, place: f64) -> f64 {
    let mut value = place / NODES[j];
    for (k, node) in NODES.into_iter().enumerate() {
        if k != j {
            value *= (place - node) / (NODES[j] - node);
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_polynomial_of_degree_five_is_continued_exactly() {
        let curve = |place: f64| place.powi(5) - 2.0 * place.powi(3) + place;
        let ratio = 1.7;
        for (row, node) in continuation(ratio).iter().zip(NODES) {
            let continued: f64 = row
                .iter()
                .zip(NODES)
                .map(|(weight, node)| weight * curve(node))
                .sum();
            let exact = curve(1.0 + ratio * node) - curve(1.0);
            assert!(
                (continued - exact).abs() < 1e-11 * (1.0 + exact.abs()),
                "{continued} {exact}"
            );
        }
    }
}

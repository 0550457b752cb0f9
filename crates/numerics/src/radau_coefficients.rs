//! Coefficients of the Radau IIA method with five stages, order 9.
//!
//! Computed with 60 digits and rounded: nodes are the roots of `P₅ − P₄` on `[0, 1]`, the method
//! matrix `A` integrates polynomials of degree 4 exactly up to each node, and `A⁻¹ = T Λ T⁻¹` with
//! one real eigenvalue and two complex pairs. Source of the formulation: Hairer & Wanner, *Solving
//! Ordinary Differential Equations II*, 2nd edition (1996), section IV.8, cited as "HW".

use nalgebra::Complex;

/// The number of stages.
pub(crate) const STAGES: usize = 5;

/// A square matrix over the stages, by rows.
pub(crate) type StageMatrix = [[f64; STAGES]; STAGES];

/// Where in the step the stages are; the last is the end.
pub(crate) const NODES: [f64; STAGES] = [
    0.05710419611451768,
    0.2768430136381238,
    0.5835904323689168,
    0.8602401356562195,
    1.0,
];

/// The real eigenvalue of `A⁻¹`, HW (8.16).
pub(crate) const REAL_EIGENVALUE: f64 = 6.2867047517292765;

/// The complex eigenvalues of `A⁻¹` above the real axis.
pub(crate) const COMPLEX_EIGENVALUES: [Complex<f64>; 2] = [
    Complex::new(5.70095329867179, 3.2102656003085497),
    Complex::new(3.655694325463572, 6.543736899360077),
];

/// `T`: from transformed variables to stages. Columns 1, 2 and 3, 4 belong to the complex
/// eigenvalues.
pub(crate) const FROM_TRANSFORMED: StageMatrix = [
    [
        0.013576867344947943,
        -0.011478515255229515,
        -0.01401985889287541,
        -0.010242047817908826,
        0.04767387729029572,
    ],
    [
        0.0016179004017190875,
        -0.007668830749180163,
        0.024708578426518527,
        0.05017286451737106,
        -0.09433181918161143,
    ],
    [
        0.07915785334744721,
        0.01939846399882895,
        0.08180035370375117,
        -0.23053953404341795,
        0.1027030453801259,
    ],
    [
        0.41225608268046143,
        0.40760117128019907,
        0.19968242788680252,
        0.37789390224886127,
        0.46674413033249434,
    ],
    [1.0, 1.0, 0.0, 1.0, 0.0],
];

/// `T⁻¹`: from stages to transformed variables.
pub(crate) const TO_TRANSFORMED: StageMatrix = [
    [
        27.697693775684087,
        12.783337911304406,
        3.20848938671343,
        -0.9514904122489162,
        0.7415504960259897,
    ],
    [
        -33.041880213519,
        -17.376953479063566,
        -0.17212906325400557,
        -0.09916977798254265,
        0.5312281158383066,
    ],
    [
        -8.611443979875292,
        9.699991409528808,
        1.9147286396968743,
        2.41869200608494,
        -1.0474634879353375,
    ],
    [
        5.344186437834912,
        4.593615567759161,
        -3.0363603234594243,
        1.050660190231459,
        -0.27277861186429625,
    ],
    [
        3.748059807439805,
        -3.984965736343885,
        -1.0444156416080188,
        1.1840985681379486,
        -0.44991777015678036,
    ],
];

/// Weights of the stage increments in the error estimate, HW (8.17)–(8.19) carried over to five
/// stages.
///
/// The embedded solution of order 5 uses the derivative at the start with weight `1 /
/// REAL_EIGENVALUE`, so that the estimate `(γ₀/h I − J)⁻¹ (f₀ + Σ e_i z_i / h)` needs no other
/// factorization.
pub(crate) const ERROR_WEIGHTS: [f64; STAGES] = [
    -27.78093394406464,
    3.641478498049213,
    -1.2525477211691187,
    0.5920031671845428,
    -0.2,
];

#[cfg(test)]
mod tests {
    use super::*;

    type Square = nalgebra::SMatrix<f64, STAGES, STAGES>;

    fn square(rows: StageMatrix) -> Square {
        Square::from_fn(|row, column| rows[row][column])
    }

    /// `A` from its definition, HW (5.7): `A V = W` with `V = (c_i^k)` and `W = (c_i^{k+1} /
    /// (k+1))`.
    fn method_matrix() -> Square {
        let powers = Square::from_fn(|i, k| NODES[i].powi(k as i32));
        let integrals = Square::from_fn(|i, k| NODES[i].powi(k as i32 + 1) / (k + 1) as f64);
        integrals * powers.try_inverse().unwrap()
    }

    #[test]
    fn the_last_row_integrates_polynomials_of_degree_eight() {
        let weights = method_matrix().row(STAGES - 1).into_owned();
        for power in 0..9 {
            let moment: f64 = weights
                .iter()
                .zip(NODES)
                .map(|(weight, node)| weight * node.powi(power))
                .sum();
            assert!(
                (moment - 1.0 / f64::from(power + 1)).abs() < 1e-14,
                "{power}"
            );
        }
    }

    #[test]
    fn the_transformation_diagonalizes_the_inverse() {
        let mut blocks = Square::zeros();
        blocks[(0, 0)] = REAL_EIGENVALUE;
        for (pair, eigenvalue) in COMPLEX_EIGENVALUES.iter().enumerate() {
            let k = 1 + 2 * pair;
            (blocks[(k, k)], blocks[(k + 1, k + 1)]) = (eigenvalue.re, eigenvalue.re);
            (blocks[(k, k + 1)], blocks[(k + 1, k)]) = (-eigenvalue.im, eigenvalue.im);
        }
        let forth = square(FROM_TRANSFORMED);
        let back = square(TO_TRANSFORMED);
        assert!((forth * back - Square::identity()).amax() < 1e-14);
        let product = forth * blocks * back * method_matrix();
        assert!((product - Square::identity()).amax() < 1e-12, "{product}");
    }

    #[test]
    fn the_error_estimate_vanishes_for_polynomials_of_degree_five() {
        // For x = t^k the increments are c_i^k and f₀ is 1 for k = 1, else 0.
        for power in 1..=5 {
            let start = if power == 1 { 1.0 } else { 0.0 };
            let stages: f64 = ERROR_WEIGHTS
                .iter()
                .zip(NODES)
                .map(|(weight, node)| weight * node.powi(power))
                .sum();
            assert!((start + stages).abs() < 1e-14, "{power}");
        }
        let next: f64 = ERROR_WEIGHTS
            .iter()
            .zip(NODES)
            .map(|(weight, node)| weight * node.powi(6))
            .sum();
        assert!(next.abs() > 1e-3);
    }
}

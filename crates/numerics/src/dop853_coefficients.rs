//! Coefficients of the Dormand–Prince method of order 8 with embedded orders 5 and 3.
//!
//! Source: Hairer, Nørsett & Wanner, *Solving Ordinary Differential Equations I*, 2nd edition
//! (1993), section II.5, and their code DOP853. Rows hold `(stage, coefficient)` for the
//! coefficients that are not zero; stages count from zero.

/// The number of stages of a step.
pub(crate) const STAGES: usize = 12;

/// A weighted sum of stage derivatives.
pub(crate) type Row = &'static [(usize, f64)];

/// Where in the step each stage is evaluated.
pub(crate) const NODES: [f64; STAGES] = [
    0.0,
    0.05260015195876773,
    0.0789002279381516,
    0.1183503419072274,
    0.2816496580927726,
    0.3333333333333333,
    0.25,
    0.3076923076923077,
    0.6512820512820513,
    0.6,
    0.8571428571428571,
    1.0,
];

/// How each stage is composed of those before it.
pub(crate) const COMPOSITION: [Row; STAGES] = [
    &[],
    &[(0, 0.05260015195876773)],
    &[(0, 0.0197250569845379), (1, 0.0591751709536137)],
    &[(0, 0.02958758547680685), (2, 0.08876275643042054)],
    &[
        (0, 0.2413651341592667),
        (2, -0.8845494793282861),
        (3, 0.924834003261792),
    ],
    &[
        (0, 0.037037037037037035),
        (3, 0.17082860872947386),
        (4, 0.12546768756682242),
    ],
    &[
        (0, 0.037109375),
        (3, 0.17025221101954405),
        (4, 0.06021653898045596),
        (5, -0.017578125),
    ],
    &[
        (0, 0.03709200011850479),
        (3, 0.17038392571223998),
        (4, 0.10726203044637328),
        (5, -0.015319437748624402),
        (6, 0.008273789163814023),
    ],
    &[
        (0, 0.6241109587160757),
        (3, -3.3608926294469414),
        (4, -0.868219346841726),
        (5, 27.59209969944671),
        (6, 20.154067550477894),
        (7, -43.48988418106996),
    ],
    &[
        (0, 0.47766253643826434),
        (3, -2.4881146199716677),
        (4, -0.590290826836843),
        (5, 21.230051448181193),
        (6, 15.279233632882423),
        (7, -33.28821096898486),
        (8, -0.020331201708508627),
    ],
    &[
        (0, -0.9371424300859873),
        (3, 5.186372428844064),
        (4, 1.0914373489967295),
        (5, -8.149787010746927),
        (6, -18.52006565999696),
        (7, 22.739487099350505),
        (8, 2.4936055526796523),
        (9, -3.0467644718982196),
    ],
    &[
        (0, 2.273310147516538),
        (3, -10.53449546673725),
        (4, -2.0008720582248625),
        (5, -17.9589318631188),
        (6, 27.94888452941996),
        (7, -2.8589982771350235),
        (8, -8.87285693353063),
        (9, 12.360567175794303),
        (10, 0.6433927460157636),
    ],
];

/// The solution of order 8.
pub(crate) const SOLUTION: Row = &[
    (0, 0.054293734116568765),
    (5, 4.450312892752409),
    (6, 1.8915178993145003),
    (7, -5.801203960010585),
    (8, 0.3111643669578199),
    (9, -0.1521609496625161),
    (10, 0.20136540080403034),
    (11, 0.04471061572777259),
];

/// The solution less the embedded one of order 5.
pub(crate) const ERROR_OF_ORDER_5: Row = &[
    (0, 0.01312004499419488),
    (5, -1.2251564463762044),
    (6, -0.4957589496572502),
    (7, 1.6643771824549864),
    (8, -0.35032884874997366),
    (9, 0.3341791187130175),
    (10, 0.08192320648511571),
    (11, -0.022355307863886294),
];

/// The solution less the embedded one of order 3.
pub(crate) const ERROR_OF_ORDER_3: Row = &[
    (0, -0.18980075407240762),
    (5, 4.450312892752409),
    (6, 1.8915178993145003),
    (7, -5.801203960010585),
    (8, -0.42268232132379197),
    (9, -0.1521609496625161),
    (10, 0.20136540080403034),
    (11, 0.022651792198360825),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(row: Row, power: i32) -> f64 {
        row.iter()
            .map(|&(stage, coefficient)| coefficient * NODES[stage].powi(power))
            .sum()
    }

    #[test]
    fn stages_sit_at_their_nodes() {
        for (row, node) in COMPOSITION.iter().zip(NODES) {
            assert!((moment(row, 0) - node).abs() < 3e-14, "{node}");
        }
    }

    #[test]
    fn the_solution_integrates_polynomials_of_degree_seven() {
        for power in 0..8 {
            assert!((moment(SOLUTION, power) - 1.0 / f64::from(power + 1)).abs() < 1e-15);
        }
    }

    #[test]
    fn the_embedded_solutions_have_orders_five_and_three() {
        for power in 0..5 {
            assert!(moment(ERROR_OF_ORDER_5, power).abs() < 1e-15);
        }
        for power in 0..3 {
            assert!(moment(ERROR_OF_ORDER_3, power).abs() < 1e-15);
        }
        assert!(moment(ERROR_OF_ORDER_5, 6).abs() > 1e-6);
        assert!(moment(ERROR_OF_ORDER_3, 3).abs() > 1e-6);
    }
}

//! Two independent ways to the same answer: the integrator and the matrix exponential.

use dovetail_numerics::{Hint, Integrator, LinearStep, Tolerance, from_fn};
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn linear_systems_are_integrated_as_their_exponential_says(
        size in 1usize..7,
        decades in prop::collection::vec(-1.0f64..5.0, 6),
        seed in prop::collection::vec(-1.0f64..1.0, 48),
        exponent in 4i32..13,
        stiff: bool,
    ) {
        // Damped, with rates over up to six decades.
        let a = DMatrix::from_fn(size, size, |row, column| {
            let damping = if row == column { -1.5 * size as f64 } else { 0.0 };
            10f64.powf(decades[row]) * (seed[row * 6 + column] + damping)
        });
        let slope = DVector::from_fn(size, |row, _| seed[36 + row] * 10f64.powf(decades[row]));
        let initial = DVector::from_fn(size, |row, _| seed[42 + row]);
        let mut rhs = from_fn(size, |time, x: &[f64], dx: &mut [f64]| {
            for row in 0..size {
                let product = |column| a[(row, column)] * x[column];
                dx[row] = slope[row] * time + (0..size).map(product).sum::<f64>();
            }
        });
        let relative = 10f64.powi(-exponent);
        let mut state = initial.as_slice().to_vec();
        let tolerance = Tolerance { relative, absolute: relative, sizes: &[], largest: 0.0 };
        let outcome = Integrator::new(size)
            .integrate(&mut rhs, 0.0, 1.0, &mut state, tolerance, Hint { stiff, step: 0.0 })
            .unwrap();
        prop_assert!(outcome.steps < 3000, "{outcome:?}");

        let mut step = LinearStep::new(size, 1);
        step.compute(&a, 1.0);
        let mut exact = vec![0.0; size];
        let none = vec![0.0; size];
        step.respond(initial.as_slice(), &[&none, slope.as_slice()], &mut exact);
        for (value, exact) in state.iter().zip(&exact) {
            prop_assert!(
                (value - exact).abs() < 100.0 * relative,
                "{value:e} {exact:e} at {relative:e}: {outcome:?}"
            );
        }
    }
}

//! References were computed with 80 digits (mpmath, exponential of the augmented matrix).

use super::*;
use proptest::prelude::*;

const BADLY_SCALED: [[f64; 4]; 7] = [
    [
        -0.6061428343050494,
        2.1683499696867218e-07,
        -2168.3499696867216,
        -0.6061430511400464,
    ],
    [
        2.1699561125210267e-07,
        1.6061428343050496e-10,
        -1.6061428343050494,
        2.1683499696867218e-07,
    ],
    [
        2.606142617309438e-10,
        9.999997830043888e-11,
        -0.9999997830043887,
        1.6061428343050496e-10,
    ],
    [
        1.4999997827437746e-10,
        4.999999997393857e-11,
        -0.49999999973938575,
        9.999997830043888e-11,
    ],
    [
        6.666666662560524e-11,
        1.6666666651666668e-11,
        -0.1666666665166667,
        4.999999997393857e-11,
    ],
    [
        2.0833333311666668e-11,
        4.16666666e-12,
        -4.16666666e-2,
        1.6666666651666668e-11,
    ],
    [
        4.99999999125e-12,
        8.3333333125e-13,
        -0.0083333333125,
        4.16666666e-12,
    ],
];
const NEARLY_DEFECTIVE: [[f64; 4]; 7] = [
    [
        0.049787068392757476,
        0.049787068376161786,
        4.978706837616179e-11,
        0.049787068392757476,
    ],
    [
        0.31673764389874204,
        0.0889835251741934,
        8.898352517419342e-11,
        0.31673764389874204,
    ],
    [
        0.22775411871583828,
        0.046256864513881626,
        4.625686451388163e-11,
        0.22775411871583828,
    ],
    [
        0.09074862709966411,
        0.014830587528594159,
        1.483058752859416e-11,
        0.09074862709966411,
    ],
    [
        0.025306013190164792,
        0.0034918085538568774,
        3.4918085538568776e-12,
        0.025306013190164792,
    ],
    [
        0.00545355115905193,
        0.0006539142017316841,
        6.539142017316842e-13,
        0.00545355115905193,
    ],
    [
        0.0009599273914611359,
        0.00010200439657648393,
        1.0200439657648393e-13,
        0.0009599273914611359,
    ],
];
const STIFF_AND_SLOW: [[f64; 9]; 7] = [
    [
        -2.9483442910926153e-08,
        -0.0002948552033606368,
        0.00025124423950037143,
        1.261710090614159e-05,
        0.12610501424287135,
        0.26690752423047287,
        -0.00010669646839097334,
        -1.0669899181115456,
        0.6594932768302532,
    ],
    [
        9.999025764165937e-05,
        -9.745306684921334e-05,
        0.00029614439274658447,
        5.334823419548667e-05,
        0.5334949590557728,
        0.1702533615848734,
        -6.804984508006223e-05,
        -0.6806051472690132,
        0.8737294828451994,
    ],
    [
        9.998923631099855e-05,
        -7.6466323728224e-06,
        0.00015253908592201642,
        3.4024922540031114e-05,
        0.3403025736345066,
        0.06313525857740031,
        -2.5232159150961542e-05,
        -0.2523896413546955,
        0.4664721621527034,
    ],
    [
        4.999051458480242e-05,
        5.13508433521831e-06,
        5.1246288603604465e-05,
        1.2616079575480771e-05,
        0.12619482067734775,
        0.016763918923648306,
        -6.6990249385810775e-06,
        -0.06701548154496173,
        0.15969586242489003,
    ],
    [
        1.666191972109625e-05,
        2.521058880631436e-06,
        1.2833848113171376e-05,
        3.3495124692905388e-06,
        0.033507740772480865,
        0.003485402120888321,
        -1.3926553526498804e-06,
        -0.013933252551437384,
        0.04047297439284691,
    ],
    [
        4.1650682033951545e-06,
        6.772870059718274e-07,
        2.565895260093522e-06,
        6.963276763249402e-07,
        0.006966626275718692,
        0.000596846136909879,
        -2.38456115559351e-07,
        -0.0023859538109461597,
        0.008159364725076213,
    ],
    [
        8.329302474165626e-07,
        1.3420903568766934e-07,
        4.2718222658681423e-07,
        1.192280577796755e-07,
        0.0011929769054730799,
        8.698430412856037e-05,
        -3.474902662389388e-08,
        -0.0003477287223544981,
        0.001366806517623705,
    ],
];
const NON_NORMAL: [[f64; 4]; 7] = [
    [
        std::f64::consts::E,
        1175201.1936438016,
        0.0,
        0.36787944117144233,
    ],
    [
        1.718281828459045,
        543080.6348152438,
        0.0,
        0.6321205588285577,
    ],
    [
        0.7182818284590452,
        175201.19364380147,
        0.0,
        0.36787944117144233,
    ],
    [
        0.21828182845904523,
        43080.63481524378,
        0.0,
        0.1321205588285577,
    ],
    [
        0.05161516179237857,
        8534.52697713479,
        0.0,
        0.03454610783810899,
    ],
    [
        0.009948495125711903,
        1413.9681485771118,
        0.0,
        0.007120558828557678,
    ],
    [
        0.0016151617923785687,
        201.1936438014569,
        0.0,
        0.0012127745047756549,
    ],
];

fn functions(z: &DMatrix<f64>, highest: usize) -> Vec<DMatrix<f64>> {
    let mut functions = PhiFunctions::new(z.nrows(), highest);
    functions.compute(z);
    functions.phi
}

fn scalar(z: f64, highest: usize) -> Vec<f64> {
    functions(&DMatrix::from_element(1, 1, z), highest)
        .iter()
        .map(|phi| phi[(0, 0)])
        .collect()
}

/// The largest error of any entry, relative to that entry.
fn entrywise_error<const N: usize>(z: &[f64; N], reference: &[[f64; N]; 7]) -> f64 {
    let size = N.isqrt();
    let computed = functions(&DMatrix::from_row_slice(size, size, z), 6);
    let mut worst = 0.0f64;
    for (phi, reference) in computed.iter().zip(reference) {
        let reference = DMatrix::from_row_slice(size, size, reference);
        for (value, exact) in phi.iter().zip(reference.iter()) {
            worst = worst.max((value - exact).abs() / exact.abs().max(1e-300));
        }
    }
    worst
}

/// `φ_1(z) = (e^z − 1)/z` and upward, `φ_{k+1} = (φ_k − 1/k!)/z`, which is accurate for a large
/// negative `z`.
fn closed_form(z: f64, highest: usize) -> Vec<f64> {
    let mut values = vec![z.exp(), z.exp_m1() / z];
    for k in 1..highest {
        values.push((values[k] - inverse_factorial(k)) / z);
    }
    values
}

#[test]
fn stiff_scalars_agree_with_the_closed_form() {
    for z in [-30.0, -1e4, -1e8, -1e12] {
        for (value, exact) in scalar(z, 6).iter().zip(closed_form(z, 6)) {
            assert!(
                (value - exact).abs() <= 1e-14 * exact.abs() + 1e-300,
                "z = {z}: {value:e} {exact:e}"
            );
        }
    }
}

#[test]
fn mild_scalars_agree_with_high_precision() {
    let references = [
        (
            -1.0,
            [
                0.36787944117144233,
                0.6321205588285577,
                0.36787944117144233,
                0.1321205588285577,
            ],
        ),
        (
            5.0,
            [
                148.4131591025766,
                29.48263182051532,
                5.696526364103065,
                1.0393052728206127,
            ],
        ),
    ];
    for (z, reference) in references {
        for (value, exact) in scalar(z, 6).iter().zip(reference) {
            assert!(
                (value - exact).abs() < 3e-15 * exact,
                "z = {z}: {value:e} {exact:e}"
            );
        }
    }
}

#[test]
fn badly_scaled_oscillators_keep_their_digits() {
    // The phase is 1e5, so five digits of sixteen are lost whatever the method.
    let error = entrywise_error(&[0.0, 1.0, -1e10, -1.0], &BADLY_SCALED);
    assert!(error < 2e-10, "{error:e}");
}

#[test]
fn nearly_defective_matrices_are_no_trouble() {
    let error = entrywise_error(&[-3.0, 1.0, 1e-9, -3.0], &NEARLY_DEFECTIVE);
    assert!(error < 1e-14, "{error:e}");
}

#[test]
fn a_stiff_state_does_not_spoil_the_slow_ones() {
    let error = entrywise_error(
        &[-1e4, 2.0, 3.0, 1.0, -1.0, 0.5, 0.0, -2.0, 0.0],
        &STIFF_AND_SLOW,
    );
    assert!(error < 1e-11, "{error:e}");
}

#[test]
fn non_normal_matrices_are_not_overscaled() {
    let error = entrywise_error(&[1.0, 1e6, 0.0, -1.0], &NON_NORMAL);
    assert!(error < 1e-13, "{error:e}");
}

#[test]
fn a_nilpotent_matrix_has_a_finite_series() {
    let z = DMatrix::from_row_slice(3, 3, &[0.0, 1e5, 0.0, 0.0, 0.0, 1e5, 0.0, 0.0, 0.0]);
    let square = &z * &z;
    for (k, phi) in functions(&z, 6).iter().enumerate() {
        let term = |j| inverse_factorial(j + k);
        let exact = DMatrix::identity(3, 3) * term(0) + &z * term(1) + &square * term(2);
        let error = (phi - &exact).zip_map(&exact, |e, x| if e == 0.0 { 0.0 } else { e / x });
        assert!(error.amax() < 1e-14, "k = {k}: {error}");
    }
}

#[test]
fn a_zero_or_empty_matrix_is_no_trouble() {
    for (k, phi) in functions(&DMatrix::zeros(2, 2), 6).iter().enumerate() {
        assert_eq!(phi, &(DMatrix::identity(2, 2) * inverse_factorial(k)));
    }
    assert_eq!(functions(&DMatrix::zeros(0, 0), 3).len(), 4);
}

#[test]
fn what_is_not_finite_gives_what_is_not_finite_and_ends() {
    assert!(scalar(f64::NAN, 2).iter().all(|value| value.is_nan()));
    assert!(scalar(f64::INFINITY, 2).iter().all(|value| value.is_nan()));
    assert_eq!(scalar(800.0, 0), [f64::INFINITY]);
    assert!((scalar(-1e300, 1)[1] - 1e-300).abs() < 1e-314);
}

#[test]
fn a_chain_of_two_hundred_states_diffuses_into_its_walls() {
    // The discrete heat equation with ten thousandfold conductivity: eigenvalues are known in
    // closed form.
    let size = 200;
    let z = DMatrix::from_fn(size, size, |row, column| match row.abs_diff(column) {
        0 => -2e4,
        1 => 1e4,
        _ => 0.0,
    });
    let angle = std::f64::consts::PI / (size + 1) as f64;
    let mode = DMatrix::from_fn(size, 1, |row, _| (angle * (row + 1) as f64).sin());
    let eigenvalue = -4e4 * (angle / 2.0).sin().powi(2);
    for (phi, exact) in functions(&z, 3).iter().zip(closed_form(eigenvalue, 3)) {
        let error = (phi * &mode - &mode * exact).amax() / exact;
        assert!(error < 1e-11, "{error:e}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn neighbors_satisfy_the_recurrence(
        size in 1usize..8,
        magnitude in -3.0f64..3.0,
        seed in prop::collection::vec(-1.0f64..1.0, 64),
    ) {
        // Damped, so that the identity is not between huge numbers.
        let mut z = DMatrix::from_fn(size, size, |row, column| seed[row * 8 + column]);
        add_to_diagonal(&mut z, -(size as f64));
        z *= 10f64.powf(magnitude);
        let phi = functions(&z, 6);
        for k in 0..6 {
            let mut residual = &z * &phi[k + 1] - &phi[k];
            add_to_diagonal(&mut residual, inverse_factorial(k));
            prop_assert!(residual.amax() < 1e-13 * inverse_factorial(k), "{k}: {residual}");
        }
    }

    #[test]
    fn commuting_exponentials_multiply(
        size in 1usize..8,
        seed in prop::collection::vec(-1.0f64..1.0, 64),
    ) {
        let z = DMatrix::from_fn(size, size, |row, column| seed[row * 8 + column]);
        let product = exponential(&z) * exponential(&-&z);
        let error = (product - DMatrix::identity(size, size)).amax();
        prop_assert!(error < 1e-12 * one_norm(&z).exp(), "{error:e}");
    }
}

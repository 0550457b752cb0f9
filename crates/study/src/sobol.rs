//! The Sobol sequence, with the direction numbers of Joe and Kuo (2008), `new-joe-kuo-6`.

use crate::random::Random;

/// Bits of a coordinate.
const BITS: usize = 32;

/// Primitive polynomials, highest power first, and the first direction numbers of the dimensions after the first.
const DIRECTIONS: [(u32, &[u32]); DIMENSIONS - 1] = [
    (3, &[1]),
    (7, &[1, 3]),
    (11, &[1, 3, 1]),
    (13, &[1, 1, 1]),
    (19, &[1, 1, 3, 3]),
    (25, &[1, 3, 5, 13]),
    (37, &[1, 1, 5, 5, 17]),
    (41, &[1, 1, 5, 5, 5]),
    (47, &[1, 1, 7, 11, 19]),
    (55, &[1, 1, 5, 1, 1]),
    (59, &[1, 1, 1, 3, 11]),
    (61, &[1, 3, 5, 5, 31]),
    (67, &[1, 3, 3, 9, 7, 49]),
    (91, &[1, 1, 1, 15, 21, 21]),
    (97, &[1, 3, 1, 13, 27, 49]),
    (103, &[1, 1, 1, 15, 7, 5]),
    (109, &[1, 3, 1, 15, 13, 25]),
    (115, &[1, 1, 5, 5, 19, 61]),
    (131, &[1, 3, 7, 11, 23, 15, 103]),
    (137, &[1, 3, 7, 13, 13, 15, 69]),
    (143, &[1, 1, 3, 13, 7, 35, 63]),
    (145, &[1, 3, 5, 9, 1, 25, 53]),
    (157, &[1, 3, 1, 13, 9, 35, 107]),
    (167, &[1, 3, 1, 5, 27, 61, 31]),
    (171, &[1, 1, 5, 11, 19, 41, 61]),
    (185, &[1, 3, 5, 3, 3, 13, 69]),
    (191, &[1, 1, 7, 13, 1, 19, 1]),
    (193, &[1, 3, 7, 5, 13, 19, 59]),
    (203, &[1, 1, 3, 9, 25, 29, 41]),
    (211, &[1, 3, 5, 13, 23, 1, 55]),
    (213, &[1, 3, 7, 3, 13, 59, 17]),
    (229, &[1, 3, 1, 3, 5, 53, 69]),
    (239, &[1, 1, 5, 5, 23, 33, 13]),
    (241, &[1, 1, 7, 7, 1, 61, 123]),
    (247, &[1, 1, 7, 9, 13, 61, 49]),
    (253, &[1, 3, 3, 5, 3, 55, 33]),
    (285, &[1, 3, 1, 15, 31, 13, 49, 245]),
    (299, &[1, 3, 5, 15, 31, 59, 63, 97]),
    (301, &[1, 3, 1, 11, 11, 11, 77, 249]),
];

/// So many dimensions there are.
pub const DIMENSIONS: usize = 40;

/// The sequence in some dimensions, shifted at random: every digit of a coordinate is changed in all points alike, which
/// keeps what makes the sequence even and moves its first point away from the corner.
#[derive(Clone, Debug)]
pub(crate) struct Sobol {
    directions: Vec<[u32; BITS]>,
    shifts: Vec<u32>,
}

impl Sobol {
    pub fn new(dimensions: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        Self {
            directions: (0..dimensions).map(directions).collect(),
            shifts: (0..dimensions)
                .map(|_| (random.bits() >> 32) as u32)
                .collect(),
        }
    }

    /// A coordinate of a point, within (0, 1).
    pub fn unit(&self, point: usize, dimension: usize) -> f64 {
        let bits = self.bits(point, dimension) ^ self.shifts[dimension];
        (f64::from(bits) + 0.5) / 2.0_f64.powi(BITS as i32)
    }

    /// The digits of a coordinate, in the order of Gray codes (Antonov, Saleev 1979).
    fn bits(&self, point: usize, dimension: usize) -> u32 {
        let gray = point ^ (point >> 1);
        let directions = self.directions[dimension].iter().enumerate();
        directions.fold(0, |bits, (digit, direction)| {
            if (gray >> digit) & 1 == 1 {
                bits ^ direction
            } else {
                bits
            }
        })
    }
}

/// The direction numbers of a dimension, by the recurrence of its polynomial.
fn directions(dimension: usize) -> [u32; BITS] {
    let mut numbers = [0; BITS];
    let Some((polynomial, first)) = dimension.checked_sub(1).map(|index| DIRECTIONS[index]) else {
        for (digit, number) in numbers.iter_mut().enumerate() {
            *number = 1 << (BITS - 1 - digit);
        }
        return numbers;
    };

    let degree = first.len();
    for digit in 0..BITS {
        numbers[digit] = match first.get(digit) {
            Some(number) => number << (BITS - 1 - digit),
            None => {
                let before = numbers[digit - degree];
                let terms = (1..degree).filter(|term| (polynomial >> (degree - term)) & 1 == 1);
                terms.fold(before ^ (before >> degree), |sum, term| {
                    sum ^ numbers[digit - term]
                })
            }
        };
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without the shift, as others print it.
    fn coordinate(sobol: &Sobol, point: usize, dimension: usize) -> f64 {
        f64::from(sobol.bits(point, dimension)) / 2.0_f64.powi(32)
    }

    #[test]
    fn the_sequence_is_that_of_scipy() {
        // scipy.stats.qmc.Sobol(40, scramble=False).random(1024), its last point.
        let known = [
            0.0009765625,
            0.7529296875,
            0.6123046875,
            0.1455078125,
            0.1865234375,
            0.4384765625,
            0.1396484375,
            0.6181640625,
            0.3447265625,
            0.8505859375,
            0.6787109375,
            0.0361328125,
            0.1298828125,
            0.6650390625,
            0.3623046875,
            0.4638671875,
            0.3134765625,
            0.8759765625,
            0.5849609375,
            0.3193359375,
            0.8662109375,
            0.0185546875,
            0.7939453125,
            0.1962890625,
            0.2392578125,
            0.3759765625,
            0.5087890625,
            0.7607421875,
            0.8408203125,
            0.4345703125,
            0.9287109375,
            0.6142578125,
            0.4521484375,
            0.8740234375,
            0.3330078125,
            0.8642578125,
            0.9423828125,
            0.9873046875,
            0.9013671875,
            0.6982421875,
        ];
        let sobol = Sobol::new(DIMENSIONS, 0);
        let found: Vec<f64> = (0..DIMENSIONS)
            .map(|d| coordinate(&sobol, 1023, d))
            .collect();
        assert_eq!(found, known);
        let third: Vec<f64> = (0..6).map(|d| coordinate(&sobol, 4, d)).collect();
        assert_eq!(third, [0.375, 0.375, 0.625, 0.875, 0.375, 0.125]);
    }

    #[test]
    fn every_dimension_meets_every_part_once() {
        let sobol = Sobol::new(DIMENSIONS, 5);
        for dimension in 0..DIMENSIONS {
            let parts = (0..256).map(|point| (256.0 * sobol.unit(point, dimension)) as usize);
            let mut parts: Vec<usize> = parts.collect();
            parts.sort_unstable();
            assert_eq!(parts, (0..256).collect::<Vec<_>>());
        }
    }
}

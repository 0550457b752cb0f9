//! Numbers and intervals to try: of all sizes, and where things go wrong.

use std::f64::consts::FRAC_PI_2;

use dovetail_guaranteed::Interval;

/// How many times the usual number of samples to try; set `INTERVAL_EFFORT` for a long run.
pub fn effort(samples: usize) -> usize {
    let factor = std::env::var("INTERVAL_EFFORT")
        .ok()
        .and_then(|text| text.parse::<f64>().ok());
    (samples as f64 * factor.unwrap_or(1.0)) as usize
}

/// Numbers where functions are exact, overflow, underflow, or come close to their extrema.
const SPECIAL: [f64; 36] = [
    0.0,
    -0.0,
    5e-324,
    1e-320,
    2.225_073_858_507_201e-308,
    f64::MIN_POSITIVE,
    f64::EPSILON,
    1e-160,
    1.5e-154,
    1e-8,
    0.5,
    1.0,
    2.0,
    3.0,
    10.0,
    100.0,
    1e15,
    1e22,
    1e23,
    1.3e154,
    1.4e154,
    f64::MAX,
    FRAC_PI_2,
    std::f64::consts::PI,
    std::f64::consts::TAU,
    std::f64::consts::E,
    709.782_712_893_384,
    710.475_860_073_943_9,
    -708.396_418_532_264_1,
    -745.133_219_101_941_1,
    -745.2,
    19.061_547_465_398_5,
    22.0,
    9_007_199_254_740_993.0,
    3.5e-162,
    // 6381956970095103 · 2^797, the double nearest to a multiple of π/2, relatively.
    5.319_372_648_326_541e255,
];

/// Pseudo-random numbers (xorshift*), the same in every run.
pub struct Samples(u64);

impl Samples {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        (self.bits() >> 11) % limit
    }

    /// Between 0 and 1.
    pub fn fraction(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A finite number of any size and kind.
    pub fn number(&mut self) -> f64 {
        let number = match self.below(12) {
            0 => SPECIAL[self.below(SPECIAL.len() as u64) as usize],
            1 => {
                SPECIAL[self.below(SPECIAL.len() as u64) as usize]
                    * 2f64.powi(self.below(60) as i32 - 30)
            }
            2 => f64::from_bits(self.bits()),
            3 => f64::from_bits(self.bits() & !(0x7ff << 52)),
            4 => (self.below(1 << 20) as f64) * FRAC_PI_2,
            5 => (self.below(1 << 12) as f64) / 64.0,
            6 => 2f64.powi(self.below(600) as i32 - 300) * (1.0 + self.fraction()),
            7 => 1.0 + (self.below(64) as f64 - 32.0) * f64::EPSILON,
            8 => 800.0 * self.fraction(),
            9 => self.fraction(),
            _ => 10.0 * self.fraction(),
        };
        let signed = if self.below(2) == 0 { number } else { -number };
        let moved = if self.below(3) == 0 {
            self.moved(signed)
        } else {
            signed
        };
        if moved.is_finite() {
            moved
        } else {
            self.number()
        }
    }

    /// Up to eight doubles away.
    fn moved(&mut self, number: f64) -> f64 {
        let steps = self.below(9);
        let step = if self.below(2) == 0 {
            f64::next_up
        } else {
            f64::next_down
        };
        (0..steps).fold(number, |number, _| step(number))
    }

    /// An interval: often a number, or a few doubles wide; now and then half a line.
    pub fn interval(&mut self) -> Interval {
        let first = self.number();
        let second = match self.below(8) {
            0 | 1 => first,
            2 | 3 => self.moved(first),
            4 => first + self.fraction() * 2f64.powi(self.below(30) as i32 - 20),
            5 => first * (1.0 + self.fraction()),
            6 if self.below(8) == 0 => f64::INFINITY * self.number().signum(),
            _ => self.number(),
        };
        Interval::new(first.min(second), first.max(second))
    }

    /// A double in the interval: an end, or anything between, or near a multiple of π/2.
    pub fn within(&mut self, interval: Interval) -> f64 {
        let (lo, hi) = (interval.lo.max(f64::MIN), interval.hi.min(f64::MAX));
        let number = match self.below(6) {
            0 => lo,
            1 => hi,
            2 => lo + (hi - lo) * self.fraction(),
            3 => self.number(),
            4 => ((lo / FRAC_PI_2).ceil() + self.below(5) as f64) * FRAC_PI_2,
            _ => self.moved(0.5 * lo + 0.5 * hi),
        };
        if number.is_nan() {
            lo
        } else {
            number.clamp(lo, hi)
        }
    }
}

/// How many doubles wide the interval is; 0 for a point.
pub fn doubles_wide(interval: Interval) -> u64 {
    let ordinal = |x: f64| {
        if x < 0.0 {
            -((x.to_bits() << 1 >> 1) as i64)
        } else {
            (x.to_bits() << 1 >> 1) as i64
        }
    };
    ordinal(interval.hi).abs_diff(ordinal(interval.lo))
}

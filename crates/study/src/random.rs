//! Random numbers that are the same on every machine and in every version, so that a seed names a design for good.

/// SplitMix64 (Steele, Lea, Flood 2014): 64 bits of state, equidistributed.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Sixty-four random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * 2.0_f64.powi(-53)
    }

    /// Uniform among 0 … count − 1. The bias of the product is below count/2⁶⁴.
    pub fn below(&mut self, count: usize) -> usize {
        let product = u128::from(self.bits()) * count as u128;
        (product >> 64) as usize
    }

    /// A random order of 0 … count − 1 (Fisher, Yates).
    pub fn permutation(&mut self, count: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..count as u32).collect();
        for last in (1..count).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_names_its_numbers_for_good() {
        // The reference values of SplitMix64 for the seed 1234567.
        let mut random = Random::new(1_234_567);
        assert_eq!(random.bits(), 6_457_827_717_110_365_317);
        assert_eq!(random.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn a_permutation_has_every_number_once() {
        let mut order = Random::new(7).permutation(100);
        assert_ne!(order, (0..100).collect::<Vec<u32>>());
        order.sort_unstable();
        assert_eq!(order, (0..100).collect::<Vec<u32>>());
    }
}

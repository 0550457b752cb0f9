//! What the curves of a run have shown since the last linearization.

/// The distance of two Gauss points is this part of their interval.
pub(super) const GAUSS: f64 = 0.577_350_269_189_625_8;

/// The defects of all inputs, summed up over time.
#[derive(serde::Serialize, serde::Deserialize)]
pub(super) struct Gathered {
    pub sums: Vec<f64>,
    /// The changes of the defects: for systems that use `der(input)`.
    pub slopes: Vec<f64>,
    /// What the defect changes by within steps, times `h²/12`: a defect `b (s − h/2)` has no mean,
    /// but moves a state by `−A B b h³/12`.
    pub swings: Vec<f64>,
    elapsed: f64,
    /// The longest interval.
    longest: f64,
}

impl Gathered {
    pub fn new(inputs: usize) -> Self {
        Self {
            sums: vec![0.0; inputs],
            slopes: vec![0.0; inputs],
            swings: vec![0.0; inputs],
            elapsed: 0.0,
            longest: 0.0,
        }
    }

    /// Adds the defect of an input over an interval, from its two Gauss points.
    pub fn add(&mut self, input: usize, size: f64, before: f64, after: f64) {
        let change = (after - before) / GAUSS;
        self.sums[input] += 0.5 * size * (before + after);
        self.slopes[input] += change;
        self.swings[input] += change * size * size / 12.0;
    }

    /// The interval over which the defects of all inputs were added.
    pub fn add_interval(&mut self, size: f64) {
        self.elapsed += size;
        self.longest = self.longest.max(size);
    }

    /// Not every step is looked at: those that are stand for the others, over this time.
    pub fn extend_to(&mut self, time: f64) {
        let share = time / self.elapsed;
        for defects in [&mut self.sums, &mut self.slopes, &mut self.swings] {
            defects.iter_mut().for_each(|defect| *defect *= share);
        }
        self.elapsed = time;
    }

    pub fn take_elapsed(&mut self) -> f64 {
        std::mem::take(&mut self.elapsed)
    }

    pub fn longest(&self) -> f64 {
        self.longest
    }

    pub fn clear(&mut self) {
        for defects in [&mut self.sums, &mut self.slopes, &mut self.swings] {
            defects.fill(0.0);
        }
        self.longest = 0.0;
    }
}

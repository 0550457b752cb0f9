//! How far the numbers of a leg went: what ranges and residuals are made of.

use crate::flat::leg::Leg;
use crate::flat::plan::{BLOCK, FeedPlan};

/// For each place of a row, over the steps that a leg has done.
#[derive(Clone, Debug, Default)]
pub struct LegExtremes {
    /// The least value between two steps of the leg; infinite for a single step.
    low: Vec<f64>,
    /// The largest value there.
    high: Vec<f64>,
    /// By how much it changed at least in a step.
    least_change: Vec<f64>,
    /// By how much it changed at most.
    most_change: Vec<f64>,
}

impl LegExtremes {
    /// Room for the rows of a plan.
    pub fn new(plan: &FeedPlan) -> Self {
        let room = || vec![0.0; plan.width];
        Self {
            low: room(),
            high: room(),
            least_change: room(),
            most_change: room(),
        }
    }

    /// Looks through the steps of a leg, at least one.
    pub fn find(&mut self, plan: &FeedPlan, leg: &Leg) {
        let width = plan.width;
        let rows = &leg.values[..(leg.done + 1) * width];
        // Block by block: the numbers of a few places stay in registers for all rows.
        for first in (0..width).step_by(BLOCK) {
            let mut before = block(&rows[width..], first);
            let change = difference(before, block(rows, first));
            let (mut low, mut high) = ([f64::INFINITY; BLOCK], [f64::NEG_INFINITY; BLOCK]);
            let (mut least, mut most) = (change, change);
            for row in rows.chunks_exact(width).skip(2) {
                let after = block(row, first);
                let change = difference(after, before);
                for i in 0..BLOCK {
                    low[i] = smaller(before[i], low[i]);
                    high[i] = larger(before[i], high[i]);
                    least[i] = smaller(change[i], least[i]);
                    most[i] = larger(change[i], most[i]);
                }
                before = after;
            }
            self.low[first..][..BLOCK].copy_from_slice(&low);
            self.high[first..][..BLOCK].copy_from_slice(&high);
            self.least_change[first..][..BLOCK].copy_from_slice(&least);
            self.most_change[first..][..BLOCK].copy_from_slice(&most);
        }
    }
}

/// Steps that all systems have taken: the first `done` of a leg.
#[derive(Clone, Copy)]
pub struct FlatRows<'a> {
    /// Where the numbers are.
    pub plan: &'a FeedPlan,
    /// The numbers.
    pub leg: &'a Leg,
    /// How far they went.
    pub extremes: &'a LegExtremes,
}

/// What observers ask for.
impl FlatRows<'_> {
    /// The least and the largest of what was read at a place after the steps.
    pub fn range_of_value(&self, place: usize) -> (f64, f64) {
        self.range_with(place, self.leg.last_values(self.plan)[place])
    }

    /// The least and the largest of what an input was held at.
    pub fn range_of_input(&self, input: usize) -> (f64, f64) {
        match self.plan.source(input) {
            (place, true) => self.range_of_value(place),
            (place, false) => {
                let first = self.leg.values_before_step(self.plan, 0)[place];
                self.range_with(place, first)
            }
        }
    }

    fn range_with(&self, place: usize, value: f64) -> (f64, f64) {
        let low = smaller(self.extremes.low[place], value);
        let high = larger(self.extremes.high[place], value);
        (low, high)
    }

    /// By how much an input differed, at least and at most, from what its source answered at the end of a step.
    pub fn residuals(&self, input: usize) -> (f64, f64) {
        match self.plan.source(input) {
            (_, true) => (0.0, 0.0),
            (place, false) => {
                let extremes = self.extremes;
                (extremes.least_change[place], extremes.most_change[place])
            }
        }
    }

    /// By how much an input differed from its source at the end of step `n`, and what the source answered there.
    pub fn residual(&self, input: usize, n: usize) -> (f64, f64) {
        let held = self.leg.inputs_of_step(self.plan, n)[input];
        let answer = self.leg.values_after_step(self.plan, n)[self.plan.source(input).0];
        ((held - answer).abs(), answer)
    }
}

#[inline]
fn block(row: &[f64], first: usize) -> [f64; BLOCK] {
    let mut numbers = [0.0; BLOCK];
    numbers.copy_from_slice(&row[first..][..BLOCK]);
    numbers
}

#[inline]
fn difference(one: [f64; BLOCK], other: [f64; BLOCK]) -> [f64; BLOCK] {
    std::array::from_fn(|i| (one[i] - other[i]).abs())
}

/// Unlike `f64::min`, one instruction: there is no NaN in a leg.
#[inline]
fn smaller(one: f64, other: f64) -> f64 {
    if one < other { one } else { other }
}

#[inline]
fn larger(one: f64, other: f64) -> f64 {
    if one > other { one } else { other }
}

//! How well the interfaces meet.

use dovetail_core::{
    Archive, Checkpoint, Connections, Error, Exchange, FlatRows, Need, Observer, Source, Task,
    visit_fields,
};
use serde::{Deserialize, Serialize};

use crate::due_tasks::due;

/// The largest coupling residual of a run: by how much an input, at the end of a step, differed from what its source answers
/// there. Zero when interfaces really meet; the jump of a held input otherwise. Only what was answered for the same time is
/// compared: not an event that the source has just crossed, nor systems that keep different times. What jumps from value to value is
/// held by its nature and is no residual.
pub struct CouplingResidual<'a> {
    connections: &'a Connections,
    /// The newest of each output, stacked.
    answers: Vec<Answer>,
    /// For each input, stacked, how often its residual was how large.
    counts: Vec<ResidualCounts>,
    largest: f64,
    input: usize,
}

/// Residuals of one input relative to how far its source has moved, counted by powers of two.
#[derive(Clone, Copy)]
struct ResidualCounts {
    low: f64,
    high: f64,
    /// The power of two that the range of the source has reached.
    scale: i32,
    bins: [u32; BINS],
}

/// The smallest power of two that counts, and how many there are from there on.
const SMALLEST: i32 = -40;
const BINS: usize = 48;

impl ResidualCounts {
    const NONE: Self = Self {
        low: f64::INFINITY,
        high: f64::NEG_INFINITY,
        scale: i32::MIN,
        bins: [0; BINS],
    };

    /// Takes in a residual where the source has this value. The first one has nothing to be measured by.
    fn add(&mut self, residual: f64, value: f64) {
        let first = self.low > self.high;
        (self.low, self.high) = (self.low.min(value), self.high.max(value));
        if first || self.high <= self.low || !residual.is_finite() {
            return;
        }

        let scale = power_of_two_above(self.high - self.low);
        if scale > self.scale {
            self.rescale(scale.saturating_sub(self.scale.max(-2000)) as usize);
            self.scale = scale;
        }

        self.bins[self.bin(residual)] += 1;
    }

    /// Where a residual is counted, at the scale reached.
    fn bin(&self, residual: f64) -> usize {
        let power = power_of_two_above(residual) - self.scale;
        (power - SMALLEST).clamp(0, BINS as i32 - 1) as usize
    }

    /// Takes in so many residuals between `least` and `most`, where the source stays within a range, without looking at each of
    /// them; whether that can be done.
    fn add_many(
        &mut self,
        count: usize,
        (least, most): (f64, f64),
        (low, high): (f64, f64),
    ) -> bool {
        if self.low > self.high {
            return false;
        }
        let (low, high) = (self.low.min(low), self.high.max(high));
        if high > low {
            let same = power_of_two_above(high - low) == self.scale;
            if !same || self.bin(least) != self.bin(most) {
                return false;
            }
            self.bins[self.bin(most)] += count as u32;
        }
        (self.low, self.high) = (low, high);
        true
    }

    /// The range has grown by so many powers of two: what was counted is smaller by as many.
    fn rescale(&mut self, powers: usize) {
        let small: u32 = self.bins.iter().take(powers + 1).sum();
        self.bins.copy_within(powers.min(BINS).., 0);
        self.bins[BINS.saturating_sub(powers)..].fill(0);
        self.bins[0] = small;
    }

    /// What all but this share of the residuals are below.
    fn quantile(&self, share: f64) -> f64 {
        let all: u64 = self.bins.iter().map(|&count| u64::from(count)).sum();
        let (mut above, most) = (0, share * all as f64);

        for (bin, &count) in self.bins.iter().enumerate().rev() {
            above += u64::from(count);
            if above as f64 > most {
                return f64::from(SMALLEST + bin as i32).exp2();
            }
        }
        0.0
    }
}

/// The exponent of the least power of two that is not below `value`, from its bits: a logarithm would cost more than a light step.
/// Of zero it is smaller than of any other number.
#[inline]
fn power_of_two_above(value: f64) -> i32 {
    const MANTISSA: u32 = f64::MANTISSA_DIGITS - 1;
    let bits = value.to_bits();
    let exponent = (bits >> MANTISSA) as i32 & 0x7ff;
    if exponent == 0 {
        return value.log2().ceil().max(-2000.0) as i32;
    }
    let is_power = bits & ((1 << MANTISSA) - 1) == 0;
    exponent - (f64::MAX_EXP - 1) + i32::from(!is_power)
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Answer {
    value: f64,
    /// For which time it was given; NaN on the far side of an event.
    time: f64,
}

impl<'a> CouplingResidual<'a> {
    /// Nothing measured yet.
    pub fn new(connections: &'a Connections) -> Self {
        let answers = vec![
            Answer {
                value: f64::NAN,
                time: f64::NAN
            };
            connections.outputs()
        ];
        let counts = vec![ResidualCounts::NONE; connections.inputs()];

        Self {
            connections,
            answers,
            counts,
            largest: 0.0,
            input: 0,
        }
    }

    /// The largest residual so far.
    pub fn largest(&self) -> f64 {
        self.largest
    }

    /// The input (system and position in it) at which it was, once there was one.
    pub fn worst(&self) -> Option<(usize, usize)> {
        (self.largest > 0.0).then(|| self.place(self.input))?
    }

    /// What all but this share of the residuals of an input are below, relative to how far its source had moved, to within a factor of two; and
    /// the input where that is largest.
    pub fn usual(&self, share: f64) -> Option<(f64, (usize, usize))> {
        let quantiles = self
            .counts
            .iter()
            .enumerate()
            .map(|(input, counts)| (counts.quantile(share), input));
        let (most, input) = quantiles.max_by(|one, other| one.0.total_cmp(&other.0))?;
        Some((most, self.place(input)?))
    }

    /// The system of an input, and its position there.
    fn place(&self, input: usize) -> Option<(usize, usize)> {
        let system = (0..self.connections.systems())
            .find(|&k| self.connections.inputs_of(k).contains(&input))?;
        Some((system, input - self.connections.inputs_of(system).start))
    }
}

impl Checkpoint for CouplingResidual<'_> {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.slice(&mut self.answers)?;
        visit_fields!(archive, self.largest, self.input);
        archive.parts(&mut self.counts)
    }
}

impl Checkpoint for ResidualCounts {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive, self.low, self.high, self.scale);
        archive.slice(&mut self.bins)
    }
}

/// One task.
impl CouplingResidual<'_> {
    fn record_answers(&mut self, task: &Task) {
        let time = if task.step.is_instant() {
            f64::NAN
        } else {
            task.response.reached
        };
        let outputs = self.connections.outputs_of(task.system).start..;

        for (output, knot) in outputs.zip(&task.response.outputs) {
            let value = knot.value;
            self.answers[output] = Answer { value, time };
        }
    }

    fn compare_inputs(&mut self, task: &Task) {
        let reached = task.response.reached;
        let inputs = self.connections.inputs_of(task.system).start..;

        for (input, signal) in inputs.zip(&task.inputs) {
            let answer = self.answer_for(input, reached);
            if answer.time == reached && !self.connections.is_held(input) {
                let residual = (signal.value(task.step.size()) - answer.value).abs();
                self.count(input, residual, answer.value);
            }
        }
    }

    /// What the source of an input answers.
    fn answer_for(&self, input: usize, time: f64) -> Answer {
        match self.connections.sources()[input] {
            Source::Output(output) => self.answers[output],
            Source::Constant(value) => Answer { value, time },
        }
    }

    fn count(&mut self, input: usize, residual: f64, value: f64) {
        self.counts[input].add(residual, value);
        if residual > self.largest {
            self.largest = residual;
            self.input = input;
        }
    }
}

/// Rows of numbers, many steps at a time.
impl CouplingResidual<'_> {
    fn count_leg(&mut self, rows: FlatRows<'_>, input: usize) {
        let residuals = rows.residuals(input);
        let range = rows.range_of_value(rows.plan.source(input).0);
        let counts = &mut self.counts[input];
        if !counts.add_many(rows.leg.done, residuals, range) {
            for n in 0..rows.leg.done {
                let (residual, answer) = rows.residual(input, n);
                counts.add(residual, answer);
            }
        }
    }

    /// The largest residual of a leg, where it is larger than all before: at the input that had it first.
    fn note_largest(&mut self, rows: FlatRows<'_>) {
        let measured = |input: &usize| !self.connections.is_held(*input);
        let inputs = || (0..self.connections.inputs()).filter(measured);
        let largest = inputs().map(|input| rows.residuals(input).1);
        let largest = largest.fold(0.0, f64::max);
        if largest <= self.largest {
            return;
        }

        let has_it = |input: &usize| rows.residuals(*input).1 == largest;
        let step_of = |input: usize| {
            let mut steps = 0..rows.leg.done;
            steps.find(|&n| rows.residual(input, n).0 == largest)
        };
        let first = inputs().filter(has_it).min_by_key(|&input| step_of(input));
        self.largest = largest;
        self.input = first.unwrap_or(self.input);
    }
}

impl Observer for CouplingResidual<'_> {
    fn need(&self) -> Need {
        Need::Rows
    }

    fn rows(&mut self, rows: FlatRows<'_>) -> Result<(), Error> {
        for input in 0..self.connections.inputs() {
            let moves = self.connections.sources()[input].output().is_some();
            if moves && !self.connections.is_held(input) {
                self.count_leg(rows, input);
            }
        }
        self.note_largest(rows);
        Ok(())
    }

    fn accepted(&mut self, exchange: Exchange<'_>) -> Result<(), Error> {
        due(exchange.tasks).for_each(|task| self.record_answers(task));
        due(exchange.tasks)
            .filter(|task| !task.step.is_instant())
            .for_each(|task| self.compare_inputs(task));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_power_above_is_that_of_the_logarithm() {
        for value in [1.0, 1.5, 2.0, 0.3, 1e-300, 5e-310, 7e99, 2.0f64.powi(-40)] {
            assert_eq!(
                power_of_two_above(value),
                value.log2().ceil() as i32,
                "{value}"
            );
        }
        assert_eq!(power_of_two_above(0.0), -2000);
    }

    #[test]
    fn many_residuals_at_once_are_counted_as_one_by_one() {
        let (mut each, mut all) = (ResidualCounts::NONE, ResidualCounts::NONE);
        for counts in [&mut each, &mut all] {
            counts.add(0.1, 0.0);
            counts.add(0.1, 7.0);
        }
        for residual in [0.3, 0.4, 0.5] {
            each.add(residual, 7.5);
        }
        assert!(all.add_many(3, (0.3, 0.5), (7.5, 7.5)));
        assert_eq!((each.bins, each.high), (all.bins, all.high));
        assert!(!all.add_many(2, (0.1, 0.5), (7.5, 7.5)), "of two sizes");
        assert!(!all.add_many(2, (0.3, 0.5), (7.5, 9.0)), "on another scale");
    }

    #[test]
    fn a_quantile_leaves_out_the_few_that_are_large() {
        let mut counts = ResidualCounts::NONE;
        counts.add(0.0, 0.0);
        for n in 0..100 {
            counts.add(if n == 50 { 0.9 } else { 0.01 }, f64::from(n % 2));
        }
        assert!(
            (0.01..=0.02).contains(&counts.quantile(0.02)),
            "{}",
            counts.quantile(0.02)
        );
        assert!(counts.quantile(0.0) >= 0.9);
    }
}

//! Whether bounds have grown so wide that they say little.

use dovetail::guaranteed::Interval;
use dovetail::report::LooseBound;

/// Bounds that are so many times wider at the end than all that was possible in the first half of
/// the run have grown by the way they are computed, or with a model that runs away.
const LOOSE: f64 = 10.0;
/// Bounds that are narrower than this part of their values are tight, however they have grown.
const TIGHT: f64 = 0.01;

/// All that each state may have been in the first half of a run.
pub(super) struct FirstHalf {
    quarter: f64,
    ends: f64,
    seen: f64,
    hulls: Vec<Interval>,
}

impl FirstHalf {
    pub fn of(start: f64, stop: f64) -> Self {
        Self {
            quarter: 0.75 * start + 0.25 * stop,
            ends: 0.5 * (start + stop),
            seen: f64::NEG_INFINITY,
            hulls: Vec::new(),
        }
    }

    pub fn see(&mut self, time: f64, states: &[Interval]) {
        if time > self.ends {
            return;
        }
        self.seen = time;
        if self.hulls.is_empty() {
            self.hulls = states.to_vec();
        }
        for (hull, state) in self.hulls.iter_mut().zip(states) {
            hull.lo = hull.lo.min(state.lo);
            hull.hi = hull.hi.max(state.hi);
        }
    }

    /// The state whose bounds at the end are the most times wider than what it may have been
    /// before, if that is far too wide.
    pub fn loosest(&self, last: &[(String, Interval)]) -> Option<LooseBound> {
        if self.seen < self.quarter {
            return None; // of long steps nothing is known before their end
        }

        let is_tight =
            |state: &Interval| state.width() < TIGHT * state.lo.abs().max(state.hi.abs());
        let ratio = |hull: &Interval, state: &Interval| state.width() / hull.width();
        let pairs = self.hulls.iter().zip(last);
        let loose =
            pairs.filter(|(hull, (_, state))| !is_tight(state) && ratio(hull, state) > LOOSE);
        let worst = loose
            .max_by(|one, other| ratio(one.0, &one.1.1).total_cmp(&ratio(other.0, &other.1.1)));
        worst.map(|(hull, (name, state))| LooseBound {
            name: name.clone(),
            width: state.width(),
            before: hull.width(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loosest(widths: &[(f64, f64)]) -> Option<LooseBound> {
        let mut half = FirstHalf::of(0.0, 10.0);
        for &(time, width) in widths {
            half.see(time, &[Interval::new(-width, width)]);
        }
        let (_, last) = widths[widths.len() - 1];
        half.loosest(&[("a.x".into(), Interval::new(-last, last))])
    }

    #[test]
    fn bounds_that_explode_are_loose_and_those_that_stay_are_not() {
        let found = loosest(&[(0.0, 0.1), (5.0, 1.0), (6.0, 50.0), (10.0, 1e4)]);
        let found = found.expect("loose");
        assert_eq!((found.name.as_str(), found.before), ("a.x", 2.0));
        assert!(loosest(&[(0.0, 0.1), (5.0, 1.0), (10.0, 5.0)]).is_none());
        assert!(
            loosest(&[(0.0, 0.1), (10.0, 1e4)]).is_none(),
            "one long step"
        );
    }
}

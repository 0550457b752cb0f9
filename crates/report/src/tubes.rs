//! Proved boxes in memory, to be drawn.

use dovetail_guaranteed::Interval;

use crate::band::Band;

/// Boxes over time, in the order in which they were proved.
#[derive(Clone, Debug, Default)]
pub struct Tubes {
    names: Vec<String>,
    spans: Vec<(f64, f64)>,
    /// The boxes of all states, one span after the other.
    states: Vec<Interval>,
}

impl Tubes {
    /// No boxes yet, of states with these names.
    pub fn new(names: Vec<String>) -> Self {
        Self {
            names,
            ..Self::default()
        }
    }

    /// All states lie in `states` throughout `from..=to`, which may be an instant.
    pub fn row(&mut self, from: f64, to: f64, states: &[Interval]) {
        assert_eq!(states.len(), self.names.len(), "BUG: a box for each state");
        self.spans.push((from, to));
        self.states.extend_from_slice(states);
    }

    /// The names of the states.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The state at `position` as a picture shows it, in at most `most` pieces. Pieces that are joined give one that holds both.
    pub fn band(&self, position: usize, most: usize) -> Band {
        let states = self
            .states
            .iter()
            .skip(position)
            .step_by(self.names.len().max(1));
        let drawable = self
            .spans
            .iter()
            .zip(states)
            .filter(|(_, state)| state.is_finite());
        let (instants, tubes): (Vec<_>, Vec<_>) = drawable.partition(|((from, to), _)| from == to);
        // Instants stand within tubes, as marks: those that are left out change nothing.
        let every = instants.len().div_ceil(most.max(1)).max(1);
        let last = instants.len().saturating_sub(1);
        let marked = instants
            .iter()
            .enumerate()
            .filter(|(k, _)| k % every == 0 || *k == last);
        Band {
            name: self.names[position].clone(),
            tubes: joined(&tubes, most.max(1)),
            instants: marked
                .map(|(_, ((time, _), state))| (*time, **state))
                .collect(),
        }
    }
}

type Piece<'a> = (&'a (f64, f64), &'a Interval);

/// Neighbours joined until there are few enough.
fn joined(tubes: &[Piece<'_>], most: usize) -> Vec<(f64, f64, Interval)> {
    let together = tubes.len().div_ceil(most).max(1);
    let join = |pieces: &[Piece<'_>]| {
        let from = pieces
            .iter()
            .fold(f64::INFINITY, |from, (span, _)| from.min(span.0));
        let to = pieces
            .iter()
            .fold(f64::NEG_INFINITY, |to, (span, _)| to.max(span.1));
        let hull = pieces
            .iter()
            .map(|(_, state)| **state)
            .reduce(Interval::hull);
        hull.map(|hull| (from, to, hull))
    };
    tubes.chunks(together).filter_map(join).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tubes(steps: usize) -> Tubes {
        let mut tubes = Tubes::new(vec!["a.x".into(), "a.y".into()]);
        for n in 0..steps {
            let (from, to) = (n as f64, n as f64 + 1.0);
            tubes.row(from, from, &[Interval::point(from), Interval::ZERO]);
            tubes.row(from, to, &[Interval::new(from, to), Interval::ENTIRE]);
        }
        tubes
    }

    #[test]
    fn every_state_has_its_band() {
        let band = tubes(3).band(0, 10);
        assert_eq!(
            (band.name.as_str(), band.tubes.len(), band.instants.len()),
            ("a.x", 3, 3)
        );
        assert_eq!(band.tubes[1], (1.0, 2.0, Interval::new(1.0, 2.0)));
    }

    #[test]
    fn what_is_joined_holds_all_of_its_parts() {
        let band = tubes(1000).band(0, 100);
        assert_eq!(band.tubes.len(), 100);
        assert_eq!(
            band.tubes[99],
            (990.0, 1000.0, Interval::new(990.0, 1000.0))
        );
        assert!(band.instants.len() <= 101 && band.instants.last().unwrap().0 == 999.0);
    }

    #[test]
    fn boxes_without_bounds_cannot_be_drawn() {
        assert!(tubes(3).band(1, 10).tubes.is_empty());
    }
}

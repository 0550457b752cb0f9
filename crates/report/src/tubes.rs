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

    /// The state at `position` as a picture shows it, in at most `most` pieces. Pieces that are
    /// joined give one that holds both.
    pub fn band(&self, position: usize, most: usize) -> Band {
        let most = most.max(1);
        let pieces = self
            .pieces(position)
            .filter(|piece| piece.state.is_finite());
        let (instants, tubes): (Vec<_>, Vec<_>) = pieces.partition(Piece::is_instant);

        Band {
            name: self.names[position].clone(),
            tubes: joined(&tubes, most),
            instants: marked(&instants, most),
        }
    }

    /// All boxes of the state at `position`.
    fn pieces(&self, position: usize) -> impl Iterator<Item = Piece> {
        let width = self.names.len().max(1);
        let states = self.states.iter().skip(position).step_by(width);
        let spans = self.spans.iter();

        spans
            .zip(states)
            .map(|(&(from, to), &state)| Piece { from, to, state })
    }
}

/// The box of one state over a span.
struct Piece {
    from: f64,
    to: f64,
    state: Interval,
}

impl Piece {
    fn is_instant(&self) -> bool {
        self.from == self.to
    }
}

/// The instants to be shown. They stand within tubes, as marks: those that are left out change
/// nothing.
fn marked(instants: &[Piece], most: usize) -> Vec<(f64, Interval)> {
    let every = instants.len().div_ceil(most).max(1);
    let last = instants.len().saturating_sub(1);
    let numbered = instants.iter().enumerate();
    let shown = numbered.filter(|(k, _)| k % every == 0 || *k == last);
    shown.map(|(_, at)| (at.from, at.state)).collect()
}

/// Neighbors joined until there are few enough.
fn joined(tubes: &[Piece], most: usize) -> Vec<(f64, f64, Interval)> {
    let together = tubes.len().div_ceil(most).max(1);
    tubes.chunks(together).filter_map(join).collect()
}

fn join(pieces: &[Piece]) -> Option<(f64, f64, Interval)> {
    let starts = pieces.iter().map(|piece| piece.from);
    let ends = pieces.iter().map(|piece| piece.to);
    let states = pieces.iter().map(|piece| piece.state);
    let from = starts.fold(f64::INFINITY, f64::min);
    let to = ends.fold(f64::NEG_INFINITY, f64::max);

    states.reduce(Interval::hull).map(|hull| (from, to, hull))
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

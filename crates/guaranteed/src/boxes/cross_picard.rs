//! The cross-Picard operator (algorithm 1): boxes of all systems that prove one another.
//!
//! Every system finds its Picard box while its inputs are anywhere in the guessed boxes of the
//! others. If all new boxes lie in the guesses *at the same time*, the product of the new boxes is
//! mapped into itself by the Picard operator of the whole, which is the proof. (The loop of
//! algorithm 1 prints this inclusion the other way round.) New boxes that fail are the next guess;
//! where the paper takes them as they are, they are enlarged a little, which saves iterations.

use super::picard::{INFLATION, all_within, hulls, inflated};
use super::subsystems::Subsystems;
use crate::interval::{Interval, widest};

/// The paper's three ways to guess (section 4.5), from cheap to conservative; they are tried in
/// this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guess {
    /// The boxes of the last step, inflated.
    Previous,
    /// Their union with fresh local boxes, inflated.
    Union,
    /// Fresh local boxes, iterated so that growth reaches all systems, then inflated.
    Iterated,
}

/// How boxes are guessed and when they are given up.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowSearch {
    /// Kinds of guess, with how often new boxes may become the guess.
    pub guesses: &'static [(Guess, usize)],
    /// How much wider guesses are made, on either side, as a part of their width.
    pub inflation: f64,
    /// How often the proved boxes are mapped once more, which tightens them.
    pub tightening: usize,
}

const GUESSES: &[(Guess, usize)] = &[
    (Guess::Previous, 1),
    (Guess::Union, 3),
    (Guess::Iterated, 12),
];

impl Default for WindowSearch {
    fn default() -> Self {
        Self {
            guesses: GUESSES,
            inflation: INFLATION,
            tightening: 1,
        }
    }
}

/// How often fresh boxes are computed before they are a guess of the last kind.
const ITERATIONS: usize = 3;

impl WindowSearch {
    /// Leaves the cross-Picard boxes of the step in the shared step and returns the iterations it
    /// took; or the state that grows too fast. `previous` are the boxes of the last step.
    pub fn run(&self, subsystems: &Subsystems<'_>, previous: &[Interval]) -> Result<usize, usize> {
        let mut iterations = 0;
        let mut trouble = 0;

        for &(kind, limit) in self.guesses {
            let guess = self.guess(subsystems, previous, kind, &mut iterations);
            match guess.and_then(|guess| self.attempt(subsystems, guess, limit, &mut iterations)) {
                Ok(true) => return Ok(iterations),
                Ok(false) => trouble = widest(&subsystems.step().boxes),
                Err(state) => trouble = state,
            }
        }
        Err(trouble)
    }

    /// The loop of algorithm 1; whether it proved boxes.
    fn attempt(
        &self,
        subsystems: &Subsystems<'_>,
        mut guess: Vec<Interval>,
        limit: usize,
        iterations: &mut usize,
    ) -> Result<bool, usize> {
        for _ in 0..limit {
            let fresh = local_boxes(subsystems, &guess, iterations)?;
            if all_within(&fresh, &guess) {
                self.tighten(subsystems, iterations);
                return Ok(true);
            }
            guess = inflated(&fresh, self.inflation);
        }
        Ok(false)
    }

    fn guess(
        &self,
        subsystems: &Subsystems<'_>,
        previous: &[Interval],
        kind: Guess,
        iterations: &mut usize,
    ) -> Result<Vec<Interval>, usize> {
        let start = subsystems.step().start.clone();
        let previous = inflated(&hulls(previous, &start), self.inflation);
        let union = |fresh: &[Interval]| inflated(&hulls(&previous, fresh), self.inflation);

        match kind {
            Guess::Previous => Ok(previous),
            // The boxes that the guess before led to are in the shared step.
            Guess::Union => Ok(union(&hulls(&subsystems.step().boxes, &start))),
            Guess::Iterated => {
                let mut fresh = start;
                for _ in 0..ITERATIONS {
                    fresh = hulls(&fresh, &local_boxes(subsystems, &fresh, iterations)?);
                }
                Ok(inflated(&fresh, self.inflation))
            }
        }
    }

    /// The operator is monotone: the image of proved boxes is proved, and no larger.
    fn tighten(&self, subsystems: &Subsystems<'_>, iterations: &mut usize) {
        for _ in 0..self.tightening {
            let boxes = subsystems.step().boxes.clone();
            if let Ok(fresh) = local_boxes(subsystems, &boxes, iterations)
                && all_within(&fresh, &boxes)
            {
                subsystems.step_mut().boxes = fresh;
            } else {
                subsystems.step_mut().boxes = boxes;
                return;
            }
        }
    }
}

/// The Picard box of each system, with its inputs in `guess`; they are left in the shared step.
fn local_boxes(
    subsystems: &Subsystems<'_>,
    guess: &[Interval],
    iterations: &mut usize,
) -> Result<Vec<Interval>, usize> {
    subsystems.step_mut().boxes = guess.to_vec();
    *iterations += 1;
    let fresh = subsystems.picard_boxes()?;
    subsystems.step_mut().boxes.clone_from(&fresh);
    Ok(fresh)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use dovetail_core::{Connections, Source};
    use dovetail_equations::{self as equations, Definition, Model};

    use super::*;
    use crate::api::Integrator;
    use crate::boxes::shared_step::SharedStep;
    use crate::boxes::subsystems::Choices;
    use crate::boxes::thread_pool::{SharedWork, ThreadPool};
    use crate::distribution::Distribution;
    use crate::problem::{Boxes, Problem};

    /// The double mass-spring-damper of section 5.1, all its parameters 1.
    fn spring() -> Problem {
        let system = |name: &str, equations: &str| {
            let model = Model::parse(&equations::Source {
                inputs: vec!["ox", "ov"],
                parameters: vec![],
                states: vec!["x", "v"],
                equations,
                outputs: vec![("x", "x"), ("v", "v")],
                ..Default::default()
            });
            Definition::new(name, model.unwrap(), vec![], vec![1.0, 1.0], vec![1.0, 1.0])
        };
        let one = system("one", "der(x) = v\nder(v) = (ox - x) + (ov - v) - x - v");
        let two = system("two", "der(x) = v\nder(v) = (ox - x) + (ov - v) - x");
        let interfaces = vec![one.interface(), two.interface()];
        let connections = Connections::new(interfaces, [2, 3, 0, 1].map(Source::Output).to_vec());
        let boxes = [Boxes::points(&one), Boxes::points(&two)];
        Problem::new(&[one, two], &boxes, &connections, (0.0, 10.0)).unwrap()
    }

    /// Iterations for the first step of `size`, and the boxes.
    fn first_step(search: &WindowSearch, size: f64) -> (usize, Vec<Interval>) {
        let problem = spring();
        let distribution = Distribution::here(&problem);
        let choices = Choices {
            integrator: Integrator::Rk4,
            extrapolation: None,
        };
        let mut shared = SharedStep::new(0.0, &problem.start);
        shared.set_step(size, Vec::new());
        let work = SharedWork::new(choices.subsystems(distribution.own()), shared);
        thread::scope(|scope| {
            let pool = ThreadPool::start(&work, 1, scope);
            let subsystems = Subsystems::new(&problem, &distribution, choices, pool);
            let iterations = search.run(&subsystems, &problem.start).unwrap();
            (iterations, subsystems.step().boxes.clone())
        })
    }

    #[test]
    fn few_iterations_give_nearly_the_least_boxes() {
        // As printed: no guess is enlarged, and the loop ends when rounding does not let boxes grow
        // any more.
        let printed = WindowSearch {
            guesses: &[(Guess::Previous, 50)],
            inflation: 0.0,
            tightening: 0,
        };
        let ((iterations, boxes), (_, least)) = (
            first_step(&WindowSearch::default(), 0.01),
            first_step(&printed, 0.01),
        );
        assert!(iterations <= 6, "{iterations}");
        assert!(
            boxes
                .iter()
                .zip(&least)
                .all(|(found, least)| found.width() < 1.001 * least.width()),
            "{boxes:?} {least:?}"
        );
    }
}

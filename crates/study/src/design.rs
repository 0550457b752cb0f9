//! Designs: which values each run of a study has.

use crate::StudyError;
use crate::factor::Factor;
use crate::random::Random;
use crate::sobol::{DIMENSIONS, Sobol};

/// More runs than these are no study but a mistake.
const MOST_RUNS: usize = 1_000_000_000;

/// The kinds of designs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DesignKind {
    /// Every value of each factor with every value of the others; the last factor changes fastest.
    Grid,
    /// Each factor's range in as many parts as there are runs, each part met once, in random order (McKay 1979).
    LatinHypercube,
    /// The Sobol sequence (Joe, Kuo 2008), shifted at random: even at any length, best at powers of two.
    Sobol,
    /// Sobol points with one factor changed at a time (Saltelli 2010), from which sensitivities follow:
    /// `k + 2` runs for each point, where `k` factors are varied.
    Saltelli,
}

impl DesignKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Grid => "grid",
            Self::LatinHypercube => "latin-hypercube",
            Self::Sobol => "sobol",
            Self::Saltelli => "saltelli",
        }
    }
}

/// Which values each run has. Any run can be asked for, in any order, with the same answer.
#[derive(Clone, Debug)]
pub struct Design {
    factors: Vec<Factor>,
    runs: usize,
    points: Points,
}

#[derive(Clone, Debug)]
enum Points {
    Grid { levels: Vec<Vec<f64>> },
    LatinHypercube { parts: Vec<Vec<u32>>, seed: u64 },
    Sobol(Sobol),
    Saltelli(Sobol),
}

impl Design {
    /// A design of `factors`. `sample` is the number of points, of a grid the number of values of each range that says none.
    pub fn new(
        kind: DesignKind,
        factors: Vec<Factor>,
        sample: Option<usize>,
        seed: u64,
    ) -> Result<Self, StudyError> {
        check_names(&factors)?;
        if kind == DesignKind::Grid {
            return Self::grid(factors, sample);
        }

        let name = kind.name();
        let Some(sample) = sample.filter(|sample| *sample > 0) else {
            return Err(StudyError::new(format!(
                "the design `{name}` needs a number of samples"
            )));
        };
        let runs = match kind {
            DesignKind::Saltelli => sample.checked_mul(factors.len() + 2),
            _ => Some(sample),
        };
        let runs = checked(runs)?;
        let points = match kind {
            DesignKind::Grid | DesignKind::LatinHypercube => {
                latin_hypercube(&factors, sample, seed)
            }
            DesignKind::Sobol => Points::Sobol(sobol(name, factors.len(), factors.len(), seed)?),
            DesignKind::Saltelli => {
                Points::Saltelli(sobol(name, factors.len(), 2 * factors.len(), seed)?)
            }
        };

        Ok(Self {
            factors,
            runs,
            points,
        })
    }

    fn grid(factors: Vec<Factor>, sample: Option<usize>) -> Result<Self, StudyError> {
        let mut levels = Vec::new();
        let mut runs = Some(1_usize);
        for factor in &factors {
            let Some(list) = factor.values.levels(sample) else {
                let name = &factor.name;
                return Err(StudyError::new(format!(
                    "how many values of `{name}` does the grid take? Write {name}=LO:HI:N, or choose a design that samples"
                )));
            };
            runs = runs.and_then(|runs| runs.checked_mul(list.len()));
            levels.push(list);
        }

        Ok(Self {
            factors,
            runs: checked(runs)?,
            points: Points::Grid { levels },
        })
    }

    /// What is varied.
    pub fn factors(&self) -> &[Factor] {
        &self.factors
    }

    /// The names of what is varied.
    pub fn names(&self) -> Vec<String> {
        self.factors.iter().map(|f| f.name.clone()).collect()
    }

    /// How many runs there are.
    pub fn runs(&self) -> usize {
        self.runs
    }

    /// Whether sensitivities follow from it.
    pub fn is_saltelli(&self) -> bool {
        matches!(self.points, Points::Saltelli(_))
    }

    /// The values of a run, counted from 0.
    pub fn point(&self, run: usize) -> Vec<f64> {
        let count = self.factors.len();
        match &self.points {
            Points::Grid { levels } => grid_point(levels, run),
            Points::LatinHypercube { parts, seed } => {
                let part = |factor: usize| {
                    // A generator for each number, so that any can be asked for.
                    let place = (run * count + factor) as u64;
                    let mut random = Random::new(seed ^ place.wrapping_mul(0xd134_2543_de82_ef95));
                    random.bits();
                    (f64::from(parts[factor][run]) + random.unit()) / self.runs as f64
                };
                self.scaled((0..count).map(part))
            }
            Points::Sobol(sobol) => self.scaled((0..count).map(|factor| sobol.unit(run, factor))),
            Points::Saltelli(sobol) => {
                let (point, place) = (run / (count + 2), run % (count + 2));
                let unit =
                    |factor: usize| sobol.unit(point, saltelli_dimension(place, factor, count));
                self.scaled((0..count).map(unit))
            }
        }
    }

    fn scaled(&self, units: impl Iterator<Item = f64>) -> Vec<f64> {
        let factors = self.factors.iter().zip(units);
        factors
            .map(|(factor, unit)| factor.values.at(unit))
            .collect()
    }
}

/// Of the runs of a point the first is `A`, the second `B`, and the others are `A` with one factor of `B`.
fn saltelli_dimension(place: usize, factor: usize, count: usize) -> usize {
    let from_second = place == 1 || place == factor + 2;
    if from_second { count + factor } else { factor }
}

fn grid_point(levels: &[Vec<f64>], run: usize) -> Vec<f64> {
    let mut rest = run;
    let mut point = vec![0.0; levels.len()];
    for (value, list) in point.iter_mut().zip(levels).rev() {
        *value = list[rest % list.len()];
        rest /= list.len();
    }
    point
}

fn latin_hypercube(factors: &[Factor], runs: usize, seed: u64) -> Points {
    let mut random = Random::new(seed);
    let parts = factors.iter().map(|_| random.permutation(runs)).collect();
    let seed = random.bits();
    Points::LatinHypercube { parts, seed }
}

fn sobol(name: &str, factors: usize, dimensions: usize, seed: u64) -> Result<Sobol, StudyError> {
    if dimensions > DIMENSIONS {
        let most = DIMENSIONS * factors / dimensions;
        return Err(StudyError::new(format!(
            "the design `{name}` varies {most} values at most, not {factors}"
        )));
    }
    Ok(Sobol::new(dimensions, seed))
}

fn checked(runs: Option<usize>) -> Result<usize, StudyError> {
    let runs = runs.filter(|runs| *runs <= MOST_RUNS);
    runs.ok_or_else(|| StudyError::new(format!("the design has over {MOST_RUNS} runs")))
}

fn check_names(factors: &[Factor]) -> Result<(), StudyError> {
    if factors.is_empty() {
        return Err(StudyError::new("nothing is varied"));
    }
    for (index, factor) in factors.iter().enumerate() {
        let name = &factor.name;
        if factors[..index].iter().any(|other| other.name == *name) {
            return Err(StudyError::new(format!("`{name}` is varied twice")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factors(texts: &[&str]) -> Vec<Factor> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn a_grid_has_every_combination_and_the_last_factor_changes_fastest() {
        let design = factors(&["a.x=0:1:2", "a.y=3,4,5"]);
        let design = Design::new(DesignKind::Grid, design, None, 0).unwrap();
        let points: Vec<Vec<f64>> = (0..design.runs()).map(|run| design.point(run)).collect();
        let expected = [
            [0.0, 3.0],
            [0.0, 4.0],
            [0.0, 5.0],
            [1.0, 3.0],
            [1.0, 4.0],
            [1.0, 5.0],
        ];
        assert_eq!(points, expected);
    }

    #[test]
    fn a_latin_hypercube_meets_every_part_of_every_range_once() {
        let design = factors(&["a.x=0:100", "a.y=-50:50"]);
        let design = Design::new(DesignKind::LatinHypercube, design, Some(100), 3).unwrap();
        for factor in 0..2 {
            let low = [0.0, -50.0][factor];
            let mut met: Vec<usize> = (0..100)
                .map(|run| (design.point(run)[factor] - low) as usize)
                .collect();
            assert_ne!(met, (0..100).collect::<Vec<_>>(), "the order is random");
            met.sort_unstable();
            assert_eq!(met, (0..100).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_seed_names_a_design_and_another_one_another() {
        for kind in [
            DesignKind::LatinHypercube,
            DesignKind::Sobol,
            DesignKind::Saltelli,
        ] {
            let point = |seed: u64| {
                let design = Design::new(kind, factors(&["a.x=0:1", "a.y=0:1"]), Some(8), seed);
                design.unwrap().point(5)
            };
            assert_eq!(point(1), point(1));
            assert_ne!(point(1), point(2));
        }
    }

    #[test]
    fn saltelli_changes_one_factor_at_a_time() {
        let design = factors(&["a.x=0:1", "a.y=0:1", "a.z=0:1"]);
        let design = Design::new(DesignKind::Saltelli, design, Some(4), 0).unwrap();
        assert_eq!(design.runs(), 20);
        let [a, b] = [10, 11].map(|run| design.point(run));
        for factor in 0..3 {
            let mut expected = a.clone();
            expected[factor] = b[factor];
            assert_eq!(design.point(12 + factor), expected);
        }
    }

    #[test]
    fn lists_are_sampled_evenly() {
        let design = Design::new(DesignKind::Sobol, factors(&["a.x=1,2,4"]), Some(300), 0);
        let design = design.unwrap();
        let ones = (0..300).filter(|run| design.point(*run) == [1.0]).count();
        assert!((99..=101).contains(&ones), "{ones}");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let refused = |kind, texts: &[&str], sample| {
            let design = Design::new(kind, factors(texts), sample, 0);
            design.unwrap_err().to_string()
        };
        let grid = DesignKind::Grid;
        assert!(refused(grid, &["a.x=0:1"], None).contains("how many values of `a.x`"));
        assert!(refused(grid, &["a.x=1", "a.x=2"], None).contains("varied twice"));
        assert!(refused(grid, &[], None).contains("nothing is varied"));
        assert!(refused(grid, &["a.x=0:1:1000000", "a.y=0:1:1000000"], None).contains("over"));
        let none = refused(DesignKind::Sobol, &["a.x=0:1"], None);
        assert!(none.contains("needs a number of samples"));
    }
}

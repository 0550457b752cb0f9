//! Least squares within bounds, by the method of Levenberg and Marquardt.
//!
//! J. J. Moré: The Levenberg-Marquardt algorithm: implementation and theory (1978), for the scaling by columns of the Jacobian;
//! H. B. Nielsen: Damping parameter in Marquardt's method (1999), cited as "(N)", for the damping. Bounds are an active set: a
//! parameter at its bound that would leave is held, and a step that meets a bound stops there while the others are solved for again.

use nalgebra::{DMatrix, DVector};

/// The damping at the start, as a part of the curvatures.
const FIRST_DAMPING: f64 = 1e-3;
/// Steps are small when no parameter moves by more than this part of its scale.
const SMALLEST_STEP: f64 = 1e-9;
/// There is nothing to gain when the model of the sum promises less than this part of it.
const SMALLEST_GAIN: f64 = 1e-11;
/// So many steps in a row that make the sum larger: it is as small as runs can tell.
const MOST_REJECTIONS: usize = 12;
/// So far parameters are moved for differences, as a part of their scale: rows of runs have about eight good digits, and central
/// differences an error of the second order.
const DIFFERENCE: f64 = 1e-4;
/// Where a parameter is zero, its scale is this part of its range.
const SCALE_OF_RANGE: f64 = 1e-3;

/// What is to become small.
pub(crate) trait Residuals {
    /// Residuals at several points, each or why there are none. An error ends all.
    fn at(&mut self, points: &[Vec<f64>]) -> Result<Vec<Evaluated>, Interrupted>;
}

/// Residuals, or why there are none.
pub(crate) type Evaluated = Result<DVector<f64>, String>;

/// The user has had enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interrupted;

/// Why no minimum was found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NoMinimum {
    /// The user has had enough.
    Interrupted,
    /// What is to become small could not be computed, at this point and for this reason.
    NotComputed(Vec<f64>, String),
}

impl From<Interrupted> for NoMinimum {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

/// Where parameters may be.
#[derive(Clone, Debug)]
pub(crate) struct Bounds {
    pub low: Vec<f64>,
    pub high: Vec<f64>,
}

impl Bounds {
    fn clamp(&self, index: usize, value: f64) -> f64 {
        value.clamp(self.low[index], self.high[index])
    }

    /// How large a parameter is.
    pub fn scale(&self, index: usize, value: f64) -> f64 {
        value
            .abs()
            .max(SCALE_OF_RANGE * (self.high[index] - self.low[index]))
    }

    /// Whether a value is one of the ends.
    pub fn is_at_end(&self, index: usize, value: f64) -> bool {
        value == self.low[index] || value == self.high[index]
    }
}

/// The least sum of squares that was found.
#[derive(Clone, Debug)]
pub(crate) struct Minimum {
    pub parameters: Vec<f64>,
    pub residuals: DVector<f64>,
    /// Of the residuals there.
    pub jacobian: DMatrix<f64>,
    pub iterations: usize,
    /// Whether it is one; otherwise the iterations were used up.
    pub converged: bool,
}

/// Goes from `start`, which is within the bounds, to a least sum of squares in so many iterations at most.
pub(crate) fn minimize(
    function: &mut dyn Residuals,
    start: &[f64],
    bounds: &Bounds,
    most: usize,
) -> Result<Minimum, NoMinimum> {
    let residuals = at_one(function, start)?;
    let jacobian = differences(function, start, &residuals, bounds)?;
    let mut best = Minimum {
        parameters: start.to_vec(),
        residuals,
        jacobian,
        iterations: 0,
        converged: false,
    };
    let mut damping = Damping::new();

    while best.iterations < most && !best.converged {
        best.iterations += 1;
        match improve(function, &best, bounds, &mut damping)? {
            Some((parameters, residuals)) => {
                best.jacobian = differences(function, &parameters, &residuals, bounds)?;
                best.parameters = parameters;
                best.residuals = residuals;
            }
            None => best.converged = true,
        }
    }
    Ok(best)
}

/// λ of the normal equations, and how fast it grows.
struct Damping {
    value: f64,
    growth: f64,
}

impl Damping {
    fn new() -> Self {
        Self {
            value: FIRST_DAMPING,
            growth: 2.0,
        }
    }

    /// The sum fell by this part of what its model promised. (N)
    fn relax(&mut self, ratio: f64) {
        self.value *= (1.0_f64 / 3.0).max(1.0 - (2.0 * ratio - 1.0).powi(3));
        self.growth = 2.0;
    }

    /// It did not fall. (N)
    fn tighten(&mut self) {
        self.value *= self.growth;
        self.growth *= 2.0;
    }
}

/// A better point, and its residuals.
type Better = (Vec<f64>, DVector<f64>);

/// A better point with its residuals; none where there is none to be found.
fn improve(
    function: &mut dyn Residuals,
    from: &Minimum,
    bounds: &Bounds,
    damping: &mut Damping,
) -> Result<Option<Better>, NoMinimum> {
    let model = Model::at(from);
    let sum = from.residuals.norm_squared();
    for _ in 0..MOST_REJECTIONS {
        let step = model.step(&from.parameters, bounds, damping.value);
        let promised = model.promised(&step);
        let small = |(index, step): (usize, &f64)| {
            step.abs() <= SMALLEST_STEP * bounds.scale(index, from.parameters[index])
        };
        if step.iter().enumerate().all(small) || promised <= SMALLEST_GAIN * sum {
            return Ok(None);
        }

        let moved = from.parameters.iter().zip(&step).enumerate();
        let point: Vec<f64> = moved
            .map(|(index, (value, step))| bounds.clamp(index, value + step))
            .collect();
        // Where a run fails the sum is taken to be without end.
        if let Some(Ok(residuals)) = function.at(std::slice::from_ref(&point))?.pop() {
            let gained = sum - residuals.norm_squared();
            if gained > 0.0 {
                damping.relax(gained / promised);
                return Ok(Some((point, residuals)));
            }
        }
        damping.tighten();
    }
    Ok(None)
}

/// The sum of squares near a point, as a parabola.
struct Model {
    /// Half its gradient.
    gradient: DVector<f64>,
    /// Half its curvature, JᵀJ.
    curvature: DMatrix<f64>,
}

impl Model {
    fn at(point: &Minimum) -> Self {
        Self {
            gradient: point.jacobian.tr_mul(&point.residuals),
            curvature: point.jacobian.tr_mul(&point.jacobian),
        }
    }

    /// By how much a step makes the sum smaller.
    fn promised(&self, step: &DVector<f64>) -> f64 {
        -(2.0 * self.gradient.dot(step) + step.dot(&(&self.curvature * step)))
    }

    /// The damped step that stays within the bounds.
    fn step(&self, from: &[f64], bounds: &Bounds, damping: f64) -> DVector<f64> {
        let count = from.len();
        let mut step = DVector::zeros(count);
        let leaves = |index: usize| {
            let gradient = self.gradient[index];
            from[index] == bounds.low[index] && gradient >= 0.0
                || from[index] == bounds.high[index] && gradient <= 0.0
        };
        let mut free: Vec<usize> = (0..count).filter(|&index| !leaves(index)).collect();

        while !free.is_empty() {
            self.solve(&free, damping, &mut step);
            let crosses = |&index: &usize| {
                let to = from[index] + step[index];
                to < bounds.low[index] || to > bounds.high[index]
            };
            let (held, rest): (Vec<usize>, Vec<usize>) = free.iter().partition(|i| crosses(i));
            if held.is_empty() {
                break;
            }
            for index in held {
                step[index] = bounds.clamp(index, from[index] + step[index]) - from[index];
            }
            free = rest;
        }
        step
    }

    /// The steps of `free` parameters, where those of the others are given.
    fn solve(&self, free: &[usize], damping: f64, step: &mut DVector<f64>) {
        let size = free.len();
        let is_given = |index: &usize| !free.contains(index);
        let given: Vec<usize> = (0..step.len()).filter(is_given).collect();
        // Parameters in units in which their curvatures are one; those without influence have none, and stay.
        let unit = |index: usize| {
            let curvature = self.curvature[(index, index)];
            if curvature > 0.0 {
                curvature.sqrt().recip()
            } else {
                0.0
            }
        };
        let matrix = DMatrix::from_fn(size, size, |row, column| {
            let (row, column) = (free[row], free[column]);
            match row == column {
                true => 1.0 + damping,
                false => unit(row) * self.curvature[(row, column)] * unit(column),
            }
        });
        let right = DVector::from_fn(size, |row, _| {
            let others = given.iter();
            let fixed: f64 = others
                .map(|&other| self.curvature[(free[row], other)] * step[other])
                .sum();
            -unit(free[row]) * (self.gradient[free[row]] + fixed)
        });

        let solved = match matrix.clone().cholesky() {
            Some(factors) => Some(factors.solve(&right)),
            None => matrix
                .pseudo_inverse(f64::EPSILON)
                .ok()
                .map(|inverse| inverse * right),
        };
        for (row, &index) in free.iter().enumerate() {
            step[index] = solved
                .as_ref()
                .map_or(0.0, |solved| unit(index) * solved[row]);
        }
    }
}

fn at_one(function: &mut dyn Residuals, point: &[f64]) -> Result<DVector<f64>, NoMinimum> {
    let mut found = function.at(&[point.to_vec()])?;
    let residuals = found.pop().expect("BUG: residuals of each point");
    residuals.map_err(|why| NoMinimum::NotComputed(point.to_vec(), why))
}

/// The Jacobian, by central differences where both sides are within the bounds and can be computed.
fn differences(
    function: &mut dyn Residuals,
    point: &[f64],
    here: &DVector<f64>,
    bounds: &Bounds,
) -> Result<DMatrix<f64>, NoMinimum> {
    let mut sides = Vec::new();
    for (index, &value) in point.iter().enumerate() {
        let reach = DIFFERENCE * bounds.scale(index, value);
        for moved in [value - reach, value + reach] {
            let mut side = point.to_vec();
            side[index] = bounds.clamp(index, moved);
            sides.push(side);
        }
    }
    let found = function.at(&sides)?;

    let mut jacobian = DMatrix::zeros(here.len(), point.len());
    for index in 0..point.len() {
        let pair = 2 * index..2 * index + 2;
        let side = |place: usize| (sides[place][index], found[place].as_ref().ok());
        let usable = pair
            .clone()
            .map(side)
            .map(|(value, residuals)| match residuals {
                Some(residuals) => (value, residuals),
                None => (point[index], here),
            });
        let usable: Vec<(f64, &DVector<f64>)> = usable.collect();
        let distance = usable[1].0 - usable[0].0;
        if distance == 0.0 {
            let why = found[pair.start]
                .as_ref()
                .err()
                .cloned()
                .unwrap_or_default();
            return Err(NoMinimum::NotComputed(sides[pair.start].clone(), why));
        }
        let slope = (usable[1].1 - usable[0].1) / distance;
        jacobian.set_column(index, &slope);
    }
    Ok(jacobian)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts how often it is asked.
    struct Function<F>(F, usize);

    impl<F: Fn(&[f64]) -> Evaluated> Residuals for Function<F> {
        fn at(&mut self, points: &[Vec<f64>]) -> Result<Vec<Evaluated>, Interrupted> {
            self.1 += points.len();
            Ok(points.iter().map(|point| (self.0)(point)).collect())
        }
    }

    fn bounds(low: &[f64], high: &[f64]) -> Bounds {
        Bounds {
            low: low.to_vec(),
            high: high.to_vec(),
        }
    }

    fn rosenbrock(point: &[f64]) -> Evaluated {
        Ok(DVector::from_vec(vec![
            10.0 * (point[1] - point[0] * point[0]),
            1.0 - point[0],
        ]))
    }

    #[test]
    fn the_valley_of_rosenbrock_is_followed_to_its_lowest_point() {
        let mut function = Function(rosenbrock, 0);
        let wide = bounds(&[-5.0, -5.0], &[5.0, 5.0]);
        let found = minimize(&mut function, &[-1.2, 1.0], &wide, 100).unwrap();
        assert!(found.converged);
        for value in found.parameters {
            assert!((value - 1.0).abs() < 1e-7, "{value}");
        }
        assert!(function.1 < 200, "{} evaluations", function.1);
    }

    #[test]
    fn a_bound_in_the_way_is_kept_to_the_bit_and_the_rest_is_least_there() {
        let mut function = Function(rosenbrock, 0);
        let tight = bounds(&[-5.0, -5.0], &[0.5, 5.0]);
        let found = minimize(&mut function, &[-1.2, 1.0], &tight, 100).unwrap();
        assert!(found.converged);
        assert_eq!(found.parameters[0], 0.5);
        assert!(
            (found.parameters[1] - 0.25).abs() < 1e-7,
            "{:?}",
            found.parameters
        );
    }

    #[test]
    fn where_nothing_can_be_computed_nobody_goes() {
        let walled = |point: &[f64]| match point[0] < 2.0 {
            true => Ok(DVector::from_vec(vec![point[0] - 1.9, 1.0])),
            false => Err("a wall".to_owned()),
        };
        let wide = bounds(&[0.0], &[100.0]);
        let mut function = Function(walled, 0);
        let found = minimize(&mut function, &[0.1], &wide, 100).unwrap();
        assert!((found.parameters[0] - 1.9).abs() < 1e-6);
        let refused = minimize(&mut function, &[3.0], &wide, 100).unwrap_err();
        assert_eq!(refused, NoMinimum::NotComputed(vec![3.0], "a wall".into()));
    }

    #[test]
    fn a_parameter_without_influence_stays_where_it_is() {
        let line = |point: &[f64]| {
            Ok(DVector::from_vec(vec![
                point[0] - 3.0,
                2.0 * point[0] - 6.5,
            ]))
        };
        let wide = bounds(&[0.0, 0.0], &[10.0, 10.0]);
        let found = minimize(&mut Function(line, 0), &[1.0, 4.0], &wide, 100).unwrap();
        assert!(found.converged && found.parameters[1] == 4.0);
        assert!((found.parameters[0] - 3.2).abs() < 1e-8);
    }
}

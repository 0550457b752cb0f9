//! How certain fitted parameters are: covariance, standard errors, confidence intervals, and what the data do not determine.
//!
//! G. A. F. Seber, C. J. Wild: Nonlinear Regression (1989), section 2.1: the covariance s² (JᵀJ)⁻¹ at the minimum, with as many
//! degrees of freedom as there are more values than parameters.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

use super::student::two_sided_quantile;

/// The probability of confidence intervals.
pub const CONFIDENCE: f64 = 0.95;
/// A parameter that changes residuals by less than this, in units of what was measured, over its whole range, has no influence.
const LEAST_INFLUENCE: f64 = 1e-7;
/// Directions in which normalized curvatures are less than this are not determined: differences of runs are not better.
const LEAST_CURVATURE: f64 = 1e-10;
/// Parameters that take part in such a direction by more than this.
const PART: f64 = 0.05;

/// A parameter at the minimum.
#[derive(Clone, Debug)]
pub(crate) struct Estimated {
    pub name: String,
    pub value: f64,
    pub range: (f64, f64),
}

impl Estimated {
    fn is_at_bound(&self) -> bool {
        self.value == self.range.0 || self.value == self.range.1
    }
}

/// What is known of all parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Certainty {
    /// For each parameter its row; none in rows and columns of parameters of which nothing is known.
    pub covariance: Vec<Vec<Option<f64>>>,
    /// The half-widths of the confidence intervals, where there are some.
    pub half_widths: Vec<Option<f64>>,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// The certainty of parameters, where residuals have this Jacobian.
pub(crate) fn certainty(
    parameters: &[Estimated],
    residuals: &DVector<f64>,
    jacobian: &DMatrix<f64>,
) -> Certainty {
    let count = parameters.len();
    let mut notes = Vec::new();
    let free = free_parameters(parameters, jacobian, &mut notes);
    let mut known = Certainty {
        covariance: vec![vec![None; count]; count],
        half_widths: vec![None; count],
        notes: Vec::new(),
    };

    let freedom = residuals.len().saturating_sub(free.len());
    if freedom == 0 {
        notes.push("there are as many parameters as measured values: nothing is left from which certainty follows".into());
    } else if !free.is_empty() {
        let variance = residuals.norm_squared() / freedom as f64;
        let curvature = Curvature::of(&free, jacobian);
        let determined = curvature.determined(parameters, &mut notes);
        curvature.invert_into(&mut known.covariance, &determined, variance);
        let quantile = two_sided_quantile(CONFIDENCE, freedom);
        for index in 0..count {
            let variance = known.covariance[index][index];
            known.half_widths[index] = variance.map(|variance| quantile * variance.sqrt());
        }
        note_wide(parameters, &known.half_widths, &mut notes);
    }

    known.notes = notes;
    known
}

/// Those that are within their bounds and have some influence.
fn free_parameters(
    parameters: &[Estimated],
    jacobian: &DMatrix<f64>,
    notes: &mut Vec<String>,
) -> Vec<usize> {
    let mut free = Vec::new();
    let values = jacobian.nrows() as f64;
    for (index, parameter) in parameters.iter().enumerate() {
        let Estimated { name, value, range } = parameter;
        let width = range.1 - range.0;
        let influence = jacobian.column(index).norm() / values.sqrt() * width;
        if influence < LEAST_INFLUENCE {
            notes.push(format!(
                "`{name}` is not identifiable: it has no influence on what was measured"
            ));
        } else if parameter.is_at_bound() {
            notes.push(format!(
                "`{name}` is at its bound {value}: a better value may be beyond it, and its own certainty is not known"
            ));
        } else {
            free.push(index);
        }
    }
    free
}

/// JᵀJ of the free parameters, in units in which its diagonal is one.
struct Curvature<'a> {
    free: &'a [usize],
    units: Vec<f64>,
    directions: SymmetricEigen<f64, nalgebra::Dyn>,
}

impl<'a> Curvature<'a> {
    fn of(free: &'a [usize], jacobian: &DMatrix<f64>) -> Self {
        let units: Vec<f64> = free
            .iter()
            .map(|&index| jacobian.column(index).norm())
            .collect();
        let size = free.len();
        let matrix = DMatrix::from_fn(size, size, |row, column| {
            let product = jacobian
                .column(free[row])
                .dot(&jacobian.column(free[column]));
            product / (units[row] * units[column])
        });

        Self {
            free,
            units,
            directions: SymmetricEigen::new(matrix),
        }
    }

    /// Whether a direction is determined.
    fn is_sharp(&self, direction: usize) -> bool {
        self.directions.eigenvalues[direction] > LEAST_CURVATURE
    }

    /// Whether each free parameter is; of those that are not it is said.
    fn determined(&self, parameters: &[Estimated], notes: &mut Vec<String>) -> Vec<bool> {
        let mut determined = vec![true; self.free.len()];
        for direction in (0..self.free.len()).filter(|&d| !self.is_sharp(d)) {
            let parts = self.directions.eigenvectors.column(direction);
            let concerned = (0..self.free.len()).filter(|&row| parts[row].abs() > PART);
            let concerned: Vec<usize> = concerned.collect();
            let names = concerned
                .iter()
                .map(|&row| parameters[self.free[row]].name.clone());
            let names = dovetail_core::list_names(&names.collect::<Vec<String>>());
            notes.push(format!(
                "{names} are not identifiable: the data determine no more than a combination of them"
            ));
            concerned.iter().for_each(|&row| determined[row] = false);
        }
        determined
    }

    /// The covariance of the parameters that are determined.
    fn invert_into(&self, covariance: &mut [Vec<Option<f64>>], determined: &[bool], variance: f64) {
        let sharp: Vec<usize> = (0..self.free.len()).filter(|&d| self.is_sharp(d)).collect();
        let vectors = &self.directions.eigenvectors;
        let entry = |row: usize, column: usize| {
            let terms = sharp.iter();
            let inverse: f64 = terms
                .map(|&d| vectors[(row, d)] * vectors[(column, d)] / self.directions.eigenvalues[d])
                .sum();
            variance * inverse / (self.units[row] * self.units[column])
        };
        for row in (0..self.free.len()).filter(|&row| determined[row]) {
            for column in (0..self.free.len()).filter(|&column| determined[column]) {
                covariance[self.free[row]][self.free[column]] = Some(entry(row, column));
            }
        }
    }
}

/// Names parameters of which the data say hardly more than their bounds.
fn note_wide(parameters: &[Estimated], half_widths: &[Option<f64>], notes: &mut Vec<String>) {
    for (parameter, half_width) in parameters.iter().zip(half_widths) {
        let Estimated { name, value, range } = parameter;
        let wide = |half: &f64| value - half < range.0 && value + half > range.1;
        if half_width.as_ref().is_some_and(wide) {
            notes.push(format!(
                "the data hardly determine `{name}`: its confidence interval is wider than its bounds"
            ));
        }
    }
}

/// The correlation of parameters, where the covariance is known.
pub(crate) fn correlation(covariance: &[Vec<Option<f64>>]) -> Vec<Vec<Option<f64>>> {
    let deviation = |index: usize| covariance[index][index].map(f64::sqrt);
    let entry = |row: usize, column: usize| {
        let product = deviation(row)? * deviation(column)?;
        match (row == column, product > 0.0) {
            (true, _) => Some(1.0),
            (false, true) => Some((covariance[row][column]? / product).clamp(-1.0, 1.0)),
            // Nothing is uncertain.
            (false, false) => Some(0.0),
        }
    };
    let row = |row: usize| {
        (0..covariance.len())
            .map(|column| entry(row, column))
            .collect()
    };
    (0..covariance.len()).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(values: &[f64]) -> Vec<Estimated> {
        let named = values.iter().enumerate();
        let named = named.map(|(index, &value)| Estimated {
            name: format!("p{index}"),
            value,
            range: (0.0, 10.0),
        });
        named.collect()
    }

    #[test]
    fn a_straight_line_has_the_textbook_covariance() {
        // y = a + b x at x = 0, 1, 2, 3.
        let jacobian = DMatrix::from_fn(4, 2, |row, column| (row as f64).powi(column as i32));
        let residuals = DVector::from_vec(vec![0.1, -0.2, 0.1, 0.0]);
        let found = certainty(&parameters(&[1.0, 2.0]), &residuals, &jacobian);
        let variance = 0.06 / 2.0;
        // (JᵀJ)⁻¹ with Σ1 = 4, Σx = 6, Σx² = 14.
        let known = [[14.0, -6.0], [-6.0, 4.0]].map(|row| row.map(|entry| variance * entry / 20.0));
        for (row, known) in found.covariance.iter().zip(known) {
            for (entry, known) in row.iter().zip(known) {
                assert!((entry.unwrap() - known).abs() < 1e-12);
            }
        }
        let half_width = 4.302_652_729_749_46 * known[1][1].sqrt();
        assert!((found.half_widths[1].unwrap() - half_width).abs() < 1e-9);
        let related = correlation(&found.covariance);
        assert!((related[0][1].unwrap() + 6.0 / 56.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!(related[1][1], Some(1.0));
        assert!(found.notes.is_empty());
    }

    #[test]
    fn what_is_not_determined_is_said_by_name_and_the_rest_is_as_without_it() {
        // p0 and p1 count as their sum only; p3 does nothing; p4 is at its bound.
        let jacobian = DMatrix::from_fn(6, 5, |row, column| match column {
            0 => row as f64,
            1 => 2.0 * row as f64,
            2 => 1.0 + (row * row) as f64,
            3 => 0.0,
            _ => 1.0 / (1.0 + row as f64),
        });
        let residuals = DVector::from_fn(6, |row, _| 0.1 * (-1.0_f64).powi(row as i32));
        let all = parameters(&[1.0, 2.0, 3.0, 4.0, 10.0]);
        let found = certainty(&all, &residuals, &jacobian);
        let words = [
            "`p3` is not identifiable",
            "`p4` is at its bound 10",
            "`p0` and `p1` are not identifiable",
        ];
        for word in words {
            assert!(
                found.notes.iter().any(|note| note.contains(word)),
                "{word}: {:?}",
                found.notes
            );
        }
        let known: Vec<bool> = found.half_widths.iter().map(Option::is_some).collect();
        assert_eq!(known, [false, false, true, false, false]);
        assert_eq!(found.covariance[0][2], None);
    }

    #[test]
    fn a_wide_interval_is_said() {
        let jacobian = DMatrix::from_element(3, 1, 0.01);
        let residuals = DVector::from_vec(vec![1.0, -1.0, 0.5]);
        let found = certainty(&parameters(&[5.0]), &residuals, &jacobian);
        assert!(
            found.notes[0].contains("hardly determine `p0`"),
            "{:?}",
            found.notes
        );
        let exact = certainty(
            &parameters(&[5.0]),
            &DVector::zeros(1),
            &DMatrix::from_element(1, 1, 1.0),
        );
        assert!(exact.notes[0].contains("as many parameters") && exact.half_widths[0].is_none());
    }
}

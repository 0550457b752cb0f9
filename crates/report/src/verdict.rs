//! Whether a result can be used.

use std::io;

use dovetail_core::{Archive, Checkpoint, Error, Need, Notice, Remedy, visit_fields};

use crate::number::significant;
use crate::sink::{RowSummary, Sink};

/// What a run is worth, by the evidence there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// The error is at most ten times the tolerance, or a thousandth of the range of each variable.
    Good,
    /// It is at most a twentieth of the range.
    Doubtful,
    /// It is larger, or the run has diverged.
    Unusable,
    /// There is no evidence.
    #[default]
    Unknown,
}

impl Verdict {
    /// As users read it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Doubtful => "doubtful",
            Self::Unusable => "unusable",
            Self::Unknown => "unknown",
        }
    }
}

/// An error of this part of a range is small enough, whatever the tolerance.
const SMALL: f64 = 1e-3;
/// And ten times the tolerance is.
const TOLERANCES: f64 = 10.0;
/// Beyond this part of a range nothing can be done with a result.
const LARGEST: f64 = 0.05;
/// A run in which something has grown by this factor since its first third, and is wrong by so much
/// of that, has diverged.
const GROWN: f64 = 100.0;
const WRONG: f64 = 0.2;

/// How an error is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorSource {
    /// The method estimates it.
    Estimated,
    /// It follows from by how much inputs differ from the outputs that feed them.
    Interfaces,
    /// The run was repeated with shorter steps or a smaller tolerance.
    Verified,
}

/// The error of one variable, as a part of its range.
#[derive(Clone, Debug, PartialEq)]
pub struct VariableError {
    /// `system.name`.
    pub name: String,
    /// The largest error, as a part of the range.
    pub share: f64,
    /// The root of the mean square, as a part of the range; the largest where that is all that is
    /// known.
    pub mean: f64,
    /// By what factor it has grown since the first third of the run.
    pub grown: f64,
}

/// What weakens the evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Caveat {
    /// Nothing.
    #[default]
    None,
    /// Something switches in this system at times that nobody knows ahead, and no estimate shows
    /// what becomes of that.
    Switches(String),
    /// This variable has grown beyond all measure: errors that have grown with it look small beside
    /// it.
    Grows(String),
    /// The equations of this system have corners, where no estimate knows by how much a step rounds
    /// them.
    Corners(String),
    /// Steps are far longer than the fastest parts of the systems take.
    Coarse,
}

/// The verdict on a run whose variables have these errors, known in this way; and why. The flag
/// says that it has diverged.
pub fn judge(
    errors: &[VariableError],
    source: ErrorSource,
    caveat: &Caveat,
    tolerance: Option<f64>,
) -> (Verdict, Notice, bool) {
    let shares = |one: &&VariableError, other: &&VariableError| one.share.total_cmp(&other.share);
    let Some(worst) = errors.iter().max_by(shares) else {
        let reason = "nothing was computed that could be judged";
        return (Verdict::Unknown, reason.into(), false);
    };

    if let Some(diverged) = errors.iter().find(|error| error.has_diverged()) {
        let reason = format!("`{}` grows, and most of that is error", diverged.name);
        let remedies = [Remedy::SmallerStep, Remedy::AnotherMethod];
        return (Verdict::Unusable, Notice::from(reason).with(remedies), true);
    }

    let is_small = worst.share <= allowed_share(tolerance);
    let verdict = if is_small && caveat.leaves_small_errors_credible() {
        Verdict::Good
    } else if is_bearable(errors, worst) || caveat.makes_errors_rough() {
        Verdict::Doubtful
    } else {
        Verdict::Unusable
    };
    (verdict, reason(worst, source, caveat, is_small), false)
}

/// A variable that moves by less than this part of its value is at rest: that is rounding.
const ROUNDING: f64 = 1e-13;

/// The part of its range by which a variable may be wrong in a good result.
fn allowed_share(tolerance: Option<f64>) -> f64 {
    tolerance.map_or(SMALL, |tolerance| SMALL.max(TOLERANCES * tolerance))
}

/// Whether something can be done with the result. An error that is large for a moment only does not
/// make it unusable.
fn is_bearable(errors: &[VariableError], worst: &VariableError) -> bool {
    let lasting = errors.iter().map(|error| error.mean).fold(0.0, f64::max);
    worst.share <= LARGEST || lasting <= LARGEST
}

fn reason(worst: &VariableError, source: ErrorSource, caveat: &Caveat, is_small: bool) -> Notice {
    let error = source.description();
    let share = significant(100.0 * worst.share, 2);
    let but = caveat.clause(is_small);
    let doubt = !but.is_empty();
    let text = format!(
        "{error} of `{}` is {share} % of its range at most{but}",
        worst.name
    );

    Notice::from(text).with(doubt.then_some(Remedy::Verify))
}

impl VariableError {
    fn has_diverged(&self) -> bool {
        !self.share.is_finite() || self.share > WRONG && self.grown > GROWN
    }
}

impl ErrorSource {
    fn description(self) -> &'static str {
        match self {
            Self::Estimated => "the estimated error",
            Self::Interfaces => "by what its interfaces left open, the error",
            Self::Verified => "the verified error",
        }
    }
}

impl Caveat {
    fn leaves_small_errors_credible(&self) -> bool {
        matches!(self, Self::None | Self::Coarse | Self::Corners(_))
    }

    fn makes_errors_rough(&self) -> bool {
        matches!(self, Self::Coarse | Self::Corners(_))
    }

    /// The end of a sentence about the error; nothing where a small error says enough.
    fn clause(&self, is_small: bool) -> String {
        match self {
            Self::None => String::new(),
            Self::Grows(variable) => format!(
                ", but `{variable}` has grown by a factor of over 1e8 since the first third of the \
                 run; is that meant?"
            ),
            Self::Switches(system) => format!(
                ", but `{system}` has conditions on more than time, and when they change is not in \
                 that"
            ),
            Self::Coarse | Self::Corners(_) if is_small => String::new(),
            Self::Coarse => {
                ", but steps are far longer than the fastest parts take, and that is a \
                             rough guess"
                    .to_owned()
            }
            Self::Corners(system) => {
                format!(", but `{system}` has corners, which no estimate takes well")
            }
        }
    }
}

/// Takes in where the variables of a run have been.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VariableRanges {
    /// The end of the first third of the run.
    third: f64,
    low: Vec<f64>,
    high: Vec<f64>,
    /// The largest magnitude of each in the first third.
    early: Vec<f64>,
}

impl VariableRanges {
    /// Nothing yet of a run from `start` to `stop`.
    pub fn new(start: f64, stop: f64) -> Self {
        Self {
            third: start + (stop - start) / 3.0,
            ..Self::default()
        }
    }

    fn widen(&mut self, column: usize, value: f64) {
        self.low[column] = self.low[column].min(value);
        self.high[column] = self.high[column].max(value);
    }

    /// How far the variable in a column has moved; zero where that is no more than rounding.
    pub fn range(&self, column: usize) -> f64 {
        let range = self.high[column] - self.low[column];
        let rounding = ROUNDING * self.high[column].abs().max(self.low[column].abs());
        if range > rounding { range } else { 0.0 }
    }

    /// By what factor it has grown since the first third of the run.
    pub fn growth(&self, column: usize) -> f64 {
        let most = self.high[column].abs().max(self.low[column].abs());
        if self.early[column] > 0.0 {
            most / self.early[column]
        } else {
            1.0
        }
    }
}

/// Where the first third of the run ends follows from its span.
impl Checkpoint for VariableRanges {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive, self.low, self.high, self.early);
        Ok(())
    }
}

impl Sink for VariableRanges {
    fn need(&self) -> Need {
        Need::Rows
    }

    /// Not where the first third of the run ends among them.
    fn sums_up(&self, first: f64, last: f64) -> bool {
        !self.low.is_empty() && (last <= self.third || first > self.third)
    }

    fn summary(&mut self, rows: RowSummary<'_>) -> io::Result<()> {
        let is_early = rows.last <= self.third;
        for (column, (&low, &high)) in rows.low.iter().zip(rows.high).enumerate() {
            self.widen(column, low);
            self.widen(column, high);
            if is_early {
                let most = low.abs().max(high.abs());
                self.early[column] = self.early[column].max(most);
            }
        }
        Ok(())
    }

    fn row(&mut self, time: f64, values: &[f64]) -> io::Result<()> {
        if self.low.is_empty() {
            self.low = values.to_vec();
            self.high = values.to_vec();
            self.early = vec![0.0; values.len()];
        }

        for (column, &value) in values.iter().enumerate() {
            self.widen(column, value);
            if time <= self.third {
                self.early[column] = self.early[column].max(value.abs());
            }
        }
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(share: f64, tolerance: Option<f64>) -> Verdict {
        let all = [VariableError {
            name: "s.x".into(),
            share,
            mean: share,
            grown: 1.0,
        }];
        judge(&all, ErrorSource::Estimated, &Caveat::None, tolerance).0
    }

    #[test]
    fn the_limits_are_ten_tolerances_a_thousandth_and_a_twentieth() {
        assert_eq!(verdict(9e-4, None), Verdict::Good);
        assert_eq!(verdict(9e-4, Some(1e-8)), Verdict::Good);
        assert_eq!(verdict(9e-3, Some(1e-3)), Verdict::Good);
        assert_eq!(verdict(2e-3, Some(1e-6)), Verdict::Doubtful);
        assert_eq!(verdict(0.06, Some(1e-6)), Verdict::Unusable);
        assert_eq!(verdict(f64::NAN, None), Verdict::Unusable);
        assert_eq!(
            judge(&[], ErrorSource::Estimated, &Caveat::None, None).0,
            Verdict::Unknown
        );
    }

    #[test]
    fn what_weakens_the_evidence_makes_a_result_doubtful() {
        let judged = |share: f64, mean: f64, caveat: &Caveat| {
            let all = [VariableError {
                name: "s.x".into(),
                share,
                mean,
                grown: 1.0,
            }];
            judge(&all, ErrorSource::Interfaces, caveat, None)
        };
        let switches = Caveat::Switches("relay".into());
        assert_eq!(judged(1e-4, 1e-4, &switches).0, Verdict::Doubtful);
        assert!(
            judged(1e-4, 1e-4, &switches)
                .1
                .text
                .contains("`relay` has conditions")
        );
        assert_eq!(judged(0.2, 0.2, &switches).0, Verdict::Unusable);
        assert_eq!(judged(1e-4, 1e-4, &Caveat::Coarse).0, Verdict::Good);
        assert_eq!(judged(0.2, 0.2, &Caveat::Coarse).0, Verdict::Doubtful);
        assert_eq!(
            judged(0.2, 0.01, &Caveat::None).0,
            Verdict::Doubtful,
            "for a moment only"
        );
    }

    #[test]
    fn growth_that_is_error_is_a_divergence_and_growth_that_is_not_is_none() {
        let grown = |share: f64| {
            [VariableError {
                name: "s.x".into(),
                share,
                mean: share,
                grown: 1e6,
            }]
        };
        assert!(judge(&grown(0.5), ErrorSource::Interfaces, &Caveat::None, None).2);
        assert!(!judge(&grown(1e-4), ErrorSource::Interfaces, &Caveat::None, None).2);
    }

    #[test]
    fn a_summary_says_what_its_rows_say() {
        let rows = [(0.0, 1.0), (0.5, -2.0), (0.8, 3.0), (1.5, 9.0)];
        let (mut each, mut summed) = (VariableRanges::new(0.0, 3.0), VariableRanges::new(0.0, 3.0));
        rows.iter()
            .for_each(|(time, value)| each.row(*time, &[*value]).unwrap());
        assert!(!summed.sums_up(0.0, 0.5), "nothing to widen yet");
        summed.row(0.0, &[1.0]).unwrap();
        assert!(
            !summed.sums_up(0.5, 1.5),
            "across the end of the first third"
        );
        for (last, low, high) in [(0.8, [-2.0], [3.0]), (1.5, [9.0], [9.0])] {
            let (low, high) = (&low, &high);
            assert!(summed.sums_up(last, last));
            summed.summary(RowSummary { last, low, high }).unwrap();
        }
        assert_eq!(each, summed);
    }

    #[test]
    fn an_extent_knows_range_and_growth() {
        let mut extent = VariableRanges::new(0.0, 3.0);
        for (time, value) in [(0.0, 1.0), (1.0, -2.0), (2.0, 3.0), (3.0, -400.0)] {
            extent.row(time, &[value]).unwrap();
        }
        assert_eq!((extent.range(0), extent.growth(0)), (403.0, 200.0));
    }
}

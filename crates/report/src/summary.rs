//! What there is to say about a run.

use dovetail_core::{EstimatedError, Interface, Kept, Notice, Refused, Statistics, Work};

use crate::errors::ErrorMeasures;
use crate::variables::{Kind, Selection};
use crate::verdict::Verdict;

/// A run in figures, for machines ([`RunSummary::to_json`]) and people ([`RunSummary::to_text`]).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunSummary {
    /// The name of the model.
    pub model: String,
    /// The coupling method.
    pub method: String,
    /// Why it was chosen, where the engine chose it.
    pub reason: Option<String>,
    /// Where the systems ran and why, where the engine chose that.
    pub workers: Option<String>,
    /// The macro-step, where it is fixed.
    pub step: Option<f64>,
    /// Where the run began.
    pub start: f64,
    /// Where it was to end.
    pub stop: f64,
    /// The time that all systems have reached.
    pub reached: f64,
    /// Whether that is where it was to end.
    pub completed: bool,
    /// Why it ended early.
    pub message: Option<Notice>,
    /// Accepted steps.
    pub steps: u64,
    /// Rejected steps.
    pub rejected: u64,
    /// Iterations of the method's solver.
    pub iterations: u64,
    /// The work of each system.
    pub systems: Vec<SystemWork>,
    /// How long the run took.
    pub wall_seconds: f64,
    /// How well it kept pace with the clock, where it was to.
    pub real_time: Option<PaceReport>,
    /// All variables at the time reached.
    pub final_values: Vec<FinalValue>,
    /// How good the result is, as far as is known without a reference.
    pub quality: Quality,
    /// How far the result is from a reference, where there is one.
    pub comparison: Option<Comparison>,
    /// The options that differ from run to run of a comparison, with their values in this one.
    pub varied: Vec<(String, String)>,
}

/// How well a run has kept pace with the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PaceReport {
    /// Simulated seconds for each second of the clock.
    pub factor: f64,
    /// Steps that were to end at their time.
    pub steps: u64,
    /// Those that ended more than a millisecond later.
    pub late: u64,
    /// By how many seconds of the clock at most.
    pub worst_lateness: f64,
    /// The simulated time at which that was.
    pub worst_time: f64,
}

impl PaceReport {
    /// The share of steps that were late.
    pub fn late_share(&self) -> f64 {
        self.late as f64 / self.steps.max(1) as f64
    }
}

/// What a system did in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SystemWork {
    /// The system.
    pub name: String,
    /// Integrations over a macro-step, taken or tried.
    pub integrations: u64,
    /// Trials among them.
    pub trials: u64,
    /// Linearizations.
    pub linearizations: u64,
    /// Time spent in it.
    pub seconds: f64,
    /// Where that time went, for an FMU.
    pub fmi: Option<FmiCosts>,
}

/// Where the time of an FMU goes, in seconds. Light calls are timed in samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FmiCosts {
    /// Stepping: `doStep`, or derivatives and events of Model Exchange.
    pub step: f64,
    /// Getting and setting values.
    pub values: f64,
    /// Saving and restoring states.
    pub state: f64,
}

/// A variable at the end of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct FinalValue {
    /// `system.name`.
    pub name: String,
    /// What it is to its system.
    pub kind: Kind,
    /// Its value.
    pub value: f64,
    /// Its unit, where the model gives one.
    pub unit: Option<String>,
}

/// Signs of how good a result is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quality {
    /// What the result is worth, and why.
    pub verdict: Verdict,
    /// In a sentence.
    pub verdict_reason: Notice,
    /// Whether the run has diverged.
    pub diverged: bool,
    /// The largest coupling residual.
    pub residual: f64,
    /// The input at which it was.
    pub residual_variable: Option<String>,
    /// What nearly all residuals of an input are below, relative to the range of what feeds it; of
    /// the input where that is largest.
    pub usual_residual: Option<(f64, String)>,
    /// The global error of each variable as the method estimates it, where it does.
    pub estimated_error: Option<Vec<(String, EstimatedError)>>,
    /// The same as found by running again, where that was asked for.
    pub verified_error: Option<Vec<(String, EstimatedError)>>,
    /// The roots of the mean squares of the verified errors, in the same order.
    pub verified_means: Vec<f64>,
    /// The largest local error of an input, relative to its range, where the method knows that.
    pub interface_error: Option<f64>,
    /// For each output that the method predicts: the largest distance from what was then
    /// integrated.
    pub discrepancy: Vec<(String, f64)>,
    /// What could be kept from step to step, where the method has something to keep.
    pub kept: Option<Kept>,
    /// Steps that were given up before and after they were integrated, where the method tells them
    /// apart.
    pub refused: Option<Refused>,
    /// The shortest and the longest step, where the method chose them.
    pub step_sizes: Option<(f64, f64)>,
    /// What the user should know: substitutes, reduced degrees, shortened steps.
    pub warnings: Vec<Notice>,
    /// What may interest the user: which variable was the last to converge, say.
    pub remarks: Vec<String>,
    /// What the method has to say to those who know it.
    pub details: Vec<String>,
}

/// The distance of a run from a reference.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// For each variable compared.
    pub error: Vec<(String, ErrorMeasures)>,
    /// The measured order of convergence, for variables that show one.
    pub order: Vec<(String, f64)>,
}

impl Comparison {
    /// The errors of `variable`.
    pub fn error_of(&self, variable: &str) -> Option<ErrorMeasures> {
        entry(&self.error, variable)
    }

    /// The measured order of `variable`.
    pub fn order_of(&self, variable: &str) -> Option<f64> {
        entry(&self.order, variable)
    }
}

/// The entry of `variable`.
fn entry<T: Copy>(entries: &[(String, T)], variable: &str) -> Option<T> {
    let found = entries.iter().find(|(name, _)| name == variable);
    found.map(|(_, entry)| *entry)
}

impl FinalValue {
    /// Its unit; empty where there is none.
    pub(crate) fn unit_text(&self) -> String {
        self.unit.clone().unwrap_or_default()
    }

    /// The values of the selected variables, from a row that was recorded for them.
    pub fn of(selection: &Selection, row: &[f64]) -> Vec<Self> {
        let variables = selection.variables().iter().zip(row);
        let values = variables.map(|(variable, &value)| Self {
            name: variable.name.clone(),
            kind: variable.kind,
            value,
            unit: variable.unit.clone(),
        });
        values.collect()
    }
}

impl SystemWork {
    /// The work of all systems, with their names.
    pub fn of(interfaces: &[Interface], work: &[Work], fmi: &[Option<FmiCosts>]) -> Vec<Self> {
        let systems = interfaces.iter().zip(work).enumerate();
        let named = systems.map(|(system, (interface, work))| Self {
            name: interface.name.clone(),
            integrations: work.integrations,
            trials: work.trials,
            linearizations: work.linearizations,
            seconds: work.seconds,
            fmi: fmi.get(system).copied().flatten(),
        });
        named.collect()
    }
}

impl RunSummary {
    /// Takes over the counts of the time loop.
    pub fn with_statistics(mut self, statistics: Statistics) -> Self {
        self.steps = statistics.steps;
        self.rejected = statistics.rejected;
        self.iterations = statistics.iterations;
        self
    }

    /// Keeps the final values of these variables only.
    pub fn restrict_final_values(&mut self, names: &[String]) {
        self.final_values.retain(|last| names.contains(&last.name));
    }

    /// Integrations of all systems.
    pub fn integrations(&self) -> u64 {
        self.systems.iter().map(|system| system.integrations).sum()
    }

    /// Trials of all systems.
    pub fn trials(&self) -> u64 {
        self.systems.iter().map(|system| system.trials).sum()
    }

    /// Linearizations of all systems.
    pub fn linearizations(&self) -> u64 {
        self.systems
            .iter()
            .map(|system| system.linearizations)
            .sum()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::errors::measure;
    use crate::recorder::tests::spring_and_mass;
    use crate::variables::Variables;

    /// A run of the spring and the mass, made up.
    pub(crate) fn example() -> RunSummary {
        let connections = spring_and_mass();
        let work = [
            Work {
                integrations: 500,
                trials: 0,
                linearizations: 1,
                seconds: 0.0045,
            },
            Work {
                integrations: 12500,
                trials: 12000,
                linearizations: 1,
                seconds: 0.0015,
            },
        ];
        let row = [0.25, 1e-9, -2.5, -2.5, 1.0 / 3.0, 0.25];
        RunSummary {
            model: "spring and mass".into(),
            method: "predictive".into(),
            reason: Some("all systems support linearization".into()),
            step: Some(0.02),
            start: 0.0,
            stop: 10.0,
            reached: 10.0,
            completed: true,
            systems: SystemWork::of(connections.interfaces(), &work, &[]),
            wall_seconds: 0.00712,
            final_values: FinalValue::of(&Variables::of(&connections).everything(), &row),
            quality: Quality {
                verdict: Verdict::Good,
                verdict_reason: "the estimated error of `mass.x` is 3.2e-6 % of its range at most"
                    .into(),
                diverged: false,
                residual: 1.25e-9,
                residual_variable: Some("mass.F".into()),
                usual_residual: None,
                verified_means: Vec::new(),
                estimated_error: Some(vec![(
                    "mass.x".into(),
                    EstimatedError {
                        end: 1e-8,
                        max: 3.25e-8,
                    },
                )]),
                verified_error: None,
                interface_error: None,
                step_sizes: None,
                warnings: vec!["`spring` takes its inputs as cubics, not quintics".into()],
                remarks: vec![],
                details: vec![],
                discrepancy: vec![("spring.F".into(), 2.5e-7), ("mass.x".into(), 1e-9)],
                kept: Some(Kept {
                    linearizations: 996,
                    factorizations: 498,
                }),
                refused: Some(Refused {
                    before: 2,
                    after: 0,
                }),
            },
            ..RunSummary::default()
        }
        .with_statistics(Statistics {
            steps: 500,
            rejected: 2,
            iterations: 510,
        })
    }

    /// The same with errors.
    pub(crate) fn compared(method: &str, step: f64, error: f64, order: Option<f64>) -> RunSummary {
        let measures = measure(&[0.0, 1.0], &[0.0, 1.0 + error], &[0.0, 1.0]);
        let names = ["spring.F", "mass.x"];
        let comparison = Comparison {
            error: names
                .iter()
                .map(|name| (name.to_string(), measures))
                .collect(),
            order: names
                .iter()
                .filter_map(|name| Some((name.to_string(), order?)))
                .collect(),
        };
        RunSummary {
            method: method.into(),
            step: Some(step),
            comparison: Some(comparison),
            ..example()
        }
    }

    #[test]
    fn totals_are_over_all_systems() {
        let run = example();
        assert_eq!(
            (run.integrations(), run.trials(), run.linearizations()),
            (13000, 12000, 2)
        );
    }

    #[test]
    fn errors_and_orders_are_found_by_name() {
        let comparison = compared("jacobi", 0.1, 0.5, Some(1.0)).comparison.unwrap();
        assert_eq!(comparison.error_of("mass.x").unwrap().max, 0.5);
        assert_eq!(comparison.order_of("mass.x"), Some(1.0));
        assert_eq!(comparison.order_of("mass.y"), None);
    }
}

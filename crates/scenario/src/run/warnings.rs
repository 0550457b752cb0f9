//! What the user should know of a run.

use dovetail_core::{Capabilities, Notice, Remedy};
use dovetail_fmi::{Message, Notes, changes_in_words};
use dovetail_methods::{COMMON, Limits, MethodKind, TOLERANCE};

use crate::options::RunOptions;
use crate::scenario::Scenario;
use crate::source::part::Part;

/// So many different messages of an FMU are shown.
const MOST_MESSAGES: usize = 5;

/// What happened inside FMUs.
#[derive(Default)]
pub(crate) struct InsideFmus {
    pub warnings: Vec<Notice>,
    pub remarks: Vec<String>,
}

impl InsideFmus {
    fn add_counts(&mut self, name: &str, notes: &Notes) {
        let Notes {
            discarded,
            events,
            odd_times,
            unlike_repeats,
            ..
        } = notes;
        if *discarded > 0 {
            let text = format!(
                "`{name}` discarded {discarded} steps, which were then taken in smaller parts"
            );
            self.warnings.push(text.into());
        }

        if *odd_times > 0 {
            let text = format!(
                "`{name}` said that steps did not end early, and gave other times than their ends; \
                 the ends were believed"
            );
            self.warnings.push(text.into());
        }

        if *unlike_repeats > 0 {
            let text = format!(
                "`{name}` was set back to a saved state to repeat steps, and answered otherwise than before; its state is not all \
                 that it saves"
            );
            self.warnings.push(text.into());
        }

        if *events > 0 {
            let text = format!("`{name}` had {events} events within steps");
            self.remarks.push(text);
        }
    }

    /// Values travel as floating-point numbers, which have not all whole numbers of 64 bits.
    fn add_rounded(&mut self, part: &Part, notes: &Notes) {
        let variables = part
            .source
            .fmu()
            .map(|fmu| &fmu.fmu().description().variables);
        let named = notes.rounded.zip(variables).and_then(|(reference, all)| {
            all.iter().find(|variable| variable.reference == reference)
        });
        if let Some(variable) = named {
            let text = format!(
                "`{}.{}` had whole numbers beyond 9007199254740992 (2^53), which were rounded to multiples of 2 or more on their way",
                part.name(),
                variable.name
            );
            self.warnings.push(text.into());
        }
    }

    /// What an FMU did beside its work.
    fn add_conduct(&mut self, name: &str, notes: &Notes) {
        if let Some(changed) = changes_in_words(notes.changed) {
            let text = format!("`{name}` changed {changed}, which was put back after its calls");
            self.warnings.push(text.into());
        }

        let odd = notes.odd_library.iter().chain(&notes.bad_log);
        for oddity in odd {
            self.warnings.push(format!("`{name}`: {oddity}").into());
        }

        if let Some(bad) = &notes.bad_end {
            let text = format!("`{name}` failed when it was ended, after the run: {bad}");
            self.warnings.push(text.into());
        }
    }

    fn add_messages(&mut self, name: &str, notes: &Notes) {
        let messages = notes.messages.iter();
        let mut messages = messages.filter(|m| m.status > 0 && !m.text.is_empty());

        for message in messages.by_ref().take(MOST_MESSAGES) {
            self.warnings.push(said(name, message).into());
        }

        let more = notes.more_messages + messages.map(|message| message.count).sum::<u64>();
        if more > 0 {
            let text = format!("`{name}` said more ({more} messages)");
            let notice = Notice::from(text).with([Remedy::LogFmiCalls]);
            self.warnings.push(notice);
        }
    }
}

fn said(name: &str, message: &Message) -> String {
    let Message { text, count, .. } = message;
    if *count > 1 {
        format!("`{name}` said: {text} ({count} times)")
    } else {
        format!("`{name}` said: {text}")
    }
}

impl Scenario {
    /// What happened inside the FMUs.
    pub(crate) fn inside_fmus(&self, notes: &[Option<Notes>]) -> InsideFmus {
        let mut found = InsideFmus::default();
        for (part, notes) in self.parts.iter().zip(notes) {
            if let Some(notes) = notes {
                found.add_counts(part.name(), notes);
                found.add_rounded(part, notes);
                found.add_conduct(part.name(), notes);
                found.add_messages(part.name(), notes);
            }
        }
        found
    }

    /// An FMU whose answers are too noisy for the tolerance of a method that chooses its steps by them.
    pub(crate) fn noisy(
        &self,
        kind: &dyn MethodKind,
        options: &RunOptions,
        found: &[Capabilities],
    ) -> Option<Notice> {
        let limits = Limits::of(found, self.stop_time - self.start_time);
        let asked = kind.tolerance(&options.settings)?;
        let judged = kind.properties().limited_by_noise && kind.chooses_steps(&options.settings);
        if limits.tolerance <= asked || !judged {
            return None;
        }

        let noises = found.iter().map(|c| c.precision.noise).enumerate();
        let (system, noise) = noises.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let name = self.parts[system].name();
        let text = format!(
            "the answers of `{name}` have a noise of {noise:.1e} (one step against two halves): steps were chosen for a tolerance \
             of {:.1e} instead of {asked:.1e}",
            limits.tolerance
        );

        Some(Notice::from(text).with([Remedy::SmallerIntegratorTolerance]))
    }

    /// FMUs whose own step does not fit the run, although they take any.
    pub(crate) fn unfitting(&self, step: f64) -> Vec<String> {
        let mut warnings = Vec::new();
        for part in &self.parts {
            if let Some(inner) = part.source.unfitting_step(step) {
                warnings.push(format!(
                    "`{}` steps by {inner} s inside, and neither all steps nor the whole run are multiples of that: it may \
                     answer for other times than it is asked for",
                    part.name()
                ));
            }
        }
        warnings
    }

    /// What is to be said of running this model by a method, before it is run.
    pub fn method_warnings(&self, name: &str) -> Vec<String> {
        let kind = self.catalog.registry().method(name);
        kind.map_or_else(Vec::new, |kind| self.flat_slopes(kind))
    }

    /// What a method that holds its inputs makes of systems that use their slopes.
    fn flat_slopes(&self, kind: &dyn MethodKind) -> Vec<String> {
        if !kind.properties().holds_inputs {
            return Vec::new();
        }

        let mut warnings = Vec::new();
        for (system, interface) in self.connections.interfaces().iter().enumerate() {
            let inputs = interface
                .inputs
                .iter()
                .zip(self.connections.inputs_of(system));
            for (input, stacked) in inputs {
                let coupled = self.connections.sources()[stacked].output().is_some();
                if input.uses_slope && coupled {
                    warnings.push(format!(
                        "`{}` uses der({}), and {} holds its inputs: that slope is zero all the time; {}",
                        interface.name,
                        input.name,
                        kind.name(),
                        "f3ornits, ifosmondi, missiles and predictive give inputs a slope"
                    ));
                }
            }
        }
        warnings
    }

    /// What the user should know before the run is looked at.
    pub(crate) fn run_warnings(&self, kind: &dyn MethodKind, options: &RunOptions) -> Vec<Notice> {
        let mut texts = self.warnings.clone();
        texts.extend(self.unused_options(kind, options));
        texts.extend(self.coarse_options(options));
        texts.extend(self.flat_slopes(kind));
        let mut warnings: Vec<Notice> = texts.into_iter().map(Notice::from).collect();
        let systems = self.connections.systems();
        warnings.extend(options.placement.warning(kind, systems));

        warnings
    }

    /// Options that leave nothing of a method's accuracy.
    fn coarse_options(&self, options: &RunOptions) -> Vec<String> {
        let span = self.stop_time - self.start_time;
        let step = options.step().filter(|step| *step > span);
        let step = step.map(|step| {
            format!(
                "the step of {step} s is longer than the run, which takes {span} s: it was one step"
            )
        });
        let tolerance = options.tolerance().filter(|tolerance| *tolerance >= 1.0);
        let tolerance = tolerance.map(|tolerance| {
            format!(
                "a tolerance of {tolerance} allows errors as large as the variables themselves: \
                 it is relative, and usually 1e-3 to 1e-8"
            )
        });
        step.into_iter().chain(tolerance).collect()
    }

    /// Options that were given and do not matter to the method.
    fn unused_options(&self, kind: &dyn MethodKind, options: &RunOptions) -> Vec<String> {
        let name = kind.name();
        let own = |key: &str| kind.options().iter().any(|option| option.key == key);
        let common = |key: &str| COMMON.iter().any(|option| option.key == key);
        let mut unused = Vec::new();

        for key in options.settings.keys() {
            if let Some(solver) = self.catalog.registry().solver_with(key) {
                let chosen = options.settings.solver() == Some(solver);
                unused.extend((!chosen).then(|| {
                    format!("the option {key} was not used: it belongs to the solver {solver}")
                }));
            } else if !own(key) && !common(key) {
                unused.push(format!(
                    "{name} has no {key}: the option {key} was not used"
                ));
            } else if key == TOLERANCE.key && kind.tolerance(&options.settings).is_none() {
                unused.push(format!(
                    "{name} has no tolerance with a fixed step: the option tolerance was not used"
                ));
            }
        }
        unused
    }
}

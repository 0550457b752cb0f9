//! What the engine advises, in the words of the command line. Nowhere else does advice meet flags.

use std::ffi::CStr;
use std::mem::take;

use dovetail::report::RunSummary;
use dovetail::scenario::{BadModel, GivenChoice, Problem};
use dovetail::{Notice, Remedy};

/// What is said where an FMU has ended the whole program.
pub(crate) const AFTER_EXIT: &CStr =
    c"Try --workers processes, which says when and keeps all results";

/// What of a sentence a remedy is.
enum Phrase {
    /// Something to try: `a smaller --step`.
    Try(String),
    /// Something to do: `give --stop-time`.
    Do(String),
    /// A clause of its own: `--verify finds out`.
    Clause(String),
}

fn phrase(remedy: &Remedy) -> Phrase {
    let attempt = |words: &str| Phrase::Try(words.to_owned());
    let order = |words: &str| Phrase::Do(words.to_owned());
    let clause = |words: &str| Phrase::Clause(words.to_owned());

    match remedy {
        Remedy::SmallerStep => attempt("a smaller --step"),
        Remedy::LargerStep => attempt("a larger --step"),
        Remedy::FixedStep => attempt("a fixed --step"),
        Remedy::MultipleOfStep(size) => {
            Phrase::Try(format!("a --step that is a multiple of {size}"))
        }
        Remedy::SmallerTolerance => attempt("a smaller --tolerance"),
        Remedy::LooserTolerance => attempt("a looser --tolerance"),
        Remedy::SmallerIntegratorTolerance => attempt("a smaller --integrator-tolerance"),
        Remedy::LooserIntegratorTolerance => attempt("a looser --integrator-tolerance"),
        Remedy::AnotherMethod => attempt("another --method"),
        Remedy::OtherMethod(name) => Phrase::Try(format!("--method {name}")),
        Remedy::OtherSolver(name) => Phrase::Try(format!("--solver {name}")),
        Remedy::AnotherSolver => attempt("another --solver"),
        Remedy::ModelExchange => attempt(
            "its Model Exchange interface (--interface model-exchange, or interface in the model)",
        ),
        Remedy::MoreRanks => attempt("mpirun -n R with more than one rank"),
        Remedy::FewerWorkerThreads => attempt("fewer --worker-threads"),
        Remedy::BuildFeature(name) => Phrase::Do(format!("build it with --features {name}")),
        Remedy::StopTime => order("give --stop-time"),
        Remedy::ReferenceFile => order("compare with a result file (--reference FILE.csv)"),
        Remedy::Run => order("compute single trajectories with `dovetail run`"),
        Remedy::Enclose(name) => Phrase::Do(format!(
            "use `dovetail enclose`: dovetail enclose MODEL --method {name}"
        )),
        Remedy::OneFmu => order("use `dovetail export`, which writes the whole model as one FMU"),
        Remedy::SspTwo => order("give --ssp 2"),
        Remedy::Verify => clause("--verify finds out"),
        Remedy::LogFmiCalls => clause("see --log-fmi-calls FILE"),
        Remedy::ProcessPerSystem => {
            clause("with --workers processes each has a process of its own")
        }
        Remedy::MoreTime => {
            clause("where it is slow rather than stuck, give it more time (--step-timeout)")
        }
        other => attempt(&other.to_string()),
    }
}

/// All of them as a sentence without its full stop; nothing where there are none.
fn words(remedies: &[Remedy]) -> Option<String> {
    let mut attempts = Vec::new();
    let mut orders = Vec::new();
    let mut clauses = Vec::new();

    for remedy in remedies {
        match phrase(remedy) {
            Phrase::Try(words) => attempts.push(words),
            Phrase::Do(words) => orders.push(words),
            Phrase::Clause(words) => clauses.push(words),
        }
    }

    if !attempts.is_empty() {
        orders.insert(0, format!("try {}", alternatives(&attempts)));
    }

    if !orders.is_empty() {
        clauses.insert(0, orders.join(", or "));
    }
    (!clauses.is_empty()).then(|| clauses.join("; "))
}

/// `a`, `a or b`, `a, b, or c`.
fn alternatives(all: &[String]) -> String {
    match all {
        [first, second] => format!("{first} or {second}"),
        [rest @ .., last] if !rest.is_empty() => format!("{}, or {last}", rest.join(", ")),
        _ => all.concat(),
    }
}

/// A sentence, and what to try after it.
pub(crate) fn with_advice(text: String, remedies: &[Remedy]) -> String {
    let Some(words) = words(remedies) else {
        return text;
    };
    let text = text.trim_end();
    format!("{text}{}{words}", separator(text))
}

/// What stands between a text and what comes after it.
fn separator(text: &str) -> &'static str {
    if text.ends_with(['.', '?', '!']) {
        " "
    } else {
        "; "
    }
}

/// Words the remedies of everything that a summary says.
pub(crate) fn word_summary(summary: &mut RunSummary) {
    let quality = &mut summary.quality;
    let notices = quality.warnings.iter_mut();
    let notices = notices.chain([&mut quality.verdict_reason]);
    notices.chain(&mut summary.message).for_each(word);
}

fn word(notice: &mut Notice) {
    let remedies = take(&mut notice.remedies);
    notice.text = with_advice(take(&mut notice.text), &remedies);
}

/// The same, with choices and remedies as flags.
pub(crate) fn worded_model(bad: BadModel) -> BadModel {
    BadModel {
        problems: bad.problems.into_iter().map(worded_problem).collect(),
        ..bad
    }
}

fn worded_problem(mut problem: Problem) -> Problem {
    let message = &problem.message;
    problem.message = match problem.choice.take().map(|choice| *choice) {
        None => message.clone(),
        Some(GivenChoice::Value { name, text }) => format!("--set {name}={text}: {message}"),
        Some(GivenChoice::FileValue { name, text, place }) => {
            format!("{place}: `{name}` = {text}: {message}")
        }
        Some(GivenChoice::Option { key, text }) => {
            let named = format!("`{key}` ");
            let rest = message.strip_prefix(&named).unwrap_or(message);
            format!("{}: {rest}", flag(&key, &text))
        }
    };
    let help = [problem.help.take(), words(&take(&mut problem.remedies))];
    let help: Vec<String> = help.into_iter().flatten().collect();
    problem.help = (!help.is_empty()).then(|| help.join(", or "));

    problem
}

/// Options of a run that have flags of their own.
const FLAGS: [&str; 6] = [
    "method",
    "step",
    "tolerance",
    "solver",
    "petsc-options",
    "integrator-tolerance",
];

/// A choice as it is written on the command line.
fn flag(key: &str, text: &str) -> String {
    if FLAGS.contains(&key) {
        format!("--{key} {text}")
    } else {
        format!("--option {key}={text}")
    }
}

/// Problems of flags alone, one after the other: the model file has nothing to do with them.
pub(crate) fn of_flags_alone(bad: &BadModel) -> Option<String> {
    let problems = &bad.problems;
    if problems.is_empty() || problems.iter().any(|problem| problem.choice.is_none()) {
        return None;
    }

    let sentence = |problem: &Problem| {
        let worded = worded_problem(problem.clone());
        let help = worded.help.map(|help| format!("\n help: {help}"));
        worded.message + &help.unwrap_or_default()
    };
    let all: Vec<String> = problems.iter().map(sentence).collect();
    Some(all.join("\nerror: "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedies_become_one_sentence() {
        assert_eq!(words(&[]), None);
        let three = [
            Remedy::solver("anderson"),
            Remedy::SmallerStep,
            Remedy::LooserTolerance,
        ];
        let sentence = "try --solver anderson, a smaller --step, or a looser --tolerance";
        assert_eq!(words(&three).as_deref(), Some(sentence));
        let mixed = [
            Remedy::LogFmiCalls,
            Remedy::MultipleOfStep(0.1),
            Remedy::StopTime,
        ];
        let sentence = "try a --step that is a multiple of 0.1, or give --stop-time; \
                        see --log-fmi-calls FILE";
        assert_eq!(words(&mixed).as_deref(), Some(sentence));
    }

    #[test]
    fn a_question_is_answered_in_a_sentence_of_its_own() {
        let advised = with_advice("is that meant?".to_owned(), &[Remedy::Verify]);
        assert_eq!(advised, "is that meant? --verify finds out");
    }

    #[test]
    fn problems_name_flags_in_place_of_choices_and_remedies() {
        let [name, text] = ["a.b", "1"].map(str::to_owned);
        let problem = Problem::general("there is no such parameter").help("add it");
        let problem = problem.of(GivenChoice::Value { name, text });
        let worded = worded_problem(problem.with([Remedy::StopTime]));
        assert_eq!(worded.message, "--set a.b=1: there is no such parameter");
        assert_eq!(worded.help.as_deref(), Some("add it, or give --stop-time"));
        assert_eq!((worded.choice, worded.remedies), (None, vec![]));
    }
}

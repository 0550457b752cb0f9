//! What the engine advises, in the words of Python's arguments.

use dovetail::core::Notice;
use dovetail::scenario::{BadModel, GivenChoice, Problem};
use dovetail::{Remedy, RunSummary};

/// Something to try.
pub(crate) fn words(remedy: &Remedy) -> String {
    let words = match remedy {
        Remedy::SmallerStep => "a smaller step=",
        Remedy::LargerStep => "a larger step=",
        Remedy::FixedStep => "a fixed step=",
        Remedy::MultipleOfStep(size) => return format!("a step= that is a multiple of {size}"),
        Remedy::SmallerTolerance => "a smaller tolerance=",
        Remedy::LooserTolerance => "a larger tolerance=",
        Remedy::SmallerIntegratorTolerance => "a smaller integrator_tolerance=",
        Remedy::LooserIntegratorTolerance => "a larger integrator_tolerance=",
        Remedy::AnotherMethod => "another method=",
        Remedy::OtherMethod(name) => return format!("method=\"{name}\""),
        Remedy::OtherSolver(name) => return format!("solver=\"{name}\""),
        Remedy::AnotherSolver => "another solver=",
        Remedy::StopTime => "a stop_time=",
        Remedy::Verify => "verify=True, which finds the error by running again",
        Remedy::ReferenceFile => "reference=\"FILE.csv\"",
        Remedy::LogFmiCalls => "log_fmi_calls=\"FILE\", which has all calls of FMUs",
        Remedy::ModelExchange => "interface=\"model-exchange\"",
        Remedy::ProcessPerSystem => "workers=\"processes\", which gives each system a process",
        Remedy::MoreTime => "a larger step_timeout=",
        Remedy::FewerWorkerThreads => "fewer worker_threads=",
        Remedy::Run => "dovetail.run(…), which computes a single trajectory",
        Remedy::Enclose(name) => return format!("dovetail.enclose(…, method=\"{name}\")"),
        other => return other.to_string(),
    };
    words.to_owned()
}

/// All of them.
pub(crate) fn all_words(remedies: &[Remedy]) -> Vec<String> {
    remedies.iter().map(words).collect()
}

/// A sentence with what to try.
pub(crate) fn advised(notice: &Notice) -> String {
    match &all_words(&notice.remedies)[..] {
        [] => notice.text.clone(),
        words => format!("{}; try {}", notice.text.trim_end(), words.join(" or ")),
    }
}

/// Words the remedies of everything that a summary says.
pub(crate) fn word_summary(summary: &mut RunSummary) {
    let quality = &mut summary.quality;
    let notices = quality.warnings.iter_mut();
    let notices = notices.chain([&mut quality.verdict_reason]);
    for notice in notices.chain(&mut summary.message) {
        *notice = Notice::from(advised(notice));
    }
}

/// The same, with choices and remedies as arguments.
pub(crate) fn worded_model(bad: BadModel) -> BadModel {
    BadModel {
        problems: bad.problems.into_iter().map(worded_problem).collect(),
        ..bad
    }
}

fn worded_problem(mut problem: Problem) -> Problem {
    let message = &problem.message;
    problem.message = match problem.choice.as_deref() {
        None => message.clone(),
        Some(GivenChoice::Value { name, text }) => {
            format!("set={{\"{name}\": {text}}}: {message}")
        }
        Some(GivenChoice::FileValue { name, text, place }) => {
            format!("{place}: {name} = {text}: {message}")
        }
        Some(GivenChoice::Option { key, text }) => {
            format!("{message} (given as {}={text})", key.replace('-', "_"))
        }
    };
    problem.choice = None;
    let tries = all_words(&std::mem::take(&mut problem.remedies));
    let tries = (!tries.is_empty()).then(|| format!("try {}", tries.join(" or ")));
    let help: Vec<String> = [problem.help.take(), tries].into_iter().flatten().collect();
    problem.help = (!help.is_empty()).then(|| help.join(", or "));
    problem
}

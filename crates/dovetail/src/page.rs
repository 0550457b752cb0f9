//! The page of a run: what is recorded for it, and what it says of the model.

use dovetail_fmi::description::Version;
use dovetail_fmi::{InterfaceUse, PreparedFmu};
use dovetail_methods::algebraic_loops;
use dovetail_report::{
    Kind, Origin, Picture, RunPage, RunSummary, Selection, Trajectory, Variables,
};
use dovetail_scenario::{Scenario, Session};

use crate::execution::{Drawn, Executed};

/// More curves than this make a page that no browser opens quickly.
const MOST_CURVES: usize = 4000;

/// What is recorded for a page: all variables and what the method reports about itself. Of very large models only what was
/// chosen, or else outputs.
pub fn drawn_selection(
    scenario: &Scenario,
    session: &Session<'_>,
    chosen: &Selection,
) -> Selection {
    let all = Variables::of(&scenario.connections).with_signals(&session.signals());
    if all.all().len() <= MOST_CURVES {
        return all.everything();
    }
    if chosen.variables().len() <= MOST_CURVES {
        return chosen.clone();
    }
    let outputs = all.of_kind(Kind::Output).names();
    all.named(&outputs[..outputs.len().min(MOST_CURVES)])
}

/// The page of a run that was recorded for it; none where it was not.
pub fn run_page(
    scenario: &Scenario,
    executed: &Executed,
    shown: &[String],
    origin: &Origin,
) -> Option<String> {
    with_page(scenario, executed, shown, origin, |page| page.render())
}

/// What the page of a run shows, as JSON, for a page that is open already; none where the run was not recorded for it.
pub fn run_page_json(
    scenario: &Scenario,
    executed: &Executed,
    shown: &[String],
    origin: &Origin,
) -> Option<String> {
    with_page(scenario, executed, shown, origin, |page| page.to_json())
}

/// The same for a run that is about to begin: everything but its rows and what it comes to.
pub fn begun_page_json(
    scenario: &Scenario,
    session: &Session<'_>,
    drawn: Selection,
    shown: &[String],
    origin: &Origin,
) -> String {
    let summary = RunSummary {
        model: scenario.name.clone(),
        method: session.method_name().to_owned(),
        reason: session.reason().map(str::to_owned),
        step: session.step(),
        start: scenario.start_time,
        stop: scenario.stop_time,
        reached: scenario.start_time,
        ..RunSummary::default()
    };
    let nothing_yet = Executed {
        summary,
        trajectory: None,
        failure: None,
        checkpoint: None,
        drawn: Some(Drawn {
            trajectory: Trajectory::of(&drawn),
            selection: drawn,
        }),
        tolerance: session.tolerance(),
    };
    run_page_json(scenario, &nothing_yet, shown, origin).unwrap_or_default()
}

/// The figure of a run that was recorded for it, over time or over the variable `x`; none where it was not.
pub fn run_picture(
    scenario: &Scenario,
    executed: &Executed,
    shown: &[String],
    x: Option<&str>,
) -> Option<Picture> {
    let nobody = Origin::default();
    with_page(scenario, executed, shown, &nobody, |page| page.picture(x))
}

fn with_page<T>(
    scenario: &Scenario,
    executed: &Executed,
    shown: &[String],
    origin: &Origin,
    make: impl FnOnce(&RunPage<'_>) -> T,
) -> Option<T> {
    let drawn = executed.drawn.as_ref()?;
    let kinds = kinds(scenario);
    let loops = algebraic_loops(&scenario.connections);
    let page = RunPage {
        summary: &executed.summary,
        connections: &scenario.connections,
        kinds: &kinds,
        loops: &loops,
        tolerance: executed.tolerance,
        selection: &drawn.selection,
        trajectory: &drawn.trajectory,
        shown,
        origin,
    };
    Some(make(&page))
}

/// For each system what it is.
fn kinds(scenario: &Scenario) -> Vec<String> {
    let fmus = scenario.units();
    let interfaces = scenario.connections.interfaces().iter();
    let kind = |name: &str| {
        let fmu = fmus.iter().find(|(system, _)| *system == name);
        fmu.map_or("equations".to_owned(), |(_, fmu)| kind_of(fmu))
    };
    interfaces.map(|interface| kind(&interface.name)).collect()
}

fn kind_of(fmu: &PreparedFmu) -> String {
    let version = match fmu.fmu().description().version {
        Version::One => "FMI 1.0",
        Version::Two => "FMI 2.0",
        Version::Three => "FMI 3.0",
    };
    let used = match fmu.used() {
        InterfaceUse::CoSimulation => "Co-Simulation",
        InterfaceUse::ModelExchange => "Model Exchange",
    };
    format!("{version} {used}")
}

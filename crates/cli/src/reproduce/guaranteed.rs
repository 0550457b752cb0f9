//! Guaranteed co-simulation (Le Coënt et al.): table 1, figures 5 and 6.

use dovetail::guaranteed::{
    EnclosureObserver, EnclosureOutcome, Integrator, Interval, Method, Options, Pieces, enclose,
};

use super::Item;
use super::model::{PaperModel, ROOMS, ROOMS_WHOLE, SPRING};
use super::row::{Finding, Row};
use crate::failure::Failure;

/// Table 1: scheme, its final area, whether the house is one system, and how inputs are extrapolated.
type Scheme = (&'static str, f64, bool, Integrator, Option<usize>);
const TABLE_1: [Scheme; 6] = [
    ("HEUN", 0.2165, true, Integrator::Heun, None),
    ("co-HEUN", 0.2407, false, Integrator::Heun, None),
    ("co-HEUN-interp", 0.2335, false, Integrator::Heun, Some(3)),
    ("RK4", 0.1821, true, Integrator::Rk4, None),
    ("co-RK4", 0.1932, false, Integrator::Rk4, None),
    ("co-RK4-interp", 0.1854, false, Integrator::Rk4, Some(3)),
];

/// Figures 5 and 6: figure, macro-step and scheme.
const SPRINGS: [(u32, f64, Integrator); 2] =
    [(5, 0.05, Integrator::Heun), (6, 0.01, Integrator::Rk4)];

/// Bounds at the end are all that is wanted.
struct Nobody;

impl EnclosureObserver for Nobody {
    fn instant(&mut self, _time: f64, _states: &[Interval]) {}

    fn tube(&mut self, _from: f64, _to: f64, _states: &[Interval]) {}

    fn wants_tubes(&self) -> bool {
        false
    }
}

pub(super) fn items() -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for scheme in TABLE_1 {
        items.push(Box::new(move || Ok(vec![table_1(scheme)?])));
    }
    for (figure, step, integrator) in SPRINGS {
        items.push(Box::new(move || springs(figure, step, integrator)));
    }
    items
}

fn bounds(
    model: PaperModel,
    step: f64,
    integrator: Integrator,
    extrapolation: Option<usize>,
) -> Result<EnclosureOutcome, Failure> {
    let scenario = model.scenario(&[])?;
    let problem = scenario.to_enclose()?;
    let method = Method::Boxes {
        integrator,
        extrapolation,
    };
    let options = Options {
        method,
        step: Some(step),
        output_interval: None,
        threads: 1,
        pieces: Pieces::Automatic,
    };
    Ok(enclose(&problem, &options, &mut Nobody))
}

fn table_1((name, printed, whole, integrator, extrapolation): Scheme) -> Result<Row, Failure> {
    let model = if whole { ROOMS_WHOLE } else { ROOMS };
    let done = bounds(model, 1.0, integrator, extrapolation)?;
    let volume: f64 = done.states.iter().map(|state| state.width()).product();
    let item = format!("table 1, {name}: final area");
    let note = "the paper's matrices are not public: synthetic ones in their shape, whose exact hull has 0.18345";
    Ok(Row::new(item, printed, volume).note(note))
}

/// The widest state at the end, with held and with extrapolated inputs.
fn springs(figure: u32, step: f64, integrator: Integrator) -> Result<Vec<Row>, Failure> {
    let mut found = Vec::new();
    let cases = [
        ("(b) held inputs", None, "wide"),
        ("(c) extrapolated inputs", Some(3), "below (b)"),
    ];
    for (name, extrapolation, claim) in cases {
        let done = bounds(SPRING, step, integrator, extrapolation)?;
        let widest = done
            .states
            .iter()
            .map(|state| state.width())
            .fold(0.0, f64::max);
        let ours: Finding = match done.stopped {
            None => widest.into(),
            Some(_) => "ends early".into(),
        };
        let item = format!("figure {figure}{name}: widest state at the end");
        let note = match &done.stopped {
            None => "the paper has pictures only".to_owned(),
            Some(_) => format!(
                "bounds up to t = {:.2} s, {widest:.1e} wide there",
                done.reached
            ),
        };
        found.push(Row::new(item, claim, ours).note(note));
    }
    Ok(found)
}

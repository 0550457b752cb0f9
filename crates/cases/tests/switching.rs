//! Models that switch, none of which anything was tuned on: the tolerance is kept, and the estimate is right.

use dovetail_cases::{Measured, Unseen, connections, measure_run, model, unseen};
use dovetail_core::{Error, Exchange, Observer};
use dovetail_scenario::{Choices, Scenario};

/// The models whose events are isolated.
fn isolated() -> Vec<Unseen> {
    let mut models = unseen("switching");
    models.extend(unseen("jumps"));
    let apart = |name: &str| {
        !["sliding", "zeno", "delay"]
            .iter()
            .any(|kind| name.starts_with(kind))
    };
    models.retain(|model| apart(&model.name));
    models
}

fn run(model: &Unseen, method: &str, tolerance: &str) -> Measured {
    let choices = [("method", method), ("tolerance", tolerance)];
    let run = measure_run(&model.scenario(), &choices);
    let ending = &run.end.ending;
    assert!(ending.is_ok(), "{} at {tolerance}: {ending:?}", model.name);
    run
}

/// The names of all states. Outputs that jump are wrong by the jump wherever an event is early or late.
fn states_of(scenario: &Scenario) -> Vec<String> {
    let interfaces = scenario.connections.interfaces().iter();
    let states = interfaces.flat_map(|i| i.states.iter().map(|state| i.qualified(state)));
    states.collect()
}

/// The largest error of a state, in units of the tolerance.
fn error_of_states(model: &Unseen, run: &Measured, tolerance: &str) -> f64 {
    let states = states_of(&model.scenario()).into_iter();
    let shares = states.filter_map(|state| run.error(&state)?.nrmse);
    let error = shares.fold(0.0, f64::max);
    error / 100.0 / tolerance.parse::<f64>().expect("BUG: a number")
}

#[test]
fn tolerances_are_kept_across_events() {
    for tolerance in ["1e-3", "1e-6"] {
        let mut missed = Vec::new();
        let models = isolated();
        for model in &models {
            let error = error_of_states(model, &run(model, "predictive", tolerance), tolerance);
            if error > 3.0 {
                missed.push((model.name.clone(), error));
            }
        }
        assert!(10 * missed.len() <= models.len(), "{tolerance}: {missed:?}");
        assert!(
            missed.iter().all(|(_, error)| *error <= 10.0),
            "{tolerance}: {missed:?}"
        );
    }
}

#[test]
fn estimates_are_carried_across_events() {
    let models = isolated();
    let mut given = 0;
    let mut wrong = Vec::new();

    for model in &models {
        let run = run(model, "predictive", "1e-6");
        let Some(estimates) = &run.end.quality.estimated_error else {
            continue;
        };
        given += 1;
        let scenario = model.scenario();
        let states = states_of(&scenario);
        for (name, estimate) in estimates.iter().filter(|(name, _)| states.contains(name)) {
            // What is far below the tolerance may be the integrator's own.
            let Some(error) = run.error(name) else {
                continue;
            };
            let counts = error.nrmse.is_some_and(|nrmse| nrmse / 100.0 > 1e-8);
            let ratio = estimate.max / error.max;
            if counts && !(0.5..=2.0).contains(&ratio) {
                wrong.push((model.name.clone(), name.clone(), ratio));
            }
        }
    }

    assert!(
        10 * given >= 9 * models.len(),
        "{given} of {}",
        models.len()
    );
    assert!(10 * wrong.len() <= models.len(), "{wrong:?}");
}

#[test]
fn what_slides_in_one_system_takes_no_more_steps_than_what_is_smooth() {
    for name in [
        "sliding-brake",
        "sliding-crate",
        "sliding-drill",
        "sliding-observer",
    ] {
        let models = unseen("switching");
        let model = models
            .iter()
            .find(|model| model.name == name)
            .expect("BUG: its name");
        for method in ["predictive", "ifosmondi", "f3ornits", "jacobi"] {
            let session = model.scenario();
            let options = session.options(&choices(method)).expect("BUG: a method");
            let never = std::sync::atomic::AtomicBool::new(false);
            let end = session
                .session(&options)
                .expect("BUG: a model")
                .run(&mut [], &never);
            if name == "sliding-crate" && method == "ifosmondi" {
                continue; // its iterations do not converge, and it says so
            }
            assert!(end.ending.is_ok(), "{name}, {method}: {:?}", end.ending);
            assert!(
                end.statistics.steps < 5000,
                "{name}, {method}: {}",
                end.statistics.steps
            );
        }
    }
}

/// The steps of a run, and whether it says that it could not follow something.
fn steps_and_chatter(name: &str, method: &str) -> (u64, bool) {
    let models = unseen("switching");
    let model = models.iter().find(|model| model.name == name);
    let scenario = model.expect("BUG: its name").scenario();
    let options = scenario.options(&choices(method)).expect("BUG: a method");
    let never = std::sync::atomic::AtomicBool::new(false);
    let session = scenario.session(&options).expect("BUG: a model");
    let end = session.run(&mut [], &never);
    assert!(end.ending.is_ok(), "{name}, {method}: {:?}", end.ending);
    let chatters = |text: &str| text.contains("switches to and fro without end");
    let warned = end.warnings.iter().any(|notice| chatters(&notice.text));
    (end.statistics.steps, warned)
}

#[test]
fn what_others_keep_where_it_switches_is_averaged_where_they_are_affine() {
    for name in [
        "sliding-converter",
        "sliding-heater",
        "sliding-level-pump",
        "sliding-stick-slip",
    ] {
        let (steps, chatters) = steps_and_chatter(name, "predictive");
        assert!(steps < 1000 && !chatters, "{name}: {steps} steps");
    }
    for name in ["sliding-exponential", "sliding-valve-squared"] {
        let (steps, chatters) = steps_and_chatter(name, "predictive");
        assert!(steps < 5000 && chatters, "{name}: {steps} steps");
    }
}

#[test]
fn a_basin_that_is_kept_at_its_level_takes_what_flows_in() {
    let models = unseen("switching");
    let model = models
        .iter()
        .find(|model| model.name == "sliding-level-pump");
    let scenario = model.expect("BUG: its name").scenario();
    let mut choices = choices("predictive");
    choices.set("tolerance", "1e-6");
    let options = scenario.options(&choices).expect("BUG: options");
    let never = std::sync::atomic::AtomicBool::new(false);
    let mut error = KeptLevel::default();
    let session = scenario.session(&options).expect("BUG: a model");
    let end = session.run(&mut [&mut error], &never);
    assert!(end.ending.is_ok(), "{:?}", end.ending);
    assert!(error.steps > 50 && error.level < 1e-5, "{error:?}");
}

/// How far the basin is from its level, at most, while the pump keeps it there.
#[derive(Debug, Default)]
struct KeptLevel {
    steps: usize,
    level: f64,
}

impl Observer for KeptLevel {
    fn accepted(&mut self, exchange: Exchange<'_>) -> Result<(), Error> {
        let switch = exchange.tasks[1].response.outputs[0].value;
        if 0.0 < switch && switch < 1.0 {
            self.steps += 1;
            let level = exchange.tasks[0].response.states[0];
            self.level = self.level.max((level - 2.0).abs());
        }
        Ok(())
    }
}

fn choices(method: &str) -> Choices {
    let mut choices = Choices::default();
    choices.set("method", method);
    choices
}

/// `x' = -x(t - 1)` from a past of 1: a polynomial from each whole time to the next.
fn delayed_decay(time: f64) -> f64 {
    let mut sum = 1.0;
    let mut factorial = 1.0;
    for k in 1..=(time.floor() as i32 + 1) {
        factorial *= f64::from(k);
        let term = (time - f64::from(k - 1)).powi(k) / factorial;
        sum += if k % 2 == 0 { term } else { -term };
    }
    sum
}

/// How far the tank is from that, at most.
#[derive(Default)]
struct LargestError(f64);

impl Observer for LargestError {
    fn accepted(&mut self, exchange: Exchange<'_>) -> Result<(), Error> {
        for task in exchange
            .tasks
            .iter()
            .filter(|task| task.system == 0 && task.due)
        {
            let truth = delayed_decay(task.step.end);
            let error = task.response.states[0] - truth;
            self.0 = self.0.max(error.abs());
        }
        Ok(())
    }
}

#[test]
fn a_delay_is_followed_under_every_method() {
    let connections = connections(&["tank.x -> pipe.u", "pipe.y -> tank.u"]);
    let text = format!(
        "{connections}\n\
         [systems.tank]\ninputs = {{ u = 0.0 }}\nstates = {{ x = 1.0 }}\n\
         equations = \"der(x) = -u\"\noutputs = {{ x = \"x\" }}\n\
         [systems.pipe]\ninputs = {{ u = 0.0 }}\noutputs = {{ y = \"delay(u, 1)\" }}\n"
    );
    for (method, most) in [
        ("predictive", 1e-8),
        ("missiles", 1e-5),
        ("ifosmondi", 1e-5),
        ("f3ornits", 1e-4),
        ("jacobi", 1e-1),
    ] {
        let scenario = model(5.0, &text);
        let options = scenario.options(&choices(method)).expect("BUG: a method");
        let never = std::sync::atomic::AtomicBool::new(false);
        let mut error = LargestError::default();
        let session = scenario.session(&options).expect("BUG: a model");
        let end = session.run(&mut [&mut error], &never);
        assert!(end.ending.is_ok(), "{method}: {:?}", end.ending);
        assert!(error.0 < most, "{method}: {}", error.0);
    }
}

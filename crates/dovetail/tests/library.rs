//! The library as programs use it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use dovetail::core::{Error as RunError, Exchange};
use dovetail::{Coupling, Error, FnSystem, Model, Observer, System, Verdict};

fn model(name: &str) -> Model {
    let examples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    Model::load(examples.join(name).join("model.toml")).unwrap()
}

fn mass() -> impl System + 'static {
    let [mut speed, mut x] = [0.0, 1.0];
    FnSystem::new("mass", &["force"], &["x"], move |step, input, output| {
        speed += step.size() * input[0];
        x += step.size() * speed;
        output[0] = x;
    })
}

fn spring() -> impl System + 'static {
    let spring = FnSystem::new("spring", &["x"], &["force"], |_, input, output| {
        output[0] = -input[0];
    });
    spring.with_feedthrough()
}

fn oscillator() -> Coupling {
    Coupling::new()
        .system_from(mass)
        .system_from(spring)
        .connect("mass.x", "spring.x")
        .connect("spring.force", "mass.force")
}

#[test]
fn systems_of_a_program_are_coupled_by_name() {
    let run = oscillator()
        .method("gauss-seidel")
        .option("step", 1e-4)
        .run(0.0..3.0)
        .unwrap();
    assert!((run.last("mass.x").unwrap() - 3f64.cos()).abs() < 1e-3);
    assert_eq!(run.times().len(), run.column("spring.force").unwrap().len());
    assert_eq!(*run.times().last().unwrap(), 3.0);
}

#[test]
fn what_is_made_anew_can_be_run_again_and_gives_the_same() {
    let model = oscillator().model(0.0..3.0).unwrap();
    let run = || {
        model
            .simulation()
            .method("jacobi")
            .option("step", 0.01)
            .run()
            .unwrap()
    };
    assert_eq!(
        run().column("mass.x").unwrap(),
        run().column("mass.x").unwrap()
    );
}

#[test]
fn a_system_for_one_run_says_so() {
    let coupling = Coupling::new().system(mass()).constant(0.0, "mass.force");
    let model = coupling.model(0.0..1.0).unwrap();
    model.run().unwrap();
    let again = model.run().unwrap_err().to_string();
    assert!(again.contains("`mass` was made for one run"), "{again}");
}

#[test]
fn a_connection_to_nowhere_is_an_error_with_a_hint() {
    let wrong = oscillator().connect("mass.x", "spring.y").run(0.0..1.0);
    let message = wrong.unwrap_err().to_string();
    assert!(message.contains("`spring` has no input `y`"), "{message}");
    let wrong = Coupling::new()
        .system(mass())
        .run(0.0..1.0)
        .unwrap_err()
        .to_string();
    assert!(
        wrong.contains("nothing feeds the input `mass.force`"),
        "{wrong}"
    );
}

#[test]
fn values_are_set_and_results_read_as_columns() {
    let examples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let path = examples.join("lotka-volterra/model.toml");
    let model = Model::builder(path)
        .set("prey.p", 2.0)
        .stop_time(1.0)
        .load()
        .unwrap();
    let run = model
        .simulation()
        .output_interval(0.25)
        .record(&["prey.*"])
        .run()
        .unwrap();
    assert_eq!(run.times(), [0.0, 0.25, 0.5, 0.75, 1.0]);
    assert_eq!(run.column("prey.p").unwrap()[0], 2.0);
    assert_eq!(run.verdict(), Verdict::Good);
    let unknown = run.column("prey.q").unwrap_err().to_string();
    assert!(
        unknown.contains("no variable `prey.q` was recorded"),
        "{unknown}"
    );
}

/// Raises a flag after a few rows, the first of which is the start.
struct Stopper<'a> {
    steps: u64,
    flag: &'a AtomicBool,
}

impl Observer for Stopper<'_> {
    fn accepted(&mut self, _exchange: Exchange<'_>) -> Result<(), RunError> {
        self.steps += 1;
        if self.steps == 5 {
            self.flag.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

#[test]
fn a_run_is_watched_and_stopped_with_its_results_kept() {
    let flag = AtomicBool::new(false);
    let mut stopper = Stopper {
        steps: 0,
        flag: &flag,
    };
    let model = model("mechanical");
    let simulation = model.simulation().method("missiles").option("step", 0.01);
    let ended = simulation.observer(&mut stopper).stop_when(&flag).run();
    let Err(Error::EndedEarly { message, run }) = ended else {
        panic!("it was stopped");
    };
    assert!(
        message.text.contains("interrupted at t = 0.04 s"),
        "{message}"
    );
    assert_eq!(run.times().len(), 5);
}

#[test]
fn methods_are_compared_with_all_equations_as_one() {
    let compared = model("mechanical")
        .compare(&["jacobi", "missiles"])
        .unwrap();
    let worst = |k: usize| {
        let errors = compared[k]
            .errors
            .iter()
            .filter_map(|(_, error)| error.nrmse);
        errors.fold(0.0, f64::max)
    };
    assert_eq!(compared[1].summary.method, "missiles");
    assert!(worst(1) < 1e-3 * worst(0), "{} and {}", worst(0), worst(1));
}

#[test]
fn bounds_hold_what_runs_compute() {
    let model = model("lotka-volterra");
    let bounds = model.enclose().unwrap();
    let run = model.simulation().option("tolerance", 1e-9).run().unwrap();
    for name in bounds.names() {
        let last = run.last(name).unwrap();
        let bound = bounds.last(name).unwrap();
        assert!(bound.lo - 1e-6 <= last && last <= bound.hi + 1e-6, "{name}");
    }
    assert!(bounds.outcome().stopped.is_none());
}

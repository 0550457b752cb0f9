//! What to try is data, and no text of the library names a flag of the program.

use std::num::NonZeroUsize;

use dovetail::scenario::GivenChoice;
use dovetail::{Error, Model, Remedy};

fn example(name: &str) -> String {
    let root = env!("CARGO_MANIFEST_DIR");
    format!("{root}/../../examples/{name}/model.toml")
}

fn assert_plain(text: &str) {
    assert!(!text.contains("--") || text.contains("-->"), "{text}");
}

#[test]
fn a_run_that_diverges_says_what_to_try_in_any_number_of_threads() {
    for threads in [1, 2] {
        let model = Model::builder(example("damping-reaction"))
            .set("plate.D", 0.64)
            .load()
            .unwrap();
        let threads = NonZeroUsize::new(threads).unwrap();
        let run = model.simulation().method("jacobi").threads(threads).run();
        let error = run.unwrap_err();
        assert!(matches!(error, Error::EndedEarly { .. }), "{error}");
        let expected = [Remedy::method("ifosmondi"), Remedy::SmallerStep];
        assert_eq!(error.remedies(), expected);
        assert_plain(&error.to_string());
    }
}

#[test]
fn a_solver_that_does_not_converge_names_another() {
    let model = Model::builder(example("damping-reaction"))
        .set("plate.D", 0.64)
        .load()
        .unwrap();
    let run = model.simulation().method("ifosmondi");
    let run = run.option("solver", "fixed-point").option("step", 0.01);
    let error = run.run().unwrap_err();
    assert_eq!(error.remedies(), [Remedy::solver("quasi-newton")]);
    assert_plain(&error.to_string());
}

#[test]
fn what_was_chosen_wrongly_is_data_too() {
    let wrong = Model::builder(example("lotka-volterra")).set("prey.q", 1);
    let Err(Error::Model(bad)) = wrong.load() else {
        panic!("there is no such parameter");
    };
    let [name, text] = ["prey.q", "1"].map(str::to_owned);
    let choice = GivenChoice::Value { name, text };
    assert_eq!(bad.problems[0].choice.as_deref(), Some(&choice));
    assert!(bad.to_string().contains("`prey.q` = 1: there is no such"));
    assert_plain(&bad.to_string());

    let model = Model::load(example("lotka-volterra")).unwrap();
    let error = model.simulation().method("boxes").run().unwrap_err();
    assert_eq!(error.remedies(), [Remedy::Enclose("boxes".to_owned())]);
    assert_plain(&error.to_string());
    let error = model.simulation().option("step", 1e-300).run().unwrap_err();
    assert_eq!(error.remedies(), [Remedy::LargerStep]);
}

#[test]
fn warnings_have_their_own_remedies() {
    let model = Model::load(example("lotka-volterra")).unwrap();
    let threads = NonZeroUsize::new(9).unwrap();
    let run = model.simulation().method("jacobi").threads(threads).run();
    let run = run.unwrap();
    let [lowered] = run.warnings() else {
        panic!("{:?}", run.warnings());
    };
    assert_eq!(lowered.remedies, [Remedy::FewerWorkerThreads]);
    assert_plain(&lowered.text);
}

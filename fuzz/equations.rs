//! Any text parses or is refused; what parses can be evaluated, differentiated and analyzed.
#![no_main]

use std::sync::Arc;

use dovetail_equations::{Dual, Evaluator, Model, Number, Place, Source};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    // The first line is an output, the rest are equations.
    let (output, equations) = text.split_once('\n').unwrap_or((text, ""));
    let mut source = Source {
        inputs: vec!["u", "v"],
        parameters: vec!["a", "b"],
        states: vec!["x", "y"],
        equations,
        outputs: vec![("out", output)],
        ..Source::default()
    };
    attempt(&source);
    // Without states any text has a chance to be a whole model.
    source.states.clear();
    source.parameters.extend(["x", "y"]);
    attempt(&source);
});

fn attempt(source: &Source<'_>) {
    match Model::parse(source) {
        Ok(model) => {
            evaluate(&model, 0.5);
            evaluate(&model, Dual::variable(0.5));
            analyze(&model);
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            for error in errors {
                let text = match &error.place {
                    Place::Equations => source.equations,
                    Place::Output(index) => source.outputs[*index].1,
                    Place::Name(name) => name,
                };
                assert!(text.get(error.offset..error.offset + error.length).is_some());
            }
        }
    }
}

fn evaluate<T: Number>(model: &Model, example: T) {
    let some = vec![example.clone(); 16];
    let program = Arc::new(model.program());
    let mut evaluator = Evaluator::new(program.clone(), &example, &some);
    evaluator.set_time(&example);
    evaluator.set_states(&some);
    evaluator.set_inputs(&some);
    evaluator.set_slopes(&some);
    evaluator.set_switches(&vec![example.clone(); model.switches.len()]);
    evaluator.run(&mut vec![example; program.results()]);
}

fn analyze(model: &Model) {
    model.is_affine();
    model.unused();
    model.output_dependencies(0);
    model.thresholds(&vec![0.5; model.parameters.len()]);
}

//! Runs a model and prints what it ends with: `cargo run --example run_model -- model.toml`.

use dovetail::{Error, Model};

fn main() -> Result<(), Error> {
    let usual = "examples/lotka-volterra/model.toml".to_owned();
    let path = std::env::args().nth(1).unwrap_or(usual);
    let run = Model::load(path)?.run()?;
    let summary = run.summary();
    println!("{} steps by {}", summary.steps, summary.method);
    println!(
        "the result is {}: {}",
        run.verdict().word(),
        summary.quality.verdict_reason
    );
    for (name, values) in run.columns() {
        println!("{name} ends at {:?}", values.last());
    }
    Ok(())
}

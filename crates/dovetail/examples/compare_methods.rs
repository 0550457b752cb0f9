//! Compares all methods that a model permits, and proves bounds for it.

use dovetail::{Error, Model};

fn main() -> Result<(), Error> {
    let model = Model::load("examples/mechanical/model.toml")?;
    for compared in model.compare(&[])? {
        let errors = compared.errors.iter().filter_map(|(_, error)| error.nrmse);
        let worst = errors.fold(0.0, f64::max);
        let summary = &compared.summary;
        println!(
            "{:>12}: {:>6} integrations, {worst:.1e} %",
            summary.method,
            summary.integrations()
        );
    }
    let bounds = model.enclose()?;
    for name in bounds.names() {
        println!("{name} ends in {:?}", bounds.last(name));
    }
    Ok(())
}

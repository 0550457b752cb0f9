//! Parameters of FMUs that tables and events of a model change.

use dovetail_fmi::description::{Causality, Description, Variability};

/// Those of these names that are parameters; or what is wrong with one of them.
pub(crate) fn tuned<'a>(
    description: &Description,
    names: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<String>, String> {
    let mut tuned = Vec::new();
    for name in names {
        let mut variables = description.variables.iter();
        let Some(variable) = variables.find(|variable| variable.name == name) else {
            continue;
        };
        let why = match (variable.causality, variable.variability) {
            (Causality::Parameter, Variability::Tunable) => {
                tuned.push(name.to_owned());
                continue;
            }
            (Causality::Parameter, _) => "is a parameter that is fixed once the run has begun",
            (Causality::StructuralParameter, _) => "is a structural parameter",
            (Causality::CalculatedParameter, _) => "is a parameter that the FMU computes itself",
            (Causality::Independent, _) => "is the time",
            _ => continue,
        };
        return Err(format!("`{name}` {why}, and cannot be changed on the way"));
    }
    Ok(tuned)
}

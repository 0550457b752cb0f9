//! Parameters that are expressions of parameters which tables or events change: they follow them.

use toml::Spanned;

use crate::diagnostic::Problem;
use crate::expressions::names_in;
use crate::source::table::SystemTable;
use crate::source::value::Given;

/// The parameters whose expressions depend on what tables or events change, with these expressions.
pub(crate) fn following(table: &SystemTable) -> Result<Vec<(Spanned<String>, String)>, Problem> {
    let mut moving: Vec<String> = table.changed.clone();
    let mut found: Vec<(Spanned<String>, String)> = Vec::new();
    loop {
        let before = found.len();
        for (name, value) in &table.parameters {
            let Given::Text(formula) = value.get_ref() else {
                continue;
            };
            let moved = names_in(formula).find(|word| moving.iter().any(|known| known == word));
            let known = found
                .iter()
                .any(|(known, _)| known.get_ref() == name.get_ref());
            let (Some(moved), false) = (moved, known) else {
                continue;
            };
            if table.changed.contains(name.get_ref()) {
                let message = format!(
                    "`{}` is an expression of `{moved}`, and both are changed in the course of the run: which value holds is \
                     not known",
                    name.get_ref()
                );
                let problem = Problem::at(value.span(), message);
                return Err(problem.help("give it as a number, or change one of the two"));
            }
            moving.push(name.get_ref().clone());
            found.push((name.clone(), formula.clone()));
        }
        if found.len() == before {
            return Ok(found);
        }
    }
}

/// A parameter becomes a variable of the equations, and an output of the same name.
pub(super) fn write_in(table: &mut SystemTable, name: Spanned<String>, formula: &str) {
    table
        .parameters
        .retain(|key, _| key.get_ref() != name.get_ref());
    let span = table.equations.as_ref().map_or(0..0, Spanned::span);
    let written = table.equations.take().map(Spanned::into_inner);
    let written = written.unwrap_or_default();
    let all = format!("{written}\n{} = {formula}", name.get_ref());
    table.equations = Some(Spanned::new(span, all));
    let output = Spanned::new(0..0, name.get_ref().clone());
    table.outputs.entry(name).or_insert(output);
}

//! The options of a run and of every method and solver, as tables for people.

use dovetail_methods::{COMMON, OptionSpec, Registry};

/// Markdown: a table for every run, one for each method with options of its own, and one of the solvers.
pub fn option_tables(registry: &Registry) -> String {
    let solvers = registry.solver_names();
    let mut text = String::from("## Every run\n\n");
    text += &table(&COMMON, &solvers);

    for kind in registry.methods() {
        text += &format!("\n## `{}`\n\n", kind.name());
        text += &format!("{} Needs: {}.\n", sentence(kind.summary()), kind.needs());
        if !kind.options().is_empty() {
            text += &format!("\n{}", table(kind.options(), &solvers));
        }
    }

    text += "\n## Solvers\n\n| solver | what it does |\n|---|---|\n";
    for kind in registry.solvers() {
        text += &format!("| `{}` | {} |\n", kind.name(), kind.summary());
        for option in kind.options() {
            text += &format!("| its option `{}` | {} |\n", option.key, option.meaning);
        }
    }
    text
}

/// Markdown: the table of a method's own options; none where there is no such method.
pub fn option_table(registry: &Registry, method: &str) -> Option<String> {
    let kind = registry.method(method)?;
    Some(table(kind.options(), &registry.solver_names()))
}

fn table(options: &[OptionSpec], solvers: &[&'static str]) -> String {
    let mut text = String::from("| option | values | default | meaning |\n|---|---|---|---|\n");
    for option in options {
        let values = option.values(solvers);
        text += &format!(
            "| `{}` | {values} | {} | {} |\n",
            option.key, option.default, option.meaning
        );
    }
    text
}

/// With a capital letter and a full stop.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

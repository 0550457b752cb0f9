//! A system given as equations as the text of a model of its own, which can be exported.

use std::fmt::Write;

use crate::equations::text::{EquationsText, WhenWritten};
use crate::source::value::Bounds;

/// The text of a model with this system alone, whose inputs are left open.
///
/// Its macro-steps are those of whoever runs it: between two of these the inputs are polynomials, which equations follow
/// exactly, so that shorter steps of its own would gain nothing.
pub(super) fn text(
    written: &EquationsText,
    (start, stop): (f64, f64),
    integrator_tolerance: Option<&str>,
) -> String {
    let mut text = String::new();
    let model = &written.written;
    let system = quoted(&written.name);

    let _ = writeln!(text, "[model]\nname = {system}");
    let _ = writeln!(text, "start-time = {start:?}\nstop-time = {stop:?}");
    let _ = writeln!(
        text,
        "\n[method]\nname = \"jacobi\"\nstep = {:?}",
        stop - start
    );
    if let Some(tolerance) = integrator_tolerance {
        let _ = writeln!(text, "integrator-tolerance = {tolerance}");
    }

    let _ = writeln!(text, "\n[systems.{system}]");
    if let Some(period) = written.sample {
        let _ = writeln!(text, "sample = {period:?}");
    }
    let _ = writeln!(text, "equations = {}", quoted(&model.equations));
    let table = |key: &str| format!("\n[systems.{system}.{key}]");

    numbers(&mut text, &table("inputs"), &model.inputs, &written.inputs);
    boxes(
        &mut text,
        &table("parameters"),
        &model.parameters,
        &written.parameters,
    );
    boxes(&mut text, &table("states"), &model.states, &written.states);
    numbers(
        &mut text,
        &table("discrete"),
        &model.discrete,
        &written.discrete,
    );
    texts(&mut text, &table("outputs"), &model.outputs);
    texts(&mut text, &table("units"), &units(written));
    for when in &model.whens {
        let _ = writeln!(text, "\n[[systems.{system}.when]]");
        clause(&mut text, when);
    }
    text
}

/// A text in quotes, as TOML has it: also a key.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted += "\\\"",
            '\\' => quoted += "\\\\",
            '\n' => quoted += "\\n",
            '\t' => quoted += "\\t",
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

fn numbers(text: &mut String, heading: &str, names: &[String], values: &[f64]) {
    let values = values.iter().map(|value| format!("{value:?}"));
    entries(text, heading, names.iter().zip(values));
}

fn boxes(text: &mut String, heading: &str, names: &[String], values: &[Bounds]) {
    let values = values.iter().map(|bounds| match bounds.is_box {
        true => format!("[{:?}, {:?}]", bounds.lower, bounds.upper),
        false => format!("{:?}", bounds.lower),
    });
    entries(text, heading, names.iter().zip(values));
}

fn texts(text: &mut String, heading: &str, pairs: &[(String, String)]) {
    let pairs = pairs.iter().map(|(name, own)| (name, quoted(own)));
    entries(text, heading, pairs);
}

fn entries<'a>(
    text: &mut String,
    heading: &str,
    pairs: impl ExactSizeIterator<Item = (&'a String, String)>,
) {
    if pairs.len() == 0 {
        return;
    }
    let _ = writeln!(text, "{heading}");
    for (name, value) in pairs {
        let _ = writeln!(text, "{} = {value}", quoted(name));
    }
}

fn units(written: &EquationsText) -> Vec<(String, String)> {
    let model = &written.written;
    let inputs = model.inputs.iter().zip(&model.input_units);
    let outputs = model.outputs.iter().map(|(name, _)| name);
    let all = inputs.chain(outputs.zip(&model.output_units));
    let known = all.filter_map(|(name, unit)| Some((name.clone(), unit.clone()?)));
    known.collect()
}

fn clause(text: &mut String, when: &WhenWritten) {
    let _ = writeln!(text, "condition = {}", quoted(&when.condition));
    let parts = [
        ("set", &when.set),
        ("reset", &when.reset),
        ("at-rest", &when.at_rest),
    ];
    for (key, pairs) in parts {
        if pairs.is_empty() {
            continue;
        }
        let pairs = pairs.iter();
        let each = pairs.map(|(name, own)| format!("{} = {}", quoted(name), quoted(own)));
        let each: Vec<String> = each.collect();
        let _ = writeln!(text, "{key} = {{ {} }}", each.join(", "));
    }
}

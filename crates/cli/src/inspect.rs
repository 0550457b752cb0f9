//! `dovetail inspect`: what a model consists of; what an FMU says of itself, and which of that is true.

mod json;
mod model;

use std::borrow::Borrow;

use dovetail::core::{Capabilities, Interface, SignalKind};
use dovetail::fmi::description::{Causality, Description, Variable};
use dovetail::fmi::{
    Capability, Finding, FmuCapabilities, InputMode, InterfaceUse, OutputSlopes, PreparedFmu,
};
use dovetail::report::{Alignment, LINE, Table, paragraph};
use dovetail::scenario::{Choices, Overrides, RunOptions, Scenario};
use serde_json::{Value, json};

use crate::arguments::{InspectArguments, InterfaceArgument};
use crate::failure::Failure;
use crate::output;
use crate::processes::{self, Limits};
use crate::words::{self, step_rule, yes_or_no};

pub(crate) fn inspect(arguments: &InspectArguments) -> Result<(), Failure> {
    let changes = Overrides {
        strict: arguments.strict,
        interface: arguments.interface.map(InterfaceArgument::named),
        stop_time_unless_given: Some(1.0),
        helpers: processes::helpers(Limits::default()),
        inspecting: true,
        unprobed: arguments.without_running,
        ..Overrides::default()
    };
    let scenario = Scenario::load(&arguments.file, &changes)?;
    let options = scenario.options(&Choices::default())?;
    let fmus = found(
        &scenario,
        &scenario.capabilities_of_systems(&options)?,
        arguments,
    );
    let methods = Methods::of(&scenario, &options);

    if arguments.json {
        let json = all_as_json(&scenario, &fmus, &methods);
        return output::print_json(&json);
    }
    output::print(&text(&scenario, &fmus, &methods))
}

fn all_as_json(scenario: &Scenario, fmus: &[Found<'_>], methods: &Methods) -> Value {
    let fmus: Vec<Value> = fmus.iter().map(Found::to_json).collect();
    json!({
        "model": scenario.name,
        "start_time": scenario.start_time,
        "stop_time": scenario.stop_time,
        "systems": model::systems_json(scenario),
        "connections": model::connections_json(scenario),
        "algebraic_loops": scenario.algebraic_loops(),
        "units": fmus,
        "methods": methods.permitted,
        "auto": methods.chosen,
        "reason": methods.reason,
        "warnings": scenario.warnings,
    })
}

/// The FMUs of a model, as they were found.
fn found<'a>(
    scenario: &'a Scenario,
    all: &[Capabilities],
    arguments: &InspectArguments,
) -> Vec<Found<'a>> {
    let interfaces = scenario.connections.interfaces();
    let place = |name: &str| {
        interfaces
            .iter()
            .position(|interface| interface.name == name)
    };
    let fmus = scenario.units().into_iter();

    fmus.map(|(name, prepared)| Found {
        name,
        prepared,
        capabilities: all[place(name).unwrap_or(0)],
        all: arguments.all,
        tried: !arguments.without_running,
    })
    .collect()
}

/// The methods that a model permits.
struct Methods {
    permitted: Vec<&'static str>,
    chosen: Option<&'static str>,
    reason: Option<String>,
}

impl Methods {
    fn of(scenario: &Scenario, options: &RunOptions) -> Self {
        // Whether the default step fits is not the question here.
        let chosen = scenario.chosen_method(options).ok();
        let (chosen, reason) = chosen.unzip();

        Self {
            permitted: scenario.permitted_methods(options),
            chosen,
            reason: reason.flatten(),
        }
    }
}

fn text(scenario: &Scenario, fmus: &[Found<'_>], methods: &Methods) -> String {
    let mut text = model::text(scenario, fmus.len());
    for fmu in fmus {
        text += &fmu.to_text();
        text.push('\n');
    }

    if fmus.iter().all(|fmu| fmu.prepared.unusable().is_none()) {
        let permitted = methods.permitted.join(", ");
        text += &paragraph(&format!("Methods that this supports: {permitted}."));
    }

    let is_coupled = scenario.connections.systems() > 1;
    if let Some(chosen) = methods.chosen.filter(|_| is_coupled) {
        let reason = methods.reason.as_ref();
        let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        text += &paragraph(&format!("auto chooses {chosen}{reason}."));
    }
    text + &words::warnings(&scenario.warnings)
}

/// One FMU, as it was found.
struct Found<'a> {
    name: &'a str,
    prepared: &'a PreparedFmu,
    capabilities: Capabilities,
    /// Whether all variables are shown.
    all: bool,
    /// Whether it was tried out.
    tried: bool,
}

impl Found<'_> {
    fn description(&self) -> &Description {
        self.prepared.fmu().description()
    }

    fn to_text(&self) -> String {
        let description = self.description();
        let mut text = paragraph(&format!("{}: {}", self.name, self.heading()));

        if let Some(words) = &description.description {
            text += &paragraph(words);
        }

        text.push('\n');
        text += &self.variables();
        text.push('\n');
        text += &self.abilities();
        text.extend(self.prepared.findings().iter().filter_map(note));

        text
    }

    fn described_variables(&self) -> impl Iterator<Item = &Variable> {
        self.description().variables.iter()
    }

    /// `FMI 3.0, Co-Simulation (also Model Exchange), made by …`.
    fn heading(&self) -> String {
        let (description, used) = (self.description(), self.prepared.used());
        let also = match used {
            InterfaceUse::CoSimulation if description.model_exchange.is_some() => {
                " (also Model Exchange)"
            }
            InterfaceUse::ModelExchange if description.co_simulation.is_some() => {
                " (also Co-Simulation)"
            }
            _ => "",
        };
        let tool = description
            .generation_tool
            .as_ref()
            .map_or_else(String::new, |tool| format!(", made by {tool}"));

        format!("FMI {}, {used}{also}{tool}", description.fmi_version)
    }

    fn variables(&self) -> String {
        let mut table = Table::new(&[
            ("variable", Alignment::Left),
            ("causality", Alignment::Left),
            ("type", Alignment::Left),
            ("unit", Alignment::Left),
            ("start", Alignment::Right),
            ("direct feedthrough from", Alignment::Left),
        ]);
        let interface = self.prepared.interface(self.name);
        let variables = self.described_variables();
        let all = &self.prepared.fmu().description().variables;

        for variable in variables.filter(|v| self.all || is_shown(v)) {
            table.row(variable_row(variable, all, &interface));
        }

        let states = listed_or(&interface.states, "none that are visible");
        let states = paragraph(&format!("States: {states}."));
        format!("{}\n{states}", table.narrowed(LINE).render(""))
    }

    fn abilities(&self) -> String {
        let (declared, found) = (self.prepared.declared(), self.prepared.abilities());
        let mut table = Table::new(&[
            ("capability", Alignment::Left),
            ("declared", Alignment::Left),
            ("found", Alignment::Left),
        ]);
        let mut row = |name: &str, of: &dyn Fn(&FmuCapabilities) -> String| {
            let found = if self.tried {
                of(found)
            } else {
                "not tried".to_owned()
            };
            table.row(vec![name.to_owned(), of(declared), found]);
        };
        row("rollback", &|a| yes_or_no(a.rollback));
        row("directional derivatives", &|a| yes_or_no(a.directional));
        row("linearization", &|a| yes_or_no(a.linearizes));
        row("inputs within a step", &|a| inputs(a));
        row("output derivatives", &|a| slopes(a));
        row("step", &|a| step_rule(a.step));
        row("event mode", &|a| yes_or_no(a.event_mode));

        table.narrowed(LINE).render("")
    }
}

/// What to say of a finding, if anything.
fn note(finding: &Finding) -> Option<String> {
    let capability = finding.capability;
    let what = &finding.what;

    match (finding.holds(), finding.confirmed()) {
        (false, _) => Some(paragraph(&format!("Not used: {capability} ({what})."))),
        (true, false) => Some(paragraph(&format!("Not confirmed: {capability} ({what})."))),
        (true, true) if capability == Capability::Linearization => {
            Some(paragraph(&format!("Note: {what}.")))
        }
        (true, true) => None,
    }
}

fn variable_row(variable: &Variable, all: &[Variable], interface: &Interface) -> Vec<String> {
    vec![
        variable.name.clone(),
        causality(variable.causality).to_owned(),
        format!("{:?}{}", variable.value_type, dimensions(variable, all)),
        variable.unit.clone().unwrap_or_default(),
        start(variable),
        depends_on(interface, variable),
    ]
}

/// Names with commas, or a word where there is none.
fn listed_or<S: Borrow<str>>(names: &[S], none: &str) -> String {
    if names.is_empty() {
        none.to_owned()
    } else {
        names.join(", ")
    }
}

fn inputs(abilities: &FmuCapabilities) -> String {
    match abilities.inputs {
        _ if abilities.sub_steps > 1 => format!("means over {} sub-steps", abilities.sub_steps),
        InputMode::Held => "held".to_owned(),
        InputMode::Derivatives(degree) => format!("polynomials of degree {degree}"),
        InputMode::Intermediate => "polynomials".to_owned(),
    }
}

fn slopes(abilities: &FmuCapabilities) -> String {
    match abilities.slopes {
        OutputSlopes::Unknown => "no".to_owned(),
        OutputSlopes::Reported(orders) => format!("order {orders}"),
        OutputSlopes::Chained if abilities.directional => {
            "order 1, from directional derivatives".to_owned()
        }
        OutputSlopes::Chained => "order 1, by differences".to_owned(),
    }
}

fn nature(nature: SignalKind) -> &'static str {
    match nature {
        SignalKind::Continuous => "continuous",
        SignalKind::Discrete => "discrete",
        SignalKind::Text => "text",
    }
}

fn is_parameter(variable: &Variable) -> bool {
    matches!(
        variable.causality,
        Causality::Parameter | Causality::StructuralParameter
    )
}

fn is_shown(variable: &Variable) -> bool {
    is_parameter(variable) || matches!(variable.causality, Causality::Input | Causality::Output)
}

fn causality(causality: Causality) -> &'static str {
    match causality {
        Causality::Input => "input",
        Causality::Output => "output",
        Causality::StructuralParameter => "structural parameter",
        Causality::Parameter => "parameter",
        Causality::CalculatedParameter => "calculated parameter",
        Causality::Local => "local",
        Causality::Independent => "independent",
        Causality::Dependent => "dependent",
    }
}

/// The sizes of an array; those that a structural parameter gives by its name.
fn dimensions(variable: &Variable, all: &[Variable]) -> String {
    use dovetail::fmi::description::Dimension;
    let parameter = |reference: u32| {
        let mut sizes = all.iter();
        sizes.find(|size| {
            size.reference == reference && size.causality == Causality::StructuralParameter
        })
    };
    let extent = |dimension: &Dimension| match dimension {
        Dimension::Fixed(size) => size.to_string(),
        Dimension::Parameter(reference) => {
            parameter(*reference).map_or("?".to_owned(), |size| size.name.clone())
        }
    };
    let all: Vec<String> = variable.dimensions.iter().map(extent).collect();

    if all.is_empty() {
        String::new()
    } else {
        format!("[{}]", all.join(","))
    }
}

/// The start value, as far as it fits into a table.
fn start(variable: &Variable) -> String {
    use dovetail::fmi::description::Value;
    let shown = |value: &Value| match value {
        Value::Float(number) => number.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Boolean(truth) => truth.to_string(),
        Value::String(text) => format!("{:?}", text.chars().take(20).collect::<String>()),
        Value::Binary(bytes) => format!("{} bytes", bytes.len()),
    };
    let all: Vec<String> = variable.start.iter().take(3).map(shown).collect();

    all.join(", ") + words::more(variable.start.len(), 3)
}

/// Whether this is the name of a variable or of an element of it.
fn is_of(variable: &Variable, name: &str) -> bool {
    let rest = name.strip_prefix(&variable.name);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
}

fn depends_on(interface: &Interface, variable: &Variable) -> String {
    let mut outputs = interface.outputs.iter();
    let output = outputs.find(|output| is_of(variable, &output.name));
    let Some(output) = output.filter(|_| variable.causality == Causality::Output) else {
        return String::new();
    };
    let names: Vec<&str> = output
        .depends_on
        .iter()
        .take(5)
        .map(|&i| interface.inputs[i].name.as_str())
        .collect();

    listed_or(&names, "nothing") + words::more(output.depends_on.len(), 5)
}

impl InterfaceArgument {
    /// As FMUs name it.
    pub fn named(self) -> InterfaceUse {
        match self {
            Self::CoSimulation => InterfaceUse::CoSimulation,
            Self::ModelExchange => InterfaceUse::ModelExchange,
        }
    }
}

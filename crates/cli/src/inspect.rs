//! `dovetail inspect`: what a model consists of; what an FMU says of itself, and which of that is true.

mod model;

use std::borrow::Borrow;

use dovetail::core::Interface;
use dovetail::findings::{
    FoundFmu, PermittedMethods, causality, inputs, inspection, is_parameter, slopes,
};
use dovetail::fmi::description::{Causality, Description, Variable};
use dovetail::fmi::{Capability, Finding, FmuCapabilities, InterfaceUse};
use dovetail::report::{Alignment, LINE, Table, paragraph};
use dovetail::scenario::{Choices, Overrides, Scenario};

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
    let capabilities = scenario.capabilities_of_systems(&options)?;
    let tried = !arguments.without_running;
    let fmus = FoundFmu::of(&scenario, &capabilities, arguments.all, tried);
    let methods = PermittedMethods::of(&scenario, &options);

    if arguments.json {
        return output::print_json(&inspection(&scenario, &fmus, &methods, "program"));
    }
    output::print(&text(&scenario, &fmus, &methods))
}

fn text(scenario: &Scenario, fmus: &[FoundFmu<'_>], methods: &PermittedMethods) -> String {
    let mut text = model::text(scenario, fmus.len());
    for fmu in fmus {
        text += &Shown(fmu).to_text();
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

/// One FMU, as it is shown.
struct Shown<'a>(&'a FoundFmu<'a>);

impl Shown<'_> {
    fn description(&self) -> &Description {
        self.0.description()
    }

    fn to_text(&self) -> String {
        let description = self.description();
        let mut text = paragraph(&format!("{}: {}", self.0.name, self.heading()));

        if let Some(words) = &description.description {
            text += &paragraph(words);
        }

        text.push('\n');
        text += &self.variables();
        text.push('\n');
        text += &self.abilities();
        text.extend(self.0.prepared.findings().iter().filter_map(note));

        text
    }

    fn described_variables(&self) -> impl Iterator<Item = &Variable> {
        self.description().variables.iter()
    }

    /// `FMI 3.0, Co-Simulation (also Model Exchange), made by …`.
    fn heading(&self) -> String {
        let (description, used) = (self.description(), self.0.prepared.used());
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
        let interface = self.0.prepared.interface(self.0.name);
        let variables = self.described_variables();
        let all = &self.0.prepared.fmu().description().variables;

        for variable in variables.filter(|v| self.0.all || is_shown(v)) {
            table.row(variable_row(variable, all, &interface));
        }

        let states = listed_or(&interface.states, "none that are visible");
        let states = paragraph(&format!("States: {states}."));
        format!("{}\n{states}", table.narrowed(LINE).render(""))
    }

    fn abilities(&self) -> String {
        let (declared, found) = (self.0.prepared.declared(), self.0.prepared.abilities());
        let mut table = Table::new(&[
            ("capability", Alignment::Left),
            ("declared", Alignment::Left),
            ("found", Alignment::Left),
        ]);
        let mut row = |name: &str, of: &dyn Fn(&FmuCapabilities) -> String| {
            let found = if self.0.tried {
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

fn is_shown(variable: &Variable) -> bool {
    is_parameter(variable) || matches!(variable.causality, Causality::Input | Causality::Output)
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

//! The connections of a model file, checked: every input has one source.

use std::collections::HashMap;
use std::ops::Range;

use dovetail_core::{Interface, Mapping, SignalKind, Source, list_names, nearest};
use dovetail_fmi::description::UnitDefinition;
use toml::Spanned;

use crate::connected::{Connected, finish, held_inputs};
use crate::diagnostic::Problem;
use crate::file::toml_file::ConnectionTable;
use crate::fmu::unit_of_measure::conversion;
use crate::source::part::Part;
use crate::source::value::{Bounds, Given};
use crate::structure::elements::{in_words, positions, sizes};
use crate::units::unit_named;

/// An input or output, as stacked position.
#[derive(Clone, Copy)]
struct ConnectedVariable {
    system: usize,
    /// Within the system.
    position: usize,
    stacked: usize,
}

/// Resolves the names. `systems` holds the place of each system's name in the file.
pub(crate) fn connect(
    parts: &[Part],
    systems: &[Range<usize>],
    tables: &[Spanned<ConnectionTable>],
    open_inputs: bool,
) -> Result<Connected, Vec<Problem>> {
    let interfaces: Vec<Interface> = parts.iter().map(Part::interface).collect();
    let mut resolver = Resolver::new(&interfaces, parts);
    resolver.opens = open_inputs;
    let mut problems: Vec<Problem> = tables
        .iter()
        .filter_map(|table| resolver.take(table).err())
        .collect();
    resolver.hold_open_inputs(systems);
    problems.extend(resolver.missing(systems));
    if !problems.is_empty() {
        return Err(problems);
    }

    let Resolver {
        fed,
        mappings,
        warnings,
        disturbances,
        open,
        ..
    } = resolver;
    let (sources, places) = fed.into_iter().flatten().unzip();
    let connected = finish(interfaces, sources, places, mappings, warnings);
    Ok(Connected {
        disturbances,
        open,
        ..connected
    })
}

struct Resolver<'a> {
    interfaces: &'a [Interface],
    parts: &'a [Part],
    /// For each system by name: its position, and how many inputs and outputs come before its own.
    systems: HashMap<&'a str, (usize, usize, usize)>,
    fed: Vec<Option<(Source, Range<usize>)>>,
    /// A connection that could not be resolved may be the one an input waits for: do not complain twice.
    tried: Vec<bool>,
    mappings: Vec<Mapping>,
    warnings: Vec<String>,
    /// Whether inputs that nothing feeds are left to whoever runs the model, and which these are.
    opens: bool,
    open: Vec<usize>,
    disturbances: Vec<(usize, Bounds)>,
}

impl<'a> Resolver<'a> {
    fn new(interfaces: &'a [Interface], parts: &'a [Part]) -> Self {
        let (mut systems, mut inputs, mut outputs) = (HashMap::new(), 0, 0);
        for (k, interface) in interfaces.iter().enumerate() {
            systems.insert(interface.name.as_str(), (k, inputs, outputs));
            (inputs, outputs) = (
                inputs + interface.inputs.len(),
                outputs + interface.outputs.len(),
            );
        }

        let (mappings, warnings) = (vec![Mapping::Identity; inputs], Vec::new());
        Self {
            interfaces,
            parts,
            systems,
            fed: vec![None; inputs],
            tried: vec![false; inputs],
            mappings,
            warnings,
            opens: false,
            open: Vec::new(),
            disturbances: Vec::new(),
        }
    }

    fn take(&mut self, table: &Spanned<ConnectionTable>) -> Result<(), Problem> {
        let ConnectionTable { from, value, to } = table.get_ref();
        self.check_driven(to)?;
        let inputs = match self.find_all(to, Side::To) {
            Ok(inputs) => inputs,
            Err(problem) => {
                self.excuse(to.get_ref());
                return Err(problem);
            }
        };
        for input in &inputs {
            self.tried[input.stacked] = true;
        }
        let sources = self.sources(table, &inputs)?;
        for (input, source) in inputs.iter().zip(sources) {
            if let Some((_, first)) = &self.fed[input.stacked] {
                return Err(fed_twice(to).first(first.clone(), "it is fed here first"));
            }
            self.fed[input.stacked] = Some((source, table_span(from, value, to)));
        }
        Ok(())
    }

    /// What a table or an expression drives takes no connection.
    fn check_driven(&self, to: &Spanned<String>) -> Result<(), Problem> {
        let Some((system, name)) = to.get_ref().split_once('.') else {
            return Ok(());
        };
        match self.systems.get(system) {
            Some(&(k, ..)) if self.parts[k].drives_any_of(name) => Err(fed_twice(to)),
            _ => Ok(()),
        }
    }

    /// What a connection feeds its inputs with: one, or all elements of an array.
    fn sources(
        &mut self,
        table: &Spanned<ConnectionTable>,
        inputs: &[ConnectedVariable],
    ) -> Result<Vec<Source>, Problem> {
        let ConnectionTable { from, value, to } = table.get_ref();
        match (from, value) {
            (Some(from), None) => {
                let outputs = self.find_all(from, Side::From)?;
                self.check_sizes(&outputs, inputs, from, to)?;
                let pairs = outputs.iter().zip(inputs);
                pairs
                    .map(|(&output, &input)| self.output(output, input, from, to))
                    .collect()
            }
            (None, Some(value)) => match between(value)? {
                Some(bounds) => {
                    let bounded = inputs.iter().map(|input| (input.stacked, bounds));
                    self.disturbances.extend(bounded);
                    Ok(vec![Source::Constant(bounds.middle()); inputs.len()])
                }
                None => constants(value, inputs.len()),
            },
            (Some(_), Some(_)) => Err(Problem::at(
                table.span(),
                "a connection has `from` or `value`, not both",
            )),
            (None, None) => Err(nothing_connected(to)),
        }
    }

    /// An output, with the mapping to the unit of the input.
    fn output(
        &mut self,
        output: ConnectedVariable,
        input: ConnectedVariable,
        from: &Spanned<String>,
        to: &Spanned<String>,
    ) -> Result<Source, Problem> {
        self.check_natures(output, input, from, to)?;
        self.mappings[input.stacked] = self.check_units(output, input, from, to)?;
        Ok(Source::Output(output.stacked))
    }

    /// A connection whose target is misspelt may be meant for any input of that system, or of any system.
    fn excuse(&mut self, to: &str) {
        let system = to.split_once('.').map(|(system, _)| system);
        let known = self
            .interfaces
            .iter()
            .any(|i| Some(i.name.as_str()) == system);
        let mut input = 0;

        for interface in self.interfaces {
            for _ in &interface.inputs {
                self.tried[input] |= !known || Some(interface.name.as_str()) == system;
                input += 1;
            }
        }
    }

    /// A variable, or all elements of an array in their order.
    fn find_all(
        &self,
        name: &Spanned<String>,
        side: Side,
    ) -> Result<Vec<ConnectedVariable>, Problem> {
        let array = name.get_ref().split_once('.').and_then(|(system, array)| {
            let &(k, inputs, outputs) = self.systems.get(system)?;
            let before = match side {
                Side::From => outputs,
                Side::To => inputs,
            };
            let names = side.names(&self.interfaces[k]);
            let elements = positions(array, &names).into_iter();
            let elements = elements.map(|position| ConnectedVariable {
                system: k,
                position,
                stacked: before + position,
            });
            Some(elements.collect::<Vec<_>>()).filter(|all| !all.is_empty())
        });
        match array {
            Some(elements) => Ok(elements),
            None => Ok(vec![self.find(name, side)?]),
        }
    }

    /// Arrays are connected where they have the same sizes.
    fn check_sizes(
        &self,
        outputs: &[ConnectedVariable],
        inputs: &[ConnectedVariable],
        from: &Spanned<String>,
        to: &Spanned<String>,
    ) -> Result<(), Problem> {
        let sizes = |ends: &[ConnectedVariable], name: &Spanned<String>, side: Side| {
            let interface = &self.interfaces[ends.first()?.system];
            let (_, array) = name.get_ref().split_once('.')?;
            Some(sizes(array, &side.names(interface)))
        };
        let given = sizes(outputs, from, Side::From).unwrap_or_default();
        let wanted = sizes(inputs, to, Side::To).unwrap_or_default();
        if given == wanted {
            return Ok(());
        }
        let message = format!(
            "`{}` is {}, but `{}` is {}",
            from.get_ref(),
            in_words(&given),
            to.get_ref(),
            in_words(&wanted)
        );
        let help = "connect arrays of the same sizes, or single elements: \
                    `from = \"a.y[1]\"`, `to = \"b.u[1]\"`";
        Err(Problem::at(to.span(), message).help(help))
    }

    fn find(&self, name: &Spanned<String>, side: Side) -> Result<ConnectedVariable, Problem> {
        let text = name.get_ref().as_str();
        let Some((system, variable)) = text.split_once('.') else {
            let message = format!("`{text}` is not of the form system.variable");
            let names = self.interfaces.iter().flat_map(|interface| {
                let names = side.names(interface);
                names.into_iter().map(|name| interface.qualified(name))
            });
            let known: Vec<String> = names.collect();
            let known = known.iter().map(String::as_str);
            return Err(Problem::at(name.span(), message).suggest(text, known));
        };
        let Some(&(k, inputs, outputs)) = self.systems.get(system) else {
            return Err(self.no_system(name, system));
        };
        let position = side
            .names(&self.interfaces[k])
            .iter()
            .position(|n| *n == variable);
        let before = match side {
            Side::From => outputs,
            Side::To => inputs,
        };

        match position {
            Some(position) => Ok(ConnectedVariable {
                system: k,
                position,
                stacked: before + position,
            }),
            None => Err(self.unknown(name, k, variable, side)),
        }
    }

    fn no_system(&self, name: &Spanned<String>, system: &str) -> Problem {
        let systems = self.interfaces.iter().map(|i| i.name.clone());
        let systems: Vec<String> = systems.collect();
        let message = format!("there is no system `{system}`");
        let help = format!("the systems are {}", list_names(&systems));

        Problem::at(name.span(), message)
            .help(help)
            .suggest(system, systems.iter().map(String::as_str))
    }

    fn unknown(
        &self,
        name: &Spanned<String>,
        system: usize,
        variable: &str,
        side: Side,
    ) -> Problem {
        let interface = &self.interfaces[system];
        let known: Vec<String> = side
            .names(interface)
            .iter()
            .map(|n| (*n).to_owned())
            .collect();
        let (what, other) = match side {
            Side::From => ("output", Side::To),
            Side::To => ("input", Side::From),
        };
        let problem = Problem::at(
            name.span(),
            format!("`{}` has no {what} `{variable}`", interface.name),
        )
        .of_variable(&interface.name, variable);

        if other.names(interface).contains(&variable) {
            let is = if what == "output" {
                "an input"
            } else {
                "an output"
            };
            return problem.help(format!(
                "`{variable}` is {is}; a connection leads from an output to an input"
            ));
        }

        if interface.states.iter().any(|state| state == variable) {
            return problem.help(format!(
                "`{variable}` is a state; make it an output: outputs = {{ {variable} = \"{variable}\" }}"
            ));
        }
        if known.is_empty() {
            return problem.help(format!("it has no {what}s at all"));
        }

        let listed = format!("its {what}s are {}", list_names(&known));
        problem
            .help(listed)
            .suggest(variable, known.iter().map(String::as_str))
    }

    /// What happens to the value between the two, where their units of measure differ and can be converted.
    fn check_units(
        &self,
        output: ConnectedVariable,
        input: ConnectedVariable,
        from: &Spanned<String>,
        to: &Spanned<String>,
    ) -> Result<Mapping, Problem> {
        let given = &self.interfaces[output.system].outputs[output.position];
        let wanted = &self.interfaces[input.system].inputs[input.position];
        let (Some(given_unit), Some(wanted_unit)) = (&given.unit, &wanted.unit) else {
            return Ok(Mapping::Identity);
        };
        if given_unit == wanted_unit {
            return Ok(Mapping::Identity);
        }

        let source = self.measure(output.system, &given.name, given_unit);
        let target = self.measure(input.system, &wanted.name, wanted_unit);
        let converted = source
            .zip(target)
            .and_then(|((from, a_difference), (to, difference))| {
                conversion(&from, &to, a_difference || difference)
            });

        converted.ok_or_else(|| {
            let message = format!(
                "`{}` is in {given_unit}, but `{}` is in {wanted_unit}",
                from.get_ref(),
                to.get_ref()
            );
            let unknown = [given_unit, wanted_unit]
                .into_iter()
                .find(|unit| unit_named(unit).is_none());
            let help = match unknown {
                Some(unit) => format!(
                    "`{unit}` is not a known unit, so nothing is converted: write both alike, or \
                     convert it in one of the two systems"
                ),
                None => {
                    "they measure different things: convert it in one of the two systems".into()
                }
            };
            Problem::at(to.span(), message).help(help)
        })
    }

    /// What the unit of a variable is, and whether the variable is a difference. What an FMU defines counts before what is
    /// generally known of that name.
    fn measure(&self, system: usize, variable: &str, unit: &str) -> Option<(UnitDefinition, bool)> {
        let own = self.parts[system].source.unit_of_measure(variable);
        let relative = own.is_some_and(|own| own.relative);
        let defined = own.filter(|own| own.definition.exponents.is_some());
        let definition = defined.map(|own| own.definition.clone());
        Some((definition.or_else(|| unit_named(unit))?, relative))
    }

    /// A text goes to a text, bytes go to bytes, and a number goes to a number.
    fn check_natures(
        &self,
        output: ConnectedVariable,
        input: ConnectedVariable,
        from: &Spanned<String>,
        to: &Spanned<String>,
    ) -> Result<(), Problem> {
        let given = &self.interfaces[output.system].outputs[output.position];
        let wanted = &self.interfaces[input.system].inputs[input.position];
        let given = self.parts[output.system].nature_of(&given.name, given.kind);
        let wanted = self.parts[input.system].nature_of(&wanted.name, wanted.kind);
        if given == wanted {
            return Ok(());
        }
        let message = format!(
            "`{}` is {given}, but `{}` is {wanted}",
            from.get_ref(),
            to.get_ref()
        );
        Err(Problem::at(to.span(), message))
    }

    /// An input of an FMU has a start value, which it keeps where nothing feeds it; or it is left to whoever runs the model.
    fn hold_open_inputs(&mut self, systems: &[Range<usize>]) {
        let mut stacked = 0;
        for (system, interface) in self.interfaces.iter().enumerate() {
            let holds = self.opens || self.parts[system].source.holds_open_inputs();
            let mut held = Vec::new();
            for input in &interface.inputs {
                if holds && self.fed[stacked].is_none() && !self.tried[stacked] {
                    self.fed[stacked] =
                        Some((Source::Constant(input.start), systems[system].clone()));
                    match self.opens && input.kind != SignalKind::Text {
                        true => self.open.push(stacked),
                        false => held.push(interface.qualified(&input.name)),
                    }
                }
                stacked += 1;
            }
            if !held.is_empty() {
                let warning = held_inputs(&held);
                self.warnings.push(warning);
            }
        }
    }

    fn missing(&self, systems: &[Range<usize>]) -> Vec<Problem> {
        let inputs = self
            .interfaces
            .iter()
            .enumerate()
            .flat_map(|(k, i)| i.inputs.iter().map(move |input| (k, i, input)));
        let open = inputs
            .zip(&self.fed)
            .zip(&self.tried)
            .filter(|((_, fed), tried)| fed.is_none() && !**tried);

        open.map(|(((system, interface, input), _), _)| {
            let name = interface.qualified(&input.name);
            Problem::at(systems[system].clone(), format!("nothing feeds the input `{name}`")).help(format!(
                "add a connection: [[connections]] with from = \"{}\" and to = \"{name}\", or value = {:?} for a constant",
                self.likely_source(&input.name),
                input.start
            ))
        })
        .collect()
    }

    /// An output whose name is that of the input, or near to it.
    fn likely_source(&self, input: &str) -> String {
        let outputs: Vec<(&Interface, &str)> = self
            .interfaces
            .iter()
            .flat_map(|i| i.outputs.iter().map(move |o| (i, o.name.as_str())))
            .collect();
        let near = nearest(input, outputs.iter().map(|(_, name)| *name));
        let found = outputs.iter().find(|(_, name)| Some(*name) == near);

        found.map_or_else(
            || "system.output".to_owned(),
            |(interface, name)| interface.qualified(name),
        )
    }
}

/// The bounds of `{ between = [lower, upper] }`.
fn between(value: &Spanned<toml::Value>) -> Result<Option<Bounds>, Problem> {
    let toml::Value::Table(table) = value.get_ref() else {
        return Ok(None);
    };
    let refuse = |message: String| {
        let problem = Problem::at(value.span(), message);
        problem.help(
            "write { between = [-0.1, 0.1] }, or a number, or an expression of time in quotes",
        )
    };
    let Some(given) = table.get("between").filter(|_| table.len() == 1) else {
        return Err(refuse(
            "a value as a table has the one key `between`".to_owned(),
        ));
    };
    let bounds = match Given::of(given) {
        Some(list @ Given::List(_)) => list.bounds().map_err(refuse)?,
        _ => return Err(refuse("`between` is a list of two numbers".to_owned())),
    };
    let Bounds { lower, upper, .. } = bounds;
    if !(lower.is_finite() && upper.is_finite() && lower <= upper) {
        let message = format!(
            "nothing is between {lower} and {upper}: two finite numbers are needed, the smaller one first"
        );
        return Err(refuse(message));
    }
    Ok(Some(bounds))
}

/// A number for each of so many inputs: one for all of them, or a list.
fn constants(value: &Spanned<toml::Value>, count: usize) -> Result<Vec<Source>, Problem> {
    let items = match value.get_ref() {
        toml::Value::Array(items) if count > 1 => items,
        _ => return Ok(vec![constant(value)?; count]),
    };
    if items.len() != count {
        let message = format!("{} values for {count} elements", items.len());
        return Err(Problem::at(value.span(), message));
    }
    let each = items.iter();
    let each = each.map(|item| constant(&Spanned::new(value.span(), item.clone())));
    each.collect()
}

fn constant(value: &Spanned<toml::Value>) -> Result<Source, Problem> {
    let refuse = |message: &str| Err(Problem::at(value.span(), message));
    match Given::of(value.get_ref()) {
        Some(Given::Boolean(truth)) => Ok(Source::Constant(f64::from(u8::from(truth)))),
        Some(given) => match given.number() {
            Some(number) if number.is_finite() => Ok(Source::Constant(number)),
            Some(_) => refuse("a constant must be a finite number"),
            None => refuse("a value is a number, or an expression of time in quotes"),
        },
        None => refuse("a value is a number, or an expression of time in quotes"),
    }
}

fn nothing_connected(to: &Spanned<String>) -> Problem {
    let message = format!("nothing is connected to `{}` here", to.get_ref());
    Problem::at(to.span(), message)
        .help("add `from = \"system.output\"`, or `value = 1.0` for a constant")
}

pub(crate) fn fed_twice(to: &Spanned<String>) -> Problem {
    let message = format!("the input `{}` is fed twice", to.get_ref());
    Problem::at(to.span(), message).help(
        "an input has one source: remove one of the two connections, or add the signals up in a \
         system",
    )
}

fn table_span(
    from: &Option<Spanned<String>>,
    value: &Option<Spanned<toml::Value>>,
    to: &Spanned<String>,
) -> Range<usize> {
    from.as_ref()
        .map(Spanned::span)
        .or(value.as_ref().map(Spanned::span))
        .unwrap_or_else(|| to.span())
}

#[derive(Clone, Copy)]
enum Side {
    From,
    To,
}

impl Side {
    fn names(self, interface: &Interface) -> Vec<&str> {
        match self {
            Self::From => interface.outputs.iter().map(|o| o.name.as_str()).collect(),
            Self::To => interface.inputs.iter().map(|i| i.name.as_str()).collect(),
        }
    }
}

//! The events of a model, checked against its systems and made into one system and overrides.

use std::ops::Range;

use dovetail_core::{
    Interface, OverriddenPlace, OverriddenVariable, Override, SignalKind, list_names,
};
use dovetail_equations::{Place, SyntaxError};
use toml::Spanned;

use super::conditions::rename;
use super::source::EventsSource;
use super::writer::{Writer, change_in_force, lasting};
use crate::diagnostic::Problem;
use crate::expressions::{Known, with_numbers};
use crate::file::toml_file::{ConnectionTable, within_string};
use crate::source::part::Part;

/// An event as it is meant.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub trigger: Trigger,
    pub changes: Vec<Change>,
    pub stop: bool,
}

impl Event {
    /// What it changes, in words.
    fn names(&self) -> String {
        let changes = self.changes.iter();
        let changes = changes.map(|change| format!("{}.{}", change.system, change.name));
        let names: Vec<String> = changes.collect();
        match names.is_empty() {
            true => "the end of the run".to_owned(),
            false => list_names(&names),
        }
    }
}

/// When it happens.
#[derive(Clone, Debug)]
pub(crate) enum Trigger {
    At(f64),
    /// A condition, and where it stands.
    When(String, Range<usize>),
}

/// What it does to a variable.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub system: String,
    pub name: String,
    pub action: Override,
    pub until: Option<f64>,
    pub place: Range<usize>,
}

/// What the events of a model add to it.
pub(crate) struct Added {
    pub part: Part,
    /// The connections to and from it.
    pub connections: Vec<Spanned<ConnectionTable>>,
    /// Where its place is in the file.
    pub place: Range<usize>,
}

/// A variable that events change, and the state that says how.
pub(super) struct Target<'a> {
    system: usize,
    name: &'a str,
    /// The name of its output, and of its state.
    pub output: String,
    /// A parameter whose value events set, and its start; otherwise the number of an override is set.
    pub parameter: Option<f64>,
    /// All changes: the numbers of the event and of the change in it.
    changes: Vec<(usize, usize)>,
}

/// Makes the events of a model: a system, and overrides of others.
pub(crate) struct EventsBuilder<'a> {
    pub text: &'a str,
    pub events: &'a [Event],
    pub constants: &'a Known,
    /// Start and end of the run.
    pub run: (f64, f64),
    /// Parameters of equations that are inputs.
    pub tuned: &'a [(String, String)],
}

impl EventsBuilder<'_> {
    /// Adds the overrides to `parts`, and makes the system.
    pub fn build(&self, parts: &mut [Part]) -> Result<Added, Vec<Problem>> {
        let mut targets: Vec<Target<'_>> = Vec::new();
        let mut problems = Vec::new();
        for (number, event) in self.events.iter().enumerate() {
            for (index, change) in event.changes.iter().enumerate() {
                let known = targets.iter_mut().find(|target| {
                    parts[target.system].name() == change.system && target.name == change.name
                });
                if let Some(known) = known {
                    known.changes.push((number, index));
                    continue;
                }
                match self.target(parts, change) {
                    Ok(mut target) => {
                        let others = targets.iter().map(|target| target.output.as_str());
                        target.output = free_name(target.output, &others.collect::<Vec<_>>());
                        target.changes.push((number, index));
                        targets.push(target);
                    }
                    Err(problem) => problems.push(problem),
                }
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }

        for target in &targets {
            self.check_actions(&parts[target.system], target)
                .map_err(|problem| vec![problem])?;
            self.override_in(parts, target);
        }
        self.system(parts, &targets)
            .map_err(|problem| vec![problem])
    }

    /// What does nothing in this run.
    pub fn warnings(&self) -> Vec<String> {
        let (start, stop) = self.run;
        let mut warnings = Vec::new();
        for event in self.events {
            if let Trigger::At(time) = event.trigger
                && time > stop
            {
                let names = event.names();
                warnings.push(format!(
                    "the event at t = {time} s ({names}) is after the end of the run, at {stop} s: it does nothing"
                ));
                continue;
            }
            let over = |change: &&Change| change.until.is_some_and(|until| until <= start);
            warnings.extend(event.changes.iter().filter(over).map(|change| {
                format!(
                    "what an event does to `{}.{}` is over before the run starts, at {start} s",
                    change.system, change.name
                )
            }));
        }
        warnings
    }

    fn change(&self, (event, change): (usize, usize)) -> &Change {
        &self.events[event].changes[change]
    }

    /// What a change is about.
    fn target<'c>(&self, parts: &[Part], change: &'c Change) -> Result<Target<'c>, Problem> {
        let refuse = |message: String| Problem::at(change.place.clone(), message);
        let Some(system) = parts.iter().position(|part| part.name() == change.system) else {
            let names: Vec<String> = parts.iter().map(|part| part.name().to_owned()).collect();
            let problem = refuse(format!("there is no system `{}`", change.system));
            let problem = problem.help(format!("the systems are {}", list_names(&names)));
            return Err(problem.suggest(&change.system, names.iter().map(String::as_str)));
        };
        let inner = parts[system].source.interface();
        let plain = |c: char| {
            if c == '_' || c.is_alphanumeric() {
                c
            } else {
                '_'
            }
        };
        let output: String = format!("{}_{}", change.system, change.name)
            .chars()
            .map(plain)
            .collect();
        let parameter = self.parameter(&parts[system], &inner, change);
        let is_input = inner.inputs.iter().any(|input| input.name == change.name);
        let is_output = inner
            .outputs
            .iter()
            .any(|output| output.name == change.name);

        if parameter.is_some() && parts[system].drives(&change.name) {
            return Err(refuse(format!(
                "a table drives the parameter `{}`, and an event sets it: it can have one source",
                change.name
            )));
        }
        if is_input || is_output {
            return Ok(Target {
                system,
                name: &change.name,
                output,
                parameter,
                changes: Vec::new(),
            });
        }
        Err(unknown(&inner, change))
    }

    /// The start value of a parameter; none where the variable is something else.
    fn parameter(&self, part: &Part, inner: &Interface, change: &Change) -> Option<f64> {
        let mut inputs = inner.inputs.iter();
        let start = inputs.find(|input| input.name == change.name)?.start;
        let tuned = self.tuned.iter();
        let mut tuned = tuned.filter(|(system, _)| *system == change.system);
        let of_equations = tuned.any(|(_, name)| *name == change.name);
        let of_fmu = part.source.fmu().is_some_and(|prepared| {
            let mut variables = prepared.fmu().description().variables.iter();
            variables.any(|v| v.is_tunable() && v.name == change.name)
        });
        (of_equations || of_fmu).then_some(start)
    }

    /// A parameter is set to a number; what is held takes no gain.
    fn check_actions(&self, part: &Part, target: &Target<'_>) -> Result<(), Problem> {
        let takes = part.takes(target.name);
        for (position, &number) in target.changes.iter().enumerate() {
            let change = self.change(number);
            let value = match (change.action, target.parameter) {
                (Override::Value(value), _) => Some(value),
                (_, Some(_)) => Some(self.value(target, position)),
                _ => None,
            };
            if let Some(Err(what)) = value.map(|value| takes.check(value)) {
                let message = format!("`{}.{}`: {what}", change.system, change.name);
                return Err(Problem::at(change.place.clone(), message));
            }
            if target.parameter.is_some() && change.action == Override::Stuck {
                let message = format!(
                    "`{}` is a parameter, which stays as it is anyway",
                    target.name
                );
                return Err(Problem::at(change.place.clone(), message).help("give its new value"));
            }
        }
        Ok(())
    }

    /// Overrides of an input or an output, with the input that says which is in force.
    fn override_in(&self, parts: &mut [Part], target: &Target<'_>) {
        if target.parameter.is_some() {
            return;
        }
        let inner = parts[target.system].source.interface();
        let mut inputs = inner.inputs.iter();
        let input = inputs.position(|input| input.name == target.name);
        let mut outputs = inner.outputs.iter();
        let output = outputs.position(|output| output.name == target.name);
        let place = match (output, input) {
            (Some(output), _) => OverriddenPlace::Output(output),
            (None, Some(input)) => OverriddenPlace::Input(input),
            (None, None) => return,
        };
        let actions = target
            .changes
            .iter()
            .map(|&number| self.change(number).action);
        parts[target.system].overrides.push(OverriddenVariable {
            place,
            input: override_input(target.name),
            overrides: actions.collect(),
        });
    }

    /// The value of a target's state while a change is in force: that of the parameter, or the number of the override.
    fn value(&self, target: &Target<'_>, position: usize) -> f64 {
        let Some(start) = target.parameter else {
            return (position + 1) as f64;
        };
        match self.change(target.changes[position]).action {
            Override::Value(value) => value,
            Override::Affine { gain, offset } => gain * start + offset,
            Override::Stuck => start,
        }
    }

    fn system(&self, parts: &[Part], targets: &[Target<'_>]) -> Result<Added, Problem> {
        let interfaces: Vec<Interface> = parts.iter().map(Part::interface).collect();
        let name = own_name(parts);
        let mut writer = Writer::new(&name);
        let mut places = Vec::new();

        for target in targets {
            let changes = target.changes.iter();
            let released = changes
                .map(|&change| self.change(change).until)
                .any(|u| u.is_some());
            writer.state(target, released);
        }
        for (number, event) in self.events.iter().enumerate() {
            let assignments = self.assignments(number, targets, &mut writer);
            let condition = match &event.trigger {
                Trigger::At(time) if *time <= self.run.0 => {
                    self.start_with(number, targets, &mut writer);
                    continue;
                }
                Trigger::At(time) => format!("time >= {time:?}"),
                Trigger::When(text, place) => {
                    let condition = self.condition(text, place, &interfaces, &mut writer)?;
                    places.push((writer.whens.len(), condition.clone(), place.clone(), text));
                    condition
                }
            };
            writer.when(condition, assignments);
        }
        self.release(targets, &mut writer);
        let connections = self.connections(parts, targets, &writer, &name);
        let place = self.events.iter().find_map(|event| match &event.trigger {
            Trigger::When(_, place) => Some(place.clone()),
            Trigger::At(_) => event.changes.first().map(|change| change.place.clone()),
        });
        let place = place.unwrap_or(0..0);
        let source = EventsSource::compile(writer.finish());
        let source = source.map_err(|errors| self.located(&errors[0], &places, &place))?;

        Ok(Added {
            part: Part::new(source),
            connections,
            place,
        })
    }

    /// What an event assigns.
    fn assignments(
        &self,
        number: usize,
        targets: &[Target<'_>],
        writer: &mut Writer,
    ) -> Vec<(String, String)> {
        let event = &self.events[number];
        let once = matches!(event.trigger, Trigger::When(..)).then(|| writer.fired(number));
        let guarded = |state: &str, value: String, until: Option<f64>| {
            let mut guards = Vec::new();
            guards.extend(
                once.as_ref()
                    .map(|fired| format!("previous({fired}) < 0.5")),
            );
            guards.extend(until.map(|until| format!("time < {until:?}")));
            match guards.is_empty() {
                true => value,
                false => format!(
                    "if {} then {value} else previous({state})",
                    guards.join(" and ")
                ),
            }
        };
        let mut all = Vec::new();
        for target in targets {
            for (position, &change) in target.changes.iter().enumerate() {
                if change.0 != number {
                    continue;
                }
                let until = self.change(change).until;
                let value = format!("{:?}", self.value(target, position));
                if until.is_none()
                    && let Some(base) = writer.base_of(target)
                {
                    all.push((base.clone(), guarded(&base, value.clone(), None)));
                }
                all.push((target.output.clone(), guarded(&target.output, value, until)));
                if let Some(mode) = writer.mode_of(target) {
                    let value = (position + 1).to_string();
                    all.push((mode.clone(), guarded(&mode, value, until)));
                }
            }
        }
        if event.stop {
            all.push((writer.stop(), "1".to_owned()));
        }
        all.extend(once.iter().map(|fired| (fired.clone(), "1".to_owned())));
        all
    }

    /// An event at the start, or before, is in force from the beginning.
    fn start_with(&self, number: usize, targets: &[Target<'_>], writer: &mut Writer) {
        for target in targets {
            for (position, &change) in target.changes.iter().enumerate() {
                let until = self.change(change).until;
                if change.0 != number || until.is_some_and(|until| until <= self.run.0) {
                    continue;
                }
                let value = self.value(target, position);
                writer.start(&target.output, value);
                if until.is_none()
                    && let Some(base) = writer.base_of(target)
                {
                    writer.start(&base, value);
                }
                if let Some(mode) = writer.mode_of(target) {
                    writer.start(&mode, (position + 1) as f64);
                }
            }
        }
        if self.events[number].stop {
            let stop = writer.stop();
            writer.start(&stop, 1.0);
        }
    }

    /// What comes to its end is released, unless something else is in force by then.
    fn release(&self, targets: &[Target<'_>], writer: &mut Writer) {
        let mut ends: Vec<f64> = Vec::new();
        let all = targets.iter().flat_map(|target| &target.changes);
        for until in all.filter_map(|&change| self.change(change).until) {
            if !ends.contains(&until) {
                ends.push(until);
            }
        }
        for until in ends {
            let mut assignments = Vec::new();
            for target in targets {
                let ending = target.changes.iter().enumerate();
                let ending =
                    ending.filter(|(_, change)| self.change(**change).until == Some(until));
                let mode = writer
                    .mode_of(target)
                    .unwrap_or_else(|| target.output.clone());
                let is_one =
                    ending.map(|(position, _)| format!("previous({mode}) == {}", position + 1));
                let is_one: Vec<String> = is_one.collect();
                if is_one.is_empty() {
                    continue;
                }
                let condition = is_one.join(" or ");
                let base = writer.base_of(target).unwrap_or_default();
                let state = &target.output;
                let value = format!("if {condition} then previous({base}) else previous({state})");
                assignments.push((state.clone(), value));
                if mode != target.output {
                    let value = format!("if {condition} then 0 else previous({mode})");
                    assignments.push((mode, value));
                }
            }
            writer.when(format!("time >= {until:?}"), assignments);
        }
    }

    /// A condition in names that the system of events knows.
    fn condition(
        &self,
        text: &str,
        place: &Range<usize>,
        interfaces: &[Interface],
        writer: &mut Writer,
    ) -> Result<String, Problem> {
        let states = writer.outputs.iter().chain(&writer.hidden);
        let states = states.map(|(name, _)| (name.clone(), String::new()));
        let taken: Vec<_> = writer.watched.iter().cloned().chain(states).collect();
        let renamed = rename(text, interfaces, &taken);
        for (name, qualified) in renamed.variables {
            if writer.watched.iter().any(|(known, _)| *known == name) {
                continue;
            }
            let offset = text.find(&qualified).unwrap_or(0);
            let span = within_string(self.text, place, offset, qualified.len());
            check_observable(&qualified, interfaces, span)?;
            writer.watched.push((name, qualified));
        }
        let own: Known = self.constants.clone();
        Ok(with_numbers(&renamed.text, &own))
    }

    /// An error in a condition, where it stands in the file.
    fn located(
        &self,
        error: &SyntaxError,
        places: &[(usize, String, Range<usize>, &String)],
        place: &Range<usize>,
    ) -> Problem {
        let help =
            "a condition is made of variables such as `tank.level`, of constants and of time";
        if let Place::Condition(when) = error.place
            && let Some((_, condition, place, text)) = places.iter().find(|(k, ..)| *k == when)
        {
            // Numbers in place of constants move what comes after them.
            let span = match condition.len() == text.len() {
                true => within_string(self.text, place, error.offset, error.length),
                false => place.clone(),
            };
            let help = error.help.clone().unwrap_or_else(|| help.to_owned());
            return Problem::at(span, error.message.clone()).help(help);
        }
        Problem::at(place.clone(), error.to_string())
    }

    /// What the system watches, and what it feeds.
    fn connections(
        &self,
        parts: &[Part],
        targets: &[Target<'_>],
        writer: &Writer,
        name: &str,
    ) -> Vec<Spanned<ConnectionTable>> {
        let spanned = |place: &Range<usize>, text: String| Spanned::new(place.clone(), text);
        let table = |from: String, to: String, place: &Range<usize>| {
            let table = ConnectionTable {
                from: Some(spanned(place, from)),
                value: None,
                to: spanned(place, to),
            };
            Spanned::new(place.clone(), table)
        };
        let mut all = Vec::new();
        for (alias, qualified) in &writer.watched {
            let place = self.events.iter().find_map(|event| match &event.trigger {
                Trigger::When(text, place) if text.contains(qualified.as_str()) => {
                    Some(place.clone())
                }
                _ => None,
            });
            let place = place.unwrap_or(0..0);
            all.push(table(qualified.clone(), format!("{name}.{alias}"), &place));
        }
        for target in targets {
            let place = &self.change(target.changes[0]).place;
            let system = parts[target.system].name();
            let input = match target.parameter {
                Some(_) => target.name.to_owned(),
                None => override_input(target.name),
            };
            let from = format!("{name}.{}", target.output);
            all.push(table(from, format!("{system}.{input}"), place));
        }
        all
    }
}

/// A name for a state and an output that no other target has, nor what is derived from its name.
fn free_name(mut name: String, others: &[&str]) -> String {
    let derived = |name: &str| [name.to_owned(), lasting(name), change_in_force(name)];
    let clashes = |name: &str| {
        let own = derived(name);
        let mut others = others.iter().flat_map(|other| derived(other));
        others.any(|other| own.contains(&other))
    };
    while clashes(&name) {
        name.push('_');
    }
    name
}

/// The input that says which override of a variable is in force.
fn override_input(name: &str) -> String {
    format!("{name}_override")
}

/// The name of the system of events: one that no other has.
fn own_name(parts: &[Part]) -> String {
    let mut name = "events".to_owned();
    while parts.iter().any(|part| part.name() == name) {
        name.push('_');
    }
    name
}

fn unknown(inner: &Interface, change: &Change) -> Problem {
    let name = &change.name;
    let system = &inner.name;
    if inner.states.iter().any(|state| state == name) {
        let message =
            format!("`{name}` is a state of `{system}`, which an event of the model cannot set");
        let help = format!("write [[systems.{system}.when]] with reset = {{ {name} = \"0\" }}");
        return Problem::at(change.place.clone(), message).help(help);
    }
    let inputs = inner.inputs.iter().map(|input| input.name.clone());
    let outputs = inner.outputs.iter().map(|output| output.name.clone());
    let known: Vec<String> = inputs.chain(outputs).collect();
    let message = format!("`{system}` has no tunable parameter, input or output `{name}`");
    Problem::at(change.place.clone(), message)
        .help(format!("its inputs and outputs are {}", list_names(&known)))
        .suggest(name, known.iter().map(String::as_str))
}

/// Only what a system shows can be watched.
fn check_observable(
    qualified: &str,
    interfaces: &[Interface],
    span: Range<usize>,
) -> Result<(), Problem> {
    let is_output = interfaces.iter().any(|interface| {
        let mut outputs = interface.outputs.iter();
        outputs.any(|output| {
            output.kind != SignalKind::Text && interface.qualified(&output.name) == qualified
        })
    });
    if is_output {
        return Ok(());
    }
    let message = format!("`{qualified}` is no output, and cannot be watched");
    let name = qualified
        .rsplit_once('.')
        .map_or(qualified, |(_, name)| name);
    let help = format!(
        "make a state an output, outputs = {{ {name} = \"{name}\" }}; for an input name the output \
         that feeds it"
    );
    Err(Problem::at(span, message).help(help))
}

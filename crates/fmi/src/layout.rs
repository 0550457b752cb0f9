//! From the variables of an FMU to the interface of a system: which values travel, in which order, by
//! which references.

use std::collections::{BTreeSet, HashMap};

use dovetail_core::{Input, Interface, Linearization, Output, SignalKind, list_names};

use crate::description::{
    Causality, Description, Dimension, Value, ValueType, Variability, Variable, Version,
};
use crate::numbers::as_number;

/// Variables of one type that are set or got together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Group {
    pub kind: ValueType,
    pub references: Vec<u32>,
    /// Where each value belongs, among the inputs or outputs of the system.
    pub positions: Vec<usize>,
}

/// The start value of an input that is a whole number beyond those that floating point has all of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ExactStart {
    pub position: usize,
    pub kind: ValueType,
    pub reference: u32,
    pub value: Value,
}

/// How values are laid out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    pub inputs: Vec<Input>,
    pub outputs: Vec<Output>,
    pub states: Vec<String>,
    /// The inputs that are not continuous, by type: held, and in event mode set only there.
    pub other_inputs: Vec<Group>,
    /// Double-precision outputs and states, each once: what is read after a step.
    pub read: Vec<u32>,
    pub read_values: usize,
    /// Of every value read: the output and the state that it is.
    pub read_output: Vec<(usize, usize)>,
    pub read_state: Vec<(usize, usize)>,
    /// The other outputs, by type.
    pub other_outputs: Vec<Group>,
    /// References of continuous outputs, and their positions: what has derivatives.
    pub smooth_outputs: Vec<u32>,
    pub smooth_output_positions: Vec<usize>,
    /// Those whose derivatives are asked for: all but the outputs that are states, with the
    /// positions of those states.
    pub asked_outputs: Vec<u32>,
    pub asked_output_positions: Vec<usize>,
    pub identities: Vec<(usize, usize)>,
    /// References of continuous inputs, and their positions: what may be a polynomial.
    pub smooth_inputs: Vec<u32>,
    pub smooth_input_positions: Vec<usize>,
    /// Those of them that may be set during intermediate update, and their positions.
    pub followed_inputs: Vec<u32>,
    pub followed_input_positions: Vec<usize>,
    /// Where the others stand among the values of the continuous inputs, and their positions.
    pub unfollowed_inputs: Vec<(usize, usize)>,
    /// States and their derivatives.
    pub state_references: Vec<u32>,
    pub derivative_references: Vec<u32>,
    /// For each input variable (a position in the description): the positions of its elements.
    pub elements_of_inputs: HashMap<usize, Vec<usize>>,
    /// Start values that are set as they are, and not as the numbers that stand for them.
    pub exact_starts: Vec<ExactStart>,
    /// Whether the dependencies of all outputs are declared.
    pub dependencies_declared: bool,
    /// Variables that no coupling can use, and why.
    pub left_out: Vec<String>,
}

impl Layout {
    /// Positions and values of the outputs among the values that were read.
    #[inline]
    pub fn outputs_of<'a>(&'a self, read: &'a [f64]) -> impl Iterator<Item = (usize, f64)> + 'a {
        let pairs = self.read_output.iter();
        pairs.map(|&(place, position)| (position, read[place]))
    }

    /// Positions and values of the states among the values that were read.
    #[inline]
    pub fn states_of<'a>(&'a self, read: &'a [f64]) -> impl Iterator<Item = (usize, f64)> + 'a {
        let pairs = self.read_state.iter();
        pairs.map(|&(place, position)| (position, read[place]))
    }

    /// What `value` gives for the position of each continuous input.
    #[inline]
    pub fn fill_smooth_inputs(&self, values: &mut [f64], value: impl Fn(usize) -> f64) {
        fill(values, &self.smooth_input_positions, value);
    }

    /// Whether all values are double-precision numbers.
    pub fn has_only_floats(&self) -> bool {
        self.other_inputs.is_empty() && self.other_outputs.is_empty()
    }

    /// How many numbers a directional derivative is taken by: states and continuous inputs.
    pub fn known_values(&self) -> usize {
        self.states.len() + self.smooth_input_positions.len()
    }

    /// Puts a column of derivatives, of states' rates and then of outputs, where it belongs: those
    /// by a state, or by an input.
    pub fn place_column(&self, column: usize, values: &[f64], into: &mut Linearization) {
        let states = self.states.len();
        let (rates, slopes) = values.split_at(states);
        let (f, g, at) = if column < states {
            (&mut into.a, &mut into.c, column)
        } else {
            (
                &mut into.b,
                &mut into.d,
                self.smooth_input_positions[column - states],
            )
        };
        f.column_mut(at).as_mut_slice().copy_from_slice(rates);

        for (&slope, &position) in slopes.iter().zip(&self.asked_output_positions) {
            g[(position, at)] = slope;
        }
        for &(position, state) in &self.identities {
            g[(position, at)] = f64::from(u8::from(state == column));
        }
    }

    /// The outputs that are states need not be asked for their derivatives: some FMUs answer zero
    /// for them.
    fn find_identities(&mut self) {
        let has_arrays = self.has_arrays();
        let outputs = self.smooth_outputs.iter();

        for (&reference, &position) in outputs.zip(&self.smooth_output_positions) {
            match self.state_of(reference).filter(|_| !has_arrays) {
                Some(state) => self.identities.push((position, state)),
                None => self.asked_outputs.push(reference),
            }
        }

        let positions = self.smooth_output_positions.iter().copied();
        let asked = positions.filter(|&position| !self.is_identity(position));
        self.asked_output_positions = asked.collect();
    }

    /// Whether a state or a continuous output is an array.
    fn has_arrays(&self) -> bool {
        self.states.len() != self.state_references.len()
            || self.smooth_outputs.len() != self.smooth_output_positions.len()
    }

    fn state_of(&self, reference: u32) -> Option<usize> {
        let mut states = self.state_references.iter();
        states.position(|&state| state == reference)
    }

    fn is_identity(&self, position: usize) -> bool {
        let mut identities = self.identities.iter();
        identities.any(|&(identity, _)| identity == position)
    }

    /// Lays out an FMU; `structural` holds values that differ from the start values of structural
    /// parameters, `continuous` names reals that are declared discrete and are not, `recorded`
    /// variables that are to be read although they are no outputs, `tuned` parameters that are
    /// inputs.
    pub fn new(
        description: &Description,
        structural: &HashMap<u32, usize>,
        continuous: &[String],
        recorded: &[String],
        tuned: &[String],
    ) -> Self {
        let mut builder = Builder {
            description,
            structural,
            continuous,
            layout: Self::default(),
            places: HashMap::new(),
        };
        builder.inputs();
        builder.tuned(tuned);
        builder.outputs();
        builder.states();
        builder.dependencies();
        builder.record(recorded);
        let mut layout = builder.layout;
        layout.find_identities();

        layout
    }

    /// No output depends on other inputs than these.
    pub fn keep_dependencies(&mut self, inputs: &[usize]) {
        for output in &mut self.outputs {
            output.depends_on.retain(|input| inputs.contains(input));
        }
    }

    /// An output depends on an input; whether that was not known.
    pub fn add_dependency(&mut self, output: usize, input: usize) -> bool {
        let depends_on = &mut self.outputs[output].depends_on;
        if depends_on.contains(&input) {
            return false;
        }

        depends_on.push(input);
        depends_on.sort_unstable();
        true
    }

    /// One more reference that is read after every step; where its values will stand.
    fn add_read(&mut self, reference: u32, values: usize) -> usize {
        let place = self.read_values;
        self.read.push(reference);
        self.read_values += values;
        place
    }

    /// What to say of an FMU all of whose reals are declared to jump: they may well be quantities.
    pub fn doubt(&self, description: &Description) -> Option<String> {
        let reals = description.variables.iter().filter(|v| is_real_port(v));
        let names: Vec<String> = reals.map(|v| v.name.clone()).collect();
        let smooth = self.smooth_input_positions.len() + self.smooth_output_positions.len();

        (smooth == 0 && !names.is_empty()).then(|| {
            format!(
                "all its real inputs and outputs ({}) are declared discrete: they are held over \
                 each step, whatever the method; if they are \
                 continuous quantities, list them under `continuous` in the model",
                list_names(&names)
            )
        })
    }

    /// Inputs start at values that were given for them.
    pub fn take_starts(&mut self, description: &Description, given: &[(usize, Vec<Value>)]) {
        self.note_exact_starts(description, given);
        for (variable, values) in given {
            let Some(positions) = self.elements_of_inputs.get(variable) else {
                continue;
            };
            for (&position, value) in positions.iter().zip(values) {
                self.inputs[position].start = as_number(value);
            }
        }
    }

    /// Which start values, given or of the FMU itself, are no floating-point numbers.
    fn note_exact_starts(&mut self, description: &Description, given: &[(usize, Vec<Value>)]) {
        for (&index, positions) in &self.elements_of_inputs {
            let variable = &description.variables[index];
            let given = given.iter().find(|(own, _)| *own == index);
            let starts = given.map_or(&variable.start, |(_, values)| values);
            if let ([position], [value @ Value::Integer(whole)]) = (&positions[..], &starts[..])
                && (*whole as f64) as i128 != *whole
            {
                self.exact_starts.push(ExactStart {
                    position: *position,
                    kind: variable.value_type,
                    reference: variable.reference,
                    value: value.clone(),
                });
            }
        }
    }

    /// The interface of a system of this name.
    pub fn interface(&self, name: &str) -> Interface {
        Interface {
            name: name.to_owned(),
            inputs: self.inputs.clone().into(),
            outputs: self.outputs.clone().into(),
            states: self.states.clone().into(),
        }
    }
}

/// Gathers what `value` gives for each of these positions.
#[inline]
pub(crate) fn fill(values: &mut [f64], positions: &[usize], value: impl Fn(usize) -> f64) {
    for (place, &position) in values.iter_mut().zip(positions) {
        *place = value(position);
    }
}

/// Whether a variable is an input or output of double precision.
fn is_real_port(variable: &Variable) -> bool {
    matches!(variable.causality, Causality::Input | Causality::Output)
        && variable.value_type == ValueType::Float64
}

/// How many values a variable has.
pub(crate) fn size(
    description: &Description,
    structural: &HashMap<u32, usize>,
    variable: &Variable,
) -> usize {
    let extents = extents(description, structural, variable);
    extents.into_iter().fold(1, usize::saturating_mul)
}

/// The sizes of a variable in its directions.
pub(crate) fn extents(
    description: &Description,
    structural: &HashMap<u32, usize>,
    variable: &Variable,
) -> Vec<usize> {
    let extent = |dimension: &Dimension| match dimension {
        Dimension::Fixed(size) => *size,
        Dimension::Parameter(reference) => match structural.get(reference) {
            Some(size) => *size,
            None => start_size(description, *reference),
        },
    };
    variable.dimensions.iter().map(extent).collect()
}

/// The start value of a structural parameter.
fn start_size(description: &Description, reference: u32) -> usize {
    let mut variables = description.variables.iter();
    let parameter = variables.find(|variable| variable.reference == reference);
    parameter.map_or(0, |parameter| first_size(&parameter.start).unwrap_or(0))
}

/// The first of these values as a size.
fn first_size(values: &[Value]) -> Option<usize> {
    values.first().map(whole_size)
}

/// A value as a size.
fn whole_size(value: &Value) -> usize {
    as_number(value).max(0.0) as usize
}

/// `name`, or `name[1]`, `name[1,2]` for the elements of an array, row by row.
fn element_names(name: &str, extents: &[usize]) -> Vec<String> {
    if extents.is_empty() {
        return vec![name.to_owned()];
    }

    let places = places(extents);
    let named = places.iter().map(|place| format!("{name}[{place}]"));
    named.collect()
}

/// The places of the elements of an array, row by row: `1,1`, `1,2` and so on.
fn places(extents: &[usize]) -> Vec<String> {
    let Some((&extent, inner)) = extents.split_first() else {
        return vec![String::new()];
    };
    let inner = places(inner);
    let row = |i: usize| {
        let separator = |rest: &String| if rest.is_empty() { "" } else { "," };
        let place = move |rest: &String| format!("{i}{}{rest}", separator(rest));
        inner.iter().map(place).collect::<Vec<String>>()
    };

    (1..=extent).flat_map(row).collect()
}

struct Builder<'a> {
    description: &'a Description,
    structural: &'a HashMap<u32, usize>,
    continuous: &'a [String],
    layout: Layout,
    /// Where the values of a reference stand among those read.
    places: HashMap<u32, usize>,
}

impl<'a> Builder<'a> {
    fn elements(&self, variable: &Variable) -> Vec<String> {
        element_names(
            &variable.name,
            &extents(self.description, self.structural, variable),
        )
    }

    /// Whether a coupling can carry it; otherwise it is noted.
    fn is_usable(&mut self, variable: &Variable) -> bool {
        let Some(why) = why_unusable(variable) else {
            return true;
        };
        self.layout
            .left_out
            .push(format!("`{}`: {why}", variable.name));
        false
    }

    /// The variables of this causality, with their positions.
    fn with_causality(&self, causality: Causality) -> Vec<(usize, &'a Variable)> {
        let variables = self.description.variables.iter().enumerate();
        variables
            .filter(|(_, variable)| variable.causality == causality)
            .collect()
    }

    /// Those of them that a coupling can carry; the others are noted.
    fn usable(&mut self, causality: Causality) -> Vec<(usize, &'a Variable)> {
        let mut variables = self.with_causality(causality);
        variables.retain(|(_, variable)| self.is_usable(variable));
        variables
    }

    fn inputs(&mut self) {
        for (index, variable) in self.usable(Causality::Input) {
            let kind = self.kind(variable);
            let positions = self.add_inputs(variable, kind);
            if kind == SignalKind::Continuous {
                self.add_smooth_input(variable, &positions);
            } else {
                add(&mut self.layout.other_inputs, variable, &positions);
            }
            self.layout.elements_of_inputs.insert(index, positions);
        }
    }

    /// A continuous input, which may be a polynomial.
    fn add_smooth_input(&mut self, variable: &Variable, positions: &[usize]) {
        let layout = &mut self.layout;
        let first = layout.smooth_input_positions.len();
        layout.smooth_inputs.push(variable.reference);
        layout.smooth_input_positions.extend(positions);
        if variable.intermediate_update {
            layout.followed_inputs.push(variable.reference);
            layout.followed_input_positions.extend(positions);
        } else {
            let places = (first..).zip(positions.iter().copied());
            layout.unfollowed_inputs.extend(places);
        }
    }

    /// Tunable parameters that are changed on the way.
    fn tuned(&mut self, names: &[String]) {
        let variables = self.description.variables.iter().enumerate();
        for (index, variable) in variables {
            if variable.is_tunable() && names.contains(&variable.name) && self.is_usable(variable) {
                let positions = self.add_inputs(variable, held_kind(variable));
                add(&mut self.layout.other_inputs, variable, &positions);
                self.layout.elements_of_inputs.insert(index, positions);
            }
        }
    }

    /// The elements of a variable as inputs; their positions.
    fn add_inputs(&mut self, variable: &Variable, kind: SignalKind) -> Vec<usize> {
        let first = self.layout.inputs.len();
        for (element, name) in self.elements(variable).into_iter().enumerate() {
            let start = variable.start.get(element).or(variable.start.first());
            self.layout.inputs.push(Input {
                name,
                start: start.map_or(0.0, as_number),
                unit: variable.unit.clone(),
                kind,
                ..Input::default()
            });
        }
        (first..self.layout.inputs.len()).collect()
    }

    fn outputs(&mut self) {
        for (_, variable) in self.usable(Causality::Output) {
            self.output(variable, self.kind(variable));
        }
    }

    /// One more output.
    fn output(&mut self, variable: &Variable, kind: SignalKind) {
        let positions = self.add_outputs(variable, kind);
        if variable.value_type != ValueType::Float64 {
            return add(&mut self.layout.other_outputs, variable, &positions);
        }

        let place = self.read(variable.reference, positions.len());
        let places = place..;
        let pairs = places.zip(positions.iter().copied());
        self.layout.read_output.extend(pairs);

        if kind == SignalKind::Continuous {
            self.layout.smooth_outputs.push(variable.reference);
            self.layout.smooth_output_positions.extend(&positions);
        }
    }

    /// The elements of a variable as outputs; their positions.
    fn add_outputs(&mut self, variable: &Variable, kind: SignalKind) -> Vec<usize> {
        let first = self.layout.outputs.len();
        for name in self.elements(variable) {
            self.layout.outputs.push(Output {
                name,
                unit: variable.unit.clone(),
                kind,
                // The standard's default says nothing.
                nominal: variable.nominal.filter(|nominal| *nominal != 1.0),
                ..Output::default()
            });
        }
        (first..self.layout.outputs.len()).collect()
    }

    /// Variables that are no outputs and are read as if they were. Nobody is fed by them, so they
    /// are not predicted.
    fn record(&mut self, names: &[String]) {
        for name in names {
            if let Some(variable) = self.recordable(name)
                && self.is_usable(variable)
            {
                self.output(variable, held_kind(variable));
            }
        }
    }

    /// The variable of this name, unless it is an output.
    fn recordable(&self, name: &str) -> Option<&'a Variable> {
        let mut variables = self.description.variables.iter();
        variables.find(|variable| variable.name == name && variable.causality != Causality::Output)
    }

    /// What the values of a variable are, by its type and variability.
    fn kind(&self, variable: &Variable) -> SignalKind {
        if self.is_continuous(variable) {
            SignalKind::Continuous
        } else {
            held_kind(variable)
        }
    }

    /// Single precision is held: it has no derivatives in the standard.
    fn is_continuous(&self, variable: &Variable) -> bool {
        variable.value_type == ValueType::Float64
            && (variable.variability == Variability::Continuous
                || self.continuous.contains(&variable.name))
    }

    /// Has a variable read after every step, once; where its values will stand.
    fn read(&mut self, reference: u32, values: usize) -> usize {
        let layout = &mut self.layout;
        let place = self.places.entry(reference);
        *place.or_insert_with(|| layout.add_read(reference, values))
    }

    fn states(&mut self) {
        let description = self.description;
        for unknown in &description.structure.derivatives {
            let derivative = &description.variables[unknown.variable];
            match derivative.derivative_of {
                Some(state) => self.state(&description.variables[state], derivative),
                // A state that cannot be named cannot be linearized either.
                None => return self.forget_states(),
            }
        }
        // Those of 1.0 are known by their number alone, and are never read as variables.
        let nameless = 1..=description.structure.nameless_states;
        let names = nameless.map(|state| format!("state[{state}]"));
        self.layout.states.extend(names);
    }

    /// One more state, with its derivative.
    fn state(&mut self, state: &Variable, derivative: &Variable) {
        let names = self.elements(state);
        let place = self.read(state.reference, names.len());
        let layout = &mut self.layout;
        let first = layout.states.len();
        let pairs = (0..names.len()).map(|i| (place + i, first + i));
        layout.read_state.extend(pairs);
        layout.states.extend(names);
        layout.state_references.push(state.reference);

        layout.derivative_references.push(derivative.reference);
    }

    fn forget_states(&mut self) {
        self.layout.states.clear();
        self.layout.read_state.clear();
        self.layout.state_references.clear();
        self.layout.derivative_references.clear();
    }

    /// Feedthrough as declared; all inputs where nothing is declared.
    fn dependencies(&mut self) {
        let listed = self.declared_dependencies();
        let mut declared = true;
        let mut next = 0;

        for (index, variable) in self.with_causality(Causality::Output) {
            if why_unusable(variable).is_some() {
                continue;
            }
            let depends_on = match listed.get(&index) {
                Some(variables) => self.inputs_among(variables),
                None => {
                    declared = false;
                    (0..self.layout.inputs.len()).collect()
                }
            };
            for _ in 0..size(self.description, self.structural, variable) {
                self.layout.outputs[next].depends_on.clone_from(&depends_on);
                next += 1;
            }
        }
        self.layout.dependencies_declared = declared;
    }

    /// The variables on which outputs depend, where that is declared.
    fn declared_dependencies(&self) -> HashMap<usize, &'a Vec<usize>> {
        let unknowns = self.description.structure.outputs.iter();
        let declared = unknowns.filter_map(|u| Some((u.variable, u.dependencies.as_ref()?)));
        declared.collect()
    }

    /// The positions of the inputs among these variables.
    fn inputs_among(&self, variables: &[usize]) -> Vec<usize> {
        let elements = &self.layout.elements_of_inputs;
        let positions = variables.iter().filter_map(|index| elements.get(index));
        let positions: BTreeSet<usize> = positions.flatten().copied().collect();
        positions.into_iter().collect()
    }
}

/// What the values of a variable that is not continuous are.
fn held_kind(variable: &Variable) -> SignalKind {
    match variable.value_type {
        // Bytes travel as texts do.
        ValueType::String | ValueType::Binary => SignalKind::Text,
        _ => SignalKind::Discrete,
    }
}

/// Why no coupling can carry a variable, if none can.
fn why_unusable(variable: &Variable) -> Option<&'static str> {
    match variable.value_type {
        ValueType::Clock => Some("clocks are not supported"),
        _ if variable.clocks.is_empty() => None,
        _ => Some("it belongs to a clock, and clocks are not supported"),
    }
}

fn add(groups: &mut Vec<Group>, variable: &Variable, positions: &[usize]) {
    let kind = variable.value_type;
    match groups.iter_mut().find(|group| group.kind == kind) {
        Some(group) => {
            group.references.push(variable.reference);
            group.positions.extend(positions);
        }
        None => groups.push(Group {
            kind,
            references: vec![variable.reference],
            positions: positions.to_vec(),
        }),
    }
}

/// Values that a user gave for structural parameters, by reference.
pub(crate) fn structural_values(
    description: &Description,
    given: &[(usize, Vec<Value>)],
) -> HashMap<u32, usize> {
    if description.version != Version::Three {
        return HashMap::new();
    }

    let structural = given.iter().filter_map(|(index, values)| {
        let variable = &description.variables[*index];
        let size = first_size(values)?;
        let is_structural = variable.causality == Causality::StructuralParameter;
        is_structural.then_some((variable.reference, size))
    });
    structural.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_named_row_by_row() {
        assert_eq!(element_names("a", &[]), ["a"]);
        assert_eq!(
            element_names("a", &[2, 2]),
            ["a[1,1]", "a[1,2]", "a[2,1]", "a[2,2]"]
        );
        assert!(element_names("a", &[0]).is_empty());
    }
}

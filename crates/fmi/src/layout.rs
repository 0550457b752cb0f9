//! From the variables of an FMU to the face of a system: which values travel, in which order, by
//! which references.

use std::collections::HashMap;

use dovetail_core::{Input, Interface, Linearization, Nature, Output, list_names};

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
    /// Whether all of those may be set during intermediate update.
    pub intermediate_inputs: bool,
    /// States and their derivatives.
    pub state_references: Vec<u32>,
    pub derivative_references: Vec<u32>,
    /// For each input variable (a position in the description): the positions of its elements.
    pub elements_of_inputs: HashMap<usize, Vec<usize>>,
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
        let scalar = self.states.len() == self.state_references.len()
            && self.smooth_outputs.len() == self.smooth_output_positions.len();
        for (&reference, &position) in self
            .smooth_outputs
            .iter()
            .zip(&self.smooth_output_positions)
        {
            let state = self
                .state_references
                .iter()
                .position(|&state| state == reference)
                .filter(|_| scalar);
            match state {
                Some(state) => self.identities.push((position, state)),
                None => self.asked_outputs.push(reference),
            }
        }
        let is_asked = |position: &usize| {
            !self
                .identities
                .iter()
                .any(|(identity, _)| identity == position)
        };
        self.asked_output_positions = self
            .smooth_output_positions
            .iter()
            .copied()
            .filter(is_asked)
            .collect();
    }

    /// Lays out an FMU; `structural` holds values that differ from the start values of structural
    /// parameters, `continuous` names reals that are declared discrete and are not, `recorded`
    /// variables that are to be read although they are no outputs.
    pub fn new(
        description: &Description,
        structural: &HashMap<u32, usize>,
        continuous: &[String],
        recorded: &[String],
    ) -> Self {
        let mut builder = Builder {
            description,
            structural,
            continuous,
            layout: Self::default(),
            inputs_of: HashMap::new(),
            places: HashMap::new(),
        };
        builder.inputs();
        builder.outputs();
        builder.states();
        builder.dependencies();
        builder.record(recorded);
        let Builder {
            mut layout,
            inputs_of,
            ..
        } = builder;
        layout.elements_of_inputs = inputs_of;
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
        let is_new = !depends_on.contains(&input);
        if is_new {
            depends_on.push(input);
            depends_on.sort_unstable();
        }
        is_new
    }

    /// What to say of an FMU all of whose reals are declared to jump: they may well be quantities.
    pub fn doubt(&self, description: &Description) -> Option<String> {
        let exchanged = |v: &&Variable| matches!(v.causality, Causality::Input | Causality::Output);
        let reals = description
            .variables
            .iter()
            .filter(exchanged)
            .filter(|v| v.value_type == ValueType::Float64);
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
    pub fn take_starts(&mut self, given: &[(usize, Vec<Value>)]) {
        for (variable, values) in given {
            let Some(positions) = self.elements_of_inputs.get(variable) else {
                continue;
            };
            for (&position, value) in positions.iter().zip(values) {
                self.inputs[position].start = as_number(value);
            }
        }
    }

    /// The face of a system of this name.
    pub fn interface(&self, name: &str) -> Interface {
        let (inputs, outputs, states) = (
            self.inputs.clone(),
            self.outputs.clone(),
            self.states.clone(),
        );
        Interface {
            name: name.to_owned(),
            inputs,
            outputs,
            states,
        }
    }
}

/// How many values a variable has.
pub(crate) fn size(
    description: &Description,
    structural: &HashMap<u32, usize>,
    variable: &Variable,
) -> usize {
    let extent = |dimension: &Dimension| match dimension {
        Dimension::Fixed(size) => *size,
        Dimension::Parameter(reference) => {
            structural.get(reference).copied().unwrap_or_else(|| {
                let parameter = description
                    .variables
                    .iter()
                    .find(|v| v.reference == *reference);
                parameter
                    .and_then(|v| v.start.first())
                    .map_or(0, |start| as_number(start).max(0.0) as usize)
            })
        }
    };
    variable
        .dimensions
        .iter()
        .map(extent)
        .fold(1, usize::saturating_mul)
}

/// The sizes of a variable in its directions.
fn extents(
    description: &Description,
    structural: &HashMap<u32, usize>,
    variable: &Variable,
) -> Vec<usize> {
    let one = |dimension: &Dimension| {
        let alone = Variable {
            dimensions: vec![*dimension],
            ..variable.clone()
        };
        size(description, structural, &alone)
    };
    variable.dimensions.iter().map(one).collect()
}

/// `name`, or `name[1]`, `name[1,2]` for the elements of an array, row by row.
fn element_names(name: &str, extents: &[usize]) -> Vec<String> {
    if extents.is_empty() {
        return vec![name.to_owned()];
    }
    let mut places = vec![Vec::new()];
    for &extent in extents {
        let longer = |place: &Vec<usize>| {
            let place = place.clone();
            (1..=extent).map(move |i| [place.clone(), vec![i]].concat())
        };
        places = places.iter().flat_map(longer).collect();
    }
    let text = |place: &Vec<usize>| {
        place
            .iter()
            .map(usize::to_string)
            .collect::<Vec<_>>()
            .join(",")
    };
    places
        .iter()
        .map(|place| format!("{name}[{}]", text(place)))
        .collect()
}

struct Builder<'a> {
    description: &'a Description,
    structural: &'a HashMap<u32, usize>,
    continuous: &'a [String],
    layout: Layout,
    /// For each input variable: the positions of its elements.
    inputs_of: HashMap<usize, Vec<usize>>,
    /// Where the values of a reference stand among those read.
    places: HashMap<u32, usize>,
}

impl Builder<'_> {
    fn elements(&self, variable: &Variable) -> Vec<String> {
        element_names(
            &variable.name,
            &extents(self.description, self.structural, variable),
        )
    }

    /// Whether a coupling can carry it; otherwise it is noted.
    fn is_usable(&mut self, variable: &Variable) -> bool {
        let why = match variable.value_type {
            ValueType::Binary => "binary values are not exchanged",
            ValueType::Clock => "clocks are not supported",
            _ if !variable.clocks.is_empty() => {
                "it belongs to a clock, and clocks are not supported"
            }
            _ => return true,
        };
        self.layout
            .left_out
            .push(format!("`{}`: {why}", variable.name));
        false
    }

    fn with_causality(&self, causality: Causality) -> Vec<usize> {
        let variables = self.description.variables.iter().enumerate();
        variables
            .filter(|(_, v)| v.causality == causality)
            .map(|(i, _)| i)
            .collect()
    }

    fn inputs(&mut self) {
        let description = self.description;
        let mut intermediate = true;
        for index in self.with_causality(Causality::Input) {
            let variable = &description.variables[index];
            if !self.is_usable(variable) {
                continue;
            }
            let first = self.layout.inputs.len();
            for (element, name) in self.elements(variable).into_iter().enumerate() {
                let start = variable
                    .start
                    .get(element)
                    .or(variable.start.first())
                    .map_or(0.0, as_number);
                let (unit, nature) = (variable.unit.clone(), self.nature(variable));
                self.layout.inputs.push(Input {
                    name,
                    start,
                    unit,
                    nature,
                    ..Input::default()
                });
            }
            let positions: Vec<usize> = (first..self.layout.inputs.len()).collect();
            if self.nature(variable) == Nature::Continuous {
                self.layout.smooth_inputs.push(variable.reference);
                self.layout.smooth_input_positions.extend(&positions);
                intermediate &= variable.intermediate_update;
            } else {
                add(&mut self.layout.other_inputs, variable, &positions);
            }
            self.inputs_of.insert(index, positions);
        }
        self.layout.intermediate_inputs = intermediate && !self.layout.smooth_inputs.is_empty();
    }

    fn outputs(&mut self) {
        let description = self.description;
        for index in self.with_causality(Causality::Output) {
            let variable = &description.variables[index];
            if self.is_usable(variable) {
                self.output(variable, self.nature(variable));
            }
        }
    }

    /// One more output.
    fn output(&mut self, variable: &Variable, nature: Nature) {
        let first = self.layout.outputs.len();
        for name in self.elements(variable) {
            let unit = variable.unit.clone();
            // The standard's default says nothing.
            let nominal = variable.nominal.filter(|nominal| *nominal != 1.0);
            self.layout.outputs.push(Output {
                name,
                unit,
                nature,
                nominal,
                ..Output::default()
            });
        }
        let positions: Vec<usize> = (first..self.layout.outputs.len()).collect();
        if variable.value_type != ValueType::Float64 {
            return add(&mut self.layout.other_outputs, variable, &positions);
        }
        let place = self.read(variable.reference, positions.len());
        let pairs = positions
            .iter()
            .enumerate()
            .map(|(i, &position)| (place + i, position));
        self.layout.read_output.extend(pairs);
        if nature == Nature::Continuous {
            self.layout.smooth_outputs.push(variable.reference);
            self.layout.smooth_output_positions.extend(&positions);
        }
    }

    /// Variables that are no outputs and are read as if they were. Nobody is fed by them, so they
    /// are not predicted.
    fn record(&mut self, names: &[String]) {
        let description = self.description;
        for name in names {
            let known = |variable: &&Variable| {
                variable.name == *name && variable.causality != Causality::Output
            };
            if let Some(variable) = description.variables.iter().find(known)
                && self.is_usable(variable)
            {
                let nature = if variable.value_type == ValueType::String {
                    Nature::Text
                } else {
                    Nature::Discrete
                };
                self.output(variable, nature);
            }
        }
    }

    /// What the values of a variable are, by its type and variability.
    fn nature(&self, variable: &Variable) -> Nature {
        match variable.value_type {
            ValueType::String => Nature::Text,
            ValueType::Float64 if self.continuous.contains(&variable.name) => Nature::Continuous,
            // Single precision is held: it has no derivatives in the standard.
            ValueType::Float64 if variable.variability == Variability::Continuous => {
                Nature::Continuous
            }
            _ => Nature::Discrete,
        }
    }

    /// Has a variable read after every step, once; where its values will stand.
    fn read(&mut self, reference: u32, values: usize) -> usize {
        let layout = &mut self.layout;
        *self.places.entry(reference).or_insert_with(|| {
            layout.read.push(reference);
            layout.read_values += values;
            layout.read_values - values
        })
    }

    fn states(&mut self) {
        let description = self.description;
        for unknown in &description.structure.derivatives {
            let derivative = &description.variables[unknown.variable];
            let Some(state) = derivative
                .derivative_of
                .map(|index| &description.variables[index])
            else {
                // A state that cannot be named cannot be linearized either.
                self.layout.states.clear();
                self.layout.read_state.clear();
                self.layout.state_references.clear();
                self.layout.derivative_references.clear();
                return;
            };
            let first = self.layout.states.len();
            self.layout.states.extend(self.elements(state));
            let count = self.layout.states.len() - first;
            let place = self.read(state.reference, count);
            self.layout
                .read_state
                .extend((0..count).map(|i| (place + i, first + i)));
            self.layout.state_references.push(state.reference);
            self.layout.derivative_references.push(derivative.reference);
        }
    }

    /// Feedthrough as declared; all inputs where nothing is declared.
    fn dependencies(&mut self) {
        let mut declared = true;
        let everything: Vec<usize> = (0..self.layout.inputs.len()).collect();
        let unknowns = self.description.structure.outputs.iter();
        let listed: HashMap<usize, &Vec<usize>> = unknowns
            .filter_map(|u| Some((u.variable, u.dependencies.as_ref()?)))
            .collect();
        let mut next = 0;
        for index in self.with_causality(Causality::Output) {
            let variable = &self.description.variables[index];
            let usable = !matches!(variable.value_type, ValueType::Binary | ValueType::Clock)
                && variable.clocks.is_empty();
            if !usable {
                continue;
            }
            let listed = listed.get(&index);
            declared &= listed.is_some();
            let mut depends_on: Vec<usize> = match listed {
                Some(list) => list
                    .iter()
                    .filter_map(|i| self.inputs_of.get(i))
                    .flatten()
                    .copied()
                    .collect(),
                None => everything.clone(),
            };
            depends_on.sort_unstable();
            depends_on.dedup();
            for _ in 0..size(self.description, self.structural, variable) {
                self.layout.outputs[next].depends_on.clone_from(&depends_on);
                next += 1;
            }
        }
        self.layout.dependencies_declared = declared;
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
    let structural = given.iter().filter_map(|(index, values)| {
        let variable = &description.variables[*index];
        let size = values.first().map(as_number)?;
        (variable.causality == Causality::StructuralParameter)
            .then_some((variable.reference, size.max(0.0) as usize))
    });
    if description.version == Version::Three {
        structural.collect()
    } else {
        HashMap::new()
    }
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

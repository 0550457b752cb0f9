//! The way from the texts of a model to its expressions.

use crate::declarations::{Declarations, Meaning};
use crate::error::{Fault, Place, Span, SyntaxError};
use crate::graph::{Graph, NodeId};
use crate::lexer::{MOST_FAULTS, shortened};
use crate::lowering::{Lowering, Typed, Uses};
use crate::model::{Model, Trigger, Unused, When};
use crate::native::SharedCell;
use crate::operation::ValueKind;
use crate::order::order;
use crate::parser::{Equations, parse_equations, parse_expression};
use crate::source::{LONGEST_TEXT, Source};
use crate::switches::Switches;
use crate::syntax::{Statement, Syntax, SyntaxNode, Target};

/// More mistakes than these are not listed for one model.
const MOST_ERRORS: usize = 100;

impl Model {
    /// Understands the texts of a model, or says everything that is wrong with them.
    pub fn parse(source: &Source<'_>) -> Result<Self, Vec<SyntaxError>> {
        build(source).map_err(|mut errors| {
            errors.truncate(MOST_ERRORS);
            errors
        })
    }
}

/// Parses all texts; if they parse, looks up every name; if all are known, gives the model.
fn build(source: &Source<'_>) -> Result<Model, Vec<SyntaxError>> {
    check_length(source)?;
    let texts = Texts::parse(source)?;
    let mut errors = Vec::new();
    let mut declarations = Declarations::of(source, &mut errors);
    let mut faults = Vec::new();
    declarations.define(source.equations, &texts.equations, &mut faults);

    if errors.is_empty() {
        let missing = declarations.missing(source);
        let is_typo = |fault: &Fault| faults.iter().any(|known| known.suggests_what(fault));
        let missing: Vec<Fault> = missing
            .into_iter()
            .filter(|fault| !is_typo(fault))
            .collect();
        faults.extend(missing);
    }

    let builder = Builder::new(source, &texts, &declarations, faults, errors);
    builder.build()
}

fn check_length(source: &Source<'_>) -> Result<(), Vec<SyntaxError>> {
    let length = source.length();
    if length <= LONGEST_TEXT {
        return Ok(());
    }

    let message = format!("the texts of the model take {length} bytes, more than {LONGEST_TEXT}");
    let fault = Fault::new(Span::new(0, 0), message);
    Err(vec![fault.in_text(Place::Equations, "")])
}

/// Mistakes of one text, as errors of the model.
fn errors_in<'t>(
    place: Place,
    text: &'t str,
    faults: Vec<Fault>,
) -> impl Iterator<Item = SyntaxError> + 't {
    faults
        .into_iter()
        .map(move |fault| fault.in_text(place.clone(), text))
}

/// The texts of a model, parsed.
struct Texts {
    equations: Equations,
    outputs: Vec<Vec<SyntaxNode>>,
    whens: Vec<ParsedWhen>,
}

/// A clause, parsed. A clause of the clock has no condition.
struct ParsedWhen {
    condition: Option<Vec<SyntaxNode>>,
    assignments: Vec<Vec<SyntaxNode>>,
}

/// What stands for the ticks of a system's clock.
const SAMPLE: &str = "sample";

impl Texts {
    fn parse(source: &Source<'_>) -> Result<Self, Vec<SyntaxError>> {
        let mut errors = Vec::new();
        let equations = match parse_equations(source.equations) {
            Ok(equations) => Some(equations),
            Err(faults) => {
                errors.extend(errors_in(Place::Equations, source.equations, faults));
                None
            }
        };
        let mut outputs = Vec::new();

        for (index, (_, text)) in source.outputs.iter().enumerate() {
            match parse_expression(text) {
                Ok(expression) => outputs.push(expression),
                Err(faults) => errors.extend(errors_in(Place::Output(index), text, faults)),
            }
        }
        let whens = parse_whens(source, &mut errors);
        match equations {
            Some(equations) if errors.is_empty() => Ok(Self {
                equations,
                outputs,
                whens,
            }),
            _ => Err(errors),
        }
    }
}

fn parse_whens(source: &Source<'_>, errors: &mut Vec<SyntaxError>) -> Vec<ParsedWhen> {
    let mut parse = |text: &str, place: Place| match parse_expression(text) {
        Ok(expression) => expression,
        Err(faults) => {
            errors.extend(errors_in(place, text, faults));
            Vec::new()
        }
    };
    let mut whens = Vec::new();

    for (index, when) in source.whens.iter().enumerate() {
        let samples = when.condition.trim() == SAMPLE;
        let condition = (!samples).then(|| parse(when.condition, Place::Condition(index)));
        let assignments = when.assignments().enumerate();
        let assignments =
            assignments.map(|(number, (_, text))| parse(text, Place::Assignment(index, number)));
        whens.push(ParsedWhen {
            condition,
            assignments: assignments.collect(),
        });
    }
    whens
}

/// Turns parsed texts into a model.
struct Builder<'a, 's> {
    source: &'a Source<'s>,
    texts: &'a Texts,
    lowering: Lowering<'a, 's>,
    /// Mistakes in the equations.
    faults: Vec<Fault>,
    /// Mistakes elsewhere.
    errors: Vec<SyntaxError>,
}

impl<'a, 's> Builder<'a, 's> {
    fn new(
        source: &'a Source<'s>,
        texts: &'a Texts,
        declarations: &'a Declarations<'s>,
        faults: Vec<Fault>,
        errors: Vec<SyntaxError>,
    ) -> Self {
        let definitions = texts.equations.definitions.len();
        let lowering = Lowering {
            declarations,
            graph: Graph::new(),
            switches: Switches::default(),
            delays: Vec::new(),
            definitions: vec![None; definitions],
            uses: Uses::none(source, definitions),
            recorded: 0,
        };

        Self {
            source,
            texts,
            lowering,
            faults,
            errors,
        }
    }

    fn build(mut self) -> Result<Model, Vec<SyntaxError>> {
        self.lower_definitions();
        let mut outputs = Vec::new();

        for index in 0..self.texts.outputs.len() {
            outputs.push(self.lower_output(index));
        }

        let whens: Vec<Option<When>> = (0..self.texts.whens.len())
            .map(|index| self.lower_when(index))
            .collect();

        self.list_faults();
        let outputs: Option<Vec<NodeId>> = outputs.into_iter().collect();
        match (outputs, whens.into_iter().collect()) {
            (Some(outputs), Some(whens)) if self.errors.is_empty() => {
                Ok(self.model(outputs, whens))
            }
            _ => Err(self.errors),
        }
    }

    fn lower_when(&mut self, index: usize) -> Option<When> {
        let source = self.source;
        let text = &source.whens[index];
        let texts = self.texts;
        let parsed = &texts.whens[index];
        let trigger = match &parsed.condition {
            None => Some(Trigger::Sample),
            Some(nodes) => {
                let place = Place::Condition(index);
                let condition = self.lower_text(text.condition, nodes, place, ValueKind::Boolean);
                condition.map(Trigger::Condition)
            }
        };
        let mut assignments = Vec::new();

        for (number, (name, expression)) in text.assignments().enumerate() {
            let place = Place::Assignment(index, number);
            let state = if number < text.set.len() + text.reset.len() {
                self.assigned(name, number < text.set.len(), &place)
            } else {
                self.assigned_at_rest(name, &place)
            };
            let nodes = &parsed.assignments[number];
            let value = self.lower_text(expression, nodes, place, ValueKind::Number);
            assignments.push(state.zip(value));
        }

        let mut assignments = assignments.into_iter().collect::<Option<Vec<_>>>()?;
        let at_rest = assignments.split_off(text.set.len() + text.reset.len());
        Some(When {
            trigger: trigger?,
            text: text.condition.trim().to_owned(),
            assignments,
            at_rest,
        })
    }

    /// The state, of either kind, that is set where a clause runs without end.
    fn assigned_at_rest(&mut self, name: &str, place: &Place) -> Option<usize> {
        match self.lowering.declarations.meaning(name) {
            Some(Meaning::Discrete(state) | Meaning::State(state)) => Some(state as usize),
            _ => {
                let message = format!("there is no state `{}` to set", shortened(name));
                let fault = Fault::new(Span::new(0, 0), message);
                self.errors.push(fault.in_text(place.clone(), ""));
                None
            }
        }
    }

    /// The state that a clause sets: a discrete one, or it resets a continuous one.
    fn assigned(&mut self, name: &str, sets: bool, place: &Place) -> Option<usize> {
        let quoted = shortened(name);
        let fault = match (self.lowering.declarations.meaning(name), sets) {
            (Some(Meaning::Discrete(state)), true) | (Some(Meaning::State(state)), false) => {
                return Some(state as usize);
            }
            (Some(Meaning::State(_)), true) => {
                let message = format!("`{quoted}` is a state with a derivative");
                Fault::new(Span::new(0, 0), message).help("give its new value under `reset`")
            }
            (Some(Meaning::Discrete(_)), false) => {
                let message = format!("`{quoted}` is a discrete state");
                Fault::new(Span::new(0, 0), message).help("give its new value under `set`")
            }
            (_, true) => {
                let message = format!("there is no discrete state `{quoted}` to set");
                Fault::new(Span::new(0, 0), message)
                    .help(format!("add `discrete = {{ {name} = 0 }}`"))
            }
            (_, false) => Fault::new(
                Span::new(0, 0),
                format!("there is no state `{quoted}` to reset"),
            ),
        };
        self.errors.push(fault.in_text(place.clone(), ""));
        None
    }

    /// An expression of a text of its own, which must be of this kind.
    fn lower_text(
        &mut self,
        text: &str,
        nodes: &[SyntaxNode],
        place: Place,
        kind: ValueKind,
    ) -> Option<NodeId> {
        let mut faults = Vec::new();
        let value = self
            .lowering
            .lower(text, nodes, 0..nodes.len(), &mut faults);
        if let Some(value) = value
            && value.kind != kind
        {
            let root = nodes[nodes.len() - 1].span;
            faults.push(kind.mismatch(root, value.kind));
        }

        self.errors.extend(errors_in(place, text, faults));
        value.map(|value| value.node)
    }

    fn lower_definitions(&mut self) {
        let order = order(&self.needs());
        for cycle in &order.cycles {
            self.faults.push(self.circular(cycle));
        }

        for index in order.sequence {
            self.lower_definition(index);
        }
    }

    fn lower_definition(&mut self, index: usize) {
        let definition = &self.texts.equations.definitions[index];
        let nodes = &self.texts.equations.nodes;
        let range = definition.nodes.clone();
        let root = nodes[range.end - 1].span;
        let text = self.source.equations;
        let value = self.lowering.lower(text, nodes, range, &mut self.faults);

        if definition.target == Target::Derivative && is_condition(value) {
            self.faults.push(number_expected(root));
        }
        self.lowering.definitions[index] = value;
    }

    fn lower_output(&mut self, index: usize) -> Option<NodeId> {
        let texts = self.texts;
        let (_, text) = self.source.outputs[index];
        let place = Place::Output(index);
        self.lower_text(text, &texts.outputs[index], place, ValueKind::Number)
    }

    /// For each definition, those that it uses.
    fn needs(&self) -> Vec<Vec<usize>> {
        let definitions = self.texts.equations.definitions.iter();
        definitions
            .map(|definition| self.needs_of(definition))
            .collect()
    }

    fn needs_of(&self, definition: &Statement) -> Vec<usize> {
        let nodes = &self.texts.equations.nodes[definition.nodes.clone()];
        let needs = nodes.iter().filter_map(|node| self.need(node));
        needs.collect()
    }

    /// The definition that a node stands for, if it does.
    fn need(&self, node: &SyntaxNode) -> Option<usize> {
        let declarations = self.lowering.declarations;
        let name = node.span.of(self.source.equations);

        match (node.syntax, declarations.meaning(name)) {
            (Syntax::Name, Some(Meaning::Intermediate(needed))) => Some(needed),
            (Syntax::DerivativeOf, Some(Meaning::State(state))) => {
                declarations.derivatives[state as usize]
            }
            _ => None,
        }
    }

    fn circular(&self, cycle: &[usize]) -> Fault {
        const MOST_NAMES: usize = 10;
        let definitions = &self.texts.equations.definitions;
        let name = |index: usize| definitions[index].label(self.source.equations);
        let mut names = Vec::new();

        for &index in cycle.iter().take(MOST_NAMES) {
            names.push(name(index));
        }

        if cycle.len() > MOST_NAMES {
            names.push("…".into());
        }

        names.push(name(cycle[0]));
        let message = format!("circular definition: {}", names.join(" -> "));
        Fault::new(definitions[cycle[0]].name, message)
    }

    /// Mistakes in the equations, in the order of the text, before all others.
    fn list_faults(&mut self) {
        let mut faults = std::mem::take(&mut self.faults);
        faults.sort_by_key(|fault| fault.span.offset);
        faults.truncate(MOST_FAULTS);
        let errors = errors_in(Place::Equations, self.source.equations, faults);
        self.errors.splice(0..0, errors);
    }

    fn model(mut self, output_roots: Vec<NodeId>, whens: Vec<When>) -> Model {
        let source = self.source;
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let outputs = source.outputs.iter().map(|&(name, _)| name.to_owned());
        let mut derivative_roots = self.derivative_roots();
        for _ in &source.discrete {
            derivative_roots.push(self.lowering.graph.constant(0.0));
        }

        Model {
            inputs: owned(&source.inputs),
            parameters: owned(&source.parameters),
            states: owned(&[source.states.as_slice(), &source.discrete].concat()),
            discrete: source.discrete.len(),
            whens,
            outputs: outputs.collect(),
            intermediates: self.intermediates(),
            derivative_roots,
            output_roots,
            unused: self.unused(),
            shared: SharedCell::default(),
            uses_slope: self.lowering.uses.slopes,
            switches: self.lowering.switches.list().to_vec(),
            delays: self.lowering.delays,
            graph: self.lowering.graph,
        }
    }

    fn derivative_roots(&self) -> Vec<NodeId> {
        let definitions = self.lowering.declarations.derivatives.iter().flatten();
        definitions.filter_map(|&index| self.root(index)).collect()
    }

    fn intermediates(&self) -> Vec<(String, NodeId)> {
        let lowered = |(index, name)| Some((name, self.root(index)?));
        self.intermediate_names().filter_map(lowered).collect()
    }

    /// The expression of a definition, if it was lowered.
    fn root(&self, definition: usize) -> Option<NodeId> {
        let value = self.lowering.definitions[definition]?;
        Some(value.node)
    }

    /// Indices among the definitions, and names.
    fn intermediate_names(&self) -> impl Iterator<Item = (usize, String)> {
        let text = self.source.equations;
        let definitions = self.texts.equations.definitions.iter().enumerate();
        definitions
            .filter(|(_, definition)| definition.target == Target::Intermediate)
            .map(move |(index, definition)| (index, definition.label(text)))
    }

    fn unused(&self) -> Vec<Unused> {
        let uses = &self.lowering.uses;
        let mut unused = Vec::new();

        for (index, name) in self.source.inputs.iter().enumerate() {
            if !uses.inputs[index] && !uses.slopes[index] {
                unused.push(Unused::Input(name.to_string()));
            }
        }

        for (index, name) in self.source.parameters.iter().enumerate() {
            if !uses.parameters[index] {
                unused.push(Unused::Parameter(name.to_string()));
            }
        }

        for (index, name) in self.intermediate_names() {
            if !uses.definitions[index] {
                unused.push(Unused::Intermediate(name));
            }
        }
        unused
    }
}

fn is_condition(value: Option<Typed>) -> bool {
    value.is_some_and(|value| value.kind == ValueKind::Boolean)
}

fn number_expected(span: Span) -> Fault {
    ValueKind::Number.mismatch(span, ValueKind::Boolean)
}

impl Statement {
    /// What it defines, as one would write it.
    fn label(&self, text: &str) -> String {
        match self.target {
            Target::Derivative => format!("der({})", shortened(self.name.of(text))),
            Target::Intermediate => self.name.of(text).to_owned(),
        }
    }
}

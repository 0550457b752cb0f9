//! The way from the texts of a model to its expressions.

use crate::declarations::{Declarations, Meaning};
use crate::error::{Fault, Place, Span, SyntaxError};
use crate::graph::{Graph, NodeId};
use crate::lexer::{MOST_FAULTS, shortened};
use crate::lowering::{Lowering, Typed, Uses};
use crate::model::{LONGEST_TEXT, Model, Source, Unused};
use crate::operation::Kind;
use crate::order::order;
use crate::parser::{Equations, parse_equations, parse_expression};
use crate::switches::Switches;
use crate::syntax::{Definition, Syntax, SyntaxNode, Target};

/// More mistakes than these are not listed for one model.
const MOST_ERRORS: usize = 100;

/// Parses all texts; if they parse, looks up every name; if all are known, gives the model.
pub(crate) fn build(source: &Source<'_>) -> Result<Model, Vec<SyntaxError>> {
    built(source).map_err(|mut errors| {
        errors.truncate(MOST_ERRORS);
        errors
    })
}

fn built(source: &Source<'_>) -> Result<Model, Vec<SyntaxError>> {
    check_length(source)?;
    let texts = Texts::parse(source)?;
    let mut errors = Vec::new();
    let mut declarations = Declarations::of(source, &mut errors);
    let mut faults = Vec::new();
    declarations.define(source.equations, &texts.equations, &mut faults);
    if errors.is_empty() {
        faults.extend(declarations.missing(source));
    }
    let builder = Builder::new(source, &texts, &declarations, faults, errors);
    builder.build()
}

fn check_length(source: &Source<'_>) -> Result<(), Vec<SyntaxError>> {
    let names = source
        .inputs
        .iter()
        .chain(&source.parameters)
        .chain(&source.states);
    let outputs = source
        .outputs
        .iter()
        .map(|(name, text)| name.len() + text.len());
    let length =
        names.map(|name| name.len()).chain(outputs).sum::<usize>() + source.equations.len();
    if length <= LONGEST_TEXT {
        return Ok(());
    }
    let message = format!("the texts of the model take {length} bytes, more than {LONGEST_TEXT}");
    Err(vec![
        Fault::new(Span::new(0, 0), message).in_text(Place::Equations, ""),
    ])
}

/// The texts of a model, parsed.
struct Texts {
    equations: Equations,
    outputs: Vec<Vec<SyntaxNode>>,
}

impl Texts {
    fn parse(source: &Source<'_>) -> Result<Self, Vec<SyntaxError>> {
        let mut errors = Vec::new();
        let mut note = |place: Place, text: &str, faults: Vec<Fault>| {
            errors.extend(
                faults
                    .into_iter()
                    .map(|fault| fault.in_text(place.clone(), text)),
            );
        };
        let equations = parse_equations(source.equations)
            .map_err(|faults| note(Place::Equations, source.equations, faults))
            .ok();
        let outputs = source
            .outputs
            .iter()
            .enumerate()
            .filter_map(|(index, (_, text))| {
                parse_expression(text)
                    .map_err(|faults| note(Place::Output(index), text, faults))
                    .ok()
            });
        let outputs = outputs.collect();
        match equations {
            Some(equations) if errors.is_empty() => Ok(Self { equations, outputs }),
            _ => Err(errors),
        }
    }
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
        let uses = Uses {
            inputs: vec![false; source.inputs.len()],
            slopes: vec![false; source.inputs.len()],
            parameters: vec![false; source.parameters.len()],
            definitions: vec![false; definitions],
        };
        let lowering = Lowering {
            declarations,
            graph: Graph::new(),
            switches: Switches::default(),
            definitions: vec![None; definitions],
            uses,
            noted: 0,
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
        let outputs: Vec<Option<NodeId>> = (0..self.texts.outputs.len())
            .map(|index| self.lower_output(index))
            .collect();
        self.note_faults();
        match outputs.into_iter().collect() {
            Some(outputs) if self.errors.is_empty() => Ok(self.model(outputs)),
            _ => Err(self.errors),
        }
    }

    fn lower_definitions(&mut self) {
        let order = order(&self.needs());
        for cycle in &order.cycles {
            self.faults.push(self.circular(cycle));
        }
        for index in order.sequence {
            let definition = &self.texts.equations.definitions[index];
            let nodes = &self.texts.equations.nodes;
            let range = definition.nodes.clone();
            let root = nodes[range.end - 1].span;
            let text = self.source.equations;
            let value = self.lowering.lower(text, nodes, range, &mut self.faults);
            let number = definition.target == Target::Derivative;
            let wrong = value.filter(|value| number && value.kind == Kind::Boolean);
            self.faults.extend(wrong.map(|_| number_expected(root)));
            self.lowering.definitions[index] = value;
        }
    }

    fn lower_output(&mut self, index: usize) -> Option<NodeId> {
        let (nodes, text) = (&self.texts.outputs[index], self.source.outputs[index].1);
        let mut faults = Vec::new();
        let value = self
            .lowering
            .lower(text, nodes, 0..nodes.len(), &mut faults);
        if let Some(Typed {
            kind: Kind::Boolean,
            ..
        }) = value
        {
            faults.push(number_expected(nodes[nodes.len() - 1].span));
        }
        let place = Place::Output(index);
        self.errors.extend(
            faults
                .into_iter()
                .map(|fault| fault.in_text(place.clone(), text)),
        );
        value.map(|value| value.node)
    }

    /// For each definition, those that it uses.
    fn needs(&self) -> Vec<Vec<usize>> {
        let definitions = self.texts.equations.definitions.iter();
        definitions
            .map(|definition| self.needs_of(definition))
            .collect()
    }

    fn needs_of(&self, definition: &Definition) -> Vec<usize> {
        let declarations = self.lowering.declarations;
        let nodes = self.texts.equations.nodes[definition.nodes.clone()].iter();
        nodes
            .filter_map(|node| {
                let name = node.span.of(self.source.equations);
                match (node.syntax, declarations.meaning(name)) {
                    (Syntax::Name, Some(Meaning::Intermediate(needed))) => Some(needed),
                    (Syntax::DerivativeOf, Some(Meaning::State(state))) => {
                        declarations.derivatives[state as usize]
                    }
                    _ => None,
                }
            })
            .collect()
    }

    fn circular(&self, cycle: &[usize]) -> Fault {
        const MOST_NAMES: usize = 10;
        let definitions = &self.texts.equations.definitions;
        let name = |&index: &usize| definitions[index].label(self.source.equations);
        let mut names: Vec<String> = cycle.iter().take(MOST_NAMES).map(name).collect();
        if cycle.len() > MOST_NAMES {
            names.push("…".into());
        }
        names.push(name(&cycle[0]));
        let message = format!("circular definition: {}", names.join(" -> "));
        Fault::new(definitions[cycle[0]].name, message)
    }

    /// Mistakes in the equations, in the order of the text, before all others.
    fn note_faults(&mut self) {
        self.faults.sort_by_key(|fault| fault.span.offset);
        let faults = std::mem::take(&mut self.faults)
            .into_iter()
            .take(MOST_FAULTS);
        let text = self.source.equations;
        let errors = faults.map(|fault| fault.in_text(Place::Equations, text));
        self.errors = errors.chain(std::mem::take(&mut self.errors)).collect();
    }

    fn model(self, output_roots: Vec<NodeId>) -> Model {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Model {
            inputs: owned(&self.source.inputs),
            parameters: owned(&self.source.parameters),
            states: owned(&self.source.states),
            outputs: self
                .source
                .outputs
                .iter()
                .map(|&(name, _)| name.to_owned())
                .collect(),
            intermediates: self.intermediates(),
            derivative_roots: self.derivative_roots(),
            output_roots,
            unused: self.unused(),
            uses_slope: self.lowering.uses.slopes,
            switches: self.lowering.switches.list().to_vec(),
            graph: self.lowering.graph,
        }
    }

    fn derivative_roots(&self) -> Vec<NodeId> {
        let definitions = self.lowering.declarations.derivatives.iter().flatten();
        definitions
            .filter_map(|&index| self.lowering.definitions[index])
            .map(|it| it.node)
            .collect()
    }

    fn intermediates(&self) -> Vec<(String, NodeId)> {
        let text = self.source.equations;
        let definitions = self
            .texts
            .equations
            .definitions
            .iter()
            .zip(&self.lowering.definitions);
        definitions
            .filter(|(definition, _)| definition.target == Target::Intermediate)
            .filter_map(|(definition, value)| Some((definition.label(text), (*value)?.node)))
            .collect()
    }

    fn unused(&self) -> Vec<Unused> {
        let uses = &self.lowering.uses;
        let text = self.source.equations;
        let inputs = self
            .source
            .inputs
            .iter()
            .zip(uses.inputs.iter().zip(&uses.slopes));
        let inputs = inputs.filter(|(_, (value, slope))| !**value && !**slope);
        let parameters = self.source.parameters.iter().zip(&uses.parameters);
        let parameters = parameters.filter(|(_, used)| !**used);
        let definitions = self
            .texts
            .equations
            .definitions
            .iter()
            .zip(&uses.definitions);
        let definitions = definitions
            .filter(|(definition, used)| definition.target == Target::Intermediate && !**used);
        inputs
            .map(|(name, _)| Unused::Input(name.to_string()))
            .chain(parameters.map(|(name, _)| Unused::Parameter(name.to_string())))
            .chain(definitions.map(|(it, _)| Unused::Intermediate(it.label(text))))
            .collect()
    }
}

fn number_expected(span: Span) -> Fault {
    let (wanted, found) = (Kind::Number.describe(), Kind::Boolean.describe());
    Fault::new(span, format!("expected {wanted}, found {found}"))
}

impl Definition {
    /// What it defines, as one would write it.
    fn label(&self, text: &str) -> String {
        match self.target {
            Target::Derivative => format!("der({})", shortened(self.name.of(text))),
            Target::Intermediate => self.name.of(text).to_owned(),
        }
    }
}

//! A model as it is written: names and texts.

/// How long all names and texts of a model may be together, in bytes.
pub const LONGEST_TEXT: usize = 1 << 20;

/// A clause of a model: what is set anew when a condition becomes true.
#[derive(Debug, Clone, Default)]
pub struct WhenText<'s> {
    /// The condition, or `sample`: at the times of the system's own clock.
    pub condition: &'s str,
    /// Discrete states, and the expression of their new values.
    pub set: Vec<(&'s str, &'s str)>,
    /// Continuous states, and the expression of their new values.
    pub reset: Vec<(&'s str, &'s str)>,
    /// States of both kinds, and what they are from when the clause runs ever more often without
    /// end, like that of a ball that bounces to rest. Where nothing is given the run ends there.
    pub at_rest: Vec<(&'s str, &'s str)>,
}

impl<'s> WhenText<'s> {
    /// All that is set anew: discrete states, then continuous ones, then what is set at rest.
    pub(crate) fn assignments(&self) -> impl Iterator<Item = (&'s str, &'s str)> {
        let runs = self.set.iter().chain(&self.reset);
        runs.chain(&self.at_rest).copied()
    }

    fn length(&self) -> usize {
        let assignments = self.assignments();
        let lengths = assignments.map(|(name, text)| name.len() + text.len());
        self.condition.len() + lengths.sum::<usize>()
    }
}

/// A model as it is written: `x' = f(t, x, u, u')`, `y = g(t, x, u, u')`.
#[derive(Debug, Clone, Default)]
pub struct Source<'s> {
    /// Names of the inputs `u`.
    pub inputs: Vec<&'s str>,
    /// Names of the parameters.
    pub parameters: Vec<&'s str>,
    /// Names of the states `x`.
    pub states: Vec<&'s str>,
    /// Names of the discrete states: constant but for what clauses set.
    pub discrete: Vec<&'s str>,
    /// `der(state) = expression` and `name = expression`, one per line or separated by `;`.
    pub equations: &'s str,
    /// Names of the outputs `y`, and the expression of each.
    pub outputs: Vec<(&'s str, &'s str)>,
    /// What is set anew at events.
    pub whens: Vec<WhenText<'s>>,
}

impl Source<'_> {
    /// How long all names and texts are together, in bytes.
    pub(crate) fn length(&self) -> usize {
        let lists = [&self.inputs, &self.parameters, &self.states, &self.discrete];
        let names = lists.into_iter().flatten().map(|name| name.len());
        let outputs = self
            .outputs
            .iter()
            .map(|(name, text)| name.len() + text.len());

        let whens = self.whens.iter().map(WhenText::length);

        names.sum::<usize>() + outputs.sum::<usize>() + whens.sum::<usize>() + self.equations.len()
    }
}

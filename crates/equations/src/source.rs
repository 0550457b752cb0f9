//! A model as it is written: names and texts.

/// How long all names and texts of a model may be together, in bytes.
pub const LONGEST_TEXT: usize = 1 << 20;

/// A model as it is written: `x' = f(t, x, u, u')`, `y = g(t, x, u, u')`.
#[derive(Debug, Clone, Default)]
pub struct Source<'s> {
    /// Names of the inputs `u`.
    pub inputs: Vec<&'s str>,
    /// Names of the parameters.
    pub parameters: Vec<&'s str>,
    /// Names of the states `x`.
    pub states: Vec<&'s str>,
    /// `der(state) = expression` and `name = expression`, one per line or separated by `;`.
    pub equations: &'s str,
    /// Names of the outputs `y`, and the expression of each.
    pub outputs: Vec<(&'s str, &'s str)>,
}

impl Source<'_> {
    /// How long all names and texts are together, in bytes.
    pub(crate) fn length(&self) -> usize {
        let lists = [&self.inputs, &self.parameters, &self.states];
        let names = lists.into_iter().flatten().map(|name| name.len());
        let outputs = self
            .outputs
            .iter()
            .map(|(name, text)| name.len() + text.len());

        names.sum::<usize>() + outputs.sum::<usize>() + self.equations.len()
    }
}

//! The connections of a model with the inputs that are left open, which methods do not see.

use dovetail_core::{Connections, Interface, Source};

use crate::scenario::Scenario;

impl Scenario {
    /// The connections with the inputs that are left open: what feeds each follows from its slot and its start value. The interfaces
    /// are those of all systems with these inputs; more may come after them.
    pub(super) fn connections_with_open(
        &self,
        interfaces: Vec<Interface>,
        feeder: impl Fn(usize, f64) -> Source,
    ) -> Connections {
        let outputs = self.inner_outputs();
        let mut left = self.connections.sources().iter();
        let mut sources = Vec::new();
        for (part, interface) in self.parts.iter().zip(&interfaces) {
            for (input, described) in interface.inputs.iter().enumerate() {
                let mut open = part.exposed.each();
                let open = open.find(|(position, ..)| *position == input);
                sources.push(match open {
                    Some((_, slot, start)) => feeder(slot, start),
                    None => match left.next() {
                        Some(Source::Output(output)) => Source::Output(outputs[*output]),
                        Some(constant) => *constant,
                        None => Source::Constant(described.start),
                    },
                });
            }
        }
        Connections::new(interfaces, sources)
    }

    /// For each output of the connections, which show open inputs too, where it is among those that systems have themselves.
    pub(super) fn inner_outputs(&self) -> Vec<usize> {
        let mut first = 0;
        let mut outputs = Vec::new();
        for (system, part) in self.parts.iter().enumerate() {
            let own = part.interface().outputs.len();
            let shown = self.connections.outputs_of(system).len();
            outputs.extend((0..shown).map(|position| first + position.min(own.saturating_sub(1))));
            first += own;
        }
        outputs
    }
}

//! What a system around another one needs: methods that are those of the system inside, and capabilities that it has where
//! that one has them.

use crate::checkpoint::Checkpoint;
use crate::system::{Evaluate, Linearize, System, Trial};

/// In the `impl System` of a wrapper: these methods are those of the system in the field `$inner`.
#[macro_export]
macro_rules! forward_to_system {
    ($inner:ident: $($method:ident),+ $(,)?) => {
        $( $crate::forward_to_system!(@ $method $inner); )+
    };
    (@ interface $inner:ident) => {
        fn interface(&self) -> &$crate::Interface {
            self.$inner.interface()
        }
    };
    (@ linearize $inner:ident) => {
        fn linearize(&mut self) -> Option<&mut dyn $crate::Linearize> {
            self.$inner.linearize()
        }
    };
    (@ evaluate $inner:ident) => {
        fn evaluate(&mut self) -> Option<&mut dyn $crate::Evaluate> {
            self.$inner.evaluate()
        }
    };
    (@ join_lane $inner:ident) => {
        fn join_lane(&mut self, lane: usize) {
            self.$inner.join_lane(lane);
        }
    };
    (@ checkpoint $inner:ident) => {
        fn checkpoint(&mut self) -> Option<&mut dyn $crate::Checkpoint> {
            self.$inner.checkpoint()
        }
    };
    (@ presence $inner:ident) => {
        fn presence(&self) -> $crate::Presence {
            self.$inner.presence()
        }
    };
    (@ precision $inner:ident) => {
        fn precision(&self) -> $crate::Precision {
            self.$inner.precision()
        }
    };
    (@ input_degree $inner:ident) => {
        fn input_degree(&self) -> usize {
            self.$inner.input_degree()
        }
    };
    (@ output_derivatives $inner:ident) => {
        fn output_derivatives(&self) -> usize {
            self.$inner.output_derivatives()
        }
    };
    (@ step_rule $inner:ident) => {
        fn step_rule(&self) -> $crate::StepRule {
            self.$inner.step_rule()
        }
    };
}

/// In the `impl System` of a wrapper: it has these capabilities where the system in the field `$inner` has them, and answers
/// by its own implementation.
#[macro_export]
macro_rules! offer_as_system {
    ($inner:ident: $($method:ident),+ $(,)?) => {
        $( $crate::offer_as_system!(@ $method $inner); )+
    };
    (@ trial $inner:ident) => {
        fn trial(&mut self) -> Option<&mut dyn $crate::Trial> {
            let offered = self.$inner.trial().is_some();
            offered.then_some(self as &mut dyn $crate::Trial)
        }
    };
    (@ linearize $inner:ident) => {
        fn linearize(&mut self) -> Option<&mut dyn $crate::Linearize> {
            let offered = self.$inner.linearize().is_some();
            offered.then_some(self as &mut dyn $crate::Linearize)
        }
    };
    (@ evaluate $inner:ident) => {
        fn evaluate(&mut self) -> Option<&mut dyn $crate::Evaluate> {
            let offered = self.$inner.evaluate().is_some();
            offered.then_some(self as &mut dyn $crate::Evaluate)
        }
    };
    (@ checkpoint $inner:ident) => {
        fn checkpoint(&mut self) -> Option<&mut dyn $crate::Checkpoint> {
            let offered = self.$inner.checkpoint().is_some();
            offered.then_some(self as &mut dyn $crate::Checkpoint)
        }
    };
}

/// The trials of a system that is known to have them.
pub fn trial_of<S: System + ?Sized>(system: &mut S) -> &mut dyn Trial {
    let trial = system.trial();
    trial.expect("BUG: a trial was asked of a system without rollback")
}

/// The linearization of a system that is known to have one.
pub fn linearization_of<S: System + ?Sized>(system: &mut S) -> &mut dyn Linearize {
    let linearize = system.linearize();
    linearize.expect("BUG: a system without linearization was linearized")
}

/// Derivatives and outputs elsewhere, of a system that is known to have them.
pub fn evaluation_of<S: System + ?Sized>(system: &mut S) -> &mut dyn Evaluate {
    let evaluate = system.evaluate();
    evaluate.expect("BUG: a system was asked for what it is elsewhere, and cannot know")
}

/// The checkpoints of a system that is known to have them.
pub fn checkpoint_of<S: System + ?Sized>(system: &mut S) -> &mut dyn Checkpoint {
    let checkpoint = system.checkpoint();
    checkpoint.expect("BUG: a system without checkpoints was written down")
}

//! All equations as one system: no coupling at all, the truth that coupling methods are measured
//! by.
//!
//! Needs: the equations. They are whoever's who makes the systems; here the method only has its
//! name.

use dovetail_core::{Method, Remedy};

use crate::registry::context::Context;
use crate::registry::kind::{MethodKind, Properties};
use crate::registry::refusal::Refusal;

/// The coupled equations as one system, as they are chosen.
pub(crate) struct MonolithicKind;

impl MethodKind for MonolithicKind {
    fn name(&self) -> &'static str {
        "monolithic"
    }

    fn summary(&self) -> &'static str {
        "no coupling: all equations as one system, to 13 digits; what compare measures by"
    }

    fn needs(&self) -> &'static str {
        "equations"
    }

    fn properties(&self) -> Properties {
        Properties {
            keeps_to_grid: true,
            solves_as_one: true,
            ..Properties::default()
        }
    }

    fn check(&self, context: &Context<'_>) -> Result<(), Refusal> {
        self.build(context).map(|_| ())
    }

    fn build<'a>(&self, context: &Context<'a>) -> Result<Box<dyn Method + 'a>, Refusal> {
        let unknown = || Err("the equations of these systems are not known".to_owned());
        let whole = context
            .whole
            .map_or_else(unknown, |whole| whole.as_one_system(context.grid()));

        whole.map_err(|error| {
            let message = format!(
                "monolithic is for models of equations: {error}; the other methods couple whatever \
                 there is"
            );
            Refusal::new(message).with([Remedy::AnotherMethod])
        })
    }
}

//! Names of methods, solvers and options, as the registry has them: for help and completions.

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command};
use dovetail::methods::AUTO;
use dovetail::scenario::registry;

/// Takes any text, and offers the names there are. What is unknown is refused with the model at hand.
#[derive(Clone, Copy)]
pub(crate) struct Names(fn() -> Vec<PossibleValue>);

/// The names of methods.
pub(crate) const METHODS: Names = Names(|| {
    let kinds = registry();
    let of_kinds = kinds.methods().iter();
    let named = of_kinds.map(|kind| PossibleValue::new(kind.name()).help(kind.summary()));
    let auto = PossibleValue::new(AUTO).help("the best that the systems permit");
    std::iter::once(auto).chain(named).collect()
});

/// The names of solvers.
pub(crate) const SOLVERS: Names = Names(|| {
    let kinds = registry();
    let of_kinds = kinds.solvers().iter();
    of_kinds
        .map(|kind| PossibleValue::new(kind.name()).help(kind.summary()))
        .collect()
});

impl TypedValueParser for Names {
    type Value = String;

    fn parse_ref(
        &self,
        _command: &Command,
        _argument: Option<&Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<String, clap::Error> {
        Ok(value.to_string_lossy().into_owned())
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter()))
    }
}

/// The options of all methods, for the help of `--option`.
pub(crate) fn option_help() -> String {
    let kinds = registry();
    let solvers = kinds.solver_names();
    let mut text = String::from(
        "An option of the method, as in the model's method table; repeatable, and compare accepts several \
         values, separated by commas\n",
    );

    for kind in kinds
        .methods()
        .iter()
        .filter(|kind| !kind.options().is_empty())
    {
        text += &format!("\n{}:\n", kind.name());
        for option in kind.options() {
            let values = option.values(&solvers);
            text += &format!(
                "  {}: {} ({values}) [default: {}]\n",
                option.key, option.meaning, option.default
            );
        }
    }
    text
}

//! Units of measure of the variables of FMUs.

use dovetail_core::Mapping;
use dovetail_fmi::PreparedFmu;
use dovetail_fmi::description::{UnitDefinition, Variable};

use crate::source::system_source::UnitOfMeasure;

/// A variable of an FMU by the name of one of its elements, `x` or `x[1,2]`.
fn variable<'a>(prepared: &'a PreparedFmu, element: &str) -> Option<&'a Variable> {
    let variables = &prepared.fmu().description().variables;
    let exact = variables.iter().find(|v| v.name == element);

    exact.or_else(|| {
        let (array, _) = element.rsplit_once('[')?;
        variables
            .iter()
            .find(|v| v.name == array && !v.dimensions.is_empty())
    })
}

/// The unit of measure of a variable, where the FMU defines it.
pub(crate) fn unit_of_measure<'a>(
    prepared: &'a PreparedFmu,
    element: &str,
) -> Option<UnitOfMeasure<'a>> {
    let variable = variable(prepared, element)?;
    let name = variable.unit.as_ref()?;
    let units = &prepared.fmu().description().units;
    let definition = units.iter().find(|definition| definition.name == *name)?;

    Some(UnitOfMeasure {
        definition,
        relative: variable.relative,
    })
}

/// From one unit of measure to another of the same kind; none where they are of different kinds.
pub(crate) fn conversion(
    from: &UnitDefinition,
    to: &UnitDefinition,
    relative: bool,
) -> Option<Mapping> {
    if from.exponents.is_none() || from.exponents != to.exponents || to.factor == 0.0 {
        return None;
    }

    let factor = from.factor / to.factor;
    let offset = if relative {
        0.0
    } else {
        (from.offset - to.offset) / to.factor
    };
    let same = factor == 1.0 && offset == 0.0;

    Some(if same {
        Mapping::Identity
    } else {
        Mapping::Affine { factor, offset }
    })
}

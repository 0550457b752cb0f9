//! Values between an instance and the inputs and outputs of a system.

use crate::call_error::CallError;
use crate::instance::Values;
use crate::layout::{Layout, fill};
use crate::numbers::as_number;

/// Reads the outputs that are not double-precision numbers; `put` takes the position and the value
/// of each.
pub(crate) fn read_other_outputs(
    instance: &mut impl Values,
    layout: &Layout,
    scratch: &mut [f64],
    mut put: impl FnMut(usize, f64),
) -> Result<(), CallError> {
    for group in &layout.other_outputs {
        let values = &mut scratch[..group.positions.len()];
        instance.get_values(group.kind, &group.references, values)?;
        for (&value, &position) in values.iter().zip(&group.positions) {
            put(position, value);
        }
    }
    Ok(())
}

/// Sets the inputs that are not continuous to what `value` gives for their positions.
pub(crate) fn set_other_inputs(
    instance: &mut impl Values,
    layout: &Layout,
    scratch: &mut [f64],
    value: impl Fn(usize) -> f64,
) -> Result<(), CallError> {
    for group in &layout.other_inputs {
        let values = &mut scratch[..group.positions.len()];
        fill(values, &group.positions, &value);
        instance.set_values(group.kind, &group.references, values)?;
    }
    set_exact_starts(instance, layout, value)
}

/// Inputs that are still at a start value which is no floating-point number are set to that value.
pub(crate) fn set_exact_starts(
    instance: &mut impl Values,
    layout: &Layout,
    value: impl Fn(usize) -> f64,
) -> Result<(), CallError> {
    for start in &layout.exact_starts {
        if value(start.position) == as_number(&start.value) {
            let values = std::slice::from_ref(&start.value);
            instance.set_start(start.kind, start.reference, values)?;
        }
    }
    Ok(())
}

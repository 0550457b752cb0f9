//! Values between an instance and the inputs and outputs of a system.

use crate::call_error::CallError;
use crate::instance::Values;
use crate::layout::{Layout, fill};

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
    Ok(())
}

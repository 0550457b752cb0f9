//! Derivatives of variables in FMI 1.0 and 2.0.

#![allow(
    unsafe_code,
    reason = "every function of an FMU is foreign code behind a pointer"
)]

use super::ScalarVersion;
use crate::call_error::CallError;
use crate::calls::Purpose;
use crate::fmu_instance::FmuInstance;
use crate::instance::{Derivatives, InputDerivatives};

impl<V: ScalarVersion> Derivatives for FmuInstance<V> {
    fn directional(
        &mut self,
        unknowns: &[u32],
        knowns: &[u32],
        seed: &[f64],
        sensitivity: &mut [f64],
    ) -> Result<(), CallError> {
        if unknowns.is_empty() || knowns.is_empty() {
            sensitivity.fill(0.0);
            return Ok(());
        }

        let function = self.version.functions().directional_derivative;
        let arguments = || format!("{unknowns:?}, {knowns:?}, {seed:?}");
        // SAFETY: the pointers belong to slices of these lengths.
        self.calls.demand(
            function,
            Purpose::Values,
            arguments,
            |f, component| unsafe {
                f(
                    component,
                    unknowns.as_ptr(),
                    unknowns.len(),
                    knowns.as_ptr(),
                    knowns.len(),
                    seed.as_ptr(),
                    sensitivity.as_mut_ptr(),
                )
            },
        )
    }

    fn output_derivatives(
        &mut self,
        references: &[u32],
        orders: &[i32],
        values: &mut [f64],
    ) -> Result<(), CallError> {
        let function = self.version.functions().get_output_derivatives;
        // SAFETY: the pointers belong to slices of this length.
        self.calls
            .get_values(function, references, |f, component| unsafe {
                f(
                    component,
                    references.as_ptr(),
                    references.len(),
                    orders.as_ptr(),
                    values.as_mut_ptr(),
                )
            })
    }
}

impl<V: ScalarVersion> InputDerivatives for FmuInstance<V> {
    fn set_input_derivatives(
        &mut self,
        references: &[u32],
        orders: &[i32],
        values: &[f64],
    ) -> Result<(), CallError> {
        let function = self.version.functions().set_input_derivatives;
        let count = references.len();
        let arguments = || format!("{references:?}, {orders:?}, {values:?}");

        // SAFETY: the pointers belong to slices of this length.
        self.calls.demand(
            function,
            Purpose::Values,
            arguments,
            |f, component| unsafe {
                f(
                    component,
                    references.as_ptr(),
                    count,
                    orders.as_ptr(),
                    values.as_ptr(),
                )
            },
        )
    }
}

//! The step of a plain FMU, prepared once: set, step and get with nothing in between.
//!
//! A light FMU takes ten nanoseconds for all three, so that whatever stands around them is felt.
//! Everything that a step needs lies together here.

#![allow(unsafe_code, reason = "pointers for C are kept from step to step")]

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use dovetail_core::MacroStep;

use crate::batch::UnfinishedStep;
use crate::environment::Environment;
use crate::guard::RawRequest;
use crate::layout::Layout;

/// Room and references for the steps of one instance.
pub(crate) struct PreparedStep {
    /// Its pointers lead to what the fields below hold.
    request: RawRequest,
    /// What C answered to the last step.
    pub ended: c_int,
    /// Whether the FMU has all that is called.
    pub complete: bool,
    _inputs: Box<[f64]>,
    _outputs: Box<[f64]>,
    /// Holds the lists of references.
    _layout: Arc<Layout>,
}

// SAFETY: the pointers lead to what the step itself owns, and to the component of the instance that
// it belongs to.
unsafe impl Send for PreparedStep {}

impl PreparedStep {
    /// For a component with this environment and layout, and what sets, steps and gets. A step that is prepared begins where the
    /// FMU stands, and no state from before that is ever restored.
    pub fn new(
        component: *mut c_void,
        environment: Environment,
        layout: &Arc<Layout>,
        functions: [*const c_void; 3],
    ) -> Self {
        let mut inputs = vec![0.0; layout.smooth_input_positions.len()].into_boxed_slice();
        let mut outputs = vec![0.0; layout.read_values].into_boxed_slice();
        let request = RawRequest {
            component,
            environment: environment.pointer(),
            inputs: layout.smooth_inputs.as_ptr(),
            input_count: layout.smooth_inputs.len(),
            input_values: inputs.as_mut_ptr(),
            outputs: layout.read.as_ptr(),
            output_count: layout.read.len(),
            output_values: outputs.as_mut_ptr(),
            output_value_count: outputs.len(),
            input_value_count: inputs.len(),
            time: 0.0,
            size: 0.0,
            final_step: true,
            event: 0,
            terminate: 0,
            early: 0,
            last: 0.0,
            functions,
        };

        Self {
            request,
            ended: 0,
            complete: functions.iter().all(|function| !function.is_null()),
            _inputs: inputs,
            _outputs: outputs,
            _layout: layout.clone(),
        }
    }

    /// The values of the inputs, to be filled.
    #[inline]
    pub fn inputs(&mut self) -> &mut [f64] {
        // SAFETY: the pointer and the number of a box that this step owns and nobody else looks at.
        unsafe {
            std::slice::from_raw_parts_mut(
                self.request.input_values.cast_mut(),
                self.request.input_value_count,
            )
        }
    }

    /// The values that were read.
    #[inline]
    pub fn outputs(&self) -> &[f64] {
        // SAFETY: as above.
        unsafe {
            std::slice::from_raw_parts(self.request.output_values, self.request.output_value_count)
        }
    }

    /// The request for a step.
    #[inline]
    pub fn request(&mut self, step: MacroStep) -> &mut RawRequest {
        (self.request.time, self.request.size, self.request.last) =
            (step.start, step.size(), step.end);
        &mut self.request
    }

    /// The request, for a batch that has room of its own for the numbers.
    pub fn copy_request(&self) -> RawRequest {
        self.request
    }

    /// A batch has come so far with this step, and has read these numbers.
    pub fn take_over(&mut self, step: UnfinishedStep, read: &[f64]) {
        self.ended = step.answer;
        self.request.terminate = step.terminate;
        self.request.last = step.last;
        self.reading().1.copy_from_slice(read);
    }

    /// What is read, and the room for it.
    pub fn reading(&mut self) -> (&[u32], &mut [f64]) {
        let RawRequest {
            outputs,
            output_count,
            output_values,
            output_value_count,
            ..
        } = self.request;
        // SAFETY: as above; the references are those of the layout that this step holds.
        unsafe {
            (
                std::slice::from_raw_parts(outputs, output_count),
                std::slice::from_raw_parts_mut(output_values, output_value_count),
            )
        }
    }

    /// The FMU asks for the end of the run (3.0).
    #[inline]
    pub fn terminates(&self) -> bool {
        self.request.terminate != 0
    }

    /// The time up to which the last step was done (3.0).
    pub fn last(&self) -> f64 {
        self.request.last
    }
}

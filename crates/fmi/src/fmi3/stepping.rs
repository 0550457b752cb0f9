//! Communication steps of FMI 3.0.

use std::ffi::c_int;
use std::sync::Arc;

use dovetail_core::MacroStep;

use super::Instance3;
use crate::batch::Member;
use crate::call_error::CallError;
use crate::calls::{Purpose, Status, StepFunctions};
use crate::description::Version;
use crate::guard::{Ended, RawRequest};
use crate::instance::{FastPath, StepEnd, StepRequest, Stepping, Values};
use crate::layout::Layout;
use crate::prepared_step::PreparedStep;

unsafe extern "C" {
    fn dovetail_step3(request: *mut RawRequest) -> c_int;
}

/// Times of an FMU and ours may differ by rounding, in parts of the step.
const TIME_SLACK: f64 = 1e-6;

/// What `fmi3DoStep` answers beside its status.
struct StepFlags {
    event: u8,
    terminate: u8,
    early: u8,
    last: f64,
}

impl StepFlags {
    /// Of a step that ends at `end`, before it is taken.
    fn of_step_to(end: f64) -> Self {
        Self {
            event: 0,
            terminate: 0,
            early: 0,
            last: end,
        }
    }

    /// Where a step has ended, unless its last successful time cannot be.
    fn end(&self, step: MacroStep, discarded: bool) -> Result<StepEnd, String> {
        let terminate = self.terminate != 0;
        // An FMU that does not stop early need not report where it stopped.
        let reports_last = self.early != 0 || terminate || discarded;
        if reports_last && !discarded && !self.is_within(step) {
            let (last, start, end) = (self.last, step.start, step.end);
            return Err(format!(
                "its last successful time is {last}, which is not within the step from {start} to {end}"
            ));
        }

        Ok(StepEnd {
            discarded,
            last: if reports_last { self.last } else { step.end },
            event: self.event != 0,
            terminate,
        })
    }

    /// Whether the last successful time lies within the step, but for rounding.
    fn is_within(&self, step: MacroStep) -> bool {
        let slack = TIME_SLACK * step.size();
        (step.start - slack..=step.end + slack).contains(&self.last)
    }

    /// Whether the FMU says at once that it did not stop early and that it stopped elsewhere.
    fn contradicts_itself(&self, step: MacroStep) -> bool {
        let elsewhere = (self.last - step.end).abs() > TIME_SLACK * step.size();
        self.early == 0 && self.terminate == 0 && (elsewhere || self.last.is_nan())
    }
}

impl Instance3 {
    fn do_step(
        &mut self,
        request: &StepRequest<'_>,
        flags: &mut StepFlags,
    ) -> Result<Status, CallError> {
        let function = self.version.functions.do_step;
        let time = request.step.start;
        let size = request.step.size();
        let final_step = request.final_step;
        let arguments = || format!("{time:?}, {size:?}, {final_step}");

        // SAFETY: the flags are ours.
        self.calls.call(
            function,
            Purpose::DoStep,
            arguments,
            |f, component| unsafe {
                f(
                    component,
                    time,
                    size,
                    final_step,
                    &raw mut flags.event,
                    &raw mut flags.terminate,
                    &raw mut flags.early,
                    &raw mut flags.last,
                )
            },
        )
    }

    /// An error where inputs could not be set during the step.
    fn check_intermediate_inputs(&mut self) -> Result<(), CallError> {
        match self.callback_data().take_failure() {
            Some(status) => Err(self
                .calls
                .not_done("fmi3SetFloat64 during the step", status)),
            None => Ok(()),
        }
    }

    /// The names of the functions that a prepared step calls, which must be there.
    fn step_functions(&self) -> Result<StepFunctions, CallError> {
        let functions = &self.version.functions;
        StepFunctions::find(
            functions.set_float64,
            functions.do_step,
            functions.get_float64,
        )
    }
}

impl Stepping for Instance3 {
    fn step(
        &mut self,
        request: &StepRequest<'_>,
        outputs: &mut [f64],
    ) -> Result<StepEnd, CallError> {
        let mut flags = StepFlags::of_step_to(request.step.end);
        self.set_floats(request.input_references, request.input_values)?;
        let ended = self.do_step(request, &mut flags)?;

        if ended == Status::Fine {
            self.get_floats(request.output_references, outputs)?;
        }

        self.check_intermediate_inputs()?;
        let discarded = ended == Status::Discard;
        if !discarded && flags.contradicts_itself(request.step) {
            self.calls
                .journal
                .monitor
                .note(|notes| notes.odd_times += 1);
        }
        flags
            .end(request.step, discarded)
            .map_err(|message| CallError::Refused {
                function: "fmi3DoStep",
                status: "ok, with a time that cannot be",
                message: Some(message),
            })
    }

    fn discarded_at(&mut self, step: MacroStep) -> f64 {
        step.start
    }

    fn end_of_run(&mut self) -> Option<f64> {
        None
    }
}

impl FastPath for Instance3 {
    fn prepare_step(&self, layout: &Arc<Layout>) -> PreparedStep {
        let functions = &self.version.functions;
        self.prepared_step(
            layout,
            [
                functions.set_float64.address(),
                functions.do_step.address(),
                functions.get_float64.address(),
            ],
        )
    }

    fn member(&self, layout: &Arc<Layout>, saves: bool) -> Option<Member> {
        let prepared = self.prepare_step(layout);
        self.batch_member(Version::Three, &prepared, layout, saves)
    }

    fn save_failure(&mut self, answer: i32) -> Option<CallError> {
        self.batch_save_failure(answer)
    }

    #[inline]
    fn allows_fast_step(&mut self) -> bool {
        self.calls.allows_fast_step()
    }

    #[inline]
    fn fast_step(&mut self, prepared: &mut PreparedStep, step: MacroStep) -> bool {
        if !prepared.complete || self.calls.is_dead() {
            return false;
        }
        // SAFETY: the pointers of the request belong to slices of its lengths, and to functions of
        // the types of the standard; the guard was installed by `instantiate`.
        prepared.ended = unsafe { dovetail_step3(prepared.request(step)) };

        Ended::is_fine(prepared.ended)
    }

    #[cold]
    fn settle_fast_step(&mut self, prepared: &mut PreparedStep) -> Result<Status, CallError> {
        self.calls.check_alive()?;
        let functions = self.step_functions()?;
        let ended = Ended::of(prepared.ended);
        self.calls.judge_prepared(ended, &functions)
    }
}

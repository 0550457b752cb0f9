//! Communication steps of FMI 1.0 and 2.0.

#![allow(
    unsafe_code,
    reason = "every function of an FMU is foreign code behind a pointer"
)]

use std::ffi::c_int;
use std::sync::Arc;
use std::time::Duration;

use dovetail_core::MacroStep;

use super::{ScalarVersion, Truth};
use crate::batch::Member;
use crate::call_error::CallError;
use crate::calls::{Purpose, Status, StepFunctions};
use crate::ffi::{Component, Symbol};
use crate::fmu_instance::FmuInstance;
use crate::guard::{Ended, RawRequest};
use crate::instance::{FastPath, StepEnd, StepRequest, Stepping, Values};
use crate::layout::Layout;
use crate::prepared_step::PreparedStep;

unsafe extern "C" {
    fn dovetail_step2(request: *mut RawRequest) -> c_int;
}

/// Asks for a status of the kind of this number.
type GetStatus<T> = unsafe extern "C" fn(Component, c_int, *mut T) -> c_int;

/// A kind of status that can be asked for, as the standard numbers it.
struct StatusKind {
    number: c_int,
    name: &'static str,
}

const DO_STEP_STATUS: StatusKind = StatusKind {
    number: 0,
    name: "doStepStatus",
};
const LAST_SUCCESSFUL_TIME: StatusKind = StatusKind {
    number: 2,
    name: "lastSuccessfulTime",
};
const TERMINATED: StatusKind = StatusKind {
    number: 3,
    name: "terminated",
};

/// How a step that goes on in the background is waited for.
const POLLING_INTERVAL: Duration = Duration::from_micros(50);
const PENDING: c_int = 5;

impl<V: ScalarVersion> FmuInstance<V> {
    fn do_step(&mut self, request: &StepRequest<'_>) -> Result<Status, CallError> {
        let function = self.version.functions().do_step;
        let time = request.step.start;
        let size = request.step.size();
        let arguments = || format!("{time:?}, {size:?}, {}", u8::from(request.final_step));
        // 1.0 asks whether the step is new, which it is unless the one before is to be repeated. We never ask for that.
        let final_step = V::Truth::of(request.final_step || !V::KNOWS_STATES);
        // SAFETY: plain numbers.
        let ended = self.calls.call(
            function,
            Purpose::DoStep,
            arguments,
            |f, component| unsafe { f(component, time, size, final_step) },
        )?;

        if ended == Status::Pending {
            self.wait()
        } else {
            Ok(ended)
        }
    }

    /// Waits for an FMU that steps in the background.
    fn wait(&mut self) -> Result<Status, CallError> {
        loop {
            std::thread::sleep(POLLING_INTERVAL);
            match self.step_status()? {
                Status::Pending => {}
                done => return Ok(done),
            }
        }
    }

    /// What the FMU writes in place of `value`.
    fn status_of<T>(
        &mut self,
        kind: &StatusKind,
        function: Symbol<GetStatus<T>>,
        mut value: T,
    ) -> Result<T, CallError> {
        let arguments = || kind.name.into();
        // SAFETY: `value` is of ours.
        self.calls
            .demand(function, Purpose::Step, arguments, |f, component| unsafe {
                f(component, kind.number, &raw mut value)
            })?;
        Ok(value)
    }

    fn step_status(&mut self) -> Result<Status, CallError> {
        let function = self.version.functions().get_status;
        let status = self.status_of(&DO_STEP_STATUS, function, 0)?;
        let do_step = self.version.functions().do_step.name;
        self.calls.judge(do_step, Ok(status))
    }

    fn last_successful_time(&mut self) -> Result<f64, CallError> {
        let function = self.version.functions().get_real_status;
        self.status_of(&LAST_SUCCESSFUL_TIME, function, f64::NAN)
    }

    /// 1.0 cannot be asked.
    fn has_terminated(&mut self) -> Result<bool, CallError> {
        if !V::KNOWS_STATES {
            return Ok(false);
        }
        let function = self.version.functions().get_boolean_status;
        let terminated = self.status_of(&TERMINATED, function, V::Truth::of(false))?;
        Ok(terminated.is_true())
    }

    /// Where a step that was discarded has led. Outputs are read where the run ends.
    fn end_of_discarded(
        &mut self,
        request: &StepRequest<'_>,
        outputs: &mut [f64],
    ) -> Result<StepEnd, CallError> {
        let end_of_run = self.end_of_run();
        let last = match end_of_run {
            Some(last) => {
                self.get_floats(request.output_references, outputs)?;
                last
            }
            None => self.discarded_at(request.step),
        };

        Ok(StepEnd {
            discarded: true,
            last,
            event: false,
            terminate: end_of_run.is_some(),
        })
    }

    /// The names of the functions that a prepared step calls, which must be there.
    fn step_functions(&self) -> Result<StepFunctions, CallError> {
        let functions = self.version.functions();
        StepFunctions::find(functions.set_real, functions.do_step, functions.get_real)
    }
}

impl<V: ScalarVersion> Stepping for FmuInstance<V> {
    fn step(
        &mut self,
        request: &StepRequest<'_>,
        outputs: &mut [f64],
    ) -> Result<StepEnd, CallError> {
        self.set_floats(request.input_references, request.input_values)?;
        match self.do_step(request)? {
            Status::Discard => return self.end_of_discarded(request, outputs),
            Status::Fine => self.get_floats(request.output_references, outputs)?,
            Status::Pending => {}
        }

        Ok(StepEnd {
            discarded: false,
            last: request.step.end,
            event: false,
            terminate: false,
        })
    }

    fn discarded_at(&mut self, step: MacroStep) -> f64 {
        self.last_successful_time().unwrap_or(step.start)
    }

    fn end_of_run(&mut self) -> Option<f64> {
        if self.has_terminated().unwrap_or(false) {
            self.last_successful_time().ok()
        } else {
            None
        }
    }
}

impl<V: ScalarVersion> FastPath for FmuInstance<V> {
    fn prepare_step(&self, layout: &Arc<Layout>) -> PreparedStep {
        let functions = self.version.functions();
        let addresses = [
            functions.set_real.address(),
            functions.do_step.address(),
            functions.get_real.address(),
        ];
        let none = [std::ptr::null(); 3];
        self.prepared_step(layout, V::PREPARED.map_or(none, |_| addresses))
    }

    fn member(&self, layout: &Arc<Layout>, saves: bool) -> Option<Member> {
        let prepared = self.prepare_step(layout);
        self.batch_member(V::PREPARED?, &prepared, layout, saves)
    }

    fn save_failure(&mut self, answer: i32) -> Option<CallError> {
        self.batch_save_failure(answer)
    }

    #[inline]
    fn allows_fast_step(&mut self) -> bool {
        self.calls.allows_fast_step() && V::PREPARED.is_some()
    }

    #[inline]
    fn fast_step(&mut self, prepared: &mut PreparedStep, step: MacroStep) -> bool {
        if !prepared.complete || self.calls.is_dead() {
            return false;
        }
        // SAFETY: the pointers of the request belong to slices of its lengths, and to functions of
        // the types of the standard; the guard was installed by `instantiate`.
        prepared.ended = unsafe { dovetail_step2(prepared.request(step)) };

        Ended::is_fine(prepared.ended)
    }

    #[cold]
    fn settle_fast_step(&mut self, prepared: &mut PreparedStep) -> Result<Status, CallError> {
        self.calls.check_alive()?;
        let functions = self.step_functions()?;
        let ended = Ended::of(prepared.ended);
        if !matches!(ended, Ended::Step(PENDING)) {
            return self.calls.judge_prepared(ended, &functions);
        }

        let done = self.wait()?;
        if done == Status::Fine {
            let (references, values) = prepared.reading();
            self.get_floats(references, values)?;
        }
        Ok(done)
    }
}

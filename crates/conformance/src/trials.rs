//! What is promised of trials.

use dovetail_core::{MacroStep, Response};

use super::{Question, Subject, Suite, ensure, equal_bits};

impl Suite<'_> {
    pub(super) fn trials_leave_no_trace(&mut self) -> Result<(), String> {
        if !self.capabilities.trial {
            return Ok(());
        }

        let plain = self.over(self.step())?.response;
        self.trial_leaves_no_trace(&plain, false)?;
        self.trial_leaves_no_trace(&plain, true)
    }

    fn trial_leaves_no_trace(
        &mut self,
        plain: &Response,
        also_the_same: bool,
    ) -> Result<(), String> {
        let mut subject = self.begun()?;
        let same = self.first_step(1.0);
        subject.respond(&self.first_step(-0.5))?;

        if also_the_same {
            trial_answers_like_the_step(&mut subject, &same, plain)?;
        }

        ensure(
            subject.linearization(self.zeros())? == self.follow(&[self.opening()])?.linearization,
            "a trial leaves no trace in the linearization",
        )?;
        subject.advance(&same)?;
        ensure(
            equal_bits(plain, &subject.response),
            "a trial leaves no trace",
        )
    }

    /// Under inputs that move little an estimate is near what the step then answers; it gives
    /// slopes and makes up no states.
    pub(super) fn estimates_are_near(&mut self) -> Result<(), String> {
        let mut subject = self.subject();
        if subject.system.trial().is_none() {
            return Ok(());
        }

        subject.begin(&self.opening())?;
        let first = self.first_step(1e-3);
        subject.try_step(&first)?;
        if !subject.response.estimated {
            return Ok(());
        }

        let estimate = std::mem::replace(&mut subject.response, self.response());
        estimate_is_of_the_end(&estimate, first.step)?;
        subject.advance(&first)?;

        self.estimate_is_near(&estimate, &subject.response)
    }

    fn estimate_is_near(&self, estimate: &Response, answer: &Response) -> Result<(), String> {
        for (told, found) in self.smooth(estimate).zip(self.smooth(answer)) {
            let moved = 1.0 + found.value.abs();
            ensure(
                (told.value - found.value).abs() <= 1e-2 * moved,
                "an estimate is near what the step answers",
            )?;
            ensure(told.slope.is_finite(), "an estimate has slopes")?;
        }
        Ok(())
    }
}

fn trial_answers_like_the_step(
    subject: &mut Subject,
    step: &Question,
    plain: &Response,
) -> Result<(), String> {
    let stopped = subject.respond(step)?;
    let response = &subject.response;
    ensure(
        stopped || response.estimated || equal_bits(plain, response),
        "a trial answers what the step would, or says that it estimates",
    )
}

fn estimate_is_of_the_end(estimate: &Response, step: MacroStep) -> Result<(), String> {
    ensure(
        estimate.reached == step.end,
        "an estimate is of the end of the step",
    )?;
    ensure(
        estimate.states.iter().all(|x| x.is_nan()),
        "an estimate makes up no states",
    )
}

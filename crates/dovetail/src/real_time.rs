//! Runs that keep pace with a clock.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use dovetail_core::{Error, Exchange, Notice, Observer, readable};
use dovetail_report::{PaceReport, RunSummary};

/// A longer sleep is taken in parts of this length, so that an interrupt is noticed soon.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);
/// What an operating system that promises nothing may oversleep, in seconds: less is not called late.
const TOLERATED: f64 = 1e-3;

/// An observer that lets no step end before its time has come.
///
/// It sleeps until then; a step that ends after its time is late, and the next ones catch up as fast as they can.
pub struct RealTime<'a> {
    interrupted: &'a AtomicBool,
    /// Where the run began, on both clocks.
    origin: Option<(f64, Instant)>,
    /// The time that each system has reached: some have steps of their own.
    reached: Vec<f64>,
    /// The time that all of them have reached.
    paced: f64,
    report: PaceReport,
}

impl<'a> RealTime<'a> {
    /// Simulated seconds for each second of the clock: 1 is real time, 2 is twice as fast. Raising `interrupted` ends a sleep.
    pub fn new(factor: f64, interrupted: &'a AtomicBool) -> Self {
        Self {
            interrupted,
            origin: None,
            reached: Vec::new(),
            paced: f64::NEG_INFINITY,
            report: PaceReport {
                factor,
                ..PaceReport::default()
            },
        }
    }

    /// In a run of so many systems that goes on from this time: the clock begins there.
    pub fn going_on_from(mut self, time: f64, systems: usize) -> Self {
        self.reached = vec![time; systems];
        self.paced = time;
        self.origin = Some((time, Instant::now()));
        self
    }

    /// Adds to a summary how well the run has kept pace.
    pub fn summarize(&self, summary: &mut RunSummary) {
        summary.real_time = Some(self.report);
        let PaceReport {
            factor,
            steps,
            late,
            worst_lateness: worst,
            worst_time,
        } = self.report;
        let quality = &mut summary.quality;
        if late == 0 {
            let remark = format!("the run kept pace with the clock (factor {factor})");
            quality.remarks.push(remark);
            return;
        }

        let warning = format!(
            "{late} of {steps} steps ended more than a millisecond late by the clock (factor {factor}), at worst {worst:.3e} s at \
             t = {t} s; longer steps, a method with fewer integrations, fewer recorded rows or a smaller factor help",
            t = readable(worst_time)
        );
        quality.warnings.push(Notice::from(warning));
    }

    /// Notes whether the step that led to `reached` was late; how long to wait otherwise.
    fn note(&mut self, reached: f64, due: f64, elapsed: f64) -> Option<f64> {
        let report = &mut self.report;
        report.steps += 1;
        let lateness = elapsed - due;
        if lateness <= 0.0 {
            return Some(-lateness);
        }

        if lateness > TOLERATED {
            report.late += 1;
        }
        if lateness > report.worst_lateness {
            report.worst_lateness = lateness;
            report.worst_time = reached;
        }
        None
    }

    fn wait(&self, seconds: f64) {
        // More than the clock can count is for ever: until an interrupt.
        let until = Duration::try_from_secs_f64(seconds)
            .ok()
            .and_then(|wait| Instant::now().checked_add(wait));
        while !self.interrupted.load(Ordering::Relaxed) {
            let left = match until {
                Some(until) => until.saturating_duration_since(Instant::now()),
                None => LONGEST_SLEEP,
            };
            if left.is_zero() {
                return;
            }
            sleep(left.min(LONGEST_SLEEP));
        }
    }
}

impl Observer for RealTime<'_> {
    fn started(&mut self, start: Exchange<'_>) -> Result<(), Error> {
        self.reached = start.tasks.iter().map(|task| task.step.end).collect();
        self.paced = least(&self.reached);
        self.origin = Some((self.paced, Instant::now()));
        Ok(())
    }

    fn accepted(&mut self, exchange: Exchange<'_>) -> Result<(), Error> {
        for task in exchange.tasks.iter().filter(|task| task.due) {
            if let Some(reached) = self.reached.get_mut(task.system) {
                *reached = task.response.reached;
            }
        }
        let reached = least(&self.reached);
        let Some((start, begun)) = self.origin.filter(|_| reached > self.paced) else {
            return Ok(()); // an instant, or the others have yet to come as far
        };

        self.paced = reached;
        let due = (reached - start) / self.report.factor;
        if let Some(early) = self.note(reached, due, begun.elapsed().as_secs_f64()) {
            self.wait(early);
        }
        Ok(())
    }
}

fn least(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    static GOING: AtomicBool = AtomicBool::new(false);

    #[test]
    fn the_worst_of_the_late_steps_is_reported() {
        let mut pace = RealTime::new(1.0, &GOING);
        assert_eq!(pace.note(1.0, 1.0, 0.25), Some(0.75));
        assert_eq!(pace.note(2.0, 2.0, 2.5), None);
        assert_eq!(pace.note(3.0, 3.0, 3.125), None);
        assert_eq!(pace.note(4.0, 4.0, 4.0), Some(0.0));
        assert_eq!(pace.note(5.0, 5.0, 5.0005), None);
        let mut summary = RunSummary::default();
        pace.summarize(&mut summary);
        let report = summary.real_time.expect("a report");
        assert_eq!((report.steps, report.late), (5, 2));
        assert_eq!((report.worst_lateness, report.worst_time), (0.5, 2.0));
        assert_eq!(report.late_share(), 0.4);
        let warning = &summary.quality.warnings[0].text;
        assert!(
            warning.contains("2 of 5 steps ended more than a millisecond late"),
            "{warning}"
        );
    }

    #[test]
    fn an_interrupt_ends_even_an_endless_wait() {
        let raised = AtomicBool::new(true);
        RealTime::new(1.0, &raised).wait(f64::MAX);
    }

    #[test]
    fn no_wait_is_shorter_than_asked_for() {
        let begun = Instant::now();
        RealTime::new(1.0, &GOING).wait(0.12);
        assert!(begun.elapsed().as_secs_f64() >= 0.12);
    }
}

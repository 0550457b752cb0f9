//! A progress bar on a terminal.

use std::fmt::Write;
use std::io::IsTerminal;
use std::time::Duration;

use dovetail::core::{Error, Exchange, FlatRows, Need, Observer};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// Communications between two looks at the clock: a bar must not cost what it shows.
const STRIDE: u32 = 64;
/// Parts of the run that the bar can tell apart.
const PARTS: f64 = 1000.0;

/// The bar; silent where there is no terminal.
pub(crate) struct Progress {
    bar: ProgressBar,
    start: f64,
    span: f64,
    countdown: u32,
}

impl Progress {
    pub fn new(quiet: bool, what: String, start: f64, stop: f64) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        let target = if shown {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(PARTS as u64), target);
        let style = ProgressStyle::with_template("{prefix} [{bar:40}] {percent}% {msg}{left}");
        bar.set_style(
            style
                .expect("BUG: a template that indicatif knows")
                .with_key("left", time_left)
                .progress_chars("=> "),
        );
        bar.set_prefix(what);

        Self {
            bar,
            start,
            span: stop - start,
            countdown: STRIDE,
        }
    }

    /// So far it is.
    pub fn show(&self, reached: f64) {
        if !self.bar.is_hidden() {
            self.bar
                .set_position(((reached - self.start) / self.span * PARTS) as u64);
            self.bar.set_message(format!("t = {reached:.4} s"));
        }
    }

    /// The run is over.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Progress {
    fn need(&self) -> Need {
        // Nobody sees a bar that is hidden.
        if self.bar.is_hidden() {
            Need::LastStep
        } else {
            Need::Rows
        }
    }

    fn rows(&mut self, rows: FlatRows<'_>) -> Result<(), Error> {
        if let Some(last) = rows.leg.last_step() {
            self.show(last.end);
        }
        Ok(())
    }

    fn accepted(&mut self, exchange: Exchange<'_>) -> Result<(), Error> {
        self.countdown -= 1;
        if self.countdown == 0 {
            self.countdown = STRIDE;
            if let Some(task) = exchange.tasks.first() {
                self.show(task.response.reached);
            }
        }
        Ok(())
    }

    fn finished(&mut self) -> Result<(), Error> {
        self.clear();
        Ok(())
    }
}

/// The time that the rest takes; nothing as long as nothing is known of it.
fn time_left(state: &ProgressState, text: &mut dyn Write) {
    let eta = state.eta();
    if eta >= Duration::from_secs(1) {
        // A bar that misses its time left is a bar.
        let _ = write!(text, " (left: {})", HumanDuration(eta));
    }
}

/// The bar of many runs.
pub(crate) struct SweepProgress(ProgressBar);

impl SweepProgress {
    /// Of so many runs, some of which are there already.
    pub fn new(quiet: bool, runs: usize, there: usize) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        let target = if shown {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(runs as u64), target);
        let style = ProgressStyle::with_template("[{bar:40}] {pos} of {len} runs{msg}{left}");
        bar.set_style(
            style
                .expect("BUG: a template that indicatif knows")
                .with_key("left", time_left)
                .progress_chars("=> "),
        );
        // What is there took no time now: the time left is that of the rest.
        bar.set_position(there as u64);
        bar.reset_eta();
        Self(bar)
    }

    /// So many rows there are, of which so many failed.
    pub fn show(&self, rows: usize, failed: usize) {
        if self.0.is_hidden() {
            return;
        }
        if failed > 0 {
            self.0.set_message(format!(", {failed} failed"));
        }
        self.0.set_position(rows as u64);
    }

    /// The sweep is over.
    pub fn clear(&self) {
        self.0.finish_and_clear();
    }
}

/// How many runs a fit has made: nobody knows how many there will be.
pub(crate) struct FitProgress(ProgressBar);

impl FitProgress {
    pub fn new(quiet: bool) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        let target = if shown {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        let style = ProgressStyle::with_template("{spinner} {pos} runs ({elapsed})");
        bar.set_style(style.expect("BUG: a template that indicatif knows"));
        Self(bar)
    }

    /// So many runs there were.
    pub fn show(&self, runs: usize) {
        self.0.set_position(runs as u64);
    }

    /// The fit is over.
    pub fn clear(&self) {
        self.0.finish_and_clear();
    }
}

//! A method that is left for another one where it says so itself, or where it makes no headway.
//!
//! Methods meet at communication times: there one can take over from another, since all that a
//! method needs of what was is in the systems, and in the past. Where there is nobody to take over,
//! a run that makes no headway ends with the reason.

use dovetail_core::{
    Advice, Archive, Checkpoint, Error, Exchange, Method, MethodQuality, Notice, Outcome, Past,
    Workers, readable, visit_fields, visit_method,
};
use serde::{Deserialize, Serialize};

use crate::registry::kind::Properties;

/// Attempts after which the pace is looked at.
const WINDOW: u64 = 10_000;
/// Steps that are shorter than the usual one by this factor, all through a window, make no headway.
const CREEPING: f64 = 1e-4;

/// Makes the method of a name, with what is true of it, or says that there is none.
type Maker<'a> = Box<dyn Fn(&str) -> Option<(Box<dyn Method + 'a>, Properties)> + 'a>;

/// A method, and the one that has taken over.
pub struct Fallback<'a> {
    own: Box<dyn Method + 'a>,
    /// What is true of the method that runs.
    properties: Properties,
    make: Option<Maker<'a>>,
    other: Option<Successor<'a>>,
    /// Whether there is nobody to take over.
    alone: bool,
    pace: Pace,
    /// The end of the run.
    stop: f64,
    /// What is told of a step by a method that has taken over: none of what was announced.
    nothing: Vec<f64>,
}

struct Successor<'a> {
    method: Box<dyn Method + 'a>,
    since: f64,
    reason: String,
}

/// How fast a run gets on.
#[derive(Serialize, Deserialize)]
struct Pace {
    /// A usual step.
    usual: f64,
    attempts: u64,
    /// Where the window began.
    since: f64,
}

impl Pace {
    /// An attempt from `reached` begins; by how much the last attempts have moved on, if that is
    /// next to nothing.
    fn look(&mut self, reached: f64) -> Option<f64> {
        if self.attempts == 0 {
            self.since = reached;
        }

        self.attempts += 1;
        if self.attempts <= WINDOW {
            return None;
        }

        let moved = reached - self.since;
        self.attempts = 0;
        (moved < CREEPING * self.usual * WINDOW as f64).then_some(moved)
    }
}

impl<'a> Fallback<'a> {
    /// A method whose steps are usually about `usual`, in a run to `stop`. `make` makes other
    /// methods when they are needed; without it, a run that makes no headway ends.
    pub fn new(
        own: Box<dyn Method + 'a>,
        properties: Properties,
        usual: f64,
        stop: f64,
        make: Option<Maker<'a>>,
    ) -> Self {
        let nothing = vec![f64::NAN; own.signals().len()];
        let pace = Pace {
            usual,
            attempts: 0,
            since: f64::NAN,
        };

        Self {
            own,
            properties,
            make,
            other: None,
            alone: false,
            pace,
            stop,
            nothing,
        }
    }

    /// Lets another method take over, if that is advised and possible.
    fn hand_over(&mut self, advice: Advice, past: &Past, workers: &dyn Workers) -> bool {
        let systems = workers.interfaces().len();
        let together = (0..systems).all(|system| past.reached_by(system) == past.reached());
        if self.alone || !together {
            return false;
        }

        let made = self.make.as_ref().and_then(|make| make(&advice.method));
        self.alone = made.is_none();
        let since = past.reached();
        let reason = advice.reason;

        if let Some((method, properties)) = made {
            self.properties = properties;
            self.other = Some(Successor {
                method,
                since,
                reason,
            });
            self.pace.attempts = 0;
        }
        !self.alone
    }

    /// What to do about a pace at which the end is never reached.
    fn give_way(&mut self, moved: f64, past: &Past, workers: &dyn Workers) -> Result<(), Error> {
        let rollback = workers.capabilities().iter().all(|c| c.trial);
        let method = if self.properties.predicts_by_linearization && rollback {
            crate::ifosmondi::NAME
        } else {
            crate::jacobi::NAME
        };
        let reason = format!(
            "{} made no headway: {WINDOW} attempts moved on by {moved:.1e} s",
            self.current()
        );

        if self.make.is_some()
            && self.hand_over(
                Advice {
                    method: method.to_owned(),
                    reason,
                },
                past,
                workers,
            )
        {
            return Ok(());
        }

        let time = past.reached();
        let left = self.stop - past.reached();

        Err(Error::NoHeadway {
            method: self.current(),
            attempts: WINDOW,
            moved,
            time,
            left,
        })
    }

    fn current(&self) -> &'static str {
        self.other
            .as_ref()
            .map_or_else(|| self.own.name(), |other| other.method.name())
    }
}

impl Method for Fallback<'_> {
    fn name(&self) -> &'static str {
        self.own.name()
    }

    fn checkpoint(&mut self) -> Option<&mut dyn Checkpoint> {
        Some(self)
    }

    fn attempt(&mut self, past: &Past, workers: &mut dyn Workers) -> Result<Outcome<'_>, Error> {
        let open = self.make.is_some() && self.other.is_none() && !self.alone;
        if let Some(advice) = if open { self.own.advice() } else { None } {
            self.hand_over(advice, past, workers);
        }

        if let Some(moved) = self.pace.look(past.reached()) {
            self.give_way(moved, past, workers)?;
        }

        let Some(other) = &mut self.other else {
            return self.own.attempt(past, workers);
        };
        Ok(match other.method.attempt(past, workers)? {
            Outcome::Accepted(exchange) => Outcome::Accepted(Exchange {
                signals: &self.nothing,
                ..exchange
            }),
            outcome => outcome,
        })
    }

    fn derivatives(&self) -> usize {
        self.own.derivatives()
    }

    fn looks_back(&self) -> bool {
        self.make.is_some() || self.own.looks_back()
    }

    fn signals(&self) -> Vec<String> {
        self.own.signals()
    }

    fn warnings(&self) -> Vec<Notice> {
        let Some(Successor {
            method,
            since,
            reason,
        }) = &self.other
        else {
            return self.own.warnings();
        };
        let handed_over = format!(
            "from t = {} s on {} has taken over: {reason}; what is said of errors ends there",
            readable(*since),
            method.name()
        );
        let mut all = vec![Notice::from(handed_over)];
        all.extend(method.warnings());

        all
    }

    fn remarks(&self) -> Vec<String> {
        let mut all = self.own.remarks();
        all.extend(self.other.iter().flat_map(|other| other.method.remarks()));
        all
    }

    fn quality(&self) -> MethodQuality {
        let own = self.own.quality();
        // An estimate that ends before the run does is none.
        if self.other.is_some() {
            MethodQuality {
                estimated_error: None,
                ..own
            }
        } else {
            own
        }
    }
}

impl Checkpoint for Fallback<'_> {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive, self.alone, self.pace);
        let successor = |other: &Successor<'_>| {
            let name = other.method.name().to_owned();
            (name, other.since, other.reason.clone())
        };
        let mut taken_over = self.other.as_ref().map(successor);
        archive.field(&mut taken_over)?;

        if archive.restores() {
            self.other = taken_over.map(|taken| self.succeed(taken)).transpose()?;
        }

        visit_method(self.own.as_mut(), archive)?;
        match &mut self.other {
            Some(other) => visit_method(other.method.as_mut(), archive),
            None => Ok(()),
        }
    }
}

impl<'a> Fallback<'a> {
    /// The method that had taken over when a checkpoint was made.
    fn succeed(
        &mut self,
        (name, since, reason): (String, f64, String),
    ) -> Result<Successor<'a>, Error> {
        let made = self.make.as_ref().and_then(|make| make(&name));
        let unknown = || Error::Checkpoint(format!("{name}, which had taken over, cannot be made"));
        let (method, properties) = made.ok_or_else(unknown)?;
        self.properties = properties;

        Ok(Successor {
            method,
            since,
            reason,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_judged_by_whole_windows() {
        let mut pace = Pace {
            usual: 1.0,
            attempts: 0,
            since: f64::NAN,
        };
        let slow: Vec<_> = (0..=2 * WINDOW)
            .filter_map(|n| pace.look(5.0 + 1e-6 * n as f64))
            .collect();
        assert_eq!(slow.len(), 1);
        let mut pace = Pace {
            usual: 1.0,
            attempts: 0,
            since: f64::NAN,
        };
        assert!((0..=10 * WINDOW).all(|n| pace.look(1e-3 * n as f64).is_none()));
    }
}

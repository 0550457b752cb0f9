//! The engine's own method, left for another one where it says so itself.
//!
//! Methods meet at communication times: there one can take over from another, since all that a method needs of what was is in the
//! systems, and in the past.

use dovetail_core::{Capabilities, Error, Exchange, Method, MethodQuality, Past, Verdict, Workers, readable};

use crate::dovetail::Dovetail;

/// Makes the method of a name, or says that there is none.
type Maker<'a> = Box<dyn Fn(&str) -> Option<Box<dyn Method + 'a>> + 'a>;

/// The engine's own method, and the one that has taken over.
pub struct Heeding<'a> {
    own: Dovetail<'a>,
    make: Maker<'a>,
    other: Option<Successor<'a>>,
    /// Whether there is nobody to take over.
    alone: bool,
    /// What is told of a step by a method that has taken over: none of what was announced.
    nothing: Vec<f64>,
}

struct Successor<'a> {
    method: Box<dyn Method + 'a>,
    since: f64,
    reason: String,
}

impl<'a> Heeding<'a> {
    /// Begins with `own`; other methods are made when they are needed.
    pub fn new(own: Dovetail<'a>, make: impl Fn(&str) -> Option<Box<dyn Method + 'a>> + 'a) -> Self {
        let nothing = vec![f64::NAN; own.signals().len()];
        Self { own, make: Box::new(make), other: None, alone: false, nothing }
    }

    /// Lets another method take over, if that is advised.
    fn heed(&mut self, past: &Past, workers: &dyn Workers) {
        if self.alone || self.other.is_some() {
            return;
        }
        if let Some(advice) = self.own.advice() {
            let successor = (self.make)(advice.method).filter(|method| method.check(workers.capabilities()).is_ok());
            let reason = advice.reason.clone();
            self.alone = successor.is_none();
            self.other = successor.map(|method| Successor { method, since: past.reached(), reason });
        }
    }
}

impl Method for Heeding<'_> {
    fn name(&self) -> &'static str {
        self.own.name()
    }

    fn check(&self, capabilities: &[Capabilities]) -> Result<(), Error> {
        self.own.check(capabilities)
    }

    fn attempt(&mut self, past: &Past, until: f64, workers: &mut dyn Workers) -> Result<Verdict<'_>, Error> {
        self.heed(past, workers);
        let Some(other) = &mut self.other else { return self.own.attempt(past, until, workers) };
        Ok(match other.method.attempt(past, until, workers)? {
            Verdict::Accepted(exchange) => Verdict::Accepted(Exchange { signals: &self.nothing, ..exchange }),
            verdict => verdict,
        })
    }

    fn derivatives(&self) -> usize {
        self.own.derivatives()
    }

    fn signals(&self) -> Vec<String> {
        self.own.signals()
    }

    fn warnings(&self) -> Vec<String> {
        let Some(Successor { method, since, reason }) = &self.other else { return self.own.warnings() };
        let mut all = vec![format!(
            "from t = {} s on {} has taken over: {reason}; what is said of errors ends there",
            readable(*since),
            method.name()
        )];
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
        if self.other.is_some() { MethodQuality { estimated_error: None, ..own } } else { own }
    }
}

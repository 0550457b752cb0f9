//! What an enclosure says of requirements, as it is computed.

use super::refinement::Refinement;
use super::{Goal, Judgement, Requirement, Verdict, fails, holds};
use crate::api::{EnclosureObserver, Options};
use crate::interval::Interval;
use crate::margin::Equality;
use crate::problem::Problem;

/// What has been seen of a requirement so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    goal: Goal,
    equality: Equality,
    /// Up to when margins are known.
    known: f64,
    /// Whether the condition has held throughout; whether it has failed throughout.
    always: bool,
    never: bool,
    /// The first time by which it has held, and at which it has failed, for certain.
    held: Option<f64>,
    failed: Option<f64>,
    /// How bad it is at its worst: the largest margin of what is to hold always, the smallest of what is to be reached.
    pub badness: f64,
}

impl Progress {
    fn new(goal: Goal, equality: Equality) -> Self {
        Self {
            goal,
            equality,
            known: f64::NEG_INFINITY,
            always: true,
            never: true,
            held: None,
            failed: None,
            badness: match goal {
                Goal::Always { .. } => f64::NEG_INFINITY,
                Goal::Reach { .. } => f64::INFINITY,
            },
        }
    }

    fn instant(&mut self, time: f64, margin: Interval) {
        if time > self.goal.deadline() {
            return;
        }
        if holds(margin, self.equality) {
            self.held.get_or_insert(time);
        }
        if fails(margin, self.equality) {
            self.failed.get_or_insert(time);
        }
        self.badness = match self.goal {
            Goal::Always { .. } => self.badness.max(margin.middle()),
            Goal::Reach { .. } => self.badness.min(margin.middle()),
        };
    }

    fn part(&mut self, from: f64, to: f64, margin: Interval) {
        let deadline = self.goal.deadline();
        self.known = to;
        if from >= deadline {
            return;
        }
        self.always &= holds(margin, self.equality);
        self.never &= fails(margin, self.equality);
        if to <= deadline && holds(margin, self.equality) {
            self.held.get_or_insert(from);
        }
        if to <= deadline && fails(margin, self.equality) {
            self.failed.get_or_insert(from);
        }
    }

    pub fn judgement(&self) -> Judgement {
        let complete = self.known >= self.goal.deadline();
        match self.goal {
            Goal::Always { .. } => match self.failed {
                Some(time) => Judgement::Missed(Some(time)),
                None if complete && self.always => Judgement::Met(None),
                None => Judgement::Open,
            },
            Goal::Reach { .. } => match self.held {
                Some(time) => Judgement::Met(Some(time)),
                None if complete && self.never => Judgement::Missed(None),
                None => Judgement::Open,
            },
        }
    }

    /// Whether nothing that is still to come can change the judgement.
    fn is_settled(&self) -> bool {
        self.judgement() != Judgement::Open || self.known >= self.goal.deadline()
    }
}

/// An observer that follows the margins of requirements, and hands on everything else.
pub struct Judging<'w> {
    requirements: Vec<Requirement>,
    progress: Vec<Progress>,
    /// How much of every row is handed on.
    shown: usize,
    steps: usize,
    inner: Option<&'w mut dyn EnclosureObserver>,
    /// After how many steps an enclosure that is handed on to nobody is given up.
    most_steps: usize,
}

impl<'w> Judging<'w> {
    /// For the enclosure of `problem`, which has the conditions of these requirements.
    pub fn new(
        problem: &Problem,
        requirements: &[Requirement],
        inner: &'w mut dyn EnclosureObserver,
    ) -> Self {
        Self {
            inner: Some(inner),
            ..Judging::alone(problem, requirements, usize::MAX)
        }
    }

    /// The same for nobody else.
    pub(super) fn alone(
        problem: &Problem,
        requirements: &[Requirement],
        most_steps: usize,
    ) -> Judging<'static> {
        let observed = problem.observed.as_ref();
        let equalities = observed.map_or(&[][..], |observed| &observed.margins);
        let pairs = requirements.iter().zip(equalities);
        Judging {
            progress: pairs
                .map(|(requirement, &equality)| Progress::new(requirement.goal, equality))
                .collect(),
            requirements: requirements.to_vec(),
            shown: problem.names().len() + problem.expression_names().len(),
            steps: 0,
            inner: None,
            most_steps,
        }
    }

    pub(super) fn progress(&self) -> &[Progress] {
        &self.progress
    }

    pub(super) fn steps(&self) -> usize {
        self.steps
    }

    /// The answers: what the enclosure has left open is looked for in smaller boxes and by shorter steps, with
    /// `options` else, until it is decided or a budget is spent. `proceed` is asked now and then whether to go on.
    pub fn decide(
        self,
        problem: &Problem,
        options: &Options,
        proceed: &mut dyn FnMut() -> bool,
    ) -> Vec<Verdict> {
        let first: Vec<Judgement> = self.progress.iter().map(Progress::judgement).collect();
        Refinement::new(problem, options, &self.requirements).decide(&first, proceed)
    }
}

impl EnclosureObserver for Judging<'_> {
    fn instant(&mut self, time: f64, row: &[Interval]) {
        let margins = &row[self.shown..];
        for (progress, margin) in self.progress.iter_mut().zip(margins) {
            progress.instant(time, *margin);
        }
        if let Some(inner) = &mut self.inner {
            inner.instant(time, &row[..self.shown]);
        }
    }

    fn tube(&mut self, from: f64, to: f64, row: &[Interval]) {
        if let Some(inner) = &mut self.inner {
            inner.tube(from, to, &row[..self.shown]);
        }
    }

    fn part(&mut self, from: f64, to: f64, row: &[Interval]) {
        let margins = &row[self.shown..];
        for (progress, margin) in self.progress.iter_mut().zip(margins) {
            progress.part(from, to, *margin);
        }
    }

    fn wants_tubes(&self) -> bool {
        !self.requirements.is_empty()
            || self.inner.as_ref().is_some_and(|inner| inner.wants_tubes())
    }

    fn wants_parts(&self) -> bool {
        !self.requirements.is_empty()
    }

    fn proceed(&mut self, reached: f64) -> bool {
        self.steps += 1;
        match &mut self.inner {
            Some(inner) => inner.proceed(reached),
            None => {
                let settled = self.progress.iter().all(Progress::is_settled);
                !settled && self.steps < self.most_steps
            }
        }
    }
}

//! Guaranteed co-simulation as published: systems exchange boxes.
//!
//! A. Le Coënt, J. Alexandre dit Sandretto, A. Chapoutot, "Guaranteed cosimulation of
//! cyber-physical systems" (2020), cited as "(n)" and by its algorithms. Each macro-step:
//!
//! 1. [`cross_picard`]: boxes that all states are proved to stay in, from [`picard`] boxes of
//!    single systems (algorithm
//!    1, (7)), tightened by the [`taylor`] form (8); if there are none, the step is halved
//!    ([`step_size`], algorithm 4).
//! 2. [`extrapolation`]: what each system knows of the others, boxes held or interval polynomials
//!    (10).
//! 3. [`subsystem`]: every system steps its own affine set ([`local_set`]) by a Runge-Kutta scheme
//!    ([`scheme`], (4)), adds
//!    the [`truncation`] error (5), and what the [`deviation`] of its inputs from the known ones
//!    can do.
//!
//! Only boxes cross the borders between systems ([`shared_step`]), so the systems can be computed
//! in parallel ([`thread_pool`]) and by other processes ([`subsystems`]).
//!
//! Departures: see [`cross_picard`], [`extrapolation`] and [`taylor`]; and [`deviation`], since a
//! Runge-Kutta step that takes an input for an unknown constant proves nothing about an input that
//! moves. Where conditions or kinks are open, the scheme has no order, and the rectangle form (7)
//! makes the step. Algorithms 2 and 3 hand a box of a system's own states from step to step, and so
//! does this without extrapolation. With it, systems keep their affine sets: extrapolation (10) is
//! about the past of a state, and only the set knows how it is bound to the present. Bounds are
//! much tighter for it than the paper's.

mod cross_picard;
mod deviation;
mod extrapolation;
mod field;
mod input;
mod jobs;
mod local_set;
mod picard;
mod run;
mod scheme;
mod shared_step;
mod step_size;
mod subsystem;
mod subsystems;
mod system_tape;
mod taylor;
mod thread_pool;
mod truncation;

use std::thread;

use crate::api::{EnclosureObserver, EnclosureOutcome, Integrator, Options, StopReason};
use crate::distribution::Distribution;
use crate::interval::Interval;
use crate::observed::ObservedPart;
use crate::problem::Problem;
use run::BoxRun;
use shared_step::SharedStep;
use subsystems::{Choices, Subsystems};
use thread_pool::{SharedWork, ThreadPool};

pub(crate) use subsystems::BoxPlace;

/// Encloses every trajectory of `problem`: inputs are interval polynomials of degree
/// `extrapolation`, or held in their boxes.
pub(crate) fn enclose(
    problem: &Problem,
    options: &Options,
    integrator: Integrator,
    extrapolation: Option<usize>,
    distribution: &Distribution,
    watcher: &mut dyn EnclosureObserver,
) -> EnclosureOutcome {
    if problem.loops.is_some() {
        return refuse(
            problem,
            watcher,
            "the systems form a loop that is not linear, which boxes cannot close; use shared-symbols",
        );
    }
    if problem.is_disturbed() {
        return refuse(
            problem,
            watcher,
            "a validated Runge-Kutta step needs inputs with derivatives, which disturbances do not have; use \
             shared-symbols",
        );
    }

    let choices = Choices {
        integrator,
        extrapolation,
    };
    let work = SharedWork::new(
        choices.subsystems(distribution.own()),
        SharedStep::new(problem.start_time, &problem.start),
    );

    thread::scope(|scope| {
        let pool = ThreadPool::start(&work, options.threads, scope);
        let subsystems = Subsystems::new(problem, distribution, choices, pool);
        BoxRun::new(problem, options, extrapolation, subsystems).finish(watcher)
    })
}

/// Ends at the start.
fn refuse(
    problem: &Problem,
    watcher: &mut dyn EnclosureObserver,
    reason: &str,
) -> EnclosureOutcome {
    let time = problem.start_time;
    let unknown = vec![Interval::ENTIRE; problem.observed.as_ref().map_or(0, ObservedPart::count)];
    watcher.instant(time, &[problem.start.as_slice(), &unknown].concat());
    let reason = reason.to_owned();

    EnclosureOutcome {
        reached: time,
        steps: 0,
        rejected: 0,
        states: problem.start.clone(),
        observed: unknown,
        stopped: Some(StopReason::BlownUp { time, reason }),
        useful_until: None,
        pieces: 1,
        remarks: Vec::new(),
    }
}

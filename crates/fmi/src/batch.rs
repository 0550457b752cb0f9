//! Plain FMUs of either version that step together, in legs of many steps behind one guard.

#![allow(unsafe_code, reason = "pointers for C are kept from leg to leg")]

use std::any::Any;
use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dovetail_core::{Batch, FeedPlan, Leg, LegEnd, MacroStep, PlannedSystem, Work};

use crate::description::Version;
use crate::ffi::FmuState;
use crate::guard::RawRequest;
use crate::journal::Journal;
use crate::saved_state::SavedState;

/// What a batch needs of an instance: pointers for C, and what keeps alive what they lead to.
pub(crate) struct Member {
    pub raw: RawMember,
    pub journal: Arc<Journal>,
    /// The component, and the lists of references.
    pub owners: [Arc<dyn Any + Send + Sync>; 2],
    pub state: SavedState,
}

/// One FMU, for C.
#[repr(C)]
pub(crate) struct RawMember {
    request: RawRequest,
    /// 2 or 3, and [`SAVES`] more where its state is saved before every step.
    version: c_int,
    save: *const c_void,
    state: *mut FmuState,
    first_input: usize,
    first_value: usize,
    spent: [f64; 3],
}

impl RawMember {
    /// One that makes these steps; `save` where its state may be asked for again: what saves it, and where to.
    pub fn new(
        request: RawRequest,
        version: Version,
        save: Option<(*const c_void, *mut FmuState)>,
    ) -> Self {
        // As everywhere, no state from before a step is announced to be restored, although after a discard one may be: there are
        // FMUs that take the announcement for a request to make the step again.
        let (save, state) = save.unwrap_or((null(), null_mut()));
        Self {
            request,
            version: match version {
                Version::One | Version::Two => 2,
                Version::Three => 3,
            },
            save,
            state,
            first_input: 0,
            first_value: 0,
            spent: [0.0; 3],
        }
    }
}

/// A leg, for C.
#[repr(C)]
struct RawLeg {
    members: *mut RawMember,
    member_count: usize,
    steps: *const MacroStep,
    step_count: usize,
    feeds: *const u32,
    input_width: usize,
    value_width: usize,
    value_count: usize,
    inputs: *mut f64,
    values: *mut f64,
    interrupted: *const AtomicBool,
    timed: bool,
    done: usize,
    member: usize,
    answer: c_int,
}

unsafe extern "C" {
    fn dovetail_leg_take(leg: *mut RawLeg) -> c_int;
    fn dovetail_leg_go_on(leg: *mut RawLeg) -> c_int;
}

/// See `version`.
const SAVES: c_int = 4;

/// How C says that a leg has ended.
const LEG_DONE: c_int = 0;
const LEG_DISTURBED: c_int = 3;
const LEG_UNTRUSTED: c_int = 4;

/// A step that was not simply done: what C answered, and what FMI 3.0 said.
#[derive(Clone, Copy)]
pub(crate) struct UnfinishedStep {
    pub answer: c_int,
    pub terminate: u8,
    pub last: f64,
}

/// What holds a member.
struct Keeper {
    journal: Arc<Journal>,
    _owners: [Arc<dyn Any + Send + Sync>; 2],
    _state: SavedState,
}

/// The FMUs of a run that are plain.
#[derive(Default)]
pub(crate) struct FmuBatch {
    members: Vec<RawMember>,
    keepers: Vec<Keeper>,
    /// What the last member that did not simply do its step came to.
    answer: c_int,
}

// SAFETY: the pointers lead to what the keepers hold and to places in legs, which are given anew each time; a component may be
// used from any thread, by one at a time.
unsafe impl Send for FmuBatch {}

static NEVER: AtomicBool = AtomicBool::new(false);

impl FmuBatch {
    pub fn add(&mut self, member: Member, place: &PlannedSystem) {
        let Member {
            mut raw,
            journal,
            owners,
            state,
        } = member;
        raw.first_input = place.inputs.start;
        raw.first_value = place.values.start;
        self.members.push(raw);
        self.keepers.push(Keeper {
            journal,
            _owners: owners,
            _state: state,
        });
    }

    /// What came of the step that this member did not simply do.
    pub fn unfinished(&self, member: usize) -> UnfinishedStep {
        let request = &self.members[member].request;
        UnfinishedStep {
            answer: self.answer,
            terminate: request.terminate,
            last: request.last,
        }
    }

    /// This member has discarded a step: from now on its state is saved before each.
    pub fn save_each_step(&mut self, member: usize) {
        let version = &mut self.members[member].version;
        *version = *version % SAVES + SAVES;
    }

    fn raw(&mut self, plan: &FeedPlan, leg: &mut Leg) -> RawLeg {
        let needed = |rows: usize| {
            leg.inputs.len() >= (rows + 1) * plan.inputs()
                && leg.values.len() >= (rows + 1) * plan.width
        };
        let inputs: usize = self
            .members
            .iter()
            .map(|m| m.request.input_value_count)
            .sum();
        let values: usize = self
            .members
            .iter()
            .map(|m| m.request.output_value_count)
            .sum();
        let fits = plan.inputs() == inputs && plan.values == values;
        assert!(
            fits && needed(leg.steps.len()) && leg.done < leg.steps.len().max(1),
            "BUG: a leg of other FMUs"
        );

        RawLeg {
            members: self.members.as_mut_ptr(),
            member_count: self.members.len(),
            steps: leg.steps.as_ptr(),
            step_count: leg.steps.len(),
            feeds: plan.feeds.as_ptr(),
            input_width: plan.inputs(),
            value_width: plan.width,
            value_count: plan.values,
            // The row before belongs to the step before.
            inputs: leg.inputs[plan.inputs()..].as_mut_ptr(),
            values: leg.values.as_mut_ptr(),
            interrupted: &raw const NEVER,
            timed: false,
            done: leg.done,
            member: 0,
            answer: 0,
        }
    }
}

impl Batch for FmuBatch {
    fn as_any(&mut self) -> &mut dyn Any {
        self
    }

    fn members(&self) -> usize {
        self.members.len()
    }

    fn take_leg(
        &mut self,
        plan: &FeedPlan,
        leg: &mut Leg,
        interrupted: &AtomicBool,
        timed: bool,
    ) -> LegEnd {
        let mut raw = self.raw(plan, leg);
        raw.interrupted = interrupted;
        raw.timed = timed;
        // SAFETY: all pointers lead to slices of the lengths given, as `raw` has made sure, and feeds to places in two rows; the
        // guard was installed when the FMUs were instantiated.
        let ended = unsafe { dovetail_leg_take(&raw mut raw) };
        leg.done = raw.done;
        self.answer = raw.answer;
        match ended {
            LEG_DONE | LEG_DISTURBED => LegEnd::Done,
            LEG_UNTRUSTED => LegEnd::Unready,
            _ => LegEnd::Unfinished { member: raw.member },
        }
    }

    fn go_on(&mut self, plan: &FeedPlan, leg: &mut Leg, first: usize) -> usize {
        let mut raw = self.raw(plan, leg);
        raw.member = first;
        // SAFETY: as above.
        unsafe { dovetail_leg_go_on(&raw mut raw) };
        self.answer = raw.answer;
        raw.member
    }

    fn spend(&mut self, seconds: f64, order: &[usize], work: &mut [Work]) {
        let sum = |spent: &[f64; 3]| spent.iter().map(|part| part.max(0.0)).sum::<f64>();
        let all: f64 = self.members.iter().map(|member| sum(&member.spent)).sum();
        if all <= 0.0 {
            // Too light to be seen by any clock: all equal.
            let share = seconds / order.len().max(1) as f64;
            order.iter().for_each(|&k| work[k].seconds += share);
            return;
        }

        let members = self.members.iter().zip(&self.keepers).zip(order);
        for ((member, keeper), &system) in members {
            let [values, step, state] = member.spent.map(|part| part.max(0.0) / all * seconds);
            work[system].seconds += values + step + state;
            keeper.journal.monitor.spend(|costs| {
                costs.values += values;
                costs.step += step;
                costs.state += state;
            });
        }
    }
}

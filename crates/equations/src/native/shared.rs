//! What systems with the same equations share: programs, descriptions of variables, and room to
//! work in.
//!
//! Nothing here says where a system is. Rooms go from system to system, one for each lane, and
//! are filled anew with every call; what was found for given parameters, such as the exponentials
//! of exact steps, is the same for all that have these parameters.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use dovetail_core::{Input, Interface, Output, SharedList};

use super::definition::Definition;
use super::linear::{LinearEngine, MOST_STATES};
use super::pool::Pool;
use super::programs::Programs;
use super::room::Room;
use crate::held::{HeldModel, SwitchKind};
use crate::model::Model;

/// What all systems of a model share; made when the first of them is.
#[derive(Default)]
pub(crate) struct SharedCell(OnceLock<SharedModel>);

/// A model that is cloned may be changed then: it shares nothing.
impl Clone for SharedCell {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl fmt::Debug for SharedCell {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SharedCell")
    }
}

/// What follows from the equations alone, and room for systems that keep nothing in it.
pub(crate) struct SharedModel {
    pub(super) programs: Programs,
    /// What is held of each switching function, and whether derivatives or outputs depend on it;
    /// none where nothing switches by itself.
    pub(super) switching: Option<SwitchingShape>,
    /// Whether steps are exact.
    pub(super) exact: bool,
    /// Whether systems need no room of their own: nothing switches and nothing is delayed.
    pub(super) plain: bool,
    pub(super) rooms: Pool<Room>,
    sets: Mutex<HashMap<Vec<u64>, Weak<ParameterSet>>>,
    states: SharedList<String>,
    inputs: Interned<(Vec<u64>, Vec<Option<String>>), Input>,
    outputs: Interned<Vec<Option<String>>, Output>,
}

/// The switching functions of a model.
pub(super) struct SwitchingShape {
    pub kinds: Vec<SwitchKind>,
    pub acting: Vec<bool>,
}

/// Lists that were asked for before.
type Interned<K, T> = Mutex<HashMap<K, SharedList<T>>>;

fn interned<K: Eq + Hash, T>(
    lists: &Interned<K, T>,
    key: K,
    make: impl FnOnce() -> SharedList<T>,
) -> SharedList<T> {
    let mut lists = lists.lock().unwrap_or_else(PoisonError::into_inner);
    lists.entry(key).or_insert_with(make).clone()
}

impl SharedCell {
    pub fn of<'a>(&'a self, model: &Model) -> &'a SharedModel {
        self.0.get_or_init(|| SharedModel::new(model))
    }
}

impl SharedModel {
    fn new(model: &Model) -> Self {
        let held = HeldModel::of(model);
        let affine = match &held {
            Some(held) => held.is_affine(),
            None => model.is_affine(),
        };

        Self {
            programs: Programs::new(model, held.as_ref()),
            exact: affine && model.states.len() <= MOST_STATES,
            plain: held.is_none() && model.switches.is_empty() && model.delays.is_empty(),
            switching: held.map(|held| SwitchingShape {
                kinds: held.kinds(),
                acting: held.acting(),
            }),
            rooms: Pool::default(),
            sets: Mutex::default(),
            states: model.states.clone().into(),
            inputs: Mutex::default(),
            outputs: Mutex::default(),
        }
    }

    /// How many switches of all kinds there are.
    pub(super) fn switches(&self, model: &Model) -> usize {
        model.switches.len() + self.programs.functions()
    }

    /// The interface of a system: what is equal to that of another one takes no further memory.
    pub(super) fn interface(&self, definition: &Definition) -> Interface {
        let starts = definition.inputs.iter().map(|start| start.to_bits());
        let inputs = (starts.collect(), definition.input_units.to_vec());
        let outputs = definition.output_units.to_vec();

        Interface {
            name: definition.name.clone(),
            inputs: interned(&self.inputs, inputs, || definition.describe_inputs()),
            outputs: interned(&self.outputs, outputs, || definition.describe_outputs()),
            states: self.states.clone(),
        }
    }

    /// These values of the parameters, with all that systems which have them share.
    pub(super) fn parameters(&self, definition: &Definition) -> Arc<ParameterSet> {
        let bits: Vec<u64> = definition.parameters.iter().map(|p| p.to_bits()).collect();
        let mut sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = sets.get(&bits).and_then(Weak::upgrade) {
            return known;
        }
        let set = Arc::new(ParameterSet::new(definition));
        sets.insert(bits, Arc::downgrade(&set));
        set
    }
}

/// Values of the parameters of a model.
pub(super) struct ParameterSet {
    /// No two of them in a program have the same.
    pub number: u64,
    pub model: Arc<Model>,
    pub values: Vec<f64>,
    /// Exact steppers that no room holds.
    pub engines: Pool<LinearEngine>,
}

impl ParameterSet {
    fn new(definition: &Definition) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            model: Arc::clone(&definition.model),
            values: definition.parameters.clone(),
            engines: Pool::default(),
        }
    }

    pub fn shared(&self) -> &SharedModel {
        self.model.shared()
    }

    /// A room in which the parameters are these. It goes back to where it came from by
    /// [`Self::leave`].
    pub fn enter(self: &Arc<Self>, lane: usize) -> Box<Room> {
        let rooms = &self.shared().rooms;
        let mut room = rooms.take(lane, || Box::new(Room::shared(self)));
        room.lane = lane;
        room.load(self);
        room
    }

    /// The room is free for others.
    pub fn leave(&self, room: Box<Room>) {
        self.shared().rooms.give(room.lane, room);
    }
}

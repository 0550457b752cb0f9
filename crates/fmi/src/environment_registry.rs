//! The environments that callbacks of FMUs are given, looked up when they come back.
//!
//! An FMU hands its environment back with every message. Some hand back something else: their
//! component, the number 2, nothing; and threads of an FMU may still log when its instance is gone.
//! So what comes back is compared with the environments of the instances that live, and never
//! followed as a pointer. What is unknown belongs to the instance that is being called in the same
//! thread.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::call_notebook::NotedName;
use crate::environment::Environment;
use crate::guard;
use crate::journal::Journal;

/// What belongs to an environment.
#[derive(Clone)]
struct Live {
    journal: Arc<Journal>,
    /// Whether it is of an instance of 3.0, which may ask for its inputs during a step.
    asks: bool,
}

/// The environments of the instances that live.
static LIVE: Mutex<Option<HashMap<Environment, Live>>> = Mutex::new(None);

/// The environment of a live instance: it is known until this is dropped.
pub(crate) struct Registered {
    environment: Environment,
    _name: NotedName,
}

impl Registered {
    /// An instance of 1.0 or 2.0, whose environment is a name for it and no more.
    pub fn plain(environment: Environment, journal: Arc<Journal>) -> Self {
        Self::new(
            environment,
            Live {
                journal,
                asks: false,
            },
        )
    }

    /// An instance of 3.0.
    pub fn three(environment: Environment, journal: Arc<Journal>) -> Self {
        Self::new(
            environment,
            Live {
                journal,
                asks: true,
            },
        )
    }

    fn new(environment: Environment, live: Live) -> Self {
        let name = NotedName::new(environment, &live.journal.instance);
        with_live(|all| all.insert(environment, live));
        Self {
            environment,
            _name: name,
        }
    }

    pub fn environment(&self) -> Environment {
        self.environment
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        with_live(|live| live.remove(&self.environment));
    }
}

fn with_live<T>(body: impl FnOnce(&mut HashMap<Environment, Live>) -> T) -> T {
    body(
        LIVE.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert_with(HashMap::new),
    )
}

/// The live environment that is meant by what a callback was given: that one, or else that of the
/// call under way.
fn meant(given: Environment) -> Option<(Environment, Live)> {
    let known = |environment: Environment| {
        with_live(|live| live.get(&environment).cloned()).map(|l| (environment, l))
    };
    known(given).or_else(|| guard::caller().and_then(known))
}

/// The journal of the instance that is meant by what a callback was given.
pub(crate) fn journal(given: Environment) -> Option<Arc<Journal>> {
    meant(given).map(|(_, live)| live.journal)
}

/// The environment of the instance of 3.0 that asks for its inputs.
pub(crate) fn asking(given: Environment) -> Option<Environment> {
    meant(given)
        .filter(|(_, live)| live.asks)
        .map(|(environment, _)| environment)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registered(name: &str) -> (Arc<Journal>, Registered) {
        let journal = Arc::new(Journal {
            instance: name.to_owned(),
            monitor: Arc::default(),
            log: None,
            disturbs: false.into(),
        });
        let environment = Environment::of(Arc::as_ptr(&journal));
        (journal.clone(), Registered::plain(environment, journal))
    }

    #[test]
    fn an_unknown_environment_is_that_of_the_call_under_way() {
        let (one, known) = registered("one");
        let strange = Environment::of(2 as *const u8);
        assert!(journal(strange).is_none());
        let found = guard::guarded(known.environment(), "test", || {
            journal(strange).is_some_and(|j| j.instance == "one")
        });
        assert_eq!(found, Ok(true));
        assert!(Arc::ptr_eq(&journal(known.environment()).unwrap(), &one));
    }

    #[test]
    fn an_instance_that_is_gone_is_not_found() {
        let (_, known) = registered("gone");
        let environment = known.environment();
        drop(known);
        assert!(journal(environment).is_none());
    }
}

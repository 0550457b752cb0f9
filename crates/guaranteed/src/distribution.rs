//! Where systems are computed: here, or at places elsewhere.
//!
//! All decisions are made here. A place elsewhere gets its systems once, and then answers questions
//! about them ([`SystemServer`](crate::SystemServer)) from what it is sent of the states that they
//! depend on. It computes what would be computed here, so that bounds do not depend on who does.

use std::cell::{Cell, RefCell};

use serde::de::DeserializeOwned;

use crate::places::{PlaceLost, Places, Question, extended, read};
use crate::problem::Problem;
use crate::system_part::{ProblemPart, SystemPart};

/// The systems of a place, and the states that it is sent.
pub(crate) struct Share {
    pub part: ProblemPart,
    pub known: Vec<usize>,
}

impl Share {
    pub fn new(part: ProblemPart) -> Self {
        let known = part.known_states();
        Self { part, known }
    }

    /// What the place is sent of something that all states have.
    pub fn pick<T: Clone>(&self, of_all: &[T]) -> Vec<T> {
        let known = self.known.iter();
        known.map(|&state| of_all[state].clone()).collect()
    }

    /// What the place was sent, among all states; the others keep what they have.
    pub fn put<T: Clone>(&self, picked: &[T], of_all: &mut [T]) {
        for (&state, item) in self.known.iter().zip(picked) {
            of_all[state].clone_from(item);
        }
    }

    /// The same in a list of all states, of which only those it was sent are used.
    pub fn among_all<T: Clone>(&self, picked: &[T], unused: T) -> Vec<T> {
        let mut all = vec![unused; self.part.dimension];
        self.put(picked, &mut all);
        all
    }
}

/// Which place computes which system.
pub(crate) struct Distribution {
    /// The place of each system.
    owners: Vec<usize>,
    /// How many states each system has.
    lengths: Vec<usize>,
    /// The systems of each place, of which this is the first.
    shares: Vec<Share>,
    messages: Option<RefCell<Messages>>,
    fields: Cell<usize>,
}

struct Messages {
    places: Box<dyn Places>,
    /// What each place is sent next.
    waiting: Vec<Vec<u8>>,
    answer: Vec<u8>,
    lost: Option<PlaceLost>,
}

impl Distribution {
    /// Everything is computed here.
    pub fn here(problem: &Problem) -> Self {
        Self::new(problem, vec![0; problem.systems.len()], None)
    }

    /// Each system of the model at the place that is its owner. Unknowns of loops stay here.
    pub fn elsewhere(problem: &Problem, owners: &[usize], places: Box<dyn Places>) -> Self {
        let mut all = owners.to_vec();
        all.resize(problem.systems.len(), 0);
        let distribution = Self::new(problem, all, Some(places));
        distribution.tell(|share| &share.part);
        distribution
    }

    fn new(problem: &Problem, owners: Vec<usize>, places: Option<Box<dyn Places>>) -> Self {
        let count = owners.iter().max().map_or(1, |last| last + 1);
        let share = |place: usize| {
            let systems = (0..owners.len()).filter(|&system| owners[system] == place);
            Share::new(problem.part(systems))
        };
        let messages = places.map(|places| Messages {
            places,
            waiting: vec![Vec::new(); count],
            answer: Vec::new(),
            lost: None,
        });

        Self {
            shares: (0..count).map(share).collect(),
            lengths: problem.systems.iter().map(|s| s.states.len()).collect(),
            owners,
            messages: messages.map(RefCell::new),
            fields: Cell::new(0),
        }
    }

    /// Whether everything is computed here.
    pub fn is_here(&self) -> bool {
        self.messages.is_none()
    }

    /// The systems that are computed here.
    pub fn own(&self) -> &ProblemPart {
        &self.shares[0].part
    }

    /// A number that no other field of this run has.
    pub fn next_field(&self) -> usize {
        self.fields.replace(self.fields.get() + 1)
    }

    /// Why a place no longer answers, if there is one.
    pub fn lost(&self) -> Option<PlaceLost> {
        self.messages.as_ref()?.borrow().lost.clone()
    }

    /// The other places that have systems, by their numbers.
    fn others(&self) -> impl Iterator<Item = (usize, &Share)> {
        let shares = self.shares.iter().enumerate().skip(1);
        shares.filter(|(_, share)| !share.part.systems.is_empty())
    }
}

/// Messages.
impl Distribution {
    /// Lets all other places know something. It travels with the next question.
    pub fn tell<'s, Q: Question + 's>(&'s self, news: impl Fn(&'s Share) -> Q) {
        let Some(messages) = &self.messages else {
            return;
        };
        for (place, share) in self.others() {
            messages.borrow_mut().add(place, &news(share));
        }
    }

    /// Asks all other places something. The answers are to be received before the next question.
    pub fn ask<'s, Q: Question + 's>(&'s self, question: impl Fn(&'s Share) -> Q) {
        let Some(messages) = &self.messages else {
            return;
        };
        for (place, share) in self.others() {
            let mut messages = messages.borrow_mut();
            messages.add(place, &question(share));
            messages.send(place);
        }
    }

    /// The answers of all other places, each with the systems that it is about. Where a place is
    /// lost, the answer is that nothing is known, in the words of `unknown`: that is always true.
    pub fn answers<'s, A: DeserializeOwned>(
        &'s self,
        unknown: impl Fn(&ProblemPart) -> A + 's,
    ) -> impl Iterator<Item = (&'s ProblemPart, A)> {
        let messages = self.messages.iter();
        messages.flat_map(move |messages| {
            self.others()
                .map(|(place, share)| {
                    let answer = messages.borrow_mut().receive(place);
                    (&share.part, answer.unwrap_or_else(|| unknown(&share.part)))
                })
                .collect::<Vec<_>>()
        })
    }

    /// What is known of each state, in the order of all states, from that of the systems here and
    /// the answers of all other places.
    pub fn of_states<T: DeserializeOwned>(
        &self,
        own: Vec<T>,
        unknown: impl Fn(&SystemPart) -> Vec<T>,
    ) -> Vec<T> {
        self.in_order(
            own,
            |part| part.systems.iter().flat_map(&unknown).collect(),
            &self.lengths,
        )
    }

    /// The same with one thing for each system.
    pub fn of_systems<T: DeserializeOwned>(
        &self,
        own: Vec<T>,
        unknown: impl Fn(&SystemPart) -> T,
    ) -> Vec<T> {
        let one_each = vec![1; self.owners.len()];
        self.in_order(
            own,
            |part| part.systems.iter().map(&unknown).collect(),
            &one_each,
        )
    }

    fn in_order<T: DeserializeOwned>(
        &self,
        own: Vec<T>,
        unknown: impl Fn(&ProblemPart) -> Vec<T>,
        counts: &[usize],
    ) -> Vec<T> {
        if self.shares.len() == 1 {
            return own;
        }

        let nothing = self.shares.iter().map(|_| Vec::new().into_iter());
        let mut found: Vec<std::vec::IntoIter<T>> = nothing.collect();
        found[0] = own.into_iter();
        let answers: Vec<Vec<T>> = self.answers(unknown).map(|(_, answer)| answer).collect();
        for ((place, _), answer) in self.others().zip(answers) {
            found[place] = answer.into_iter();
        }

        let systems = self.owners.iter().zip(counts);
        systems
            .flat_map(|(&owner, &count)| found[owner].by_ref().take(count).collect::<Vec<T>>())
            .collect()
    }
}

impl Messages {
    fn add(&mut self, place: usize, question: &impl Question) {
        let waiting = std::mem::take(&mut self.waiting[place]);
        self.waiting[place] = extended(waiting, question);
    }

    fn send(&mut self, place: usize) {
        if self.lost.is_none() {
            self.lost = self.places.send(place, &self.waiting[place]).err();
        }
        self.waiting[place].clear();
    }

    /// Nothing where any place is lost: the bounds end there.
    fn receive<A: DeserializeOwned>(&mut self, place: usize) -> Option<A> {
        if self.lost.is_some() {
            return None;
        }
        let received = self.places.receive(place, &mut self.answer);
        let answer = received.and_then(|()| {
            let answer = read(&mut self.answer.as_slice());
            answer.map_err(|error| error.to_string().into())
        });
        answer.map_err(|lost| self.lost = Some(lost)).ok()
    }
}

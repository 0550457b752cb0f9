//! The systems that fall to one thread, with trays on which orders for them are handed over.

use std::any::Any;
use std::mem::swap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use dovetail_core::{Error, LinearizeTask, Stopwatch, System, Task, Work};

use crate::seat::{Ask, Order, Seat, advance, linearize};

/// Some of the systems, and what they are asked.
pub(crate) struct Share {
    seats: Seats,
    tasks: Tray<Task>,
    linearizations: Tray<LinearizeTask>,
    failure: Option<Failure>,
}

/// The systems at the positions that leave the same remainder. Systems of one kind tend to stand side by side in a model;
/// dealing them out like cards spreads every kind over all shares.
struct Seats {
    seats: Vec<Seat>,
    shares: usize,
}

/// Orders handed over. They are swapped in and out, so that nothing is copied and nothing allocated.
pub(crate) struct Tray<O> {
    orders: Vec<O>,
    /// Where each order belongs in the asker's slice; as many as there are orders on the tray.
    positions: Vec<usize>,
    ask: Ask<O>,
}

/// An order that can be handed over: there is a tray for its kind.
pub(crate) trait Portable: Order {
    #[doc(hidden)]
    fn tray(share: &mut Share) -> &mut Tray<Self>;
}

impl Portable for Task {
    fn tray(share: &mut Share) -> &mut Tray<Self> {
        &mut share.tasks
    }
}

impl Portable for LinearizeTask {
    fn tray(share: &mut Share) -> &mut Tray<Self> {
        &mut share.linearizations
    }
}

impl Share {
    /// Deals the systems out to so many shares.
    pub fn deal(systems: Vec<Box<dyn System>>, shares: usize) -> Vec<Self> {
        let mut dealt: Vec<Vec<Seat>> = (0..shares).map(|_| Vec::new()).collect();
        for (position, system) in systems.into_iter().enumerate() {
            dealt[position % shares].push(Seat {
                system,
                work: Work::default(),
                stopwatch: Stopwatch::default(),
            });
        }
        let share = |seats: Vec<Seat>| Self {
            tasks: Tray::new(seats.len(), advance),
            linearizations: Tray::new(seats.len(), linearize),
            seats: Seats { seats, shares },
            failure: None,
        };
        dealt.into_iter().map(share).collect()
    }

    /// Takes these orders over, to be carried out here.
    pub fn take<'o, O: Portable + 'o>(
        &mut self,
        ask: Ask<O>,
        orders: impl Iterator<Item = (usize, &'o mut O)>,
    ) {
        let tray = O::tray(self);
        tray.ask = ask;
        orders.for_each(|(position, order)| tray.put(position, order));
    }

    /// Carries out what was taken over.
    pub fn work(&mut self) {
        let Self {
            seats,
            tasks,
            linearizations,
            ..
        } = self;
        self.failure = tasks
            .carry_out(seats)
            .or_else(|| linearizations.carry_out(seats));
    }

    /// Gives back what was taken over, carried out or not, and tells what the systems have done so far.
    pub fn give_back<O: Portable>(
        &mut self,
        orders: &mut [O],
        work: &mut [Work],
    ) -> Option<Failure> {
        let tray = O::tray(self);
        for (order, &position) in tray.orders.iter_mut().zip(&tray.positions) {
            swap(order, &mut orders[position]);
        }
        while let Some(position) = O::tray(self).positions.pop() {
            let system = orders[position].system();
            work[system] = self.seats.of(system).work;
        }
        self.failure.take()
    }

    /// Carries out orders that need not be handed over: the asker does this share itself.
    pub fn carry_out<'o, O: Order + 'o>(
        &mut self,
        ask: Ask<O>,
        orders: impl Iterator<Item = (usize, &'o mut O)>,
        work: &mut [Work],
    ) -> Option<Failure> {
        let seats = &mut self.seats;
        seats.carry_out(ask, orders, |system, done| work[system] = done)
    }
}

impl Seats {
    fn of(&mut self, system: usize) -> &mut Seat {
        &mut self.seats[system / self.shares]
    }

    /// One order after the other, up to the first that fails.
    fn carry_out<'o, O: Order + 'o>(
        &mut self,
        ask: Ask<O>,
        mut orders: impl Iterator<Item = (usize, &'o mut O)>,
        mut tell: impl FnMut(usize, Work),
    ) -> Option<Failure> {
        orders.find_map(|(position, order)| {
            // What a panic may leave half done is the caller's affair, in whose thread it goes on.
            let cause = match catch_unwind(AssertUnwindSafe(|| ask(self.of(order.system()), order)))
            {
                Ok(Ok(())) => {
                    tell(order.system(), self.of(order.system()).work);
                    return None;
                }
                Ok(Err(error)) => Cause::Error(error),
                Err(payload) => Cause::Panic(payload),
            };
            Some(Failure { position, cause })
        })
    }
}

impl<O: Order> Tray<O> {
    fn new(room: usize, ask: Ask<O>) -> Self {
        Self {
            orders: (0..room).map(|_| O::blank()).collect(),
            positions: Vec::with_capacity(room),
            ask,
        }
    }

    fn put(&mut self, position: usize, order: &mut O) {
        let next = self.positions.len();
        if next == self.orders.len() {
            self.orders.push(O::blank()); // a system that is asked twice in one call
        }
        swap(&mut self.orders[next], order);
        self.positions.push(position);
    }

    fn carry_out(&mut self, seats: &mut Seats) -> Option<Failure> {
        if self.positions.is_empty() {
            return None;
        }
        let orders = self.positions.iter().copied().zip(&mut self.orders);
        seats.carry_out(self.ask, orders, |_, _| ())
    }
}

/// What ended a call, and at which order.
pub(crate) struct Failure {
    position: usize,
    cause: Cause,
}

enum Cause {
    Error(Error),
    Panic(Box<dyn Any + Send>),
}

impl Failure {
    /// The one that a single thread, working in order, would have met.
    pub fn first(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        one.into_iter()
            .chain(other)
            .min_by_key(|failure| failure.position)
    }

    /// An error is handed on; a panic goes on in the asker's thread, as if it had begun there.
    pub fn raise(self) -> Error {
        match self.cause {
            Cause::Error(error) => error,
            Cause::Panic(payload) => resume_unwind(payload),
        }
    }
}

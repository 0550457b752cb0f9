//! Systems spread over threads of this process.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle, available_parallelism, current};

use dovetail_core::{Capabilities, Error, Interface, LinearizeTask, System, Task, Work, Workers};

use crate::post::Post;
use crate::seat::{Ask, advance, begin, linearize, trial};
use crate::share::{Failure, Portable, Share};

/// How often a side looks for its turn before it sleeps: some ten microseconds, about what sleeping and being woken cost.
///
/// By the benchmark `threads` on two free cores: with 200, steps of 30 µs took 1.3 times as long as in a single thread, with
/// 1000 they took 0.6 times as long, with 5000 no less. Where others want the cores too, looking longer takes
/// time from those that work: with 20000 even heavy systems were up to 1.7 times slower than in a single thread.
const SPINS: u32 = 1000;

/// Systems spread over a fixed number of threads, the calling one among them.
///
/// The systems are dealt out once, like cards: with n threads, the system at position k falls to thread k mod n. Each system
/// sees the calls it would see under [`SingleThread`](dovetail_core::SingleThread), in the same order, so that its answers are
/// the same to the last bit; which thread carries them out cannot be seen. Where all systems that are due fall to one
/// thread, as always under a method that asks one system at a time, the calling thread asks them itself.
///
/// A call with something to hand over costs some microseconds more than in a single thread: threads pay where the steps of
/// the systems cost much more than that, together.
///
/// **Errors.** Where several systems fail in one call, the error is that of the first in the order of the tasks: the one
/// that a single thread would have met. That one would have stopped there; here systems that come later may have been
/// asked, and their work is counted.
///
/// **Panics.** A panic of a system is one of the caller, as it is in a single thread; the other threads are not harmed.
pub struct Threads {
    interfaces: Vec<Interface>,
    capabilities: Vec<Capabilities>,
    work: Vec<Work>,
    posts: Vec<Arc<Post>>,
    /// The thread of every post but the first, which is the caller's.
    helpers: Vec<JoinHandle<()>>,
    /// Whether a post has something to do in the call under way.
    busy: Vec<bool>,
}

impl Threads {
    /// Takes the systems over and starts the threads: one less than `threads`, and no more than there are systems.
    /// Fails where the operating system gives no more threads.
    pub fn new(mut systems: Vec<Box<dyn System>>, threads: NonZeroUsize) -> std::io::Result<Self> {
        let count = threads.get().min(systems.len()).max(1);
        let mut workers = Self {
            interfaces: systems.iter().map(|s| s.interface().clone()).collect(),
            capabilities: systems
                .iter_mut()
                .map(|s| Capabilities::of(s.as_mut()))
                .collect(),
            work: vec![Work::default(); systems.len()],
            posts: Vec::with_capacity(count),
            helpers: Vec::with_capacity(count - 1),
            busy: vec![false; count],
        };
        // Where threads have to share cores, one that looks for its turn keeps the others from their work.
        let spins = if available_parallelism().is_ok_and(|cores| count <= cores.get()) {
            SPINS
        } else {
            0
        };
        workers.posts.extend(
            Share::deal(systems, count)
                .into_iter()
                .map(|share| Arc::new(Post::new(share, spins))),
        );
        for (number, post) in workers.posts.iter().enumerate().skip(1) {
            let post = Arc::clone(post);
            workers.helpers.push(
                Builder::new()
                    .name(format!("systems-{number}"))
                    .spawn(move || post.serve())?,
            );
        }
        // A thread allocates while it starts, which is not to happen in the midst of a run.
        workers.posts.iter().skip(1).for_each(|post| post.wait());
        Ok(workers)
    }

    /// How many threads carry out steps, the calling one among them.
    pub fn threads(&self) -> usize {
        self.posts.len()
    }

    /// Carries out the orders that are due, each in the thread of its system.
    fn ask<O: Portable>(&mut self, orders: &mut [O], ask: Ask<O>) -> Result<(), Error> {
        let shares = self.posts.len();
        self.busy.fill(false);
        orders
            .iter()
            .filter(|order| order.is_due())
            .for_each(|order| self.busy[order.system() % shares] = true);
        // The caller takes the first share with something to do; the thread of that share, if it has one, sleeps on.
        let Some(own) = self.busy.iter().position(|&busy| busy) else {
            return Ok(());
        };
        self.busy[own] = false;
        self.hand_over(orders, ask);
        let of_own = of_share(orders, own, shares);
        let mut failure =
            self.posts[own].with(|share| share.carry_out(ask, of_own, &mut self.work));
        self.others().for_each(|(_, post)| post.help());
        for post in self
            .busy
            .iter()
            .zip(&self.posts)
            .filter_map(|(busy, post)| busy.then_some(post))
        {
            post.wait();
            failure = Failure::first(
                failure,
                post.with(|share| share.give_back(orders, &mut self.work)),
            );
        }
        failure.map_or(Ok(()), |failure| Err(failure.raise()))
    }

    /// The other threads get what is theirs.
    fn hand_over<O: Portable>(&self, orders: &mut [O], ask: Ask<O>) {
        let caller = current();
        for (number, post) in self.others() {
            post.with(|share| share.take(ask, of_share(orders, number, self.posts.len())));
            post.order(&caller, self.helpers[number - 1].thread());
        }
    }

    /// The posts with something to do, but for that which the caller does itself. The first is never among them.
    fn others(&self) -> impl Iterator<Item = (usize, &Post)> {
        let posts = self.posts.iter().enumerate().zip(&self.busy);
        posts
            .filter(|(_, busy)| **busy)
            .map(|((number, post), _)| (number, post.as_ref()))
    }
}

/// The orders that are due and fall to a share, with their positions.
fn of_share<O: Portable>(
    orders: &mut [O],
    number: usize,
    shares: usize,
) -> impl Iterator<Item = (usize, &mut O)> {
    let orders = orders.iter_mut().enumerate();
    orders.filter(move |(_, order)| order.is_due() && order.system() % shares == number)
}

impl Workers for Threads {
    fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    fn capabilities(&self) -> &[Capabilities] {
        &self.capabilities
    }

    fn begin(&mut self, tasks: &mut [Task]) -> Result<(), Error> {
        self.ask(tasks, begin)
    }

    fn advance(&mut self, tasks: &mut [Task]) -> Result<(), Error> {
        self.ask(tasks, advance)
    }

    fn trial(&mut self, tasks: &mut [Task]) -> Result<(), Error> {
        self.ask(tasks, trial)
    }

    fn linearize(&mut self, tasks: &mut [LinearizeTask]) -> Result<(), Error> {
        self.ask(tasks, linearize)
    }

    fn work(&self) -> &[Work] {
        &self.work
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        for (post, helper) in self.posts.iter().skip(1).zip(&self.helpers) {
            post.close(helper.thread());
        }
        for helper in self.helpers.drain(..) {
            let _ = helper.join(); // no thread panics: systems are asked where it is caught
        }
    }
}

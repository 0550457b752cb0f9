//! The ranks of an MPI program, and messages between them.
//!
//! One message a rank and exchange: what the paper does by `MPI_Scatterv` and `MPI_Gatherv` is done
//! by messages from and to rank 0. They may have any length, ranks with nothing to do get none, and a
//! wait can be given up, which a collective call cannot.

#![allow(
    unsafe_code,
    reason = "the wrappers of MPI have no send that can be given up without a panic"
)]

use std::fmt;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use mpi::Threading;
use mpi::environment::Universe;
use mpi::ffi;
use mpi::traits::Communicator;
use rustix::thread::set_current_timer_slack;

use super::lost::RankLoss;
use super::peers::{Peer, are_crowded};
use super::waiting::Backoff;

/// The only tag in use.
const TAG: i32 = 0;
/// After an interrupt a rank has so long to come to an end.
const GRACE_PERIOD: Duration = Duration::from_secs(2);
/// Beyond the time limits of its systems, a rank has so long for its messages.
const TRANSFER_TIME: Duration = Duration::from_secs(2);

/// The ranks of this MPI program. Only the thread that started it may use it.
pub struct Network {
    rank: usize,
    size: usize,
    backoff: Backoff,
    peers: Vec<Peer>,
    universe: Mutex<Option<Universe>>,
    limit: Mutex<Option<Duration>>,
    interrupted: OnceLock<&'static AtomicBool>,
    lost: AtomicBool,
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {}", self.rank, self.size)
    }
}

/// The other side of a message cannot be reached.
pub(crate) struct Unreachable;

impl Network {
    /// Joins the other ranks, once; alone where nobody has started any.
    pub fn join() -> &'static Self {
        static NETWORK: OnceLock<Network> = OnceLock::new();
        NETWORK.get_or_init(Self::start)
    }

    fn start() -> Self {
        let started = mpi::initialize_with_threading(Threading::Funneled);
        let (universe, _) = started.expect("BUG: somebody else has started MPI");
        let world = universe.world();
        // Sleeps of some microseconds are to be no longer than that.
        let _ = set_current_timer_slack(Some(NonZeroU64::MIN));
        // SAFETY: MPI is started, and both are constants of its library. An error is then a code.
        unsafe { ffi::MPI_Comm_set_errhandler(ffi::RSMPI_COMM_WORLD, ffi::RSMPI_ERRORS_RETURN) };

        Self {
            rank: world.rank() as usize,
            size: world.size() as usize,
            backoff: Backoff::new(are_crowded(&world)),
            peers: Peer::gather(&world),
            universe: Mutex::new(Some(universe)),
            limit: Mutex::default(),
            interrupted: OnceLock::new(),
            lost: AtomicBool::new(false),
        }
    }

    /// The number of this rank.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether this rank reads the model, orchestrates the run and writes results.
    pub fn orchestrates(&self) -> bool {
        self.rank == 0
    }

    /// A system may take so long for a step. Once `interrupted` is raised, ranks have two seconds left.
    pub fn watch(&self, limit: Option<Duration>, interrupted: &'static AtomicBool) {
        *self.limit.lock().unwrap_or_else(PoisonError::into_inner) = limit;
        let _ = self.interrupted.set(interrupted);
    }

    /// Whether a rank was lost: the others can then only be ended together.
    pub fn has_lost_a_rank(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Takes a rank for lost.
    pub(crate) fn note_loss(&self) {
        self.lost.store(true, Ordering::Relaxed);
    }

    /// Ends MPI in order; all ranks must do so.
    pub fn leave(&self) {
        let mut universe = self.universe.lock().unwrap_or_else(PoisonError::into_inner);
        drop(universe.take());
    }

    /// Ends all ranks at once.
    pub fn abort(&self, code: u8) -> ! {
        // SAFETY: MPI is started, and ends here.
        unsafe { ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, i32::from(code)) };
        std::process::exit(i32::from(code))
    }

    /// Sends a message to a rank, or says how that was lost.
    pub(crate) fn send(&self, to: usize, words: &mut Vec<u64>) -> Result<(), RankLoss> {
        let watch = Watch::new(self, to, 1);
        let sent = self.transfer_out(to, words, || watch.check());
        self.noted(to, sent)
    }

    /// Waits for a message of a rank that was given `tasks` tasks, or says how that was lost.
    pub(crate) fn receive(
        &self,
        from: usize,
        words: &mut Vec<u64>,
        tasks: usize,
    ) -> Result<(), RankLoss> {
        let watch = Watch::new(self, from, tasks);
        let received = self.transfer_in(from, words, || watch.check());
        self.noted(from, received)
    }

    /// Sends a message to rank 0, however long that takes.
    pub(crate) fn send_home(&self, words: &mut Vec<u64>) -> Result<(), Unreachable> {
        let sent = self.transfer_out(0, words, || Ok(()));
        sent.map_err(|_| Unreachable)
    }

    /// Waits for a message of rank 0, however long that takes.
    pub(crate) fn receive_orders(&self, words: &mut Vec<u64>) -> Result<(), Unreachable> {
        let received = self.transfer_in(0, words, || Ok(()));
        received.map_err(|_| Unreachable)
    }

    fn noted(&self, rank: usize, done: Result<(), TransferError>) -> Result<(), RankLoss> {
        done.map_err(|error| {
            self.note_loss();
            match error {
                TransferError::Refused => RankLoss::Unreachable { rank },
                TransferError::GivenUp(loss) => loss,
            }
        })
    }

    fn transfer_out(
        &self,
        to: usize,
        words: &mut Vec<u64>,
        check: impl FnMut() -> Result<(), RankLoss>,
    ) -> Result<(), TransferError> {
        // SAFETY: the words stay where they are until the request is complete: they are borrowed
        // until this function returns, and `complete` sees to the rest.
        let request = unsafe {
            start_request(|request| {
                ffi::MPI_Isend(
                    words.as_ptr().cast(),
                    words.len() as i32,
                    ffi::RSMPI_UINT64_T,
                    to as i32,
                    TAG,
                    ffi::RSMPI_COMM_WORLD,
                    request,
                )
            })
        };
        self.complete(request?, words, check)
    }

    fn transfer_in(
        &self,
        from: usize,
        words: &mut Vec<u64>,
        mut check: impl FnMut() -> Result<(), RankLoss>,
    ) -> Result<(), TransferError> {
        let mut waiting = self.backoff.wait();
        let length = loop {
            if let Some(length) = waiting_message(from)? {
                break length;
            }
            if waiting.pause() {
                check()?;
            }
        };
        words.clear();
        words.resize(length, 0);

        // SAFETY: as for `transfer_out`; there is room for all words of the message.
        let request = unsafe {
            start_request(|request| {
                ffi::MPI_Irecv(
                    words.as_mut_ptr().cast(),
                    length as i32,
                    ffi::RSMPI_UINT64_T,
                    from as i32,
                    TAG,
                    ffi::RSMPI_COMM_WORLD,
                    request,
                )
            })
        };
        self.complete(request?, words, check)
    }

    /// Waits until a request is complete. One that is given up keeps its words for ever: MPI may still
    /// read or write them.
    fn complete(
        &self,
        mut request: ffi::MPI_Request,
        words: &mut Vec<u64>,
        mut check: impl FnMut() -> Result<(), RankLoss>,
    ) -> Result<(), TransferError> {
        let mut waiting = self.backoff.wait();
        loop {
            let mut done = 0;
            // SAFETY: the request was started and is not complete; both are ours.
            let code =
                unsafe { ffi::MPI_Test(&raw mut request, &raw mut done, ffi::RSMPI_STATUS_IGNORE) };
            let given_up = match code {
                SUCCESS if done != 0 => return Ok(()),
                SUCCESS if waiting.pause() => check().map_err(TransferError::GivenUp),
                SUCCESS => Ok(()),
                _ => Err(TransferError::Refused),
            };
            if let Err(error) = given_up {
                std::mem::forget(std::mem::take(words));
                return Err(error);
            }
        }
    }
}

const SUCCESS: i32 = 0;

/// Why a message did not arrive.
enum TransferError {
    /// MPI says so.
    Refused,
    /// It took too long, or the other rank is gone.
    GivenUp(RankLoss),
}

impl From<RankLoss> for TransferError {
    fn from(loss: RankLoss) -> Self {
        Self::GivenUp(loss)
    }
}

/// Starts a request.
///
/// # Safety
///
/// `start` calls MPI with memory that stays where it is until the request is complete.
unsafe fn start_request(
    start: impl FnOnce(*mut ffi::MPI_Request) -> i32,
) -> Result<ffi::MPI_Request, TransferError> {
    // SAFETY: a constant of MPI's library.
    let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
    match start(&raw mut request) {
        SUCCESS => Ok(request),
        _ => Err(TransferError::Refused),
    }
}

/// How many words the next message of a rank has, if there is one.
fn waiting_message(from: usize) -> Result<Option<usize>, TransferError> {
    let mut is_there = 0;
    let mut length = 0;
    // SAFETY: an MPI status is plain numbers, which the call fills in.
    let mut status: ffi::MPI_Status = unsafe { std::mem::zeroed() };
    // SAFETY: what is written to is ours.
    let code = unsafe {
        ffi::MPI_Iprobe(
            from as i32,
            TAG,
            ffi::RSMPI_COMM_WORLD,
            &raw mut is_there,
            &raw mut status,
        )
    };
    if code != SUCCESS {
        return Err(TransferError::Refused);
    }
    if is_there == 0 {
        return Ok(None);
    }

    // SAFETY: the status is that of a message of words.
    unsafe { ffi::MPI_Get_count(&raw const status, ffi::RSMPI_UINT64_T, &raw mut length) };
    Ok(Some(length.max(0) as usize))
}

/// Decides when a rank has been waited for long enough.
struct Watch<'a> {
    network: &'a Network,
    rank: usize,
    began: Instant,
    limit: Option<Duration>,
}

impl<'a> Watch<'a> {
    fn new(network: &'a Network, rank: usize, tasks: usize) -> Self {
        let limit = *network.limit.lock().unwrap_or_else(PoisonError::into_inner);
        let tasks = u32::try_from(tasks).unwrap_or(u32::MAX);
        Self {
            network,
            rank,
            began: Instant::now(),
            limit: limit.map(|limit| limit.saturating_mul(tasks) + TRANSFER_TIME),
        }
    }

    fn check(&self) -> Result<(), RankLoss> {
        let rank = self.rank;
        if self.network.peers[rank].is_gone() {
            return Err(RankLoss::Ended { rank });
        }
        if let Some(limit) = self.limit.filter(|limit| self.began.elapsed() > *limit) {
            return Err(RankLoss::Silent { rank, limit });
        }

        let limit = GRACE_PERIOD;
        let interrupted = self.network.interrupted.get();
        if interrupted.is_some_and(|flag| flag.load(Ordering::Relaxed))
            && self.began.elapsed() > limit
        {
            return Err(RankLoss::Interrupted { rank, limit });
        }
        Ok(())
    }
}

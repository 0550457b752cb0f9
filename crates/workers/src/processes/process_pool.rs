//! Processes, from their start to their end.

use std::ffi::OsString;
use std::fmt;
use std::io::{IoSlice, Result as IoResult};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::{Pid, Signal as Kill, kill_process_group};

use crate::processes::channel::{self, ANSWERED, ASKED, Backoff, Gone, HEAD};
use crate::processes::lost::ProcessLoss;
use crate::processes::memory::SharedMemory;
use crate::processes::serve::{MAKE, OPEN, TASK};
use crate::processes::stop_flag::StopFlag;
use crate::question::DONE;
use crate::text_table::TextTable;

/// A side that sleeps on a channel checks so often for interrupts and time limits.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Where steps have a limit, a system has at least so long to be made: its files are read, and an
/// FMU is unpacked.
const MIN_START_LIMIT: Duration = Duration::from_secs(60);
/// An FMU has so long to be freed, where steps have no limit.
const LEAVE_LIMIT: Duration = Duration::from_secs(60);
/// The words of the page in which a process notes what it does.
pub const NOTE_WORDS: usize = 512;
/// After an interrupt, or at the end of a run, a process has so long to come to an end.
const GRACE_PERIOD: Duration = Duration::from_secs(2);

/// How worker processes are started and how long they are waited for. Processes that are not in use
/// are kept for the next run.
#[derive(Clone)]
pub struct ProcessPool {
    shared: Arc<PoolState>,
}

struct PoolState {
    program: PathBuf,
    arguments: Vec<OsString>,
    texts: TextTable,
    /// Reads what processes have noted of what they do.
    describe: fn(&[AtomicU64]) -> String,
    /// The time that a process has for an answer; none: as long as it takes.
    limit: Option<Duration>,
    interrupted: Option<StopFlag>,
    /// When the interrupt was first seen.
    since: OnceLock<Instant>,
    idle: Mutex<Vec<Process>>,
}

/// Those that are kept end together.
impl Drop for PoolState {
    fn drop(&mut self) {
        let idle = self.idle.get_mut().unwrap_or_else(PoisonError::into_inner);
        end_together(std::mem::take(idle));
    }
}

impl fmt::Debug for ProcessPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PoolState {
            program,
            arguments,
            limit,
            ..
        } = &*self.shared;
        f.debug_struct("ProcessPool")
            .field("program", program)
            .field("arguments", arguments)
            .field("limit", limit)
            .finish()
    }
}

impl ProcessPool {
    /// Processes of this program, which is to call [`serve`](crate::serve) when it is started with
    /// these arguments.
    pub fn new(program: impl Into<PathBuf>, arguments: &[&str], texts: TextTable) -> Self {
        let arguments = arguments.iter().map(OsString::from).collect();
        let program = program.into();

        Self {
            shared: Arc::new(PoolState {
                program,
                arguments,
                texts,
                describe: |_| String::new(),
                limit: None,
                interrupted: None,
                since: OnceLock::new(),
                idle: Mutex::default(),
            }),
        }
    }

    /// A process that does not answer within `limit` is killed. Once `interrupted` is raised, a
    /// process has two seconds left.
    pub fn watched(&self, limit: Option<Duration>, interrupted: Option<StopFlag>) -> Self {
        self.changed(|state| (state.limit, state.interrupted) = (limit, interrupted))
    }

    /// Where a process is lost, what it was doing is told: `describe` reads the page of
    /// [`NOTE_WORDS`] that the process was given when it was started.
    pub fn describing(&self, describe: fn(&[AtomicU64]) -> String) -> Self {
        self.changed(|state| state.describe = describe)
    }

    /// The same with a change, and no processes yet.
    fn changed(&self, change: impl FnOnce(&mut PoolState)) -> Self {
        let shared = &self.shared;
        let mut state = PoolState {
            program: shared.program.clone(),
            arguments: shared.arguments.clone(),
            texts: shared.texts,
            describe: shared.describe,
            limit: shared.limit,
            interrupted: shared.interrupted.clone(),
            since: OnceLock::new(),
            idle: Mutex::default(),
        };
        change(&mut state);
        let shared = Arc::new(state);
        Self { shared }
    }

    /// The time that a process has for an answer; none: as long as it takes.
    pub fn limit(&self) -> Option<Duration> {
        self.shared.limit
    }

    pub(crate) fn texts(&self) -> TextTable {
        self.shared.texts
    }

    /// A process for this job: one that is idle, or a new one that is about to open it.
    pub(crate) fn process(&self, job: &[u8]) -> IoResult<Process> {
        let mut idle = self.idle();
        match idle.iter().position(|process| process.job == job) {
            Some(place) => Ok(idle.swap_remove(place)),
            None => Process::start(&self.shared, job),
        }
    }

    /// A process that does tasks, one after the other.
    pub fn helper(&self) -> IoResult<TaskProcess> {
        Ok(TaskProcess {
            process: Process::spawn(&self.shared, Vec::new())?,
            pool: self.clone(),
        })
    }

    /// Keeps a process whose system has left, for the next run.
    pub(crate) fn keep(&self, process: Process) {
        self.idle().push(process);
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Process>> {
        let idle = self.shared.idle.lock();
        idle.unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether someone wants the run to end.
    pub(crate) fn is_interrupted(&self) -> bool {
        let flag = self.shared.interrupted.as_ref();
        flag.is_some_and(StopFlag::is_raised)
    }

    /// Watches a process that is being started since `began`. An interrupt ends it at once.
    pub(crate) fn watch_start(&self, began: Instant) -> Watch {
        Watch {
            limit: self.shared.limit.map(|limit| limit.max(MIN_START_LIMIT)),
            grace: Duration::ZERO,
            ..self.watch(began)
        }
    }

    /// Watches a process that is making a system since `began`: what holds for steps holds for the
    /// first call of an FMU already.
    pub(crate) fn watch_making(&self, began: Instant) -> Watch {
        Watch {
            grace: Duration::ZERO,
            ..self.watch(began)
        }
    }

    /// Watches a process that ends its system: an FMU may have to write its files.
    pub(crate) fn watch_leaving(&self) -> Watch {
        let watch = self.watch(Instant::now());
        Watch {
            limit: Some(watch.limit.unwrap_or(LEAVE_LIMIT)),
            ..watch
        }
    }

    /// Watches a process that is waited for since `began`.
    pub(crate) fn watch(&self, began: Instant) -> Watch {
        Watch {
            began,
            limit: self.shared.limit,
            grace: GRACE_PERIOD,
            pool: self.shared.clone(),
        }
    }
}

/// Decides when a process has been waited for long enough.
pub(crate) struct Watch {
    began: Instant,
    limit: Option<Duration>,
    /// So long it has after an interrupt.
    grace: Duration,
    pool: Arc<PoolState>,
}

impl Watch {
    fn check(&mut self) -> Result<(), ProcessLoss> {
        if let Some(limit) = self.limit.filter(|limit| self.began.elapsed() > *limit) {
            return Err(ProcessLoss::silent(limit));
        }

        let interrupted = self.pool.interrupted.as_ref();
        let interrupted = interrupted.is_some_and(StopFlag::is_raised);
        if interrupted && self.pool.since.get_or_init(Instant::now).elapsed() >= self.grace {
            return Err(ProcessLoss::interrupted(self.grace));
        }
        Ok(())
    }
}

/// A worker process and the channel to it.
pub(crate) struct Process {
    child: Child,
    socket: UnixStream,
    memory: Option<SharedMemory>,
    backoff: Backoff,
    job: Vec<u8>,
    /// Whether it has said that it could open its job.
    opened: bool,
    lost: Option<ProcessLoss>,
    /// Where it notes what it does.
    notes: SharedMemory,
    describe: fn(&[AtomicU64]) -> String,
}

/// A process that does tasks, one after the other, until one fails or it is dropped.
pub struct TaskProcess {
    process: Process,
    pool: ProcessPool,
}

impl TaskProcess {
    /// Does a task, which has so long; what came of it.
    pub fn run(&mut self, task: &[u8], limit: Duration) -> Result<Vec<u8>, ProcessError> {
        let sent = channel::send_frame(&self.process.socket, TASK, task);
        sent.map_err(|gone| self.process.lose(gone.into()))?;

        self.process.reply(&mut Watch {
            limit: Some(limit),
            ..self.pool.watch(Instant::now())
        })
    }
}

/// Why a process has not done what it was asked for.
#[derive(Debug)]
pub enum ProcessError {
    /// In its own words.
    Said(String),
    /// It is gone.
    Lost(ProcessLoss),
}

impl From<ProcessLoss> for ProcessError {
    fn from(lost: ProcessLoss) -> Self {
        Self::Lost(lost)
    }
}

impl Process {
    fn start(shared: &PoolState, job: &[u8]) -> IoResult<Self> {
        let process = Self::spawn(shared, job.to_owned())?;
        // A process that is gone already is found out by whoever waits for its answer.
        let _ = channel::send_frame(&process.socket, OPEN, job);
        Ok(process)
    }

    fn spawn(shared: &PoolState, job: Vec<u8>) -> IoResult<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        socket.set_read_timeout(Some(POLL_INTERVAL))?;
        let mut command = Command::new(&shared.program);
        // A group of its own: Ctrl-C at the terminal is ours to handle, and must kill nobody.
        command
            .args(&shared.arguments)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .process_group(0);
        let child = command.spawn()?;
        let mut process = Self {
            child,
            socket,
            memory: None,
            backoff: Backoff::default(),
            job,
            opened: false,
            lost: None,
            notes: SharedMemory::new(NOTE_WORDS)?,
            describe: shared.describe,
        };
        // A process that is gone already is found out by whoever waits for its answer.
        let _ = send_file(&process.socket, Some(process.notes.file()));
        process.notes.close_file();

        Ok(process)
    }

    /// Asks for a system; [`made`](Self::made) gives what came of it.
    pub fn make(&mut self, request: &[u8]) -> Result<(), ProcessLoss> {
        let sent = channel::send_frame(&self.socket, MAKE, request);
        sent.map_err(|gone| self.lose(gone.into()))
    }

    /// What the process says of the system it was asked for.
    pub fn made(&mut self, pool: &ProcessPool, began: Instant) -> Result<Vec<u8>, ProcessError> {
        if !self.opened {
            self.reply(&mut pool.watch_start(began))?;
            self.opened = true;
        }
        self.reply(&mut pool.watch_making(Instant::now()))
    }

    fn reply(&mut self, watch: &mut Watch) -> Result<Vec<u8>, ProcessError> {
        let received = channel::receive_frame(&self.socket, || check_alive(watch, &mut self.child));
        match received.map_err(|lost| self.lose(lost))? {
            (DONE, bytes) => Ok(bytes),
            (_, why) => Err(ProcessError::Said(
                String::from_utf8_lossy(&why).into_owned(),
            )),
        }
    }

    /// Gives the process memory with room for so many words, if it has not got that.
    pub fn give_memory(&mut self, words: usize) -> IoResult<()> {
        let enough = self
            .memory
            .as_ref()
            .is_some_and(|memory| channel::body(memory).len() >= words);
        if !enough {
            self.memory = Some(SharedMemory::new(HEAD + words)?);
        }

        let file = self.memory.as_ref().map(SharedMemory::file);
        send_file(&self.socket, file.filter(|_| !enough))
    }

    /// Where requests and answers lie.
    pub fn body(&self) -> &[AtomicU64] {
        self.memory
            .as_ref()
            .map_or(&[], |memory| channel::body(memory))
    }

    /// The request that was put into the memory is to be carried out.
    pub fn request(&mut self) -> Result<(), ProcessLoss> {
        if let Some(lost) = &self.lost {
            return Err(lost.clone());
        }

        let memory = self
            .memory
            .as_ref()
            .expect("BUG: a process without memory was asked");
        channel::pass(memory, &self.socket, ASKED).map_err(|gone| self.lose(gone.into()))
    }

    /// Waits until the request is carried out.
    pub fn wait(&mut self, mut watch: Watch) -> Result<(), ProcessLoss> {
        if let Some(lost) = &self.lost {
            return Err(lost.clone());
        }

        let memory = self
            .memory
            .as_ref()
            .expect("BUG: a process without memory was asked");
        let child = &mut self.child;
        let waited = channel::wait(memory, &self.socket, ANSWERED, &mut self.backoff, || {
            check_alive(&mut watch, child)
        });

        waited.map_err(|lost| self.lose(lost))
    }

    /// The process is not what it should be: how it ended, or else it is ended now.
    pub fn lose(&mut self, why: ProcessLoss) -> ProcessLoss {
        // One that has just closed its channel may need a moment to be seen as ended.
        let ended = (0..50).find_map(|_| match (&why, self.child.try_wait()) {
            (_, Ok(Some(status))) => Some(status),
            (ProcessLoss::Confused, Ok(None)) => {
                std::thread::sleep(Duration::from_millis(2));
                None
            }
            _ => None,
        });
        let lost = ended.map_or(why, ProcessLoss::of);
        let lost = lost.during((self.describe)(self.notes.words()));
        self.kill();

        self.lost.get_or_insert(lost).clone()
    }

    /// Ends the process and whatever its FMU has started.
    fn kill(&mut self) {
        self.signal_group(Kill::KILL);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// The process leads a group, to which everything belongs that its FMU has started.
    fn signal_group(&self, signal: Kill) {
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            let _ = kill_process_group(group, signal);
        }
    }

    /// Tells the process that it is no longer wanted.
    fn dismiss(&self) {
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
    }

    /// Waits until the process has ended in order, or ends it. What its FMU has left running is
    /// asked to end.
    fn see_off(&mut self, deadline: Instant) {
        while self.lost.is_none() {
            match self.child.try_wait() {
                Ok(None) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Ok(None) => break,
                _ => return self.signal_group(Kill::TERM),
            }
        }
        self.kill();
    }

    pub fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// How it was lost.
    pub fn loss(&self) -> Option<&ProcessLoss> {
        self.lost.as_ref()
    }
}

/// Checks the clock, the interrupt, and whether the process still lives: something it has started
/// may hold its channel open.
fn check_alive(watch: &mut Watch, child: &mut Child) -> Result<(), ProcessLoss> {
    watch.check()?;
    match child.try_wait() {
        Ok(Some(_)) => Err(Gone.into()),
        _ => Ok(()),
    }
}

impl Drop for Process {
    /// The channel is closed, and the process ends in order, or is ended.
    fn drop(&mut self) {
        self.dismiss();
        self.see_off(Instant::now() + GRACE_PERIOD);
    }
}

/// Ends processes all at once: none waits for another.
pub(crate) fn end_together(mut processes: Vec<Process>) {
    processes.iter().for_each(Process::dismiss);
    let deadline = Instant::now() + GRACE_PERIOD;
    for process in &mut processes {
        process.see_off(deadline);
    }
}

/// Ends processes that have done nothing yet, without waiting for any.
pub(crate) fn kill_together(mut processes: Vec<Process>) {
    for process in &processes {
        process.signal_group(Kill::KILL);
    }
    processes.iter_mut().for_each(Process::kill);
}

/// Sends a byte, and with it a file where there is one.
fn send_file(socket: &UnixStream, file: Option<BorrowedFd<'_>>) -> IoResult<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let files = file.map(|file| [file]);
    if let Some(files) = &files {
        control.push(SendAncillaryMessage::ScmRights(files));
    }

    let byte = [IoSlice::new(&[0])];
    sendmsg(socket, &byte, &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

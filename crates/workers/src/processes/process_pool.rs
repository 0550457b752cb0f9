//! Processes, from their start to their end.

use std::ffi::OsString;
use std::fmt;
use std::io::{IoSlice, Result as IoResult};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use crate::processes::channel::{self, ANSWERED, ASKED, Backoff, Gone, HEAD};
use crate::processes::lost::ProcessLoss;
use crate::processes::memory::SharedMemory;
use crate::processes::message::{DONE, TextTable};
use crate::processes::serve::{MAKE, OPEN, TASK};

/// A side that sleeps on a channel checks so often for interrupts and time limits.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Where steps have a limit, a system has at least so long to be made: its files are read, and an
/// FMU is unpacked.
const MIN_START_LIMIT: Duration = Duration::from_secs(60);
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
    /// The time that a process has for an answer; none: as long as it takes.
    limit: Option<Duration>,
    interrupted: Option<&'static AtomicBool>,
    idle: Mutex<Vec<Process>>,
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
                limit: None,
                interrupted: None,
                idle: Mutex::default(),
            }),
        }
    }

    /// A process that does not answer within `limit` is killed. Once `interrupted` is raised, a
    /// process has two seconds left.
    pub fn watched(
        &self,
        limit: Option<Duration>,
        interrupted: Option<&'static AtomicBool>,
    ) -> Self {
        Self {
            shared: Arc::new(PoolState {
                program: self.shared.program.clone(),
                arguments: self.shared.arguments.clone(),
                texts: self.shared.texts,
                limit,
                interrupted,
                idle: Mutex::default(),
            }),
        }
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
            interrupted: self.shared.interrupted,
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

    /// Watches a process that is making a system since `began`; that may take longer than a step.
    pub(crate) fn watch_making(&self, began: Instant) -> Watch {
        let watch = self.watch(began);
        Watch {
            limit: watch.limit.map(|limit| limit.max(MIN_START_LIMIT)),
            ..watch
        }
    }

    /// Watches a process that is waited for since `began`.
    pub(crate) fn watch(&self, began: Instant) -> Watch {
        let PoolState {
            limit, interrupted, ..
        } = &*self.shared;
        Watch {
            began,
            limit: *limit,
            interrupted: *interrupted,
            since: None,
        }
    }
}

/// Decides when a process has been waited for long enough.
pub(crate) struct Watch {
    began: Instant,
    limit: Option<Duration>,
    interrupted: Option<&'static AtomicBool>,
    /// When the interrupt was first seen.
    since: Option<Instant>,
}

impl Watch {
    /// The answer to a leave request is not waited for longer than a short while.
    fn brief() -> Self {
        Self {
            began: Instant::now(),
            limit: Some(GRACE_PERIOD),
            interrupted: None,
            since: None,
        }
    }

    fn check(&mut self) -> Result<(), ProcessLoss> {
        if let Some(limit) = self.limit.filter(|limit| self.began.elapsed() > *limit) {
            return Err(ProcessLoss::Silent { limit });
        }

        let interrupted = self
            .interrupted
            .is_some_and(|flag| flag.load(Ordering::Relaxed));
        if interrupted && self.since.get_or_insert_with(Instant::now).elapsed() > GRACE_PERIOD {
            return Err(ProcessLoss::Interrupted {
                limit: GRACE_PERIOD,
            });
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
}

/// A process that does tasks, one after the other, until one fails or it is dropped.
pub struct TaskProcess {
    process: Process,
    interrupted: Option<&'static AtomicBool>,
}

impl TaskProcess {
    /// Does a task, which has so long; what came of it.
    pub fn run(&mut self, task: &[u8], limit: Duration) -> Result<Vec<u8>, ProcessError> {
        let sent = channel::send_frame(&self.process.socket, TASK, task);
        sent.map_err(|gone| self.process.lose(gone.into()))?;

        self.process.reply(&mut Watch {
            began: Instant::now(),
            limit: Some(limit),
            interrupted: self.interrupted,
            since: None,
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

        Ok(Self {
            child,
            socket,
            memory: None,
            backoff: Backoff::default(),
            job,
            opened: false,
            lost: None,
        })
    }

    /// Asks for a system; [`made`](Self::made) gives what came of it.
    pub fn make(&mut self, request: &[u8]) -> Result<(), ProcessLoss> {
        let sent = channel::send_frame(&self.socket, MAKE, request);
        sent.map_err(|gone| self.lose(gone.into()))
    }

    /// What the process says of the system it was asked for.
    pub fn made(&mut self, mut watch: Watch) -> Result<Vec<u8>, ProcessError> {
        if !self.opened {
            self.reply(&mut watch)?;
            self.opened = true;
        }
        self.reply(&mut watch)
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

        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let files = self.memory.as_ref().map(|memory| [memory.file()]);

        if let Some(files) = files.as_ref().filter(|_| !enough) {
            control.push(SendAncillaryMessage::ScmRights(files));
        }

        sendmsg(
            &self.socket,
            &[IoSlice::new(&[0])],
            &mut control,
            SendFlags::NOSIGNAL,
        )?;
        Ok(())
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

    /// Waits a short while for the answer to a leave request.
    pub fn wait_briefly(&mut self) -> Result<(), ProcessLoss> {
        self.wait(Watch::brief())
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
        let _ = self.child.kill();
        let _ = self.child.wait();

        self.lost.get_or_insert(lost).clone()
    }

    pub fn is_lost(&self) -> bool {
        self.lost.is_some()
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
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        let began = Instant::now();

        while self.lost.is_none() && began.elapsed() < GRACE_PERIOD {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }

        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! The life of a worker process: it makes a system and answers questions for it, until whoever
//! started it leaves.

use std::io::{IoSliceMut, Result};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use dovetail_core::{Capabilities, System};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, fstat};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::{Signal as Kill, getpid, kill_process};

use crate::answering::Answering;
use crate::introduction::write_interface;
use crate::operator_workspaces::OperatorWorkspaces;
use crate::processes::channel::{self, ANSWERED, ASKED, Backoff, Gone};
use crate::processes::memory::{Put, SharedMemory, Take};
use crate::question::{DONE, FAILED, Question};
use crate::text_table::TextTable;
use crate::words::{PutWords, TakeWords};

/// What a frame is: who starts a process sends one `OPEN`, and `MAKE` for every run.
pub(crate) const OPEN: u64 = 0;
pub(crate) const MAKE: u64 = 1;
/// Instead of both: something to do, and to answer.
pub(crate) const TASK: u64 = 2;

/// A process whose starter is gone has so long to end in order before it is ended.
const GRACE_PERIOD: Duration = Duration::from_secs(2);

/// What makes systems in a worker process.
pub trait SystemFactory {
    /// A system at its start values. The one made before is gone by then.
    fn make(&mut self, request: &[u8]) -> std::result::Result<Box<dyn System>, String>;

    /// What there is to report of the system made last, at the end of its run.
    fn final_notes(&mut self) -> Vec<u8>;
}

/// Serves the process that has started this one, whose end of the channel is our standard input,
/// until it is gone. `open` gets the job that the process was started for; `task` does what is
/// asked of a process that was started for tasks. What the process does is noted in a page that
/// `notes` gets.
///
/// Standard input and output then belong to nobody: what foreign code reads is empty, and what it
/// prints goes to standard error, away from results.
pub fn serve<M: SystemFactory>(
    texts: TextTable,
    notes: impl FnOnce(&'static [AtomicU64]),
    open: impl FnOnce(&[u8]) -> std::result::Result<M, String>,
    task: impl FnMut(&[u8]) -> std::result::Result<Vec<u8>, String>,
) -> Result<()> {
    let socket = take_over_channel()?;
    end_with(socket.try_clone()?)?;
    if let Ok(Some(file)) = receive_file(&socket) {
        // It is read when this process is gone, and so never given back.
        let page: &'static SharedMemory = Box::leak(Box::new(SharedMemory::of(file)?));
        notes(page.words());
    }
    // Whoever started us may leave at any time: that ends this process in order.
    let _ = Server {
        socket,
        memory: None,
        backoff: Backoff::default(),
        texts,
    }
    .serve(open, task);
    Ok(())
}

/// Takes the channel from standard input.
fn take_over_channel() -> Result<UnixStream> {
    if !FileType::from_raw_mode(fstat(std::io::stdin())?.st_mode).is_socket() {
        return Err(std::io::Error::other(
            "standard input is no channel to another process",
        ));
    }

    let socket = UnixStream::from(fcntl_dupfd_cloexec(std::io::stdin().as_fd(), 3)?);
    rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null")?)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;

    Ok(socket)
}

/// Ends this process when the other end of the channel is gone, even while foreign code never
/// returns.
fn end_with(socket: UnixStream) -> Result<()> {
    let watch = move || {
        // Nothing is asked for, so that only the end of the channel is reported.
        while poll(&mut [PollFd::new(&socket, PollFlags::empty())], None).is_err() {}
        std::thread::sleep(GRACE_PERIOD);
        let _ = kill_process(getpid(), Kill::KILL);
    };
    std::thread::Builder::new()
        .name("watch".to_owned())
        .spawn(watch)
        .map(drop)
}

struct Server {
    socket: UnixStream,
    memory: Option<SharedMemory>,
    backoff: Backoff,
    texts: TextTable,
}

fn wait_on() -> std::result::Result<(), Gone> {
    Ok(())
}

impl Server {
    fn serve<M: SystemFactory>(
        mut self,
        open: impl FnOnce(&[u8]) -> std::result::Result<M, String>,
        task: impl FnMut(&[u8]) -> std::result::Result<Vec<u8>, String>,
    ) -> std::result::Result<(), Gone> {
        let (kind, job) = channel::receive_frame(&self.socket, wait_on)?;
        if kind == TASK {
            return self.do_tasks(job, task);
        }

        let mut maker = match open(&job) {
            Ok(maker) => maker,
            Err(why) => return channel::send_frame(&self.socket, FAILED, why.as_bytes()),
        };
        channel::send_frame(&self.socket, DONE, &[])?;

        loop {
            let (_, request) = channel::receive_frame(&self.socket, wait_on)?;
            match maker.make(&request) {
                Ok(system) => self.run(system, &mut maker)?,
                Err(why) => channel::send_frame(&self.socket, FAILED, why.as_bytes())?,
            }
        }
    }

    /// One task after the other.
    fn do_tasks(
        &self,
        first: Vec<u8>,
        mut task: impl FnMut(&[u8]) -> std::result::Result<Vec<u8>, String>,
    ) -> std::result::Result<(), Gone> {
        let mut next = first;
        loop {
            match task(&next) {
                Ok(answer) => channel::send_frame(&self.socket, DONE, &answer)?,
                Err(why) => channel::send_frame(&self.socket, FAILED, why.as_bytes())?,
            }
            next = channel::receive_frame(&self.socket, wait_on)?.1;
        }
    }

    /// One system from the time it is made until it is no longer wanted.
    fn run(
        &mut self,
        mut system: Box<dyn System>,
        maker: &mut dyn SystemFactory,
    ) -> std::result::Result<(), Gone> {
        self.introduce(system.as_mut())?;
        if let Some(file) = receive_file(&self.socket)? {
            self.memory = Some(SharedMemory::of(file).map_err(|_| Gone)?);
        }

        let memory = self.memory.as_ref().ok_or(Gone)?;
        let mut answering = Answering::new(self.texts);
        let mut workspaces = OperatorWorkspaces::default();

        loop {
            channel::wait(memory, &self.socket, ASKED, &mut self.backoff, wait_on)?;
            let words = channel::body(memory);
            let mut take = Take::new(words);
            let question = Question::of(take.word()).ok_or(Gone)?;
            let mut put = Put::new(words);
            if question == Question::Leave {
                // What it does on its way out belongs to the notes.
                drop(system);
                put.word(DONE);
                put.bytes(&maker.final_notes());
                return channel::pass(memory, &self.socket, ANSWERED);
            }

            let system = system.as_mut();
            answering.answer(question, system, &mut workspaces, &mut take, &mut put);
            channel::pass(memory, &self.socket, ANSWERED)?;
        }
    }

    /// Sends the system's interface and what it can do.
    fn introduce(&self, system: &mut dyn System) -> std::result::Result<(), Gone> {
        let capabilities = Capabilities::of(system);
        let introduction = write_interface(system.interface(), capabilities, self.texts);
        channel::send_frame(&self.socket, DONE, &introduction)
    }
}

/// A byte, and the file of the memory where that is new.
fn receive_file(socket: &UnixStream) -> std::result::Result<Option<OwnedFd>, Gone> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let received = recvmsg(
        socket,
        &mut [IoSliceMut::new(&mut byte)],
        &mut control,
        RecvFlags::CMSG_CLOEXEC,
    );
    received
        .ok()
        .filter(|received| received.bytes == 1)
        .ok_or(Gone)?;

    Ok(control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut files) => files.next(),
        _ => None,
    }))
}

//! The life of a worker process: it makes a system and answers questions for it, until whoever
//! started it leaves.

use std::io::{IoSliceMut, Result};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use dovetail_core::{
    Archive, Capabilities, Error, Evaluation, Interface, Linearization, Linearize, Response,
    Signal, System, visit_system,
};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, fstat};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::{Signal as Kill, getpid, kill_process};

use crate::processes::channel::{self, ANSWERED, ASKED, Backoff, Gone};
use crate::processes::memory::{Put, SharedMemory, Take};
use crate::processes::message::{
    DONE, FAILED, PIECE, Question, TextTable, put_error, put_evaluation, put_linearization,
    put_response, take_step, write_interface,
};

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
        let mut buffers = AnswerBuffers::new(system.interface());
        let mut checkpoint = CheckpointTransfer::default();
        let mut text = Vec::new();

        loop {
            channel::wait(memory, &self.socket, ASKED, &mut self.backoff, wait_on)?;
            let words = channel::body(memory);
            let mut take = Take::new(words);
            let asked = Question::of(take.word()).ok_or(Gone)?;
            match asked {
                Question::Advance
                | Question::Trial
                | Question::Linearize
                | Question::Evaluate
                | Question::Begin => {
                    buffers.answer(asked, system.as_mut(), take, words);
                }
                Question::TextOf => put_text(words, self.texts, &mut take),
                Question::NumberOf => put_number(words, self.texts, &mut take, &mut text),
                Question::Leave => {
                    // What it does on its way out belongs to the notes.
                    drop(system);
                    put_bytes(words, &maker.final_notes());
                    return channel::pass(memory, &self.socket, ANSWERED);
                }
                Question::Save | Question::Restore => {
                    let system = system.as_mut();
                    let done = match asked {
                        Question::Save => checkpoint.save(system, take.word() as usize, words),
                        _ => checkpoint.restore(system, &mut take, words),
                    };
                    if let Err(error) = done {
                        put_error(words, &error, &system.interface().name, buffers.reached);
                    }
                }
            }
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

/// The piece of a text from a position on, after its length.
fn put_text(words: &[AtomicU64], texts: TextTable, take: &mut Take<'_>) {
    let text = (texts.text)(take.float());
    let rest = text.as_bytes().get(take.word() as usize..);
    let rest = rest.unwrap_or_default();
    let mut put = Put::new(words);
    put.word(DONE);
    put.word(text.len() as u64);
    put.bytes(&rest[..rest.len().min(PIECE)]);
}

/// Takes a piece of a text in; the number of the whole with the last one.
fn put_number(words: &[AtomicU64], texts: TextTable, take: &mut Take<'_>, text: &mut Vec<u8>) {
    let is_last = take.word() != 0;
    text.extend(take.bytes());
    let mut put = Put::new(words);
    put.word(DONE);
    if is_last {
        put.float((texts.passing)(&String::from_utf8_lossy(text)));
        text.clear();
    } else {
        put.float(0.0);
    }
}

fn put_bytes(words: &[AtomicU64], bytes: &[u8]) {
    let mut put = Put::new(words);
    put.word(DONE);
    put.bytes(bytes);
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

/// A checkpoint on its way, piece by piece.
#[derive(Default)]
struct CheckpointTransfer {
    bytes: Vec<u8>,
}

impl CheckpointTransfer {
    /// Answers the piece from position `at` on; the first is taken from what the system is now.
    fn save(
        &mut self,
        system: &mut dyn System,
        at: usize,
        words: &[AtomicU64],
    ) -> std::result::Result<(), Error> {
        if at == 0 {
            let mut archive = Archive::writer();
            visit_system(system, &mut archive)?;
            self.bytes = archive.into_bytes();
        }

        let rest = self.bytes.get(at..).unwrap_or_default();
        let mut put = Put::new(words);
        put.word(DONE);
        put.word(self.bytes.len() as u64);
        put.bytes(&rest[..rest.len().min(PIECE)]);
        Ok(())
    }

    /// Takes a piece in; after the last one the system becomes what it was.
    fn restore(
        &mut self,
        system: &mut dyn System,
        take: &mut Take<'_>,
        words: &[AtomicU64],
    ) -> std::result::Result<(), Error> {
        let is_last = take.word() != 0;
        self.bytes.extend(take.bytes());

        if is_last {
            let mut archive = Archive::reader(std::mem::take(&mut self.bytes));
            visit_system(system, &mut archive)?;
        }

        Put::new(words).word(DONE);
        Ok(())
    }
}

/// Room for questions and answers, made once.
struct AnswerBuffers {
    inputs: Vec<Signal>,
    /// For each number of derivatives that can be asked for.
    responses: [Response; 3],
    linearization: Linearization,
    evaluation: Evaluation,
    reached: f64,
}

impl AnswerBuffers {
    fn new(interface: &Interface) -> Self {
        Self {
            inputs: interface
                .inputs
                .iter()
                .map(|input| Signal::constant(input.start))
                .collect(),
            responses: [0, 1, 2].map(|derivatives| Response::new(interface, derivatives)),
            linearization: Linearization::of(interface),
            evaluation: Evaluation::of(interface),
            reached: f64::NAN,
        }
    }

    fn answer(
        &mut self,
        question: Question,
        system: &mut dyn System,
        take: Take<'_>,
        words: &[AtomicU64],
    ) {
        let answered = match question {
            Question::Linearize => self.linearize(system, words),
            Question::Evaluate => self.evaluate(system, take, words),
            _ => self.step(question, system, take, words),
        };
        if let Err(error) = answered {
            put_error(words, &error, &system.interface().name, self.reached);
        }
    }

    fn linearize(
        &mut self,
        system: &mut dyn System,
        words: &[AtomicU64],
    ) -> std::result::Result<(), Error> {
        let before = Instant::now();
        linearizer(system).linearize_into(&mut self.linearization)?;
        let seconds = before.elapsed().as_secs_f64();
        put_linearization(words, &self.linearization, seconds);
        Ok(())
    }

    /// `f` and `g` elsewhere.
    fn evaluate(
        &mut self,
        system: &mut dyn System,
        mut take: Take<'_>,
        words: &[AtomicU64],
    ) -> std::result::Result<(), Error> {
        let before = Instant::now();
        let time = take.float();
        let point = &mut self.evaluation;

        for vector in [&mut point.x, &mut point.u, &mut point.u_slope] {
            take.floats(vector.as_mut_slice());
        }

        system
            .evaluate()
            .expect("BUG: a system was asked for what it is elsewhere, and cannot know")
            .evaluate_into(time, point)?;
        put_evaluation(words, point, before.elapsed().as_secs_f64());
        Ok(())
    }

    fn step(
        &mut self,
        question: Question,
        system: &mut dyn System,
        mut take: Take<'_>,
        words: &[AtomicU64],
    ) -> std::result::Result<(), Error> {
        let before = Instant::now();
        let (step, (derivatives, averages)) = take_step(&mut take, &mut self.inputs);
        let response = &mut self.responses[derivatives.min(2)];
        response.begin();
        response.averages = averages;
        self.reached = step.start;

        match question {
            Question::Begin => system.begin(step, &self.inputs, response)?,
            Question::Trial => system
                .trial()
                .expect("BUG: a trial was asked of a system without rollback")
                .respond(step, &self.inputs, response)?,
            _ => system.advance(step, &self.inputs, response)?,
        }

        put_response(words, response, before.elapsed().as_secs_f64());
        Ok(())
    }
}

fn linearizer(system: &mut dyn System) -> &mut dyn Linearize {
    system
        .linearize()
        .expect("BUG: a system without linearization was linearized")
}

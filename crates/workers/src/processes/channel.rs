//! The channel between two processes: requests and answers lie in shared memory, and a socket wakes
//! the side that sleeps.
//!
//! One word of the memory says whose turn it is. The side that waits polls it for a while, and then
//! sleeps on the socket, which also shows when the other process is gone. So a busy channel costs
//! no call of the operating system, and an idle one no time of a core.

use std::hint::spin_loop;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::yield_now;
use std::time::{Duration, Instant};

use crate::processes::memory::SharedMemory;

/// The asker's turn: nothing is asked for, or the answer is there.
pub(crate) const ANSWERED: u64 = 0;
/// The other's turn: a request lies in the memory.
pub(crate) const ASKED: u64 = 1;
/// Added to a turn: who waits for the next one sleeps, and has to be woken.
const SLEEPS: u64 = 2;

/// How often a side checks for its turn before it begins to yield.
///
/// Two systems are three processes, more than many machines have free cores: one that polls without
/// yielding keeps those from working that it waits for. Measured with light systems on two cores: a
/// step of two systems takes 4 µs with 10, 6 µs with 60 and 50 µs with 1000 and other programs
/// about. With free cores yielding costs next to nothing.
const SPINS: u32 = 10;
/// How often it yields and checks again before it sleeps: together about what sleeping and being
/// woken cost.
const YIELDS: u32 = 100;
/// A yield that lasts longer than this shows that others are busy on the cores.
const BUSY_YIELD: Duration = Duration::from_micros(50);
/// After such a yield, so many waits sleep at once: a sleeper runs when it is woken, while one that
/// yields has to queue.
const IMMEDIATE_SLEEPS: u32 = 256;

/// Decides between polling and sleeping, by whether the cores have room for one that polls.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    /// Waits that are still to sleep at once.
    immediate_sleeps: u32,
}

impl Backoff {
    /// Yields and polls, for a while or until `reached`.
    fn poll(&mut self, reached: impl Fn() -> bool) -> bool {
        if self.immediate_sleeps > 0 {
            self.immediate_sleeps -= 1;
            return false;
        }

        let mut before = Instant::now();
        for _ in 0..YIELDS {
            yield_now();
            let now = Instant::now();
            if now - before > BUSY_YIELD {
                self.immediate_sleeps = IMMEDIATE_SLEEPS;
                return reached();
            }
            if reached() {
                return true;
            }
            before = now;
        }
        false
    }
}

/// Where the turn stands.
const TURN: usize = 0;
/// Where requests and answers begin: past the line of the cache that the turn lies in.
const BODY: usize = 8;

/// So many words are there beside requests and answers.
pub(crate) const HEAD: usize = BODY;

/// The other process is gone, or no longer keeps to the protocol.
#[derive(Debug)]
pub(crate) struct Gone;

/// Where requests and answers are put.
pub(crate) fn body(memory: &SharedMemory) -> &[AtomicU64] {
    &memory.words()[BODY..]
}

/// Gives the turn to the other side.
pub(crate) fn pass(memory: &SharedMemory, mut socket: &UnixStream, turn: u64) -> Result<(), Gone> {
    let before = memory.words()[TURN].swap(turn, Ordering::AcqRel);
    if before & SLEEPS == 0 {
        Ok(())
    } else {
        socket.write_all(&[0]).map_err(|_| Gone)
    }
}

/// Waits for its turn. Where the socket has a time limit, `check` is called whenever that has
/// passed, and may end the wait.
pub(crate) fn wait<E: From<Gone>>(
    memory: &SharedMemory,
    socket: &UnixStream,
    turn: u64,
    backoff: &mut Backoff,
    check: impl FnMut() -> Result<(), E>,
) -> Result<(), E> {
    let state = &memory.words()[TURN];
    // The other side may sleep already when we find that it is our turn.
    let is_turn = |state: u64| state & !SLEEPS == turn;
    let reached = || is_turn(state.load(Ordering::Acquire));

    for _ in 0..SPINS {
        if reached() {
            return Ok(());
        }
        spin_loop();
    }
    if backoff.poll(reached) {
        return Ok(());
    }

    let others = ASKED - turn;
    match state.compare_exchange(others, others | SLEEPS, Ordering::AcqRel, Ordering::Acquire) {
        Err(now) if is_turn(now) => return Ok(()),
        Err(_) => return Err(Gone.into()), // nobody writes that
        Ok(_) => {}
    }

    read(socket, &mut [0], check)?;
    if reached() { Ok(()) } else { Err(Gone.into()) }
}

/// Fills `bytes` from the socket; see [`wait`] for `check`.
pub(crate) fn read<E: From<Gone>>(
    mut socket: &UnixStream,
    mut bytes: &mut [u8],
    mut check: impl FnMut() -> Result<(), E>,
) -> Result<(), E> {
    while !bytes.is_empty() {
        match socket.read(bytes) {
            Ok(0) => return Err(Gone.into()),
            Ok(count) => bytes = &mut bytes[count..],
            Err(error) if pauses(&error) => check()?,
            Err(_) => return Err(Gone.into()),
        }
    }
    Ok(())
}

/// Whether the operating system only says that nothing has come yet.
fn pauses(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

/// Sends bytes with a number before them, and how many they are.
pub(crate) fn send_frame(mut socket: &UnixStream, number: u64, bytes: &[u8]) -> Result<(), Gone> {
    let mut head = [0; 16];
    head[..8].copy_from_slice(&number.to_le_bytes());
    head[8..].copy_from_slice(&(bytes.len() as u64).to_le_bytes());

    socket
        .write_all(&head)
        .and_then(|()| socket.write_all(bytes))
        .map_err(|_| Gone)
}

/// What [`send_frame`] sent.
pub(crate) fn receive_frame<E: From<Gone>>(
    socket: &UnixStream,
    mut check: impl FnMut() -> Result<(), E>,
) -> Result<(u64, Vec<u8>), E> {
    let mut number = [0; 8];
    read(socket, &mut number, &mut check)?;
    let mut length = [0; 8];
    read(socket, &mut length, &mut check)?;
    let mut bytes = vec![0; usize::try_from(u64::from_le_bytes(length)).map_err(|_| Gone)?];
    read(socket, &mut bytes, check)?;

    Ok((u64::from_le_bytes(number), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    impl From<Gone> for String {
        fn from(_: Gone) -> Self {
            "gone".to_owned()
        }
    }

    fn never() -> Result<(), String> {
        Ok(())
    }

    #[test]
    fn turns_pass_to_and_fro_asleep_or_awake() {
        let (here, there) = UnixStream::pair().unwrap();
        let memory = SharedMemory::new(HEAD + 1).unwrap();
        let other = SharedMemory::of(memory.file().try_clone_to_owned().unwrap()).unwrap();
        let answering = std::thread::spawn(move || {
            while wait(&other, &there, ASKED, &mut Backoff::default(), never).is_ok() {
                let number = body(&other)[0].load(Ordering::Relaxed);
                if number.is_multiple_of(100) {
                    std::thread::sleep(std::time::Duration::from_millis(2));
                }
                body(&other)[0].store(number + 1, Ordering::Relaxed);
                pass(&other, &there, ANSWERED).unwrap();
            }
        });
        for number in 0..1000 {
            if number % 70 == 0 {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            body(&memory)[0].store(number, Ordering::Relaxed);
            pass(&memory, &here, ASKED).unwrap();
            wait(&memory, &here, ANSWERED, &mut Backoff::default(), never).unwrap();
            assert_eq!(body(&memory)[0].load(Ordering::Relaxed), number + 1);
        }
        drop(here);
        answering.join().unwrap();
    }

    #[test]
    fn a_side_that_is_gone_is_noticed() {
        let (here, there) = UnixStream::pair().unwrap();
        let memory = SharedMemory::new(HEAD).unwrap();
        pass(&memory, &here, ASKED).unwrap();
        drop(there);
        assert_eq!(
            wait(&memory, &here, ANSWERED, &mut Backoff::default(), never),
            Err("gone".to_owned())
        );
    }

    #[test]
    fn who_waits_can_give_up() {
        let (here, _there) = UnixStream::pair().unwrap();
        here.set_read_timeout(Some(std::time::Duration::from_millis(1)))
            .unwrap();
        let memory = SharedMemory::new(HEAD).unwrap();
        pass(&memory, &here, ASKED).unwrap();
        let mut checks = 0;
        let ended = wait(&memory, &here, ANSWERED, &mut Backoff::default(), || {
            checks += 1;
            if checks < 3 {
                Ok(())
            } else {
                Err("enough".to_owned())
            }
        });
        assert_eq!(ended, Err("enough".to_owned()));
    }
}

//! What ranks know of one another before the first message.

use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives};
use rustix::process::getpid;
use rustix::system::uname;
use rustix::thread::{CpuSet, sched_getaffinity};

/// So many processors of a machine are told apart.
const PROCESSORS: usize = CpuSet::MAX_CPU;
const BITS: usize = u64::BITS as usize;

/// The process of a rank, where it can be seen from here.
pub(crate) struct Peer {
    process: Option<i64>,
}

impl Peer {
    /// Those of all ranks.
    pub fn gather(world: &SimpleCommunicator) -> Vec<Self> {
        let own = [i64::from(getpid().as_raw_nonzero().get()), machine()];
        let mut all = vec![0_i64; own.len() * world.size() as usize];
        world.all_gather_into(&own[..], &mut all[..]);

        let visible = |pair: &[i64]| (pair[1] == own[1]).then_some(pair[0]);
        let processes = all.chunks(own.len()).map(visible);
        // One that cannot be seen now, in another container, say, has not ended.
        let seen = processes.map(|process| process.filter(|process| !has_ended(*process)));
        seen.map(|process| Self { process }).collect()
    }

    /// Whether the process is known to have ended.
    pub fn is_gone(&self) -> bool {
        self.process.is_some_and(has_ended)
    }
}

/// A number that is the same for processes of one machine.
fn machine() -> i64 {
    let name = uname().nodename().to_bytes().to_vec();
    name.iter().fold(7, |number: i64, byte| {
        number.wrapping_mul(1_000_003).wrapping_add((*byte).into())
    })
}

/// Whether a process is gone, or waits for its parent to notice.
fn has_ended(process: i64) -> bool {
    match std::fs::read_to_string(format!("/proc/{process}/stat")) {
        // The state follows the name, which is in parentheses and may hold any character.
        Ok(stat) => stat
            .rsplit(") ")
            .next()
            .is_some_and(|rest| rest.starts_with(['Z', 'X'])),
        Err(_) => true,
    }
}

/// Whether there are more ranks on this machine than cores for them.
///
/// `mpirun` binds ranks to cores, so that each sees one alone: what counts is the cores of all.
pub(crate) fn are_crowded(world: &SimpleCommunicator) -> bool {
    let Ok(own) = sched_getaffinity(None) else {
        return true;
    };
    let mut mask = [0_u64; PROCESSORS.div_ceil(BITS)];
    for processor in (0..PROCESSORS).filter(|&processor| own.is_set(processor)) {
        mask[processor / BITS] |= 1 << (processor % BITS);
    }

    let here = world.split_shared(world.rank());
    let mut all = mask;
    here.all_reduce_into(&mask[..], &mut all[..], SystemOperation::bitwise_or());
    let cores: u32 = all.iter().map(|word| word.count_ones()).sum();

    here.size() as u32 > cores
}

//! The way from rank 0 to another rank: all tasks of a call in one message, and all answers in one.

use dovetail_core::Error;

use super::lost::RankLoss;
use super::network::Network;
use super::orders::ASK;
use super::rank_system::RankSystem;
use crate::message::take_error;
use crate::question::DONE;
use crate::remote_task::RemoteTask;
use crate::words::{PutWords, TakeWords};

/// Where the number of tasks stands in a message.
const COUNT: usize = 1;

/// One exchange with a rank at a time, with room that is used again.
pub(crate) struct Line {
    network: &'static Network,
    rank: usize,
    tasks: usize,
    question: Vec<u64>,
    answer: Vec<u64>,
    /// How far the answer was read.
    read: usize,
    /// The rank did not answer.
    lost: Option<RankLoss>,
    /// A task failed: those after it were not carried out.
    failed: bool,
}

impl Line {
    pub fn new(network: &'static Network, rank: usize) -> Self {
        Self {
            network,
            rank,
            tasks: 0,
            question: Vec::new(),
            answer: Vec::new(),
            read: 0,
            lost: None,
            failed: false,
        }
    }

    /// Begins a call.
    pub fn clear(&mut self) {
        self.tasks = 0;
        self.read = 0;
        self.failed = false;
        self.question.clear();
        self.question.extend([ASK, 0]);
    }

    /// Where a task for the system of this number is written.
    pub fn task_for(&mut self, number: usize) -> &mut impl PutWords {
        self.tasks += 1;
        self.question[COUNT] = self.tasks as u64;
        self.question.word(number as u64);
        &mut self.question
    }

    /// Sends the tasks, if there are any.
    pub fn send(&mut self) {
        if self.tasks > 0 && self.lost.is_none() {
            self.lost = self.network.send(self.rank, &mut self.question).err();
        }
    }

    /// Waits for the answers, if there are any to come.
    pub fn receive(&mut self) {
        if self.tasks > 0 && self.lost.is_none() {
            let received = self
                .network
                .receive(self.rank, &mut self.answer, self.tasks);
            self.lost = received.err();
        }
    }

    /// Whether the rank has stopped at a task that failed.
    pub fn has_failed(&self) -> bool {
        self.failed
    }

    /// Reads the next answer, which is that to this task; the seconds it took.
    pub fn answer<T: RemoteTask>(
        &mut self,
        system: &mut RankSystem,
        task: &mut T,
    ) -> Result<f64, Error> {
        let answered = self.read_answer(system, task);
        self.failed = answered.is_err();
        answered
    }

    fn read_answer<T: RemoteTask>(
        &mut self,
        system: &mut RankSystem,
        task: &mut T,
    ) -> Result<f64, Error> {
        if let Some(lost) = &self.lost {
            return Err(system.failed(lost.clone()));
        }

        let mut take = self.answer[self.read..].iter();
        if take.word() != DONE {
            let error = take_error(&mut take);
            let rank = self.rank;
            return Err(error.unwrap_or_else(|| system.failed(RankLoss::Unreachable { rank })));
        }

        let seconds = task.take(&mut take);
        self.read = self.answer.len() - take.left();
        system.complete(task)?;
        Ok(seconds)
    }
}

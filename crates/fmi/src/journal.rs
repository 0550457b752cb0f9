//! What an FMU says and does, as its instance's environment sees it: messages, costs, the log of
//! calls.

use std::fmt::Display;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// So many different messages are kept of an instance.
const MOST_MESSAGES: usize = 20;
/// So many characters of each.
const LONGEST_MESSAGE: usize = 500;

/// A message of an FMU, and how often it came.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Message {
    /// The status it came with, as the standard numbers them: 0 ok, 1 warning, 2 discard, 3 error,
    /// 4 fatal.
    pub status: i32,
    /// The text, made printable.
    pub text: String,
    /// How often it came.
    pub count: u64,
}

/// Where the time of an instance goes, in seconds. Light calls are timed in samples and scaled up.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Costs {
    /// Stepping: `DoStep`, or derivatives and events of Model Exchange.
    pub step: f64,
    /// Getting and setting values, derivatives among them.
    pub values: f64,
    /// Saving and restoring the state.
    pub state: f64,
}

/// What happened inside an instance that its user should know of.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Notes {
    /// Steps that the FMU discarded and that were taken in smaller parts.
    pub discarded: u64,
    /// Events inside steps.
    pub events: u64,
    /// Steps of which the FMU said that they were done, and that they ended elsewhere (3.0).
    pub odd_times: u64,
    /// The reference of a variable whose values were whole numbers that floating point does not have.
    pub rounded: Option<u32>,
    /// Steps that were discarded late, and whose way there, repeated from a saved state, led elsewhere.
    pub unlike_repeats: u64,
    /// What of the process the FMU has changed, and was put back; see
    /// [`changes_in_words`](crate::changes_in_words).
    pub changed: u32,
    /// What is odd about its library.
    pub odd_library: Option<String>,
    /// What went wrong when it was ended or freed.
    pub bad_end: Option<String>,
    /// Why the log of its calls is not whole.
    pub bad_log: Option<String>,
    /// Messages, the first of each text.
    pub messages: Vec<Message>,
    /// Messages beyond those kept.
    pub more_messages: u64,
}

/// What can be known of an instance while it lives elsewhere, in another thread, say.
#[derive(Debug, Default)]
pub struct Monitor {
    costs: Mutex<Costs>,
    notes: Mutex<Notes>,
}

impl Monitor {
    /// Where the time went so far.
    pub fn costs(&self) -> Costs {
        *self.costs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What happened so far.
    pub fn notes(&self) -> Notes {
        self.notes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Forgets all but these notes.
    pub(crate) fn restart(&self, notes: Notes) {
        self.spend(|costs| *costs = Costs::default());
        self.note(|kept| *kept = notes);
    }

    pub(crate) fn spend(&self, change: impl FnOnce(&mut Costs)) {
        change(&mut self.costs.lock().unwrap_or_else(PoisonError::into_inner));
    }

    pub(crate) fn note(&self, change: impl FnOnce(&mut Notes)) {
        change(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// A file in which every call of an FMU's functions is written down.
#[derive(Debug)]
pub struct CallLog {
    path: PathBuf,
    /// What lines begin with in place of the name of their instance.
    mark: Option<String>,
    file: Mutex<BufWriter<File>>,
}

impl CallLog {
    /// Starts a file anew. Other processes may write into it as well, so that every line goes to
    /// its end.
    pub fn create(path: &Path) -> std::io::Result<Arc<Self>> {
        let log = Self::append(path)?;
        if path.is_file() {
            File::create(path)?;
        }
        Ok(log)
    }

    /// Goes on with a file that another process has started.
    pub fn append(path: &Path) -> std::io::Result<Arc<Self>> {
        Self::marked(path, None)
    }

    /// Goes on with a file, with calls that are made while the FMU of this system is tried out.
    pub fn of_probe(path: &Path, system: &str) -> std::io::Result<Arc<Self>> {
        Self::marked(path, Some(format!("probe {system}")))
    }

    /// Goes on with a file, in lines that begin with this mark.
    pub fn marked(path: &Path, mark: Option<String>) -> std::io::Result<Arc<Self>> {
        let file = File::options().append(true).create(true).open(path)?;
        Ok(Arc::new(Self {
            path: path.to_owned(),
            mark,
            file: Mutex::new(BufWriter::new(file)),
        }))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What its lines begin with in place of the name of their instance.
    pub fn mark(&self) -> Option<&str> {
        self.mark.as_deref()
    }

    /// Writes a line, at once: what an FMU did last is what matters when it hangs.
    pub(crate) fn write(
        &self,
        instance: &str,
        line: std::fmt::Arguments<'_>,
    ) -> std::io::Result<()> {
        let mark = self.mark.as_deref().unwrap_or(instance);
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(file, "{mark}: {line}").and_then(|()| file.flush())
    }
}

/// What the callbacks of an instance are given. It never moves while the instance lives.
pub(crate) struct Journal {
    pub instance: String,
    pub monitor: Arc<Monitor>,
    pub log: Option<Arc<CallLog>>,
    /// The FMU has changed the floating-point control words: its calls are made one by one.
    pub disturbs: AtomicBool,
}

impl Journal {
    pub fn new(instance: &str, log: Option<Arc<CallLog>>) -> Arc<Self> {
        Arc::new(Self {
            instance: instance.to_owned(),
            monitor: Arc::default(),
            log,
            disturbs: AtomicBool::new(false),
        })
    }

    /// Notes what is odd about the library of the instance.
    pub fn note_odd_library(&self, oddity: &str) {
        self.monitor
            .note(|notes| notes.odd_library = Some(oddity.to_owned()));
    }

    /// Writes a line into the log of calls, where there is one. A full disk does not end the run.
    pub fn log_line(&self, line: std::fmt::Arguments<'_>) {
        let Some(log) = &self.log else {
            return;
        };
        if let Err(error) = log.write(&self.instance, line) {
            let bad = format!("{} could not be written: {error}", log.path().display());
            self.monitor.note(|notes| notes.bad_log = Some(bad));
        }
    }

    /// A function is about to be called: if it never returns, this is the last line.
    pub fn log_call(&self, function: &str, arguments: std::fmt::Arguments<'_>) {
        self.log_line(format_args!("{function}({arguments})"));
    }

    /// A function has returned so.
    pub fn log_status(&self, function: &str, status: impl Display) {
        self.log_line(format_args!("{function} -> {status}"));
    }

    /// Takes in a message, from whatever thread it comes.
    pub fn record_message(&self, status: i32, text: &str) {
        let text: String = text
            .trim()
            .chars()
            .take(LONGEST_MESSAGE)
            .map(printable)
            .collect();
        self.log_line(format_args!("message with status {status}: {text}"));

        self.monitor.note(|notes| {
            if let Some(known) = notes
                .messages
                .iter_mut()
                .find(|m| m.status == status && m.text == text)
            {
                known.count += 1;
            } else if notes.messages.len() < MOST_MESSAGES {
                notes.messages.push(Message {
                    status,
                    text,
                    count: 1,
                });
            } else {
                notes.more_messages += 1;
                // The last one is kept: an error explains itself just before it is returned.
                if let Some(last) = notes.messages.last_mut().filter(|_| status >= 2) {
                    *last = Message {
                        status,
                        text,
                        count: 1,
                    };
                }
            }
        });
    }

    /// The message that most likely explains a failure: the last one that came as an error, or else
    /// the last.
    pub fn explanation(&self) -> Option<String> {
        let notes = self.monitor.notes();
        let bad = notes.messages.iter().rev().find(|m| m.status >= 2);
        bad.or(notes.messages.last())
            .map(|m| m.text.clone())
            .filter(|text| !text.is_empty())
    }
}

fn printable(character: char) -> char {
    if character.is_control() {
        ' '
    } else {
        character
    }
}

/// Decides which calls are timed: all while they are heavy, one in so many where the clock would
/// cost more than the call.
#[derive(Debug)]
pub(crate) struct Sampler {
    /// One call in so many is timed.
    interval: u32,
    left: u32,
}

/// A timed call should stand for so much time at least, or the clock costs more than it tells.
const WORTH_TIMING: u128 = 20_000; // nanoseconds
const LONGEST_INTERVAL: u128 = 2048;

impl Sampler {
    pub fn new() -> Self {
        Self {
            interval: 1,
            left: 1,
        }
    }

    /// How many calls the next one stands for, if it is to be timed.
    #[inline]
    pub fn due(&mut self) -> Option<f64> {
        self.left -= 1;
        if self.left > 0 {
            return None;
        }

        let stood_for = self.interval;
        self.left = self.interval;
        Some(f64::from(stood_for))
    }

    /// A timed call took so long.
    pub fn took(&mut self, time: Duration) {
        self.interval = (WORTH_TIMING / time.as_nanos().max(1)).clamp(1, LONGEST_INTERVAL) as u32;
        self.left = self.interval;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal() -> Journal {
        Journal {
            instance: "a".into(),
            monitor: Arc::default(),
            log: None,
            disturbs: AtomicBool::new(false),
        }
    }

    #[test]
    fn messages_are_counted_and_bounded() {
        let journal = journal();
        for i in 0..100 {
            journal.record_message(1, &format!("message {}", i % 50));
        }
        journal.record_message(3, "the \u{1b} reason");
        let notes = journal.monitor.notes();
        assert_eq!(notes.messages.len(), MOST_MESSAGES);
        assert!(notes.more_messages > 0 && notes.messages[0].count == 2);
        assert_eq!(journal.explanation().as_deref(), Some("the   reason"));
    }

    #[test]
    fn light_calls_are_timed_in_samples_that_stand_for_all() {
        let mut sampler = Sampler::new();
        let mut counted = 0.0;
        for _ in 0..20_001 {
            if let Some(calls) = sampler.due() {
                counted += calls;
                sampler.took(Duration::from_nanos(10));
            }
        }
        assert_eq!(counted, 20_001.0);
    }
}

//! Runs on several threads, whose results come in the order of the runs.

use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;

/// How far a study has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Results that were handed on, those of earlier runs included: all runs below this number.
    pub done: usize,
    /// Whether that is all of them.
    pub complete: bool,
}

/// Does the `work` of all `runs` on so many threads and hands the results on in the order of the runs, from the calling
/// thread. With one job the work is done there too.
///
/// When `stop` answers true no further run is started, and those under way come to their end. Work that returns nothing
/// was given up; it and what comes after it is not handed on. An error of `take` ends all.
pub fn in_order<T: Send>(
    runs: Range<usize>,
    jobs: NonZeroUsize,
    stop: &(dyn Fn() -> bool + Sync),
    work: &(dyn Fn(usize) -> Option<T> + Sync),
    take: &mut dyn FnMut(usize, T) -> io::Result<()>,
) -> io::Result<Progress> {
    let done = if jobs.get() == 1 {
        one_after_the_other(runs.clone(), stop, work, take)?
    } else {
        on_threads(runs.clone(), jobs, stop, work, take)?
    };

    Ok(Progress {
        done,
        complete: done == runs.end,
    })
}

fn one_after_the_other<T>(
    runs: Range<usize>,
    stop: &dyn Fn() -> bool,
    work: &dyn Fn(usize) -> Option<T>,
    take: &mut dyn FnMut(usize, T) -> io::Result<()>,
) -> io::Result<usize> {
    for run in runs.clone() {
        if stop() {
            return Ok(run);
        }
        let Some(result) = work(run) else {
            return Ok(run);
        };
        take(run, result)?;
    }
    Ok(runs.end)
}

fn on_threads<T: Send>(
    runs: Range<usize>,
    jobs: NonZeroUsize,
    stop: &(dyn Fn() -> bool + Sync),
    work: &(dyn Fn(usize) -> Option<T> + Sync),
    take: &mut dyn FnMut(usize, T) -> io::Result<()>,
) -> io::Result<usize> {
    let next = AtomicUsize::new(runs.start);
    let failed = AtomicBool::new(false);
    let (sender, results) = channel();

    thread::scope(|scope| {
        for _ in 0..jobs.get().min(runs.len()) {
            let sender = sender.clone();
            let (next, failed, end) = (&next, &failed, runs.end);
            scope.spawn(move || {
                while !failed.load(Ordering::Relaxed) && !stop() {
                    let run = next.fetch_add(1, Ordering::Relaxed);
                    if run >= end || sender.send((run, work(run))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);

        let mut waiting = BTreeMap::new();
        let mut due = runs.start;
        for (run, result) in results {
            waiting.insert(run, result);
            while let Some(Some(result)) = waiting.remove(&due) {
                take(due, result).inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
                due += 1;
            }
        }
        Ok(due)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs(count: usize) -> NonZeroUsize {
        NonZeroUsize::new(count).unwrap()
    }

    #[test]
    fn results_come_in_order_whatever_the_number_of_jobs() {
        for count in [1, 2, 5] {
            let mut taken = Vec::new();
            let work = |run: usize| {
                thread::sleep(std::time::Duration::from_micros((run % 3) as u64 * 300));
                Some(run * run)
            };
            let end = in_order(3..50, jobs(count), &|| false, &work, &mut |run, square| {
                taken.push((run, square));
                Ok(())
            });
            assert_eq!(
                end.unwrap(),
                Progress {
                    done: 50,
                    complete: true
                }
            );
            assert_eq!(
                taken,
                (3..50).map(|run| (run, run * run)).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn what_is_given_up_is_a_gap_that_nothing_crosses() {
        for count in [1, 3] {
            let mut taken = Vec::new();
            let work = |run: usize| (run != 7).then_some(run);
            let end = in_order(0..20, jobs(count), &|| false, &work, &mut |run, _| {
                taken.push(run);
                Ok(())
            });
            assert_eq!(
                end.unwrap(),
                Progress {
                    done: 7,
                    complete: false
                }
            );
            assert_eq!(taken, (0..7).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_stop_starts_nothing_more_and_keeps_what_is_there() {
        let begun = AtomicUsize::new(0);
        let work = |run: usize| {
            begun.fetch_add(1, Ordering::Relaxed);
            Some(run)
        };
        let stop = || begun.load(Ordering::Relaxed) >= 10;
        let mut taken = 0;
        let end = in_order(0..1000, jobs(2), &stop, &work, &mut |_, _| {
            taken += 1;
            Ok(())
        });
        let end = end.unwrap();
        assert!(!end.complete && end.done == taken && (10..=11).contains(&taken));
    }

    #[test]
    fn a_full_disk_ends_all() {
        let full = |_, _| Err(io::Error::other("no space left"));
        for count in [1, 2] {
            let end = in_order(0..100, jobs(count), &|| false, &|run| Some(run), &mut {
                full
            });
            assert!(end.is_err());
        }
    }
}

//! Systems that fail, and systems that panic.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dovetail_core::{
    Error, Interface, Linearization, Linearize, LinearizeTask, MacroStep, Output, Response, Signal,
    System, Task, Trial, Work, Workers,
};
use dovetail_workers::SingleThread;
use dovetail_workers::Threads;

/// What a system does when it is asked.
#[derive(Clone, Copy, PartialEq)]
enum Habit {
    Answers,
    /// Fails, after so many milliseconds.
    Fails(u64),
    Panics,
}

/// Counts its steps, which is also what it answers.
struct Counter {
    interface: Interface,
    habit: Habit,
    steps: u64,
    alive: Arc<AtomicUsize>,
}

impl Counter {
    fn boxed(name: usize, habit: Habit, alive: &Arc<AtomicUsize>) -> Box<dyn System> {
        alive.fetch_add(1, Ordering::Relaxed);
        let outputs = vec![Output {
            name: "y".into(),
            ..Output::default()
        }];
        let interface = Interface {
            name: format!("s{name}"),
            outputs: outputs.into(),
            ..Interface::default()
        };
        Box::new(Self {
            interface,
            habit,
            steps: 0,
            alive: Arc::clone(alive),
        })
    }

    fn answer(&self, step: MacroStep, response: &mut Response) -> Result<(), Error> {
        match self.habit {
            Habit::Answers => {
                response.outputs[0].value = self.steps as f64;
                response.reached = step.end;
                Ok(())
            }
            Habit::Fails(after) => {
                std::thread::sleep(Duration::from_millis(after));
                let reason = "it has no more fuel";
                Err(Error::system(&self.interface.name, step.start, reason))
            }
            Habit::Panics => panic!("{} panics", self.interface.name),
        }
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::Relaxed);
    }
}

impl System for Counter {
    fn interface(&self) -> &Interface {
        &self.interface
    }

    fn advance(
        &mut self,
        step: MacroStep,
        _: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.steps += 1;
        self.answer(step, response)
    }

    fn trial(&mut self) -> Option<&mut dyn Trial> {
        Some(self)
    }

    fn linearize(&mut self) -> Option<&mut dyn Linearize> {
        Some(self)
    }
}

impl Trial for Counter {
    fn respond(
        &mut self,
        step: MacroStep,
        _: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.answer(step, response)
    }
}

impl Linearize for Counter {
    fn linearize_into(&mut self, into: &mut Linearization) -> Result<(), Error> {
        into.g[0] = self.steps as f64;
        let mut response = Response::new(&self.interface, 0);
        self.answer(MacroStep::instant(0.0), &mut response)
    }
}

fn systems(habits: &[Habit]) -> Vec<Box<dyn System>> {
    let alive = Arc::default();
    habits
        .iter()
        .enumerate()
        .map(|(name, habit)| Counter::boxed(name, *habit, &alive))
        .collect()
}

fn threads(habits: &[Habit], count: usize) -> Threads {
    Threads::new(systems(habits), NonZeroUsize::new(count).unwrap()).unwrap()
}

fn tasks(workers: &dyn Workers) -> Vec<Task> {
    let step = MacroStep::new(0.0, 1.0);
    let task = |(system, interface)| Task {
        step,
        ..Task::new(system, interface, 0)
    };
    workers.interfaces().iter().enumerate().map(task).collect()
}

fn values(tasks: &[Task]) -> Vec<f64> {
    tasks
        .iter()
        .map(|task| task.response.outputs[0].value)
        .collect()
}

/// Asked to advance, to try and to linearize: what is said each time.
fn complaints(workers: &mut dyn Workers) -> [String; 3] {
    let mut tasks = tasks(workers);
    let interfaces = workers.interfaces().iter().enumerate();
    let mut questions: Vec<_> = interfaces
        .map(|(system, interface)| LinearizeTask::new(system, interface))
        .collect();
    let outcomes = [
        workers.advance(&mut tasks),
        workers.trial(&mut tasks),
        workers.linearize(&mut questions),
    ];
    assert!(
        tasks
            .iter()
            .enumerate()
            .all(|(position, task)| task.system == position && task.due)
    );
    assert!(
        questions
            .iter()
            .enumerate()
            .all(|(position, question)| question.system == position)
    );
    outcomes.map(|outcome| outcome.unwrap_err().to_string())
}

const ANSWERS: Habit = Habit::Answers;
const FAILS: Habit = Habit::Fails(0);
const FAILS_LATE: Habit = Habit::Fails(20);
const PANICS: Habit = Habit::Panics;

#[test]
fn of_several_errors_the_first_in_order_is_told_however_late_it_comes() {
    for habits in [
        [ANSWERS, ANSWERS, FAILS_LATE, FAILS, ANSWERS, FAILS],
        [FAILS_LATE, FAILS, FAILS, FAILS, FAILS, FAILS],
        [ANSWERS, FAILS_LATE, FAILS, PANICS, ANSWERS, ANSWERS],
        [ANSWERS, ANSWERS, ANSWERS, ANSWERS, ANSWERS, FAILS],
    ] {
        let single = complaints(&mut SingleThread::new(systems(&habits)));
        for count in [1, 2, 3, 6] {
            assert_eq!(
                complaints(&mut threads(&habits, count)),
                single,
                "{count} threads"
            );
        }
    }
}

#[test]
fn a_panic_reaches_the_caller_and_harms_no_other_system() {
    for count in [1, 2, 3, 5] {
        for panicking in 0..5 {
            let mut habits = [ANSWERS; 5];
            habits[panicking] = PANICS;
            let mut workers = threads(&habits, count);
            let mut tasks = tasks(&workers);
            for _ in 0..3 {
                let caught =
                    catch_unwind(AssertUnwindSafe(|| workers.advance(&mut tasks))).unwrap_err();
                assert_eq!(
                    caught.downcast_ref::<String>(),
                    Some(&format!("s{panicking} panics"))
                );
                assert!(
                    tasks
                        .iter()
                        .enumerate()
                        .all(|(position, task)| task.system == position && task.due)
                );
            }
            tasks[panicking].due = false;
            workers.advance(&mut tasks).unwrap();
            assert!(
                tasks
                    .iter()
                    .all(|task| !task.due || task.response.outputs[0].value >= 1.0)
            );
        }
    }
}

#[test]
fn a_question_that_a_system_cannot_be_asked_panics_as_in_a_single_thread() {
    let mut workers = threads(&[ANSWERS; 4], 2);
    let mut tasks = tasks(&workers);
    tasks[3].system = 9;
    assert!(catch_unwind(AssertUnwindSafe(|| workers.advance(&mut tasks))).is_err());
}

#[test]
fn only_what_is_due_is_asked() {
    for count in [1, 2, 3, 4] {
        let mut workers = threads(&[ANSWERS; 4], count);
        let mut tasks = tasks(&workers);
        for due in [
            [true, false, false, true],
            [false, true, false, true],
            [false; 4],
            [false, false, true, false],
        ] {
            tasks
                .iter_mut()
                .zip(due)
                .for_each(|(task, due)| task.due = due);
            workers.advance(&mut tasks).unwrap();
        }
        let integrations: Vec<u64> = workers
            .work()
            .iter()
            .map(|work| work.integrations)
            .collect();
        assert_eq!(integrations, [1, 1, 1, 2]);
    }
}

#[test]
fn tasks_in_any_order_and_twice_for_one_system_are_carried_out_in_that_order() {
    let order = [3, 0, 2, 2, 1, 2];
    for count in [1, 2, 3, 4] {
        let mut workers = threads(&[ANSWERS; 4], count);
        let all = tasks(&workers);
        let mut tasks: Vec<Task> = order.map(|system| all[system].clone()).into();
        workers.advance(&mut tasks).unwrap();
        assert_eq!(
            tasks.iter().map(|task| task.system).collect::<Vec<_>>(),
            order
        );
        assert_eq!(values(&tasks), [1.0, 1.0, 1.0, 2.0, 1.0, 3.0]);
    }
}

#[test]
fn work_is_counted_as_in_a_single_thread() {
    let work = |workers: &mut dyn Workers| -> Vec<Work> {
        let mut tasks = tasks(workers);
        let interfaces = workers.interfaces().iter().enumerate();
        let mut questions: Vec<_> = interfaces
            .map(|(system, of)| LinearizeTask::new(system, of))
            .collect();
        workers.advance(&mut tasks).unwrap();
        tasks[1].step = MacroStep::instant(1.0);
        workers.advance(&mut tasks).unwrap();
        tasks[2].due = false;
        workers.trial(&mut tasks).unwrap();
        questions[0].due = false;
        workers.linearize(&mut questions).unwrap();
        assert!(workers.work().iter().all(|work| work.seconds > 0.0));
        workers
            .work()
            .iter()
            .map(|work| Work {
                seconds: 0.0,
                ..*work
            })
            .collect()
    };
    let single = work(&mut SingleThread::new(systems(&[ANSWERS; 5])));
    assert_eq!(
        single[1],
        Work {
            integrations: 2,
            trials: 1,
            linearizations: 1,
            seconds: 0.0
        }
    );
    for count in [1, 2, 3, 5] {
        assert_eq!(work(&mut threads(&[ANSWERS; 5], count)), single);
    }
}

#[test]
fn workers_may_be_asked_from_one_thread_after_another() {
    let mut workers = threads(&[ANSWERS; 4], 3);
    let mut tasks = tasks(&workers);
    for _ in 0..20 {
        std::thread::scope(|scope| {
            scope
                .spawn(|| workers.advance(&mut tasks).unwrap())
                .join()
                .unwrap()
        });
    }
    assert_eq!(values(&tasks), [20.0; 4]);
}

#[test]
fn threads_that_have_fallen_asleep_are_woken() {
    let mut workers = threads(&[ANSWERS; 4], 2);
    let mut tasks = tasks(&workers);
    for _ in 0..20 {
        std::thread::sleep(Duration::from_millis(2));
        workers.advance(&mut tasks).unwrap();
    }
    assert_eq!(values(&tasks), [20.0; 4]);
}

#[test]
fn threads_end_with_their_workers_and_the_systems_too() {
    let alive = Arc::default();
    for count in 1..5 {
        let systems = (0..4)
            .map(|name| Counter::boxed(name, ANSWERS, &alive))
            .collect();
        let mut workers = Threads::new(systems, NonZeroUsize::new(count).unwrap()).unwrap();
        let mut tasks = tasks(&workers);
        workers.advance(&mut tasks).unwrap();
        assert_eq!(
            (workers.threads(), alive.load(Ordering::Relaxed)),
            (count, 4)
        );
        drop(workers); // hangs where a thread does not end
        assert_eq!(alive.load(Ordering::Relaxed), 0);
    }
}

#[test]
fn there_are_no_more_threads_than_systems() {
    assert_eq!(threads(&[ANSWERS; 3], 100).threads(), 3);
    assert_eq!(threads(&[], 4).threads(), 1);
    threads(&[], 4).advance(&mut []).unwrap();
}

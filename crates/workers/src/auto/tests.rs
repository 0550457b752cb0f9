use std::time::Duration;

use dovetail_core::{MacroStep, Output, Response, Signal};

use super::*;

/// Counts its steps, which is also what it answers, and sleeps in each.
struct Sleeper {
    interface: Interface,
    nap: Duration,
    steps: u64,
}

impl Sleeper {
    fn boxed(name: usize, nap: Duration) -> Box<dyn System> {
        let output = Output {
            name: "y".into(),
            ..Output::default()
        };
        Box::new(Self {
            interface: Interface {
                name: format!("s{name}"),
                outputs: vec![output].into(),
                ..Interface::default()
            },
            nap,
            steps: 0,
        })
    }
}

impl System for Sleeper {
    fn interface(&self) -> &Interface {
        &self.interface
    }

    fn advance(
        &mut self,
        step: MacroStep,
        _: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        std::thread::sleep(self.nap);
        self.steps += 1;
        response.outputs[0].value = self.steps as f64;
        response.reached = step.end;
        Ok(())
    }
}

fn systems(naps: &[u64]) -> Vec<Box<dyn System>> {
    let numbered = naps.iter().enumerate();
    numbered
        .map(|(k, nap)| Sleeper::boxed(k, Duration::from_micros(*nap)))
        .collect()
}

fn options(groups: &[usize]) -> AutoOptions {
    AutoOptions {
        groups: groups.to_vec(),
        one_at_a_time: false,
        threads: NonZeroUsize::new(2),
    }
}

/// Makes so many steps, and checks that every system has made each of them.
fn step(workers: &mut Auto, steps: std::ops::Range<u32>) {
    let interfaces = workers.interfaces().to_vec();
    let named = interfaces.iter().enumerate();
    let mut tasks: Vec<Task> = named.map(|(k, face)| Task::new(k, face, 0)).collect();
    for n in steps {
        for task in &mut tasks {
            task.step = MacroStep::new(f64::from(n), f64::from(n) + 1.0);
        }
        workers.advance(&mut tasks).expect("advanced");
        for task in &tasks {
            assert_eq!(task.response.outputs[0].value, f64::from(n) + 1.0);
        }
    }
    let work = workers.work().iter();
    let last = tasks[0].step.end as u64;
    work.for_each(|work| assert_eq!(work.integrations, last));
}

#[test]
fn heavy_systems_move_into_threads_and_go_on_there() {
    let mut workers = Auto::new(systems(&[10, 10]), options(&[0, 1]));
    step(&mut workers, 0..3);
    // What a busy machine would measure is not left to chance: calls are noted with given times.
    workers.decide(Finding {
        single: 8e-3,
        parallel: 4e-3,
        elapsed: 8e-3,
        assignment: Assignment::dealt(2, 2),
    });
    for _ in 0..CALLS_IN_THREADS {
        assert!(matches!(workers.phase, Phase::Trying { .. }));
        workers.note_call(4e-3);
    }
    assert!(matches!(workers.phase, Phase::Decided));
    step(&mut workers, 3..6);
    assert!(matches!(workers.place, Place::Threads(_)));
    let choice = workers.choice().expect("a choice");
    let expected = "2 threads: a step of all systems takes 8.0 ms in one, and about 4.0 ms so";
    assert_eq!(choice, expected);
}

#[test]
fn a_watch_that_found_nothing_is_repeated_after_ever_longer_whiles() {
    let mut workers = Auto::new(systems(&[0, 0]), options(&[0, 1]));
    let light = Finding {
        single: 1e-6,
        parallel: 1e-5,
        elapsed: 1e-6,
        assignment: Assignment::dealt(2, 2),
    };
    for length in [FIRST_WHILE, FIRST_WHILE * LONGER] {
        workers.decide(light.clone());
        assert!(matches!(workers.phase, Phase::Settled { left } if left == length));
    }
    workers.phase = Phase::Settled { left: 1 };
    step(&mut workers, 0..2);
    assert!(matches!(workers.phase, Phase::Watching { .. }));
    let choice = workers.choice().expect("a choice");
    let expected = "a single thread: a step of all systems takes 1.0 µs, and would take 10 µs in 2";
    assert_eq!(choice, expected);
}

#[test]
fn calls_without_a_measurable_time_are_called_that() {
    let mut workers = Auto::new(systems(&[0, 0]), options(&[0, 1]));
    workers.decide(Finding {
        single: 0.0,
        parallel: 0.0,
        elapsed: 1e-6,
        assignment: Assignment::dealt(2, 2),
    });
    let choice = workers.choice().expect("a choice");
    let expected = "a single thread: most calls of systems are too short to be measured";
    assert_eq!(choice, expected);
}

#[test]
fn systems_that_were_tried_in_threads_come_back() {
    let mut workers = Auto::new(systems(&[10, 10, 10]), options(&[0, 1, 2]));
    let assignment = Assignment::balanced(&[3.0, 2.0, 1.0], &[0, 1, 2], 2);
    step(&mut workers, 0..3);
    workers.move_to_threads(assignment).expect("threads");
    workers.phase = Phase::Decided;
    step(&mut workers, 3..6);
    workers.judge(false);
    step(&mut workers, 6..9);
    let choice = workers.choice().expect("a choice");
    assert_eq!(choice, "a single thread: 2 were tried, and were no faster");
    // They are looked at again: what kept the cores busy may have ended.
    assert!(matches!(workers.phase, Phase::Settled { left } if left < FIRST_WHILE_AFTER_TRY));
}

#[test]
fn what_stands_in_the_way_is_the_reason() {
    let reason = |groups: &[usize], one_at_a_time, threads| {
        let naps = vec![0; groups.len()];
        let options = AutoOptions {
            groups: groups.to_vec(),
            one_at_a_time,
            threads: NonZeroUsize::new(threads),
        };
        let choice = Auto::new(systems(&naps), options).choice();
        choice.expect("a choice")
    };
    assert!(reason(&[0], false, 2).contains("only one system"));
    assert!(reason(&[0, 1], true, 2).contains("one system at a time"));
    assert!(reason(&[0, 0], false, 2).contains("of one FMU"));
    assert!(reason(&[0, 1], false, 1).contains("only one core"));
    assert!(reason(&[0, 1], false, 2).contains("too few steps"));
}

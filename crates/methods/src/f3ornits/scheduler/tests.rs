//! The scheduler on models made at random: what must hold whatever they are.

use super::*;
use proptest::prelude::*;

/// All systems go side by side.
const NO_TURNS: std::iter::Empty<(usize, usize)> = std::iter::empty();

/// A model as the scheduler sees it, and what its systems will wish for.
#[derive(Clone, Debug)]
struct Model {
    feeders: Vec<Vec<usize>>,
    rules: Vec<StepRule>,
    events: Vec<Vec<f64>>,
    wishes: Vec<f64>,
    start: f64,
    stop: f64,
}

fn model() -> impl Strategy<Value = Model> {
    (1usize..6).prop_flat_map(|systems| {
        let feeders = prop::collection::vec(
            prop::collection::btree_set(0..systems, 0..=systems),
            systems,
        );
        let sizes = prop::sample::select(vec![0.05, 0.08, 0.03, 0.2, 0.1, 1.0 / 3.0, 0.0701]);
        let rule = prop_oneof![Just(StepRule::Free), sizes.prop_map(StepRule::Imposed)];
        let time = prop_oneof![0.0..3.0f64, prop::sample::select(vec![0.4, 0.3, 1.0, 2.4])];
        let events = prop::collection::vec(prop::collection::vec(time, 0..3), systems);
        let rules = prop::collection::vec(rule, systems);
        let wishes = prop::collection::vec(0.004..0.6f64, 7);
        (
            feeders,
            rules,
            events,
            wishes,
            prop::sample::select(vec![0.0, -0.7, 1e6]),
            0.4..2.6f64,
        )
            .prop_map(|(feeders, rules, events, wishes, start, span)| Model {
                feeders: feeders
                    .into_iter()
                    .map(|set| set.into_iter().collect())
                    .collect(),
                rules,
                events: events
                    .into_iter()
                    .map(|times| times.into_iter().map(|t| start + t).collect())
                    .collect(),
                wishes,
                start,
                stop: start + span,
            })
    })
}

/// One round: the systems' standings before it, and the steps they took.
struct Round {
    standings: Vec<Standing>,
    steps: Vec<Option<MacroStep>>,
    /// When the two newest estimates of each system were made.
    made: Vec<[f64; 2]>,
}

/// The run of a model, and where its systems end.
fn run(model: &Model) -> (Vec<Round>, Scheduler, Vec<f64>) {
    let mut scheduler = Scheduler::of_graph(
        model.feeders.clone(),
        NO_TURNS,
        &model.rules,
        (model.start, model.stop),
        0.5,
    );
    let systems = model.feeders.len();
    let next = |k: usize, time: f64| {
        model.events[k]
            .iter()
            .copied()
            .filter(|&e| e > time)
            .fold(f64::INFINITY, f64::min)
    };
    let standing = |k: usize| Standing {
        reached: model.start,
        wish: model.wishes[k % model.wishes.len()],
        pace: model.wishes[k % model.wishes.len()],
        jumps: false,
        shortening: 1.0,
        next_event: next(k, model.start),
        last_event: f64::NEG_INFINITY,
    };
    let mut standings: Vec<Standing> = (0..systems).map(standing).collect();
    let mut made = vec![[model.start, f64::NEG_INFINITY]; systems];
    let mut rounds = Vec::new();
    let mut steps = vec![None; systems];
    while scheduler.plan(&standings, &mut steps) {
        rounds.push(Round {
            standings: standings.clone(),
            steps: steps.clone(),
            made: made.clone(),
        });
        assert!(rounds.len() < 20_000, "the run does not end");
        for (k, step) in steps.iter().enumerate() {
            let (Some(step), standing) = (step, &mut standings[k]) else {
                continue;
            };
            made[k] = [step.end, made[k][0]];
            standing.reached = step.end;
            standing.wish = model.wishes[(rounds.len() + k) % model.wishes.len()];
            if standing.next_event <= step.end {
                // Others that the same step leads across were never announced.
                standing.last_event = standing.next_event;
                standing.next_event = next(k, step.end);
            }
        }
    }
    (
        rounds,
        scheduler,
        standings.iter().map(|s| s.reached).collect(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_system_reaches_its_end_and_its_times_increase(model in model()) {
        let (rounds, scheduler, ends) = run(&model);
        for (k, end) in ends.iter().enumerate() {
            prop_assert_eq!(*end, scheduler.last_time(k));
            match model.rules[k] {
                StepRule::Free => prop_assert_eq!(*end, model.stop),
                StepRule::Imposed(size) => {
                    let last = model.stop - size * 1.000_001;
                    prop_assert!(*end <= model.stop && *end > last);
                }
            }
        }
        for round in &rounds {
            for (standing, step) in round.standings.iter().zip(&round.steps) {
                let Some(step) = step else { continue };
                prop_assert!(step.start == standing.reached);
                prop_assert!(step.end > step.start && step.size() > 0.0);
            }
        }
    }

    #[test]
    fn the_furthest_behind_go_and_go_together(model in model()) {
        let (rounds, scheduler, _) = run(&model);
        for round in &rounds {
            let waiting = |k: usize| round.standings[k].reached < scheduler.last_time(k);
            let behind = (0..model.rules.len()).filter(|&k| waiting(k));
            let now = behind.map(|k| round.standings[k].reached).fold(f64::INFINITY, f64::min);
            for (k, step) in round.steps.iter().enumerate() {
                prop_assert_eq!(step.is_some(), waiting(k) && round.standings[k].reached == now);
            }
        }
    }

    #[test]
    fn imposed_grids_are_kept(model in model()) {
        let (rounds, _, _) = run(&model);
        for (k, rule) in model.rules.iter().enumerate() {
            let StepRule::Imposed(size) = rule else { continue };
            let steps = rounds.iter().filter_map(|round| round.steps[k]);
            for (n, step) in steps.enumerate() {
                let exact = model.start + (n + 1) as f64 * size;
                // But for the number of an event, of a system listed before it, or of the end: the
                // same but for rounding.
                let off = (step.end - exact).abs();
                let rounding = 1e-12 * size + 4.0 * f64::EPSILON * exact.abs();
                prop_assert!(off <= rounding || step.end == model.stop && off < 1e-6 * size);
                prop_assert!((step.size() - size).abs() <= 1e-6 * size);
            }
        }
    }

    #[test]
    fn no_estimate_is_used_past_its_time_by_a_free_system(model in model()) {
        let (rounds, scheduler, _) = run(&model);
        for round in &rounds {
            for (k, step) in round.steps.iter().enumerate() {
                let (Some(step), StepRule::Free) = (step, model.rules[k]) else { continue };
                for &l in &model.feeders[k] {
                    let rests = round.standings[l].reached >= scheduler.last_time(l);
                    let reached = round.standings[l].reached;
                    let horizon = round.steps[l].map_or(reached, |planned| planned.end);
                    prop_assert!(step.end <= horizon || rests && reached <= step.start);
                }
                let events = |standing: &Standing| [standing.next_event, standing.last_event];
                let known = round.standings.iter().flat_map(events);
                let within = |event: &f64| step.start < *event && *event < step.end;
                let crossed = known.into_iter().find(within);
                prop_assert_eq!(crossed, None);
            }
        }
    }

    #[test]
    fn inputs_never_come_from_the_future(model in model()) {
        let (rounds, _, _) = run(&model);
        for round in &rounds {
            for (k, step) in round.steps.iter().enumerate() {
                let Some(step) = step else { continue };
                for &l in &model.feeders[k] {
                    let made = round.made[l];
                    let event = round.standings[l].last_event;
                    let choice = usable(made, step.start, event);
                    // The one exception: the feeder has stepped over an event that lies behind the
                    // reader.
                    let stepped_over = event <= step.start && made[0] > event && made[1] < event;
                    prop_assert!(made[choice] <= step.start || choice == 0 && stepped_over);
                    // And nothing newer could have been used.
                    prop_assert!(choice == 0 || made[0] > step.start);
                }
            }
        }
    }

    #[test]
    fn equal_models_give_equal_plans(model in model()) {
        let ends = |model: &Model| {
            let rounds = run(model).0;
            rounds.iter().flat_map(|round| round.steps.clone()).collect::<Vec<_>>()
        };
        prop_assert_eq!(ends(&model), ends(&model));
    }
}

/// Two systems that feed one another.
fn pair(rules: [StepRule; 2], stop: f64) -> Scheduler {
    Scheduler::of_graph(vec![vec![1], vec![0]], NO_TURNS, &rules, (0.0, stop), 10.0)
}

fn standing(reached: f64, wish: f64) -> Standing {
    Standing {
        reached,
        wish,
        pace: wish,
        jumps: false,
        shortening: 1.0,
        next_event: f64::INFINITY,
        last_event: f64::NEG_INFINITY,
    }
}

fn ends(scheduler: &mut Scheduler, standings: &[Standing]) -> Vec<Option<f64>> {
    let mut steps = vec![None; standings.len()];
    scheduler.plan(standings, &mut steps);
    steps.iter().map(|step| step.map(|step| step.end)).collect()
}

#[test]
fn free_systems_that_feed_one_another_share_the_shorter_wish() {
    let mut scheduler = pair([StepRule::Free; 2], 10.0);
    assert_eq!(
        ends(&mut scheduler, &[standing(1.0, 0.5), standing(1.0, 0.25)]),
        [Some(1.25), Some(1.25)]
    );
}

#[test]
fn a_free_system_beside_an_imposed_one_steps_on_its_grid() {
    let mut scheduler = pair([StepRule::Imposed(0.5), StepRule::Free], 10.0);
    assert_eq!(
        ends(&mut scheduler, &[standing(1.0, 0.0), standing(1.0, 0.01)]),
        [Some(1.5), Some(1.5)]
    );
    assert_eq!(
        ends(&mut scheduler, &[standing(1.0, 0.0), standing(1.0, 7.0)]),
        [Some(1.5), Some(1.5)]
    );
}

#[test]
fn a_step_that_would_leave_a_sliver_before_an_event_meets_it() {
    let mut scheduler = pair([StepRule::Free; 2], 10.0);
    let event = Standing {
        next_event: 2.02,
        ..standing(1.0, 1.0)
    };
    assert_eq!(
        ends(&mut scheduler, &[event, standing(1.0, 1.0)]),
        [Some(2.02), Some(2.02)]
    );
}

#[test]
fn a_source_goes_its_way_and_its_reader_stops_at_its_horizon() {
    let mut scheduler = Scheduler::of_graph(
        vec![vec![], vec![0]],
        NO_TURNS,
        &[StepRule::Free; 2],
        (0.0, 10.0),
        10.0,
    );
    assert_eq!(
        ends(&mut scheduler, &[standing(0.0, 1.0), standing(0.0, 0.3)]),
        [Some(1.0), Some(1.0)],
        "it feeds nobody"
    );
    assert_eq!(
        ends(&mut scheduler, &[standing(1.0, 1.0), standing(0.5, 0.3)]),
        [None, Some(1.0)]
    );
}

#[test]
fn a_system_alone_goes_as_far_as_it_may() {
    let mut scheduler = Scheduler::of_graph(
        vec![vec![]],
        NO_TURNS,
        &[StepRule::Free],
        (0.0, 100.0),
        10.0,
    );
    assert_eq!(ends(&mut scheduler, &[standing(0.0, 0.1)]), [Some(10.0)]);
}

//! Nothing leaves its bounds: sampled trajectories, exact hulls of linear systems, and trajectories
//! to fifty digits.
//!
//! A violation is a bug of the first order. What catches a slip of rounding is compared without
//! allowance: hulls of linear systems and single trajectories of smooth ones, in numbers of many
//! digits.

mod exact;
mod models;
mod recording;

use dovetail_cases::{
    BEHAVIOUR_CHANGE, CAR, DAMPING_REACTION, LAUB_LOOMIS, LOTKA_VOLTERRA, MECHANICAL,
    PUMP_AND_TANK, ROOMS, SPRING, connections, model,
};
use dovetail_equations::Monolithic;
use dovetail_guaranteed::{Boxes, Interval, Problem, StopReason, enclose};
use dovetail_scenario::Scenario;

use exact::{High, Hull, Trajectory};
use models::{TWO, laub_loomis, widened};
use recording::{Recording, enclosed, shared};

/// Sampled trajectories of each model.
const TRAJECTORIES: usize = 100;
/// Times within each tube at which they are looked at.
const LOOKS: usize = 2;

/// Numbers from [0, 1), the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn within(&mut self, range: Interval) -> f64 {
        (range.lo + self.roll() * (range.hi - range.lo)).clamp(range.lo, range.hi)
    }

    fn end(&mut self, range: Interval) -> f64 {
        if self.roll() < 0.5 {
            range.lo
        } else {
            range.hi
        }
    }
}

/// Where a trajectory begins.
#[derive(Clone, Copy)]
enum Place {
    Corner,
    Face,
    Interior,
}

/// Start values of one trajectory: for each system states, then parameters.
fn sample(boxes: &[Boxes], place: Place, dice: &mut Dice) -> Vec<(Vec<f64>, Vec<f64>)> {
    let open = boxes
        .iter()
        .flat_map(|b| b.states.iter().chain(&b.parameters))
        .filter(|range| !range.is_point())
        .count();
    let face = (dice.roll() * open as f64) as usize;
    let mut seen = 0;
    let mut pick = |range: &Interval| {
        let here = !range.is_point() && seen == face;
        seen += usize::from(!range.is_point());
        match place {
            Place::Corner => dice.end(*range),
            Place::Face if here => dice.end(*range),
            _ => dice.within(*range),
        }
    };
    let mut of = |b: &Boxes| {
        (
            b.states.iter().map(&mut pick).collect(),
            b.parameters.iter().map(&mut pick).collect(),
        )
    };
    boxes.iter().map(&mut of).collect()
}

/// Times to look at, and what is proved there.
fn looks(recording: &[Recording], dice: &mut Dice) -> (Vec<f64>, Vec<Vec<Interval>>) {
    let mut times: Vec<f64> = Vec::new();
    for recording in recording {
        times.extend(recording.instants.iter().map(|(time, _)| *time));
        let within = |(from, to, _): &(f64, f64, Vec<Interval>)| {
            [(); LOOKS].map(|()| dice.within(Interval::new(*from, *to)))
        };
        times.extend(recording.tubes.iter().flat_map(within));
    }
    times.sort_by(f64::total_cmp);
    times.dedup();
    let bounds = times.iter().map(|&time| proved(recording, time)).collect();
    (times, bounds)
}

/// What several enclosures prove together.
fn proved(recording: &[Recording], time: f64) -> Vec<Interval> {
    let meet = |a: Vec<Interval>, b: Vec<Interval>| {
        a.iter()
            .zip(b)
            .map(|(a, b)| {
                a.intersection(b)
                    .expect("enclosures that exclude each other")
            })
            .collect()
    };
    recording
        .iter()
        .map(|recording| recording.at(time))
        .reduce(meet)
        .expect("BUG: an enclosure")
}

/// Enclosures of a problem: at its own pace, and in smaller steps reported on a grid that fits
/// nothing.
fn enclosures(problem: &Problem, (start, stop): (f64, f64)) -> [Recording; 2] {
    let span = stop - start;
    [
        shared(None, None),
        shared(Some(span / 37.0), Some(span / 8.3)),
    ]
    .map(|options| {
        let (_, recording) = enclosed(problem, &options);
        recording.assert_complete(start, stop);
        recording
    })
}

/// Sampled trajectories, computed at 1e-13, stay inside; and they fill the boxes to some part, at
/// the end.
///
/// The reference has an error of its own: 1e-13 at each of its steps, of which there may be
/// hundreds. It is allowed 1e-11 of the size of a state, and 1e-12. A slip of rounding is smaller
/// than that: the exact tests below are for those.
fn assert_trajectories_stay_inside(scenario: &Scenario) {
    let (boxes, mut dice) = (scenario.boxes().unwrap(), Dice(7));
    let recording = enclosures(
        &scenario.to_enclose().unwrap(),
        (scenario.start_time, scenario.stop_time),
    );
    let (times, bounds) = looks(&recording, &mut dice);
    let sizes: Vec<f64> = (0..bounds[0].len())
        .map(|state| {
            bounds
                .iter()
                .map(|boxes| boxes[state].magnitude())
                .fold(0.0, f64::max)
        })
        .collect();
    let mut spread: Option<Vec<Interval>> = None;
    for index in 0..TRAJECTORIES {
        let place = [Place::Corner, Place::Face, Place::Interior][index % 3];
        let starts = sample(&boxes, place, &mut dice);
        let mut definitions = scenario.definitions().unwrap();
        for (definition, (states, parameters)) in definitions.iter_mut().zip(&starts) {
            definition.states.clone_from(states);
            definition.parameters.clone_from(parameters);
        }
        let mut monolithic = Monolithic::new(&definitions, &scenario.connections).unwrap();
        let solution = monolithic
            .solve(&times, scenario.connections.outputs())
            .unwrap();
        for ((time, states), bounds) in times.iter().zip(&solution.states).zip(&bounds) {
            for ((x, bound), size) in states.iter().zip(bounds).zip(&sizes) {
                let allowance = 1e-12 + 1e-11 * size.min(x.abs().max(1e-3 * size));
                assert!(
                    bound.lo - allowance <= *x && *x <= bound.hi + allowance,
                    "t = {time}: {x:?} is not in {bound:?}; from {starts:?}"
                );
            }
        }
        let last = solution
            .states
            .last()
            .unwrap()
            .iter()
            .map(|&x| Interval::point(x));
        spread = Some(match spread {
            None => last.collect(),
            Some(spread) => spread
                .iter()
                .zip(last)
                .map(|(all, x)| all.hull(x))
                .collect(),
        });
    }
    let (first, last) = (&bounds[0], bounds.last().unwrap());
    for ((start, bound), spread) in first.iter().zip(last).zip(spread.unwrap()) {
        // Where trajectories have drawn together, a hundredth of where they began will do.
        let wide = 1e-9 + 4.0 * spread.width() + 0.01 * start.width();
        assert!(
            bound.width() <= wide,
            "{bound:?} is much more than the trajectories reach, {spread:?}"
        );
    }
}

macro_rules! trajectories_stay_inside {
    ($($name:ident: $scenario:expr;)*) => {
        mod trajectories_stay_inside {
            use super::*;

            $(#[test]
            fn $name() {
                assert_trajectories_stay_inside(&$scenario);
            })*
        }
    };
}

trajectories_stay_inside! {
    example_mechanical: widened(MECHANICAL, 0.01, 0.01);
    example_lotka_volterra: widened(LOTKA_VOLTERRA, 0.002, 0.0);
    example_damping_reaction: widened(DAMPING_REACTION, 0.0, 0.1);
    example_behaviour_change: widened(BEHAVIOUR_CHANGE, 0.02, 0.01);
    example_car: widened(CAR, 0.0, 0.2);
    example_spring: widened(SPRING, 0.125, 0.0);
    example_rooms: ROOMS.scenario();
    example_laub_loomis: LAUB_LOOMIS.scenario();
    example_pump_and_tank: widened(PUMP_AND_TANK, 0.002, 0.0);
    pendulum: models::pendulum();
    van_der_pol: models::van_der_pol();
    lotka_volterra: models::lotka_volterra();
    laub_loomis_in_two: laub_loomis(0.05, TWO, 10.0);
    reactor: models::reactor();
    neurons: models::neurons();
    drag: models::drag();
    saturation: models::saturation();
    enzyme: models::enzyme();
    tanks: models::tanks();
    steering: models::steering();
    duffing: models::duffing();
    uncertain: models::uncertain();
    switched: models::switched();
    feedthrough: models::feedthrough();
    switched_loop: models::switched_loop();
    order_lost: models::order_lost();
    at_rest: models::at_rest();
    functions: models::functions();
}

/// What was reported before bounds were given up holds, too.
#[test]
fn what_is_reported_before_an_explosion_holds() {
    let scenario = models::explosion();
    let mut recording = Recording::default();
    let outcome = enclose(
        &scenario.to_enclose().unwrap(),
        &shared(None, None),
        &mut recording,
    );
    assert!(matches!(outcome.stopped, Some(StopReason::BlownUp { .. })));
    // The fastest trajectory, from x = 1, explodes at t = 1.
    assert!((0.8..1.0).contains(&outcome.reached), "{}", outcome.reached);
    recording.assert_complete(0.0, outcome.reached);
    for time in looks(&[recording.clone()], &mut Dice(5)).0 {
        for start in [0.9, 0.95, 1.0] {
            let (x, bound) = (start / (1.0 - start * time), recording.at(time)[0]);
            assert!(
                bound.widened(1e-12 * x).contains(x),
                "t = {time}: {x} is not in {bound:?}"
            );
        }
    }
}

/// Some of the times at which something is reported, and some between.
fn some_times(recording: &[Recording], most: usize) -> Vec<f64> {
    let (times, _) = looks(recording, &mut Dice(3));
    let stride = times.len().div_ceil(most);
    let mut times: Vec<f64> = times.iter().rev().step_by(stride).copied().collect();
    times.reverse();
    times
}

/// The exact hull of a linear model lies inside everything that is reported, and fills it but for
/// `excess`.
fn assert_hull_is_inside(scenario: &Scenario, excess: f64) {
    let recording = enclosures(
        &scenario.to_enclose().unwrap(),
        (scenario.start_time, scenario.stop_time),
    );
    let mut hull = Hull::new(scenario);
    for time in some_times(&recording, 16) {
        hull.advance(time);
        hull.excess(&proved(&recording, time));
    }
    let found = hull.excess(&recording[0].instants.last().unwrap().1);
    assert!(
        found <= excess,
        "{}: the boxes are beyond the hull by {found:e}",
        scenario.name
    );
}

#[test]
fn exact_hulls_of_the_linear_examples_are_inside() {
    for (scenario, excess) in [
        (SPRING.scenario(), 1e-12),
        (widened(SPRING, 0.125, 0.0), 1e-11),
        (ROOMS.scenario(), 1e-10),
        (MECHANICAL.scenario(), 1e-8),
        (widened(MECHANICAL, 0.01, 0.01), 1e-8),
        (BEHAVIOUR_CHANGE.scenario(), 2e-11),
        (widened(BEHAVIOUR_CHANGE, 0.02, 0.01), 2e-11),
    ] {
        assert_hull_is_inside(&scenario, excess);
    }
}

/// Two systems of two states each, with numbers that need all their digits.
fn random_system(seed: u64, radius: f64) -> Scenario {
    let mut dice = Dice(seed);
    dice.roll();
    let mut number = || 2.0 * dice.roll() - 1.0;
    let mut text = String::new();
    for name in ["one", "two"] {
        let mut row = |own: usize| {
            let a: [f64; 5] = std::array::from_fn(|j| number() - if j == own { 1.5 } else { 0.0 });
            format!(
                "{:?} * x0 + {:?} * x1 + {:?} * u0 + {:?} * u1 + {:?}",
                a[0], a[1], a[2], a[3], a[4]
            )
        };
        let rows = [row(0), row(1)];
        let mut start = || {
            let center = number();
            format!("[{:?}, {:?}]", center - radius, center + radius)
        };
        text += &format!(
            "[systems.{name}]\ninputs = {{ u0 = 0.0, u1 = 0.0 }}\nstates = {{ x0 = {}, x1 = {} }}\n\
             equations = '''\nder(x0) = {}\nder(x1) = {}\n'''\noutputs = {{ x0 = 'x0', x1 = 'x1' }}\n",
            start(),
            start(),
            rows[0],
            rows[1]
        );
    }
    let wires = [
        "one.x0 -> two.u0",
        "one.x1 -> two.u1",
        "two.x0 -> one.u0",
        "two.x1 -> one.u1",
    ];
    model(3.0, &(text + &connections(&wires)))
}

#[test]
fn exact_hulls_of_random_linear_systems_are_inside() {
    for seed in 0..12 {
        for radius in [0.0, 1e-3, 0.5] {
            assert_hull_is_inside(&random_system(seed, radius), 1e-12);
        }
    }
}

/// Systems whose series end: nothing is cut off, and rounding is all that can go wrong.
#[test]
fn exact_hulls_are_inside_where_rounding_is_all_there_is() {
    for seed in 0..20 {
        let mut dice = Dice(seed);
        dice.roll();
        let mut number = || 2.0 * dice.roll() - 1.0;
        let text = format!(
            "[systems.one]\ninputs = {{ u = 0.0 }}\nstates = {{ x = {:?} }}\nequations = 'der(x) = {:?} * u + {:?}'\n\
             outputs = {{ y = '{:?} * x' }}\n\
             [systems.two]\nstates = {{ x = {:?} }}\nequations = 'der(x) = {:?}'\noutputs = {{ y = 'x / 3 + {:?}' }}\n\
             [systems.three]\ninputs = {{ u = 0.0 }}\nstates = {{ x = {:?} }}\nequations = 'der(x) = u'\n",
            number(),
            number(),
            number(),
            number(),
            number(),
            number(),
            number(),
            number()
        );
        let scenario = model(
            2.7,
            &(text + &connections(&["two.y -> one.u", "one.y -> three.u"])),
        );
        assert_hull_is_inside(&scenario, 1e-14);
    }
}

/// A trajectory to many digits, in steps of at most `longest`, lies inside what is proved from the
/// middle of all boxes, with no allowance but its own doubt; and the bounds from there are as
/// narrow as double precision allows.
fn assert_trajectory_is_inside(scenario: &Scenario, until: f64, longest: f64) {
    let definitions = scenario.definitions().unwrap();
    let points: Vec<Boxes> = definitions.iter().map(Boxes::points).collect();
    let span = (scenario.start_time, until);
    let problem = Problem::new(&definitions, &points, &scenario.connections, span).unwrap();
    let recording = enclosures(&problem, span);
    let mut trajectory = Trajectory::new(scenario, longest);
    for time in some_times(&recording, 9) {
        trajectory.advance(time);
        let doubt = High::exactly(trajectory.doubt());
        assert!(
            trajectory.doubt() < 1e-18,
            "BUG: the reference is not exact enough: {:e}",
            trajectory.doubt()
        );
        for (x, bound) in trajectory.states().iter().zip(proved(&recording, time)) {
            let (lo, hi) = (
                High::exactly(bound.lo) - &doubt,
                High::exactly(bound.hi) + &doubt,
            );
            assert!(lo <= *x && *x <= hi, "t = {time}: {x} is not in {bound:?}");
        }
    }
    let widest = recording[0]
        .instants
        .last()
        .unwrap()
        .1
        .iter()
        .map(|x| x.width())
        .fold(0.0, f64::max);
    assert!(
        widest <= 1e-12,
        "from a point, the boxes are {widest:e} wide"
    );
}

macro_rules! exact_trajectories_are_inside {
    ($($name:ident: $scenario:expr, $until:expr, $longest:expr;)*) => {
        mod exact_trajectories_are_inside {
            use super::*;

            $(#[test]
            fn $name() {
                assert_trajectory_is_inside(&$scenario, $until, $longest);
            })*
        }
    };
}

exact_trajectories_are_inside! {
    example_lotka_volterra: LOTKA_VOLTERRA.scenario(), 2.0, 0.06;
    pendulum: models::pendulum(), 1.5, 0.06;
    van_der_pol: models::van_der_pol(), 1.0, 0.06;
    laub_loomis_in_two: laub_loomis(0.0, TWO, 1.0), 1.0, 0.06;
    reactor: models::reactor(), 1.0, 0.06;
    neurons: models::neurons(), 1.0, 0.06;
    enzyme: models::enzyme(), 1.0, 0.06;
    tanks: models::tanks(), 0.5, 0.06;
    steering: models::steering(), 1.0, 0.06;
    duffing: models::duffing(), 1.0, 0.06;
    uncertain: models::uncertain(), 0.5, 0.02;
    switched: models::switched(), 2.6, 0.06;
    functions: models::functions(), 1.0, 0.06;
}

//! The monolithic reference against values computed elsewhere.

use dovetail_cases::ALL;
use dovetail_equations::Monolithic;
use dovetail_report::{Kind, Variables};

#[test]
fn the_monolithic_solution_ends_where_it_is_known_to_end() {
    for case in ALL {
        for known in case.known() {
            let scenario = case.with(known.set);
            let variables = Variables::of(&scenario.connections);
            let mut monolithic =
                Monolithic::new(&scenario.definitions().unwrap(), &scenario.connections).unwrap();
            let times = [scenario.start_time, scenario.stop_time];
            let solution = monolithic
                .solve(&times, scenario.connections.outputs())
                .unwrap();
            for (name, value) in known.end {
                let variable = variables.all().iter().find(|v| v.name == *name).unwrap();
                let rows = if variable.kind == Kind::State {
                    &solution.states
                } else {
                    &solution.outputs
                };
                let found = rows[1][variable.stacked(&scenario.connections)];
                let error = (found - value).abs() / (1.0 + value.abs());
                assert!(
                    error < 5e-12,
                    "{}: {name} is {found}, not {value}: {error:e}",
                    case.name
                );
            }
        }
    }
}

#[test]
fn linear_cases_are_solved_exactly_and_the_others_are_not_called_so() {
    let exact = |case: dovetail_cases::Case| {
        let scenario = case.scenario();
        Monolithic::new(&scenario.definitions().unwrap(), &scenario.connections)
            .unwrap()
            .is_exact()
    };
    let found: Vec<(&str, bool)> = ALL
        .into_iter()
        .map(|case| (case.name, exact(case)))
        .collect();
    let linear = ["mechanical", "behaviour-change", "spring", "rooms"];
    assert!(
        found
            .iter()
            .all(|(name, exact)| linear.contains(name) == *exact),
        "{found:?}"
    );
}

#[test]
fn the_solution_does_not_depend_on_the_times_at_which_it_is_asked_for() {
    for case in ALL {
        let scenario = case.scenario();
        let outputs = scenario.connections.outputs();
        let solve = |n: usize| {
            let times: Vec<f64> = (0..=n)
                .map(|i| scenario.stop_time * i as f64 / n as f64)
                .collect();
            let mut monolithic =
                Monolithic::new(&scenario.definitions().unwrap(), &scenario.connections).unwrap();
            monolithic
                .solve(&times, outputs)
                .unwrap()
                .states
                .pop()
                .unwrap()
        };
        for (coarse, fine) in solve(1).iter().zip(solve(777)) {
            assert!(
                (coarse - fine).abs() < 1e-11 * (1.0 + fine.abs()),
                "{}: {coarse} and {fine}",
                case.name
            );
        }
    }
}

use dovetail_cases::*;
use std::sync::atomic::AtomicBool;
fn worst(scenario: &dovetail_scenario::Scenario, done: &Measured) -> f64 {
    let states = scenario.connections.interfaces().iter().flat_map(|i| i.states.iter().map(|s| i.qualified(s)));
    states.map(|s| done.nrmse(&s)).fold(0.0, f64::max)
}
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let only = args.iter().find_map(|a| a.strip_prefix("only=")).map(str::to_owned);
    let more: Vec<(&str, &str)> = args.iter().filter(|a| !a.starts_with("only=") && *a != "norb" && *a != "adaptive").map(|a| a.split_once('=').unwrap()).collect();
    let rollback = !args.contains(&"norb".to_owned());
    let _ = AtomicBool::new(false);
    for n in [100.0, 400.0] {
        let (mut product, mut cost, mut count) = (1.0f64, 1.0f64, 0);
        let (mut better, mut twice) = (0, 0);
        for problem in ROUGH.iter().filter(|p| only.as_ref().is_none_or(|o| p.name.contains(o.as_str()))) {
            let step = format!("{:e}", problem.stop_time / n);
            let full = problem.scenario();
            let other = measure_run(&full, &[("method", "ifosmondi"), ("solver", "anderson"), ("tolerance", "1e-6"), ("step", &step), ("integrator-tolerance", "1e-12")]);
            let scenario = if rollback { problem.scenario() } else { problem.without_rollback() };
            let own = measure_run(&scenario, &[&[("method", "dovetail"), ("step", step.as_str()), ("integrator-tolerance", "1e-12")][..], &more].concat());
            let (a, b) = (worst(&scenario, &own), worst(&full, &other));
            let (ia, ib) = (own.end.work[0].integrations as f64, other.end.work[0].integrations as f64);
            println!("{:30} {n:4} own {a:9.2e} ifo {b:9.2e} ratio {:9.2e}  int {ia} / {ib} = {:.2}  steps {} rej {} corr {} {:?} {:?} | {:?}", problem.name, a / b, ia / ib, own.end.statistics.steps, own.end.statistics.rejected, own.end.statistics.iterations, own.end.ending.as_ref().err().map(|e| e.to_string()), other.end.ending.as_ref().err().map(|e| e.to_string()), own.end.remarks);
            product *= a / b; cost *= ia / ib; count += 1;
            better += usize::from(a <= b); twice += usize::from(a <= 2.0 * b);
        }
        let c = count as f64;
        println!("== {n}: error {:.3} cost {:.3}; at most {better}, twice {twice} of {count}", product.powf(1.0 / c), cost.powf(1.0 / c));
    }
}

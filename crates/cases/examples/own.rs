use dovetail_cases::*;
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let case = ALL.iter().find(|c| c.name == args[0]);
    let sets: Vec<(String, f64)> = args.iter().filter_map(|a| a.strip_prefix("set:")).map(|a| { let (k, v) = a.split_once('=').unwrap(); (k.to_owned(), v.parse().unwrap()) }).collect();
    let scenario = case.unwrap().with(&sets.iter().map(|(k, v)| (k.as_str(), *v)).collect::<Vec<_>>());
    let mut common: Vec<(&str, &str)> = vec![("method", "dovetail"), ("integrator-tolerance", "1e-14")];
    common.extend(args[1..].iter().filter(|a| !a.starts_with("set:") && !a.starts_with("step=")).map(|a| a.split_once('=').unwrap()));
    let steps: Vec<&str> = args[1..].iter().filter_map(|a| a.strip_prefix("step=")).flat_map(|a| a.split(',')).collect();
    let steps = if steps.is_empty() { vec![""] } else { steps };
    for step in steps {
        let mut choices = common.clone();
        if !step.is_empty() { choices.push(("step", step)); }
        let done = measure_run(&scenario, &choices);
        let states: Vec<String> = scenario.connections.interfaces().iter().flat_map(|i| i.states.iter().map(|s| i.qualified(s))).collect();
        print!("{step:>8} ");
        for s in &states { print!("{s} {:.2e}  ", done.nrmse(s)); }
        print!("l2 {:.2e} ", done.mean_l2(&states.iter().map(|s| s.as_str()).collect::<Vec<_>>()));
        println!("steps {} rej {} int {:?} lin {} {:?} {:?}", done.end.statistics.steps, done.end.statistics.rejected, done.end.work.iter().map(|w| w.integrations).collect::<Vec<_>>(), done.end.work[0].linearizations, done.end.ending.as_ref().map(|_| ()).map_err(|e| e.to_string()), done.end.warnings);
        let mut ratios = vec![];
        for i in scenario.connections.interfaces() { for st in &i.states {
            let name = i.qualified(st);
            if let Some(est) = done.signal(&i.qualified(&format!("$error.{st}"))) {
                let dev = done.deviation(&name);
                let most = dev.iter().fold(0.0f64, |a, b| a.max(b.abs()));
                ratios.extend(est.iter().zip(dev).skip(1).filter(|(_, d)| d.abs() > 1e-2 * most).map(|(e, d)| e / d));
            }
        }}
        ratios.sort_by(f64::total_cmp);
        if !ratios.is_empty() { let n = ratios.len(); println!("      ratio median {:.3} quartiles {:.3} {:.3}  tenths {:.3} {:.3}", ratios[n/2], ratios[n/4], ratios[3*n/4], ratios[n/10], ratios[9*n/10]); }
        for r in &done.end.remarks { println!("      {r}"); }
    }
}

//! Nothing is allocated per macro-step where a table drives an input, however many rows go by.

use std::sync::atomic::AtomicBool;

use dovetail_cases::{AllocationWatch, Counting};
use dovetail_scenario::{Choices, Overrides, Placement, RunOptions, Scenario, SourceText};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const MODEL: &str = r#"[model]
stop-time = 2.0
[systems.left]
inputs = { force = 0.0, u = 0.0, w = 0.0 }
states = { x = 0.0, v = 0.0 }
equations = "der(x) = v; der(v) = u + w*der(w) - x - 0.1*v + force"
outputs = { position = "x" }
[systems.right]
inputs = { position = 0.0 }
parameters = { k = 2.0 }
states = { x = 0.0 }
equations = "der(x) = k*(position - x)"
outputs = { force = "x - position" }
[[connections]]
from = "left.position"
to = "right.position"
[[connections]]
from = "right.force"
to = "left.force"
[[connections]]
value = "sin(3*time)"
to = "left.w"
"#;

fn allocations(scenario: &Scenario, method: &str, step: Option<&str>) -> (u64, u64) {
    let mut choices = Choices::default();
    choices.set("method", method);
    if let Some(step) = step {
        choices.set("step", step);
    }
    let options = RunOptions {
        placement: Placement::SingleThread,
        ..scenario.options(&choices).expect("options")
    };
    let mut watch = AllocationWatch::default();
    let never = AtomicBool::new(false);
    let end = scenario.run(&options, &mut [&mut watch], &never);
    end.expect("a run").ending.expect("it ends well");
    watch.found()
}

fn main() {
    let folder = std::env::temp_dir().join(format!("dovetail-rows-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let rows = (0..=2000).map(|k| format!("{:.3},{}\n", f64::from(k) * 1e-3, (k * k) % 7));
    let table = folder.join("t.csv");
    let text: String = std::iter::once("time,left.u\n".to_owned())
        .chain(rows)
        .collect();
    std::fs::write(&table, text).expect("a table");
    let source = SourceText {
        path: "model.toml".into(),
        text: MODEL.into(),
    };
    let changes = Overrides {
        inputs: vec![table],
        ..Overrides::default()
    };
    let scenario = Scenario::parse(source, &changes).unwrap_or_else(|bad| panic!("{bad}"));

    // Others make the interface consistent anew at every event, or grow a little on their way.
    let runs = [
        ("jacobi", Some("0.01")),
        ("gauss-seidel", Some("0.01")),
        ("predictive", Some("0.01")),
    ];
    for (method, step) in runs {
        let (steps, found) = allocations(&scenario, method, step);
        assert!(steps >= 1900, "{method}: {steps} steps");
        assert_eq!(found, 0, "{method}: allocations in {steps} steps");
    }
    std::fs::remove_dir_all(&folder).expect("removed");
}

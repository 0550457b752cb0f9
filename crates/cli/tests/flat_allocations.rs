//! Nothing is allocated from leg to leg by a run whose FMUs step as rows of numbers.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use dovetail::core::{Error, Exchange, FlatRows, Need, Observer};
use dovetail::scenario::{Choices, Overrides, Scenario, SourceText};
use dovetail_cases::{Counting, allocations};
use dovetail_fixtures::{Fixture, Model, Version};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// So many legs may settle down.
const FIRST: u64 = 10;

/// Counts allocations from leg to leg.
#[derive(Default)]
struct LegWatch {
    legs: u64,
    steps: usize,
    early: u64,
    late: u64,
}

impl Observer for LegWatch {
    fn need(&self) -> Need {
        Need::Rows
    }

    fn rows(&mut self, rows: FlatRows<'_>) -> Result<(), Error> {
        self.legs += 1;
        self.steps += rows.leg.done;
        self.late = allocations();
        if self.legs == FIRST {
            self.early = self.late;
        }
        Ok(())
    }

    fn accepted(&mut self, _exchange: Exchange<'_>) -> Result<(), Error> {
        Ok(())
    }
}

fn ring(fmu: &Path) -> Scenario {
    let mut text = String::from("[model]\nstop-time = 10.0\n");
    for i in 0..4 {
        let from = (i + 3) % 4;
        text += &format!("[systems.s{i}]\nfmu = {fmu:?}\n");
        text += &format!("[[connections]]\nfrom = \"s{from}.x\"\nto = \"s{i}.u\"\n");
    }
    let path = "ring.toml".into();
    Scenario::parse(SourceText { path, text }, &Overrides::default()).unwrap()
}

// Without the test harness, whose own thread allocates now and then and would be counted too.
fn main() {
    for version in [Version::Two, Version::Three] {
        for method in ["jacobi", "gauss-seidel"] {
            let scenario = ring(&Fixture::new(Model::Ring, version).build());
            let mut choices = Choices::default();
            choices.set("method", method);
            choices.set("step", "1e-3");
            let options = scenario.options(&choices).unwrap();
            let mut watch = LegWatch::default();
            let end = scenario.run(&options, &mut [&mut watch], &AtomicBool::new(false));
            end.unwrap().ending.unwrap();
            assert_eq!(watch.steps, 9999, "all but the first step are in legs");
            assert!(watch.legs > FIRST);
            assert_eq!(watch.late - watch.early, 0, "{method}");
        }
    }
}

//! The example packages say what the models of `examples/` say.

mod support;

use std::path::Path;

use support::{Package, described, float};

/// A copy of an example with empty FMUs.
fn package(name: &str, units: [&str; 2]) -> Package {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name);
    let mut package =
        Package::new(&std::fs::read_to_string(folder.join("SystemStructure.ssd")).unwrap());
    for unit in units {
        package = package.with(&format!("resources/{unit}.fmu"), "");
    }
    let others = [
        "Nested.ssd",
        "resources/prey.ssv",
        "resources/predator.ssv",
        "resources/bodies.ssv",
        "resources/bench.ssv",
    ];
    for other in others {
        if let Ok(text) = std::fs::read(folder.join(other)) {
            package = package.with(other, text);
        }
    }
    package
}

#[test]
fn predator_and_prey_feed_each_other() {
    let structure = package("lotka-volterra", ["Prey", "Predator"]).good();
    assert_eq!(structure.name, "predator and prey");
    assert_eq!(structure.experiment.stop_time, Some(20.0));
    assert_eq!(
        described(&structure),
        [
            "predator.population -> prey.predators",
            "prey.population -> predator.prey"
        ]
    );
    assert_eq!(float(&structure, "prey", "birth"), Some(0.6666666666666666));
    assert_eq!(float(&structure, "predator", "p"), Some(1.0));
    assert!(
        structure.components[0]
            .source
            .ends_with("resources/Prey.fmu")
    );
    assert_eq!(structure.warnings, [] as [&str; 0]);
}

#[test]
fn one_set_serves_both_bodies() {
    let structure = package("mechanical", ["Left", "Right"]).good();
    assert_eq!(
        structure
            .components
            .iter()
            .map(|unit| unit.parameters.len())
            .collect::<Vec<_>>(),
        [6, 9]
    );
    assert_eq!(float(&structure, "left", "force"), Some(20000.0));
    assert_eq!(float(&structure, "right", "coupling_d"), Some(10.0));
    assert_eq!(structure.connections.len(), 3);
    assert_eq!(structure.warnings, [] as [&str; 0]);
}

#[test]
fn the_nested_variant_is_the_flat_one() {
    let package = package("mechanical", ["Left", "Right"]);
    let (flat, nested) = (package.good(), package.read_file("Nested.ssd").unwrap());
    assert_eq!(
        described(&nested),
        described(&flat)
            .iter()
            .map(|text| text.replace("left", "Bench.left"))
            .collect::<Vec<_>>()
    );
    for (owner, nested_owner) in [("left", "Bench.left"), ("right", "right")] {
        let names = support::component(&flat, owner)
            .parameters
            .iter()
            .map(|parameter| parameter.name.as_str());
        for name in names {
            assert_eq!(
                float(&nested, nested_owner, name),
                float(&flat, owner, name),
                "{owner}.{name}"
            );
        }
    }
}

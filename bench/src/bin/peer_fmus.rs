//! `peer_fmus OUTDIR`: writes the FMUs that `bench/peers` runs under several masters.

use std::path::Path;
use std::process::ExitCode;
use std::{fs, io};

use dovetail_fixtures::{Fixture, Kind, Model, Version};

/// The systems of the coupled pairs.
const PAIRS: [Model; 8] = [
    Model::MechanicalLeft,
    Model::MechanicalRight,
    Model::Body,
    Model::Plate,
    Model::Prey,
    Model::Predator,
    Model::Wheel,
    Model::Chassis,
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder] = arguments.as_slice() else {
        eprintln!("usage: peer_fmus OUTDIR");
        return ExitCode::from(2);
    };

    match write_all(Path::new(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot write into {folder}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write_all(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (version, tag) in [(Version::Two, "fmi2"), (Version::Three, "fmi3")] {
        let poor = Fixture::poor(Model::Ring, version).build();
        let rich = Fixture::new(Model::Ring, version).build();
        fs::copy(poor, folder.join(format!("Ring-{tag}-poor.fmu")))?;
        fs::copy(rich, folder.join(format!("Ring-{tag}-rich.fmu")))?;
    }

    for model in PAIRS {
        // Co-Simulation alone: masters then agree on what they couple.
        let fixture = Fixture::new(model, Version::Two).kind(Kind::CoSimulation);
        let name = format!("{}.fmu", model.identifier());
        fs::copy(fixture.build(), folder.join(name))?;
    }
    Ok(())
}

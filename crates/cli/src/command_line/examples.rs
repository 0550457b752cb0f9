//! Examples at the end of the help.

/// For the program.
pub(crate) const ALL: &str = "\
Examples:
  dovetail new drive                       create drive/model.toml
  dovetail check drive/model.toml          find mistakes before running
  dovetail run drive/model.toml            run it and print a summary
  dovetail run Plant.fmu --stop-time 10    run a single FMU

`dovetail help COMMAND` explains a command and all its options.";

pub(crate) const RUN: &str = "\
Examples:
  dovetail run model.toml -o results.csv --report results.html
  dovetail run model.toml -m gauss-seidel -s 1e-3
  dovetail run model.toml --set motor.R=0.5 --record 'motor.*'
  dovetail run Plant.fmu --stop-time 10 --input cycle.csv";

pub(crate) const LIVE: &str = "\
Examples:
  dovetail live model.toml --open
  dovetail live model.toml --real-time -m gauss-seidel -s 1e-3
  dovetail live Plant.fmu --stop-time 10 --port 8017";

pub(crate) const COMPARE: &str = "\
Examples:
  dovetail compare model.toml
  dovetail compare model.toml -m jacobi gauss-seidel -s 1e-2,1e-3
  dovetail compare model.toml -m predictive --tolerance 1e-4,1e-6
  dovetail compare plant.ssp --reference measured.csv --within 0.01";

pub(crate) const SWEEP: &str = "\
Examples:
  dovetail sweep model.toml --vary motor.R=0.5:2:16 -o sweep.csv
  dovetail sweep model.toml --vary a.k=1:2 --sample 100 --keep max -o sweep.csv";

pub(crate) const ENCLOSE: &str = "\
Examples:
  dovetail enclose model.toml --set 'tank.level=[0.9,1.1]'
  dovetail enclose model.toml --output bounds.csv --report bounds.html";

pub(crate) const LINEARIZE: &str = "\
Examples:
  dovetail linearize model.toml
  dovetail linearize model.toml --at 5 -o linear.mat";

pub(crate) const EXPORT: &str = "\
Examples:
  dovetail export model.toml -o plant.fmu
  dovetail export model.toml -o plant.fmu --fmi 3 -m predictive --tolerance 1e-6";

pub(crate) const SSP: &str = "\
Examples:
  dovetail ssp model.toml -o plant.ssp
  dovetail ssp model.toml -o plant.ssp --ssp 2";

pub(crate) const CHECK: &str = "\
Examples:
  dovetail check model.toml
  dovetail check model.toml -m ifosmondi -s 1e-2 --json";

pub(crate) const INSPECT: &str = "\
Examples:
  dovetail inspect Plant.fmu
  dovetail inspect model.toml --json";

pub(crate) const NEW: &str = "\
Examples:
  dovetail new drive
  dovetail new loop --template controller";

pub(crate) const REPRODUCE: &str = "\
Examples:
  dovetail reproduce missiles
  dovetail reproduce --report papers.html";

pub(crate) const SCHEMA: &str = "\
Examples:
  dovetail schema > dovetail.schema.json

With this first line an editor completes and checks a model file:
  #:schema dovetail.schema.json";

pub(crate) const MAN: &str = "\
Examples:
  dovetail man ~/.local/share/man/man1";

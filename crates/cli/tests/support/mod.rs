//! Runs the program as a shell would.
#![allow(dead_code)] // Each test file uses a part of this.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// All examples.
pub const EXAMPLES: [&str; 9] = [
    "behaviour-change",
    "car",
    "damping-reaction",
    "laub-loomis",
    "lotka-volterra",
    "mechanical",
    "pump-and-tank",
    "rooms",
    "spring",
];

/// The model of an example.
pub fn example(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    root.join(name).join("model.toml").display().to_string()
}

/// A command that has not begun.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dovetail"));
    command.args(arguments).stdin(Stdio::null());
    command
}

/// What a command did.
#[derive(Debug)]
pub struct Done {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the program writes UTF-8");
        Self {
            code: output.status.code(),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }
}

impl Done {
    /// Standard output as JSON, and nothing but JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Standard output as one line: texts for people are broken between words.
    pub fn line(&self) -> String {
        let words: Vec<&str> = self.out.split_whitespace().collect();
        words.join(" ")
    }

    /// Asserts the exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }

    /// Asserts that the complaint has all these words.
    #[track_caller]
    pub fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.err.contains(word), "`{word}` is not in:\n{}", self.err);
        }
        self
    }
}

/// Runs the program to its end.
pub fn dovetail(arguments: &[&str]) -> Done {
    command(arguments)
        .output()
        .expect("the program starts")
        .into()
}

/// Starts the program.
pub fn start(arguments: &[&str]) -> Child {
    command(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// The JSON of a run that succeeds.
#[track_caller]
pub fn run_json(model: &str, arguments: &[&str]) -> Value {
    let all = [&["run", model, "--json"], arguments].concat();
    dovetail(&all).exits(0).json()
}

/// The one run of a comparison that succeeds.
#[track_caller]
pub fn compare_json(model: &str, arguments: &[&str]) -> Vec<Value> {
    let all = [&["compare", model, "--json"], arguments].concat();
    dovetail(&all)
        .exits(0)
        .json()
        .as_array()
        .expect("an array")
        .clone()
}

/// A number of a JSON object.
#[track_caller]
pub fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is not a number"))
}

#[track_caller]
pub fn assert_near(found: f64, expected: f64, relative: f64) {
    assert!(
        (found - expected).abs() <= relative * expected.abs(),
        "{found} instead of {expected}"
    );
}

/// A folder for the files of a test.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn name(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// Writes a file and tells its name.
    pub fn file(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), text).expect("the file can be written");
        self.name(name)
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("the file is there")
    }
}

/// A result file.
pub struct Table {
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Table {
    pub fn parse(text: &str) -> Self {
        let fields = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        let mut lines = text.lines().map(fields);
        Self {
            header: lines.next().unwrap_or_default(),
            rows: lines.collect(),
        }
    }

    /// The texts of a column.
    #[track_caller]
    pub fn column(&self, name: &str) -> Vec<&str> {
        let position = self
            .header
            .iter()
            .position(|h| h == name)
            .unwrap_or_else(|| panic!("no column {name}"));
        self.rows.iter().map(|row| row[position].as_str()).collect()
    }

    #[track_caller]
    pub fn numbers(&self, name: &str) -> Vec<f64> {
        self.column(name)
            .iter()
            .map(|text| text.parse().expect("a number"))
            .collect()
    }
}

/// A model with one system of one state.
pub fn lone(stop: f64, states: &str, equations: &str) -> String {
    format!(
        "[model]\nstop-time = {stop:?}\n\n[systems.lone]\nstates    = {{ {states} }}\nequations = \"{equations}\"\n"
    )
}

/// Two systems of one state each that feed one another: `a.u = b.y` and `b.u = a.y`.
pub fn pair(stop: f64, a: [&str; 2], b: [&str; 2]) -> String {
    let system = |name: &str, [equations, output]: [&str; 2]| {
        format!(
            "[systems.{name}]\ninputs    = {{ u = 0.5 }}\nstates    = {{ x = 1.0 }}\n\
             equations = \"{equations}\"\noutputs   = {{ y = \"{output}\" }}\n\n"
        )
    };
    let connections = "[[connections]]\nfrom = \"a.y\"\nto   = \"b.u\"\n\n[[connections]]\nfrom = \"b.y\"\nto   = \"a.u\"\n";
    format!(
        "[model]\nstop-time = {stop:?}\n\n{}{}{connections}",
        system("a", a),
        system("b", b)
    )
}

/// What `mpirun` is started with to run a program on so many ranks.
fn mpirun(ranks: usize) -> Command {
    let mut command = Command::new("mpirun");
    command
        .args(["--allow-run-as-root", "--oversubscribe", "-n"])
        .arg(ranks.to_string())
        .stdin(Stdio::null());
    command
}

/// A command on so many ranks that has not begun.
pub fn command_on_ranks(ranks: usize, arguments: &[&str]) -> Command {
    let mut command = mpirun(ranks);
    command.arg(env!("CARGO_BIN_EXE_dovetail")).args(arguments);
    command
}

/// Whether this process is a rank of an MPI program.
pub fn is_rank() -> bool {
    std::env::var_os("OMPI_COMM_WORLD_SIZE").is_some()
}

/// Runs this very program on so many ranks, and asserts that it succeeds.
pub fn run_on_ranks(ranks: usize) {
    let program = std::env::current_exe().expect("this program has a file");
    let status = mpirun(ranks).arg(program).status();
    let status = status.expect("mpirun is installed");
    assert!(status.success(), "{ranks} ranks: {status}");
}

/// Runs this very program on so many ranks, which see this variable.
pub fn output_on_ranks(ranks: usize, variable: &str, value: &str) -> Done {
    let program = std::env::current_exe().expect("this program has a file");
    let mut command = mpirun(ranks);
    command.arg(program).env(variable, value);
    command.output().expect("mpirun is installed").into()
}

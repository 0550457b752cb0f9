//! Connections of whole arrays and of values of all types of FMI 3.0.

mod support;

use dovetail_fixtures::{Fixture, Model, Version};
use serde_json::Value;
use support::{Folder, dovetail, number, run_json};

/// Two instances of an FMU with a variable of every type, and what connects them.
struct Pair {
    folder: Folder,
    model: String,
}

impl Pair {
    fn new(first: &str, second: &str, connections: &[(&str, &str)]) -> Self {
        let folder = Folder::new();
        let built = Fixture::new(Model::Types, Version::Three).build();
        std::fs::copy(built, folder.path("Types.fmu")).expect("a copy");
        let links = connections.iter();
        let links = links.map(|(from, to)| {
            let from = match from.contains('=') {
                true => (*from).to_owned(),
                false => format!("from = \"{from}\""),
            };
            format!("[[connections]]\n{from}\nto = \"{to}\"\n")
        });
        let links: String = links.collect();
        let text = format!(
            "[model]\nstop-time = 1.0\n[method]\nname = \"jacobi\"\nstep = 0.25\n\
             [systems.a]\nfmu = \"Types.fmu\"\n{first}\n[systems.b]\nfmu = \"Types.fmu\"\n{second}\n{links}"
        );
        let model = folder.file("m.toml", text);
        Self { folder, model }
    }

    fn last(&self, arguments: &[&str]) -> Value {
        run_json(&self.model, arguments)["final"].clone()
    }

    fn refused(&self, words: &[&str]) {
        dovetail(&["check", &self.model]).exits(2).says(words);
    }
}

#[test]
fn whole_arrays_are_connected_element_by_element() {
    let given = "inputs = { vector_in = [4, 5, 6], matrix_in = [[1, 2, 3], [4, 5, 6.5]] }";
    let links = [
        ("a.vector_out", "b.vector_in"),
        ("a.matrix_out", "b.matrix_in"),
        ("a.vector_out[3]", "b.sized_in[2]"),
    ];
    let last = Pair::new(given, "", &links).last(&[]);
    for (name, value) in [
        ("b.vector_out[1]", 4.0),
        ("b.vector_out[3]", 6.0),
        ("b.matrix_out[1,2]", 2.0),
        ("b.matrix_out[2,3]", 6.5),
        ("b.sized_out[2]", 6.0),
    ] {
        assert_eq!(number(&last[name]), value, "{name}");
    }
}

#[test]
fn structural_parameters_decide_what_fits() {
    let pair = Pair::new("", "", &[("a.sized_out", "b.sized_in")]);
    let three = [
        "--set",
        "a.n=3",
        "--set",
        "b.n=3",
        "--set",
        "a.sized_in=[7,8,9]",
    ];
    let last = pair.last(&three);
    assert_eq!(number(&last["b.sized_out[3]"]), 9.0);
    let one = ["--set", "a.n=3", "--set", "a.sized_in=[7,8,9]"];
    dovetail(&[&["check", &pair.model], &one[..]].concat())
        .exits(2)
        .says(&[
            "`a.sized_out` is an array of 3 elements",
            "`b.sized_in` is an array of 2 elements",
        ]);
}

#[test]
fn sizes_that_differ_are_refused_with_both() {
    Pair::new("", "", &[("a.vector_out", "b.matrix_in")]).refused(&[
        "`a.vector_out` is an array of 3 elements",
        "`b.matrix_in` is an array of 2 × 3",
    ]);
    Pair::new("", "", &[("a.int32_out", "b.vector_in")]).refused(&[
        "`a.int32_out` is no array",
        "`b.vector_in` is an array of 3 elements",
    ]);
    Pair::new(
        "",
        "",
        &[
            ("a.vector_out", "b.vector_in"),
            ("a.vector_out[1]", "b.vector_in[1]"),
        ],
    )
    .refused(&["`b.vector_in[1]` is fed twice"]);
    Pair::new("", "", &[("a.vector_out", "b.vector_out")])
        .refused(&["`b` has no input `vector_out`"]);
}

#[test]
fn values_feed_all_elements_or_each_its_own() {
    let links = [
        ("value = 2.5", "b.vector_in"),
        ("value = [3, 4]", "b.sized_in"),
    ];
    let last = Pair::new("", "", &links).last(&[]);
    assert_eq!(number(&last["b.vector_out[2]"]), 2.5);
    assert_eq!(number(&last["b.sized_out[2]"]), 4.0);
    Pair::new("", "", &[("value = [3, 4, 5]", "b.sized_in")]).refused(&["3 values for 2 elements"]);
}

#[test]
fn values_of_all_types_arrive_as_they_are() {
    let values = [
        ("int8", "-127"),
        ("uint8", "254"),
        ("int16", "-32767"),
        ("uint16", "65534"),
        ("int32", "-2147483646"),
        ("uint32", "4294967294"),
        ("int64", "-9007199254740991"),
        ("uint64", "9007199254740991"),
    ];
    let given = values.map(|(name, value)| format!("{name}_in = {value}"));
    let given = format!("inputs = {{ {}, boolean_in = false }}", given.join(", "));
    let names = values.map(|(name, _)| (format!("a.{name}_out"), format!("b.{name}_in")));
    let mut links: Vec<(&str, &str)> = names.iter().map(|(from, to)| (&**from, &**to)).collect();
    links.push(("a.boolean_out", "b.boolean_in"));
    let last = Pair::new(&given, "", &links).last(&[]);
    for (name, value) in values {
        let found = number(&last[format!("b.{name}_out")]);
        assert_eq!(found, value.parse::<f64>().expect("a number"), "{name}");
    }
    assert_eq!(number(&last["b.boolean_out"]), 0.0);
}

#[test]
fn bytes_go_to_bytes() {
    let given = "inputs = { binary_in = \"00010200ff\" }";
    let set_in_b = |pair: &Pair, arguments: &[&str]| {
        let (calls, _) = log(pair, arguments);
        let calls = calls
            .lines()
            .filter(|line| line.starts_with("b: fmi3SetBinary("));
        calls.map(str::to_owned).collect::<Vec<String>>()
    };
    let apart = set_in_b(&Pair::new(given, "", &[]), &[]);
    assert!(
        !apart.is_empty() && apart.iter().all(|call| call.contains("00ff7f80")),
        "{apart:?}"
    );

    let pair = Pair::new(given, "", &[("a.binary_out", "b.binary_in")]);
    for workers in ["none", "threads", "processes"] {
        let workers: &[&str] = match workers {
            "none" => &[],
            other => &["--workers", other],
        };
        let connected = set_in_b(&pair, workers);
        let arrives = connected
            .last()
            .is_some_and(|call| call.contains("00010200ff"));
        assert!(arrives, "{workers:?}: {connected:?}");
    }
    Pair::new("", "", &[("a.string_out", "b.binary_in")])
        .refused(&["`a.string_out` is a text, but `b.binary_in` is a binary value"]);
    Pair::new("", "", &[("a.int32_out", "b.binary_in")])
        .refused(&["`a.int32_out` is a number, but `b.binary_in` is a binary value"]);
}

/// What an FMU was given, by the log of its calls.
fn log(pair: &Pair, arguments: &[&str]) -> (String, Value) {
    let file = pair.folder.name("calls.txt");
    let done = run_json(
        &pair.model,
        &[&["--log-fmi-calls", &file], arguments].concat(),
    );
    (pair.folder.read("calls.txt"), done)
}

#[test]
fn large_whole_numbers_are_set_as_they_are() {
    let given = "inputs = { int64_in = -9007199254740995, uint64_in = \"18446744073709551614\" }";
    let (calls, done) = log(&Pair::new(given, "", &[]), &[]);
    for value in ["-9007199254740995", "18446744073709551614"] {
        assert!(calls.contains(&format!("[{value}]")), "{value} is not set");
    }
    // The start value of the FMU itself, of the system that is given none.
    assert!(calls.contains("[-9007199254740993]"));
    let warnings = done["quality"]["warnings"].to_string();
    assert!(
        warnings.contains("`a.int64_out` had whole numbers beyond 9007199254740992"),
        "{warnings}"
    );
}

#[test]
fn whole_numbers_that_are_exact_are_not_warned_of() {
    let given = "inputs = { int64_in = 9007199254740992, uint64_in = 3 }";
    let (_, done) = log(&Pair::new(given, given, &[]), &[]);
    let warnings = done["quality"]["warnings"].to_string();
    assert!(!warnings.contains("whole numbers"), "{warnings}");
}

//! `dovetail live`: who is let in, what browsers are told, and what becomes of runs that fail.

mod support;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dovetail_fixtures::{Fault, Fixture, Kind, Model, Version};
use serde_json::{Value, json};
use support::{Done, Folder, dovetail, example, run_json, start};

/// A program that serves a page.
struct Live {
    child: Option<Child>,
    port: u16,
    /// `/secret/`.
    path: String,
}

impl Live {
    fn of(model: &str, flags: &[&str]) -> Self {
        let mut child = start(&[&["live", model], flags].concat());
        let mut first = String::new();
        let out = child.stdout.as_mut().expect("standard output");
        BufReader::new(out).read_line(&mut first).expect("a line");
        let rest = first.trim().strip_prefix("http://127.0.0.1:");
        let rest = rest.unwrap_or_else(|| panic!("no address: {first:?}"));
        let (port, path) = rest.split_once('/').expect("a path");
        Self {
            child: Some(child),
            port: port.parse().expect("a port"),
            path: format!("/{path}"),
        }
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).expect("it listens");
        let patience = Some(Duration::from_secs(60));
        stream.set_read_timeout(patience).expect("a time limit");
        stream
    }

    /// Sends a request as it stands here; the status and the body of the answer.
    fn raw(&self, request: &str) -> (u16, String) {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.unwrap_or_else(|| panic!("no status: {answer:?}"));
        let body = answer.split_once("\r\n\r\n").expect("an end of the head").1;
        (status, body.to_owned())
    }

    fn get(&self, what: &str) -> (u16, String) {
        let (path, host) = (&self.path, self.host());
        self.raw(&format!(
            "GET {path}{what} HTTP/1.1\r\nHost: {host}\r\n\r\n"
        ))
    }

    fn post(&self, what: &str, body: &Value) -> (u16, String) {
        let (path, host, body) = (&self.path, self.host(), body.to_string());
        let length = body.len();
        let origin = format!("Origin: http://{host}\r\n");
        self.raw(&format!(
            "POST {path}{what} HTTP/1.1\r\nHost: {host}\r\n{origin}Content-Length: {length}\r\n\r\n{body}"
        ))
    }

    /// A browser that listens.
    fn listen(&self) -> Listener {
        let mut stream = self.connect();
        let (path, host) = (&self.path, self.host());
        let request = format!("GET {path}events HTTP/1.1\r\nHost: {host}\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("sent");
        Listener(BufReader::new(stream))
    }

    /// What the page shows of a run that is over.
    fn run(&self, id: u64) -> Value {
        let (status, body) = self.get(&format!("runs/{id}"));
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).expect("JSON")
    }

    /// Asks for a run and waits for its end.
    fn finish(&self, request: &Value, id: u64) -> Value {
        assert_eq!(self.post("run", request).0, 200);
        let mut listener = self.listen();
        loop {
            let over = listener.until("over");
            if over["id"] == id {
                return over;
            }
        }
    }

    /// Presses Ctrl-C and waits for the end.
    fn interrupt(mut self) -> Done {
        let mut child = self.child.take().expect("it runs");
        let id = child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status();
        assert!(sent.expect("kill").success());
        let patience = Instant::now() + Duration::from_secs(20);
        while child.try_wait().expect("a child").is_none() && Instant::now() < patience {
            sleep(Duration::from_millis(20));
        }
        let _ = child.kill();
        child.wait_with_output().expect("an end").into()
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let id = child.id().to_string();
            let _ = Command::new("kill").args(["-INT", &id]).status();
            let _ = child.wait();
        }
    }
}

/// A browser that listens to what happens.
struct Listener(BufReader<TcpStream>);

impl Listener {
    fn line(&mut self) -> String {
        let mut line = String::new();
        let length = self.0.read_line(&mut line).expect("a line");
        assert!(length > 0, "the stream has ended");
        line.trim_end().to_owned()
    }

    /// The next event of this name; others are passed over.
    #[track_caller]
    fn until(&mut self, name: &str) -> Value {
        let patience = Instant::now() + Duration::from_secs(60);
        loop {
            assert!(Instant::now() < patience, "no event `{name}` comes");
            if self.line() == format!("event: {name}") {
                let data = self.line();
                let data = data.strip_prefix("data: ").expect("data");
                return serde_json::from_str(data).expect("JSON");
            }
        }
    }
}

/// The numbers of a column.
fn numbers(column: &Value) -> Vec<f64> {
    let text = column["f64"].as_str().expect("text");
    let bytes = STANDARD.decode(text).expect("base64");
    let numbers = bytes.chunks_exact(8);
    numbers
        .map(|bytes| f64::from_le_bytes(bytes.try_into().expect("eight bytes")))
        .collect()
}

/// The last value of a variable.
fn last(run: &Value, name: &str) -> f64 {
    let variables = run["data"]["variables"].as_array().expect("variables");
    let found = variables.iter().find(|variable| variable["name"] == name);
    let values = numbers(&found.unwrap_or_else(|| panic!("no {name}"))["values"]);
    *values.last().expect("rows")
}

fn verdict(run: &Value) -> String {
    run["data"]["verdict"].to_string()
}

#[test]
fn the_page_is_the_report_and_may_ask_its_own_server_alone() {
    let live = Live::of(&example("lotka-volterra"), &[]);
    let (status, page) = live.get("");
    assert_eq!(status, 200);
    assert!(page.contains("connect-src 'self'") && page.contains("default-src 'none'"));
    assert!(page.contains("predator and prey") && page.contains("class Figure"));
    assert!(page.contains("prey.birth"), "parameters can be changed");
}

#[test]
fn who_does_not_know_the_secret_finds_nothing() {
    let live = Live::of(&example("lotka-volterra"), &[]);
    let host = live.host();
    let secret = live.path.trim_matches('/');
    assert_eq!(secret.len(), 32);
    let wrong: String = secret.chars().rev().collect();
    let shorter = &secret[..31];
    for path in [
        "/".to_owned(),
        "/events".into(),
        "/run".into(),
        "//events".into(),
        format!("/{wrong}/"),
        format!("/{shorter}/events"),
        format!("/{secret}"),
    ] {
        for method in ["GET", "POST"] {
            let request = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
            assert_eq!(live.raw(&request).0, 404, "{method} {path}");
        }
    }
    let other = Live::of(&example("lotka-volterra"), &[]);
    assert_ne!(other.path, live.path);
}

#[test]
fn other_pages_and_other_names_are_refused() {
    let live = Live::of(&example("lotka-volterra"), &[]);
    let (host, port, path) = (live.host(), live.port, &live.path);
    let own = format!("Host: {host}\r\n");
    for headers in [
        // Another name for 127.0.0.1: a page that rebinds its own.
        format!("Host: evil.example:{port}\r\n"),
        format!("Host: 127.0.0.1.evil.example:{port}\r\n"),
        "Host: 127.0.0.1\r\n".to_owned(),
        format!("Host: {host}\r\nHost: evil.example\r\n"),
        String::new(),
        // Another page in the same browser.
        format!("{own}Origin: http://evil.example\r\n"),
        format!("{own}Origin: https://{host}\r\n"),
        format!("{own}Origin: http://127.0.0.1:1\r\n"),
        format!("{own}Origin: null\r\n"),
        format!("{own}Origin: http://{host}\r\nOrigin: http://evil.example\r\n"),
        format!("{own}Sec-Fetch-Site: cross-site\r\n"),
        format!("{own}Sec-Fetch-Site: same-site\r\n"),
    ] {
        for request in ["GET", "POST"].map(|method| {
            let what = if method == "GET" { "events" } else { "run" };
            format!("{method} {path}{what} HTTP/1.1\r\n{headers}Content-Length: 0\r\n\r\n")
        }) {
            assert_eq!(live.raw(&request).0, 403, "{request}");
        }
    }

    // A preflight is granted nothing.
    let asks = format!("OPTIONS {path}run HTTP/1.1\r\n{own}Origin: http://evil.example\r\n\r\n");
    let (status, _) = live.raw(&asks);
    assert_eq!(status, 403);
    assert_eq!(live.get("").0, 200);
    assert_eq!(live.post("stop", &json!({})).0, 200);
    let local = format!("GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n");
    assert_eq!(live.raw(&local).0, 200);
}

#[test]
fn no_other_interface_is_served() {
    let live = Live::of(&example("lotka-volterra"), &[]);
    let port = format!(":{:04X}", live.port);
    const LISTENING: &str = "0A";
    let mut found = 0;
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        for line in fs::read_to_string(table).unwrap_or_default().lines() {
            let fields: Vec<&str> = line.split_whitespace().collect();
            if fields.len() > 3 && fields[1].ends_with(&port) && fields[3] == LISTENING {
                assert_eq!(fields[1], format!("0100007F{port}"), "{line}");
                found += 1;
            }
        }
    }
    assert_eq!(found, 1, "it listens once");

    // Even another address of this very machine is refused.
    let elsewhere = SocketAddr::from((Ipv4Addr::new(127, 0, 0, 2), live.port));
    assert!(TcpStream::connect_timeout(&elsewhere, Duration::from_secs(5)).is_err());
}

#[test]
fn two_browsers_see_a_run_grow_and_one_that_leaves_harms_nobody() {
    let live = Live::of(&example("lotka-volterra"), &["--real-time"]);
    let mut one = live.listen();
    let mut other = live.listen();
    let (begun, also) = (one.until("begun"), other.until("begun"));
    assert_eq!(begun["columns"], also["columns"]);
    let first = one.until("rows");
    let next = one.until("rows");
    let known = numbers(&first["time"]).len();
    assert_eq!(next["from"], known);
    assert_eq!(numbers(&first["time"])[0], 0.0);
    assert!(numbers(&next["time"])[0] > numbers(&first["time"])[known - 1]);

    drop(one);
    other.until("rows");
    other.until("rows");
    // Who comes later is given all of it.
    let late = live.listen().until("rows");
    assert_eq!(late["from"], 0);
    assert!(numbers(&late["time"]).len() > known);

    assert_eq!(live.post("stop", &json!({})).0, 200);
    assert_eq!(other.until("over")["id"], 1);
    let run = live.run(1);
    assert_eq!(run["data"]["verdict"]["level"], "ended");
    assert!(verdict(&run).contains("interrupted at t = "));
}

#[test]
fn what_is_changed_on_the_page_gives_what_the_flag_gives() {
    let model = example("lotka-volterra");
    let live = Live::of(&model, &["--set", "prey.birth=0.7", "--tolerance", "1e-4"]);
    live.listen().until("over");
    let plain = run_json(&model, &["--set", "prey.birth=0.7", "--tolerance", "1e-4"]);
    assert_eq!(
        last(&live.run(1), "prey.population"),
        plain["final"]["prey.population"]
    );

    let request = json!({
        "values": { "prey.birth": "0.8", "predator.p": "1.5" },
        "method": "jacobi", "step": "0.01", "stop": "10",
    });
    assert_eq!(live.finish(&request, 2)["id"], 2);
    let run = live.run(2);
    let label = "prey.birth = 0.8, predator.p = 1.5, method jacobi, step 0.01, until 10 s";
    assert_eq!(run["label"], label);
    let flags = [
        "--tolerance=1e-4",
        "--set=prey.birth=0.8",
        "--set=predator.p=1.5",
        "--method=jacobi",
        "--step=0.01",
        "--stop-time=10",
    ];
    let same = run_json(&model, &flags);
    for name in ["prey.population", "predator.population"] {
        assert_eq!(last(&run, name), same["final"][name], "{name}");
    }
    let changed = last(&run, "prey.population");
    assert_ne!(changed, last(&live.run(1), "prey.population"));

    // The page says which command does the same, and it does.
    let command = run["data"]["command"].as_str().expect("a command");
    let words = command.split(' ').skip(1).chain(["--json"]);
    let repeated = dovetail(&words.collect::<Vec<_>>()).exits(0).json();
    assert_eq!(repeated["final"], same["final"]);
}

#[test]
fn what_cannot_be_run_is_refused_in_words_and_the_next_run_is_not() {
    let live = Live::of(&example("lotka-volterra"), &[]);
    let request = json!({ "values": { "prey.brith": "1" } });
    let over = live.finish(&request, 2);
    let words = over["refused"].as_str().expect("words");
    assert!(
        words.contains("prey.brith") && words.contains("prey.birth"),
        "{words}"
    );
    let over = live.finish(&json!({ "step": "-1" }), 3);
    assert!(
        over["refused"]
            .as_str()
            .is_some_and(|words| words.contains("-1")),
        "{over}"
    );
    let (status, words) = live.post("run", &json!({ "stop": "soon" }));
    assert_eq!(status, 400);
    assert!(words.contains("must be a number, not soon"), "{words}");
    assert_eq!(live.get("runs/2").0, 404);
    let over = live.finish(&json!({}), 4);
    assert_eq!(over["refused"], Value::Null);
    assert_eq!(live.run(4)["label"], "as in the model");
}

/// Prey and predator as FMUs, with a fault in the prey.
fn pair_of_fmus(folder: &Folder, fault: Fault) -> String {
    let prey = Fixture::new(Model::Prey, Version::Two).kind(Kind::CoSimulation);
    let prey = prey.fault(fault).build();
    let predator = Fixture::new(Model::Predator, Version::Two).build();
    let (prey, predator) = (prey.display().to_string(), predator.display().to_string());
    let text = format!(
        "[model]\nstop-time = 2.0\n\n[systems.prey]\nfmu = {prey:?}\n\n[systems.predator]\nfmu = {predator:?}\n\n\
         [[connections]]\nfrom = \"prey.population\"\nto   = \"predator.prey\"\n\n\
         [[connections]]\nfrom = \"predator.population\"\nto   = \"prey.predators\"\n"
    );
    folder.file("model.toml", text)
}

#[test]
fn an_fmu_that_crashes_ends_its_run_and_not_the_page() {
    let folder = Folder::new();
    for fault in [Fault::Segfault(0.5), Fault::Exit(0.5)] {
        let model = pair_of_fmus(&folder, fault);
        let live = Live::of(&model, &["-m", "jacobi", "-s", "0.01"]);
        live.listen().until("over");
        let run = live.run(1);
        assert_eq!(run["data"]["verdict"]["level"], "ended", "{fault:?}");
        assert!(
            verdict(&run).contains("`prey` failed at t = 0.4"),
            "{}",
            verdict(&run)
        );
        let times = numbers(&run["data"]["time"]);
        assert_eq!(times.last(), Some(&0.49), "what was computed is drawn");

        // Ended before the fault, the same model runs well.
        live.finish(&json!({ "stop": "0.3" }), 2);
        let run = live.run(2);
        let times = numbers(&run["data"]["time"]);
        assert_eq!(times.last(), Some(&0.3), "{}", verdict(&run));
        live.interrupt().exits(0);
    }
}

#[test]
fn ctrl_c_ends_the_program_also_in_the_midst_of_a_run() {
    let live = Live::of(&example("spring"), &["--step", "1e-7"]);
    let mut listener = live.listen();
    listener.until("rows");
    live.interrupt().exits(0);
    listener.until("end");
}

#[test]
fn a_port_that_is_taken_is_refused_and_a_free_one_can_be_chosen() {
    let live = Live::of(&example("lotka-volterra"), &[]);
    let port = live.port.to_string();
    let again = ["live", &example("lotka-volterra"), "--port", &port];
    dovetail(&again).exits(2).says(&["--port", &port]);
    live.interrupt().exits(0);
    let chosen = Live::of(&example("lotka-volterra"), &["--port", &port]);
    assert_eq!(chosen.port.to_string(), port);
}

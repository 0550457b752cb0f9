//! `dovetail live`: the page of a run while it runs, for the browser of this machine.

mod door;
mod feed;
mod http;
mod one_run;
mod page;
mod runs;
mod server;
mod wanted;

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};

use crate::arguments::LiveArguments;
use crate::failure::Failure;
use crate::{interrupt, output, processes};
use door::Door;
use dovetail::scenario::Overrides;
use runs::Runs;
use server::{Served, serve};
use wanted::Wanted;

/// Between two looks whether Ctrl-C was pressed.
const PAUSE: Duration = Duration::from_millis(50);
/// The run under way has so long to end with the program.
const PATIENCE: Duration = Duration::from_millis(700);
/// And pages that are open so long to learn of it.
const GOODBYE: Duration = Duration::from_millis(300);

pub(crate) fn live(arguments: &LiveArguments) -> Result<(), Failure> {
    let interrupted = interrupt::listen();
    let rest = Overrides {
        record: arguments.record.clone(),
        helpers: processes::helpers(arguments.limits()),
        ..Overrides::default()
    };
    let changes = Wanted::default().overrides(arguments, rest);
    let scenario = crate::arguments::load_scenario(&arguments.model, &changes)?;
    let page = page::of(arguments, &scenario)?;
    drop(scenario);

    let port = arguments.port.unwrap_or(0);
    let refused = |error: io::Error| cannot_serve(port, &error);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(refused)?;
    let door = listener.local_addr().and_then(|at| Door::new(at.port()));
    let door = door.map_err(refused)?;
    let address = door.address();

    let browsers = Arc::new(AtomicUsize::new(0));
    let runs = Arc::new(Runs::default());
    runs.ask(Wanted::default());
    let served = Arc::new(Served {
        door,
        page,
        runs: Arc::clone(&runs),
        open: Arc::clone(&browsers),
    });
    start("server", move || serve(&listener, &served)).map_err(refused)?;
    let (own, for_runs) = (arguments.clone(), Arc::clone(&runs));
    start("runs", move || one_run::make_runs(&own, &for_runs)).map_err(refused)?;

    output::print(&format!(
        "{address}\nThis address is for you alone. Ctrl-C ends the program.\n"
    ))?;
    if arguments.open {
        open(&address);
    }
    while !interrupted.load(Ordering::Relaxed) {
        sleep(PAUSE);
    }
    runs.close(PATIENCE);
    say_goodbye(&browsers);
    Ok(())
}

/// Browsers learn that the program ends, unless they are slow.
fn say_goodbye(browsers: &AtomicUsize) {
    let since = Instant::now();
    while browsers.load(Ordering::Relaxed) > 0 && since.elapsed() < GOODBYE {
        sleep(PAUSE);
    }
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let thread = Builder::new().name(name.to_owned());
    thread.spawn(work).map(drop)
}

fn cannot_serve(port: u16, error: &io::Error) -> Failure {
    let what = match port {
        0 => "no port of 127.0.0.1 can be served".to_owned(),
        port => format!("--port {port} cannot be served"),
    };
    let advice = match port {
        0 => "",
        _ => "; without --port a free one is taken",
    };
    Failure::misuse(format!("{what}: {error}{advice}"))
}

/// Asks the desktop to show the page. Where there is none the address stands on the terminal.
fn open(address: &str) {
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let quiet = Stdio::null;
    let mut command = Command::new(opener);
    command
        .arg(address)
        .stdin(quiet())
        .stdout(quiet())
        .stderr(quiet());
    if let Err(error) = command.spawn() {
        output::complain(&format!(
            "the browser could not be opened ({opener}: {error})\n"
        ));
    }
}

//! The server of a page: a thread for each connection, of which there are few.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;
use std::time::{Duration, Instant};

use super::door::{Door, Refused};
use super::http::{Request, answer, begin_events, event, silence};
use super::runs::{Known, Runs};
use super::wanted::Wanted;

/// More connections than this are no browser of this user.
const MOST_CONNECTIONS: usize = 64;
/// New rows are sent so often.
const PULSE: Duration = Duration::from_millis(80);
/// A stream that has had nothing to say for so long says so: one whose browser is gone ends by it.
const SILENCE: Duration = Duration::from_secs(2);

const TEXT: &str = "text/plain; charset=utf-8";
const JSON: &str = "application/json";

/// What is served.
pub(super) struct Served {
    pub door: Door,
    pub page: String,
    pub runs: Arc<Runs>,
    /// So many connections are open.
    pub open: Arc<AtomicUsize>,
}

/// Serves whoever connects, until the program ends.
pub(super) fn serve(listener: &TcpListener, served: &Arc<Served>) {
    let open = &served.open;
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        if open.load(Ordering::Relaxed) >= MOST_CONNECTIONS {
            continue; // dropped, and so closed
        }
        open.fetch_add(1, Ordering::Relaxed);
        let served = Arc::clone(served);
        let counted = Counted(Arc::clone(open));
        let thread = Builder::new().name("browser".to_owned());
        // A browser that leaves in the middle of an answer is no error of ours.
        let _ = thread.spawn(move || {
            let _counted = counted;
            served.answer(&stream)
        });
    }
}

/// An open connection; it counts until it is dropped.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Served {
    fn answer(&self, stream: &TcpStream) -> io::Result<()> {
        let Ok(request) = Request::read(stream) else {
            return answer(stream, "400 Bad Request", TEXT, b"This is no request.\n");
        };
        match self.door.enter(&request) {
            Ok(asked) => self.carry_out(stream, &request, asked),
            Err(Refused::Stranger) => answer(
                stream,
                "403 Forbidden",
                TEXT,
                b"This page is for the browser of this machine, and for no other page.\n",
            ),
            Err(Refused::NothingHere) => nothing_here(stream),
        }
    }

    fn carry_out(&self, stream: &TcpStream, request: &Request, asked: &str) -> io::Result<()> {
        match (request.method.as_str(), asked) {
            ("GET", "") => {
                let html = "text/html; charset=utf-8";
                answer(stream, "200 OK", html, self.page.as_bytes())
            }
            ("GET", "events") => self.tell(stream),
            ("POST", "run") => match Wanted::read(&request.body) {
                Ok(wanted) => {
                    self.runs.ask(wanted);
                    answer(stream, "200 OK", JSON, b"{}")
                }
                Err(words) => answer(stream, "400 Bad Request", TEXT, words.as_bytes()),
            },
            ("POST", "stop") => {
                self.runs.stop();
                answer(stream, "200 OK", JSON, b"{}")
            }
            ("GET", other) => {
                let id = other.strip_prefix("runs/").and_then(|id| id.parse().ok());
                match id.and_then(|id| self.runs.finished(id)) {
                    Some(run) => answer(stream, "200 OK", JSON, run.as_bytes()),
                    None => nothing_here(stream),
                }
            }
            _ => answer(stream, "405 Method Not Allowed", TEXT, b"Not that.\n"),
        }
    }

    /// Tells a browser what happens, until it leaves or the program ends.
    fn tell(&self, stream: &TcpStream) -> io::Result<()> {
        begin_events(stream)?;
        let mut known = Known::default();
        let mut told = Instant::now();
        while let Some(news) = self.runs.news(&mut known, PULSE) {
            for one in &news {
                event(stream, one.name, &one.data)?;
            }
            if !news.is_empty() {
                told = Instant::now();
                std::thread::sleep(PULSE);
            } else if told.elapsed() > SILENCE {
                silence(stream)?;
                told = Instant::now();
            }
        }
        event(stream, "end", "{}")
    }
}

fn nothing_here(stream: &TcpStream) -> io::Result<()> {
    answer(stream, "404 Not Found", TEXT, b"Nothing here.\n")
}

//! The runs of a page: the one that is under way, those before it, and the one that is wanted next.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dovetail::report::LiveRows;
use serde_json::json;

use super::wanted::Wanted;

/// Raised to end the run under way. There is one page in a program, and one run at a time.
pub(super) static STOP: AtomicBool = AtomicBool::new(false);

/// So many runs that are over are kept for pages that are opened later.
const MOST_KEPT: usize = 8;

/// Rows that are being recorded and read.
pub(super) type SharedRows = Arc<Mutex<LiveRows>>;

/// The runs that all browsers watch.
#[derive(Default)]
pub(super) struct Runs {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The run that is wanted next, and its number.
    wanted: Option<(u64, Wanted)>,
    closing: bool,
    /// Whether a run is being prepared, under way or brought to its end.
    busy: bool,
    asked: u64,
    current: Option<Current>,
    finished: Vec<Finished>,
}

/// The newest run.
struct Current {
    id: u64,
    label: String,
    /// What a page shows of it before it has rows.
    begun: Option<Begun>,
    over: Option<Over>,
}

struct Begun {
    page: Arc<str>,
    columns: Arc<[String]>,
    rows: SharedRows,
}

/// How it ended.
enum Over {
    /// With a page of its own.
    Finished,
    /// It never began.
    Refused(String),
}

struct Finished {
    id: u64,
    label: String,
    page: Arc<str>,
}

/// What one browser knows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known {
    id: u64,
    begun: bool,
    rows: usize,
    over: bool,
}

/// What a browser is told.
pub(super) struct News {
    pub name: &'static str,
    pub data: String,
}

impl Runs {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wants a run; the one under way is ended. Each has a number of its own, also one that another replaces before it begins.
    pub fn ask(&self, wanted: Wanted) {
        let mut state = self.state();
        state.asked += 1;
        state.wanted = Some((state.asked, wanted));
        STOP.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Ends the run under way.
    pub fn stop(&self) {
        let state = self.state();
        if state.busy {
            STOP.store(true, Ordering::Relaxed);
        }
    }

    /// Ends everything; the run under way has so long to come to its end.
    pub fn close(&self, patience: Duration) {
        let mut state = self.state();
        state.closing = true;
        STOP.store(true, Ordering::Relaxed);
        self.changed.notify_all();
        let until = Instant::now() + patience;
        while state.busy {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits for the next run that is wanted; none: there will be no more.
    pub fn next(&self) -> Option<Wanted> {
        let mut state = self.state();
        loop {
            if state.closing {
                return None;
            }
            if let Some((id, wanted)) = state.wanted.take() {
                STOP.store(false, Ordering::Relaxed);
                state.busy = true;
                state.current = Some(Current {
                    id,
                    label: wanted.label(),
                    begun: None,
                    over: None,
                });
                self.changed.notify_all();
                return Some(wanted);
            }
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The run under way has begun: with this page, and rows of these columns.
    pub fn begin(&self, page: String, columns: Vec<String>, rows: SharedRows) {
        if let Some(current) = &mut self.state().current {
            current.begun = Some(Begun {
                page: page.into(),
                columns: columns.into(),
                rows,
            });
        }
        self.changed.notify_all();
    }

    /// The run under way is over: with this page, or refused in words.
    pub fn end(&self, page: Result<String, String>) {
        let mut state = self.state();
        state.busy = false;
        let Some(current) = &mut state.current else {
            return;
        };
        let (id, label) = (current.id, current.label.clone());
        match page {
            Ok(page) => {
                current.over = Some(Over::Finished);
                let page = page.into();
                state.finished.push(Finished { id, label, page });
                let surplus = state.finished.len().saturating_sub(MOST_KEPT);
                state.finished.drain(..surplus);
            }
            Err(words) => current.over = Some(Over::Refused(words)),
        }
        self.changed.notify_all();
    }

    /// A run that is over, as JSON.
    pub fn finished(&self, id: u64) -> Option<String> {
        let state = self.state();
        let run = state.finished.iter().find(|run| run.id == id)?;
        let (label, page) = (json!(run.label), &run.page);
        Some(format!(r#"{{"id":{id},"label":{label},"data":{page}}}"#))
    }

    /// What a browser does not know yet, after waiting so long at most; none: the program ends.
    pub fn news(&self, known: &mut Known, wait: Duration) -> Option<Vec<News>> {
        let mut state = self.state();
        if !state.closing && !state.has_turned(known) {
            let waited = self.changed.wait_timeout(state, wait);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        if state.closing {
            return None;
        }
        Some(state.news(known))
    }
}

impl State {
    /// Whether something has happened besides new rows.
    fn has_turned(&self, known: &Known) -> bool {
        self.current.as_ref().is_some_and(|current| {
            current.id != known.id
                || current.begun.is_some() != known.begun
                || current.over.is_some() != known.over
        })
    }

    fn news(&self, known: &mut Known) -> Vec<News> {
        let mut news = Vec::new();
        let Some(current) = &self.current else {
            return news;
        };
        let id = current.id;
        if known.id != id {
            *known = Known {
                id,
                ..Known::default()
            };
            let past: Vec<u64> = self.finished.iter().map(|run| run.id).collect();
            let past: Vec<u64> = past.into_iter().filter(|past| *past != id).collect();
            let data = json!({ "id": id, "label": current.label, "past": past });
            news.push(News::new("asked", data.to_string()));
        }
        if let Some(begun) = &current.begun {
            if !known.begun {
                known.begun = true;
                let (columns, page) = (json!(&*begun.columns), &begun.page);
                let data = format!(r#"{{"id":{id},"columns":{columns},"data":{page}}}"#);
                news.push(News::new("begun", data));
            }
            let rows = begun.rows.lock().unwrap_or_else(PoisonError::into_inner);
            if rows.rows() > known.rows && !known.over {
                let data = rows.since(known.rows);
                known.rows = rows.rows();
                news.push(News::new("rows", data.to_string()));
            }
        }
        if let Some(over) = current.over.as_ref().filter(|_| !known.over) {
            known.over = true;
            let data = match over {
                Over::Finished => json!({ "id": id }),
                Over::Refused(words) => json!({ "id": id, "refused": words }),
            };
            news.push(News::new("over", data.to_string()));
        }
        news
    }
}

impl News {
    fn new(name: &'static str, data: String) -> Self {
        Self { name, data }
    }
}

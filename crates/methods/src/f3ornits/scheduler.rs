//! Who goes next, and how far. The paper leaves this open; these rules are ours.
//!
//! 1. *The furthest behind goes first.* All systems that stand at the earliest time go together,
//!    side by side.
//! 2. *Imposed steps stand.* Such a system goes from grid time to grid time, `start + n·size`; its
//!    last one is the last at or before the end of the run.
//! 3. *A free system goes as far as it wishes*, except that
//!    - one whose consumers all impose their steps goes to the next of their grid times: what it
//!      told in between, nobody would hear;
//!    - one that feeds nobody wishes to go as far as it is allowed to;
//!    - one that holds what it is fed goes part of the way that its feeders go;
//!    - one in which something jumps that nobody announces goes no further than its readers would:
//!      they cannot hear of it earlier;
//!    - it stops at *meeting times*: known events, of whichever system, and the end of the run;
//!    - it stops at the *horizon* of each system that feeds it: the time that one has reached or is
//!      about to reach. Up to there its estimates were made to be used.
//! 4. *No slivers.* A free step that would end a little short of where it must stop anyway ends
//!    there.
//! 5. *One time, one number.* Grid times that agree but for rounding, with one another or with an
//!    event, are the same number: the event's, or that of the system listed first.
//! 6. *Estimates* come from the past: a step that starts at `t` uses the newest estimate that its
//!    feeder made at or before `t`, (25). One exception: when the feeder has stepped over an event
//!    of its own at or before `t`, because its grid made it, what it said before the event is void,
//!    and the first estimate after it is used.
//!
//! Systems that feed one another and are free share their times, and so do systems that go in turn:
//! between the times of its feeder one that answers at once has nothing new to say; without imposed
//! steps such a loop has a common grid. A system is never more than one step ahead of the one
//! furthest behind, so that two estimates of each are enough to keep. Nothing here depends on
//! anything but its arguments: equal arguments, equal plans.

use dovetail_core::{
    Archive, Checkpoint, Connections, Error, Grid, MacroStep, StepRule, components,
};
use serde::{Deserialize, Serialize};

use super::turns::Turns;
use crate::feeders::feeders_of_systems;

/// A free step that falls short of its limit by less than this fraction of itself ends there.
const NEAR: f64 = 0.1;
/// Times that differ by less than this fraction of a step, or a few units in the last place, are
/// the same but for rounding.
const ROUNDING: f64 = 1e-12;

/// How a system steps.
#[derive(Clone, Copy, Debug)]
enum StepPace {
    Free,
    Imposed(Grid),
}

impl StepPace {
    fn new(rule: &StepRule, start: f64, stop: f64) -> Self {
        match rule {
            StepRule::Free => Self::Free,
            StepRule::Imposed(size) => Self::Imposed(whole_steps(start, stop, *size)),
        }
    }

    /// When the last step ends in a run until `stop`.
    fn end(&self, stop: f64) -> f64 {
        match self {
            Self::Free => stop,
            Self::Imposed(grid) => grid.time(grid.count()),
        }
    }
}

impl StepPace {
    /// When the last step ends in a run until `stop` that does not go beyond `limit` yet.
    fn end_within(&self, stop: f64, limit: f64) -> f64 {
        let end = self.end(stop);
        match self {
            Self::Free => end.min(limit),
            Self::Imposed(grid) if limit < end => grid.last_within(limit),
            Self::Imposed(_) => end,
        }
    }
}

/// For each system, those that read its outputs.
fn consumers_of(feeders: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut consumers = vec![Vec::new(); feeders.len()];
    for (k, fed_by) in feeders.iter().enumerate() {
        fed_by.iter().for_each(|&l| consumers[l].push(k));
    }
    consumers
}

/// Where a system stands and what it would like.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Standing {
    /// The time it has reached.
    pub reached: f64,
    /// The size of the step it wishes for, if it is free.
    pub wish: f64,
    /// The size that its errors allow: of the step that it goes or, where it has gone ahead, went.
    pub pace: f64,
    /// Whether something jumps in it that nobody announces.
    pub jumps: bool,
    /// How many times shorter its steps are for holding what it is fed over them.
    pub shortening: f64,
    /// The next event of its own; infinite if none is known.
    pub next_event: f64,
    /// The last event of its own that it has left behind; minus infinity if there was none.
    pub last_event: f64,
}

impl Standing {
    /// One that has not begun.
    pub fn at(start: f64) -> Self {
        Self {
            reached: start,
            wish: 0.0,
            pace: 0.0,
            jumps: false,
            shortening: 1.0,
            next_event: f64::INFINITY,
            last_event: f64::NEG_INFINITY,
        }
    }
}

/// The rules, for one model.
pub(crate) struct Scheduler {
    stop: f64,
    /// Nobody goes beyond this time, at present.
    limit: f64,
    /// The longest step of a free system.
    longest: f64,
    paces: Vec<StepPace>,
    feeders: Vec<Vec<usize>>,
    consumers: Vec<Vec<usize>>,
    /// Loops of systems, what they depend on before them.
    loops: Vec<Vec<usize>>,
    /// For each system its loop.
    member_of: Vec<usize>,
    /// For each system its last time.
    last: Vec<f64>,
    /// The planned end of the step of each system that goes.
    ends: Vec<Option<f64>>,
}

/// What all who go now have in common.
#[derive(Clone, Copy)]
struct Round<'s> {
    now: f64,
    /// The next known event, of whichever system.
    meeting: f64,
    standings: &'s [Standing],
}

impl Scheduler {
    /// The scheduler of a run from `start` to `stop`.
    pub fn new(
        connections: &Connections,
        turns: &Turns,
        rules: &[StepRule],
        (start, stop): (f64, f64),
        longest: f64,
    ) -> Self {
        let feeders = feeders_of_systems(connections);
        Self::of_graph(feeders, turns.pairs(), rules, (start, stop), longest)
    }

    /// `pairs` are systems and those that go after them in turn.
    fn of_graph(
        feeders: Vec<Vec<usize>>,
        pairs: impl Iterator<Item = (usize, usize)>,
        rules: &[StepRule],
        (start, stop): (f64, f64),
        longest: f64,
    ) -> Self {
        let paces = rules.iter().map(|rule| StepPace::new(rule, start, stop));
        let paces: Vec<StepPace> = paces.collect();
        let mut tied = feeders.clone();
        pairs.for_each(|(feeder, k)| tied[feeder].push(k));
        let loops = components(&tied);
        let consumers = consumers_of(&feeders);
        let mut member_of = vec![0; feeders.len()];

        for (position, members) in loops.iter().enumerate() {
            members.iter().for_each(|&k| member_of[k] = position);
        }

        let last = paces.iter().map(|pace| pace.end(stop)).collect();
        let ends = vec![None; feeders.len()];

        Self {
            stop,
            limit: f64::INFINITY,
            longest,
            paces,
            feeders,
            consumers,
            loops,
            member_of,
            last,
            ends,
        }
    }

    /// The last time of `system`.
    pub fn last_time(&self, system: usize) -> f64 {
        self.last[system]
    }

    /// From here on nobody goes beyond this time.
    pub fn set_limit(&mut self, limit: f64) {
        if limit == self.limit {
            return;
        }
        self.limit = limit;
        for (last, pace) in self.last.iter_mut().zip(&self.paces) {
            *last = pace.end_within(self.stop, limit);
        }
    }

    /// Plans the next steps, for the systems that go; false when none can go any more.
    pub fn plan(&mut self, standings: &[Standing], steps: &mut [Option<MacroStep>]) -> bool {
        steps.fill(None);
        self.ends.fill(None);
        let waiting = |k: &usize| standings[*k].reached < self.last[*k];
        let now = (0..standings.len())
            .filter(waiting)
            .map(|k| standings[k].reached)
            .fold(f64::INFINITY, f64::min);
        if now == f64::INFINITY {
            return false;
        }

        let round = Round {
            now,
            meeting: next_meeting(now, standings),
            standings,
        };
        for position in 0..self.loops.len() {
            self.plan_loop(position, round);
        }

        for (k, end) in self.ends.iter().enumerate() {
            steps[k] = end.map(|end| match self.paces[k] {
                StepPace::Imposed(grid) => grid.step(now, end), // equal sizes to the last bit
                StepPace::Free => MacroStep::new(now, end),
            });
        }
        true
    }

    /// Plans the systems of one loop; those that it depends on are planned.
    fn plan_loop(&mut self, position: usize, round: Round<'_>) {
        let members = std::mem::take(&mut self.loops[position]);
        let goes =
            |k: usize, last: &[f64]| round.standings[k].reached == round.now && round.now < last[k];
        let mut all_free = true;

        for &k in &members {
            if let StepPace::Imposed(grid) = self.paces[k] {
                all_free = false;
                self.ends[k] = goes(k, &self.last).then(|| self.grid_time(k, &grid, round));
            }
        }

        for &k in &members {
            if matches!(self.paces[k], StepPace::Free) && goes(k, &self.last) {
                self.ends[k] = Some(self.free_end(k, round));
            }
        }

        // Rule 3, within a loop: wishes pull one another back until all agree.
        if all_free && members.len() > 1 {
            let earliest = members
                .iter()
                .filter_map(|&k| self.ends[k])
                .fold(f64::INFINITY, f64::min);
            members
                .iter()
                .for_each(|&k| self.ends[k] = self.ends[k].map(|_| earliest));
        } else {
            while self.pull_back(&members) {}
        }
        self.loops[position] = members;
    }

    /// Pulls the free systems among `members` back to the horizons of those that go with them; true
    /// if one has moved.
    fn pull_back(&mut self, members: &[usize]) -> bool {
        let mut moved = false;
        for &k in members
            .iter()
            .filter(|&&k| matches!(self.paces[k], StepPace::Free))
        {
            let Some(end) = self.ends[k] else { continue };
            let horizon = self.feeders[k]
                .iter()
                .filter_map(|&l| self.ends[l])
                .fold(f64::INFINITY, f64::min);
            if horizon < end {
                self.ends[k] = Some(horizon);
                moved = true;
            }
        }
        moved
    }

    /// How far a free system goes, but for the wishes of the free systems of its own loop.
    fn free_end(&self, k: usize, round: Round<'_>) -> f64 {
        let horizon = |&l: &usize| match self.ends[l] {
            _ if matches!(self.paces[l], StepPace::Free)
                && self.member_of[l] == self.member_of[k]
                && round.standings[l].reached <= round.now =>
            {
                f64::INFINITY
            }
            Some(end) => end,
            // One that rests has nothing more to say.
            None if round.standings[l].reached > round.now => round.standings[l].reached,
            None => f64::INFINITY,
        };
        let horizon = self.feeders[k]
            .iter()
            .map(horizon)
            .fold(self.stop, f64::min);
        let limit = horizon.min(round.meeting);
        let wish = self.wish(k, round);
        let end = if round.now + wish * (1.0 + NEAR) >= limit {
            limit
        } else {
            round.now + wish
        };

        // However small the wish, time moves on.
        end.max(round.now.next_up())
    }

    /// The size of the step that a free system would take if it were alone.
    fn wish(&self, k: usize, round: Round<'_>) -> f64 {
        let standing = &round.standings[k];
        let consumers = self.consumers[k].iter();
        let known = self.first_listening(k, round);
        let own = known
            .map_or(standing.wish, |time| time - round.now)
            .min(self.longest);
        let own = if standing.shortening > 1.0 {
            own.min(self.pace_of_feeders(k, round) / standing.shortening)
        } else {
            own
        };

        if standing.jumps {
            let wishes = consumers.map(|&l| round.standings[l].wish);
            own.min(wishes.fold(f64::INFINITY, f64::min))
        } else {
            own
        }
    }

    /// The first time at which a consumer listens, where all of them impose their steps.
    fn first_listening(&self, k: usize, round: Round<'_>) -> Option<f64> {
        let next = |l: &usize| match self.paces[*l] {
            StepPace::Imposed(grid) if round.now < self.last[*l] => {
                Some(self.grid_time(*l, &grid, round))
            }
            StepPace::Imposed(_) => Some(self.stop), // it will not listen again
            StepPace::Free => None,
        };
        let mut times = self.consumers[k].iter().map(next);
        times.try_fold(self.stop, |first, time| Some(first.min(time?)))
    }

    /// The shortest pace of those that feed a system. Around a loop the wishes of those who hold
    /// are shorter already.
    fn pace_of_feeders(&self, k: usize, round: Round<'_>) -> f64 {
        let outside = |l: &&usize| self.member_of[**l] != self.member_of[k];
        let pace = |&l: &usize| match self.paces[l] {
            StepPace::Free => round.standings[l].shortening * round.standings[l].pace,
            StepPace::Imposed(grid) => grid.size(),
        };
        let feeders = self.feeders[k].iter().filter(outside);

        feeders.map(pace).fold(f64::INFINITY, f64::min)
    }

    /// The next grid time of system `k`, by rule 5.
    fn grid_time(&self, k: usize, grid: &Grid, round: Round<'_>) -> f64 {
        let time = grid.step(round.now, f64::INFINITY).end;
        if time == self.last[k] {
            return time; // where it rests nobody waits for it
        }

        let near = |other: f64| {
            (other - time).abs() <= ROUNDING * grid.size() + 4.0 * f64::EPSILON * time.abs()
        };
        let event = round
            .standings
            .iter()
            .flat_map(|s| [s.next_event, s.last_event])
            .find(|&event| near(event));
        let listed_first = || {
            self.paces[..k].iter().find_map(|pace| match pace {
                StepPace::Imposed(grid) => {
                    Some(grid.time(grid.nearest(time))).filter(|&other| near(other))
                }
                StepPace::Free => None,
            })
        };
        let same = event.or_else(listed_first).unwrap_or(time);

        grid.step(round.now, same).end
    }
}

/// The grid of whole steps of `size`: the end of the run is on it, or after it.
fn whole_steps(start: f64, stop: f64, size: f64) -> Grid {
    let whole = Grid::new(start, stop, size);
    if whole.consists_of(size) {
        return whole;
    }

    let count = whole.count().saturating_sub(1);
    Grid::new(start, start + count as f64 * size, size)
}

/// Whether a run from `start` to `stop` has room for a step of `size`.
pub(crate) fn has_room(start: f64, stop: f64, size: f64) -> bool {
    whole_steps(start, stop, size).count() > 0
}

/// The earliest known event after `now`, met or still to be met.
fn next_meeting(now: f64, standings: &[Standing]) -> f64 {
    let events = standings.iter().flat_map(|s| [s.next_event, s.last_event]);
    events
        .filter(|&event| event > now)
        .fold(f64::INFINITY, f64::min)
}

/// Rule 6: which of the two newest estimates of a feeder, made at the times `made` (newest first),
/// a step from `start` uses; `last_event` is the last event that the feeder has left behind.
pub(crate) fn usable(made: [f64; 2], start: f64, last_event: f64) -> usize {
    let stepped_over = made[1] < last_event && last_event <= start;
    usize::from(made[0] > start && !stepped_over)
}

impl Checkpoint for Scheduler {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.slice(&mut self.ends)
    }
}

#[cfg(test)]
mod tests;

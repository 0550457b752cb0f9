#!/usr/bin/env python3
"""Solutions of models that switch, by means that share no code with the engine.

    python3 bench/switching_reference.py MODEL.toml [--points 1001] [--events] [--self-check]

A model of equations is flattened into one ordinary differential equation. Comparisons, `abs`, `min`, `max`, `sign`, `floor` and `mod` become
branches that are held while SciPy integrates; every branch has a guard that is positive as long as the branch is right, and where a guard
reaches zero the integration stops, the branch changes, clauses run, and a new integration begins. Where both branches lead back to the surface
the solution slides along it, by Filippov's convex combination. Needs NumPy and SciPy.

The CSV has a column for each state, discrete state and output. At an event its values are the limits from the right.
"""

import argparse
import bisect
import csv
import heapq
import math
import pathlib
import sys
import time

import numpy as np
from scipy import integrate, optimize

from switching_model import Model, Refusal

SAMPLES = 8  # points of a step at which guards are looked at
MOST_ROUNDS = 200  # of changes at one instant
MOST_EVENTS = 5000
IMAGINARY = 1e-30  # step of the complex-step derivative


class Solution:
    """A run: time, states, discrete states, branches, and the surface on which the solution slides, if any."""

    def __init__(self, model, points, tolerance, method, scales=None, steps=500):
        self.model, self.tolerance, self.method = model, tolerance, method
        self.t, self.span = model.start, model.stop - model.start
        self.x, self.d = np.array(list(model.states.values())), list(model.discrete.values())
        self.b, self.slide, self.edges = list(model.branches), None, [False] * len(model.clauses)
        self.times = np.linspace(model.start, model.stop, points)
        self.rows, self.events, self.history, self.delays, self.breaks = [], [], [], set(), []
        self.largest_x, self.largest_g = scales or (np.abs(self.x), np.zeros(len(model.guards)))
        self.longest_step = self.span / steps
        self.scale = np.where(self.largest_x > 0, self.largest_x, 1.0)
        self.clock, self.zeno, self.inside, self.offset = dict.fromkeys(model.samples, 0), None, self.t, 0.0

    # ---- values at a point

    def evaluate(self, t, x, b=None):
        return self.model.real(t, x, self.d, self.d, self.b if b is None else b, self.past)

    def rates(self, t, x, b):
        """The slopes under some branches, and the rates of all guards along them, by a complex step."""
        slopes = np.array(self.evaluate(t, x, b)[0])
        moved = self.model.complex(t + 1j * IMAGINARY, list(x + 1j * IMAGINARY * slopes), self.d, self.d, b, self.past)
        return slopes, np.array([complex(guard).imag for guard in moved[2]]) / IMAGINARY

    def combination(self, t, x):
        """On a surface: the share of the second branch, and the slopes of the guard under the two."""
        one, other, guard, opposite = self.slide
        first, leaving = self.rates(t, x, one)
        second, returning = self.rates(t, x, other)
        down, up = leaving[guard], -returning[opposite]
        return down / (down - up), first, second, down, up

    def flow(self, t, x):
        if self.slide is None:
            return np.array(self.evaluate(t, x)[0])
        share, first, second, _, _ = self.combination(t, x)
        return first + share * (second - first)

    def watched(self, t, x):
        """All guards; on a surface, its own are replaced by those of leaving it. One that began below zero by rounding begins at zero."""
        if self.slide is None:
            return np.array(self.evaluate(t, x)[2]) - self.offset
        share, _, _, down, up = self.combination(t, x)
        one, other = (np.array(self.evaluate(t, x, b)[2]) for b in self.slide[:2])
        guards = one + share * (other - one)
        guards[self.members(self.slide)] = 1.0
        return np.append(guards, [-down, up]) - self.offset

    def members(self, slide):
        """The guards of the branches that differ on the two sides."""
        return [index for index, (branch, _, _) in enumerate(self.model.guards) if slide[0][branch] != slide[1][branch]]

    def row(self, t, x):
        """The values of the result; on a surface the mean of those under the two branches."""
        values = lambda b: np.array(self.model.strict(t, x, self.d, self.d, b, self.past)[1], float)
        if self.slide is None:
            return values(self.b)
        one, other = (values(b) for b in self.slide[:2])
        return one + self.combination(t, x)[0] * (other - one)

    def past(self, index, delay, t):
        """An input some time ago, from the pieces that were integrated; `inside` tells which side of an old event is meant."""
        self.delays.add(delay)
        outer, then = self.inside, complex(t).real - delay
        piece = bisect.bisect_right(self.history, outer - delay, key=lambda piece: piece[0]) - 1
        if piece < 0:
            return self.at_start(index)
        _, steps, b, d, slide = self.history[piece]
        if slide:
            raise Refusal("a delay of a solution that slides")
        self.inside = outer - delay
        x = steps[max(0, bisect.bisect_right(steps, then, key=lambda step: step[0]) - 1)][1](then)
        values = self.model.real(then, x, d, d, b, lambda *_: math.nan)[4]
        if math.isnan(values[index]) or complex(t).imag:  # it needs a delay itself
            slopes, _, _, _, values = self.model.real(then, x, d, d, b, self.past)
        if turn := 1j * complex(t).imag:
            values = self.model.complex(then + turn, list(x + turn * np.array(slopes)), d, d, b, self.past)[4]
        self.inside = outer
        return values[index]

    def at_start(self, index):
        """An input at the start of the run, which is what it was before."""
        declared = lambda index, *_: float(self.model.file["systems"][self.model.delayed[index][0]]["inputs"][self.model.delayed[index][1]])
        d = list(self.model.discrete.values())
        return self.model.real(self.model.start, list(self.model.states.values()), d, d, self.model.branches, declared)[4][index]

    # ---- between events

    def advance(self, bound):
        """Integrates up to a time or to the first guard that fails; which guard that is. Steps end on the points of the result."""
        if bound <= self.t:
            return None
        steps, self.inside, self.offset = [], (self.t + bound) / 2, 0.0
        self.offset = np.minimum(self.watched(self.t, self.x), 0.0)
        self.history.append((self.t, steps, list(self.b), list(self.d), self.slide))
        while self.t < bound:
            while len(self.rows) < len(self.times) and self.times[len(self.rows)] <= self.t + 1e-11 * self.span:
                self.rows.append(self.row(self.t, self.x))
            target = min([bound, *self.times[len(self.rows):][:1]])
            crossed = self.integrate(target if target < bound - 1e-11 * self.span else bound, steps)
            if crossed is not None:
                return crossed
        return None

    def solver(self, t, x, bound):
        absolute = self.tolerance / 10 * self.scale
        return self.method(self.flow, t, x, bound, rtol=self.tolerance, atol=absolute, max_step=self.longest_step)

    def integrate(self, bound, steps):
        """One run of SciPy's integrator, watched step by step."""
        solver = self.solver(self.t, self.x, bound)
        while solver.status == "running":
            before, start = solver.t, solver.y.copy()
            if message := solver.step():
                raise Refusal(f"at {solver.t}: {message}")
            dense = solver.dense_output()
            steps.append((before, dense))
            self.largest_x = np.maximum(self.largest_x, np.abs(solver.y))
            if found := self.first_failure(dense, before, solver.t):
                self.land(before, start, *found)
                return found[1]
        self.t, self.x = bound, solver.y
        return None

    def first_failure(self, dense, before, after):
        """The earliest time in a step at which a guard becomes negative, and the guard."""
        grid = [before + (after - before) * k / SAMPLES for k in range(SAMPLES + 1)]
        values = [self.watched(t, dense(t)) for t in grid]
        self.largest_g = np.maximum(self.largest_g, np.abs(values[-1][: len(self.largest_g)]))
        for k in range(SAMPLES):
            low, high = grid[k], grid[k + 1]
            failing = [i for i in range(len(values[k])) if values[k + 1][i] < 0]
            roots = [(self.root(dense, i, low, high), i) for i in failing]
            roots += [(self.root(dense, i, grid[k - 1], bottom), i) for i, bottom in self.dips(dense, values, grid, k)]
            if roots:
                return min(roots)
        return None

    def dips(self, dense, values, grid, k):
        """Guards that are positive at the points of the grid, but perhaps not between: where a parabola through three points says so."""
        if k == 0:
            return
        left, here, right = values[k - 1], values[k], values[k + 1]
        curved = left - 2 * here + right
        with np.errstate(all="ignore"):
            lowest = here - (right - left) ** 2 / (8 * curved)
        positive = np.minimum(np.minimum(left, here), right) > 0
        for i in np.flatnonzero(positive & (curved > 0) & (np.abs(right - left) < 2 * curved) & (lowest < 0.2 * here)):
            value = lambda t: self.watched(t, dense(t))[i]
            best = optimize.minimize_scalar(value, bounds=(grid[k - 1], grid[k + 1]), method="bounded", options={"xatol": 1e-12 * self.span})
            if best.fun < 0:
                yield i, best.x

    def root(self, dense, guard, low, high):
        """Where a guard that is negative at the end passes zero."""
        value = lambda t: self.watched(t, dense(t))[guard]
        if value(low) <= 0:  # it begins on the surface: look for the point where it is off
            inside = [low + (high - low) * 2.0**-n for n in range(1, 40)]
            low = next((t for t in inside if value(t) > 0), None)
            if low is None:
                return inside[-1]
        return optimize.brentq(value, low, high, xtol=4 * np.finfo(float).eps, rtol=4 * np.finfo(float).eps)

    def land(self, before, start, t, guard):
        """A step of its own to the event, and a correction by Newton, since dense output is a little less accurate than steps."""
        if t > before:
            solver = self.solver(before, start, t)
            while solver.status == "running":
                solver.step()
            start = solver.y
        if guard < len(self.model.guards) and self.slide is None:
            slopes, rates = self.rates(t, start, self.b)
            shift = -self.watched(t, start)[guard] / rates[guard] if rates[guard] < 0 else 0.0
            if abs(shift) < 1e-9 * self.span:
                t, start = t + shift, start + shift * slopes
        self.t, self.x = t, start

    # ---- at an event

    def settle(self, crossed, sampled):
        """Changes branches and runs clauses until nothing changes any more. Right sides see what was before."""
        self.inside, left, names, loose = self.t + 1e-13 * self.span, list(self.b), [], ()
        forced = self.members(self.slide) if self.slide else []
        if crossed is not None and crossed >= len(self.model.guards):  # the end of sliding
            self.b = list(self.slide[crossed - len(self.model.guards)])
            names, loose, forced = ["leaves " + self.label(self.slide[2])], forced, []
        elif crossed is not None:
            names = self.cross(crossed)
        slid, self.slide = self.slide, None
        fired = [tree == ("name", "sample") and system in sampled for system, tree, _ in self.model.clauses]
        for _ in range(MOST_ROUNDS):
            self.repair()
            tests = [bool(test) for test in self.evaluate(self.t, self.x)[3]]
            fired = [fire or test and not edge for fire, test, edge in zip(fired, tests, self.edges)]
            self.edges = tests
            if any(fired):
                names += [f"{self.model.clauses[k][0]}: when #{k}" for k, fire in enumerate(fired) if fire]
                forced, self.slide = [] if self.run_clauses(fired, left) else forced, None
                left, fired = None, [False] * len(fired)
            elif self.slide or not self.decide(forced, loose):
                break
        else:
            raise Refusal(f"at {self.t} changes do not end")
        if self.slide and not slid:
            names.append("slides on " + self.label(self.slide[2]))
        if names:
            self.events.append((self.t, names))

    def label(self, guard):
        return self.model.guards[guard][2]

    def run_clauses(self, fired, b):
        """New values of discrete and continuous states; whether a continuous one was among them."""
        new_x, new_d = self.model.act(self.t, self.x, self.d, self.d, b or self.b, self.past, fired)
        moved = list(self.x) != new_x
        self.x, self.d = np.array(new_x, float), [float(value) for value in new_d]
        return moved

    def flip(self, guards, values):
        for guard in guards:
            branch, direction, _ = self.model.guards[guard]
            self.b[branch] = self.b[branch] + direction * max(1, -math.floor(values[guard])) if direction else 1 - self.b[branch]

    def near(self, values, rates):
        """Guards that are zero but for rounding."""
        return np.abs(values) <= 1e-12 * np.maximum(self.largest_g, np.abs(rates) * self.span)

    def cross(self, crossed):
        """Changes the branch of a guard that has failed, and of those that fail at the same time."""
        values, same = np.array(self.evaluate(self.t, self.x)[2]), [crossed]
        if self.slide is None:
            rates = self.rates(self.t, self.x, self.b)[1]
            same = sorted({crossed, *np.flatnonzero(self.near(values, rates) & (rates < 0))})
        self.flip(same, np.minimum(values, 0.0))
        return [self.label(guard) for guard in same]

    def repair(self):
        """Changes branches that are wrong by more than rounding, as after a jump of other values."""
        for _ in range(MOST_ROUNDS):
            values = np.array(self.evaluate(self.t, self.x)[2])
            self.largest_g = np.maximum(self.largest_g, np.abs(values))
            wrong = np.flatnonzero(values < -1e-12 * self.largest_g)
            if not len(wrong):
                return
            self.flip(wrong[:1], values)
        raise Refusal(f"at {self.t} branches contradict each other")

    def decide(self, forced, loose):
        """On surfaces: takes the branches that the solution enters; where neither is kept, it slides. Whether something changed."""
        before, last = list(self.b), None
        for _ in range(20):
            values, rates = np.array(self.evaluate(self.t, self.x)[2]), self.tendencies()
            near = self.near(values, rates)
            near[forced] = True
            near[list(loose)] = False
            failing = [int(guard) for guard in np.flatnonzero(near & (rates < 0))]
            if not failing:
                return self.b != before
            if last and self.branches_of(failing) == self.branches_of(last[1]):
                self.slide = (last[0], list(self.b), last[1][0], failing[0])
                self.b = list(last[0])
                self.one_surface(last[1], failing)
                return True
            last = (list(self.b), failing)
            self.flip(failing, np.zeros(len(values)))
        raise Refusal(f"at {self.t} several surfaces meet")

    def branches_of(self, guards):
        return [self.model.guards[guard][0] for guard in guards]

    def one_surface(self, leaving, returning):
        """Refuses to slide on two surfaces at once. Several switching elements may share one."""
        down = self.rates(self.t, self.x, self.slide[0])[1][leaving]
        up = -self.rates(self.t, self.x, self.slide[1])[1][returning]
        shares = down / (down - up)
        if np.ptp(shares) > 1e-6:
            raise Refusal(f"at {self.t} the solution would slide on two surfaces at once")

    def tendencies(self):
        """The rates of guards; where one is almost zero, what a small step ahead says."""
        rates = self.rates(self.t, self.x, self.b)[1]
        flat = np.abs(rates) * self.span < 1e-9 * self.largest_g
        if not flat.any():
            return rates
        h, x, t = 1e-6 * self.span, self.x, self.t
        slope = lambda dt, dx: np.array(self.evaluate(t + dt, x + dt * dx)[0])
        k1 = slope(0, x)
        k2 = slope(h / 2, k1)
        k3 = slope(h / 2, k2)
        ahead = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(h, k3))
        change = np.array(self.evaluate(t + h, ahead)[2]) - np.array(self.evaluate(t, x)[2])
        change[np.abs(change) < 1e-15 * self.largest_g] = 0.0
        return np.where(flat, change / h, rates)

    # ---- the whole run

    def run(self):
        """From start to stop, or to the point where infinitely many events pile up."""
        self.repair()
        self.edges = [bool(test) for test in self.evaluate(self.t, self.x)[3]]
        self.after_bound()
        self.breaks = sorted(self.t + delay for delay in self.delays)
        while self.t < self.model.stop and self.zeno is None:
            bounds = [self.model.stop, *(self.sample_time(system) for system in self.clock), *self.breaks[:1]]
            crossed = self.advance(min(bounds))
            if crossed is None:
                self.after_bound()
            else:
                self.settle(crossed, [])
            for delay in self.delays:
                heapq.heappush(self.breaks, self.t + delay)
            self.look_for_zeno()
        while self.zeno is None and len(self.rows) < len(self.times):
            self.rows.append(self.row(self.t, self.x))
        return self

    def sample_time(self, system):
        return self.model.start + self.clock[system] * self.model.samples[system]

    def after_bound(self):
        """Runs the clauses that are due by the clock. Ends of old pieces that arrive through delays need nothing but a new piece."""
        soon = self.t + 1e-12 * self.span
        due = [system for system in self.clock if self.sample_time(system) <= soon]
        for system in due:
            self.clock[system] += 1
        while self.breaks and self.breaks[0] <= soon:
            heapq.heappop(self.breaks)
        self.settle(None, due)

    def look_for_zeno(self):
        """Where intervals between events shrink like a geometric series, its sum is the time at which they pile up."""
        times = [time for time, _ in self.events[-16:]]
        gaps = [later - earlier for earlier, later in zip(times, times[1:])]
        shrinking = len(gaps) == 15 and all(later < 0.999 * earlier for earlier, later in zip(gaps, gaps[2:]))
        if shrinking and gaps[-1] < 1e-5 * self.span:
            ratio = gaps[-1] / gaps[-3]
            self.zeno = self.t + (gaps[-1] + gaps[-2]) * ratio / (1 - ratio)
        if len(times) == 16 and times[-1] - times[0] < 1e-13 * self.span or len(self.events) > MOST_EVENTS:
            raise Refusal(f"at {self.t} events do not end")


# ---------------------------------------------------------------- from the command line


def solve(model, points, tolerance, method, steps=500):
    """A first run at a loose tolerance says how large states and guards become."""
    scout = Solution(model, 2, 1e-6, method).run()
    return Solution(model, points, tolerance, method, (scout.largest_x, scout.largest_g), steps).run()


def difference(one, other):
    """The largest difference of two solutions, relative to the range of its variable; which variable that is."""
    rows = min(len(one.rows), len(other.rows))
    a, b = np.array(one.rows[:rows]), np.array(other.rows[:rows])
    ranges = np.ptp(b, axis=0)
    worst = np.max(np.abs(a - b), axis=0) / np.where(ranges > 0, ranges, 1.0)
    return worst.max(), ".".join(list(one.model.columns)[int(worst.argmax())])


def self_check(path, arguments):
    """One line: events, difference between two tolerances, seconds."""
    began = time.perf_counter()
    method = getattr(integrate, arguments.method)
    one = solve(Model(path), arguments.points, arguments.tolerance, method)
    seconds = time.perf_counter() - began
    other = solve(Model(path), arguments.points, arguments.tolerance / 10, method, 2.2 * arguments.points)
    worst, where = difference(one, other)
    note = "" if one.zeno is None else f"  Zeno at {one.zeno:.15g}"
    if len(one.events) != len(other.events):
        note += f"  EVENTS DIFFER: {len(other.events)}"
    print(f"{pathlib.Path(path).stem:40} events {len(one.events):4}  difference {worst:8.1e} ({where})  {seconds:6.2f} s{note}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="+")
    parser.add_argument("--points", type=int, default=1001, help="number of equidistant times, ends included")
    parser.add_argument("--tolerance", type=float, default=1e-12)
    parser.add_argument("--method", default="DOP853", help="an integrator of SciPy: DOP853, Radau, ...")
    parser.add_argument("--events", action="store_true", help="list the events instead of the values")
    parser.add_argument("--self-check", action="store_true", help="compare with a tolerance ten times smaller and shorter steps")
    arguments = parser.parse_args()
    failed = False
    for path in arguments.models:
        try:
            if arguments.self_check:
                self_check(path, arguments)
                continue
            write(solve(Model(path), arguments.points, arguments.tolerance, getattr(integrate, arguments.method)), arguments.events)
        except (Refusal, ValueError, ZeroDivisionError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            failed = True
    return 2 if failed else 0


def write(solution, events):
    """The result as CSV on the standard output."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    if events:
        writer.writerow(["time", "event"])
        writer.writerows([repr(float(time)), "; ".join(names)] for time, names in solution.events)
    else:
        writer.writerow(["time", *(".".join(column) for column in solution.model.columns)])
        for time, row in zip(solution.times, solution.rows):
            writer.writerow([repr(float(value)) for value in (time, *row)])
    if solution.zeno is not None:
        print(f"events pile up at {solution.zeno:.15g}; the solution ends there", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())

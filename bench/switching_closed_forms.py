#!/usr/bin/env python3
"""Whether `switching_reference.py` finds events and values that are known in closed form.

    python3 bench/switching_closed_forms.py

Each line is a model of `crates/cases/models/switching` and the largest difference from its closed form, relative to what is compared.
"""

import math
import pathlib

import numpy as np
from scipy import integrate, linalg, optimize

from switching_reference import Model, solve

MODELS = pathlib.Path(__file__).resolve().parent.parent / "crates/cases/models/switching"


def solution(name, points=1001):
    return solve(Model(MODELS / f"{name}.toml"), points, 1e-12, integrate.DOP853)


def times(found, word):
    """The times of the events whose description has this word."""
    return np.array([time for time, names in found.events if any(word in name for name in names)])


def column(found, name):
    return np.array(found.rows)[:, [".".join(column) for column in found.model.columns].index(name)]


def bounces():
    """Flights of a ball: the first bounce after sqrt(2 h / g), then flights that shrink by the restitution."""
    found = times(solution("bounce-free-fall"), "when")
    first = math.sqrt(2 * 1.5 / 9.81)
    expected = [first * (1 + 2 * sum(0.8**k for k in range(1, n + 1))) for n in range(len(found))]
    return np.max(np.abs(found / expected - 1))


def pile_up():
    """The sum of all flights, and the time at which two leaking tanks are empty."""
    ball = math.sqrt(2 / 9.81) * (1 + 2 * 0.7 / 0.3)
    return max(abs(solution("zeno-ball").zeno / ball - 1), abs(solution("zeno-two-tanks").zeno / 7 - 1))


def thermostat():
    """Between 20 and 22 degrees, with rests at 30 and 5 degrees and a time constant of 1000 s."""
    found = times(solution("hysteresis-room"), "when")
    heating, cooling = 1000 * math.log((30 - 20) / (30 - 22)), 1000 * math.log((22 - 5) / (20 - 5))
    first = 1000 * math.log((30 - 18) / (30 - 22))
    expected = [first + cooling * ((n + 1) // 2) + heating * (n // 2) for n in range(len(found))]
    return np.max(np.abs(found / expected - 1))


def relay():
    """A linear servo under a relay: matrix exponentials from switch to switch."""
    a = np.zeros((4, 4))
    a[0, 0], a[0, 3], a[1, 2], a[2, 0], a[2, 2] = -1 / 0.3, 1 / 0.3, 1.0, 1.0, -1.1
    state, t, expected = np.array([0.0, 0.0, 0.0, 2.0]), 0.0, []
    found = times(solution("relay-servo"), "relay")
    while len(expected) < len(found):
        angle = lambda s: (linalg.expm(a * s) @ state)[1] - 0.5
        grid = np.linspace(0.05, 6, 120)
        end = next(s for s in grid if angle(s) * angle(0.05) < 0)
        s = optimize.brentq(angle, 0.05, end, xtol=1e-15, rtol=1e-15)
        state, t = linalg.expm(a * s) @ state, t + s
        state[3] = -state[3]
        expected.append(t)
    return np.max(np.abs(found / expected - 1))


def sampled():
    """A linear motor under a sampled controller: a difference equation."""
    ra, el, k, j = 1.0, 0.05, 0.5, 0.08
    a = np.zeros((4, 4))
    a[0], a[1] = [-ra / el, -k / el, 1 / el, 0], [k / j, -0.05 / j, 0, -0.4 / j]
    step, state, i, rows = linalg.expm(a * 0.05), np.array([0.0, 0.0, 0.0, 1.0]), 0.0, []
    for _ in range(36):
        error = 20.0 - state[1]
        state[2], i = min(24.0, max(-24.0, 0.6 * error + i)), i + 3.0 * 0.05 * error
        rows.append(state.copy())
        state = step @ state
    found = solution("sampled-motor", 183)  # every 10 ms
    rows = np.array(rows)
    names = ("motor.current", "motor.w", "controller.u")
    return max(np.max(np.abs(column(found, name)[:180:5] - rows[:, n])) / np.ptp(rows[:, n]) for n, name in enumerate(names))


def sliding():
    """On the surface the pump's mean flow is the inflow; it leaves where the inflow is more than the pump can carry."""
    found = solution("sliding-level-pump")
    first, last = times(found, "slides")[0], times(found, "leaves")[0]
    inside = (found.times > first) & (found.times < last)
    flow = 1 + 0.9 * np.sin(0.2 * found.times)
    angles = [math.asin(0.6 / 0.9) + 2 * math.pi * n for n in range(4)]
    exits = min(abs(last - angle / 0.2) / last for angle in angles)
    return max(exits, np.max(np.abs(column(found, "pump.q") - flow)[inside]) / 1.6, np.max(np.abs(column(found, "basin.h") - 2)[inside]))


def friction():
    """A crate that slips under a truck that is faster gains speed at the rate mu g, whatever the truck does."""
    found = solution("sliding-crate")
    slipping = found.times < found.events[0][0]
    return np.max(np.abs(column(found, "crate.v") - 9 - 0.2 * 9.81 * found.times)[slipping]) / 10


def delayed():
    """A shower switched late: from each switch on, exponentials; the hand acts 1.5 s after the mixer passes a mark."""
    found = times(solution("delay-shower"), "when")
    t, start, rest, expected = 0.0, 20.0, 55.0, []
    while len(expected) < len(found):
        mark = 40.0 if rest > 50 else 36.0
        passed = 1.8 * math.log((rest - start) / (rest - mark))
        start = rest - (rest - start) * math.exp(-(passed + 1.5) / 1.8)
        t, rest = t + passed + 1.5, 75.0 - rest
        expected.append(t)
    return np.max(np.abs(found / expected - 1))


if __name__ == "__main__":
    for check in (bounces, pile_up, thermostat, relay, sampled, sliding, friction, delayed):
        print(f"{check.__name__:12} {check():8.1e}")

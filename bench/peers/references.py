"""Solutions of the pairs as one system, written anew here: linear ones in closed form, the others by SciPy."""

from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.integrate import solve_ivp

Solution = Callable[[np.ndarray], np.ndarray]  # times to one row for each state


def linear(matrix: np.ndarray, start: np.ndarray, rest: np.ndarray) -> Solution:
    """x' = A (x - rest), by eigenvectors."""
    values, vectors = np.linalg.eig(matrix)
    amplitudes = np.linalg.solve(vectors, (start - rest).astype(complex))

    def at(times: np.ndarray) -> np.ndarray:
        modes = np.exp(np.outer(values, times)) * amplitudes[:, None]
        return rest[:, None] + (vectors @ modes).real

    return at


def integrated(f: Callable, start: list[float], stop_time: float, method: str = "DOP853") -> Solution:
    """To the last digits, in steps so short that interpolation between them loses nothing."""
    solved = solve_ivp(
        f,
        (0.0, stop_time),
        start,
        method=method,
        rtol=1e-13,
        atol=1e-15,
        max_step=stop_time / 2000,
        dense_output=True,
    )
    if not solved.success:
        raise RuntimeError(f"no reference: {solved.message}")
    return solved.sol


def two_masses() -> Solution:
    m1, c1, d1 = 5.0, 1e4, 10.0
    m2, c2, d2 = 80.0, 1e5, 40.0
    c, d = 1e4, 10.0
    matrix = np.array(
        [
            [0, 1, 0, 0],
            [-(c1 + c) / m1, -(d1 + d) / m1, c / m1, d / m1],
            [0, 0, 0, 1],
            [c / m2, d / m2, -(c2 + c) / m2, -(d2 + d) / m2],
        ]
    )
    return linear(matrix, np.array([1.0, 0, 3.0, 0]), np.zeros(4))


def quarter_car() -> Solution:
    wheel, tire = 40.0, 1.5e5
    chassis, c, d = 400.0, 1.5e4, 1e3
    matrix = np.array(
        [
            [0, 1, 0, 0],
            [-(tire + c) / wheel, -d / wheel, c / wheel, d / wheel],
            [0, 0, 0, 1],
            [c / chassis, d / chassis, -c / chassis, -d / chassis],
        ]
    )
    return linear(matrix, np.zeros(4), np.array([0.1, 0, 0.1, 0]))


def push(t: float) -> float:
    return 5 * np.exp(1 + 1 / ((t / 2) ** 2 - 1)) if t < 2 else 0.0


def damping_reaction(method: str = "DOP853") -> Solution:
    plate_damping = 4.0

    def f(t: float, state: np.ndarray) -> list[float]:
        v, x, plate_x = state
        force = (v + x - plate_x) / (1 + 1 / plate_damping)  # the loop through both, solved
        return [push(t) - force, v, force / plate_damping]

    return integrated(f, [0.0, 0.0, 0.0], 10.0, method)


def lotka_volterra(method: str = "DOP853") -> Solution:
    def f(_: float, state: np.ndarray) -> list[float]:
        prey, predator = state
        return [prey * (2 / 3 - 4 / 3 * predator), predator * (prey - 1)]

    return integrated(f, [1.0, 1.0], 20.0, method)


SOLUTIONS: dict[str, Callable[[], Solution]] = {
    "two masses": two_masses,
    "damping reaction": damping_reaction,
    "Lotka-Volterra": lotka_volterra,
    "quarter car": quarter_car,
}


@cache
def solution(pair: str) -> Solution:
    return SOLUTIONS[pair]()


def error(solution: Solution, stop_time: float, times: np.ndarray, values: np.ndarray) -> float:
    """RMS over time divided by the range of the reference, of the state for which that is largest."""
    grid = solution(np.linspace(0, stop_time, 2001))
    ranges = grid.max(axis=1) - grid.min(axis=1)
    squares = (values - solution(times)) ** 2
    mean = np.trapezoid(squares, times, axis=1) / (times[-1] - times[0])
    return float(np.max(np.sqrt(mean) / ranges))


def disagreement() -> float:
    """How far apart two integrators of SciPy are on the nonlinear pairs: what the references can be believed to."""
    worst = 0.0
    for solve, stop_time in ((damping_reaction, 10.0), (lotka_volterra, 20.0)):
        times = np.linspace(0, stop_time, 501)
        by_another = solve("LSODA")(times)
        worst = max(worst, error(solve(), stop_time, times, by_another))
    return worst

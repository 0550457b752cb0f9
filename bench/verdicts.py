#!/usr/bin/env python3
"""Whether verdicts can be believed: random runs over methods, steps and models, each beside the error that a monolithic reference shows.

    cargo build --release && python3 bench/verdicts.py [--seed 1] [--runs 200] [--verify]

A run's true error is the NRMSE of its worst variable. With `--verify` the runs are smooth models under `--verify` instead, and the table
says how far the verified errors are from the true ones. Needs nothing but Python and the program.
"""

import argparse
import collections
import json
import pathlib
import random
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "target" / "release" / "predictive"
FIXED = ["jacobi", "gauss-seidel"]
METHODS = [*FIXED, "f3ornits", "ifosmondi", "missiles", "predictive"]
PARTS = [50, 100, 200, 500, 1000, 2000, 5000]
TOLERANCES = ["1e-3", "1e-4", "1e-6", "1e-8"]


def models(kinds):
    """The model files of these kinds, and the examples."""
    found = [path for kind in kinds for path in sorted((ROOT / "crates/cases/models" / kind).glob("*.toml"))]
    examples = sorted((ROOT / "examples").glob("*/model.toml"))
    return found + [path for path in examples if states(path)]


def states(path):
    """The names of the states of a model of equations; nothing where a part is an FMU."""
    systems = tomllib.loads(path.read_text()).get("systems", {})
    if any("equations" not in system and "outputs" not in system for system in systems.values()):
        return set()
    return {f"{name}.{state}" for name, system in systems.items() for state in system.get("states", {})}


def choices(path, rng):
    """A method with a step or a tolerance, for this model."""
    head = tomllib.loads(path.read_text()).get("model", {})
    span = float(head.get("stop-time", 1.0)) - float(head.get("start-time", 0.0))
    method = rng.choice(METHODS)
    fixed = method in FIXED or method != "f3ornits" and rng.random() < 0.5
    step = ["--step", repr(span / rng.choice(PARTS))]
    tolerance = ["--tolerance", rng.choice(TOLERANCES)]
    return ["--method", method, *(step if fixed else tolerance)]


def ask(command, path, arguments):
    """What the program prints as JSON; none where it refuses."""
    done = subprocess.run([PROGRAM, command, path, *arguments, "--json", "-q"], capture_output=True, text=True, check=False)
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        return None


def true_error(answer):
    """The NRMSE of the worst variable, as a part of its range."""
    errors = [error["nrmse"] for error in answer["error"].values()]
    return max((float("inf") if error is None else error / 100 for error in errors), default=0.0)


def class_of(error, allowed):
    """The class of a true error, as the table calls it."""
    bounds = [(1e-4, "below 0.01 %"), (allowed, "within what good allows"), (0.05, "below 5 %")]
    return next((name for bound, name in bounds if error <= bound), "above 5 %")


def judge_verdicts(rng, runs):
    """Prints the table of verdicts over true errors, and every verdict that is wrong; how many are."""
    pool, table, wrong = models(["rest", "loops", "smooth", "jumps"]), collections.Counter(), []
    for _ in range(runs):
        path = rng.choice(pool)
        arguments = choices(path, rng)
        answers = ask("compare", path, arguments)
        if not answers or not answers[0].get("error") or not answers[0]["completed"]:
            table["ended early", answers[0]["quality"]["verdict"] if answers else "refused"] += 1
            continue
        answer, verdict = answers[0], answers[0]["quality"]["verdict"]
        error = true_error(answer)
        tolerance = float(arguments[-1]) if "--tolerance" in arguments else 0.0
        allowed = max(10 * tolerance, 1e-3)
        table[class_of(error, allowed), verdict] += 1
        if verdict == "good" and error > 3 * allowed or verdict == "unusable" and error < 0.01:
            wrong.append(f"{path.parent.name}/{path.stem} {' '.join(arguments)}: {verdict}, true error {100 * error:.2g} %")
    print_table(table)
    small = sum(count for (error, _), count in table.items() if error == "below 0.01 %")
    print(f"{table['below 0.01 %', 'good']} of {small} runs with an error below 0.01 % are good")
    print("\n".join(wrong) if wrong else "no good run is off by more than three times what good allows, no unusable one by less than 1 %")
    return len(wrong)


def print_table(table):
    """Rows are classes of true errors, columns verdicts."""
    verdicts = ["good", "doubtful", "unusable", "unknown", "refused"]
    print(f"{'true error':26}" + "".join(f"{verdict:>10}" for verdict in verdicts))
    for row in ["below 0.01 %", "within what good allows", "below 5 %", "above 5 %", "ended early"]:
        print(f"{row:26}" + "".join(f"{table[row, verdict]:10}" for verdict in verdicts))


def judge_verified(rng, runs):
    """Prints how far verified errors are from true ones, for the variable that is most off."""
    pool, ratios = models(["rest", "smooth"]), []
    for _ in range(runs):
        path = rng.choice(pool)
        arguments = choices(path, rng)
        truth, verified = ask("compare", path, arguments), ask("run", path, [*arguments, "--verify"])
        if not truth or not truth[0].get("error") or not truth[0]["completed"] or not verified or not verified["quality"].get("verified_error"):
            continue
        # Errors at the level of rounding say nothing.
        errors = {name: error for name, error in truth[0]["error"].items() if name in states(path) and error["max"]}
        name = max(errors, key=lambda name: errors[name]["nrmse"] or 0.0, default=None)
        if name is None or (errors[name]["nrmse"] or 0.0) < 1e-9 or (errors[name]["nrmse"] or 0.0) > 5:
            continue
        ratio = verified["quality"]["verified_error"][name]["max"] / errors[name]["max"]
        ratios.append((ratio, f"{path.parent.name}/{path.stem} {' '.join(arguments)}"))
    ratios.sort()
    within = sum(0.5 <= ratio <= 2 for ratio, _ in ratios)
    print(f"verified over true error, {len(ratios)} runs: {within} within a factor of 2")
    for ratio, run in ratios:
        if not 0.5 <= ratio <= 2:
            print(f"  {ratio:9.3g}  {run}")
    return 0


def main():
    parser = argparse.ArgumentParser(description=re.split(r"\n", __doc__)[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--verify", action="store_true", help="judge verified errors instead of verdicts")
    given = parser.parse_args()
    if not PROGRAM.exists():
        sys.exit(f"{PROGRAM} is not there: build it first, with cargo build --release")
    rng = random.Random(given.seed)
    wrong = (judge_verified if given.verify else judge_verdicts)(rng, given.runs)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

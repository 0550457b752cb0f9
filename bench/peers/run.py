"""Dovetail beside other masters: overhead on rings of FMUs, and error against cost on coupled pairs.

    target/peers-venv/bin/python bench/peers/run.py [--quick] [--only overhead|accuracy|report] [--results FOLDER]

README.md says what is needed beforehand and what is measured. Without --results, a quick run writes into target/peers, any
other into bench/peers/results, under the date.
"""

import argparse
import csv
import datetime
import subprocess
from dataclasses import asdict, fields
from pathlib import Path

import accuracy
import overhead
import picture
import report
from fmpy.validation import validate_fmu
from references import disagreement

ROOT = Path(__file__).resolve().parents[2]
FMUS = ROOT / "target" / "peers" / "fmus"


def main() -> None:
    arguments = parse()
    arguments.results.mkdir(parents=True, exist_ok=True)
    stem = arguments.results / datetime.date.today().isoformat()
    if arguments.only != "report":
        prepare()
        with_suffix(stem, "-machine.md").write_text(report.machine() + "\n")
    if arguments.only in (None, "overhead"):
        rows = overhead.measure(FMUS, repeats=1 if arguments.quick else 5, shrink=50 if arguments.quick else 1)
        write(with_suffix(stem, "-overhead.csv"), rows)
    if arguments.only in (None, "accuracy"):
        points = accuracy.measure(FMUS, repeats=1 if arguments.quick else 3, quick=arguments.quick)
        write(with_suffix(stem, "-accuracy.csv"), points)
        print(f"two integrators of SciPy differ by {disagreement():.1e} on the references")
    conclude(stem)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few steps and one repeat: whether everything runs")
    parser.add_argument(
        "--only", choices=("overhead", "accuracy", "report"), help="a part; report redraws and rewrites"
    )
    parser.add_argument("--results", type=Path, help="where results go")
    arguments = parser.parse_args()
    default = ROOT / "target" / "peers" if arguments.quick else Path(__file__).parent / "results"
    arguments.results = arguments.results or default
    return arguments


def prepare() -> None:
    """Builds Dovetail and the FMUs, and has FMPy validate these."""
    build = ["cargo", "build", "--release", "-p", "dovetail-bench", "--bin", "peer_fmus", "--bin", "peer_dovetail"]
    subprocess.run(build, cwd=ROOT, check=True)
    subprocess.run([ROOT / "target" / "release" / "peer_fmus", FMUS], check=True)
    for fmu in sorted(FMUS.glob("*.fmu")):
        problems = validate_fmu(str(fmu))
        if problems:
            raise SystemExit(f"{fmu.name} is not valid: {problems}")


def with_suffix(stem: Path, suffix: str) -> Path:
    return stem.with_name(stem.name + suffix)


def write(path: Path, rows: list) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(rows[0])])
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


def conclude(stem: Path) -> None:
    """The picture and the page, from whatever was measured under this date."""
    points = with_suffix(stem, "-accuracy.csv")
    rows = with_suffix(stem, "-overhead.csv")
    if points.exists():
        picture.draw(points, with_suffix(stem, ".svg"))
    if points.exists() and rows.exists():
        report.write(with_suffix(stem, "-machine.md"), rows, points, with_suffix(stem, ".md"))


if __name__ == "__main__":
    main()

"""What is run: FMUs, how they are connected, and what is compared. Every master gets the same."""

from dataclasses import asdict, dataclass, field
from pathlib import Path

Connection = tuple[str, str]  # "system.output", "system.input"


@dataclass(frozen=True)
class Coupled:
    """FMUs and their connections. Variables are named `system.variable`."""

    name: str
    fmus: dict[str, str]
    connections: list[Connection]
    stop_time: float
    observed: list[str]
    parameters: dict[str, float] = field(default_factory=dict)
    # Output and input of one side, output and input of the other, whose products are powers: for masters that watch these.
    power_bond: list[str] = field(default_factory=list)

    def as_json(self) -> dict:
        return asdict(self)

    @staticmethod
    def from_json(data: dict) -> "Coupled":
        connections = [(source, sink) for source, sink in data["connections"]]
        return Coupled(**{**data, "connections": connections})


def split(variable: str) -> tuple[str, str]:
    system, name = variable.split(".", 1)
    return system, name


def ring(folder: Path, kind: str, size: int, stop_time: float) -> Coupled:
    """`size` FMUs x' = u - x, each fed by the one before it. The sum of all x stays 1."""
    names = [f"s{i}" for i in range(size)]
    return Coupled(
        name=f"ring of {size}",
        fmus={name: str(folder / f"Ring-{kind}.fmu") for name in names},
        connections=[(f"{names[i - 1]}.x", f"{name}.u") for i, name in enumerate(names)],
        stop_time=stop_time,
        observed=[f"{name}.x" for name in names],
        parameters={"s0.x0": 1.0},
    )


def pairs(folder: Path) -> list[Coupled]:
    """The pairs on which error is set against cost. What is observed are all their states."""

    def fmu(name: str) -> str:
        return str(folder / f"{name}.fmu")

    two_masses = Coupled(
        name="two masses",
        fmus={"left": fmu("MechanicalLeft"), "right": fmu("MechanicalRight")},
        connections=[
            ("left.position", "right.position"),
            ("left.velocity", "right.velocity"),
            ("right.force", "left.force"),
        ],
        stop_time=2.0,
        observed=["left.x", "left.v", "right.x", "right.v"],
        power_bond=["left.velocity", "left.force", "right.force", "right.velocity"],
    )
    damping_reaction = Coupled(
        name="damping reaction",
        fmus={"body": fmu("Body"), "plate": fmu("Plate")},
        connections=[
            ("body.force", "plate.force"),
            ("plate.velocity", "body.velocity"),
            ("plate.position", "body.position"),
        ],
        stop_time=10.0,
        observed=["body.v", "body.x", "plate.x"],
        power_bond=["plate.velocity", "plate.force", "body.force", "body.velocity"],
    )
    lotka_volterra = Coupled(
        name="Lotka-Volterra",
        fmus={"prey": fmu("Prey"), "predator": fmu("Predator")},
        connections=[
            ("prey.population", "predator.prey"),
            ("predator.population", "prey.predators"),
        ],
        stop_time=20.0,
        observed=["prey.p", "predator.p"],
    )
    quarter_car = Coupled(
        name="quarter car",
        fmus={"wheel": fmu("Wheel"), "chassis": fmu("Chassis")},
        connections=[
            ("wheel.position", "chassis.position"),
            ("wheel.velocity", "chassis.velocity"),
            ("chassis.force", "wheel.force"),
        ],
        stop_time=2.0,
        observed=["wheel.x", "wheel.v", "chassis.x", "chassis.v"],
        power_bond=["wheel.velocity", "wheel.force", "chassis.force", "chassis.velocity"],
    )
    return [two_masses, damping_reaction, lotka_volterra, quarter_car]

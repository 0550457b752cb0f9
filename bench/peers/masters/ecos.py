"""Ecos, through ecospy: fixed steps, all FMUs in parallel (Jacobi), inputs held."""

from coupled import Coupled, split
from ecospy import EcosLib, EcosSimulation, EcosSimulationStructure


def identifier(variable: str) -> str:
    return "::".join(split(variable))


class Ecos:
    def __init__(self, coupled: Coupled, step: float) -> None:
        EcosLib.set_log_level("off")
        self.structure = EcosSimulationStructure()
        for name, path in coupled.fmus.items():
            self.structure.add_model(name, path)
        for source, sink in coupled.connections:
            self.structure.make_real_connection(identifier(source), identifier(sink))
        if coupled.parameters:
            values = {identifier(variable): value for variable, value in coupled.parameters.items()}
            self.structure.add_parameter_set("start", values)
        self.simulation = EcosSimulation(structure=self.structure, step_size=step)
        if not self.simulation.init(parameter_set="start" if coupled.parameters else None):
            raise RuntimeError(EcosLib.get_last_error())
        self.observed = [identifier(variable) for variable in coupled.observed]

    def advance(self, steps: int) -> None:
        self.simulation.step(steps)

    def time(self) -> float:
        return self.simulation.get_time()

    def values(self) -> list[float]:
        return [self.simulation.get_real(variable) for variable in self.observed]

    def close(self) -> None:
        self.simulation.terminate()
        self.simulation.free()

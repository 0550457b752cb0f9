"""libcosim, through libcosimpy: fixed steps with inputs held, or ECCO, which chooses steps by the power between systems."""

import fmpy
from coupled import Coupled, split
from libcosimpy.CosimAlgorithm import CosimAlgorithm, EccoParams
from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimLogging import CosimLogLevel, log_output_level
from libcosimpy.CosimObserver import CosimObserver
from libcosimpy.CosimSlave import CosimLocalSlave

NANOSECONDS = 1e9


class Libcosim:
    """Fixed steps of whole nanoseconds, or ECCO where a tolerance is given; `step` is then the first one."""

    def __init__(self, coupled: Coupled, step: float, ecco_tolerance: float | None = None) -> None:
        log_output_level(CosimLogLevel.FATAL)
        self.algorithm = None
        if ecco_tolerance is None:
            self.execution = CosimExecution.from_step_size(round(step * NANOSECONDS))
        else:
            self.algorithm = ecco(coupled, step, ecco_tolerance)
            self.execution = CosimExecution.from_algorithm(self.algorithm)
        self.slaves = []  # the execution does not keep them alive
        self.index = {}
        self.references = {}
        for name, path in coupled.fmus.items():
            slave = CosimLocalSlave(path, name)
            self.slaves.append(slave)
            self.index[name] = self.execution.add_local_slave(slave)
            description = fmpy.read_model_description(path, validate=False)
            self.references[name] = {v.name: v.valueReference for v in description.modelVariables}
        for source, sink in coupled.connections:
            self.execution.connect_real_variables(*self._locate(source), *self._locate(sink))
        for variable, value in coupled.parameters.items():
            self.execution.real_initial_value(*self._locate(variable), value)
        if self.algorithm is not None:
            ends = [self._locate(variable) for variable in coupled.power_bond]
            (one, output_of_one), (_, input_of_one), (other, output_of_other), (_, input_of_other) = ends
            self.algorithm.add_power_bond(one, output_of_one, input_of_one, other, output_of_other, input_of_other)
        self.observed = [self._locate(variable) for variable in coupled.observed]
        self.observer = None
        if self.algorithm is not None:
            self.observe()  # ECCO reads its power bond among observed variables only

    def _locate(self, variable: str) -> tuple[int, int]:
        system, name = split(variable)
        return self.index[system], self.references[system][name]

    def observe(self) -> None:
        """Has values kept from now on, which costs time."""
        if self.observer is not None:
            return
        self.observer = CosimObserver.create_last_value()
        self.execution.add_observer(self.observer)

    def advance(self, steps: int) -> None:
        if not self.execution.step(steps):
            raise RuntimeError(f"libcosim stopped at {self.time()} s: {self.execution.status()}")

    def time(self) -> float:
        return self.execution.status().current_time / NANOSECONDS

    def values(self) -> list[float]:
        if self.observer is None:
            raise RuntimeError("nothing is observed")
        return [self.observer.last_real_values(slave, [reference])[0] for slave, reference in self.observed]

    def close(self) -> None:
        del self.observer, self.execution, self.slaves


def ecco(coupled: Coupled, step: float, tolerance: float) -> CosimAlgorithm:
    parameters = EccoParams(
        step_size=step,
        min_step_size=coupled.stop_time / 50000,
        max_step_size=coupled.stop_time / 50,
        # These limit the ratio of a step to the one before. The defaults, 0.01 and 0.2, let steps shrink only.
        min_change_rate=0.2,
        max_change_rate=1.5,
        abs_tolerance=tolerance,
        rel_tolerance=tolerance,
    )
    return CosimAlgorithm.create_ecco_algorithm(parameters)

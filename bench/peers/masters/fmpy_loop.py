"""FMPy as it is mostly used for coupled FMUs: its classes for one FMU, and a loop in Python around them.

`order` is `jacobi` (all step with what all had at the start of the step), `gauss-seidel` (each reads what those before it have
just computed) or `slopes` (as jacobi, with inputs continued by the first derivatives of the outputs, which FMI 2 has).
"""

import shutil
from dataclasses import dataclass, field

import fmpy
from coupled import Coupled, split
from fmpy.fmi2 import FMU2Slave
from fmpy.fmi3 import FMU3Slave


@dataclass
class Unit:
    """An FMU, its value references, and where its inputs and outputs are among all exchanged values."""

    fmu: FMU2Slave | FMU3Slave
    references: dict[str, int]
    inputs: list[int] = field(default_factory=list)
    sources: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)


class FmpyLoop:
    def __init__(self, coupled: Coupled, step: float, order: str = "jacobi") -> None:
        self.step = step
        self.steps = 0
        self.take_step = {
            "jacobi": self._jacobi,
            "gauss-seidel": self._gauss_seidel,
            "slopes": self._slopes,
        }[order]
        self.folders = {path: fmpy.extract(path) for path in set(coupled.fmus.values())}
        by_name = {name: self._instantiate(name, path) for name, path in coupled.fmus.items()}
        self.units = list(by_name.values())
        self._connect(coupled, by_name)
        self._initialize(coupled, by_name)
        observed = [split(variable) for variable in coupled.observed]
        self.observed = [(by_name[system], [by_name[system].references[name]]) for system, name in observed]

    def _instantiate(self, name: str, path: str) -> Unit:
        description = fmpy.read_model_description(path, validate=False)
        self.is_fmi2 = description.fmiMajorVersion == 2
        fmu = (FMU2Slave if self.is_fmi2 else FMU3Slave)(
            guid=description.guid,
            unzipDirectory=self.folders[path],
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName=name,
        )
        fmu.instantiate()
        return Unit(fmu, {v.name: v.valueReference for v in description.modelVariables})

    def _connect(self, coupled: Coupled, by_name: dict[str, Unit]) -> None:
        position: dict[str, int] = {}
        for source, sink in coupled.connections:
            system, name = split(source)
            if source not in position:
                position[source] = len(position)
                by_name[system].outputs.append(by_name[system].references[name])
                by_name[system].targets.append(position[source])
            system, name = split(sink)
            by_name[system].inputs.append(by_name[system].references[name])
            by_name[system].sources.append(position[source])
        self.exchanged = [0.0] * len(position)
        self.derivatives = [0.0] * len(position)

    def _initialize(self, coupled: Coupled, by_name: dict[str, Unit]) -> None:
        for variable, value in coupled.parameters.items():
            system, name = split(variable)
            self._set(by_name[system].fmu, [by_name[system].references[name]], [value])
        for unit in self.units:
            if self.is_fmi2:
                unit.fmu.setupExperiment(startTime=0.0)
                unit.fmu.enterInitializationMode()
            else:
                unit.fmu.enterInitializationMode(startTime=0.0)
        for _ in range(2):  # once more for outputs with direct feedthrough
            for unit in self.units:
                self._read(unit)
            for unit in self.units:
                self._write(unit)
        for unit in self.units:
            unit.fmu.exitInitializationMode()
        for unit in self.units:
            self._read(unit)

    def _set(self, fmu, references: list[int], values: list[float]) -> None:
        (fmu.setReal if self.is_fmi2 else fmu.setFloat64)(references, values)

    def _get(self, fmu, references: list[int]) -> list[float]:
        return (fmu.getReal if self.is_fmi2 else fmu.getFloat64)(references)

    def _write(self, unit: Unit) -> None:
        self._set(unit.fmu, unit.inputs, [self.exchanged[source] for source in unit.sources])

    def _read(self, unit: Unit) -> None:
        for target, value in zip(unit.targets, self._get(unit.fmu, unit.outputs)):
            self.exchanged[target] = value

    def _jacobi(self, time: float) -> None:
        for unit in self.units:
            self._write(unit)
            unit.fmu.doStep(time, self.step)
        for unit in self.units:
            self._read(unit)

    def _gauss_seidel(self, time: float) -> None:
        for unit in self.units:
            self._write(unit)
            unit.fmu.doStep(time, self.step)
            self._read(unit)

    def _slopes(self, time: float) -> None:
        for unit in self.units:
            slopes = unit.fmu.getRealOutputDerivatives(unit.outputs, [1] * len(unit.outputs))
            for target, slope in zip(unit.targets, slopes):
                self.derivatives[target] = slope
        for unit in self.units:
            self._write(unit)
            slopes = [self.derivatives[source] for source in unit.sources]
            unit.fmu.setRealInputDerivatives(unit.inputs, [1] * len(unit.inputs), slopes)
            unit.fmu.doStep(time, self.step)
        for unit in self.units:
            self._read(unit)

    def advance(self, steps: int) -> None:
        for _ in range(steps):
            self.take_step(self.steps * self.step)
            self.steps += 1

    def time(self) -> float:
        return self.steps * self.step

    def values(self) -> list[float]:
        return [self._get(unit.fmu, reference)[0] for unit, reference in self.observed]

    def close(self) -> None:
        for unit in self.units:
            unit.fmu.terminate()
            unit.fmu.freeInstance()
        for folder in self.folders.values():
            shutil.rmtree(folder, ignore_errors=True)

"""FMPy's container FMU: the FMUs, their connections and a compiled master in one FMU with a fixed inner step.

One step of the container takes any number of inner steps, so that no Python runs between them. `parallel` has the FMUs step in
threads.
"""

import shutil
import tempfile
from pathlib import Path

import attrs
import fmpy
from coupled import Coupled, split
from fmpy.container_fmu.cli import create_container_fmu
from fmpy.container_fmu.config import Component, Configuration, Connection
from fmpy.fmi2 import FMU2Slave
from fmpy.fmi3 import FMU3Slave
from fmpy.model_description import CoSimulation, DefaultExperiment, ModelDescription, ModelVariable, Unknown

TOKEN = "{container}"


def find(components: dict[str, Component], variable: str) -> tuple[Component, ModelVariable]:
    system, name = split(variable)
    component = components[system]
    return component, next(v for v in component.modelDescription.modelVariables if v.name == name)


def mapped_variables(coupled: Coupled, components: dict[str, Component]) -> dict[ModelVariable, list]:
    """Variables of the container, each with that of a component: outputs to observe, and parameters with their values."""
    mappings = {}
    for name in coupled.observed:
        component, inner = find(components, name)
        outer = ModelVariable(
            name=name, type=inner.type, causality="output", variability="continuous", initial="calculated"
        )
        mappings[outer] = [(component, inner)]
    for name, value in coupled.parameters.items():
        component, inner = find(components, name)
        outer = ModelVariable(
            name=name, type=inner.type, causality="parameter", variability="fixed", initial="exact", start=repr(value)
        )
        mappings[outer] = [(component, inner)]
    return mappings


def connect(coupled: Coupled, components: dict[str, Component]) -> list[Connection]:
    connections = []
    for source, sink in coupled.connections:
        from_component, output = find(components, source)
        to_component, input_ = find(components, sink)
        connections.append(Connection(from_component, [connector(output)], to_component, [connector(input_)]))
    return connections


def connector(variable: ModelVariable) -> ModelVariable:
    """The configuration of a container has types of FMI 3, also where the FMUs are of FMI 2."""
    return attrs.evolve(variable, type="Float64")


def describe(variables: list[ModelVariable], version: str, step: float) -> ModelDescription:
    outputs = [variable for variable in variables if variable.causality == "output"]
    return ModelDescription(
        fmiVersion=version,
        modelName="container",
        instantiationToken=TOKEN,
        coSimulation=CoSimulation(
            modelIdentifier="container_fmu", fixedInternalStepSize=step, canHandleVariableCommunicationStepSize=True
        ),
        defaultExperiment=DefaultExperiment(startTime="0"),
        modelVariables=variables,
        outputs=[Unknown(variable=variable) for variable in outputs],
        initialUnknowns=[Unknown(variable=variable) for variable in outputs],
    )


class FmpyContainer:
    def __init__(self, coupled: Coupled, step: float, parallel: bool = False) -> None:
        self.step = step
        self.steps = 0
        self.folder = Path(tempfile.mkdtemp())
        configuration = self._configuration(coupled, step, parallel)
        path = self.folder / "container.fmu"
        (self.folder / "contents").mkdir()
        create_container_fmu(configuration, self.folder / "contents", path)
        self._start(path)

    def _configuration(self, coupled: Coupled, step: float, parallel: bool) -> Configuration:
        descriptions = {path: fmpy.read_model_description(path, validate=False) for path in set(coupled.fmus.values())}
        components = {
            name: Component(name=name, filename=Path(path), modelDescription=descriptions[path])
            for name, path in coupled.fmus.items()
        }
        mappings = mapped_variables(coupled, components)
        version = next(iter(descriptions.values())).fmiVersion
        self.is_fmi2 = version.startswith("2")
        # The first value reference is that of the time.
        self.outputs = [1 + at for at, mapped in enumerate(mappings) if mapped.causality == "output"]
        return Configuration(
            parallelDoStep=parallel,
            modelDescription=describe(list(mappings), version, step),
            components=list(components.values()),
            connections=connect(coupled, components),
            variableMappings=mappings,
        )

    def _start(self, path: Path) -> None:
        unpacked = fmpy.extract(str(path), unzipdir=str(self.folder / "unpacked"))
        self.fmu = (FMU2Slave if self.is_fmi2 else FMU3Slave)(
            guid=TOKEN,
            unzipDirectory=unpacked,
            modelIdentifier="container_fmu",
            instanceName="container",
        )
        self.fmu.instantiate()
        if self.is_fmi2:
            self.fmu.setupExperiment(startTime=0.0)
            self.fmu.enterInitializationMode()
        else:
            self.fmu.enterInitializationMode(startTime=0.0)
        self.fmu.exitInitializationMode()

    def advance(self, steps: int) -> None:
        self.fmu.doStep(self.steps * self.step, steps * self.step)
        self.steps += steps

    def time(self) -> float:
        return self.steps * self.step

    def values(self) -> list[float]:
        get = self.fmu.getReal if self.is_fmi2 else self.fmu.getFloat64
        return get(self.outputs)

    def close(self) -> None:
        self.fmu.terminate()
        self.fmu.freeInstance()
        shutil.rmtree(self.folder, ignore_errors=True)

"""Uses of the package as a type checker sees them: mypy reads this file, nobody runs it."""

import numpy as np
import numpy.typing as npt

import dovetail


class Plant:
    states = {"x": 1.0}
    output_names = ["y"]

    def derivatives(self, t: float, x: npt.NDArray[np.float64], u: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return -x

    def outputs(self, t: float, x: npt.NDArray[np.float64], u: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return x


def use() -> float:
    model = dovetail.Model(stop_time=1.0).add_system("plant", Plant)
    result: dovetail.Result = dovetail.run(model, method="predictive", tolerance=1e-6, record=["plant.*"])
    column: npt.NDArray[np.float64] = result["plant.x"]
    names: list[str] = result.warnings
    runs: list[dict[str, object]] = dovetail.compare(model, method=["jacobi"], step=[0.1, 0.05], reference=result)
    table = dovetail.sweep("model.toml", vary={"plant.k": "1:2:3"}, keep="final")
    with dovetail.Session(model, rewind=True, step=0.1) as session:
        session.set({"plant.u": 1.0})
        value: float = session["plant.x"]
    print(runs, table["plant.k"], value, dovetail.check(model)["methods"], dovetail.inspect(model)["systems"])
    try:
        dovetail.run("model.toml", set={"plant.k": 2.0}, inputs={"time": [0.0], "plant.u": [1.0]})
    except dovetail.RunError as error:
        time: float | None = error.time
        rows: dovetail.Result | None = error.result
        print(time, rows, error.remedy)
    return float(column[-1]) + len(names)

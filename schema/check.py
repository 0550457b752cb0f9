"""Validates model files with the JSON schema, and sees that typical mistakes are found.

usage: check.py dovetail.schema.json MODEL.toml...
"""

import copy
import json
import sys
import tomllib
from pathlib import Path

import jsonschema


def mistakes(model):
    """The same model with one mistake each."""
    changes = {
        "an unknown table": lambda m: m.update({"conections": []}),
        "an unknown key of a system": lambda m: first(m).update({"params": {}}),
        "a stop time as text": lambda m: m["model"].update({"stop-time": "20"}),
        "a connection without a target": lambda m: m.setdefault("connections", []).append({"from": "a.b"}),
        "a connection without a dot": lambda m: m.setdefault("connections", []).append({"from": "a", "to": "b.c"}),
        "an unknown method": lambda m: m.update({"method": {"name": "jakobi"}}),
        "a negative step": lambda m: m.update({"method": {"step": -1.0}}),
        "an unknown option": lambda m: m.update({"method": {"stepp": 1.0}}),
        "an output that is a number": lambda m: first(m).update({"outputs": {"y": 1.0}}),
        "no header": lambda m: m.pop("model"),
    }
    for name, change in changes.items():
        wrong = copy.deepcopy(model)
        change(wrong)
        yield name, wrong


def first(model):
    return next(iter(model["systems"].values()))


schema = json.loads(Path(sys.argv[1]).read_text())
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
for path in sys.argv[2:]:
    model = tomllib.loads(Path(path).read_text().replace("= NAME\n", '= "name"\n'))
    for error in validator.iter_errors(model):
        sys.exit(f"{path}: {'.'.join(map(str, error.absolute_path))}: {error.message}")
    for name, wrong in mistakes(model):
        if validator.is_valid(wrong):
            sys.exit(f"{path}: {name} is not found")
print(f"{len(sys.argv) - 2} models keep to the schema, and every mistake is found")

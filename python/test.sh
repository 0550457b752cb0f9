#!/usr/bin/env bash
# The Python package: its wheel is built and installed in a fresh virtual environment under target/, types are checked, and its
# tests, notebooks and the examples of its chapter in the manual are run. It builds as `cargo build` does;
# `DOVETAIL_PROFILE=release` builds what users get.
set -euo pipefail
cd "$(dirname "$0")/.."

environment=target/python-package
rm -rf "$environment"
python3 -c 'import venv, ensurepip' 2> /dev/null || apt-get install -y -qq --no-install-recommends python3 python3-venv > /dev/null
python3 -m venv "$environment"
python=$environment/bin/python
pip() { "$python" -m pip --quiet --disable-pip-version-check "$@"; }

export CARGO_TARGET_DIR=$PWD/target
export DOVETAIL_PROFILE=${DOVETAIL_PROFILE:-dev}
pip install ./python
(cd / && "$OLDPWD/$python" -c 'import dovetail; print("dovetail", dovetail.__version__, "needs numpy alone")')
pip install pytest mypy pandas matplotlib
(cd python && "../$python" -m mypy)
"$python" -m pytest -q -p no:cacheprovider python/tests "$@"

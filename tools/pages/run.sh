#!/usr/bin/env bash
# Checks the report pages in a headless browser: tools/pages/run.sh PROGRAM
# Installs what it needs: Debian's Chromium, and the packages of package.json.
set -euo pipefail
program=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$root/target/pages
mkdir -p "$work"

install() {
    local root=()
    [ "$(id -u)" -eq 0 ] || root=(sudo)
    "${root[@]}" apt-get update -qq
    DEBIAN_FRONTEND=noninteractive "${root[@]}" apt-get install -y -qq --no-install-recommends "$@" > /dev/null
}
command -v chromium > /dev/null || install chromium
command -v npm > /dev/null || install nodejs npm
cp "$here"/package.json "$here"/*.mjs "$here"/eslint.config.js "$work"
(cd "$work" && npm install --silent --no-audit --no-fund --no-package-lock)

examples=$root/examples
"$program" run "$examples/mechanical/model.toml" --report "$work/run.html" --quiet
"$program" run "$examples/mechanical/model.toml" --method jacobi --step 0.01 --report "$work/diverged.html" --quiet 2> /dev/null || true
"$program" run "$here/events.toml" --report "$work/events.html" --quiet
"$program" compare "$examples/lotka-volterra/model.toml" --method jacobi predictive --tolerance 1e-4,1e-6 --report "$work/compare.html" --quiet
"$program" enclose "$examples/rooms/model.toml" --report "$work/enclose.html" --samples 4 --quiet
"$program" run "$here/million.toml" --method jacobi --step 1.1e-5 --report "$work/million.html" --quiet
cd "$work"
timeout 240 node check.mjs .
timeout 180 node live.mjs "$program" "$examples"
node lint.mjs run.html compare.html enclose.html live.html

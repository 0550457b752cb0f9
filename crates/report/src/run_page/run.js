// The page of a run: sections are filled from `data`, again where the page is live.

let times, variables, events, figure, list, solver, orbits;
/** What the sections hold before a run is drawn. */
const FILLED = ["list", "figure", "graph", "time", "solverfigure", "orbitfigure", "systems", "notes"];
const blank = new Map(FILLED.map(id => [id, [...get(id).childNodes]]));

const asCurve = v => ({ ...v, x: times, y: decode(v.values), error: v.error && decode(v.error) });

/** Fills all sections from `data`. Figures that share their range and cursor with these are given by `together`. */
function drawRun(together) {
  for (const [id, nodes] of blank) get(id).replaceChildren(...nodes);
  forgetFigures();
  heading("a run", `${number(data.start)} to ${number(data.stop)} ${data.timeUnit}`);
  verdict();
  factTiles(get("facts"), data.facts);

  times = decode(data.time);
  events = data.events;
  variables = data.variables.map(asCurve);
  figure = newFigure(get("figure"), {
    group: together,
    label: "time",
    unit: data.timeUnit,
    span: [data.start, data.stop],
    events,
    quantities: QUANTITIES,
    name: "Results",
  });
  list = variableList(get("list"), variables, figure);
  viewChoices();
  structure();
  timeSpent();
  solver = solverSignals(together);
  orbits = orbitFigure();
  systemsTable();
  commandBox(get("command"), data.command);
  get("notes").append(...data.notes.map(text => el("li", {}, ...withCode(text))));
  window.page = { figure, solver, orbits, list, variables };
}

/** Whether the run is still under way, on a live page. */
function isRunning() {
  return data.verdict.level === "running";
}

/** How large the error is beside what it belongs to, at most. */
function largestShare() {
  const span = column => {
    const [low, high] = extent(column, 0, column.length);
    return high - low;
  };
  const known = variables.filter(v => v.error);
  return Math.max(
    0,
    ...known.map(v => extent(v.error.map(Math.abs), 0, v.error.length)[1] / span(v.y)).filter(Number.isFinite),
  );
}

/** Bands are drawn in their true size; magnified, they show where an error is made. */
function viewChoices() {
  const share = largestShare();
  const magnified = 10 ** Math.max(1, Math.floor(Math.log10(0.12 / share)));
  const about = {
    0: "",
    1: "Bands are the method's error estimate in true size. ",
    [magnified]: `Bands are the error estimate magnified ${count(magnified)} times. `,
  };
  const remark = el("p", { class: "remark" });
  const note = size => {
    const unknown = isRunning() ? "" : "This method estimates no error, so no band is drawn. ";
    const band = share ? about[size] : unknown;
    remark.textContent = band + (events.length ? "Dotted lines mark events; values there jump." : "");
  };
  const bands = [
    [0, "off"],
    [1, "true size"],
    [magnified, `×${count(magnified)}`],
  ];
  const panels = [
    ["unit", "by unit"],
    ["one", "one each"],
  ];
  const setBand = size => {
    figure.band = +size;
    figure.draw();
    note(+size);
  };
  figure.tools.append(
    el(
      "div",
      { class: "choices" },
      share > 0 && choice("Error band", bands, 1, setBand),
      choice("Panels", panels, "unit", v => figure.split(v === "one")),
    ),
  );
  note(1);
  get("figure").append(remark);
}

function structure() {
  leaveOut("structure", !data.systems.length);
  if (!data.systems.length) return;
  drawStructure(get("graph"), data, name => list.toggle(name));
  const sample = kind =>
    el(
      "svg",
      { width: 30, height: 10, viewBox: "0 0 30 10", "aria-hidden": "true" },
      el("path", { d: "M0 5H30", class: kind }),
    );
  const loops = data.loops.map(members => members.join(" ↔ "));
  const keys = [];
  if (data.connections.length) keys.push(el("span", {}, sample("wire"), "connection"));
  else get("structure").querySelector("header p").remove();
  if (data.systems.some(s => s.feedthrough.length))
    keys.push(el("span", {}, sample("through"), "feedthrough inside a system"));
  if (loops.length)
    keys.push(el("span", { class: "edge loop" }, sample("wire"), `feedthrough loop: ${loops.slice(0, 4).join("; ")}`));
  if (keys.length) get("graph").append(el("p", { class: "key" }, ...keys));
}

function timeSpent() {
  const inside = data.systems.reduce((sum, s) => sum + s.seconds, 0);
  const part = s => `${duration(s)}, ${number((100 * s) / data.wall, 2)} %`;
  const coupling = Math.max(0, data.wall - inside);
  const slowest = [...data.systems].sort((a, b) => b.seconds - a.seconds).slice(0, 12);
  const entries = slowest.map(s => ({ name: s.name, value: s.seconds, text: part(s.seconds) }));
  const left = data.systems.length - slowest.length;
  barChart(get("time"), [{ name: "coupling", value: coupling, text: part(coupling), quiet: true }, ...entries]);
  const more = left > 0 ? ` The ${left} other systems took less; the table below has them.` : "";
  const parallel = inside > data.wall ? " Systems ran at the same time: their times add up to more than that." : "";
  get("time").append(
    el(
      "p",
      { class: "remark" },
      `${duration(data.wall)} in all. Coupling is everything outside the systems: prediction, linear algebra, recording.${parallel}${more}`,
    ),
  );
}

/** One variable over another, both to be chosen. */
function orbitFigure() {
  leaveOut("orbit", variables.length < 2);
  if (variables.length < 2) return null;
  const moves = variables.filter(v => v.shown && new Set(v.y.subarray(0, 1000)).size > 2);
  const chosen = (moves.length > 1 ? moves : variables).slice(0, 2);
  const made = newFigure(get("orbitfigure"), {
    scatter: true,
    orbit: true,
    name: "Orbit",
    tip: ({ y }, i) => [
      el("b", {}, `t = ${number(times[i])} ${data.timeUnit}`),
      `${chosen[0].name} ${number(chosen[0].y[i])}`,
      el("br"),
      `${chosen[1].name} ${number(y[i])}`,
    ],
  });
  const label = ({ name, unit }) => (unit && unit !== "1" ? `${name} [${unit}]` : name);
  const show = () => {
    made.clear();
    made.options.label = label(chosen[0]);
    const { name, unit, y } = chosen[1];
    made.add({ name, unit, title: name, x: chosen[0].y, y, index: 0 });
    made.reset();
  };
  const choose = (place, text) => {
    const options = variables.map(v => el("option", { value: v.name, selected: v === chosen[place] }, v.name));
    const select = el("select", { "aria-label": text }, ...options);
    select.addEventListener("change", () => {
      chosen[place] = variables.find(v => v.name === select.value);
      show();
    });
    return el("label", { class: "pick" }, text, " ", select);
  };
  made.clock.remove();
  made.tools.append(el("div", { class: "choices" }, choose(0, "across"), choose(1, "upwards")));
  get("orbit").ontoggle = () => made.draw();
  show();
  return made;
}

function solverSignals(together) {
  leaveOut("solver", !data.solver.length);
  if (!data.solver.length) return null;
  const made = newFigure(get("solverfigure"), {
    group: together,
    label: "time",
    unit: data.timeUnit,
    events,
    name: "Solver signals",
  });
  for (const v of data.solver) made.add(asCurve(v));
  get("solverline").textContent = data.solverLine;
  get("solver").ontoggle = () => made.draw();
  return made;
}

function systemsTable() {
  const heads = ["System", "Given as", "States", "Inputs", "Outputs", "Integrations", "Linearizations", "Time"];
  const cells = s => [
    s.name,
    s.kind,
    s.states,
    s.inputs.length,
    s.outputs.length,
    count(s.integrations),
    count(s.linearizations),
    duration(s.seconds),
  ];
  const side = i => (i < 2 ? "l" : null);
  const row = s => el("tr", {}, ...cells(s).map((text, i) => el("td", { class: side(i) }, String(text))));
  get("systems").append(
    el("thead", {}, el("tr", {}, ...heads.map((text, i) => el("th", { scope: "col", class: side(i) }, text)))),
    el("tbody", {}, ...data.systems.map(row)),
  );
}

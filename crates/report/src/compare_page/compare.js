// The page of a comparison.

/** Marks and colors by which methods are known on the whole page. */
const LOOKS = {
  predictive: [1, "diamond"],
  jacobi: [0, "circle"],
  "gauss-seidel": [2, "square"],
  f3ornits: [3, "triangle"],
  ifosmondi: [4, "down"],
  missiles: [6, "bar"],
};
const SPARE = [
  [5, "circle"],
  [7, "square"],
];
const look = method => LOOKS[method] || SPARE[method.length % SPARE.length];

/** Larger errors, in percent, are drawn here. */
const WORST = 300;
/** So many runs are drawn at first. */
const AT_FIRST = 5;
const COSTS = {
  integrations: ["integrations of all systems", run => run.integrations],
  steps: ["steps", run => run.steps],
  wall: ["run time [ms]", run => run.wall * 1e3],
};
const MARKUPS = [
  ["markdown", "Markdown"],
  ["latex", "LaTeX"],
  ["csv", "CSV"],
];

const runs = data.runs;
const measured = runs.filter(run => run.worst !== null);
const label = run => [run.method, run.setting].filter(Boolean).join(", ");
const percent = value => (value == null ? "–" : `${number(value, value > 100 ? 2 : 3)} %`);
const ticked = new Set();
let variable = data.variables[0]?.name;

const methods = new Set(runs.map(run => run.method));
heading(
  "methods compared",
  `${number(data.start)} to ${number(data.stop)} ${data.timeUnit}`,
  `${runs.length} runs, ${methods.size} methods`,
);
verdict();
get("measure").textContent = `Of all variables the worst: ${data.measureText}.`;
cheapest();
get("reference").textContent = data.referenceText;
commandBox(get("command"), data.command);
const scatter = errorAndCost();
const figure = trajectories();
table();
copies();
for (const run of firstChoice()) tick(run, true);
themeSwitch(get("theme"));
window.page = { scatter, figure };

/** The cheapest run for each of some accuracies. */
function cheapest() {
  const tile = goal => {
    const able = measured.filter(run => run.worst <= goal).sort((a, b) => a.integrations - b.integrations);
    const best = able[0];
    const costs = best && `${count(best.integrations)} integrations, ${duration(best.wall)}`;
    const remark = best ? [best.setting, costs].filter(Boolean).join(": ") : "no run is this accurate";
    return [`Error below ${number(goal)} %`, best ? best.method : "none", remark];
  };
  factTiles(get("goal"), [1, 1e-2, 1e-4, 1e-6].map(tile));
}

/** Errors against costs, on logarithmic axes. */
function errorAndCost() {
  const made = newFigure(get("scatter"), {
    scatter: true,
    x: { log: true },
    log: true,
    name: "Error against cost",
    label: COSTS.integrations[0],
    zones: [{ from: 100, to: 1e9, text: "unusable: error above 100 %" }],
    tip: (curve, i) => tip(curve.runs[i]),
    onPick: (curve, i) => tick(curve.runs[i], !ticked.has(curve.runs[i])),
  });
  const costs = [
    ["integrations", "integrations"],
    ["steps", "steps"],
    ["wall", "time"],
  ];
  const show = cost => points(made, cost);
  made.tools.append(el("div", { class: "choices" }, choice("Cost", costs, "integrations", show)));
  made.clock.remove();
  show("integrations");
  return made;
}

function tip(run) {
  const costs = `${count(run.integrations)} integrations, ${count(run.steps)} steps, ${duration(run.wall)}`;
  return [el("b", {}, label(run)), `error ${percent(run.worst)}`, el("br"), costs];
}

function points(scatter, cost) {
  const [name, value] = COSTS[cost];
  scatter.clear();
  for (const series of seriesOf(measured.filter(run => value(run) > 0 && run.worst > 0))) {
    series.sort((a, b) => value(a) - value(b));
    const { method, kind } = series[0];
    const [index, shape] = look(method);
    const open = kind === "adaptive";
    scatter.add({
      name: method + (open ? ", chosen steps" : ""),
      runs: series,
      panel: "error",
      title: `error (${data.measure})`,
      unit: "%",
      log: true,
      x: Float64Array.from(series, value),
      y: Float64Array.from(series, run => Math.min(WORST, run.worst)),
      index,
      shape,
      open,
      dash: open ? [5, 4] : [],
    });
  }
  scatter.options.label = name;
  for (const curve of scatter.curves)
    curve.readout.textContent = `${percent(Math.min(...curve.runs.map(run => run.worst)))} at best`;
  scatter.reset();
}

/** Runs of one method that differ in how fine they are: a line through their marks. */
function seriesOf(some) {
  const all = new Map();
  for (const run of some) {
    const key = `${run.method} ${run.kind} ${run.variant}`;
    if (!all.has(key)) all.set(key, []);
    all.get(key).push(run);
  }
  return all.values();
}

function trajectories() {
  const made = newFigure(get("figure"), {
    label: "time",
    unit: data.timeUnit,
    name: "Trajectories",
    order: ["value", "difference"],
  });
  const names = data.variables.map(v => el("option", { value: v.name }, v.name));
  const chosen = el("select", { "aria-label": "Variable" }, ...names);
  chosen.addEventListener("change", () => {
    variable = chosen.value;
    drawRuns(made);
  });
  if (names.length > 1) made.tools.append(el("label", { class: "choices pick" }, "Variable", chosen));
  return made;
}

/** The reference, and the runs that are ticked over it. */
function drawRuns(made) {
  made.clear();
  const known = data.variables.find(v => v.name === variable);
  if (!known) return;
  const { unit } = known;
  const exact = data.reference;
  made.add({
    name: "reference",
    title: variable,
    panel: "value",
    unit,
    x: decode(exact.time),
    y: decode(exact.values[variable]),
    index: 0,
    ink: "--reference",
    dash: [],
    width: 5,
    under: 1,
  });
  for (const run of ticked) {
    const shared = { name: label(run), unit, x: decode(run.time), index: look(run.method)[0] };
    shared.dash = run.kind === "adaptive" ? [7, 4] : [];
    made.add({ ...shared, title: variable, panel: "value", y: decode(run.values[variable]) });
    const distance = decode(run.differences[variable]).map(d => Math.abs(d) || NaN);
    made.add({ ...shared, title: "|difference from the reference|", panel: "difference", log: true, y: distance });
  }
}

/** Of each method the most accurate run. */
function firstChoice() {
  const best = new Map();
  for (const run of measured) {
    const known = best.get(run.method);
    if (!known || run.worst < known.worst) best.set(run.method, run);
  }
  return [...best.values()].sort((a, b) => a.worst - b.worst).slice(0, AT_FIRST);
}

function tick(run, on) {
  if (on) ticked.add(run);
  else ticked.delete(run);
  run.box.checked = on;
  run.row.setAttribute("aria-selected", String(on));
  drawRuns(figure);
}

function table() {
  const heads = ["Method", "Setting", "Steps", "Rejected", "Integrations", "Time", "Worst error"];
  const names = data.variables.map(v => v.name);
  const head = (text, i) => el("th", { scope: "col", class: i === 1 ? "l" : null }, text);
  get("runs").replaceChildren(
    el("thead", {}, el("tr", {}, ...[...heads, ...names].map(head))),
    el("tbody", {}, ...runs.map(row)),
  );
  sortable(get("runs"));
}

function row(run) {
  const cell = (value, text, side) => el("td", { "data-value": value, class: side }, ...[text].flat());
  run.box = el("input", {
    type: "checkbox",
    "aria-label": "Draw " + label(run),
    onchange: () => tick(run, run.box.checked),
  });
  const worst = run.worst > 100 || run.trouble ? [el("span", { class: "tag bad" }, "unusable"), " "] : [];
  run.row = el(
    "tr",
    { title: run.trouble },
    cell(run.method, [el("label", {}, run.box, " ", mark(run), run.method)]),
    cell(run.fineness, run.setting, "l"),
    cell(run.steps, count(run.steps)),
    cell(run.rejected, count(run.rejected)),
    cell(run.integrations, count(run.integrations)),
    cell(run.wall, duration(run.wall)),
    cell(run.worst ?? Infinity, [...worst, percent(run.worst)]),
    ...data.variables.map(v => cell(run.error[v.name] ?? Infinity, percent(run.error[v.name]))),
  );
  return run.row;
}

function mark(run) {
  const color = `var(--c${look(run.method)[0] + 1})`;
  const fill = run.kind === "fixed" ? color : "none";
  return el(
    "svg",
    { class: "swatch", width: 12, height: 12, viewBox: "0 0 12 12", "aria-hidden": "true" },
    el("rect", { x: 1, y: 1, width: 10, height: 10, rx: 3, style: `fill:${fill};stroke:${color};stroke-width:2` }),
  );
}

/** The table as text for a paper. */
function copies() {
  const copy = async kind => {
    const button = get("copy").querySelector(`[data-value=${kind}]`);
    const name = button.textContent;
    try {
      await navigator.clipboard.writeText(data.tables[kind]);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed";
    }
    setTimeout(() => {
      button.textContent = name;
      button.setAttribute("aria-pressed", "false");
    }, 1500);
  };
  get("copy").append(choice("Copy as", MARKUPS, "", copy));
}

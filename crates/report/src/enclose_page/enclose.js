// The page of an enclosure.

/** From so many bands on they are told apart by pointing at their names. */
const MANY = 5;

heading("bounds", `${number(data.start)} to ${number(data.stop)} ${data.timeUnit}`);
verdict();
factTiles(get("facts"), data.facts);
const explained = "Strong band: at the printed times. Faint steps behind it: at all times between.";
const advice = data.variables.length >= MANY ? " Point at a name to lift one band out." : "";
get("explain").textContent = explained + advice;

const together = newGroup();
const shades = data.reached < data.stop ? [{ from: data.reached, to: data.stop, text: "not reached" }] : [];
const options = {
  group: together,
  label: "time",
  unit: data.timeUnit,
  quantities: QUANTITIES,
  shades,
  span: [data.start, data.stop],
};
const variables = data.variables.map(band);
const samples = data.samples.map(run => ({ x: decode(run.time), values: run.values }));
const figure = newFigure(get("figure"), { ...options, name: "Bounds" });
const widths = newFigure(get("widths"), { ...options, name: "Widths" });
let sampled = samples.length > 0;
bands();
viewChoices();
widthCurves();
requirements();
table();
if (data.systems.length) drawStructure(get("graph"), data);
else leaveOut("structure");
commandBox(get("command"), data.command);
get("notes").append(...data.notes.map(text => el("li", {}, ...withCode(text))));
themeSwitch(get("theme"));
window.page = { figure, widths };

/** The bounds of a variable: at times, and over spans. */
function band(v, index) {
  const closed = column => Float64Array.from([...column, column[column.length - 1]]);
  const to = decode(v.spans.to);
  const span = {
    x: Float64Array.from([...decode(v.spans.from), ...to.slice(-1)]),
    lower: closed(decode(v.spans.lower)),
    upper: closed(decode(v.spans.upper)),
  };
  return { ...v, x: decode(v.time), lower: decode(v.lower), upper: decode(v.upper), span, index };
}

function bands() {
  figure.clear();
  const alone = data.variables.every(v => !v.unit);
  for (const v of variables) {
    const inside = sampled
      ? samples.filter(s => s.values[v.name]).map(s => ({ x: s.x, y: decode(s.values[v.name]) }))
      : [];
    const title = figure.options.split ? v.name : alone ? "all states" : null;
    const panel = figure.options.split ? v.name : v.unit || "without a unit";
    figure.add({ ...v, panel, title, inside });
  }
  get("figure").classList.toggle("tall", figure.panels.length === 1);
  get("figure").classList.toggle("mid", figure.panels.length === 2);
}

function viewChoices() {
  const panels = [
    ["unit", "by unit"],
    ["one", "one each"],
  ];
  const split = value => {
    figure.options.split = value === "one";
    bands();
  };
  const runs = [
    ["", "off"],
    ["on", String(samples.length)],
  ];
  const sample = value => {
    sampled = value === "on";
    bands();
  };
  const tools = el("div", { class: "choices" });
  if (variables.length > 1) tools.append(choice("Panels", panels, "unit", split));
  if (samples.length) tools.append(choice("Sampled runs", runs, "on", sample));
  figure.tools.append(tools);
}

function widthCurves() {
  for (const v of variables) {
    const y = v.upper.map((upper, k) => upper - v.lower[k] || NaN);
    const panel = `width ${v.unit || ""}`;
    widths.add({ name: v.name, title: "width", panel, unit: v.unit, log: true, x: v.x, y, index: v.index });
  }
}

function requirements() {
  if (!data.requirements.length) return leaveOut("requirements");
  const level = { proved: "good", violated: "bad", undecided: "note" };
  const tag = answer => el("span", { class: `tag ${level[answer] || "note"}` }, answer);
  const row = r =>
    el(
      "tr",
      {},
      el("td", {}, el("code", {}, r.text)),
      el("td", { class: "l" }, tag(r.answer)),
      el("td", { class: "l" }, r.remark),
    );
  get("answers").append(
    el("thead", {}, el("tr", {}, ...["Requirement", "Answer", ""].map(t => el("th", { scope: "col", class: "l" }, t)))),
    el("tbody", {}, ...data.requirements.map(row)),
  );
  return undefined;
}

function table() {
  const heads = ["Variable", "Starts in", "Ends in", "Width at the end", "Largest width", "End / start"];
  const interval = ([low, high]) => `[${number(low, 6)}, ${number(high, 6)}]`;
  const cell = (value, text) => el("td", { "data-value": value }, text);
  const row = v => {
    const last = v.lower.length - 1;
    const [first, end] = [0, last].map(k => [v.lower[k], v.upper[k]]);
    const [before, after] = [first, end].map(([low, high]) => high - low);
    const largest = v.lower.reduce((most, low, k) => Math.max(most, v.upper[k] - low), 0);
    return el(
      "tr",
      {},
      cell(v.name, v.name),
      cell(first[0], interval(first)),
      cell(end[0], interval(end)),
      cell(after, number(after, 3)),
      cell(largest, number(largest, 3)),
      cell(after / before, number(after / before, 3)),
    );
  };
  const known = variables.filter(v => v.lower.length);
  get("rows").replaceChildren(
    el("thead", {}, el("tr", {}, ...heads.map(text => el("th", { scope: "col" }, text)))),
    el("tbody", {}, ...known.map(row)),
  );
  sortable(get("rows"));
}

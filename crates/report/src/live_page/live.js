
// A page that is served: runs come as they are made.

const group = newGroup();
/** The newest run: { id, label, columns, rows, running }. */
let now = { id: 0, label: "" };
/** What the user has ticked or unticked, and hidden in a legend, by name. */
const ticked = new Map();
const hidden = new Set();
let pulses = 0;

heading("a live run");
// What is changed and what it changes are seen together.
get("figure").before(el("div", { class: "column" }, get("settings"), get("list")));
get("results").after(get("facts"));
themeSwitch(get("theme"));
for (const id of ["structure", "model", "solver", "orbit"]) leaveOut(id);
controls(askForRun, () => post("stop", {}));
if (matchMedia("(max-width: 1080px)").matches) get("list").open = false;
if (matchMedia("(max-width: 720px)").matches && settable.length > 8) get("changes").open = false;
say("running", "Connecting to the program …");
listen();

function say(level, title, ...text) {
  verdictBanner(get("verdict"), level, title, ...text);
}

async function post(what, request) {
  const headers = { "Content-Type": "application/json" };
  try {
    const answer = await fetch(what, { method: "POST", headers, body: JSON.stringify(request) });
    if (!answer.ok) say("ended", "The run was not begun.", await answer.text());
  } catch {
    gone();
  }
}

function askForRun(request) {
  get("run").disabled = true;
  post("run", request).finally(() => (get("run").disabled = false));
}

function listen() {
  const events = new EventSource("events");
  const on = (name, act) => events.addEventListener(name, event => act(JSON.parse(event.data)));
  on("asked", asked);
  on("begun", begun);
  on("rows", grow);
  on("over", over);
  on("end", () => {
    events.close();
    gone();
  });
  events.addEventListener("error", gone);
  events.addEventListener("open", () => busy(now.running));
}

function gone() {
  busy(false);
  get("run").disabled = true;
  get("state").textContent = "The program has ended, or cannot be reached. What it has sent stays.";
}

function busy(running) {
  now.running = running;
  get("run").disabled = false;
  get("run").textContent = running ? "Run anew" : "Run again";
  get("stop").disabled = !running;
  get("progress").classList.toggle("on", Boolean(running));
}

async function fetchRun(id) {
  const answer = await fetch(`runs/${id}`);
  if (!answer.ok) return null;
  const run = await answer.json();
  keepRun(run);
  return run;
}

async function asked({ id, label, past: known }) {
  now = { id, label };
  busy(true);
  progress(0);
  get("state").textContent = "Reading the model …";
  say("running", `Run ${id} is being prepared.`, label);
  const missing = known.filter(each => !past.has(each));
  for (const each of missing) await fetchRun(each);
  if (missing.length) showRuns();
}

function begun({ id, columns, data: page }) {
  now = { ...now, id, columns, rows: [], stop: page.stop, start: page.start };
  busy(true);
  const kept = ["Method", "Step size", "Tolerance"];
  page.facts = page.facts.filter(([label]) => kept.includes(label));
  page.verdict = { level: "running", title: `Run ${id} is under way.`, text: [now.label] };
  page.notes = [];
  page.variables = withoutAliases(page.variables);
  show(page);
  get("time").hidden = true;
}

/** Signals that were one and the same in the run before are listed once from the start. */
function withoutAliases(all) {
  const before = new Map((data.variables || []).map(v => [v.name, v.same]));
  const names = new Set([...before.values()].flat());
  const left = all.filter(v => !names.has(v.name));
  return left.map(v => ({ ...v, same: before.get(v.name) ?? v.same }));
}

/** New rows: all curves grow. */
function grow({ from, time, columns }) {
  const rows = times.length;
  if (from !== rows) return;
  times = joined(times, decode(time));
  now.columns.forEach((name, i) => (now.rows[i] = joined(now.rows[i], decode(columns[i]))));
  const at = new Map(now.columns.map((name, i) => [name, i]));
  for (const v of variables) {
    v.x = times;
    v.y = now.rows[at.get(v.name)] ?? new Float64Array(times.length);
    if (pulses % 8 === 0) {
      const fresh = spark(v);
      v.spark.replaceWith(fresh);
      v.spark = fresh;
    }
  }
  if (pulses === 0 || pulses === 8) settle();
  pulses++;
  figure.draw();
  const reached = times[times.length - 1];
  progress((reached - now.start) / (now.stop - now.start));
  get("state").textContent = `t = ${number(reached, 4)} of ${number(now.stop)} ${data.timeUnit}`;
}

/** As soon as something is known of the curves: a state that is an output is drawn once, and what has no unit is put with its like. */
function settle() {
  let merged = false;
  for (const state of variables.filter(v => v.role === "state")) {
    const [low, high] = extent(state.y, 0, state.y.length);
    const near = (one, other) => one.every((value, i) => Math.abs(value - other[i]) <= 1e-5 * (high - low));
    const same = v => v.role === "output" && v.system === state.system && near(state.y, v.y);
    if (!(high > low) || !variables.some(same)) continue;
    state.box.closest("label").hidden = true;
    if (!figure.curves.includes(state)) continue;
    figure.remove(state);
    merged = true;
  }
  if (now.id > 1 && !merged) return;
  for (const curve of figure.curves) curve.index = null; // colors are given anew
  figure.split(figure.options.split);
  hide();
}

function joined(one, other) {
  const all = new Float64Array((one?.length ?? 0) + other.length);
  if (one) all.set(one);
  all.set(other, one?.length ?? 0);
  return all;
}

async function over({ id, refused }) {
  busy(false);
  progress(refused ? 0 : 1);
  if (refused) {
    const lines = refused.split("\n").filter(line => line.trim());
    get("state").textContent = "";
    return say("ended", "The run was not begun.", ...lines);
  }
  const run = await fetchRun(id);
  if (!run || now.id !== id) return showRuns();
  get("time").hidden = false;
  show({ ...run.data });
  get("state").textContent = `Run ${id}: ${run.label}`;
}

/** Draws a run with what the user has chosen to see of those before it. */
function show(page) {
  const panels = rememberView();
  if (page.start !== data.start || page.stop !== data.stop) group.range = null;
  for (const id of ["structure", "model"]) leaveOut(id, false);
  const initial = page.variables.map(v => [v, v.shown]);
  for (const [v] of initial) v.shown = ticked.get(v.name) ?? v.shown;
  for (const v of page.variables) if (!v.unit && panels.keys.has(v.name)) v.panel = panels.keys.get(v.name);
  Object.assign(data, page);
  drawRun(group);
  variables.forEach((v, i) => {
    delete v.panel;
    v.atFirst = initial[i][1];
  });
  if (panels.split) get("figure").querySelector("[data-value=one]")?.click();
  hide();
  get("foot").textContent = `Dovetail ${data.version}, live from this machine. The page ends with the program.`;
  pulses = 0;
  showRuns();
}

/** What the user has chosen: ticks, curves that are hidden, panels. */
function rememberView() {
  for (const v of variables || []) {
    if (v.shown !== v.atFirst || ticked.has(v.name)) ticked.set(v.name, v.shown);
    if (v.hidden && v.shown) hidden.add(v.name);
    else hidden.delete(v.name);
  }
  const keys = new Map((figure?.panels || []).flatMap(p => p.curves.map(c => [c.name, p.key])));
  return { keys, split: Boolean(figure?.options.split) };
}

function hide() {
  for (const panel of figure.panels) {
    for (const curve of panel.curves) curve.hidden = hidden.has(curve.name);
    panel.refresh();
  }
}

function showRuns() {
  layUnder(now.id);
  listRuns(now, showRuns);
}

function progress(share) {
  const percent = Math.max(0, Math.min(100, Math.round(100 * share)));
  get("reached").style.width = `${percent}%`;
  get("progress").setAttribute("aria-valuenow", String(percent));
}

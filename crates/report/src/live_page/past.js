
// Earlier runs, which lie under the curves of the newest.

/** Runs that are over, by number: { id, label, data, on, curves }. */
const past = new Map();
/** So many are drawn unless more are chosen. */
const MOST_UNDER = 3;
const PAST_DASHES = [
  [2, 3],
  [7, 4],
  [1, 4],
  [8, 3, 2, 3],
];
const pastDash = run => PAST_DASHES[run.id % PAST_DASHES.length];

function keepRun(run) {
  if (past.has(run.id)) return;
  past.set(run.id, { ...run, on: true });
  const newest = [...past.keys()].sort((a, b) => b - a);
  for (const id of newest.slice(MOST_UNDER + 1)) past.get(id).on = past.get(id).chosen ?? false;
}

/** The curves of a run by all names under which they are known. */
function curvesOf(run) {
  if (run.curves) return run.curves;
  const x = decode(run.data.time);
  run.curves = new Map();
  for (const v of run.data.variables) {
    const curve = { name: `run ${run.id}`, x, y: decode(v.values), hold: v.hold, dash: pastDash(run) };
    for (const name of [v.name, ...v.same]) run.curves.set(name, curve);
  }
  return run.curves;
}

/** Lays earlier runs under the run that is shown. */
function layUnder(shown) {
  const under = [...past.values()].filter(run => run.on && run.id !== shown);
  for (const v of variables || []) v.earlier = under.map(run => curvesOf(run).get(v.name)).filter(Boolean);
  figure?.group.figures.forEach(each => each.draw());
}

/** One button for each run: it draws the run or takes it away; × forgets it. */
function listRuns(shown, change) {
  const host = get("past");
  const others = [...past.values()].filter(run => run.id !== shown.id).sort((a, b) => b.id - a.id);
  host.hidden = !others.length;
  const sample = dash => swatch({ index: 0, ink: "--muted", dash, width: dash.length ? 1.6 : 2.4 });
  const pick = run =>
    el(
      "span",
      { class: "run" },
      el(
        "button",
        {
          type: "button",
          "aria-pressed": String(run.on),
          title: run.on ? "Take this run away" : "Lay this run under the curves",
          onclick: () => {
            run.on = run.chosen = !run.on;
            change();
          },
        },
        sample(pastDash(run)),
        el("b", {}, `run ${run.id}`),
        el("span", {}, run.label),
      ),
      el(
        "button",
        {
          type: "button",
          class: "forget",
          "aria-label": `Forget run ${run.id}`,
          title: "Forget this run",
          onclick: () => {
            past.set(run.id, { id: run.id, gone: true, on: false });
            change();
          },
        },
        "×",
      ),
    );
  host.replaceChildren(
    el("span", { class: "run shown" }, sample([]), el("b", {}, `run ${shown.id}`), el("span", {}, shown.label)),
    ...others.filter(run => !run.gone).map(pick),
  );
}

// The list of variables.

/** A searchable list; `figure` gets what is ticked. Variables: { name, unit, role, same, x, y, … }. */
function variableList(host, variables, figure) {
  const query = el("input", {
    type: "search",
    placeholder: `Search ${variables.length} variables`,
    "aria-label": "Search variables by name, unit or role",
  });
  const list = el("div", { class: "variables" }),
    empty = el("p", { class: "empty", hidden: true }, "No variable matches.");
  const rows = variables.map(variable => {
    const box = el("input", { type: "checkbox", checked: variable.shown, onchange: () => set(variable, box.checked) });
    const [low, high] = extent(variable.y, 0, variable.y.length);
    const unit = variable.unit && variable.unit !== "1" ? " " + variable.unit : "";
    const row = el(
      "label",
      {
        title:
          `${variable.name}${unit && " [" + variable.unit + "]"}` +
          (low <= high ? `\nfrom ${number(low)} to ${number(high)}${unit}` : "") +
          (variable.same?.length ? `\nthe same signal: ${variable.same.join(", ")}` : ""),
      },
      box,
      el(
        "span",
        { class: "name" },
        ...breakable(variable.name.slice(variable.system.length + 1)),
        ...(variable.same?.length ? [el("small", {}, ...breakable("= " + variable.same.join(" = ")))] : []),
      ),
      (variable.spark = spark(variable)),
      el("span", { class: "unit" }, variable.unit === "1" ? "" : variable.unit || ""),
    );
    variable.box = box;
    return {
      row,
      system: variable.system,
      text: [variable.name, variable.unit, variable.role, ...(variable.same || [])].join(" ").toLowerCase(),
    };
  });
  const set = (variable, on) => {
    variable.box.checked = on;
    variable.shown = on;
    if (on) figure.add(variable);
    else figure.remove(variable);
  };
  for (const system of new Set(rows.map(r => r.system))) {
    const part = el("fieldset", {}, el("legend", {}, system), ...rows.filter(r => r.system === system).map(r => r.row));
    list.append(part);
  }
  query.addEventListener("input", () => {
    const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const r of rows) r.row.hidden = !words.every(word => r.text.includes(word));
    for (const part of list.children) part.hidden = [...part.querySelectorAll("label")].every(label => label.hidden);
    empty.hidden = rows.some(r => !r.row.hidden);
  });
  host.append(query, list, empty);
  for (const variable of variables) if (variable.shown) figure.add(variable);
  return {
    toggle(name) {
      const v = variables.find(x => x.name === name || x.same?.includes(name));
      if (v) set(v, !v.shown);
      return v;
    },
  };
}
/** The shape of a variable in 64 by 18 pixels. */
function spark(variable) {
  const { x, y } = variable,
    n = y.length,
    [low, high] = extent(y, 0, n),
    span = high - low || 1;
  let path = "";
  for (let p = 0; p < 64 && x[n - 1] > x[0]; p++) {
    const a = Math.floor((p / 64) * n),
      [l, h] = extent(y, a, Math.max(a + 1, Math.floor(((p + 1) / 64) * n)));
    if (l <= h)
      path +=
        `${path ? "L" : "M"}${(((x[a] - x[0]) / (x[n - 1] - x[0])) * 64).toFixed(1)} ${(16 - ((h - low) / span) * 14).toFixed(1)}` +
        (h - l > span / 14 ? `L${p} ${(16 - ((l - low) / span) * 14).toFixed(1)}` : "");
  }
  return el(
    "svg",
    { class: "spark", viewBox: "0 0 64 18", width: 64, height: 18, "aria-hidden": "true" },
    el("path", { d: path }),
  );
}

// The structure of large models: what is near one system.

/** More systems than this cannot be read in one drawing. */
const MOST_DRAWN = 40;

/** Draws the whole model, or the neighborhood of a system that can be chosen. */
function drawStructure(host, model, onPick) {
  const { systems } = model;
  if (systems.length <= MOST_DRAWN) return structureGraph(host, model, onPick);
  const drawing = el("div", {});
  const query = el("input", {
    type: "search",
    class: "wide-search",
    placeholder: `Search ${systems.length} systems`,
    "aria-label": "Search systems by name",
  });
  const note = el("p", { class: "remark" });
  const show = () => {
    const text = query.value.toLowerCase();
    const center = systems.find(s => s.name.toLowerCase().includes(text));
    note.textContent = center ? `${center.name} and what is connected with it` : "No system matches.";
    drawing.replaceChildren();
    if (center) structureGraph(drawing, neighborhood(model, center.name), onPick);
  };
  query.addEventListener("input", show);
  host.append(query, note, drawing);
  show();
}

/** A system, those that are connected with it, and the connections among them. */
function neighborhood({ systems, connections, loops }, name) {
  const owner = port => systems.find(s => port.startsWith(s.name + "."))?.name;
  const ends = connections.map(([from, to]) => [owner(from), owner(to)]);
  const near = new Set([name]);
  for (const [a, b] of ends) {
    if (near.size >= MOST_DRAWN) break;
    if (a === name) near.add(b);
    if (b === name) near.add(a);
  }
  return {
    systems: systems.filter(s => near.has(s.name)),
    connections: connections.filter((_, i) => ends[i].every(end => near.has(end))),
    loops,
  };
}


// What can be changed before a run.

const PACES = [
  ["0", "full speed"],
  ["0.1", "0.1 × real time"],
  ["1", "real time"],
  ["10", "10 × real time"],
];
/** Fields of the form: { key, node, was }. */
const fields = [];
/** Parameters and start values: { name, was, box, row, text }. */
const settable = [];

function addField(key, title, node, was) {
  node.value = was;
  fields.push({ key, node, was: node.value });
  get("choices").append(el("label", {}, el("span", {}, title), node));
}

function choiceFields({ methods, chosen }) {
  const select = entries => el("select", {}, ...entries.map(([v, name, title]) => el("option", { value: v, title }, name)));
  const text = hint => el("input", { type: "text", inputmode: "decimal", autocomplete: "off", placeholder: hint });
  const paces = PACES.some(([v]) => v === chosen.pace) ? PACES : [...PACES, [chosen.pace, `${chosen.pace} × real time`]];
  addField("method", "Method", select(methods.map(([name, what]) => [name, name, what])), chosen.method);
  addField("step", "Step [s]", text("chosen"), chosen.step ?? "");
  addField("tolerance", "Tolerance", text("usual"), chosen.tolerance ?? "");
  addField("stop", "Until [s]", text(""), chosen.stop);
  addField("pace", "Pace", select(paces), chosen.pace);
}

function settableFields(all) {
  get("changes").hidden = !all.length;
  get("find").hidden = all.length < 9;
  get("find").placeholder = `Search ${all.length} values`;
  for (const one of all) {
    const box = el("input", { type: "text", inputmode: "decimal", autocomplete: "off" });
    box.value = one.value ?? "";
    box.addEventListener("input", showChanges);
    const own = one.name.slice(one.system.length + 1);
    const about = one.role === "parameter" ? one.unit : [one.role, one.unit].filter(Boolean).join(", ");
    const row = el(
      "label",
      { title: [one.name, one.description, one.value && `in the model: ${one.value}`].filter(Boolean).join("\n") },
      el("span", { class: "name" }, own, about && about !== "1" && el("small", {}, about)),
      box,
    );
    const text = [one.name, one.role, one.unit, one.description].join(" ").toLowerCase();
    settable.push({ name: one.name, system: one.system, was: box.value, box, row, text });
  }
  for (const system of new Set(all.map(one => one.system))) {
    const rows = settable.filter(one => one.system === system).map(one => one.row);
    get("settable").append(el("fieldset", {}, el("legend", {}, system), ...rows));
  }
}

function showChanges() {
  const changed = settable.filter(one => one.box.value.trim() !== one.was);
  for (const one of settable) one.row.classList.toggle("changed", changed.includes(one));
  get("changed").textContent = changed.length ? `${changed.length} changed` : "";
  get("given").hidden = !changed.length;
}

function searchSettable() {
  const words = get("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const one of settable) one.row.hidden = !words.every(word => one.text.includes(word));
  for (const part of get("settable").children)
    part.hidden = [...part.querySelectorAll("label")].every(label => label.hidden);
}

/** What differs from how the program was started. */
function wanted() {
  const request = { values: {} };
  for (const { key, node, was } of fields) if (node.value.trim() !== was) request[key] = node.value.trim();
  for (const { name, box, was } of settable) if (box.value.trim() !== was) request.values[name] = box.value.trim();
  return request;
}

/** Builds the controls; `run` and `stop` are called with what is wanted. */
function controls(run, stop) {
  choiceFields(data.live);
  settableFields(data.live.settable);
  get("find").addEventListener("input", searchSettable);
  get("restore").addEventListener("click", () => {
    for (const one of settable) one.box.value = one.was;
    showChanges();
  });
  get("settings").addEventListener("submit", event => {
    event.preventDefault();
    run(wanted());
  });
  get("stop").addEventListener("click", stop);
}

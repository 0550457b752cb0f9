// The head and the foot of every page.

const data = JSON.parse(document.getElementById("data").textContent);
const get = id => document.getElementById(id);

/** What physical quantity is meant by a unit, where that is clear. */
const QUANTITIES = {
  "rad/s": "angular speed",
  "1/min": "rotational speed",
  rpm: "rotational speed",
  V: "voltage",
  A: "current",
  "N·m": "torque",
  "N.m": "torque",
  Nm: "torque",
  rad: "angle",
  deg: "angle",
  m: "position",
  "m/s": "speed",
  "km/h": "speed",
  "m/s2": "acceleration",
  N: "force",
  "°C": "temperature",
  degC: "temperature",
  K: "temperature",
  bar: "pressure",
  Pa: "pressure",
  "l/s": "flow",
  "kg/s": "mass flow",
  kg: "mass",
  W: "power",
  kW: "power",
  J: "energy",
  Hz: "frequency",
  s: "time",
};

/** A date and a time of the reader's clock. */
function written() {
  const date = new Date(data.written * 1000);
  const two = value => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

function heading(kind, ...remarks) {
  document.title = `${data.name}, ${kind} by Dovetail`;
  get("name").textContent = data.name;
  const parts = [data.file, ...remarks, written(), `Dovetail ${data.version}`].filter(Boolean);
  get("meta").replaceChildren(...parts.map(text => el("span", {}, text)));
  get("foot").textContent =
    `Written by Dovetail ${data.version} on ${written()}. This page is one file and loads nothing.`;
}

function verdict() {
  if (data.verdict) verdictBanner(get("verdict"), data.verdict.level, data.verdict.title, ...data.verdict.text);
}

/** Sections without content are left out, and so are the links to them. */
function leaveOut(id, out = true) {
  get(id).hidden = out;
  const link = document.querySelector(`nav a[href="#${id}"]`);
  if (link) link.hidden = out;
}

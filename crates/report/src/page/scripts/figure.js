// A stack of panels over one axis, and what figures of a group share.

/** Figures of one group share their range of x and their cursor. */
function newGroup() {
  return { figures: [], range: null, cursor: null };
}

/**
 * A stack of panels over one x axis.
 * options: { label, unit, x: {log}, group, events: [{time, text}], split, band, scatter, name }
 * A curve: { name, unit, x, y, [lower, upper | error], [hold], [index], [dash], [shape], [digits], [earlier] }
 * Earlier runs of a curve lie under it, faintly: [{ name, x, y, hold, dash }].
 */
class Figure {
  constructor(host, options = {}) {
    this.options = options;
    this.group = options.group || newGroup();
    this.group.figures.push(this);
    this.panels = [];
    this.band = options.band ?? 1;
    this.events = options.events || [];
    this.status = el("p", { class: "sr", "aria-live": "polite" });
    this.clock = el("output", { class: "clock" });
    const button = (text, title, action) =>
      el("button", { type: "button", title, "aria-label": title, onclick: action }, text);
    this.tools = el(
      "div",
      { class: "tools", role: "toolbar", "aria-label": "View" },
      button("−", "Zoom out (key −)", () => this.zoom(2)),
      button("+", "Zoom in (key +)", () => this.zoom(0.5)),
      button("Reset", "Reset the view (double-click, key 0)", () => this.reset()),
      this.clock,
      button("SVG", "Save the figure as SVG", () => this.save("svg")),
      button("PNG", "Save the figure as PNG", () => this.save("png")),
    );
    this.stack = el("div", {
      class: "stack",
      tabindex: 0,
      role: "group",
      "aria-label":
        (options.name || "Plots") +
        ". Arrow keys move the cursor, with Shift they pan; plus and minus zoom; 0 shows all.",
    });
    this.hint = el(
      "div",
      { class: "hint", "aria-hidden": "true" },
      "Click the plot or hold Ctrl to zoom with the wheel",
    );
    host.append(this.tools, this.stack, this.hint, this.status);
    this.stack.addEventListener("keydown", event => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.stack);
  }

  // -- curves and panels

  get curves() {
    return this.panels.flatMap(panel => panel.curves);
  }
  add(curve) {
    const key = curve.panel || (this.options.split ? curve.name : curve.unit || this.unitless(curve));
    let panel = this.panels.find(p => p.key === key);
    if (!panel) {
      panel = new Panel(this, key, curve);
      const order = this.options.order || [];
      const place = order.includes(key) ? this.panels.findIndex(p => order.indexOf(p.key) > order.indexOf(key)) : -1;
      if (place < 0) {
        this.panels.push(panel);
        this.stack.append(panel.root);
      } else {
        this.stack.insertBefore(panel.root, this.panels[place].root);
        this.panels.splice(place, 0, panel);
      }
    }
    if (curve.index == null) {
      let i = 0;
      while (panel.curves.some(c => c.index % 8 === i)) i++;
      curve.index = i < 8 ? i : panel.curves.length;
    }
    curve.hidden = false;
    panel.curves.push(curve);
    panel.legend();
    this.draw();
  }
  /** Without units only curves of like size share a panel: a smaller one would be a flat line. */
  unitless(curve) {
    const size = ({ y }) => {
      const [low, high] = extent(y, 0, y.length);
      return Math.max(Math.abs(low), Math.abs(high));
    };
    const like = other => {
      const [one, two] = [size(curve), size(other)];
      return Math.max(one, two) <= 20 * Math.min(one, two);
    };
    const panel = this.panels.find(p => p.key.startsWith("no unit") && p.curves.every(like));
    return panel ? panel.key : `no unit ${this.panels.length}`;
  }
  remove(curve) {
    for (const panel of [...this.panels]) {
      if (!panel.curves.includes(curve)) continue;
      panel.curves.splice(panel.curves.indexOf(curve), 1);
      panel.legend();
      if (!panel.curves.length) {
        panel.root.remove();
        this.panels.splice(this.panels.indexOf(panel), 1);
      }
    }
    this.draw();
  }
  clear() {
    for (const panel of this.panels) panel.root.remove();
    this.panels = [];
  }
  /** Groups curves by unit, or gives each a panel of its own. */
  split(yes) {
    const all = this.curves;
    this.options.split = yes;
    this.clear();
    for (const curve of all) this.add(curve);
  }

  // -- the range of x

  full() {
    let low = Infinity,
      high = -Infinity;
    for (const figure of this.group.figures)
      for (const { x } of figure.curves.flatMap(curve => [curve, ...(curve.earlier || [])])) {
        const [a, b] = figure.options.scatter ? extent(x, 0, x.length) : [x[0], x[x.length - 1]];
        if (a < low) low = a;
        if (b > high) high = b;
      }
    for (const figure of this.group.figures)
      if (figure.options.span)
        [low, high] = [Math.min(low, figure.options.span[0]), Math.max(high, figure.options.span[1])];
    if (!(low < high)) return low === high ? [low - 0.5, low + 0.5] : [0, 1];
    if (!this.options.scatter) return [low, high];
    const [a, b] = [this.forward(low), this.forward(high)],
      edge = (b - a) * 0.06;
    return [this.backward(a - edge), this.backward(b + edge)];
  }
  forward(x) {
    return this.options.x?.log ? Math.log10(x) : x;
  }
  backward(x) {
    return this.options.x?.log ? 10 ** x : x;
  }
  get range() {
    return this.group.range || this.full();
  }
  setRange(low, high) {
    const full = this.full(),
      smallest = Math.max(Math.abs(full[0]), Math.abs(full[1])) * 1e-13;
    if (!(high - low > smallest)) return;
    this.group.range = low <= full[0] && high >= full[1] ? null : [low, high];
    this.redraw();
  }
  redraw() {
    for (const figure of this.group.figures) figure.draw();
  }
  reset() {
    this.group.range = null;
    for (const figure of this.group.figures) for (const panel of figure.panels) panel.range = null;
    this.redraw();
  }
  /** Zooms by a factor around x (the cursor, or else the middle), never beyond the data. */
  zoom(factor, around) {
    const [a, b] = this.range.map(x => this.forward(x)),
      full = this.full().map(x => this.forward(x));
    const middle = this.forward(around ?? this.group.cursor ?? this.backward((a + b) / 2));
    let low = middle - (middle - a) * factor,
      high = middle + (b - middle) * factor;
    if (high - low >= full[1] - full[0]) [low, high] = full;
    else if (low < full[0]) [low, high] = [full[0], full[0] + high - low];
    else if (high > full[1]) [low, high] = [full[1] - high + low, full[1]];
    this.setRange(this.backward(low), this.backward(high));
  }
  pan(share) {
    const [a, b] = this.range.map(x => this.forward(x)),
      full = this.full().map(x => this.forward(x));
    const move = Math.max(full[0] - a, Math.min(full[1] - b, share * (b - a)));
    this.setRange(this.backward(a + move), this.backward(b + move));
  }
  key(event) {
    const { key } = event,
      [a, b] = this.range;
    if (event.target !== this.stack || event.ctrlKey || event.metaKey) return;
    if (key === "ArrowLeft" || key === "ArrowRight") {
      const sign = key === "ArrowLeft" ? -1 : 1;
      if (event.shiftKey) this.pan(0.1 * sign);
      else
        this.setCursor(
          Math.min(b, Math.max(a, (this.group.cursor ?? (sign > 0 ? a : b)) + (sign * (b - a)) / 100)),
          true,
        );
    } else if (key === "+" || key === "=") this.zoom(0.5);
    else if (key === "-") this.zoom(2);
    else if (key === "0" || key === "Home") this.reset();
    else if (key === "Escape") {
      this.setCursor(null);
      this.stack.blur();
    } else return;
    event.preventDefault();
  }

  // -- the cursor

  setCursor(x, speak) {
    this.group.cursor = x;
    for (const figure of this.group.figures) figure.read();
    if (speak)
      this.status.textContent =
        this.clock.textContent +
        ". " +
        this.panels
          .flatMap(panel =>
            panel.curves
              .filter(c => !c.hidden)
              .map(c => `${c.name} ${number(valueAt(c, c.y || c.upper, x))} ${c.unit || ""}`),
          )
          .join(", ");
  }
  /** Shows the values of all visible curves at the cursor, or at the end of the range. */
  read() {
    if (this.options.scatter) return;
    const { cursor } = this.group,
      [low, high] = this.range,
      unit = this.options.unit || "";
    const digits = Math.max(
      4,
      Math.min(15, Math.ceil(Math.log10(Math.max(Math.abs(low), Math.abs(high)) / (high - low))) + 4),
    );
    this.clock.textContent =
      cursor == null
        ? `${number(low, digits)} … ${number(high, digits)} ${unit}`
        : `${this.options.symbol || "t"} = ${number(cursor, digits)} ${unit}`;
    this.clock.classList.toggle("on", cursor != null);
    for (const panel of this.panels) panel.read(cursor ?? high, cursor != null);
  }
  draw() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      const began = performance.now();
      this.panels.forEach((panel, i) => panel.draw(i === this.panels.length - 1));
      this.read();
      this.drawn = performance.now() - began;
    });
  }
}

const everyFigure = new Set();
const newFigure = (host, options) => {
  const made = new Figure(host, options);
  everyFigure.add(made);
  return made;
};
/** Others will be drawn in their place. */
function forgetFigures() {
  for (const { group } of everyFigure) group.figures = [];
  everyFigure.clear();
}
/** Draws everything again, after the colours have changed. */
function repaint() {
  known.clear();
  for (const each of everyFigure) each.draw();
}

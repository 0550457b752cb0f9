// One panel of a figure: its curves, its legend and its range.

const LEFT = 58,
  RIGHT = 10,
  TOP = 8;

class Panel {
  constructor(figure, key, curve) {
    this.figure = figure;
    this.key = key;
    this.curves = [];
    this.log = curve.log || figure.options.log || false;
    this.base = el("canvas", { role: "img" });
    this.over = el("canvas", { class: "over", "aria-hidden": "true" });
    this.title = el("h3", {});
    this.note = el("button", {
      type: "button",
      class: "chip",
      hidden: true,
      onclick: () => {
        this.all = !this.all;
        figure.draw();
      },
    });
    this.scale = el("button", {
      type: "button",
      class: "chip",
      title: "Linear or logarithmic axis",
      onclick: () => {
        this.log = !this.log;
        this.range = null;
        figure.draw();
      },
    });
    this.list = el("ul", { class: "legend" });
    this.tip = el("div", { class: "tip", role: "status", hidden: true });
    this.area = el("div", { class: "area" }, this.base, this.over, this.tip);
    this.root = el(
      "section",
      { class: "panel" + (figure.options.split ? " small" : "") },
      el("header", {}, this.title, this.note, this.scale),
      this.area,
      this.list,
    );
    this.listen();
  }

  legend() {
    const names = this.curves.map(c => c.name),
      { quantities = {} } = this.figure.options,
      unit = this.curves[0]?.unit;
    const what =
      this.curves[0]?.title ||
      (names.length === 1
        ? names[0]
        : quantities[unit] || (unit === "1" ? "dimensionless" : unit ? "" : "without a unit"));
    this.title.replaceChildren(
      what + " ",
      ...(unit && unit !== "1" ? [el("span", { class: "unit" }, `[${unit}]`)] : []),
    );
    this.base.setAttribute(
      "aria-label",
      `Plot of ${names.join(", ")}${unit && unit !== "1" ? " in " + unit : ""} over ${this.figure.options.label || "time"}`,
    );
    const brief = c => c.name.length < 12 && (!c.lower || Math.max(...extent(c.upper, 0, c.upper.length)) < 1e5);
    this.list.classList.toggle("dense", names.length > 6 && this.curves.every(brief));
    this.list.replaceChildren(
      ...this.curves.map(curve => {
        curve.readout = el("span", { class: "value" });
        const only = () => {
          const alone = this.curves.every(c => c === curve || c.hidden);
          for (const c of this.curves) c.hidden = alone ? false : c !== curve;
          this.refresh();
        };
        curve.button = el(
          "button",
          {
            type: "button",
            "aria-pressed": String(!curve.hidden),
            title: "Click: hide or show. Double-click: this one only.",
            onclick: () => {
              curve.hidden = !curve.hidden;
              this.refresh();
            },
            ondblclick: only,
            onpointerenter: () => this.emphasise(curve),
            onpointerleave: () => this.emphasise(null),
            onfocus: () => this.emphasise(curve),
            onblur: () => this.emphasise(null),
          },
          swatch(curve),
          el("span", { class: "name" }, ...breakable(curve.name)),
          curve.readout,
        );
        return el("li", {}, curve.button);
      }),
    );
  }
  refresh() {
    for (const c of this.curves) c.button.setAttribute("aria-pressed", String(!c.hidden));
    this.figure.draw();
    this.figure.options.onToggle?.(this.curves);
  }
  emphasise(curve) {
    if (this.strong !== curve) {
      this.strong = curve;
      this.figure.draw();
    }
  }

  /** The two columns of a curve's band; an error estimate is magnified on request. */
  bandOf(curve) {
    if (curve.lower) return [curve.lower, curve.upper];
    const times = this.figure.band;
    if (!curve.error || !times) return null;
    if (curve.bandFor !== times || curve.bandOf?.length !== curve.error.length) {
      curve.low = Float64Array.from(curve.error, (e, i) => curve.y[i] - times * Math.abs(e));
      curve.high = Float64Array.from(curve.error, (e, i) => curve.y[i] + times * Math.abs(e));
      curve.bandFor = times;
      curve.bandOf = curve.error;
    }
    return [curve.low, curve.high];
  }

  /** Range of y: what is visible, without a run-away end that would flatten the rest. */
  fit(x0, x1) {
    let low = Infinity,
      high = -Infinity,
      smallest = Infinity;
    const pieces = [];
    for (const curve of this.curves) {
      if (curve.hidden) continue;
      const columns = [curve.y, ...(this.bandOf(curve) || [])].filter(Boolean).map(column => [curve.x, column]);
      columns.push(...(curve.earlier || []).map(run => [run.x, run.y]));
      for (const [x, column] of columns) {
        const from = this.figure.options.scatter ? 0 : Math.max(0, search(x, x0, true) - 1),
          to = this.figure.options.scatter ? x.length : Math.min(x.length, search(x, x1) + 1);
        const size = Math.max(1, Math.ceil((to - from) / 32));
        for (let i = from; i < to; i += size) {
          const [a, b] = extent(column, i, Math.min(to, i + size));
          if (!(a <= b)) continue;
          pieces.push([a, b]);
          if (a < low) low = a;
          if (b > high) high = b;
        }
        if (this.log)
          for (let i = from; i < to; i += Math.max(1, (to - from) >> 11))
            if (column[i] > 0 && column[i] < smallest) smallest = column[i];
      }
    }
    if (!(low <= high)) return null;
    this.positive = low > 0 && high > 8 * low;
    if (this.log) {
      low = low > 0 ? low : smallest;
      if (!(high > 0 && low > 0)) return null;
      const edge = Math.max(0.08, Math.log10(high / low) * 0.06);
      return [low / 10 ** edge, high * 10 ** edge];
    }
    const quantile = (k, q) => pieces.map(p => p[k]).sort((a, b) => a - b)[Math.round(q * (pieces.length - 1))];
    const [calmLow, calmHigh] = [quantile(0, 0.15), quantile(1, 0.85)],
      calm = calmHigh - calmLow;
    this.cut = pieces.length >= 16 && calm > 0 && high - low > 60 * calm ? [low, high] : null;
    if (this.cut && !this.all) [low, high] = [calmLow - 0.3 * calm, calmHigh + 0.3 * calm];
    if (low === high) {
      const d = Math.abs(low) * 0.1 || 1;
      return [low - d, high + d];
    }
    const edge = (high - low) * 0.06;
    return [low - edge, high + edge];
  }
}

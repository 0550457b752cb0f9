// How a panel draws its curves.

Object.assign(Panel.prototype, {
  draw(last) {
    if (!this.layout(last)) return;
    const ratio = window.devicePixelRatio || 1;
    const ctx = this.base.getContext("2d");
    const { width, height } = this.frame;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, width, height);
    this.paint(ctx);
    this.chips();
    this.overlay();
  },

  /** Grid and curves. */
  paint(ctx) {
    const { w, h } = this.frame;
    this.grid(ctx);
    ctx.save();
    ctx.beginPath();
    ctx.rect(LEFT, TOP - 1, w, h + 2);
    ctx.clip();
    this.backdrop(ctx);
    const drawn = this.curves
      .filter(c => !c.hidden)
      .sort((a, b) => (a === this.strong) - (b === this.strong) || (b.under || 0) - (a.under || 0));
    this.bands(ctx, drawn);
    for (const curve of drawn) this.earlierRuns(ctx, curve);
    this.placed = [];
    for (const curve of drawn) this.curve(ctx, curve, drawn);
    ctx.globalAlpha = 1;
    ctx.restore();
  },

  /** Events as fine lines through all panels, times and values that are marked. */
  backdrop(ctx) {
    const { w, h, px, py } = this.frame;
    const { events, options } = this.figure;
    ctx.strokeStyle = css("--event");
    ctx.setLineDash([1, 3]);
    let before = -9;
    for (const event of events) {
      const x = Math.round(px(event.time)) + 0.5;
      // Events that share a pixel share a line.
      if (x < LEFT || x > LEFT + w || x === before) continue;
      segment(ctx, x, TOP, x, TOP + h);
      before = x;
    }
    ctx.setLineDash([]);
    ctx.font = "12px " + css("--sans");
    for (const shade of options.shades || []) {
      const [from, to] = [px(shade.from), px(shade.to)];
      ctx.fillStyle = css("--nodata");
      ctx.fillRect(from, TOP, to - from, h);
      ctx.fillStyle = css("--muted");
      ctx.textAlign = "center";
      if (to - from > 90) ctx.fillText(shade.text, (from + to) / 2, TOP + 14);
    }
    for (const zone of options.zones || []) {
      const [top, low] = [py(zone.to), py(zone.from)];
      ctx.fillStyle = css("--bad-soft");
      ctx.fillRect(LEFT, top, w, low - top);
      ctx.fillStyle = css("--bad");
      ctx.textAlign = "right";
      ctx.textBaseline = "top";
      if (low > TOP + 20) ctx.fillText(zone.text, LEFT + w - 8, Math.max(TOP, top) + 6);
    }
  },

  /** What a curve was in earlier runs: thinner, fainter, each run with a dash of its own. */
  earlierRuns(ctx, curve) {
    for (const run of curve.earlier || []) {
      ctx.strokeStyle = ctx.fillStyle = ink(curve);
      ctx.globalAlpha = this.strong && this.strong !== curve ? 0.12 : 0.5;
      ctx.lineWidth = 1.3;
      ctx.setLineDash(run.dash);
      this.line(ctx, run, run.y);
    }
    ctx.setLineDash([]);
    ctx.lineWidth = 1;
    ctx.globalAlpha = 1;
  },

  /** Bands lie below all lines; the more there are, the fainter they get. */
  bands(ctx, drawn) {
    const many = drawn.filter(c => c.lower).length;
    for (const curve of drawn) {
      const band = this.bandOf(curve);
      const weak = this.strong && this.strong !== curve;
      if (!band) continue;
      ctx.fillStyle = ink(curve);
      ctx.globalAlpha = weak ? 0.03 : this.strong === curve ? 0.38 : many > 4 ? 0.22 / many : 0.22;
      this.ribbon(ctx, curve, band[0], band[1]);
      if (curve.span && !weak) {
        ctx.globalAlpha *= 0.55;
        this.ribbon(ctx, { x: curve.span.x, hold: true }, curve.span.lower, curve.span.upper);
      }
      ctx.globalAlpha = 1;
    }
  },

  curve(ctx, curve, drawn) {
    const bands = drawn.filter(c => c.lower).length;
    ctx.globalAlpha = this.strong && this.strong !== curve ? 0.22 : 1;
    ctx.strokeStyle = ctx.fillStyle = ink(curve);
    ctx.lineJoin = "round";
    ctx.lineWidth = (curve.width || (bands > 4 ? 1.2 : 1.8)) + (this.strong === curve ? 0.8 : 0);
    ctx.setLineDash(dash(curve));
    for (const column of curve.y ? [curve.y] : [curve.lower, curve.upper]) this.line(ctx, curve, column);
    ctx.lineWidth = 1;
    ctx.setLineDash([3, 3]);
    for (const thin of curve.inside || []) this.line(ctx, { x: thin.x }, thin.y);
    ctx.setLineDash([]);
    if (curve.shape) this.marks(ctx, curve);
    else if (curve.y && !curve.under) this.distantRows(ctx, curve);
  },

  /** The rows themselves, where they lie far apart. */
  distantRows(ctx, curve) {
    const { w, px, py } = this.frame;
    const [from, to] = this.rows(curve);
    if (to - from >= w / 22) return;
    for (let i = from; i < to; i++) {
      ctx.beginPath();
      ctx.arc(px(curve.x[i]), py(curve.y[i]), 2.4, 0, 7);
      ctx.fill();
    }
  },

  /** Marks; one that lies on others is drawn around them. */
  marks(ctx, curve) {
    const { px, py } = this.frame;
    for (let i = 0; i < curve.x.length; i++) {
      const [X, Y] = [px(curve.x[i]), py(curve.y[i])];
      const below = this.placed.filter(([x, y]) => Math.hypot(x - X, y - Y) < 5).length;
      drawMark(ctx, curve.shape, X, Y, 4.5 + 3.5 * below);
      ctx.fillStyle = curve.open ? css("--panel") : ink(curve);
      ctx.lineWidth = 1.7;
      if (!below) ctx.fill();
      ctx.stroke();
      this.placed.push([X, Y]);
    }
  },

  /** The buttons beside the title say how the axis of y is drawn. */
  chips() {
    this.scale.hidden = !this.log && !this.positive;
    this.scale.textContent = this.log ? "log" : "linear";
    this.scale.setAttribute("aria-pressed", String(this.log));
    this.note.hidden = !this.cut;
    if (!this.cut) return;
    const [low, high] = this.cut;
    this.note.textContent = this.all ? "fit the calm part" : `cut: ${number(low, 2)} … ${number(high, 2)}, show all`;
  },

  /** The visible rows of a curve with one row more on each side. */
  rows(curve) {
    const { x } = curve,
      { x0, x1 } = this.frame;
    if (this.figure.options.scatter) return [0, x.length];
    return [Math.max(0, search(x, x0) - 1), Math.min(x.length, search(x, x1, true) + 1)];
  },
  /** A line; where pixels hold many rows, their extents are drawn: no peak is lost. */
  line(ctx, curve, column) {
    const { x, hold } = curve,
      [from, to] = this.rows(curve),
      { w, x0, x1, px, py } = this.frame;
    ctx.beginPath();
    if (this.figure.options.orbit) this.orbit(ctx, curve, column);
    else if (to - from <= Math.max(4 * w, 4000) || this.figure.options.scatter) {
      let pen = false,
        before = 0;
      for (let i = from; i < to; i++) {
        if (Number.isNaN(column[i])) {
          pen = false;
          continue;
        }
        const X = px(x[i]),
          Y = py(column[i]);
        if (!pen) ctx.moveTo(X, Y);
        else {
          if (hold === "back") ctx.lineTo(before, Y);
          else if (hold) ctx.lineTo(X, py(column[i - 1]));
          ctx.lineTo(X, Y);
        }
        pen = true;
        before = X;
      }
    } else {
      // a line through the last row of each pixel, and a rectangle where its rows reach beyond that line
      let i = from,
        before = NaN;
      for (let p = 0; p <= w && i < to; p++) {
        const end = Math.min(to, Math.max(i + 1, search(x, x0 + ((p + 1) / w) * (x1 - x0)))),
          [low, high] = extent(column, i, end);
        const X = LEFT + p + 0.5,
          Y = py(column[end - 1]),
          top = py(high),
          bottom = py(low);
        if (!Number.isNaN(before)) ctx.lineTo(X, Y);
        else ctx.moveTo(X, Y);
        if (low <= high && (!(top > Math.min(before, Y) - 1) || !(bottom < Math.max(before, Y) + 1)))
          ctx.fillRect(X - 0.5, top - 0.7, 1.4, bottom - top + 1.4);
        before = Y;
        i = end;
      }
    }
    ctx.stroke();
  },

  /** One variable over another: points that fall on the one before are left out. */
  orbit(ctx, { x }, column) {
    const { px, py } = this.frame;
    let before = [NaN, NaN];
    for (let i = 0; i < x.length; i++) {
      const [X, Y] = [px(x[i]), py(column[i])];
      const isKnown = Number.isFinite(X) && Number.isFinite(Y);
      const isNear = Math.abs(X - before[0]) < 0.5 && Math.abs(Y - before[1]) < 0.5;
      if (isKnown && isNear) continue;
      if (isKnown && !Number.isNaN(before[0])) ctx.lineTo(X, Y);
      else if (isKnown) ctx.moveTo(X, Y);
      before = isKnown ? [X, Y] : [NaN, NaN];
    }
  },

  /** The area between two columns. */
  ribbon(ctx, curve, lower, upper) {
    const { x, hold } = curve,
      [from, to] = this.rows(curve),
      { w, px, py } = this.frame;
    const size = Math.max(1, Math.floor((to - from) / (2 * w))),
      top = [],
      low = [];
    for (let i = from; i < to; i += size) {
      const end = Math.min(to, i + size),
        a = size > 1 ? extent(lower, i, end)[0] : lower[i],
        b = size > 1 ? extent(upper, i, end)[1] : upper[i];
      if (Number.isNaN(a) || Number.isNaN(b)) continue;
      const X = px(x[i]),
        next = hold ? px(x[Math.min(x.length - 1, end)]) : X;
      low.push([X, py(a)]);
      top.push([X, py(b)]);
      if (hold) {
        low.push([next, py(a)]);
        top.push([next, py(b)]);
      }
    }
    ctx.beginPath();
    for (const [X, Y] of top) ctx.lineTo(X, Y);
    for (const [X, Y] of low.reverse()) ctx.lineTo(X, Y);
    ctx.closePath();
    ctx.fill();
  },
});

// Where a panel's values lie in pixels, its grid and its labels.

Object.assign(Panel.prototype, {
  /** Sizes the canvases and finds the map from values to pixels; false where there is no room. */
  layout(last) {
    const { figure } = this;
    const ratio = window.devicePixelRatio || 1;
    this.area.classList.toggle("last", last);
    const width = Math.round(this.area.getBoundingClientRect().width);
    const height = Math.round(this.area.clientHeight);
    if (width < 40) return false;
    for (const canvas of [this.base, this.over]) {
      if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
      }
    }
    const bottom = last ? 40 : 10;
    const w = width - LEFT - RIGHT;
    const h = height - TOP - bottom;
    const [x0, x1] = figure.range;
    const [y0, y1] = this.range || this.fit(x0, x1) || (this.log ? [1, 10] : [0, 1]);
    const [X0, X1] = [figure.forward(x0), figure.forward(x1)];
    const [Y0, Y1] = this.log ? [Math.log10(y0), Math.log10(y1)] : [y0, y1];
    const px = figure.options.x?.log
      ? x => LEFT + ((Math.log10(x) - X0) / (X1 - X0)) * w
      : x => LEFT + ((x - x0) / (x1 - x0)) * w;
    const clamp = v => (v < -1e5 ? -1e5 : v > 1e5 ? 1e5 : v);
    const py = this.log
      ? y => (y > 0 ? clamp(TOP + h - ((Math.log10(y) - Y0) / (Y1 - Y0)) * h) : TOP + h + 1e4)
      : y => clamp(TOP + h - ((y - y0) / (y1 - y0)) * h);
    this.frame = { w, h, px, py, x0, x1, y0, y1, X0, X1, Y0, Y1, width, height, last };
    return true;
  },

  grid(ctx) {
    ctx.font = "12px " + css("--sans");
    ctx.lineWidth = 1;
    ctx.textBaseline = "middle";
    this.rulesOfY(ctx);
    this.rulesOfX(ctx);
  },

  rulesOfY(ctx) {
    const { w, h, py, y0, y1 } = this.frame;
    const whole = this.curves.every(c => c.whole);
    const ticks = this.log ? logTicks(y0, y1, h / 34) : linearTicks(y0, y1, h / 34, whole);
    ctx.textAlign = "right";
    for (const tick of ticks.places) {
      const y = Math.round(py(tick.at)) + 0.5;
      if (y < TOP - 1 || y > TOP + h + 1) continue;
      ctx.strokeStyle = css(tick.minor ? "--grid-minor" : tick.at === 0 && !this.log ? "--axis" : "--grid");
      segment(ctx, LEFT, y, LEFT + w, y);
      ctx.fillStyle = css("--muted");
      if (tick.text) ctx.fillText(tick.text, LEFT - 8, y);
    }
    if (ticks.exponent) {
      ctx.textAlign = "left";
      ctx.fillText("×" + power(ticks.exponent), LEFT + 5, TOP + 7);
    }
  },

  rulesOfX(ctx) {
    const { w, h, px, x0, x1, width, height, last } = this.frame;
    const { options } = this.figure;
    const ticks = (options.x?.log ? logTicks : linearTicks)(x0, x1, w / 85);
    ctx.textAlign = "center";
    for (const tick of ticks.places) {
      const x = Math.round(px(tick.at)) + 0.5;
      ctx.strokeStyle = css(tick.minor ? "--grid-minor" : "--grid");
      segment(ctx, x, TOP, x, TOP + h);
      if (!last || !tick.text) continue;
      const furthest = width - ctx.measureText(tick.text).width / 2 - 1;
      ctx.fillStyle = css("--muted");
      ctx.fillText(tick.text, Math.min(x, furthest), TOP + h + 12);
    }
    if (!last) return;
    const unit = options.unit ? ` [${options.unit}]` : "";
    const factor = ticks.exponent ? "  ×" + power(ticks.exponent) : "";
    ctx.fillStyle = css("--text");
    ctx.fillText((options.label || "time") + unit + factor, LEFT + w / 2, height - 8);
  },
});

function segment(ctx, fromX, fromY, toX, toY) {
  ctx.beginPath();
  ctx.moveTo(fromX, fromY);
  ctx.lineTo(toX, toY);
  ctx.stroke();
}

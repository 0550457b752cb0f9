// What follows the cursor: values in the legend, dots, the text of an event, the selection.

Object.assign(Panel.prototype, {
  /** Values of the legend, then cursor line, dots and the selection. */
  read(at, live) {
    this.x = live ? at : null;
    for (const curve of this.curves) {
      const x = live ? at : Math.min(at, curve.x[curve.x.length - 1]);
      let text;
      if (curve.lower) {
        const a = valueAt(curve, curve.lower, x),
          b = valueAt(curve, curve.upper, x);
        text = Number.isNaN(a) ? "–" : `${number(a, 5)} … ${number(b, 5)}`;
      } else {
        text = number(valueAt(curve, curve.y, x), curve.digits || 5);
        if (curve.error) {
          const e = Math.abs(valueAt(curve, curve.error, x));
          if (e > 0) text += ` ± ${number(e, 2)}`;
        }
      }
      const earlier = (curve.earlier || []).map(run => `${run.name}: ${number(valueAt(run, run.y, at), curve.digits || 5)}`);
      curve.readout.textContent = [text, ...earlier].join("\n");
      curve.readout.classList.toggle("live", live);
    }
    this.overlay();
  },
  overlay() {
    if (!this.frame) return;
    const { w, h, px, py, width, height } = this.frame,
      ratio = window.devicePixelRatio || 1,
      ctx = this.over.getContext("2d"),
      { figure } = this;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, width, height);
    if (this.x != null && this.x >= this.frame.x0 && this.x <= this.frame.x1) {
      const X = Math.round(px(this.x)) + 0.5;
      ctx.strokeStyle = css("--cursor");
      ctx.beginPath();
      ctx.moveTo(X, TOP);
      ctx.lineTo(X, TOP + h);
      ctx.stroke();
      for (const curve of this.curves) {
        if (curve.hidden) continue;
        for (const column of curve.lower ? [curve.lower, curve.upper] : [curve.y]) {
          const Y = py(valueAt(curve, column, this.x));
          if (!(Y >= TOP - 2 && Y <= TOP + h + 2)) continue;
          ctx.fillStyle = ink(curve);
          ctx.strokeStyle = css("--panel");
          ctx.lineWidth = 2;
          ctx.beginPath();
          ctx.arc(X, Y, 4, 0, 7);
          ctx.fill();
          ctx.stroke();
          ctx.lineWidth = 1;
        }
      }
      if (this === figure.panels[0])
        for (const event of figure.events)
          if (Math.abs(px(event.time) - X) < 6) {
            ctx.font = "12px " + css("--sans");
            const size = ctx.measureText(event.text).width + 12,
              left = Math.min(LEFT + w - size, Math.max(LEFT, X + 6));
            ctx.fillStyle = css("--text");
            ctx.fillRect(left, TOP + 2, size, 19);
            ctx.fillStyle = css("--panel");
            ctx.textBaseline = "middle";
            ctx.fillText(event.text, left + 6, TOP + 12);
          }
    }
    if (this.pick) {
      const { curve, i } = this.pick;
      ctx.strokeStyle = css("--text");
      ctx.lineWidth = 2;
      ctx.beginPath();
      ctx.arc(px(curve.x[i]), py(curve.y[i]), 9, 0, 7);
      ctx.stroke();
      ctx.lineWidth = 1;
    }
    const s = this.drag;
    if (s && s.kind !== "pan") {
      const [a, b, c, d] = [
        s.wide ? Math.min(s.x, s.toX) : LEFT,
        s.tall ? Math.min(s.y, s.toY) : TOP,
        s.wide ? Math.abs(s.toX - s.x) : w,
        s.tall ? Math.abs(s.toY - s.y) : h,
      ];
      ctx.fillStyle = css("--select");
      ctx.fillRect(a, b, c, d);
      ctx.strokeStyle = css("--accent");
      ctx.strokeRect(a + 0.5, b + 0.5, c, d);
    }
  },
});

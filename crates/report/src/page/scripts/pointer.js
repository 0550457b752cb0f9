// Mouse, pen and fingers on a panel.

Object.assign(Panel.prototype, {
  xAt(pixel) {
    const { X0, X1, w } = this.frame;
    return this.figure.backward(X0 + ((pixel - LEFT) / w) * (X1 - X0));
  },
  yAt(pixel) {
    const { Y0, Y1, h } = this.frame,
      v = Y1 - ((pixel - TOP) / h) * (Y1 - Y0);
    return this.log ? 10 ** v : v;
  },
  near(x, y) {
    let best = null,
      least = 22 ** 2;
    for (const curve of this.curves)
      if (!curve.hidden)
        for (let i = 0; i < curve.x.length; i++) {
          const d = (this.frame.px(curve.x[i]) - x) ** 2 + (this.frame.py(curve.y[i]) - y) ** 2;
          if (d < least) {
            least = d;
            best = { curve, i };
          }
        }
    return best;
  },
  listen() {
    const { figure, over } = this,
      fingers = new Map();
    const at = event => {
      const box = over.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    const clampX = x => Math.max(LEFT, Math.min(LEFT + this.frame.w, x)),
      clampY = y => Math.max(TOP, Math.min(TOP + this.frame.h, y));
    const point = (x, y) => {
      this.pick = this.near(x, y);
      over.style.cursor = this.pick ? "pointer" : "crosshair";
      this.tip.hidden = !this.pick;
      if (this.pick) {
        this.tip.replaceChildren(...figure.options.tip(this.pick.curve, this.pick.i));
        const X = this.frame.px(this.pick.curve.x[this.pick.i]),
          Y = this.frame.py(this.pick.curve.y[this.pick.i]);
        this.tip.style.left = Math.max(4, Math.min(this.frame.width - this.tip.offsetWidth - 4, X + 14)) + "px";
        this.tip.style.top =
          Math.max(2, Math.min(this.frame.height - this.tip.offsetHeight - 4, Y - this.tip.offsetHeight - 10)) + "px";
      }
      this.overlay();
    };
    over.addEventListener("pointerdown", event => {
      const [x, y] = at(event);
      figure.stack.focus({ preventScroll: true });
      fingers.set(event.pointerId, x);
      if (fingers.size === 2) {
        const [a, b] = [...fingers.values()];
        this.pinch = { size: Math.abs(a - b) || 1, middle: this.xAt((a + b) / 2), range: figure.range };
        this.drag = null;
        return;
      }
      if (event.pointerType === "touch") figure.options.scatter ? point(x, y) : figure.setCursor(this.xAt(clampX(x)));
      if (event.button > 1 || event.pointerType === "touch") return;
      over.setPointerCapture(event.pointerId);
      this.drag = {
        kind: event.shiftKey || event.button === 1 || y > TOP + this.frame.h ? "pan" : "zoom",
        x: clampX(x),
        y: clampY(y),
        toX: clampX(x),
        toY: clampY(y),
        from: x,
      };
      event.preventDefault();
    });
    over.addEventListener("pointermove", event => {
      const [x, y] = at(event),
        s = this.drag;
      if (fingers.has(event.pointerId)) fingers.set(event.pointerId, x);
      if (this.pinch && fingers.size === 2) {
        const [a, b] = [...fingers.values()],
          factor = this.pinch.size / Math.max(20, Math.abs(a - b)),
          full = figure.full();
        const [low, high] = this.pinch.range.map(v => figure.forward(v)),
          middle = figure.forward(this.pinch.middle),
          share = ((a + b) / 2 - LEFT) / this.frame.w;
        const size = Math.min((high - low) * factor, figure.forward(full[1]) - figure.forward(full[0])),
          start = Math.max(figure.forward(full[0]), Math.min(figure.forward(full[1]) - size, middle - share * size));
        figure.setRange(figure.backward(start), figure.backward(start + size));
        return;
      }
      if (s?.kind === "pan") {
        figure.pan((s.from - x) / this.frame.w);
        s.from = x;
        over.classList.add("grabbing");
      } else if (s) {
        s.toX = clampX(x);
        s.toY = clampY(y);
        s.wide = Math.abs(s.toX - s.x) > 8;
        s.tall = Math.abs(s.toY - s.y) > (s.wide ? 40 : 12);
        this.overlay();
      } else if (figure.options.scatter) point(x, y);
      else if (x >= LEFT && x <= LEFT + this.frame.w) figure.setCursor(this.xAt(x));
    });
    const end = event => {
      const s = this.drag;
      fingers.delete(event.pointerId);
      if (fingers.size < 2) this.pinch = null;
      this.drag = null;
      over.classList.remove("grabbing");
      if (s?.kind === "zoom" && event.type === "pointerup") {
        const ys = [this.yAt(Math.max(s.y, s.toY)), this.yAt(Math.min(s.y, s.toY))];
        if (s.tall) this.range = ys;
        if (s.wide) figure.setRange(this.xAt(Math.min(s.x, s.toX)), this.xAt(Math.max(s.x, s.toX)));
        else if (s.tall) figure.draw();
        else if (figure.options.scatter && this.pick) figure.options.onPick?.(this.pick.curve, this.pick.i);
      }
      this.overlay();
    };
    over.addEventListener("pointerup", end);
    over.addEventListener("pointercancel", end);
    over.addEventListener("pointerleave", event => {
      if (this.drag || event.pointerType === "touch") return;
      this.pick = null;
      this.tip.hidden = true;
      figure.setCursor(null);
      this.overlay();
    });
    over.addEventListener("dblclick", () => figure.reset());
    over.addEventListener(
      "wheel",
      event => {
        if (!event.ctrlKey && !event.metaKey && document.activeElement !== figure.stack) {
          figure.hint.classList.add("on");
          clearTimeout(figure.hintTimer);
          figure.hintTimer = setTimeout(() => figure.hint.classList.remove("on"), 1400);
          return;
        }
        event.preventDefault();
        if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) figure.pan(event.deltaX / this.frame.w);
        else figure.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), this.xAt(clampX(at(event)[0])));
      },
      { passive: false },
    );
  },
});

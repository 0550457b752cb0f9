// A figure as a file: SVG, made by a drawing context that writes paths down, or PNG.

/** What panels need of a drawing context, as SVG. */
class SvgContext {
  constructor() {
    this.parts = [];
    this.definitions = [];
    this.groups = 0;
    this.saved = [];
    this.path = "";
    this.dash = [];
    Object.assign(this, { globalAlpha: 1, lineWidth: 1, textAlign: "left", textBaseline: "alphabetic", lineJoin: "miter" });
  }
  place(x, y) {
    return `${Number(x.toFixed(2))} ${Number(y.toFixed(2))}`;
  }
  beginPath() {
    this.path = "";
  }
  moveTo(x, y) {
    this.path += `M${this.place(x, y)}`;
  }
  lineTo(x, y) {
    this.path += `${this.path ? "L" : "M"}${this.place(x, y)}`;
  }
  closePath() {
    this.path += "Z";
  }
  rect(x, y, w, h) {
    this.path += `M${this.place(x, y)}h${w.toFixed(2)}v${h.toFixed(2)}h${(-w).toFixed(2)}Z`;
  }
  /** Panels draw whole circles only. */
  arc(x, y, r) {
    this.path += `M${this.place(x + r, y)}a${r} ${r} 0 1 1 ${-2 * r} 0a${r} ${r} 0 1 1 ${2 * r} 0Z`;
  }
  element(tag, attributes, text) {
    const node = el(tag, attributes);
    if (text != null) node.textContent = text;
    this.parts.push(new XMLSerializer().serializeToString(node));
  }
  get opacity() {
    return this.globalAlpha < 1 ? Number(this.globalAlpha.toFixed(3)) : null;
  }
  stroke() {
    const dashes = this.dash.length ? this.dash.join(" ") : null;
    const look = { stroke: this.strokeStyle, "stroke-width": this.lineWidth, "stroke-dasharray": dashes };
    const join = this.lineJoin === "round" ? "round" : null;
    this.element("path", { d: this.path, fill: "none", ...look, "stroke-linejoin": join, opacity: this.opacity });
  }
  fill() {
    this.element("path", { d: this.path, fill: this.fillStyle, opacity: this.opacity });
  }
  fillRect(x, y, width, height) {
    this.element("rect", { x, y, width, height, fill: this.fillStyle, opacity: this.opacity });
  }
  setLineDash(dash) {
    this.dash = dash;
  }
  measureText(words) {
    ruler.font = this.font;
    return ruler.measureText(words);
  }
  fillText(words, x, y) {
    const [, weight, size] = /^(\d+ )?(\d+)px/.exec(this.font);
    const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign];
    const shift = { middle: 0.36, top: 0.8 }[this.textBaseline] || 0;
    this.element(
      "text",
      {
        x: x.toFixed(1),
        y: (y + shift * size).toFixed(1),
        "font-size": size,
        "font-weight": weight?.trim(),
        "text-anchor": anchor,
        fill: this.fillStyle,
      },
      words,
    );
  }
  group(attributes) {
    this.parts.push(`<g ${attributes}>`);
    this.groups++;
  }
  save() {
    this.saved.push(this.groups);
  }
  clip() {
    const id = `clip${this.definitions.length}`;
    this.definitions.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath>`);
    this.group(`clip-path="url(#${id})"`);
  }
  translate(x, y) {
    this.group(`transform="translate(${x} ${y})"`);
  }
  restore() {
    const before = this.saved.pop();
    while (this.groups > before) {
      this.parts.push("</g>");
      this.groups--;
    }
  }
  document(width, height) {
    const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
    const font = css("--sans").replaceAll('"', "'");
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="${font}">` +
      `<defs>${this.definitions.join("")}</defs>${this.parts.join("")}</svg>`
    );
  }
}

Object.assign(Figure.prototype, {
  /** Draws all panels, each with its title and its legend above, one below the other; gives the height. */
  compose(ctx, width) {
    let top = 10;
    this.panels.forEach((panel, i) => {
      const last = i === this.panels.length - 1;
      const head = panel.caption(ctx, top, width);
      ctx.save();
      ctx.translate(0, top + head);
      panel.paint(ctx);
      ctx.restore();
      top += head + panel.frame.height + (last ? 0 : 14);
    });
    return top + 8;
  },

  /** Saves what is seen. */
  save(kind) {
    const width = Math.max(...this.panels.map(panel => panel.frame.width));
    if (!this.panels.length || !(width > 0)) return null;
    const trial = new SvgContext();
    const height = Math.ceil(this.compose(trial, width));
    const draw = ctx => {
      ctx.fillStyle = css("--panel");
      ctx.fillRect(0, 0, width, height);
      this.compose(ctx, width);
    };
    if (kind === "svg") {
      const ctx = new SvgContext();
      draw(ctx);
      return download(new Blob([ctx.document(width, height)], { type: "image/svg+xml" }), this.fileName("svg"));
    }
    const canvas = el("canvas", { width: 2 * width, height: 2 * height });
    const ctx = canvas.getContext("2d");
    ctx.scale(2, 2);
    draw(ctx);
    return canvas.toBlob(blob => download(blob, this.fileName("png")));
  },

  fileName(ending) {
    const words = `${data.name} ${this.options.name || "figure"}`.toLowerCase();
    return `${words.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "")}.${ending}`;
  },
});

Object.assign(Panel.prototype, {
  /** Title and legend of a saved panel; gives their height. */
  caption(ctx, top, width) {
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    ctx.font = "600 14px " + css("--sans");
    ctx.fillStyle = css("--text");
    ctx.fillText(this.title.textContent.trim(), LEFT, top + 8);
    const isNamed = this.curves.length === 1 && this.title.textContent.startsWith(this.curves[0].name);
    if (isNamed) return 22;
    ctx.font = "12px " + css("--sans");
    let x = LEFT;
    let y = top + 28;
    for (const curve of this.curves.filter(c => !c.hidden)) {
      const size = 34 + ctx.measureText(curve.name).width + 18;
      if (x + size > width && x > LEFT) [x, y] = [LEFT, y + 18];
      ctx.strokeStyle = ink(curve);
      ctx.lineWidth = curve.width || 2;
      ctx.setLineDash(dash(curve));
      segment(ctx, x, y, x + 28, y);
      ctx.setLineDash([]);
      ctx.fillStyle = css("--text");
      ctx.fillText(curve.name, x + 34, y);
      x += size;
    }
    return y + 12 - top;
  },
});

function download(blob, name) {
  const address = URL.createObjectURL(blob);
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

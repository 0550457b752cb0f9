// How curves and marks look.

const DASHES = [[], [8, 4], [2, 3], [11, 3, 2, 3], [5, 3], [14, 4], [3, 2, 3, 6], [1, 2]];
const ink = curve => (curve.ink ? css(curve.ink) : css("--c" + ((curve.index % 8) + 1)));
const dash = curve => curve.dash || DASHES[(curve.index + (curve.index >> 3)) % 8];

function drawMark(ctx, kind, x, y, r) {
  ctx.beginPath();
  if (kind === "circle") ctx.arc(x, y, r, 0, 7);
  else if (kind === "square") ctx.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8);
  else if (kind === "diamond") {
    ctx.moveTo(x, y - r * 1.25);
    ctx.lineTo(x + r * 1.25, y);
    ctx.lineTo(x, y + r * 1.25);
    ctx.lineTo(x - r * 1.25, y);
    ctx.closePath();
  } else if (kind === "bar") ctx.rect(x - r * 1.4, y - r * 0.65, r * 2.8, r * 1.3);
  else {
    const s = kind === "down" ? -1 : 1;
    ctx.moveTo(x, y - s * r * 1.15);
    ctx.lineTo(x + r * 1.1, y + s * r * 0.9);
    ctx.lineTo(x - r * 1.1, y + s * r * 0.9);
    ctx.closePath();
  }
}

/** A sample of a curve's line, as SVG so that it follows the theme. */
function swatch(curve) {
  const colour = `var(${curve.ink || "--c" + ((curve.index % 8) + 1)})`;
  const icon = el("svg", { class: "swatch", viewBox: "0 0 28 12", width: 28, height: 12, "aria-hidden": "true" });
  if (curve.lower || curve.error)
    icon.append(el("rect", { x: 0, y: 1, width: 28, height: 10, style: `fill:${colour};opacity:.2` }));
  icon.append(
    el("path", {
      d: "M0 6H28",
      style: `stroke:${colour};stroke-width:${curve.width || 2.2};stroke-dasharray:${dash(curve).join(" ") || "none"}`,
    }),
  );
  if (curve.shape) {
    const paths = {
      circle: "M18 6a4 4 0 1 1-8 0a4 4 0 1 1 8 0z",
      square: "M10 2h8v8h-8z",
      triangle: "M14 1l5 9h-10z",
      diamond: "M14 0l6 6l-6 6l-6-6z",
      down: "M14 11l5-9h-10z",
      bar: "M8 3h12v6h-12z",
    };
    icon.append(
      el("path", {
        d: paths[curve.shape],
        style: `fill:${curve.open ? "var(--panel)" : colour};stroke:${colour};stroke-width:1.6`,
      }),
    );
  }
  return icon;
}

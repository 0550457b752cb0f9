// Numbers as people read them.

/** A value to read, with an exponent only where that is shorter. It can be pasted into any tool. */
function number(value, digits = 5) {
  if (value == null || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < Math.min(1e6, 10 ** (digits + 2)) && size >= 1e-3) return String(Number(value.toPrecision(digits)));
  return value
    .toExponential(Math.max(0, digits - 1))
    .replace(/\.?0+e/, "e")
    .replace("e+", "e");
}
/** A count, with thin spaces: 12 088. */
const count = value => String(value).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
/** A duration in seconds with its best prefix: 8.71 ms. */
function duration(seconds) {
  if (!(seconds > 0)) return "0 s";
  for (const [size, name] of [
    [1, "s"],
    [1e-3, "ms"],
    [1e-6, "µs"],
    [1e-9, "ns"],
  ])
    if (seconds >= size * 0.9995 || size === 1e-9) return Number((seconds / size).toPrecision(3)) + " " + name;
}
const power = n => "10" + String(n).replace(/./g, c => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]));

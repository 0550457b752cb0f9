// Columns of many points: decoding, extents, searching.

/** A column: a plain list, or base64 of little-endian floats. */
function decode(column) {
  if (Array.isArray(column)) return Float64Array.from(column, v => (v === null ? NaN : v));
  if (ArrayBuffer.isView(column)) return column;
  const text = atob(column.f64 ?? column.f32),
    bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return column.f64 != null ? new Float64Array(bytes.buffer) : new Float32Array(bytes.buffer);
}

const BLOCK = 256;
/** Extents of blocks of 256 points, once for a column: any extent then costs O(n/256). */
const pyramids = new WeakMap();
function pyramid(column) {
  let blocks = pyramids.get(column);
  if (blocks && blocks.length === column.length) return blocks;
  const n = Math.ceil(column.length / BLOCK);
  blocks = { low: new Float64Array(n), high: new Float64Array(n), length: column.length };
  for (let b = 0; b < n; b++) {
    let low = Infinity,
      high = -Infinity;
    for (let i = b * BLOCK, end = Math.min(column.length, i + BLOCK); i < end; i++) {
      const v = column[i];
      if (v < low) low = v;
      if (v > high) high = v;
    }
    blocks.low[b] = low;
    blocks.high[b] = high;
  }
  pyramids.set(column, blocks);
  return blocks;
}
/** Smallest and largest value of column[from..to), NaN left out. */
function extent(column, from, to) {
  let low = Infinity,
    high = -Infinity;
  const scan = (a, b) => {
    for (let i = a; i < b; i++) {
      const v = column[i];
      if (v < low) low = v;
      if (v > high) high = v;
    }
  };
  const first = Math.ceil(from / BLOCK),
    last = Math.floor(to / BLOCK);
  if (last <= first) {
    scan(from, to);
    return [low, high];
  }
  const blocks = pyramid(column);
  scan(from, first * BLOCK);
  for (let b = first; b < last; b++) {
    if (blocks.low[b] < low) low = blocks.low[b];
    if (blocks.high[b] > high) high = blocks.high[b];
  }
  scan(last * BLOCK, to);
  return [low, high];
}
/** First index whose value is not below `value` (or is above it, with `after`). */
function search(column, value, after) {
  let low = 0,
    high = column.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (column[middle] < value || (after && column[middle] === value)) low = middle + 1;
    else high = middle;
  }
  return low;
}
/** The value of a curve's column at x: along the line between two rows, or held. */
function valueAt(curve, column, x) {
  const xs = curve.x,
    n = xs.length;
  if (!n || x < xs[0] || x > xs[n - 1]) return NaN;
  const i = search(xs, x, true);
  if (curve.hold === "back") return column[Math.min(n - 1, search(xs, x))];
  if (curve.hold || i >= n || xs[i] === xs[i - 1]) return column[Math.min(i, n) - 1];
  const s = (x - xs[i - 1]) / (xs[i] - xs[i - 1]);
  return column[i - 1] + s * (column[i] - column[i - 1]);
}

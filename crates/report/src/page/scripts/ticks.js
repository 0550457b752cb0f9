// Ticks of axes.

/** Ticks of a linear axis with about `wish` marks, and the power of ten that is taken out of their labels. */
function linearTicks(low, high, wish, whole) {
  const raw = Math.max((high - low) / Math.max(1, wish), whole ? 1 : 0),
    base = 10 ** Math.floor(Math.log10(raw));
  const step = base * (raw / base < 1.5 ? 1 : raw / base < 3.5 ? 2 : raw / base < 7.5 ? 5 : 10);
  const places = [],
    largest = Math.max(Math.abs(low), Math.abs(high));
  const exponent = largest >= 1e5 || largest < 1e-2 ? 3 * Math.floor(Math.log10(largest) / 3) : 0;
  const decimals = Math.max(0, Math.min(12, -Math.floor(Math.log10(step / 10 ** exponent) + 1e-9)));
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9 && places.length < 60; i++) {
    const at = i * step;
    places.push({
      at,
      text: (at / 10 ** exponent)
        .toFixed(decimals)
        .replace("-", "−")
        .replace(/^−(0(\.0*)?)$/, "$1"),
    });
  }
  return { places, exponent };
}
/** Ticks of a logarithmic axis: decades, thinned, with minor lines where there is room. */
function logTicks(low, high, wish) {
  const first = Math.log10(low),
    last = Math.log10(high),
    places = [];
  if (last - first < 1.2) {
    const linear = linearTicks(low, high, wish);
    return { places: linear.places.filter(p => p.at > 0), exponent: linear.exponent };
  }
  const labels = every => Math.floor(last / every) - Math.ceil(first / every) + 1;
  let every = Math.max(1, Math.ceil((last - first) / wish));
  while (every > 1 && labels(every) < 3) every--;
  const plain = first > -2.5 && last < 5.5;
  const label = (m, e) => {
    if (plain) return e < 0 ? (m * 10 ** e).toFixed(-e) : count(m * 10 ** e);
    return (m > 1 ? `${m}·` : "") + power(e);
  };
  // One or two labels say too little: then 2 and 5 have theirs too.
  const labelled = every === 1 && labels(1) < 3 ? [2, 5] : [];
  for (let e = Math.floor(first); e <= last; e++) {
    if (e >= first && e % every === 0) places.push({ at: 10 ** e, text: label(1, e) });
    for (let m = 2; m < 10; m++) {
      const at = m * 10 ** e;
      const text = labelled.includes(m) ? label(m, e) : "";
      if (every === 1 && at >= low && at <= high) places.push({ at, text, minor: true });
    }
  }
  return { places, exponent: 0 };
}

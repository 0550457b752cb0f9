// Elements and colors.

/** A custom property of page.css, kept until the theme changes. */
const known = new Map();
function css(name) {
  if (!known.has(name)) known.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return known.get(name);
}

/** Measures texts. */
const ruler = document.createElement("canvas").getContext("2d");

/** A name that may break behind its dots and underscores, but not within a word. */
function breakable(name) {
  return name.split(/(?<=[._])/).flatMap((piece, i) => (i ? [el("wbr"), piece] : [piece]));
}

/** A DOM element. Text goes in as text, never as markup: names from a model inject nothing. */
function el(tag, attributes, ...children) {
  const svg = /^(svg|g|path|rect|text|circle|title|defs|marker|line|desc)$/.test(tag);
  const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value != null) node.setAttribute(key, value);
  }
  node.append(...children.flat().filter(child => child != null && child !== false && child !== 0));
  return node;
}

// The structure of a model as a drawn graph.

/** How wide a text is in the drawing, in pixels. */
function textWidth(words, size = 12, weight = 400) {
  ruler.font = `${weight} ${size}px ${css("--sans")}`;
  return ruler.measureText(words).width;
}
/** What stands below the name of a system. */
const kindOf = s => [s.kind, `${s.states} ${s.states === 1 ? "state" : "states"}`].filter(Boolean).join(" · ");

/** Systems as boxes with ports, from left to right in layers; connections run at right angles; feedthrough loops stand out. */
function structureGraph(host, { systems, connections, loops = [] }, onPick) {
  const names = systems.map(s => s.name);
  const byLength = [...names].sort((p, q) => q.length - p.length);
  // A name of a system may have dots in it: the longest that fits is meant.
  const of = port => names.indexOf(byLength.find(name => port.startsWith(name + ".")));
  const edges = connections.map(([from, to]) => ({
    from,
    to,
    a: of(from),
    b: of(to),
    loop: loops.some(l => l.includes(from) && carries(systems[of(to)], to, l)),
  }));
  // layers: edges that close a cycle in the order of a depth-first walk are feedback
  const state = names.map(() => 0),
    layer = names.map(() => 0),
    walk = i => {
      state[i] = 1;
      for (const e of edges)
        if (e.a === i) {
          if (state[e.b] === 1) e.back = true;
          else if (!state[e.b]) walk(e.b);
        }
      state[i] = 2;
    };
  names.forEach((_, i) => {
    if (!state[i]) walk(i);
  });
  for (let pass = 0; pass < names.length; pass++)
    for (const e of edges) if (!e.back && e.a !== e.b) layer[e.b] = Math.max(layer[e.b], layer[e.a] + 1);
  const layers = [];
  layer.forEach((l, i) => (layers[l] = layers[l] || []).push(i));
  for (let pass = 0; pass < 4; pass++)
    for (const nodes of layers) {
      const centre = i => {
        const near = edges
          .filter(e => e.a === i || e.b === i)
          .map(e => (e.a === i ? e.b : e.a))
          .filter(k => layer[k] !== layer[i]);
        return near.length ? near.reduce((s, k) => s + layers[layer[k]].indexOf(k), 0) / near.length : nodes.indexOf(i);
      };
      const keys = new Map(nodes.map(i => [i, centre(i)]));
      nodes.sort((p, q) => keys.get(p) - keys.get(q));
    }
  // sizes and places
  const PORT = 22,
    HEAD = 42,
    boxes = systems.map(s => ({
      w: Math.max(
        textWidth(s.name, 14, 650) + 24,
        textWidth(kindOf(s), 11) + 20,
        Math.max(0, ...s.inputs.map(p => textWidth(p.name))) + Math.max(0, ...s.outputs.map(p => textWidth(p.name))) + 52,
      ),
      h: HEAD + PORT * Math.max(1, s.inputs.length, s.outputs.length) + 8,
    }));
  const lanes = {
    up: edges.filter(e => !e.back && layer[e.b] - layer[e.a] > 1),
    down: edges.filter(e => e.back || e.a === e.b),
  };
  lanes.up.sort((p, q) => layer[p.b] - layer[p.a] - layer[q.b] + layer[q.a]);
  lanes.down.sort((p, q) => layer[p.a] - layer[p.b] - layer[q.a] + layer[q.b]);
  const gap = layers.map(
    (_, l) =>
      44 + 12 * edges.filter(e => layer[e.a] === l || (layer[e.b] === l + 1 && (e.back || layer[e.a] !== l))).length,
  );
  const before = 34 + 12 * edges.filter(e => layer[e.b] === 0).length,
    top = 12 + 14 * lanes.up.length;
  const tall = Math.max(...layers.map(nodes => nodes.reduce((s, i) => s + boxes[i].h + 26, -26)));
  let x = before;
  layers.forEach((nodes, l) => {
    const size = Math.max(...nodes.map(i => boxes[i].w)),
      high = nodes.reduce((s, i) => s + boxes[i].h + 26, -26);
    let y = top + (tall - high) / 2;
    for (const i of nodes) {
      boxes[i].x = x;
      boxes[i].w = size;
      boxes[i].y = y;
      y += boxes[i].h + 26;
    }
    x += size + gap[l];
  });
  const width = x - gap[layers.length - 1] + 34 + 12 * edges.filter(e => layer[e.a] === layers.length - 1).length,
    height = top + tall + 14 + 14 * lanes.down.length;
  const port = (name, side) => {
    const i = of(name),
      s = systems[i],
      own = name.slice(s.name.length + 1),
      k = s[side].findIndex(p => p.name === own);
    return {
      x: boxes[i].x + (side === "outputs" ? boxes[i].w : 0),
      y: boxes[i].y + HEAD + PORT * (k + 0.5),
      unit: s[side][k]?.unit,
    };
  };
  const columnR = layers.map(() => 0),
    columnL = layers.map(() => 0);
  const rounded = points => {
    let d = `M${points[0]}`;
    for (let i = 1; i < points.length - 1; i++) {
      const [p, q, r] = [points[i - 1], points[i], points[i + 1]],
        cut = (a, b) => {
          const n = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1,
            k = Math.min(7, n / 2);
          return [a[0] + ((b[0] - a[0]) * k) / n, a[1] + ((b[1] - a[1]) * k) / n];
        };
      d += `L${cut(q, p)}Q${q} ${cut(q, r)}`;
    }
    return d + `L${points[points.length - 1]}`;
  };
  const drawing = el(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      style: `width:${Math.ceil(width)}px;min-width:${Math.round(width * 0.8)}px`,
      role: onPick ? "group" : "img",
      class: "graph",
      "aria-label":
        `${systems.length} systems and ${connections.length} connections` +
        (loops.length ? `, feedthrough loop through ${loops.map(l => l.join(" and ")).join("; ")}` : ""),
    },
    el(
      "defs",
      {},
      ...["", "-loop"].map(kind =>
        el(
          "marker",
          {
            id: "arrow" + kind,
            viewBox: "0 0 8 8",
            refX: 7,
            refY: 4,
            markerWidth: 8,
            markerHeight: 8,
            markerUnits: "userSpaceOnUse",
            orient: "auto",
          },
          el("path", { d: "M0 0.5L8 4L0 7.5z", class: "arrow" + kind }),
        ),
      ),
    ),
  );
  for (const e of [...edges].sort((p, q) => !!p.loop - !!q.loop)) {
    const p = port(e.from, "outputs"),
      q = port(e.to, "inputs"),
      points = [[p.x + 5, p.y]];
    const out = () => boxes[e.a].x + boxes[e.a].w + 18 + 12 * columnR[layer[e.a]]++,
      into = () => boxes[e.b].x - 16 - 12 * columnL[layer[e.b]]++;
    const lane =
      lanes.down.indexOf(e) >= 0
        ? top + tall + 12 + 14 * lanes.down.indexOf(e)
        : lanes.up.indexOf(e) >= 0
          ? top - 12 - 14 * lanes.up.indexOf(e)
          : null;
    if (lane !== null) {
      const a = out(),
        b = into();
      points.push([a, p.y], [a, lane], [b, lane], [b, q.y]);
    } else if (Math.abs(p.y - q.y) > 1) {
      const a = out();
      points.push([a, p.y], [a, q.y]);
    }
    points.push([q.x - 6, q.y]);
    const pick = onPick && (() => onPick(e.from));
    drawing.append(
      el(
        "g",
        {
          class: "edge" + (e.loop ? " loop" : ""),
          tabindex: onPick ? 0 : null,
          role: onPick ? "button" : null,
          onclick: pick,
          onkeydown: ev => {
            if (ev.key === "Enter" || ev.key === " ") {
              ev.preventDefault();
              pick?.();
            }
          },
        },
        el(
          "title",
          {},
          `${e.from} → ${e.to}${p.unit && p.unit !== "1" ? ` [${p.unit}]` : ""}${e.loop ? ", part of a feedthrough loop" : ""}${onPick ? ". Click to plot it." : ""}`,
        ),
        el("path", { d: rounded(points), class: "wide" }),
        el("path", { d: rounded(points), class: "wire", "marker-end": `url(#arrow${e.loop ? "-loop" : ""})` }),
      ),
    );
  }
  systems.forEach((s, i) => {
    const b = boxes[i],
      g = el(
        "g",
        { class: "system" },
        el("title", {}, `${s.name}: ${s.states} states, ${s.inputs.length} inputs, ${s.outputs.length} outputs`),
        el("rect", { x: b.x, y: b.y, width: b.w, height: b.h, rx: 8 }),
        el("text", { x: b.x + b.w / 2, y: b.y + 18, class: "title" }, s.name),
        el(
          "text",
          { x: b.x + b.w / 2, y: b.y + 33, class: "kind" },
          kindOf(s),
        ),
      );
    for (const [inner, outer] of s.feedthrough || []) {
      const p = port(`${s.name}.${inner}`, "inputs"),
        q = port(`${s.name}.${outer}`, "outputs"),
        a = p.x + 12 + textWidth(inner),
        c = q.x - 12 - textWidth(outer);
      const inLoop = loops.some(
        l => l.includes(`${s.name}.${outer}`) && edges.some(e => e.loop && e.to === `${s.name}.${inner}`),
      );
      g.append(
        el(
          "path",
          {
            d: `M${a} ${p.y}C${(a + c) / 2} ${p.y} ${(a + c) / 2} ${q.y} ${c} ${q.y}`,
            class: "through" + (inLoop ? " loop" : ""),
          },
          el("title", {}, `${outer} follows ${inner} at once (feedthrough)`),
        ),
      );
    }
    for (const [side, dx, anchor] of [
      ["inputs", 10, "start"],
      ["outputs", -10, "end"],
    ])
      for (const p of s[side]) {
        const at = port(`${s.name}.${p.name}`, side);
        g.append(
          el("rect", { x: at.x - 4, y: at.y - 4, width: 8, height: 8, rx: 2, class: "port" }),
          el("text", { x: at.x + dx, y: at.y + 4, "text-anchor": anchor, class: "name" }, p.name),
        );
      }
    drawing.append(g);
  });
  host.append(
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Structure of the model" }, drawing),
  );
}

/** Whether a system passes this input on at once to an output of the loop. */
function carries(system, input, loop) {
  const own = name => `${system.name}.${name}`;
  return system.feedthrough.some(([inner, outer]) => own(inner) === input && loop.includes(own(outer)));
}

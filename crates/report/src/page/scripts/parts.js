// Parts of every page: verdict, facts, bars, commands, choices, theme.

/** Bars: [{ name, value, text, [quiet] }]. */
function barChart(host, entries) {
  const most = Math.max(...entries.map(e => e.value)) || 1;
  host.append(
    el(
      "dl",
      { class: "bars" },
      ...entries.flatMap(e => [
        el("dt", {}, e.name),
        el(
          "dd",
          {},
          el("span", {
            class: "bar" + (e.quiet ? " quiet" : ""),
            style: `width:${((100 * e.value) / most).toFixed(2)}%`,
          }),
          el("span", { class: "value" }, e.text),
        ),
      ]),
    ),
  );
}
/** A sentence in which names stand between backticks. */
function withCode(text) {
  return text.split("`").map((piece, i) => (i % 2 ? el("code", {}, piece) : piece));
}
/** The verdict: level is good, note, bad, ended or running; names stand between backticks. */
function verdictBanner(host, level, title, ...text) {
  const icons = {
    good: "M4 10.5l4 4l8-9",
    note: "M10 4v8M10 15.5v.5",
    bad: "M5 5l10 10M15 5L5 15",
    ended: "M6 4v12M6 5h9l-3 3l3 3H6",
    running: "M7 5l8 5l-8 5z",
  };
  host.replaceChildren(
    el("svg", { viewBox: "0 0 20 20", width: 24, height: 24, "aria-hidden": "true" }, el("path", { d: icons[level] })),
    el("div", {}, el("strong", {}, title), ...text.map(t => el("p", {}, ...withCode(t)))),
  );
  host.className = "verdict " + level;
  host.setAttribute("role", level === "good" || level === "running" ? "status" : "alert");
}
/** Facts: [[label, value, [remark]]]. */
function factTiles(host, list) {
  host.replaceChildren(
    ...list.map(([label, value, remark]) =>
      el("div", {}, el("dt", {}, label), el("dd", {}, value, ...(remark ? [el("small", {}, remark)] : []))),
    ),
  );
}
/** A command with a button that copies it. */
function commandBox(host, text) {
  const button = el(
      "button",
      {
        type: "button",
        onclick: async () => {
          try {
            await navigator.clipboard.writeText(text);
          } catch {
            const range = document.createRange();
            range.selectNodeContents(code);
            const s = getSelection();
            s.removeAllRanges();
            s.addRange(range);
          }
          button.textContent = "Copied";
          setTimeout(() => (button.textContent = "Copy"), 1500);
        },
      },
      "Copy",
    ),
    code = el("code", {}, text);
  host.replaceChildren(code, button);
}
/** Light, dark or as the system says; kept for the next page where the browser allows it. */
function themeSwitch(button) {
  const store = {
    get() {
      try {
        return localStorage.getItem("theme");
      } catch {
        return null;
      }
    },
    set(v) {
      try {
        localStorage.setItem("theme", v);
      } catch {
        /* not kept */
      }
    },
  };
  const dark = matchMedia("(prefers-color-scheme: dark)"),
    root = document.documentElement;
  const show = () => {
    const now = root.dataset.theme || (dark.matches ? "dark" : "light");
    button.textContent = now === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", `Change to the ${now === "dark" ? "light" : "dark"} theme`);
    repaint();
  };
  if (store.get()) root.dataset.theme = store.get();
  button.addEventListener("click", () => {
    root.dataset.theme = (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark" ? "light" : "dark";
    store.set(root.dataset.theme);
    show();
  });
  dark.addEventListener("change", show);
  show();
}
/** A choice of one: buttons side by side. */
function choice(label, entries, value, action) {
  const host = el("div", { class: "choice", role: "group", "aria-label": label }, el("span", {}, label));
  const set = v => {
    for (const b of host.querySelectorAll("button"))
      b.setAttribute("aria-pressed", String(b.dataset.value === String(v)));
  };
  for (const [v, text] of entries)
    host.append(
      el(
        "button",
        {
          type: "button",
          "data-value": v,
          onclick: () => {
            set(v);
            action(v);
          },
        },
        text,
      ),
    );
  set(value);
  return host;
}

// Clicks, zooms, toggles, searches and reads on the pages of a folder, at two widths, light and dark.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { launch, open, settled } from "./browser.mjs";

const folder = process.argv[2];
const file = name => join(folder, name);
const VIEWS = [
  { width: 1400, scheme: "light" },
  { width: 1400, scheme: "dark" },
  { width: 400, scheme: "light" },
  { width: 400, scheme: "dark" },
];
let claims = 0;
/** One browser for all: each view has a context of its own. */
const browser = await launch();

/** Runs a claim about a page in each view; nothing may go wrong on the way. */
async function claim(text, name, check, views = VIEWS) {
  // ONLY="million points" tries one claim.
  if (!text.includes(process.env.ONLY || "")) return;
  for (const view of views) {
    const { page, troubles, close } = await open(browser, file(name), view);
    try {
      await check(page, view);
      assert.deepEqual(troubles, []);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= view.width, `the page scrolls sideways: ${wide} of ${view.width}`);
    } catch (error) {
      error.message = `${text} (${name}, ${view.width} px, ${view.scheme}): ${error.message}`;
      throw error;
    } finally {
      await close();
    }
    claims++;
    if (process.env.VERBOSE) console.log(`${text} (${view.width} px, ${view.scheme})`);
  }
}

const text = (page, selector) => page.locator(selector).first().innerText();
const clock = page => text(page, "#figure .clock");
const panels = page => page.locator("#figure .panel").count();

await claim("a run opens with its name and a verdict in words", "run.html", async page => {
  assert.equal(await text(page, "h1"), "two mechanical bodies");
  assert.match(await text(page, "#verdict strong"), /^Good/);
  assert.match(await text(page, "#meta"), /model\.toml/);
  assert.match(await text(page, "#command code"), /^dovetail run /);
});

await claim("every panel has something drawn in it", "run.html", async page => {
  const blank = await page.evaluate(() =>
    [...document.querySelectorAll("#figure canvas:not(.over)")].filter(canvas => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return !data.some(value => value !== 0);
    }).length,
  );
  assert.equal(blank, 0);
});

await claim("buttons and the wheel zoom, and Reset shows all again", "run.html", async page => {
  const all = await clock(page);
  await page.click("#figure .tools button:nth-child(2)");
  await settled(page);
  const nearer = await clock(page);
  assert.notEqual(nearer, all);
  await page.locator("#figure .over").first().hover();
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -300);
  await page.keyboard.up("Control");
  await settled(page);
  await page.mouse.move(0, 0);
  await settled(page);
  assert.notEqual(await clock(page), nearer);
  await page.click("#figure .tools button:nth-child(3)");
  await page.mouse.move(0, 0);
  await settled(page);
  assert.equal(await clock(page), all);
});

await claim("the cursor reads values, by mouse and by keys", "run.html", async page => {
  const value = () => text(page, "#figure .legend .value");
  const before = await value();
  const over = page.locator("#figure .over").first();
  await over.scrollIntoViewIfNeeded();
  const area = await over.boundingBox();
  await page.mouse.move(area.x + area.width / 2, area.y + area.height / 2);
  await settled(page);
  assert.match(await clock(page), /^t = /);
  assert.notEqual(await value(), before);
  await page.mouse.move(0, 0);
  await page.focus("#figure .stack");
  await page.keyboard.press("ArrowRight");
  await settled(page);
  assert.match(await text(page, "#figure .sr"), /left\.position/);
});

await claim("the search narrows the list, and ticks draw and take away", "run.html", async page => {
  await page.evaluate(() => (document.getElementById("list").open = true));
  const drawn = await panels(page);
  await page.fill("#list input[type=search]", "force");
  assert.equal(await page.locator("#list label:visible").count(), 1);
  await page.locator("#list label:visible input").uncheck();
  await settled(page);
  assert.equal(await panels(page), drawn - 1);
  await page.locator("#list label:visible input").check();
  await page.fill("#list input[type=search]", "nothing of this name");
  assert.equal(await page.locator("#list .empty").isVisible(), true);
});

await claim("the legend hides a curve and a connection plots one", "run.html", async page => {
  const entry = page.locator("#figure .legend button").first();
  await entry.click();
  assert.equal(await entry.getAttribute("aria-pressed"), "false");
  const drawn = await panels(page);
  await page.locator("#graph .edge").first().focus();
  await page.keyboard.press("Enter");
  await settled(page);
  assert.notEqual(await panels(page), drawn);
});

await claim("the solver's section starts closed and opens", "run.html", async page => {
  assert.equal(await page.locator("#solverfigure").isVisible(), false);
  await page.click("#solver summary");
  await settled(page);
  assert.match(await text(page, "#solverfigure h3"), /step size/);
});

await claim("the theme changes and stays readable", "run.html", async (page, { scheme }) => {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const before = await ground();
  await page.click("#theme");
  await settled(page);
  assert.notEqual(await ground(), before);
  const name = await page.evaluate(() => document.documentElement.dataset.theme);
  assert.equal(name, scheme === "light" ? "dark" : "light");
});

/** The range of x of the results. */
const range = page => page.evaluate(() => window.page.figure.range);
/** A place in the first plot, as parts of its width and height. */
async function placeIn(page, across, down = 0.5) {
  const over = page.locator("#figure .over").first();
  await over.scrollIntoViewIfNeeded();
  const [x, y, w, h] = await page.evaluate(() => {
    const { over, frame } = window.page.figure.panels[0];
    const box = over.getBoundingClientRect();
    return [box.left + frame.px(frame.x0), box.top + 8, frame.w, frame.h];
  });
  return [x + across * w, y + down * h];
}
const near = (found, expected, tolerance) =>
  assert.ok(Math.abs(found - expected) <= tolerance, `${found} is not ${expected} ± ${tolerance}`);

await claim(
  "dragging zooms, with Shift it pans, and a double click shows all",
  "run.html",
  async page => {
    const [start, stop] = await range(page);
    const span = stop - start;
    await page.mouse.move(...(await placeIn(page, 0.25)));
    await page.mouse.down();
    await page.mouse.move(...(await placeIn(page, 0.75)), { steps: 5 });
    await page.mouse.up();
    await settled(page);
    let [low, high] = await range(page);
    near(low, start + 0.25 * span, 0.01 * span);
    near(high, start + 0.75 * span, 0.01 * span);

    await page.keyboard.down("Shift");
    await page.mouse.move(...(await placeIn(page, 0.5)));
    await page.mouse.down();
    await page.mouse.move(...(await placeIn(page, 0.7)), { steps: 5 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    await settled(page);
    const before = low;
    [low, high] = await range(page);
    near(low, before - 0.2 * 0.5 * span, 0.01 * span);
    near(high - low, 0.5 * span, 0.01 * span);

    await page.mouse.dblclick(...(await placeIn(page, 0.5)));
    await settled(page);
    assert.deepEqual(await range(page), [start, stop]);
  },
  VIEWS.slice(0, 2),
);

await claim(
  "two fingers zoom in, and one reads values",
  "run.html",
  async page => {
    const [start, stop] = await range(page);
    const [middle, y] = await placeIn(page, 0.5);
    const touch = (type, pointerId, x) =>
      page.evaluate(
        ([type, pointerId, clientX, clientY]) => {
          const how = { pointerId, clientX, clientY, pointerType: "touch", bubbles: true, button: 0 };
          window.page.figure.panels[0].over.dispatchEvent(new PointerEvent(type, how));
        },
        [type, pointerId, x, y],
      );
    await touch("pointerdown", 1, middle - 30);
    await settled(page);
    assert.match(await clock(page), /^t = /);
    await touch("pointerdown", 2, middle + 30);
    await touch("pointermove", 1, middle - 90);
    await touch("pointermove", 2, middle + 90);
    await touch("pointerup", 1, middle - 90);
    await touch("pointerup", 2, middle + 90);
    await settled(page);
    const [low, high] = await range(page);
    near((high - low) / (stop - start), 1 / 3, 0.02);
  },
  VIEWS.slice(2),
);

await claim("texts stay within the boxes of the graph", "run.html", async page => {
  const outside = await page.evaluate(() => {
    const inside = (text, box) => text.left >= box.left - 1 && text.right <= box.right + 1;
    return [...document.querySelectorAll("#graph .system")].flatMap(system => {
      const box = system.querySelector("rect").getBoundingClientRect();
      const texts = [...system.querySelectorAll("text")];
      return texts.filter(text => !inside(text.getBoundingClientRect(), box)).map(text => text.textContent);
    });
  });
  assert.deepEqual(outside, []);
});

await claim("one variable is drawn over another, and figures are saved", "run.html", async page => {
  await page.click("#orbit summary");
  await settled(page);
  const across = page.locator("#orbitfigure select").first();
  await across.selectOption("right.force");
  await settled(page);
  assert.match(await page.evaluate(() => window.page.orbits.options.label), /^right\.force/);
  const points = await page.evaluate(() => window.page.orbits.curves[0].x.length);
  assert.ok(points > 100, `${points} points`);

  const save = async kind => {
    const button = page.locator("#figure .tools button", { hasText: kind });
    const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
    return [download.suggestedFilename(), readFileSync(await download.path())];
  };
  const [name, svg] = await save("SVG");
  assert.equal(name, "two-mechanical-bodies-results.svg");
  assert.match(svg.toString(), /^<svg xmlns.*left\.position.*<path/s);
  const [, png] = await save("PNG");
  assert.equal(png.subarray(1, 4).toString(), "PNG");
});

await claim("a run that diverges is called not usable", "diverged.html", async page => {
  assert.match(await text(page, "#verdict strong"), /^Not usable/);
});

await claim("events say what jumps", "events.html", async page => {
  const events = await page.evaluate(() => window.page.figure.events);
  assert.ok(events.length > 0 && events[0].text.includes("→"), JSON.stringify(events.slice(0, 3)));
});

await claim(
  "the text of an event appears at its line",
  "events.html",
  async page => {
    const ink = () =>
      page.evaluate(() => {
        const { figure } = window.page;
        const { over, frame } = figure.panels[0];
        const x = frame.px(figure.events[0].time);
        const ratio = over.width / frame.width;
        const copy = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
        copy.drawImage(over, -(x + 8) * ratio, -12 * ratio);
        const { data } = copy.getImageData(0, 0, 40 * ratio, 10 * ratio);
        return data.filter((value, i) => i % 4 === 3 && value > 0).length;
      });
    const part = await page.evaluate(() => {
      const { figure } = window.page;
      const { frame } = figure.panels[0];
      return (frame.px(figure.events[0].time) - frame.px(frame.x0)) / frame.w;
    });
    await page.mouse.move(...(await placeIn(page, part + 0.1)));
    await settled(page);
    assert.equal(await ink(), 0);
    await page.mouse.move(...(await placeIn(page, part)));
    await settled(page);
    assert.ok((await ink()) > 100);
  },
  VIEWS.slice(0, 2),
);

await claim("a model without connections speaks of none", "million.html", async page => {
  assert.equal(await page.locator("#graph .key").count(), 0);
  assert.doesNotMatch(await text(page, "#structure header"), /connection/);
}, [VIEWS[0]]);

await claim("a comparison sorts its table and draws what is ticked", "compare.html", async page => {
  const first = () => text(page, "#runs tbody tr:first-child td:nth-child(5)");
  await page.click("#runs thead th:nth-child(5) button");
  const least = await first();
  await page.click("#runs thead th:nth-child(5) button");
  assert.notEqual(await first(), least);
  const curves = () => page.locator("#figure .legend button").count();
  const before = await curves();
  await page.locator("#runs input:not(:checked)").first().check();
  await settled(page);
  assert.equal(await curves(), before + 2);
  await page.click("#scatter [data-value=wall]");
  await settled(page);
});

await claim("an enclosure draws bands, samples and widths", "enclose.html", async page => {
  assert.match(await text(page, "#verdict strong"), /^Proved/);
  const inside = () => page.evaluate(() => window.page.figure.curves[0].inside.length);
  assert.equal(await inside(), 4);
  await page.locator("#figure .choice", { hasText: "Sampled runs" }).locator("button").first().click();
  assert.equal(await inside(), 0);
  assert.ok((await page.locator("#widths .legend button").count()) > 0);
});

await claim(
  "a million points zoom, and a peak of one point is drawn",
  "million.html",
  async page => {
    const times = await page.evaluate(async () => {
      const { figure } = window.page;
      const frame = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
      const all = [];
      for (let i = 0; i < 12; i++) {
        figure.zoom(0.6, 3);
        await frame();
        all.push(figure.drawn);
      }
      return all;
    });
    const peak = await page.evaluate(async () => {
      const { figure } = window.page;
      figure.reset();
      await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
      const panel = figure.panels.find(panel => panel.curves.some(curve => curve.name === "wave.height"));
      const { px, py } = panel.frame;
      const ratio = panel.base.width / panel.frame.width;
      const ctx = panel.base.getContext("2d");
      const { data } = ctx.getImageData((px(5.3) - 3) * ratio, (py(8) - 1) * ratio, 6 * ratio, 8 * ratio);
      // Colors of curves are strong, those of the grid are not.
      const colored = i => Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]);
      let found = 0;
      for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 100 && colored(i) > 60) found++;
      return found;
    });
    assert.ok(peak > 0, "the peak at 5.3 s is not drawn");
    const points = await page.evaluate(() => window.page.variables[0].x.length);
    assert.ok(points >= 900000, `${points} points`);
    console.log(`${points} points: frames of ${times.map(t => t.toFixed(1)).join(", ")} ms while zooming in`);
  },
  [VIEWS[0]],
);

await browser.close();
console.log(`${claims} claims hold.`);

// Clicks, zooms, toggles, searches and reads on the pages of a folder, at two widths, light and dark.
import assert from "node:assert/strict";
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

/** Runs a claim about a page in each view; nothing may go wrong on the way. */
async function claim(text, name, check, views = VIEWS) {
  for (const view of views) {
    const browser = await launch();
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
      await browser.close();
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

await claim("a run that diverges is called not usable", "diverged.html", async page => {
  assert.match(await text(page, "#verdict strong"), /^Not usable/);
});

await claim("events say what jumps", "events.html", async page => {
  const events = await page.evaluate(() => window.page.figure.events);
  assert.ok(events.length > 0 && events[0].text.includes("→"), JSON.stringify(events.slice(0, 3)));
});

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
    const points = await page.evaluate(() => window.page.variables[0].x.length);
    assert.ok(points >= 900000, `${points} points`);
    console.log(`${points} points: frames of ${times.map(t => t.toFixed(1)).join(", ")} ms while zooming in`);
  },
  [VIEWS[0]],
);

console.log(`${claims} claims hold.`);

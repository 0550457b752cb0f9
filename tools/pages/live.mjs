// Watches, stops, changes and repeats runs on the page that `dovetail live` serves: live.mjs PROGRAM EXAMPLES
// Leaves the page as live.html, to be linted; with SHOTS=FOLDER also pictures of it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { launch, settled } from "./browser.mjs";

const [program, examples] = process.argv.slice(2);
const VIEWS = [
  { width: 1400, scheme: "light" },
  { width: 1400, scheme: "dark" },
  { width: 400, scheme: "light" },
  { width: 400, scheme: "dark" },
];

/** Starts the program; its address, and what ends it. */
async function serve(...flags) {
  const child = spawn(program, ["live", ...flags], { stdio: ["ignore", "pipe", "inherit"] });
  const [address] = await new Promise(done => {
    const lines = createInterface({ input: child.stdout });
    lines.once("line", line => done([line]));
  });
  const end = () =>
    new Promise(done => {
      child.once("exit", code => done(code));
      child.kill("SIGINT");
    });
  return { address, end };
}

async function open(browser, address, { width, scheme }) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme, hasTouch: width < 720 });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000); // a busy machine is no failure of a page
  const troubles = [];
  page.on("pageerror", error => troubles.push(`error: ${error.message}`));
  page.on("console", message => {
    if (message.type() === "error" || message.type() === "warning") troubles.push(`console: ${message.text()}`);
  });
  page.on("request", request => {
    const url = request.url();
    if (!url.startsWith(address) && !url.startsWith("data:")) troubles.push(`request: ${url}`);
  });
  await page.goto(address);
  return { page, troubles, close: () => context.close() };
}

const rows = page => page.evaluate(() => window.page?.variables[0].x.length ?? 0);
const under = page => page.evaluate(() => window.page.variables[0].earlier.length);
const verdict = page => page.locator("#verdict strong").innerText();
const says = (page, words) => page.waitForFunction(w => document.getElementById("verdict").innerText.includes(w), words);
const over = page => page.waitForFunction(() => document.getElementById("stop").disabled && window.page?.variables[0].x.length);

/** A picture of the page, where one is wanted. */
async function shoot(page, { width, scheme }, name) {
  if (!process.env.SHOTS) return;
  await page.evaluate(() => scrollTo(0, 0));
  await settled(page);
  await page.screenshot({ path: join(process.env.SHOTS, `live-${name}-${width}-${scheme}.png`), fullPage: true });
}

/** Watches a run, stops it, changes a parameter, runs again, lays the first run under the second. */
async function session(browser, view) {
  const { address, end } = await serve(join(examples, "lotka-volterra/model.toml"), "--real-time", "0.4");
  const { page, troubles, close } = await open(browser, address, view);
  await says(page, "Run 1 is under way");
  await page.waitForFunction(() => window.page?.variables[0].x.length > 3);
  const before = await rows(page);
  await page.waitForFunction(count => window.page.variables[0].x.length > count + 5, before);
  assert.match(await page.locator("#state").innerText(), /^t = .* of 20 s/);
  const blank = await page.evaluate(() =>
    [...document.querySelectorAll("#figure canvas:not(.over)")].filter(
      canvas => !canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some(value => value !== 0),
    ).length,
  );
  assert.equal(blank, 0, "every panel has something drawn in it");
  await shoot(page, view, "running");

  await page.click("#stop");
  await says(page, "Ended early");
  assert.match(await page.locator("#verdict").innerText(), /interrupted at t = /);

  const birth = page.locator("#settable label", { hasText: "birth" }).locator("input");
  await birth.fill("0.9");
  assert.equal(await page.locator("#changed").textContent(), "1 changed");
  await page.selectOption("#choices select >> nth=1", "0");
  await page.click("#run");
  await says(page, "the result is accurate");
  await over(page);
  assert.match(await page.locator("#past").innerText(), /run 2\s+prey\.birth = 0\.9, at full speed/);
  assert.equal(await under(page), 1, "the first run lies under the second");
  const value = await page.locator("#figure .legend .value").first().innerText();
  assert.match(value, /\nrun 1: /);
  assert.match(await page.locator("#command code").innerText(), /^dovetail run .*--set=prey\.birth=0\.9/);
  await shoot(page, view, "overlay");

  await page.locator("#past .run button").first().click();
  assert.equal(await under(page), 0);
  await page.locator("#past .run button").first().click();
  assert.equal(await under(page), 1);
  await page.click("#past .forget");
  assert.equal(await under(page), 0);
  assert.equal(await page.locator("#past").isVisible(), true);

  // What is no value is refused in words, and the curves stay.
  await birth.fill("much");
  const drawn = await rows(page);
  await page.click("#run");
  await says(page, "The run was not begun");
  assert.match(await page.locator("#verdict").innerText(), /prey\.birth/);
  assert.equal(await rows(page), drawn);
  await page.click("#restore");
  assert.equal(await page.locator("#changed").textContent(), "");

  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= view.width, `the page scrolls sideways: ${wide} of ${view.width}`);
  assert.deepEqual(troubles, []);
  const text = await (await page.request.get(address)).text();
  writeFileSync("live.html", text);
  assert.equal(await end(), 0);
  await page.waitForFunction(() => document.getElementById("state").innerText.includes("has ended"));
  assert.equal(await rows(page), drawn, "what was computed stays when the program has gone");
  await close();
}

/** Two browsers see the same run; one leaves, the other does not notice; one that comes later is given everything. */
async function company(browser) {
  const { address, end } = await serve(join(examples, "mechanical/model.toml"), "--real-time", "0.05");
  const one = await open(browser, address, VIEWS[0]);
  const two = await open(browser, address, VIEWS[2]);
  await Promise.all([one, two].map(({ page }) => page.waitForFunction(() => window.page?.variables[0].x.length > 5)));
  await one.close();
  const before = await rows(two.page);
  await two.page.waitForFunction(count => window.page.variables[0].x.length > count + 5, before);
  await two.page.click("#stop");
  await says(two.page, "Ended early");
  const three = await open(browser, address, VIEWS[0]);
  await says(three.page, "Ended early");
  assert.equal(await rows(three.page), await rows(two.page));
  assert.deepEqual([...two.troubles, ...three.troubles], []);
  await Promise.all([two.close(), three.close()]);
  assert.equal(await end(), 0);
}

for (const view of VIEWS) {
  const browser = await launch();
  try {
    await session(browser, view);
  } catch (error) {
    error.message = `a session (${view.width} px, ${view.scheme}): ${error.message}`;
    throw error;
  } finally {
    await browser.close();
  }
}
const browser = await launch();
await company(browser);
await browser.close();
console.log(`${VIEWS.length + 1} sessions on live pages hold.`);

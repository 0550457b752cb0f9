// A browser that notes what goes wrong on a page.
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const launch = () =>
  chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: FLAGS });

/** Opens a page of this width and color scheme; `troubles` fills with errors and requests. */
export async function open(browser, file, { width = 1400, scheme = "light" } = {}) {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: scheme,
    hasTouch: width < 720,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000); // a busy machine is no failure of a page
  const troubles = [];
  const address = pathToFileURL(file).href;
  page.on("pageerror", error => troubles.push(`error: ${error.message}`));
  page.on("console", message => {
    if (message.type() === "error" || message.type() === "warning") troubles.push(`console: ${message.text()}`);
  });
  page.on("request", request => {
    const url = request.url();
    if (url !== address && !url.startsWith("data:")) troubles.push(`request: ${url}`);
  });
  await page.goto(address);
  await settled(page);
  return { page, troubles, close: () => context.close() };
}

/** Waits until everything is drawn. */
export const settled = page =>
  page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30)))));

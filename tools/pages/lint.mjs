// Lints the script of each page that is named.
import { readFileSync } from "node:fs";
import { ESLint } from "eslint";

let troubles = 0;
const eslint = new ESLint({ cwd: import.meta.dirname });
for (const file of process.argv.slice(2)) {
  const page = readFileSync(file, "utf8");
  // Without the function around it: what a page shares with others need not be used on it.
  const script = page.slice(page.lastIndexOf('"use strict";'), page.lastIndexOf("})();"));
  const results = await eslint.lintText(script, { filePath: "page.js" });
  for (const { messages } of results)
    for (const { line, message, ruleId } of messages) {
      console.error(`${file}: ${ruleId}: ${message}\n    ${script.split("\n")[line - 1].trim()}`);
      troubles++;
    }
}
if (troubles) process.exit(1);
console.log(`The scripts of ${process.argv.length - 2} pages are clean.`);

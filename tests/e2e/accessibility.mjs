// What axe-core, a program that checks accessibility, says of every view, menu and dialog: nothing
// that is serious or critical, light or dark.
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { atRest, ready, STATES } from "./states.mjs";

const require = createRequire(fileURLToPath(new URL("../../ui/package.json", import.meta.url)));
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/**
 * A rule that wants the visible text of a control as it is in its name. What a mark of a chart shows
 * is data: its name says the same with the measure in between, as in `gateway: 1.9 M events, +2 %`.
 */
const NAME_HAS_TEXT = "label-content-name-mismatch";
const isMark = (html) => /^<(div|span|button|path|g)[^>]* (role="button"|data-mark)/.test(html);

/** The serious and critical findings of a page: the rule, and where. `rules`: only these. */
async function findings(page, rules) {
  // The page's content security policy lets no script tag in; the debugger's own way needs none.
  await page.evaluate(axe);
  const options = { resultTypes: ["violations"], ...(rules ? { runOnly: rules } : {}) };
  const { violations } = await page.evaluate((given) => globalThis.axe.run(document, given), options);
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, help, nodes }) => {
      const meant = nodes.filter(({ html }) => id !== NAME_HAS_TEXT || !isMark(html));
      return meant.slice(0, 5).map((it) => `${id} (${help}): ${it.html.slice(0, 200)} ${it.any[0]?.message ?? ""}`);
    });
}

export const tests = STATES.map(([name, reach]) => [
  `is accessible: ${name}`,
  async (given) => {
    const { page, wrong } = given;
    await page.emulateMedia({ colorScheme: "light" });
    const leave = await reach(given);
    await ready(page);
    await atRest(page);
    const light = await findings(page);
    // Only colours are different in the dark.
    await page.emulateMedia({ colorScheme: "dark" });
    await page.locator("html[data-mantine-color-scheme=dark]").waitFor();
    await atRest(page);
    const dark = await findings(page, ["color-contrast"]);
    await leave?.();
    // The browser notes answers that are errors.
    if (name.startsWith("wrong SQL")) wrong.splice(0);
    assert.deepEqual({ light, dark }, { light: [], dark: [] });
  },
]);

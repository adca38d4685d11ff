// Text that everybody can read: at least 4.5:1 on its ground (WCAG 2.2, 1.4.3), large text 3:1.
import { strict as assert } from "node:assert";
import { open, STILL } from "./steps.mjs";

/** The texts of a page whose contrast is too low, with their ratios. */
const tooFaint = (page) =>
  page.evaluate(() => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const rgba = (colour) => {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      return [r, g, b, a / 255];
    };
    const over = ([r, g, b, a], under) => [r, g, b].map((it, at) => it * a + under[at] * (1 - a));
    const groundOf = (element) => {
      const grounds = [];
      for (let it = element; it; it = it.parentElement) {
        const ground = rgba(getComputedStyle(it).backgroundColor);
        grounds.push(ground);
        if (ground[3] === 1) break;
      }
      return grounds.reduceRight((under, ground) => over(ground, under), [255, 255, 255]);
    };
    const light = (colour) => {
      const [r, g, b] = colour.map((it) => {
        const part = it / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const faint = new Set();
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const element = texts.currentNode.parentElement;
      const said = texts.currentNode.textContent.trim();
      // What cannot be used, or is of a few rows, is grey on purpose.
      if (!element || said === "" || element.closest(":disabled, .few, [data-disabled], script, style")) continue;
      if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      const style = getComputedStyle(element);
      const ground = groundOf(element);
      const [one, other] = [light(over(rgba(style.color), ground)), light(ground)];
      const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
      const size = Number.parseFloat(style.fontSize);
      const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      if (ratio < (large ? 3 : 4.5)) faint.add(`${said.slice(0, 40)}: ${ratio.toFixed(2)}`);
    }
    return [...faint];
  });

export const tests = [
  [
    "has text that can be read in every view, light and dark",
    async ({ page, url }) => {
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        for (const view of ["overview", "time&by=service", "table&by=service&compare=7d", "distribution&of=latency_us", "samples"]) {
          await open(page, `${url}/?${STILL}&view=${view}`);
          await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor();
          assert.deepEqual(await tooFaint(page), [], `${view}, ${colorScheme}`);
        }
      }
    },
  ],
  [
    "has text that can be read on the home page and in the menu Export, light and dark",
    async ({ page, url }) => {
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        await page.goto(`${url}/?page=home`);
        await page.getByTestId("table-requests").getByRole("img", { name: /last hour$/ }).waitFor();
        await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor();
        assert.deepEqual(await tooFaint(page), [], `home, ${colorScheme}`);
        await open(page, `${url}/?${STILL}&view=time&by=service&scale=log&panels=each`);
        await page.getByRole("button", { name: "Export", exact: true }).click();
        await page.getByRole("menuitem", { name: "CSV" }).waitFor();
        await page.waitForFunction(() => getComputedStyle(document.querySelector("[role=menu]")).opacity === "1");
        assert.deepEqual(await tooFaint(page), [], `export, ${colorScheme}`);
      }
    },
  ],
];

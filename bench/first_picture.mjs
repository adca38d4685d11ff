// Measures the wait for the first picture: from `hadal open FILE` until the page has painted its
// chart. The page is opened once the program says that all rows are in. Prints the seconds.
// usage: node first_picture.mjs PROGRAM FILE ROWS   where FILE has ROWS rows
import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { startBrowser } from "../tests/e2e/demo.mjs";

const [program, file, rows] = process.argv.slice(2);

// A person's browser runs already.
const browser = await startBrowser();
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
const start = performance.now();
const server = spawn(program, ["open", file, "--no-browser"], { stdio: ["ignore", "pipe", "pipe"] });
try {
  await page.goto(await ready(server));
  await painted(page);
  const seconds = (performance.now() - start) / 1000;
  const corner = await page.getByTestId("coverage").first().innerText();
  assert.equal(/([\d,]+) rows/.exec(corner)?.[1].replaceAll(",", ""), rows, `the picture is of: ${corner}`);
  console.log(seconds.toFixed(2));
} finally {
  server.kill("SIGTERM");
  await browser.close();
}

/** Resolves to the address, once the program has said that it is ready. */
function ready(child) {
  let said = "";
  return new Promise((resolve, reject) => {
    const hear = (chunk) => {
      said += chunk;
      const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(said) ?? [];
      if (url && /^ready/m.test(said)) resolve(url);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`${program} ended with ${code}: ${said}`)));
  });
}

/** Waits until the chart of events has ink on it, and the frame with it is on the screen. */
async function painted(page) {
  const chart = page.getByRole("img", { name: /events/i }).first();
  await chart.waitFor();
  await chart.evaluate(async (place) => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const hasInk = (canvas) =>
      canvas.width > 0 &&
      canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value !== 0);
    while (![...place.querySelectorAll("canvas")].some(hasInk)) await frame();
    await frame();
  });
}

// The first load of the page: what is sent, and when its facets are painted.
import { recordPaints } from "./painted.mjs";

/** Whether a response is a script or a style. */
const isCode = (url) => /\.(js|css)$/.test(new URL(url).pathname);

/**
 * Opens the page with an empty cache, on a processor so many times as slow. Resolves to the bytes
 * of scripts and styles as they are sent, those requested before the first paint (`before`) and all
 * until the network is idle (`all`), and to the seconds until all facets are painted.
 */
export async function firstLoad(browser, url, slower) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, timezoneId: "UTC" });
  await recordPaints(context);
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: slower });
  await cdp.send("Network.enable");
  const files = new Map();
  cdp.on("Network.responseReceived", ({ requestId, response }) => {
    if (isCode(response.url)) files.set(requestId, { url: response.url, bytes: 0 });
  });
  cdp.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    const file = files.get(requestId);
    if (file) file.bytes = encodedDataLength;
  });
  await page.goto(url, { waitUntil: "commit" });
  const painted = await page.evaluate(facetsPainted);
  await page.waitForLoadState("networkidle");
  const sum = (of) => of.reduce((bytes, file) => bytes + file.bytes, 0);
  const all = [...files.values()];
  const early = await page.evaluate(() => {
    const [{ startTime }] = performance.getEntriesByName("first-paint");
    const requests = performance.getEntriesByType("resource");
    return requests.filter((request) => request.startTime < startTime).map(({ name }) => name);
  });
  const before = all.filter(({ url: of }) => early.includes(of));
  await context.close();
  return { before: sum(before), all: sum(all), seconds: painted / 1000 };
}

/** In the page: the milliseconds until all facets have values, and a frame with them is painted. */
function facetsPainted() {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const stands = () => {
    const facets = [...document.querySelectorAll("[data-testid^=facet-]")];
    return facets.length > 0 && facets.every((facet) => facet.querySelector(".facet, .mini-bars > *") !== null);
  };
  return (async () => {
    while (!stands()) await frame();
    const channel = new MessageChannel();
    const painted = new Promise((resolve) => (channel.port1.onmessage = () => resolve(performance.now())));
    channel.port2.postMessage(0);
    return painted;
  })();
}

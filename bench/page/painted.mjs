// When a picture is painted: measured in the page, from what a person does to the frame that has
// the last change. A change is one of the document within a view, or a drawing on a canvas.

/** How long nothing may change after an answer, in milliseconds, before it counts as complete. */
const QUIET_MS = 150;

/** Runs in every document before its scripts. */
function record() {
  const state = { began: 0, painted: 0, changed: 0 };
  window.painted = state;
  const channel = new MessageChannel();
  // A message that a frame's callback sends is handled after the frame is painted.
  channel.port1.onmessage = () => (state.painted = performance.now());
  let waiting = false;
  const change = () => {
    state.changed = performance.now();
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      channel.port2.postMessage(0);
    });
  };
  const begin = (event) => (state.began = event.timeStamp);
  for (const kind of ["click", "keydown"]) window.addEventListener(kind, begin, { capture: true });
  const { clearRect } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.clearRect = function (...box) {
    change();
    return clearRect.apply(this, box);
  };
  const observer = new MutationObserver((changes) => {
    const isOfAView = ({ target }) => {
      const element = target instanceof Element ? target : target.parentElement;
      return element?.closest("[data-testid=view]") !== null || element.querySelector("[data-testid=view]") !== null;
    };
    if (changes.some(isOfAView)) change();
  });
  observer.observe(document, { childList: true, subtree: true, attributes: true, characterData: true });
}

/** Makes a page, or all of a context, record what `paintedAfter` needs. */
export const recordPaints = (pageOrContext) => pageOrContext.addInitScript(record);

/**
 * Waits until the views that fit `selector` have their answers and nothing changes any more.
 * Resolves to the milliseconds from the last click or key (or from the beginning of the document)
 * to the frame with the last change.
 */
export async function paintedAfter(page, selector = "[data-testid=view]") {
  return page.evaluate(
    async ([wanted, quiet]) => {
      const state = window.painted;
      const complete = () =>
        document.querySelector(wanted) !== null &&
        document.querySelector("[data-busy=true]") === null &&
        document.querySelector(".mantine-Skeleton-root, [aria-busy=true]") === null;
      const isQuiet = () => performance.now() - Math.max(state.changed, state.began) > quiet;
      while (!complete() || !isQuiet()) await new Promise((resolve) => setTimeout(resolve, 10));
      return state.painted - state.began;
    },
    [selector, QUIET_MS],
  );
}

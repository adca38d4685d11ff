// When a live page asks again: at its rate while answers are quick, and less often while they are
// not, so that it does not keep a server busy that is slow.

/** How long a live page waits for an answer before it repeats the request. */
const PATIENCE_MS = 60_000;

/**
 * Says at each look whether to ask again now: `every` milliseconds after it asked last, once the
 * answers have been there for as long as they took. `waits` is whether some are not there yet.
 */
export function paceOf(every: number, startedAt: number): (waits: boolean, now: number) => boolean {
  let askedAt = startedAt;
  let took = 0;
  /** When nothing was waited for any more; null while something is. */
  let stoodAt: number | null = null;
  const isDue = (now: number) =>
    stoodAt === null
      ? // A new request cancels the one in flight: slow answers and failures would never be shown.
        now - askedAt >= PATIENCE_MS
      : // Not at the same look: an answer may lead to a further question.
        now - askedAt >= every && now > stoodAt && now - stoodAt >= took;
  return (waits, now) => {
    if (waits) {
      took = now - askedAt;
      stoodAt = null;
    } else stoodAt ??= now;
    if (!isDue(now)) return false;
    askedAt = now;
    took = 0;
    stoodAt = null;
    return true;
  };
}

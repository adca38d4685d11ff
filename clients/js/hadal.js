// A client of Hadal for Node and browsers: logs events, and queries them. Uses fetch only.

/** What a server refuses: `kind` is a stable name, such as `bad-query`. */
export class HadalError extends Error {
  constructor(status, problem) {
    const detail = problem.detail ?? problem.title ?? `HTTP status ${status}`;
    super(problem.hint ? `${detail} (${problem.hint})` : detail);
    this.name = "HadalError";
    this.status = status;
    this.kind = String(problem.type ?? "").split(":").pop();
    this.detail = detail;
    this.hint = problem.hint;
    this.position = problem.position;
  }
}

/** An answer: `columns` of name and type, `rows` as arrays, coverage, warnings, truncated. */
export class Answer {
  constructor(body) {
    this.columns = body.columns;
    this.rows = body.rows;
    this.coverage = body.coverage;
    this.warnings = body.warnings;
    this.stats = body.stats;
    this.truncated = body.warnings.some((warning) => warning.code === "limit_reached");
  }

  /** The rows as objects. */
  objects() {
    const names = this.columns.map((column) => column.name);
    return this.rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i]])));
  }

  [Symbol.iterator]() {
    return this.rows[Symbol.iterator]();
  }
}

// Columns that the server takes for an event's time, if it has one of them.
const TIMES = [
  "time", "@timestamp", "timestamp", "ts", "_time", "datetime", "date", "eventTime", "event_time",
  "created_at", "t",
];
// Answers after which the same batch may be accepted.
const RETRIED = new Set([408, 429, 500, 502, 503, 504]);

const DEFAULTS = {
  token: undefined,
  queueEvents: 100_000,
  queueBytes: 64 << 20,
  batchEvents: 10_000,
  batchBytes: 4 << 20,
  lingerMs: 200,
  retryMs: 60_000,
};

/** A client of the server at this URL; `options` are those of DEFAULTS. */
export function connect(url, options = {}) {
  return new Client(url, options);
}

export class Client {
  #url;
  #options;
  #queue = [];
  #bytes = 0;
  #sending = null;
  #timer = null;
  #wakePause = null;
  #closed = false;

  /** Events that were not sent, those that the server refused one by one, the last failure. */
  dropped = 0;
  rejected = 0;
  lastError = null;

  constructor(url, options = {}) {
    this.#url = new URL(url).href.replace(/\/$/, "");
    this.#options = { ...DEFAULTS, ...options };
  }

  /**
   * Logs one event. Never waits: events are sent in batches, and those that find the queue full are
   * dropped and counted. With a sampleRate of n, one of n events is logged, at random, and counts as
   * n. Returns whether the event will be sent, or is left out by sampling.
   */
  log(table, event, sampleRate = 1) {
    if (!(sampleRate >= 1)) throw new RangeError(`sampleRate is ${sampleRate}; it is 1 or more`);
    if (sampleRate !== 1 && Math.random() * sampleRate >= 1) return true;
    const row = TIMES.some((name) => name in event) ? { ...event } : { time: new Date(), ...event };
    if (sampleRate !== 1) row.sample_rate = sampleRate;
    const line = JSON.stringify(row, plain);
    const { queueEvents, queueBytes, batchEvents, lingerMs } = this.#options;
    const isFull = this.#queue.length >= queueEvents || this.#bytes + line.length > queueBytes;
    if (isFull || this.#closed) {
      this.dropped += 1;
      return false;
    }
    this.#queue.push({ table, line });
    this.#bytes += line.length;
    if (this.#queue.length >= batchEvents) this.#send();
    else this.#timer ??= setTimeout(() => this.#send(), lingerMs);
    return true;
  }

  /** Waits until all events that were logged before are accepted or given up. */
  async flush() {
    await this.#send();
  }

  /** Sends what is left, for at most this long; what is not sent then is dropped. */
  async close(timeoutMs = 10_000) {
    const limit = setTimeout(() => this.#giveUp(), timeoutMs);
    await this.flush();
    clearTimeout(limit);
    this.#closed = true;
  }

  /** The answer to one statement, of at most 100,000 rows. */
  async query(sql, { deadlineMs, signal } = {}) {
    const response = await this.#ask("application/json", sql, deadlineMs, signal);
    return new Answer(await response.json());
  }

  /**
   * The rows of an answer as objects, one by one as they come: up to 10,000,000 if LIMIT asks for
   * them and they are in the order of time. Leaving the loop stops the query. Fails when the answer
   * breaks off.
   */
  async *rows(sql, { deadlineMs, signal } = {}) {
    const response = await this.#ask("application/x-ndjson", sql, deadlineMs, signal);
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let rest = "";
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
        rest = lines.pop();
        for (const line of lines) yield JSON.parse(line);
      }
    } finally {
      await reader.cancel().catch(() => {});
    }
  }

  async #ask(accept, sql, deadlineMs, signal) {
    const body = JSON.stringify({ sql, deadline_ms: deadlineMs });
    const headers = { accept, "content-type": "application/json" };
    return this.#fetch("/v1/query", body, headers, signal);
  }

  async #fetch(path, body, headers, signal) {
    if (this.#options.token) headers.authorization = `Bearer ${this.#options.token}`;
    const response = await fetch(this.#url + path, { method: "POST", body, headers, signal });
    if (response.ok) return response;
    const text = await response.text();
    let problem = { detail: text.slice(0, 1_000) };
    try {
      problem = JSON.parse(text);
    } catch {
      // Something between client and server answered.
    }
    throw new HadalError(response.status, problem);
  }

  /** Sends the queue, one request at a time. */
  #send() {
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = null;
    });
    return this.#sending;
  }

  async #sendAll() {
    while (this.#queue.length > 0) {
      for (const [table, lines] of this.#take()) {
        if (!(await this.#sendBatch(table, lines))) this.dropped += lines.length;
      }
    }
  }

  /** The lines of the next requests, by table. */
  #take() {
    const tables = new Map();
    let bytes = 0;
    let count = 0;
    for (const { table, line } of this.#queue) {
      if (count >= this.#options.batchEvents || bytes >= this.#options.batchBytes) break;
      const lines = tables.get(table) ?? [];
      lines.push(line);
      tables.set(table, lines);
      bytes += line.length;
      count += 1;
    }
    this.#queue.splice(0, count);
    this.#bytes -= bytes;
    return tables;
  }

  /** Sends one batch, with the same id until the server answers; returns whether it was taken. */
  async #sendBatch(table, lines) {
    const headers = { "hadal-batch": crypto.randomUUID(), "content-type": "application/x-ndjson" };
    const body = lines.join("\n") + "\n";
    const giveUp = Date.now() + this.#options.retryMs;
    for (let pause = 50; ; pause = Math.min(2 * pause, 5_000)) {
      try {
        const response = await this.#fetch(`/v1/log/${encodeURIComponent(table)}`, body, headers);
        this.rejected += (await response.json()).rejected_count ?? 0;
        return true;
      } catch (error) {
        this.lastError = error;
        if (error instanceof HadalError && !RETRIED.has(error.status)) return false;
      }
      const left = giveUp - Date.now();
      if (left <= 0 || this.#closed) return false;
      await new Promise((resolve) => {
        this.#wakePause = resolve;
        setTimeout(resolve, Math.min(pause, left));
      });
    }
  }

  #giveUp() {
    this.#closed = true;
    this.#wakePause?.();
  }
}

/** Values that JSON has no place for. */
function plain(_key, value) {
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Set) return { $set: [...value].map(String).sort() };
  return value;
}
